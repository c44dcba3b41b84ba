"""The start of a login, and the callback that accepts its hand-off."""

from collections.abc import Callable, Iterable, Mapping
from typing import Literal
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from .attempts import draw_silent_state, draw_state, find_attempt, find_silent_page, start_attempt
from .config import Config, LogEntry, log_refusal, require_store
from .cookies import allow_silence, find_cookie, keep_from_silence
from .hand_off import (
    HandOff,
    clean,
    compute_launch_id,
    find_launch_id,
    is_own_path,
    read_parameters,
    verify_hand_off,
)
from .messages import (
    PRIVATE,
    Request,
    Response,
    answer_speculation,
    describe_refusal,
    put_in,
    redirect,
    refuse,
)
from .refusal import Code, Refusal
from .sessions import current_person, draw_key, end_own_session, end_session_of_key, open_session
from .stores import ask_store

#: Starts your own session, with a new id. Returns the headers that set its cookie, or None if your framework sets it. May
#: raise a Refusal("person_refused").
StartSession = Callable[[HandOff], Iterable[tuple[str, str]] | None]
#: Returns your own answer to an error, such as your start page. If it returns None, the kit shows its page.
OnError = Callable[[Code], Response | None]

_ERRORS: Mapping[str, Code] = {
    "login_required": "login_required",
    "interaction_required": "interaction_required",
    "access_denied": "access_denied",
}
_MAX_MAX_AGE = 2_592_000
_VISIBLE = "".join(map(chr, range(0x21, 0x7F)))
#: The query parameter that says that a silent attempt came back without its cookie.
_MARK = "silent"


def start_login(
    config: Config,
    request: Request,
    *,
    return_to: str | None = None,
    prompt: Literal["none", "login"] | None = None,
    max_age: int | None = None,
) -> Response:
    """Redirects the browser to the launch. `return_to` is a path on your site; any other value is ignored.

    With `prompt="none"`, the identity service shows no page. With `prompt="login"`, the service asks for a credential again.
    With `max_age`, it asks for one if the last credential is older than `max_age` seconds. The callback checks that the person
    gave a credential.
    """
    if request.is_speculative():
        return answer_speculation()
    if request.method != "GET":
        return refuse(config, Refusal("method_not_allowed"))
    if prompt not in (None, "none", "login"):
        raise ValueError("prompt must be none or login")
    if max_age is not None and not 0 <= max_age <= _MAX_MAX_AGE:
        raise ValueError(f"max_age must be between 0 and {_MAX_MAX_AGE}")
    _log_elsewhere(config, _find_other_host(config.login_url, request))
    state = draw_state()
    cookies = start_attempt(config, request, 0 if prompt == "login" else max_age, state)
    return _launch(config, state, cookies, return_to, prompt, max_age)


def login_silently(config: Config, request: Request) -> Response | None:
    """If a person is logged in at the identity service, logs them in here, too, without showing a page of the service. Returns
    the redirect to send.

    Returns None if somebody is logged in here, if this was tried less than ten minutes ago, or if the request is no visit to a
    page. If nobody is logged in at the service, the browser comes back to this page.
    """
    page = request.page()
    state = None if page is None else draw_silent_state(page)
    if state is None:
        return None
    # A script, a frame or an image that asks for this page cannot follow a redirect to a login.
    is_visit = request.header("sec-fetch-dest") in (None, "document") and not request.is_speculative()
    is_over = (
        _MARK in dict(parse_qsl(request.query, keep_blank_values=True, errors="replace"))
        or find_cookie(config, request, f"{config.client}_silent") is not None
    )
    try:
        if not is_visit or is_over or _is_logged_in(config, request, None):
            return None
    except Refusal as away:
        return refuse(config, away)
    cookies = start_attempt(config, request, None, state)
    # The cookie is set when the silent login starts. So a visitor who comes back by hand, for example because the service is
    # down, sees the page and is not sent away again.
    return _launch(config, state, [*cookies, keep_from_silence(config)], page, "none", None)


def _launch(
    config: Config,
    state: str,
    cookies: list[tuple[str, str]],
    return_to: str | None,
    prompt: str | None,
    max_age: int | None,
) -> Response:
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
    """The URL at which a browser opened the login start, if its host is not the configured one. The callback would not get a
    cookie that was set at that host. Use the URL only for the log, because the sender of the request chooses it.
    """
    parts = urlsplit(configured)
    opened = clean(request.header("host") or "").lower()
    usual = {"https": ":443", "http": ":80"}[parts.scheme]
    if not opened or opened.removesuffix(usual) == parts.netloc.lower().removesuffix(usual):
        return None
    return f"opened at {parts.scheme}://{opened}/, but login_url is {configured}"


def _find_other_path(config: Config, request: Request) -> str | None:
    """The URL at which a browser opened the callback, if its path is not the configured one. Use it only for the log."""
    if request.path in ("", urlsplit(config.callback_url).path or "/"):
        return None
    return f"opened at {config.origin}{clean(request.path)}, but callback_url is {config.callback_url}"


def _log_elsewhere(config: Config, reason: str | None) -> None:
    if reason:
        config.log(LogEntry("opened_elsewhere", reason, None))


