"""Thirty clients that are wrong in one way each, one that is right, and the kit: /{name}/login, /callback, /events and /.

The settings are in the environment: ISSUER, CLIENT, SECRET (one or two, comma-separated) and TTL. This program prints its port.
"""

import os
import sys
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qsl

sys.dont_write_bytecode = True

from broken_site import NAMES, Site  # noqa: E402
from kit import KitSite  # noqa: E402


@dataclass
class Request:
    method: str
    query: str
    headers: dict
    body: bytes

    @property
    def parameters(self):
        return dict(parse_qsl(self.query, errors="replace"))

    @property
    def cookies(self):
        pairs = (pair.strip().partition("=") for pair in self.headers.get("cookie", "").split(";"))
        return {name: value for name, mark, value in pairs if mark}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Sends headers and body in one packet. Otherwise the body waits until the other side acknowledges the headers.
    wbufsize = -1

    def handle_any(self):
        length = int(self.headers.get("Content-Length") or 0)
        headers = {name.lower(): value for name, value in self.headers.items()}
        path, _, query = self.path.partition("?")
        request = Request(self.command, query, headers, self.rfile.read(length))
        status, more, body = find_answer(path, request)
        content = body.encode() if isinstance(body, str) else body
        names = {name.lower() for name, _ in more}
        self.send_response(status)
        for name, value in more:
            self.send_header(name, value)
        if "content-type" not in names:
            self.send_header("Content-Type", "text/plain; charset=utf-8")
        if status != 204:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD" and status != 204:
            self.wfile.write(content)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = handle_any

    def log_message(self, *_):
        """Prints nothing."""


class Server(ThreadingHTTPServer):
    # Many connections come at once.
    request_queue_size = 128


def find_answer(path, request):
    _, name, *rest = path.split("/", 2)
    site = sites.get(name)
    action = {"login": "login", "callback": "callback", "events": "events", "": "home"}.get(
        rest[0] if rest else None
    )
    if site is None or action is None:
        return 404, [], "not found"
    status, headers, body = answer_action(site, action, request)
    if any(header.lower() == "cache-control" for header, _ in headers):
        return status, headers, body
    is_cached = name == "callback_cached" and action == "callback"
    caching = "public, max-age=60" if is_cached else "no-store"
    return status, [*headers, ("Cache-Control", caching), ("Referrer-Policy", "no-referrer")], body


def answer_action(site, action, request):
    if not isinstance(site, KitSite):
        if action in ("login", "callback"):
            if request.method == "HEAD" or "prefetch" in request.headers.get("sec-purpose", ""):
                return 204, [], ""
        if request.method not in ({"POST"} if action == "events" else {"GET", "HEAD"}):
            return site.refuse("method_not_allowed")
    return getattr(site, action)(request)


settings = {
    "issuer": os.environ["ISSUER"],
    "client": os.environ["CLIENT"],
    "secrets": os.environ["SECRET"].split(","),
    "ttl": int(os.environ.get("TTL", "300")),
}
server = Server(("127.0.0.1", 0), Handler)
sites = {name: Site(name, settings) for name in ["right", *NAMES]}
sites["kit"] = KitSite(settings, f"http://127.0.0.1:{server.server_port}")
Thread(target=server.serve_forever, daemon=True).start()
print(server.server_port, flush=True)
# Ends if the parent process has ended without sending a signal.
sys.stdin.read()
