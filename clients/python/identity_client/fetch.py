"""Gets an answer of the identity service, with limits on its time and size."""

import socket
import time
from concurrent.futures import Future
from contextlib import suppress
from http.client import HTTPConnection, HTTPMessage, HTTPResponse, HTTPSConnection
from threading import Event, Thread
from typing import IO, Any, Final, cast
from urllib.error import HTTPError
from urllib.request import HTTPHandler, HTTPRedirectHandler, HTTPSHandler, Request, build_opener

MAX_BYTES: Final = 8 * 1024 * 1024
_PIECE_BYTES: Final = 65_536


class TooLong(OSError):
    """The answer has more than 8 MiB."""


def fetch(request: Request, deadline: float) -> tuple[int, bytes]:
    """The status and the body. A redirect counts as an answer. `deadline` is a time of the monotonic clock.

    Raises an OSError or an HTTPException.
    """
    answer: Future[tuple[int, bytes]] = Future()
    line = _Line()

    def read() -> None:
        try:
            answer.set_result(_read(request, line, max(deadline - time.monotonic(), 0.001)))
        except Exception as error:
            answer.set_exception(error)

    # The timeout of a socket starts again with each byte. So another thread limits the time of the whole request.
    Thread(target=read, daemon=True).start()
    try:
        return answer.result(max(deadline - time.monotonic(), 0))
    finally:
        line.cut()


class _Line:
    """The connection of a request. Closing it ends the thread that waits for the answer."""

    def __init__(self) -> None:
        self._is_cut = Event()
        self._sockets: list[socket.socket] = []

    def add(self, opened: socket.socket) -> None:
        self._sockets.append(opened)
        if self._is_cut.is_set():
            raise TimeoutError

    def cut(self) -> None:
        self._is_cut.set()
        for opened in self._sockets:
            with suppress(OSError):
                opened.shutdown(socket.SHUT_RDWR)


def _read(request: Request, line: _Line, seconds: float) -> tuple[int, bytes]:
    class Plain(HTTPConnection):
        def connect(self) -> None:
            super().connect()
            line.add(self.sock)

    class Secure(HTTPSConnection):
        def connect(self) -> None:
            super().connect()
            line.add(self.sock)

    class OpenPlain(HTTPHandler):
        def http_open(self, req: Request) -> HTTPResponse:
            return self.do_open(Plain, req)

    class OpenSecure(HTTPSHandler):
        def https_open(self, req: Request) -> HTTPResponse:
            return self.do_open(cast("Any", Secure), req)

    try:
        with build_opener(_RefuseRedirects, OpenPlain, OpenSecure).open(request, timeout=seconds) as answer:
            return int(answer.status), _read_body(answer)
    except HTTPError as error:
        with error:
            return error.code, _read_body(error) if error.code == 410 else b""


def _read_body(answer: IO[bytes]) -> bytes:
    body = bytearray()
    while piece := answer.read(_PIECE_BYTES):
        body += piece
        if len(body) > MAX_BYTES:
            raise TooLong
    return bytes(body)


class _RefuseRedirects(HTTPRedirectHandler):
    """Refuses redirects, because a redirect could send the token to another host."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        return None
