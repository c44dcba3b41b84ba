"""A site with a login, on the standard library alone. README.md says how to run it, and which environment variables it reads.
"""

from html import escape
from os import getenv
from wsgiref.simple_server import WSGIRequestHandler, make_server
from wsgiref.types import StartResponse, WSGIEnvironment
import identity_client as kit

def show_page(environ: WSGIEnvironment, start_response: StartResponse) -> list[bytes]:
    start_response("200 OK", [("Content-Type", "text/html; charset=utf-8"), ("Cache-Control", "no-store")])
    person, token = environ["identity.person"], environ["identity.logout_token"]
    if person is None:
        return [b'<a href="/login">Log in</a>']
    button = f'<button name="token" value="{token}">Log out</button>'
    return [f'Hello, {escape(person.name)}. <form method="post" action="/logout">{button}</form>'.encode()]

class QuietHandler(WSGIRequestHandler):
    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """The query of the callback must not be logged."""

port = int(getenv("PORT", "4000"))
origin = getenv("ORIGIN", f"http://localhost:{port}")
store = kit.MemoryStore()  # A SqlStore outlives the process, and several processes can share it.
config = kit.Config.from_url(getenv("IDENTITY_URL"), origin, store=store)
site = kit.IdentityMiddleware(show_page, config)
make_server("localhost", port, site, handler_class=QuietHandler).serve_forever()
