"""Tests the start of a login."""

import unittest
from urllib.parse import urlsplit

from identity_client import Request, Response, build_logout_url, handle_callback, start_login

from .support import ISSUER, Site, ask, cookies_of, query_of


class Start(unittest.TestCase):
    def test_sends_the_browser_to_the_launch_with_a_state_of_its_own(self) -> None:
        site = Site()
        response = start_login(site.config, ask(""), return_to="/orders?x=1")
        target = urlsplit(response.header("location") or "")
        self.assertEqual(
            [response.status, f"{target.scheme}://{target.netloc}{target.path}"],
            [303, f"{ISSUER}/sso/launch/shop"],
        )
        state = query_of(response)["state"]
        self.assertRegex(state, r"\A[A-Za-z0-9_-]{22}\Z")
        self.assertEqual(query_of(response), {"state": state, "return_to": "/orders?x=1"})
        self.assertNotEqual(query_of(start_login(site.config, ask("")))["state"], state)
        self.assertEqual(response.header("cache-control"), "no-store")
        self.assertEqual(response.header("referrer-policy"), "no-referrer")

    def test_says_in_the_log_only_that_it_is_opened_at_another_host(self) -> None:
        site = Site()
        for host in (None, "shop.example.test", "SHOP.example.test:443", "127.0.0.1:4000"):
            response = start_login(site.config, Request("GET", "", {"Host": host} if host else {}))
            self.assertNotIn("127.0.0", str(response.headers))
        reason = "opened at https://127.0.0.1:4000/, but login_url is https://shop.example.test/login"
        self.assertEqual(
            [(entry.outcome, entry.reason) for entry in site.log], [("opened_elsewhere", reason)]
        )

    def test_says_in_the_log_that_the_callback_is_opened_at_another_path(self) -> None:
        site = Site()
        for path in ("", "/sso/callback", "/callback\n"):
            request = Request("GET", "payload=x", path=path)
            response = handle_callback(site.config, request, start_session=site.start_session)
            self.assertNotIn(b"/callback", response.body)
        reason = (
            "opened at https://shop.example.test/callback?, "
            "but callback_url is https://shop.example.test/sso/callback"
        )
        entries = [(entry.outcome, entry.reason) for entry in site.log if entry.outcome == "opened_elsewhere"]
        self.assertEqual(entries, [("opened_elsewhere", reason)])
        self.assertEqual(len(site.log), 4)

    def test_keeps_the_attempt_in_a_cookie_that_scripts_and_other_hosts_do_not_get(self) -> None:
        response = start_login(Site().config, ask(""))
        state = query_of(response)["state"]
        form = rf"\A__Host-identity_attempt_{state}=\d+\.-\.[0-9a-f]{{64}}; Path=/; Max-Age=600; HttpOnly; Secure; SameSite=Lax\Z"
        self.assertRegex(response.header("set-cookie") or "", form)
        plain = start_login(Site(site="http://localhost:4000").config, ask(""))
        self.assertRegex(plain.header("set-cookie") or "", r"\Aidentity_attempt_(?!.*Secure)")

    def test_leaves_out_a_return_to_on_another_site(self) -> None:
        for path in (
            "https://evil.example",
            "//evil.example",
            "/\\evil.example",
            "orders",
            "",
            "/a\nb",
            "/a\\b",
            "/" + "a" * 2048,
        ):
            self.assertNotIn("return_to", query_of(start_login(Site().config, ask(""), return_to=path)), path)

    def test_passes_a_demand_on_and_takes_no_other(self) -> None:
        config = Site().config
        self.assertEqual(query_of(start_login(config, ask(""), prompt="login"))["prompt"], "login")
        self.assertEqual(query_of(start_login(config, ask(""), max_age=0))["max_age"], "0")
        for max_age in (-1, 2_592_001):
            with self.assertRaises(ValueError):
                start_login(config, ask(""), max_age=max_age)
        with self.assertRaises(ValueError):
            start_login(config, ask(""), prompt="consent")  # type: ignore[arg-type]

    def test_keeps_five_attempts_of_a_browser_and_drops_the_oldest(self) -> None:
        site = Site()
        responses: list[Response] = []
        for _ in range(7):
            site.clock.now += 1
            # The order of the cookies does not show which is newest: here the newest comes first.
            cookie = "; ".join(reversed(cookies_of(*responses).split("; ")))
            responses.append(start_login(site.config, ask("", cookie)))
        states = [query_of(response)["state"] for response in responses]
        kept = [
            pair.split("=")[0].removeprefix("__Host-identity_attempt_")
            for pair in cookies_of(*responses).split("; ")
        ]
        self.assertEqual(kept, states[2:])

    def test_takes_get_only_and_sets_nothing_ahead_of_the_click(self) -> None:
        config = Site().config
        for request in (ask("", method="HEAD"), ask("", sec_purpose="prefetch;prerender")):
            response = start_login(config, request)
            self.assertEqual([response.status, response.header("set-cookie")], [204, None])
        response = start_login(config, ask("", method="POST"))
        self.assertEqual([response.status, response.header("allow")], [405, "GET, HEAD"])


class Requests(unittest.TestCase):
    def test_join_headers_that_came_twice(self) -> None:
        request = Request("GET", "", [("Cookie", "a=1"), ("cookie", "b=2; c")])
        self.assertEqual(request.cookies(), [("a", "1"), ("b", "2")])

    def test_logout_leads_back_to_a_path_of_the_site_only(self) -> None:
        config = Site().config
        self.assertEqual(
            build_logout_url(config, "/bye?x=1"), f"{ISSUER}/logout?client=shop&return_to=%2Fbye%3Fx%3D1"
        )
        for path in (None, "//evil.example", "https://evil.example"):
            self.assertEqual(build_logout_url(config, path), f"{ISSUER}/logout?client=shop")


if __name__ == "__main__":
    unittest.main()
