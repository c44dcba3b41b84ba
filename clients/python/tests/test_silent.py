"""Silent logins (contract 13.128 and 13.129)."""

import re
import unittest
from urllib.parse import urlsplit

from identity_client import Request, Response, handle_callback, login_silently, start_login

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
            self.assertEqual(answer.header("identity-refusal"), error)
            self.assertIsNone(self.try_silently(cookies_of(start, answer)))
        self.assertEqual([entry.outcome for entry in self.log], ["interaction_required", "access_denied"])

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
            marks, ["__Host-shop_silent=none; Path=/; Max-Age=600; HttpOnly; Secure; SameSite=Lax"]
        )
        self.assertIsNone(self.try_silently(cookies_of(start)))
        logged_in = self.log_in(cookie=cookies_of(start))
        self.assertNotIn("__Host-shop_silent", cookies_of(start, logged_in))

    def test_never_loop_in_a_browser_that_keeps_no_cookie(self) -> None:
        """Contract 13.136."""
        for number in range(200):
            state = query_of(self.begin())["state"]
            answer = self.come_back(state, "")
            if number % 2:
                times = {"iss": self.service.url, "iat": self.clock.now, "exp": self.clock.now + 300}
                query = sign(build_payload(state=state, **times))
                answer = handle_callback(self.config, Request("GET", query))
            self.assertNotIn("set-cookie", str(answer.headers).lower())
            self.assertEqual([answer.status, answer.header("identity-refusal")], [303, "state_unknown"])
            target = urlsplit(answer.header("location") or "")
            self.assertEqual([target.path, target.query], ["/", "silent=no"])
            self.assertIsNone(self.try_silently("", target.path, target.query))

    def test_believe_a_page_only_under_its_mac(self) -> None:
        start = self.begin()
        state, cookie = query_of(start)["state"], cookies_of(start)
        forged = re.sub(r"\.-\.[^.]+\.", ".-.L2V2aWw.", cookie)
        self.assertNotEqual(forged, cookie)
        self.assertEqual(self.come_back(state, forged).header("location"), f"{SITE}/?silent=no")
        self.clock.now += 600
        self.assertEqual(self.come_back(state, cookie).header("location"), f"{SITE}/?silent=no")

    def test_show_any_other_error(self) -> None:
        start = self.begin()
        answer = self.come_back(query_of(start)["state"], cookies_of(start), "other")
        self.assertEqual([answer.status, answer.header("identity-refusal")], [400, "error_unknown"])
        answer = self.come_back(query_of(start)["state"], "", "other")
        self.assertEqual([answer.status, answer.header("identity-refusal")], [403, "state_unknown"])
        loud = start_login(self.config, Request("GET"), prompt="none")
        answer = self.come_back(query_of(loud)["state"], cookies_of(loud))
        self.assertEqual([answer.status, answer.header("identity-refusal")], [403, "login_required"])

    def test_are_tried_at_a_visit_to_a_page_only(self) -> None:
        for request in (
            Request("POST", path="/orders"),
            Request("HEAD", path="/orders"),
            Request("GET"),
            Request("GET", path="//evil.example"),
            Request("GET", path="/" + "a" * 500),
            Request("GET", "", {"Sec-Purpose": "prefetch"}, path="/orders"),
            Request("GET", "", {"Sec-Fetch-Dest": "image"}, path="/orders"),
            Request("GET", "", {"Sec-Fetch-Dest": "empty"}, path="/orders"),
        ):
            self.assertIsNone(login_silently(self.config, request), request)
        self.assertIsNotNone(self.try_silently(sec_fetch_dest="document"))

    def test_need_no_store(self) -> None:
        site = Site()
        start = login_silently(site.config, Request("GET", path="/orders"))
        assert start is not None
        query = f"error=login_required&state={query_of(start)['state']}"
        request = Request("GET", query, {"cookie": cookies_of(start)})
        answer = handle_callback(site.config, request, start_session=site.start_session)
        self.assertEqual([answer.status, answer.header("location")], [303, f"{SITE}/orders"])

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
