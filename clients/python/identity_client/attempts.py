"""The logins that a browser has started: each has its own state and cookie, so that two tabs can log in at the same time.

The cookie is signed, because it says whether the person must give a credential again.
"""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from typing import Final

from .config import Config
from .cookies import build_cookie, find_cookie, name_cookie
from .hand_off import LEEWAY_SECONDS, HandOff, decode, encode, is_own_path
from .messages import Request

_MAX_ATTEMPTS = 5
_LIFE_SECONDS: Final = 600
#: The longest state that the launch accepts.
_MAX_STATE_LENGTH: Final = 512
_NAME: Final = "identity_attempt_"
_VALUE = re.compile(r"(([0-9]{1,12})\.(-|[0-9]{1,7}))\.([0-9a-f]{64})")
_STATE = re.compile(r"(?:silent\.)?[A-Za-z0-9_-]{22}(?:\.[A-Za-z0-9_-]*)?")
_SILENT = re.compile(r"silent\.[A-Za-z0-9_-]{22}\.([A-Za-z0-9_-]+)")


@dataclass(frozen=True, slots=True)
class Attempt:
    started_at: int
    #: How many seconds old the last credential may be when the login starts. None if the login demands none.
    max_age: int | None

    def is_proved_by(self, hand_off: HandOff) -> bool:
        if self.max_age is None:
            return True
        earliest = self.started_at - self.max_age - LEEWAY_SECONDS
        return hand_off.auth_time is not None and hand_off.auth_time >= earliest


def draw_state() -> str:
    return secrets.token_urlsafe(16)


def draw_silent_state(page: str) -> str | None:
    """The state of a silent attempt contains the page to come back to. So the browser can come back even if it keeps no
    cookies. The cookie's MAC covers the state. None if the page makes the state too long for a launch.
    """
    if not is_own_path(page):
        return None
    state = f"silent.{draw_state()}.{encode(page.encode('utf-8', 'replace'))}"
    return state if len(state) <= _MAX_STATE_LENGTH else None


def find_silent_page(state: str | None) -> str | None:
    """The page in the state of a silent attempt: a path on this site. None for any other state. Anybody can make up such a
    state.
    """
    found = _SILENT.fullmatch(state or "")
    try:
        page = "" if found is None else decode(found[1]).decode()
    except ValueError:
        return None
    return page if is_own_path(page) else None


def start_attempt(
    config: Config, request: Request, max_age: int | None, state: str
) -> list[tuple[str, str]]:
    """Returns headers that keep the state, and the four newest states before it."""
    said = f"{config.now()}.{'-' if max_age is None else max_age}"
    value = f"{said}.{_sign(config, config.secrets[0], state, said)}"
    dropped = _list_states(config, request)[: 1 - _MAX_ATTEMPTS]
    cookies = [
        build_cookie(config, _NAME + state, value, _LIFE_SECONDS),
        *(build_cookie(config, _NAME + old, "", 0) for old in dropped),
    ]
    return [("Set-Cookie", cookie) for cookie in cookies]


def find_attempt(config: Config, request: Request, state: str) -> Attempt | None:
    """This browser's attempt with that state, if it started in the last ten minutes.

    Its cookie stays until it expires. Otherwise a second use of the hand-off would look as if this browser had never asked
    for it.
    """
    found = _VALUE.fullmatch(find_cookie(config, request, _NAME + state) or "")
    if not found or not _is_ours(config, state, found[1], found[4]):
        return None
    started_at = int(found[2])
    if config.now() >= started_at + _LIFE_SECONDS:
        return None
    return Attempt(started_at, None if found[3] == "-" else int(found[3]))


def _list_states(config: Config, request: Request) -> list[str]:
    """The attempts of this browser, the oldest first. Cookies of another form count as the oldest."""
    prefix = name_cookie(config, _NAME)
    started_at: dict[str, int] = {}
    for name, value in request.cookies():
        state = name.removeprefix(prefix)
        if name.startswith(prefix) and _STATE.fullmatch(state):
            found = _VALUE.fullmatch(value)
            started_at.setdefault(state, int(found[2]) if found else 0)
    return sorted(started_at, key=lambda state: started_at[state])


def _sign(config: Config, secret: str, state: str, said: str) -> str:
    message = f"identity attempt v1 {config.client} {state} {said}"
    return hmac.new(secret.encode(), message.encode(), hashlib.sha256).hexdigest()


def _is_ours(config: Config, state: str, said: str, signature: str) -> bool:
    matches = False
    for secret in config.secrets:
        matches = hmac.compare_digest(_sign(config, secret, state, said), signature) or matches
    return matches
