"""A server that answers pulls as the identity service does, or as a test tells it to."""

import hashlib
import hmac
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

from .support import SECRET

Answer = tuple[int, dict[str, str], bytes]


def answer_with(status: int, body: bytes, **headers: str) -> Answer:
    return status, headers, body


class Service:
    """Returns the answer to a pull with that `after`."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.secret = SECRET
        self.oldest = 1
        self.asked: list[int] = []
        self.other: Answer | None = None
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                status, headers, body = service.answer(self.path, self.headers.get("Authorization", ""))
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                """Prints nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def answer(self, path: str, authorization: str) -> Answer:
        query = parse_qs(urlsplit(path).query)
        after, limit = int(query["after"][0]), int(query["limit"][0])
        token = hmac.new(self.secret.encode(), b"identity events v1 shop", hashlib.sha256).hexdigest()
        if authorization != f"Bearer {token}":
            return 401, {}, b"{}"
        self.asked.append(after)
        if self.other:
            return self.other
        if after < self.oldest - 1:
            return 410, {}, json.dumps({"code": "events_gone", "oldest": self.oldest}).encode()
        page = [event for event in self.events if event["seq"] > after][:limit]
        return 200, {}, json.dumps({"events": page, "latest": len(self.events)}).encode()

    def append(self, type: str, **members: Any) -> None:
        event = {
            "seq": len(self.events) + 1,
            "type": type,
            "occurred_at": "2026-01-01T00:00:00.000Z",
            **members,
        }
        self.events.append(event)

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
