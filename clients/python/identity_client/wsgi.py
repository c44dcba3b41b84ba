"""Support for WSGI: a request and an answer for any framework, and a middleware."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from .config import Config
from .messages import MAX_BODY_BYTES, Request, Response, refuse
from .refusal import Refusal
from .routes import Routes
from .sessions import current_person, logout_token

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment


def read_wsgi(environ: WSGIEnvironment, *, with_body: bool = True) -> Request:
    """`with_body=False` leaves the body for your application to read."""
    headers = {
        name.removeprefix("HTTP_").replace("_", "-"): str(value)
        for name, value in environ.items()
        if name.startswith("HTTP_")
    }
    body = b""
    if with_body and environ["REQUEST_METHOD"] == "POST":
        length = str(environ.get("CONTENT_LENGTH") or "0")
        # Reads one byte more than the limit, which shows whether the body is too long.
        size = min(int(length), MAX_BODY_BYTES + 1) if length.isascii() and length.isdigit() else 0
        body = environ["wsgi.input"].read(size)
    query = str(environ.get("QUERY_STRING", ""))
    return Request(str(environ["REQUEST_METHOD"]), query, headers, body, _quote(_read_path(environ)))


def _read_path(environ: WSGIEnvironment) -> str:
    return str(environ.get("SCRIPT_NAME", "")) + str(environ.get("PATH_INFO", ""))


def _quote(path: str) -> str:
    """Encodes a path again. A WSGI server has decoded it into one character for each byte."""
    return quote(path.encode("latin-1", "replace"), safe="/~!$&'()*+,;=:@")


def send_wsgi(response: Response, start_response: StartResponse) -> list[bytes]:
    headers = [*response.headers]
    if response.status != 204:
        headers.append(("Content-Length", str(len(response.body))))
    start_response(f"{response.status} {HTTPStatus(response.status).phrase}", headers)
    return [response.body]


class IdentityMiddleware:
    """Answers the login start, the callback, nudges and the log-out (`/logout`). `app` gets all other paths.

    With a `store` in the configuration, `environ["identity.person"]` is the person who is logged in, or None.
    `environ["identity.logout_token"]` is the value of the field `token` in the form that logs out. The other arguments are
    for sessions of your own: `start_session`, `is_logged_in`, `on_error`, `events_path`, `on_nudge` and `logout_path`.
    """

    def __init__(self, app: WSGIApplication, config: Config, **options: Any) -> None:
        self._app = app
        self._config = config
        self._routes = Routes(config, **options)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = _read_path(environ)
        answer = self._routes.find_answer(path)
        if answer is not None:
            with_body = self._routes.reads_body(environ["REQUEST_METHOD"], path)
            return send_wsgi(answer(read_wsgi(environ, with_body=with_body)), start_response)
        if self._routes.keeps_sessions:
            request = read_wsgi(environ, with_body=False)
            try:
                environ["identity.person"] = current_person(self._config, request)
            except Refusal as refusal:
                return send_wsgi(refuse(self._config, refusal), start_response)
            environ["identity.logout_token"] = logout_token(self._config, request)
        return self._app(environ, start_response)
