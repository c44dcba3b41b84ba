"""Tests the middleware, called as a WSGI server calls it."""

import base64
import hashlib
import hmac
import io
import unittest
from typing import Any
from wsgiref.types import StartResponse, WSGIEnvironment
from wsgiref.validate import validator

from identity_client import IdentityMiddleware, Request, Response, read_wsgi

from .support import SECRET, SITE, Site, build_payload, cookies_of, query_of, sign
from .test_sessions import KitSessions


def start_page(environ: WSGIEnvironment, start_response: StartResponse) -> list[bytes]:
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"start page"]


class Middleware(unittest.TestCase):
    def setUp(self) -> None:
        self.site = Site()
        self.nudges: list[bool] = []
        self.logged_in = False
        self.app = IdentityMiddleware(
            start_page,
            self.site.config,
            start_session=self.site.start_session,
            is_logged_in=lambda request: self.logged_in,
            events_path="/events",
            on_nudge=lambda: self.nudges.append(True),
        )

    def go(
        self, path: str, query: str = "", method: str = "GET", body: bytes = b"", **more: str
    ) -> tuple[Response, str]:
        """Returns the answer as the kit's own Response, and the body. The standard library's validator checks the answer."""
        environ: dict[str, Any] = {
            "REQUEST_METHOD": method,
            "SCRIPT_NAME": "",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "SERVER_NAME": "evil.example",
            "SERVER_PORT": "80",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "HTTP_HOST": "evil.example",
            "HTTP_X_FORWARDED_HOST": "evil.example",
            "CONTENT_LENGTH": str(len(body)),
            "wsgi.version": (1, 0),
            "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(body),
            "wsgi.errors": io.StringIO(),
            "wsgi.multithread": True,
            "wsgi.multiprocess": False,
            "wsgi.run_once": False,
            **more,
        }
        started: list[tuple[str, list[tuple[str, str]]]] = []

        def start_response(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            started.append((status, headers))
            return io.BytesIO().write

        answer = validator(self.app)(environ, start_response)
        text = b"".join(answer)
        answer.close()  # type: ignore[attr-defined]
        status, headers = started[0]
        return Response(int(status[:3]), tuple(headers), text), text.decode()

    def test_leaves_other_paths_to_the_application(self) -> None:
        for path in ("/", "/login/", "/sso", "/events/x"):
            self.assertEqual(self.go(path)[1], "start page")

    def test_logs_in_with_addresses_of_the_configuration_only(self) -> None:
        start, _ = self.go("/login", "return_to=%2Forders")
        self.assertEqual([start.status, query_of(start)["return_to"]], [303, "/orders"])
        self.assertNotIn("evil", str(start.headers))
        query = sign(build_payload(state=query_of(start)["state"], return_to="/orders"))
        answer, _ = self.go("/sso/callback", query, HTTP_COOKIE=cookies_of(start))
        self.assertEqual([answer.status, answer.header("location")], [303, f"{SITE}/orders"])
        self.assertEqual([entry.outcome for entry in self.site.log], ["opened_elsewhere", "accepted"])

    def test_tells_the_kit_the_whole_path(self) -> None:
        environ = {"REQUEST_METHOD": "GET", "SCRIPT_NAME": "/shop", "PATH_INFO": "/login"}
        self.assertEqual(read_wsgi(environ).path, "/shop/login")

    def test_refuses_with_a_page_and_bounces_what_nobody_asked_for(self) -> None:
        answer, page = self.go("/sso/callback", "payload=x")
        self.assertEqual([answer.status, answer.header("content-length")], [400, str(len(page.encode()))])
        self.assertNotIn("evil", page)
        self.logged_in = True
        answer, _ = self.go("/sso/callback", sign(build_payload()))
        self.assertEqual(answer.header("location"), f"{SITE}/")

    def test_uses_nothing_up_ahead_of_the_click(self) -> None:
        self.assertEqual(
            self.go("/sso/callback", sign(build_payload()), HTTP_SEC_PURPOSE="prefetch")[0].status, 204
        )

    def test_takes_nudges_with_a_genuine_signature_only(self) -> None:
        answer, _ = self.go("/events", method="POST", body=b'{"client":"shop","latest":1}')
        self.assertEqual([answer.status, answer.header("identity-refusal")], [400, "nudge_malformed"])
        self.assertEqual([answer.header("referrer-policy"), answer.body], ["no-referrer", b"nudge_malformed\n"])
        headers = {"HTTP_WEBHOOK_ID": "shop_1", "HTTP_WEBHOOK_TIMESTAMP": str(self.site.clock.now)}
        body = b'{"client":"shop","latest":1}'
        wrong, _ = self.go("/events", method="POST", body=body, HTTP_WEBHOOK_SIGNATURE="v1,AAAA", **headers)
        self.assertEqual(wrong.status, 401)
        signature = sign_nudge(f"shop_1.{self.site.clock.now}.".encode() + body)
        right, _ = self.go("/events", method="POST", body=body, HTTP_WEBHOOK_SIGNATURE=signature, **headers)
        self.assertEqual([right.status, self.nudges], [204, [True]])

    def test_reads_no_more_of_a_body_than_a_nudge_has(self) -> None:
        body = io.BytesIO(b"x" * 1_000_000)
        headers = {
            "HTTP_WEBHOOK_ID": "shop_1",
            "HTTP_WEBHOOK_TIMESTAMP": "1",
            "HTTP_WEBHOOK_SIGNATURE": "v1,x",
        }
        more: dict[str, Any] = {"wsgi.input": body, "CONTENT_LENGTH": "1000000", **headers}
        answer, _ = self.go("/events", method="POST", **more)
        self.assertEqual([answer.status, body.tell()], [400, 65_537])


    def test_reads_nothing_of_a_body_that_it_refuses_unread(self) -> None:
        for path in ("/login", "/sso/callback"):
            body = io.BytesIO(b"x" * 1000)
            more: dict[str, Any] = {"wsgi.input": body, "CONTENT_LENGTH": "1000"}
            answer, _ = self.go(path, method="POST", **more)
            self.assertEqual([answer.status, body.tell()], [405, 0], path)

    def test_ignores_a_page_to_come_back_to_that_is_there_twice(self) -> None:
        for query in ("return_to=%2Fa&return_to=%2Fb", "return_to=&return_to=%2Fb"):
            self.assertNotIn("return_to", query_of(self.go("/login", query)[0]), query)


class People(KitSessions):
    def ask(self, cookie: str) -> tuple[str, str]:
        environ: WSGIEnvironment = {
            "REQUEST_METHOD": "POST",
            "PATH_INFO": "/orders",
            "CONTENT_LENGTH": "6",
            "wsgi.input": io.BytesIO(b"of-app"),
            "HTTP_COOKIE": cookie,
        }
        seen: list[str] = []

        def app(environ: WSGIEnvironment, start_response: StartResponse) -> list[bytes]:
            person = environ["identity.person"]
            seen.append(environ["identity.logout_token"])
            start_response("200 OK", [])
            return [(person.name if person else "nobody").encode() + environ["wsgi.input"].read()]

        def start_response(status: str, headers: Any, exc_info: Any = None) -> Any:
            seen.append(status[:3])

        text = b"".join(IdentityMiddleware(app, self.config)(environ, start_response))
        return seen[-1], text.decode()

    def test_are_told_to_the_application_which_reads_its_own_forms(self) -> None:
        self.assertEqual(self.ask(""), ("200", "nobodyof-app"))
        cookie = cookies_of(self.log_in())
        self.assertEqual(self.ask(cookie), ("200", "Zoë O’Neilof-app"))
        self.store.is_away = True
        self.assertEqual([self.ask(cookie)[0], self.ask("")[0]], ["503", "200"])

    def test_need_a_store_or_sessions_of_the_site(self) -> None:
        with self.assertRaisesRegex(ValueError, "start_session"):
            IdentityMiddleware(start_page, Site().config)


def sign_nudge(message: bytes) -> str:
    key = hmac.digest(SECRET.encode(), b"identity webhooks v1 shop", hashlib.sha256)
    return "v1," + base64.b64encode(hmac.digest(key, message, hashlib.sha256)).decode()


class Requests(unittest.TestCase):
    def test_ignore_the_case_of_header_names(self) -> None:
        self.assertEqual(Request("GET", "", {"Sec-Purpose": "prefetch"}).is_speculative(), True)


if __name__ == "__main__":
    unittest.main()
