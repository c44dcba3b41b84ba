"""Tests the middleware, called as an ASGI server calls it."""

import asyncio
from typing import Any
from unittest import mock

from identity_client import AsgiMiddleware, Response
from identity_client.asgi import Receive, Scope, Send
from identity_client.fake_identity import hand_off, webhook

from .service import answer_with
from .support import SITE, cookies_of
from .test_sessions import KitSessions


async def show_page(scope: Scope, receive: Receive, send: Send) -> None:
    body = (await receive()).get("body", b"") if scope["type"] == "http" else b""
    person = scope["identity.person"]
    text = f"{person.name if person else 'nobody'} {scope['identity.logout_token']} {body.decode()}"
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": text.encode()})


class Middleware(KitSessions):
    def go(
        self, path: str, cookie: str = "", method: str = "GET", body: bytes = b"", **more: Any
    ) -> Response:
        path, _, query = path.partition("?")
        headers = [(b"host", b"shop.example.test"), (b"cookie", cookie.encode()), *more.pop("headers", [])]
        scope = {"type": "http", "method": method, "path": path, "raw_path": path.encode(), **more}
        scope |= {"query_string": query.encode(), "headers": headers}
        parts = [body[at : at + 10_000] for at in range(0, len(body), 10_000)] or [b""]
        sent: list[Any] = []
        self.received = 0

        async def receive() -> Any:
            self.received += 1
            return {"type": "http.request", "body": parts.pop(0), "more_body": bool(parts)}

        async def send(message: Any) -> None:
            sent.append(message)

        asyncio.run(AsgiMiddleware(show_page, self.config)(scope, receive, send))
        if len(sent) == 1:
            return Response(sent[0]["code"])
        pairs = tuple((name.decode().title(), value.decode()) for name, value in sent[0]["headers"])
        return Response(sent[0]["status"], pairs, sent[1]["body"])

    def log_in_by_pages(self) -> str:
        start = self.go("/login?return_to=%2Forders")
        made = hand_off(self.config, start.header("location") or "")
        answer = self.go(made.removeprefix(SITE), cookies_of(start))
        self.assertEqual([answer.status, answer.header("location")], [303, f"{SITE}/orders"])
        return cookies_of(answer)

    def test_logs_in_and_out(self) -> None:
        self.assertEqual(self.go("/").body, b"nobody  ")
        cookie = self.log_in_by_pages()
        name, token, body = self.go("/orders", cookie, "POST", b"of-the-app").body.decode().rsplit(" ", 2)
        self.assertEqual([name, body], ["Zoë O’Neil", "of-the-app"])
        self.assertEqual(self.go("/logout", cookie, "POST", b"token=x").status, 403)
        self.assertEqual(self.go("/logout", cookie).status, 405)
        answer = self.go("/logout", cookie, "POST", f"token={token}".encode())
        self.assertEqual(answer.header("location"), f"{self.service.url}/logout?client=shop&return_to=%2F")
        self.assertEqual(self.go("/", cookie).body.split()[0], b"nobody")

    def test_hears_of_events(self) -> None:
        cookie = self.log_in_by_pages()
        self.service.append("user.suspended", user_id="0190f5a0-0000-7000-8000-000000000001")
        nudge = webhook(self.config)
        headers = [(name.encode(), value.encode()) for name, value in dict(nudge.headers).items()]
        self.service.other = answer_with(500, b"")
        answer = self.go("/sso/events", "", "POST", nudge.body, headers=headers)
        self.assertEqual([answer.status, answer.header("retry-after")], [503, "1"])
        self.assertEqual(self.log[-1].outcome, "events_unread")
        self.service.other = None
        self.assertEqual(self.go("/sso/events", "", "POST", nudge.body, headers=headers).status, 204)
        self.assertEqual(vars(self.store)["_sessions"], {})
        self.assertEqual(self.go("/", cookie).body.split()[0], b"nobody")

    def test_answers_503_to_a_nudge_while_another_pull_is_at_work(self) -> None:
        nudge = webhook(self.config)
        headers = [(name.encode(), value.encode()) for name, value in dict(nudge.headers).items()]
        with mock.patch("identity_client.routes.pull_events", lambda config: None):
            answer = self.go("/sso/events", "", "POST", nudge.body, headers=headers)
        self.assertEqual([answer.status, answer.header("retry-after")], [503, "1"])
        self.assertTrue(self.log[-1].reason.startswith("another pull is still at work. "))

    def test_reads_nothing_of_a_body_that_it_refuses_unread(self) -> None:
        for path in ("/login", "/sso/callback"):
            self.assertEqual([self.go(path, "", "POST", b"x").status, self.received], [405, 0], path)

    def test_reads_no_more_of_a_body_than_a_nudge_has(self) -> None:
        self.assertEqual(self.go("/sso/events", "", "POST", b"x" * 1_000_000).status, 400)
        self.assertEqual(self.received, 7)

    def test_answers_503_if_the_store_is_away(self) -> None:
        cookie = self.log_in_by_pages()
        self.store.is_away = True
        self.assertEqual([self.go("/", cookie).status, self.go("/").status], [503, 200])
        self.assertEqual(self.go("/", cookie, type="websocket").status, 1013)

    def test_leaves_what_is_no_request_to_the_application(self) -> None:
        seen: list[str] = []

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            seen.append(scope["type"])

        unused: Any = None
        asyncio.run(AsgiMiddleware(app, self.config)({"type": "lifespan"}, unused, unused))
        self.assertEqual(seen, ["lifespan"])
