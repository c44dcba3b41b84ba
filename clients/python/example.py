"""A site with a login, on the standard library alone. README.md says how to run it."""

import secrets
from html import escape
from wsgiref.simple_server import WSGIRequestHandler, make_server
from wsgiref.types import StartResponse, WSGIEnvironment

import identity_client as identity

store = identity.MemoryStore()  # A SqlStore outlives the process, and works for several.
sessions: dict[str, identity.HandOff] = {}


def start_session(hand_off: identity.HandOff) -> list[tuple[str, str]]:
    store.apply_profile(hand_off.profile)
    sessions[key := secrets.token_urlsafe(32)] = hand_off
    return [("Set-Cookie", f"session={key}; Path=/; HttpOnly; SameSite=Lax")]  # With https, add "; Secure".


def find_session(request: identity.Request) -> identity.HandOff | None:
    return sessions.get(dict(request.cookies()).get("session", ""))


def end_session(sid: str) -> None:
    for key in [key for key, hand_off in list(sessions.items()) if hand_off.sid == sid]:
        sessions.pop(key, None)


def show_page(environ: WSGIEnvironment, start_response: StartResponse) -> list[bytes]:
    session = find_session(identity.read_wsgi(environ))
    profile = session and store.find_profile(session.profile.id)
    start_response("200 OK", [("Content-Type", "text/html; charset=utf-8"), ("Cache-Control", "no-store")])
    return [(f"<p>Hello, {escape(profile.name)}." if profile else '<a href="/login">Log in</a>').encode()]


class QuietHandler(WSGIRequestHandler):
    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """The query of the callback belongs in no log."""


config = identity.Config(
    issuer="http://localhost:3000", client="shop", secrets=["a-secret-for-my-machine"], end_session=end_session,
    callback_url="http://localhost:4000/sso/callback", login_url="http://localhost:4000/login", nonces=store,
)
site = identity.IdentityMiddleware(
    show_page, config, start_session=start_session, is_logged_in=lambda request: bool(find_session(request)),
    events_path="/identity/events",
    on_nudge=lambda: identity.pull_events(config, positions=store, profiles=store, start_over=sessions.clear),
)
make_server("localhost", 4000, site, handler_class=QuietHandler).serve_forever()
