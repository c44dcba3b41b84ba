"""Who is logged in: the sessions in the store of the configuration."""

import hashlib
import hmac
import re
import secrets
from urllib.parse import urlencode, urlsplit

from .config import Config, build_logout_url, require_store
from .cookies import allow_silence, build_cookie, find_cookie
from .events import read_if_old
from .hand_off import HandOff, is_own_path
from .messages import Request, Response, redirect, refuse
from .profile import Profile
from .refusal import Refusal
from .stores import Session, Store, ask_store

_KEY = re.compile(r"[A-Za-z0-9_-]{43}")


def open_session(config: Config, hand_off: HandOff, key: str) -> list[tuple[str, str]]:
    """Starts a session with this new key. Returns the headers that set its cookie."""
    store = require_store(config)
    if config.on_login is not None:
        config.on_login(hand_off)
    profile = hand_off.profile
    session = Session(profile.id, hand_off.sid, config.now() + config.max_seconds)

    def start() -> bool:
        # The profile is kept first. If that fails, no session starts.
        store.apply_profile(profile)
        if store.find_profile(profile.id) is None:
            return False
        store.add_session(_digest(config, key), session)
        return True

    if not ask_store(start):
        raise Refusal("session_ended", "The person was deleted meanwhile")
    return [("Set-Cookie", build_cookie(config, _name(config), key))]


def draw_key() -> str:
    return secrets.token_urlsafe(32)


def end_session_of_key(config: Config, key: str) -> None:
    store = require_store(config)
    ask_store(lambda: store.end_session(_digest(config, key)))


def end_own_session(config: Config, request: Request) -> None:
    """Ends the browser's session in the store."""
    key = find_key(config, request)
    if key is not None:
        end_session_of_key(config, key)


def current_person(config: Config, request: Request) -> Profile | None:
    """Returns who is logged in, with the newest profile that the kit knows, or None.

    If this process last read events over a minute ago, it reads them first, for at most two seconds. Raises a Refusal if the
    store does not answer.
    """
    store, key = require_store(config), find_key(config, request)
    if key is None:
        return None
    digest = _digest(config, key)
    if ask_store(lambda: _find_session(config, store, digest)) is None:
        return None
    read_if_old(config)
    # The events may have ended the session, or changed the person.
    session = ask_store(lambda: _find_session(config, store, digest))
    return None if session is None else find_person(config, session.user_id)


def require_login(config: Config, request: Request) -> Profile | Response:
    """Returns who is logged in. If nobody is, returns the answer to send: a redirect to the login, which leads back to this
    page.
    """
    try:
        person = current_person(config, request)
    except Refusal as refusal:
        return refuse(config, refusal)
    if person is not None:
        return person
    page = request.page()
    if page is None or not is_own_path(page):
        return redirect(config.login_url)
    mark = "&" if urlsplit(config.login_url).query else "?"
    return redirect(f"{config.login_url}{mark}{urlencode({'return_to': page})}")


def logout_token(config: Config, request: Request) -> str:
    """The value of the field `token` in the form that logs out. Empty if the browser has no session."""
    key = find_key(config, request)
    return "" if key is None else _sign(config, key)


def end_session(config: Config, request: Request, return_to: str = "/") -> Response:
    """Answers a POST with the field `token`: ends the session here, and redirects to the log-out of the identity service.

    From there the browser goes to the path `return_to` on your site. Any other method or token ends nothing.
    """
    key = find_key(config, request)
    try:
        if request.method != "POST":
            raise Refusal("method_not_allowed")
        if key is None:
            raise Refusal("logout_token_wrong", "The browser has no session")
        if not hmac.compare_digest(_sign(config, key).encode(), request.field("token").encode()):
            raise Refusal("logout_token_wrong")
        end_own_session(config, request)
    except Refusal as refusal:
        return refuse(config, refusal, "POST")
    cookie = build_cookie(config, _name(config), "", 0)
    return redirect(
        build_logout_url(config, return_to), [("Set-Cookie", cookie), *allow_silence(config, request)]
    )


def find_person(config: Config, person_id: str) -> Profile | None:
    """The newest profile of a person that the kit knows. None if the kit knows no profile, or if the person was deleted."""
    store = require_store(config)
    return ask_store(lambda: store.find_profile(person_id))


def apply_profile(config: Config, profile: Profile) -> bool:
    """Keeps a profile if it is later than the one that the kit knows."""
    store = require_store(config)
    return ask_store(lambda: store.apply_profile(profile))


def _find_session(config: Config, store: Store, digest: str) -> Session | None:
    session = store.find_session(digest)
    return session if session is not None and config.now() < session.ends_at else None


def _name(config: Config) -> str:
    return f"{config.client}_session"


def find_key(config: Config, request: Request) -> str | None:
    value = find_cookie(config, request, _name(config))
    return value if value is not None and _KEY.fullmatch(value) else None


def _digest(config: Config, key: str) -> str:
    """The client's name is a part of the digest. So a session of one client is not valid at another client that shares the
    store.
    """
    return hashlib.sha256(f"{config.client} {key}".encode()).hexdigest()


def _sign(config: Config, key: str) -> str:
    return hmac.digest(key.encode(), f"identity logout v1 {config.client}".encode(), "sha256").hex()