def handle_callback(
    config: Config,
    request: Request,
    *,
    start_session: StartSession | None = None,
    is_logged_in: Callable[[Request], bool] | None = None,
    on_error: OnError | None = None,
) -> Response:
    """Accepts a hand-off one time, and only from the browser that asked for it. Any other request gets a page that says which
    rule it breaks. Without `start_session`, the session is kept in the `store` of the configuration. If `start_session` raises
    anything but a Refusal, your own code must catch it.
    """
    if request.is_speculative():
        return answer_speculation()
    if request.method != "GET":
        return refuse(config, Refusal("method_not_allowed"))
    if start_session is None:
        require_store(config)
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
            return refuse(config, refusal)
        # The hand-off came by a link from elsewhere. Its nonce stays unused, and the login start asks for a new hand-off.
        try:
            target = config.home if _is_logged_in(config, request, is_logged_in) else config.login_url
        except Refusal as away:
            return refuse(config, away)
        log_refusal(config, refusal)
        return redirect(target, describe_refusal(refusal))


def _is_logged_in(config: Config, request: Request, ask: Callable[[Request], bool] | None) -> bool:
    if ask is not None:
        return ask(request)
    return config.store is not None and current_person(config, request) is not None


def _find_silent_end(config: Config, state: str, *, is_kept: bool) -> str | None:
    """The page to go back to if a silent attempt logged nobody in. None if the attempt was not silent."""
    page = find_silent_page(state)
    if page is None:
        return None
    path, mark, query = page.partition("#")[0].partition("?")
    url = config.origin + _encode(path) + mark + quote(query, safe=_VISIBLE)
    # If the attempt's cookie is missing, this browser may keep no cookies at all. So the URL has to say that a silent login was
    # tried.
    return url if is_kept else f"{url}{'&' if '?' in url else '?'}{_MARK}=no"


def _answer_unknown(config: Config, state: str, detail: str = "") -> Response:
    """Leads back to the page of a silent attempt. Nobody has clicked, so nobody is shown an error."""
    end = _find_silent_end(config, state, is_kept=False)
    if end is None:
        raise Refusal("state_unknown", detail)
    return redirect(end)


def _accept(
    config: Config, request: Request, hand_off: HandOff, start_session: StartSession | None
) -> Response:
    _require_going_on(config, hand_off.sid)
    if hand_off.state is None:
        raise Refusal("state_missing")
    attempt = find_attempt(config, request, hand_off.state)
    if attempt is None:
        return _answer_unknown(config, hand_off.state)
    if not attempt.is_proved_by(hand_off):
        raise Refusal("auth_time_too_old")
    # The nonce is kept for longer than anybody accepts its hand-off, even with the leeway.
    if not ask_store(lambda: config.nonces.consume(hand_off.nonce, hand_off.exp + 60)):
        raise Refusal("nonce_replayed")
    if start_session is None:
        headers: Iterable[tuple[str, str]] = _replace_session(config, request, hand_off)
    else:
        headers = start_session(hand_off) or ()
        try:
            # The login may have ended while its session was being started, as in _replace_session.
            _require_going_on(config, hand_off.sid)
        except Refusal:
            ask_store(lambda: config.end_session(hand_off.sid or ""))
            raise
    path = hand_off.return_to
    config.log(LogEntry("accepted", "", compute_launch_id(hand_off.nonce)))
    target = config.home if path is None else config.origin + _encode(path)
    return redirect(target, [*headers, *allow_silence(config, request)])


def _replace_session(config: Config, request: Request, hand_off: HandOff) -> list[tuple[str, str]]:
    key = draw_key()
    headers = open_session(config, hand_off, key)
    try:
        # The login may have ended while its session was being started. The event about its end then found no session to end.
        _require_going_on(config, hand_off.sid)
        # The earlier session ends last. If the store fails before that, the browser still has that session.
        end_own_session(config, request)
    except Refusal:
        end_session_of_key(config, key)
        raise
    return headers


def _require_going_on(config: Config, sid: str | None) -> None:
    if ask_store(lambda: sid is not None and config.nonces.has_ended(sid)):
        raise Refusal("session_ended")


def _answer_error(
    config: Config, request: Request, parameters: Mapping[str, str], on_error: OnError | None
) -> Response:
    """Answers an error. Errors are not signed, so an error can do nothing but choose a page, and only for an attempt of this
    browser.
    """
    code = _ERRORS.get(parameters["error"], "error_unknown")
    state = parameters.get("state", "")
    if find_attempt(config, request, state) is None:
        return _answer_unknown(config, state, "It came with an error")
    end = None if code == "error_unknown" else _find_silent_end(config, state, is_kept=True)
    if end is not None:
        return redirect(end)
    refusal = Refusal(code)
    own = on_error(code) if on_error else None
    if own is None:
        raise refusal
    log_refusal(config, refusal)
    return Response(own.status, put_in((*PRIVATE, *describe_refusal(refusal)), own.headers), own.body)


def _encode(path: str) -> str:
    """Percent-encodes a path. Parts that are encoded already stay as they are."""
    return quote(path, safe="/?#[]@!$&'()*+,;=:%~")
