"""The way to a login and back: the start, and the callback that takes the hand-off."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Literal
from urllib.parse import quote, urlencode, urlsplit

from .attempts import find_attempt, start_attempt
from .config import Config, LogEntry, log_refusal
from .hand_off import (
    HandOff,
    compute_launch_id,
    find_launch_id,
    is_own_path,
    read_parameters,
    verify_hand_off,
)
from .messages import (
    PRIVATE,
    Headers,
    Request,
    Response,
    answer_speculation,
    describe_refusal,
    put_in,
    redirect,
    show_refusal,
)
from .refusal import Code, Refusal

#: Starts your own session, with a new id, and returns the headers that set its cookie (or None if your framework
#: does that). May raise a Refusal("person_refused").
StartSession = Callable[[HandOff], Iterable[tuple[str, str]] | None]
#: Your own answer to an error, such as your start page without a login. None shows the kit's page.
OnError = Callable[[Code], Response | None]

_ERRORS: Mapping[str, Code] = {
    "login_required": "login_required",
    "interaction_required": "interaction_required",
    "access_denied": "access_denied",
}
_MAX_MAX_AGE = 2_592_000
_MORE_HEADERS: Mapping[Code, Headers] = {
    "method_not_allowed": (("Allow", "GET, HEAD"),),
    "store_unavailable": (("Retry-After", "5"),),
}


def start_login(
    config: Config,
    request: Request,
    *,
    return_to: str | None = None,
    prompt: Literal["none", "login"] | None = None,
    max_age: int | None = None,
) -> Response:
    """Sends the browser to the launch. `return_to` is a path on your site; any other value is left out.

    `prompt="none"` shows no page there; `prompt="login"` asks for a credential again, and `max_age` does so if the
    last one is older. The callback makes sure that it was given.
    """
    if request.is_speculative():
        return answer_speculation()
    if request.method != "GET":
        return _refuse(config, Refusal("method_not_allowed"))
    if prompt not in (None, "none", "login"):
        raise ValueError("prompt must be none or login")
    if max_age is not None and not 0 <= max_age <= _MAX_MAX_AGE:
        raise ValueError(f"max_age must be between 0 and {_MAX_MAX_AGE}")
    _log_elsewhere(config, _find_other_host(config.login_url, request))
    state, cookies = start_attempt(config, request, 0 if prompt == "login" else max_age)
    query = {"state": state}
    if return_to is not None and is_own_path(return_to):
        query["return_to"] = return_to
    if prompt is not None:
        query["prompt"] = prompt
    if max_age is not None:
        query["max_age"] = str(max_age)
    return redirect(
        f"{config.base_url}/sso/launch/{config.client}?{urlencode(query, errors='replace')}", cookies
    )


def _find_other_host(configured: str, request: Request) -> str | None:
    """The address of an opened login start, if its host is not the configured one. The callback would not get
    the attempt's cookie from there. Use it only for the log, because the sender of the request chooses it."""
    parts = urlsplit(configured)
    opened = _clean(request.header("host") or "").lower()
    usual = {"https": ":443", "http": ":80"}[parts.scheme]
    if not opened or opened.removesuffix(usual) == parts.netloc.lower().removesuffix(usual):
        return None
    return f"opened at {parts.scheme}://{opened}/, but login_url is {configured}"


def _find_other_path(config: Config, request: Request) -> str | None:
    """The address of an opened callback, if its path is not the configured one. Use it only for the log."""
    if request.path in ("", urlsplit(config.callback_url).path or "/"):
        return None
    return f"opened at {config.origin}{_clean(request.path)}, but callback_url is {config.callback_url}"


def _clean(text: str) -> str:
    """Makes a text safe for one line of the log."""
    return re.sub(r"[^\x21-\x7e]", "?", text[:255])


def _log_elsewhere(config: Config, reason: str | None) -> None:
    if reason:
        config.log(LogEntry("opened_elsewhere", reason, None))


def is_nobody_logged_in(_request: Request) -> bool:
    return False


