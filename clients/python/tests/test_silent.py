"""Tests silent logins (contract 13.128 and 13.129)."""

import unittest

from identity_client import Request, Response, handle_callback, login_silently, start_login

from identity_client.hand_off import encode

from .support import SITE, Site, cookies_of, query_of, sign, build_payload
from .test_sessions import KitSessions


class Silent(KitSessions):
    def try_silently(
        self, cookie: str = "", path: str = "/orders", query: str = "x=1", **headers: str
    ) -> Response | None:
        given = {"cookie": cookie, **{name.replace("_", "-"): value for name, value in headers.items()}}
        return login_silently(self.config, Request("GET", query, given, path=path))

    def begin(self, cookie: str = "") -> Response:
        answer = self.try_silently(cookie)
        assert answer is not None
        return answer

    def come_back(self, state: str, cookie: str, error: str = "login_required") -> Response:
        return handle_callback(
            self.config, Request("GET", f"error={error}&state={state}", {"cookie": cookie})
        )

    def test_come_back_to_the_page_if_nobody_is_logged_in(self) -> None:
        """Contract 13.128."""
        for error in ("login_required", "interaction_required", "access_denied"):
            start = self.begin()
            asked = query_of(start)
            self.assertEqual([asked["prompt"], asked["return_to"]], ["none", "/orders?x=1"])
            answer = self.come_back(asked["state"], cookies_of(start), error)
            self.assertEqual([answer.status, answer.header("location")], [303, f"{SITE}/orders?x=1"])
            self.assertIsNone(self.try_silently(cookies_of(start, answer)))
        self.assertEqual(self.log, [])

    def test_keep_the_query_of_the_page_byte_for_byte(self) -> None:
        """Contract 13.128 and 13.136."""
        for query in ("a=1%20x&sig=%2B%7E&flag", "a=1+2&b=%e9%zz&&=", "q={|}^`[]~'\"<>", "?&?"):
            start = self.try_silently(query=query)
            assert start is not None
            state = query_of(start)["state"]
            answer = self.come_back(state, cookies_of(start))
            self.assertEqual(answer.header("location"), f"{SITE}/orders?{query}")
            answer = self.come_back(state, "")
            self.assertEqual(answer.header("location"), f"{SITE}/orders?{query}&silent=no")

    def test_log_in_who_is_logged_in_there(self) -> None:
        start = self.begin()
        asked = query_of(start)
        times = {"iss": self.service.url, "iat": self.clock.now, "exp": self.clock.now + 300}
        query = sign(build_payload(state=asked["state"], return_to=asked["return_to"], **times))
        answer = handle_callback(self.config, Request("GET", query, {"cookie": cookies_of(start)}))
        self.assertEqual(answer.header("location"), f"{SITE}/orders?x=1")
        cookie = cookies_of(start, answer)
        self.assertEqual(self.who(cookie), "Zoë O’Neil")
        self.assertNotIn("silent=", cookie.replace("attempt_silent", ""))
        self.assertIsNone(self.try_silently(cookie))

    def test_are_tried_once_in_ten_minutes(self) -> None:
        """Contract 13.129."""
        start = self.begin()
        marks = [value for name, value in start.headers if "shop_silent" in value]
        self.assertEqual(
            marks, ["__Host-shop_silent=1; Path=/; Max-Age=600; HttpOnly; Secure; SameSite=Lax"]
        )
        self.assertIsNone(self.try_silently(cookies_of(start)))
        logged_in = self.log_in(cookie=cookies_of(start))
        self.assertNotIn("__Host-shop_silent", cookies_of(start, logged_in))

    def test_never_loop_in_a_browser_that_keeps_no_cookie(self) -> None:
        """Contract 13.136."""
        for number in range(200):
            start = self.try_silently("", "/news", f"page={number}")
            assert start is not None
            state = query_of(start)["state"]
            answer = self.come_back(state, "")
            if number % 2:
                times = {"iss": self.service.url, "iat": self.clock.now, "exp": self.clock.now + 300}
                query = sign(build_payload(state=state, **times))
                answer = handle_callback(self.config, Request("GET", query))
            self.assertNotIn("set-cookie", str(answer.headers).lower())
            page = f"page={number}&silent=no"
            self.assertEqual([answer.status, answer.header("location")], [303, f"{SITE}/news?{page}"])
            self.assertIsNone(self.try_silently("", "/news", page))
        self.assertEqual([self.log, vars(self.store)["_sessions"]], [[], {}])

    def test_believe_a_state_only_under_its_mac(self) -> None:
        start = self.begin()
        state, cookie = query_of(start)["state"], cookies_of(start)
        other = state.replace(encode(b"/orders?x=1"), encode(b"/evil"))
        self.assertNotEqual(other, state)
        moved = cookie.replace(state, other)
        self.assertEqual(self.come_back(other, moved).header("location"), f"{SITE}/evil?silent=no")
        self.clock.now += 600
        self.assertEqual(self.come_back(state, cookie).header("location"), f"{SITE}/orders?x=1&silent=no")

    def test_lead_to_no_other_site_whatever_the_state_says(self) -> None:
        for page in (b"//evil.example/", b"/\\evil.example", b"https://evil.example/", b"/\r\nx: y", b"/\xff", b"x"):
            answer = self.come_back(f"silent.{'A' * 22}.{encode(page)}", "")
            self.assertEqual([answer.status, answer.header("location")], [403, None], page)
        for state in ("silent.", f"silent.{'A' * 22}.", f"silent.{'A' * 22}.A", f"silent.{'A' * 22}"):
            self.assertEqual(self.come_back(state, "").status, 403, state)
        answer = self.come_back(f"silent.{'A' * 22}.{encode(b'/.//evil.example#x')}", "")
        self.assertEqual(answer.header("location"), f"{SITE}/.//evil.example?silent=no")

    def test_show_any_other_error(self) -> None:
        start = self.begin()
        answer = self.come_back(query_of(start)["state"], cookies_of(start), "other")
        self.assertEqual([answer.status, answer.header("identity-refusal")], [400, "error_unknown"])
        loud = start_login(self.config, Request("GET"), prompt="none")
        answer = self.come_back(query_of(loud)["state"], cookies_of(loud))
        self.assertEqual([answer.status, answer.header("identity-refusal")], [403, "login_required"])

    def test_are_tried_at_a_visit_to_a_page_only(self) -> None:
        for request in (
            Request("POST", path="/orders"),
            Request("HEAD", path="/orders"),
            Request("GET"),
            Request("GET", path="//evil.example"),
            Request("GET", path="/" + "a" * 400),
            Request("GET", "", {"Sec-Purpose": "prefetch"}, path="/orders"),
            Request("GET", "", {"Sec-Fetch-Dest": "image"}, path="/orders"),
            Request("GET", "", {"Sec-Fetch-Dest": "empty"}, path="/orders"),
        ):
            self.assertIsNone(login_silently(self.config, request), request)
        self.assertIsNotNone(self.try_silently(sec_fetch_dest="document"))

    def test_answer_503_if_the_store_is_away(self) -> None:
        """Contract 13.132."""
        cookie = cookies_of(self.log_in())
        self.store.is_away = True
        answer = self.begin(cookie)
        self.assertEqual([answer.status, answer.header("set-cookie")], [503, None])

    def test_need_no_store(self) -> None:
        site = Site()
        start = login_silently(site.config, Request("GET", path="/orders"))
        assert start is not None
        query = f"error=login_required&state={query_of(start)['state']}"
        request = Request("GET", query, {"cookie": cookies_of(start)})
        answer = handle_callback(site.config, request, start_session=site.start_session)
        self.assertEqual([answer.status, answer.header("location")], [303, f"{SITE}/orders"])
        query = sign(build_payload(state=query_of(start)["state"]))
        request = Request("GET", query, {"cookie": cookies_of(start)})
        answer = handle_callback(site.config, request, start_session=site.start_session)
        self.assertEqual(cookies_of(answer), "session=one")
        self.assertNotIn("shop_silent", cookies_of(start, answer))

    def test_keep_five_attempts_with_the_loud_ones(self) -> None:
        cookie = ""
        for _ in range(7):
            self.clock.now += 1
            start = start_login(self.config, Request("GET", "", {"cookie": cookie}))
            cookie = "; ".join(pair for pair in (cookie, cookies_of(start)) if pair)
        self.clock.now += 1
        dropped = [value for _, value in self.begin(cookie).headers if "Max-Age=0" in value]
        self.assertEqual(len(dropped), 3)


if __name__ == "__main__":
    unittest.main()
