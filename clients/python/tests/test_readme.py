"""The samples of the README. A sample for a framework runs if that is installed. Otherwise it is only compiled."""

import asyncio
import importlib
import json
import logging
import os
import re
import sys
import tempfile
import time
import types
import unittest
import warnings
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import parse_qs, urlsplit
from wsgiref.types import WSGIApplication
from wsgiref.util import setup_testing_defaults

from .service import Service
from .support import SECRET, build_payload, sign
from .test_wsgi import sign_nudge

README = (Path(__file__).resolve().parents[1] / "README.md").read_text("utf-8")
SHOP = "https://shop.example.com"
SID = "Vt1n0cVtSh2mV0y0rU3y8Q"
Headers = list[tuple[str, str]]
#: Method, path, headers and body in, status, headers and body out.
Go = Callable[[str, str, dict[str, str], bytes], tuple[int, Headers, bytes]]


def sample(heading: str) -> str:
    """The Python under that heading."""
    found = re.search(rf"^##+ {heading}\n.*?```python\n(.*?)```", README, re.DOTALL | re.MULTILINE)
    assert found, heading
    return found[1]


def find(name: str, heading: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        compile(sample(heading), heading, "exec")
        raise unittest.SkipTest(f"{name} is not installed") from None


def ask_wsgi(app: WSGIApplication) -> Go:
    def go(method: str, path: str, headers: dict[str, str], body: bytes) -> tuple[int, Headers, bytes]:
        path, _, query = path.partition("?")
        environ: dict[str, Any] = {
            "REQUEST_METHOD": method,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_LENGTH": str(len(body)),
            "wsgi.input": BytesIO(body),
        }
        environ |= {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in headers.items()}
        setup_testing_defaults(environ)
        answers: list[tuple[int, Headers]] = []

        def start_response(status: str, headers: Headers, _: Any = None) -> Any:
            # Django begins values with a space, which a server takes away.
            answers.append((int(status[:3]), [(name, value.strip()) for name, value in headers]))

        text = b"".join(app(environ, start_response))
        return *answers[0], text

    return go


def ask_asgi(app: Any) -> Go:
    def go(method: str, path: str, headers: dict[str, str], body: bytes) -> tuple[int, Headers, bytes]:
        path, _, query = path.partition("?")
        scope = {"type": "http", "method": method, "path": path, "query_string": query.encode()}
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        given = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        more = {"headers": [(b"host", b"x"), *given], "server": ("x", 80), "root_path": ""}
        asyncio.run(app({**scope, **more}, receive, send))
        headers_out = [(name.decode(), value.decode()) for name, value in sent[0]["headers"]]
        return sent[0]["status"], headers_out, b"".join(message.get("body", b"") for message in sent[1:])

    return go


class Samples(unittest.TestCase):
    def setUp(self) -> None:
        # Warnings of the frameworks are not ours.
        self.enterContext(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        logging.disable()
        self.addCleanup(logging.disable, logging.NOTSET)
        self.service = Service()
        self.addCleanup(self.service.close)
        url = self.service.url.replace("//", f"//shop:{SECRET},{SECRET}-next@")
        self.enterContext(mock.patch.dict(os.environ, {"IDENTITY_URL": url}))
        self.enterContext(mock.patch.dict(sys.modules))
        folder = self.enterContext(tempfile.TemporaryDirectory())
        code = sample("Put it into your site")
        self.shop: Any = types.ModuleType("shop_login")
        sys.modules["shop_login"] = self.shop
        exec(code.replace('"/var/lib/shop/identity.db"', repr(os.path.join(folder, "db"))), vars(self.shop))

    def test_pull_from_a_timer(self) -> None:
        self.assertEqual(list(self.shop.config.secrets), [SECRET, f"{SECRET}-next"])
        self.service.append("erased")
        exec(sample("Hear of changes"), {})
        self.assertEqual(self.service.asked, [0, 1])

    def test_test_without_a_service_in_ten_lines(self) -> None:
        code = sample("Test without a service")
        self.assertLessEqual(len(code.splitlines()), 10)
        exec(code, {})
        self.assertEqual([self.list_sessions(), self.service.asked], [1, []])

    def test_log_in_silently(self) -> None:
        given: dict[str, Any] = {}
        exec(sample("Silent login"), given)
        go = ask_wsgi(given["application"])
        status, headers, _ = go("GET", "/orders?x=1", {}, b"")
        launch = parse_qs(urlsplit(dict(headers)["Location"]).query)
        self.assertEqual([status, launch["prompt"]], [303, ["none"]])
        cookies = "; ".join(value.split(";")[0] for name, value in headers if name == "Set-Cookie")
        error = f"/sso/callback?error=login_required&state={launch['state'][0]}"
        status, headers, _ = go("GET", error, {"Cookie": cookies}, b"")
        self.assertEqual([status, dict(headers)["Location"]], [303, f"{SHOP}/orders?x=1"])
        self.assertEqual(go("GET", "/orders?x=1", {"Cookie": cookies}, b"")[::2], (200, b"Hello, guest"))

    def test_mount_it_in_flask(self) -> None:
        find("flask", "Flask")
        given: dict[str, Any] = {"__name__": "shop"}
        exec(sample("Flask"), given)
        self.use(ask_wsgi(given["app"].wsgi_app))

    def test_mount_it_in_django(self) -> None:
        find("django", "Django")
        settings: Any = importlib.import_module("django.conf").settings
        middleware = ["django.middleware.csrf.CsrfViewMiddleware"]
        settings.configure(
            ROOT_URLCONF="shop_urls", ALLOWED_HOSTS=["*"], SECRET_KEY="x", MIDDLEWARE=middleware
        )
        http: Any = importlib.import_module("django.http")
        path: Any = importlib.import_module("django.urls").path
        urls: Any = types.ModuleType("shop_urls")

        def orders(request: Any) -> Any:
            person, token = request.META["identity.person"], request.META["identity.logout_token"]
            return http.HttpResponse(f'Hello, {person.name} value="{token}"' if person else "nobody")

        urls.urlpatterns = [path("orders", orders)]
        sys.modules["shop_urls"] = urls
        given: dict[str, Any] = {}
        exec(sample("Django"), given)
        self.use(ask_wsgi(given["application"]))

    def test_mount_it_in_fastapi(self) -> None:
        find("fastapi", "FastAPI")
        given: dict[str, Any] = {}
        exec(sample("FastAPI"), given)
        self.use(ask_asgi(given["app"]))

    def list_sessions(self) -> int:
        with self.shop.store._connect() as connection:
            return int(connection.execute("select count(*) from identity_sessions").fetchone()[0])

    def use(self, go: Go) -> None:
        """Logs in, out, in again, and hears of the end of that login."""
        others = "; ".join(f"__Host-identity_attempt_{number:022}=1.-.{'a' * 64}" for number in range(6))
        session = self.log_in(go, "AAECAwQFBgcICQoLDA0ODw", others)
        status, _, page = go("GET", "/orders", {"Cookie": session}, b"")
        self.assertEqual([status, "Hello, Zoë O" in page.decode()], [200, True])
        token = (re.findall(r'value="([0-9a-f]{64})"', page.decode()) or [""])[0]
        self.assertEqual([go("GET", "/logout", {"Cookie": session}, b"")[0], self.list_sessions()], [405, 1])
        status, headers, _ = go("POST", "/logout", {"Cookie": session}, f"token={token}".encode())
        location = dict((name.lower(), value) for name, value in headers)["location"]
        expected = f"{self.service.url}/logout?client=shop&return_to=%2F"
        self.assertEqual([status, location, self.list_sessions()], [303, expected, 0])
        self.assertNotIn(b"Hello", go("GET", "/orders", {"Cookie": session}, b"")[2])
        self.log_in(go, "BAECAwQFBgcICQoLDA0ODw")
        self.assertEqual(self.list_sessions(), 1)
        seen = len(self.service.events)
        self.service.append("session.ended", user_id=build_payload()["profile"]["id"], sid=SID)
        body = json.dumps({"client": "shop", "latest": seen + 1}).encode()
        signed = str(int(time.time()))
        nudge = {"webhook-id": "shop_1", "webhook-timestamp": signed, "webhook-signature": "v1,AAAA"}
        self.assertEqual([go("POST", "/sso/events", nudge, body)[0], self.list_sessions()], [401, 1])
        nudge["webhook-signature"] = sign_nudge(f"shop_1.{signed}.".encode() + body)
        self.assertEqual([go("POST", "/sso/events", nudge, body)[0], self.list_sessions()], [204, 0])

    def log_in(self, go: Go, nonce: str, others: str = "") -> str:
        """The cookie of the session."""
        status, headers, _ = go("GET", "/login?return_to=%2Forders", {"Cookie": others}, b"")
        cookies = [value for name, value in headers if name.lower() == "set-cookie"]
        mine, *dropped = sorted(cookies, key=lambda cookie: "Max-Age=0" in cookie)
        self.assertEqual([status, len(dropped)], [303, 2 if others else 0])
        for attribute in ("Path=/", "Max-Age=600", "HttpOnly", "Secure", "SameSite=Lax"):
            self.assertIn(attribute, mine.split("; "))
        launch = next(value for name, value in headers if name.lower() == "location")
        state = parse_qs(urlsplit(launch).query)["state"][0]
        now = int(time.time())
        times = {"iat": now, "exp": now + 300, "auth_time": now}
        payload = build_payload(
            iss=self.service.url, state=state, return_to="/orders", nonce=nonce, sid=SID, **times
        )
        callback, sent = "/sso/callback?" + sign(payload), {"Cookie": mine.split(";")[0]}
        status, headers, _ = go("GET", callback, sent, b"")
        answer = {name.lower(): value for name, value in headers}
        self.assertEqual(
            [status, answer["location"], answer["cache-control"]], [303, f"{SHOP}/orders", "no-store"]
        )
        self.assertTrue(answer["set-cookie"].startswith("__Host-shop_session="))
        self.assertIn("HttpOnly", answer["set-cookie"])
        status, headers, _ = go("GET", callback, sent, b"")
        refused = {name.lower(): value for name, value in headers}
        self.assertEqual([status, refused["identity-refusal"]], [409, "nonce_replayed"])
        self.assertEqual(refused["content-type"], "text/html; charset=utf-8")
        return answer["set-cookie"].split(";")[0]


if __name__ == "__main__":
    unittest.main()
