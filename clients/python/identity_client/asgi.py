"""Support for ASGI: a request and an answer for any framework on asyncio, and a middleware like the one for WSGI."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import quote

from .config import Config
from .messages import MAX_BODY_BYTES, Request, Response, refuse
from .refusal import Refusal
from .routes import Routes
from .sessions import current_person, logout_token

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[Scope, Receive, Send], Awaitable[None]]


def read_asgi(scope: Scope, body: bytes = b"") -> Request:
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
    raw = scope.get("raw_path")
    path = raw.decode("latin-1") if raw else quote(scope["path"], safe="/~!$&'()*+,;=:@")
    # The handshake of a WebSocket counts as a GET.
    return Request(scope.get("method", "GET"), scope["query_string"].decode("latin-1"), headers, body, path)


async def read_body(receive: Receive) -> bytes:
    """Stops reading as soon as the body is too long."""
    body = b""
    while len(body) <= MAX_BODY_BYTES:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body", False):
            break
    return body[: MAX_BODY_BYTES + 1]


async def send_asgi(response: Response, send: Send) -> None:
    headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in response.headers]
    if response.status != 204:
        headers.append((b"content-length", str(len(response.body)).encode()))
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": response.body})


class AsgiMiddleware:
    """Answers the login start, the callback, nudges and the log-out (`/logout`). `app` gets all other paths.

    With a `store` in the configuration, `scope["identity.person"]` is the person who is logged in, or None.
    `scope["identity.logout_token"]` is the value of the field `token` in the form that logs out. The other arguments are
    those of IdentityMiddleware. Calls that wait for a store or the service run in threads.
    """

    def __init__(self, app: AsgiApp, config: Config, **options: Any) -> None:
        self._app = app
        self._config = config
        self._routes = Routes(config, **options)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self._app(scope, receive, send)
        answer = self._routes.find_answer(scope["path"]) if scope["type"] == "http" else None
        if answer is not None:
            with_body = self._routes.reads_body(scope["method"], scope["path"])
            body = await read_body(receive) if with_body else b""
            return await send_asgi(await asyncio.to_thread(answer, read_asgi(scope, body)), send)
        if self._routes.keeps_sessions:
            request = read_asgi(scope)
            try:
                person = await asyncio.to_thread(current_person, self._config, request)
            except Refusal as refusal:
                return await self._refuse(scope, send, refusal)
            more = {"identity.person": person, "identity.logout_token": logout_token(self._config, request)}
            scope = {**scope, **more}
        await self._app(scope, receive, send)

    async def _refuse(self, scope: Scope, send: Send, refusal: Refusal) -> None:
        response = refuse(self._config, refusal)
        if scope["type"] == "http":
            return await send_asgi(response, send)
        # Makes the server answer the handshake with 403, because nothing else can be sent before the handshake is over.
        await send({"type": "websocket.close", "code": 1013})
