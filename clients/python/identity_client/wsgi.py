"""Support for WSGI: a request and an answer for any framework, and a whole app that needs none."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from .config import Config
from .login import OnError, StartSession, handle_callback, is_nobody_logged_in, start_login
from .messages import Request, Response
from .nudges import receive_nudge

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

_MAX_BODY_BYTES = 65_536


def read_wsgi(environ: WSGIEnvironment) -> Request:
    headers = {
        name.removeprefix("HTTP_").replace("_", "-"): str(value)
        for name, value in environ.items()
        if name.startswith("HTTP_")
    }
    body = b""
    if environ["REQUEST_METHOD"] == "POST":
        length = str(environ.get("CONTENT_LENGTH") or "0")
        # One byte more than a nudge may have shows that the body is too long.
        size = min(int(length), _MAX_BODY_BYTES + 1) if length.isascii() and length.isdigit() else 0
        body = environ["wsgi.input"].read(size)
    query = str(environ.get("QUERY_STRING", ""))
    return Request(str(environ["REQUEST_METHOD"]), query, headers, body, _read_path(environ))


def _read_path(environ: WSGIEnvironment) -> str:
    return str(environ.get("SCRIPT_NAME", "")) + str(environ.get("PATH_INFO", ""))


def send_wsgi(response: Response, start_response: StartResponse) -> list[bytes]:
    headers = [*response.headers]
    if response.status != 204:
        headers.append(("Content-Length", str(len(response.body))))
    start_response(f"{response.status} {HTTPStatus(response.status).phrase}", headers)
    return [response.body]


class IdentityMiddleware:
    """Answers the paths of the configured login start and callback, and of nudges. `app` gets all others."""

    def __init__(
        self,
        app: WSGIApplication,
        config: Config,
        *,
        start_session: StartSession,
        is_logged_in: Callable[[Request], bool] = is_nobody_logged_in,
        on_error: OnError | None = None,
        events_path: str | None = None,
        on_nudge: Callable[[], object] | None = None,
    ) -> None:
        if events_path is not None and on_nudge is None:
            raise ValueError("events_path needs on_nudge")
        self._app = app
        self._config = config
        self._start_session = start_session
        self._is_logged_in = is_logged_in
        self._on_error = on_error
        self._events_path = (events_path or "/sso/events") if on_nudge else None
        self._on_nudge = on_nudge
        self._login_path = urlsplit(config.login_url).path or "/"
        self._callback_path = urlsplit(config.callback_url).path or "/"

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        answer = self._find_answer(_read_path(environ))
        if answer is None:
            return self._app(environ, start_response)
        return send_wsgi(answer(read_wsgi(environ)), start_response)

    def _find_answer(self, path: str) -> Callable[[Request], Response] | None:
        if path == self._login_path:
            return self._start_login
        if path == self._callback_path:
            return self._handle_callback
        return self._receive_nudge if path == self._events_path else None

    def _start_login(self, request: Request) -> Response:
        """Starts a login. `return_to` in the query names the page to come back to."""
        return_to = dict(parse_qsl(request.query, errors="replace")).get("return_to")
        return start_login(self._config, request, return_to=return_to)

    def _handle_callback(self, request: Request) -> Response:
        return handle_callback(
            self._config,
            request,
            start_session=self._start_session,
            is_logged_in=self._is_logged_in,
            on_error=self._on_error,
        )

    def _receive_nudge(self, request: Request) -> Response:
        return receive_nudge(self._config, request, self._on_nudge or (lambda: None))