def handle_callback(
    config: Config,
    request: Request,
    *,
    start_session: StartSession,
    is_logged_in: Callable[[Request], bool] = is_nobody_logged_in,
    on_error: OnError | None = None,
) -> Response:
    """Takes a hand-off, once, from the browser that asked for it. Anything else gets a page that says which rule it
    breaks. If `start_session` raises anything but a Refusal, your own code must catch it."""
    if request.is_speculative():
        return answer_speculation()
    if request.method != "GET":
        return _refuse(config, Refusal("method_not_allowed"))
    _log_elsewhere(config, _find_other_path(config, request))
    hand_off: HandOff | None = None
    try:
        parameters = read_parameters(request.query)
        if "error" in parameters and not parameters.keys() & {"payload", "signature", "signature_next"}:
            return _answer_error(config, request, parameters, on_error)
        hand_off = verify_hand_off(
            request.query,
            issuer=config.issuer,
            client=config.client,
            secrets=config.secrets,
            ttl_seconds=config.ttl_seconds,
            now=config.now(),
        )
        return _accept(config, request, hand_off, start_session)
    except Refusal as refusal:
        refusal.launch_id = compute_launch_id(hand_off.nonce) if hand_off else find_launch_id(request.query)
        if refusal.code != "state_missing":
            return _refuse(config, refusal)
        log_refusal(config, refusal)
        # The hand-off came by a link from elsewhere. It stays unused, because the login start asks for another.
        target = config.home if is_logged_in(request) else config.login_url
        return redirect(target, describe_refusal(refusal))


def _accept(config: Config, request: Request, hand_off: HandOff, start_session: StartSession) -> Response:
    sid = hand_off.sid
    if sid is not None:
        _require_going_on(config, sid)
    if hand_off.state is None:
        raise Refusal("state_missing")
    attempt = find_attempt(config, request, hand_off.state)
    if attempt is None:
        raise Refusal("state_unknown")
    if not attempt.is_proved_by(hand_off):
        raise Refusal("auth_time_too_old")
    # The nonce is kept longer than anybody would accept its hand-off, even with the leeway.
    if not _ask_store(lambda: config.nonces.consume(hand_off.nonce, hand_off.exp + 60)):
        raise Refusal("nonce_replayed")
    headers = start_session(hand_off) or ()
    if sid is not None:
        try:
            # The login may have ended since the first check. Then its event found no session to end.
            _require_going_on(config, sid)
        except Refusal:
            config.end_session(sid)
            raise
    path = hand_off.return_to
    config.log(LogEntry("accepted", "", compute_launch_id(hand_off.nonce)))
    return redirect(config.home if path is None else config.origin + _encode(path), headers)


def _require_going_on(config: Config, sid: str) -> None:
    if _ask_store(lambda: config.nonces.has_ended(sid)):
        raise Refusal("session_ended")


def _ask_store(question: Callable[[], bool]) -> bool:
    try:
        return question()
    except Refusal:
        # A store may itself raise a refusal.
        raise
    except Exception as error:
        raise Refusal("store_unavailable", type(error).__name__) from error


def _answer_error(
    config: Config, request: Request, parameters: Mapping[str, str], on_error: OnError | None
) -> Response:
    """Answers an error. It is not signed, so it may only choose a page, and only for this browser's attempt."""
    if find_attempt(config, request, parameters.get("state", "")) is None:
        raise Refusal("state_unknown", "It came with an error")
    code = _ERRORS.get(parameters["error"], "error_unknown")
    refusal = Refusal(code)
    own = on_error(code) if on_error else None
    if own is None:
        raise refusal
    log_refusal(config, refusal)
    return Response(own.status, put_in((*PRIVATE, *describe_refusal(refusal)), own.headers), own.body)


def _refuse(config: Config, refusal: Refusal) -> Response:
    log_refusal(config, refusal)
    return show_refusal(refusal, config.home, config.login_url, _MORE_HEADERS.get(refusal.code, ()))


def _encode(path: str) -> str:
    """Percent-encodes a path. Parts that are encoded already stay as they are."""
    return quote(path, safe="/?#[]@!$&'()*+,;=:%~")
