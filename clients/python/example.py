"""A site with a login, on the standard library alone. README.md says how to run it, and what the environment has."""

import secrets
from html import escape
from os import getenv
from wsgiref.simple_server import WSGIRequestHandler, make_server
from wsgiref.types import StartResponse, WSGIEnvironment
import identity_client as kit

store = kit.MemoryStore()  # A SqlStore outlives the process, and works for several.
sessions: dict[str, kit.HandOff] = {}

def start_session(hand_off: kit.HandOff) -> list[tuple[str, str]]:
    store.apply_profile(hand_off.profile)  # This comes first: if it raises, there is no session.
    sessions[key := secrets.token_urlsafe(32)] = hand_off
    return [("Set-Cookie", f"session={key}; Path=/; HttpOnly; SameSite=Lax" + "; Secure" * config.is_secure)]

def key_of(request: kit.Request) -> str:
    return dict(request.cookies()).get("session", "")

def end_session(sid: str) -> None:
    for key in [key for key, hand_off in list(sessions.items()) if hand_off.sid == sid]:
        sessions.pop(key, None)

def show_page(environ: WSGIEnvironment, start_response: StartResponse) -> list[bytes]:
    key = key_of(kit.read_wsgi(environ))
    if environ["PATH_INFO"] == "/logout":
        sessions.pop(key, None)
        return kit.send_wsgi(kit.Response(303, (("Location", kit.build_logout_url(config, "/")),)), start_response)
    profile = store.find_profile(sessions[key].profile.id) if key in sessions else None
    start_response("200 OK", [("Content-Type", "text/html; charset=utf-8"), ("Cache-Control", "no-store")])
    hello = f'Hello, {escape(profile.name)}. <a href="/logout">Log out</a>' if profile else ""
    return [(hello or '<a href="/login">Log in</a>').encode()]

class QuietHandler(WSGIRequestHandler):
    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """The query of the callback belongs in no log."""

port = int(getenv("PORT", "4000"))
origin = getenv("ORIGIN", f"http://localhost:{port}")
config = kit.Config.from_url(getenv("IDENTITY_URL"), origin, nonces=store, end_session=end_session)
site = kit.IdentityMiddleware(
    show_page, config, start_session=start_session, is_logged_in=lambda request: key_of(request) in sessions,
    on_nudge=lambda: kit.pull_events(config, positions=store, profiles=store, start_over=sessions.clear),
)
make_server("localhost", port, site, handler_class=QuietHandler).serve_forever()
