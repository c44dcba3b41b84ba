"""The samples of the README. Those for a framework run where it is installed."""

import asyncio
import importlib
import os
import re
import sys
import tempfile
import types
import unittest
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock
from wsgiref.types import WSGIApplication
from wsgiref.util import setup_testing_defaults

import identity_client

from .support import SECRET, SITE, Site, build_payload, sign

README = (Path(__file__).resolve().parents[1] / "README.md").read_text("utf-8")
Headers = list[tuple[str, str]]
#: Path and cookie in, status and headers out.
Go = Callable[[str, str], tuple[int, Headers]]


def sample(heading: str) -> str:
    """The Python under that heading."""
    found = re.search(rf"^##+ {heading}\n.*?```python\n(.*?)```", README, re.DOTALL | re.MULTILINE)
    assert found, heading
    return found[1]


def names(site: Site, **more: Any) -> dict[str, Any]:
    return {**vars(identity_client), "config": site.config, "start_session": site.start_session, **more}


def find(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise unittest.SkipTest(f"{name} is not installed") from None


def ask_wsgi(app: WSGIApplication) -> Go:
    def go(path: str, cookie: str) -> tuple[int, Headers]:
        path, _, query = path.partition("?")
        environ: dict[str, Any] = {"PATH_INFO": path, "QUERY_STRING": query, "HTTP_COOKIE": cookie}
        setup_testing_defaults(environ)
        answers: list[tuple[int, Headers]] = []

        def start_response(status: str, headers: Headers, _: Any = None) -> Any:
            # Django begins values with a space, which a server takes away.
            answers.append((int(status[:3]), [(name, value.strip()) for name, value in headers]))

        list(app(environ, start_response))
        return answers[0]

    return go


def ask_asgi(app: Any) -> Go:
    def go(path: str, cookie: str) -> tuple[int, Headers]:
        path, _, query = path.partition("?")
        scope = {"type": "http", "method": "GET", "path": path, "query_string": query.encode()}
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b""}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        more = {
            "headers": [(b"host", b"x"), (b"cookie", cookie.encode())],
            "server": ("x", 80),
            "root_path": "",
        }
        asyncio.run(app({**scope, **more}, receive, send))
        headers = [(name.decode(), value.decode()) for name, value in sent[0]["headers"]]
        return sent[0]["status"], headers

    return go


class Samples(unittest.TestCase):
    def setUp(self) -> None:
        # Those of the frameworks are not ours.
        self.enterContext(warnings.catch_warnings())
        warnings.simplefilter("ignore")

    def test_configure_a_client_and_pull(self) -> None:
        secrets = {"IDENTITY_SECRET": f"{SECRET},{SECRET}-next"}
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, secrets):
            code = sample("Put it into your site").replace('"identity.db"', repr(os.path.join(folder, "db")))
            given: dict[str, Any] = {"end_all_sessions": lambda: None, "apply": print}
            exec(code, given)
            self.assertEqual(list(given["config"].secrets), secrets["IDENTITY_SECRET"].split(","))
            exec(sample("Hear of changes"), given)
            # No login could be ended.
            self.assertRaises(identity_client.ConfigurationError, given["pull"])

    def test_mount_it_in_flask(self) -> None:
        flask = find("flask")
        app = flask.Flask("shop")
        site = Site()
        exec(sample("Flask"), names(site, app=app, request=flask.request))
        self.log_in(site, ask_wsgi(app.wsgi_app))

    def test_mount_it_in_django(self) -> None:
        django = find("django")
        settings: Any = importlib.import_module("django.conf").settings
        settings.configure(ROOT_URLCONF="shop_urls", ALLOWED_HOSTS=["*"], SECRET_KEY="x")
        django.setup()
        site = Site()
        given = names(site, HttpResponse=importlib.import_module("django.http").HttpResponse)
        exec(sample("Django"), given)
        path = importlib.import_module("django.urls").path
        urls: Any = types.ModuleType("shop_urls")
        urls.urlpatterns = [path("login", given["login"]), path("sso/callback", given["callback"])]
        with mock.patch.dict(sys.modules, {"shop_urls": urls}):
            self.log_in(site, ask_wsgi(importlib.import_module("django.core.handlers.wsgi").WSGIHandler()))

    def test_mount_it_in_fastapi(self) -> None:
        fastapi = find("fastapi")
        app = fastapi.FastAPI()
        site = Site()
        exec(sample("FastAPI"), names(site, app=app, fastapi=fastapi))
        self.log_in(site, ask_asgi(app))

    def log_in(self, site: Site, go: Go) -> None:
        others = "; ".join(f"__Host-identity_attempt_{number:022}=1.-.{'a' * 64}" for number in range(6))
        status, headers = go("/login?return_to=%2Forders", others)
        cookies = [value for name, value in headers if name.lower() == "set-cookie"]
        mine, *dropped = sorted(cookies, key=lambda cookie: "Max-Age=0" in cookie)
        self.assertEqual([status, len(dropped)], [303, 2])
        for attribute in ("Path=/", "Max-Age=600", "HttpOnly", "Secure", "SameSite=Lax"):
            self.assertIn(attribute, mine.split("; "))
        cookie = mine.split(";")[0]
        state = cookie.removeprefix("__Host-identity_attempt_").split("=")[0]
        callback = "/sso/callback?" + sign(build_payload(state=state, return_to="/orders"))
        status, headers = go(callback, cookie)
        answer = {name.lower(): value for name, value in headers}
        self.assertEqual(
            [status, answer["location"], answer["cache-control"]], [303, f"{SITE}/orders", "no-store"]
        )
        self.assertTrue(answer["set-cookie"].startswith("session=one"))
        status, headers = go(callback, cookie)
        answer = {name.lower(): value for name, value in headers}
        self.assertEqual([status, answer["identity-refusal"]], [409, "nonce_replayed"])
        self.assertEqual(answer["content-type"], "text/html; charset=utf-8")


if __name__ == "__main__":
    unittest.main()
