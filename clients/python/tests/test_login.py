"""The way to a login and back, as a browser goes it."""

import unittest
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any
from urllib.parse import urlsplit

from identity_client import (
    HandOff,
    MemoryStore,
    Refusal,
    Request,
    Response,
    build_logout_url,
    compute_launch_id,
    handle_callback,
    start_login,
)

from .support import ISSUER, NEXT_SECRET, SECRET, SITE, Site, ask, build_payload, cookies_of, query_of, sign


def start(site: Site, cookie: str = "", **options: Any) -> tuple[str, str]:
    """A browser that has asked for a login: its state, and its cookies."""
    response = start_login(site.config, ask("", cookie), **options)
    return query_of(response)["state"], cookies_of(response)


def call(site: Site, query: str, cookie: str = "", is_logged_in: bool = False) -> Response:
    return handle_callback(
        site.config, ask(query, cookie), start_session=site.start_session, is_logged_in=lambda request: is_logged_in
    )


class Start(unittest.TestCase):
    def test_sends_the_browser_to_the_launch_with_a_state_of_its_own(self) -> None:
        site = Site()
        response = start_login(site.config, ask(""), return_to="/orders?x=1")
        target = urlsplit(response.header("location") or "")
        self.assertEqual([response.status, f"{target.scheme}://{target.netloc}{target.path}"], [303, f"{ISSUER}/sso/launch/shop"])
        state = query_of(response)["state"]
        self.assertRegex(state, r"\A[A-Za-z0-9_-]{22}\Z")
        self.assertEqual(query_of(response), {"state": state, "return_to": "/orders?x=1"})
        self.assertNotEqual(query_of(start_login(site.config, ask("")))["state"], state)
        self.assertEqual(response.header("cache-control"), "no-store")
        self.assertEqual(response.header("referrer-policy"), "no-referrer")

    def test_keeps_the_attempt_in_a_cookie_that_scripts_and_other_hosts_do_not_get(self) -> None:
        response = start_login(Site().config, ask(""))
        state = query_of(response)["state"]
        form = rf"\A__Host-identity_attempt_{state}=\d+\.-\.[0-9a-f]{{64}}; Path=/; Max-Age=600; HttpOnly; Secure; SameSite=Lax\Z"
        self.assertRegex(response.header("set-cookie") or "", form)
        plain = start_login(Site(site="http://localhost:4000").config, ask(""))
        self.assertRegex(plain.header("set-cookie") or "", r"\Aidentity_attempt_(?!.*Secure)")

    def test_leaves_out_a_return_to_on_another_site(self) -> None:
        for path in ("https://evil.example", "//evil.example", "/\\evil.example", "orders", "", "/a\nb", "/a\\b", "/" + "a" * 2048):
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
            # The order of the cookies says nothing: the newest comes first.
            cookie = "; ".join(reversed(cookies_of(*responses).split("; ")))
            responses.append(start_login(site.config, ask("", cookie)))
        states = [query_of(response)["state"] for response in responses]
        kept = [pair.split("=")[0].removeprefix("__Host-identity_attempt_") for pair in cookies_of(*responses).split("; ")]
        self.assertEqual(kept, states[2:])

    def test_takes_get_only_and_sets_nothing_ahead_of_the_click(self) -> None:
        config = Site().config
        for request in (ask("", method="HEAD"), ask("", sec_purpose="prefetch;prerender")):
            response = start_login(config, request)
            self.assertEqual([response.status, response.header("set-cookie")], [204, None])
        response = start_login(config, ask("", method="POST"))
        self.assertEqual([response.status, response.header("allow")], [405, "GET, HEAD"])


class Callback(unittest.TestCase):
    def test_logs_in_and_goes_on_to_where_the_person_wanted_to_go(self) -> None:
        site = Site()
        state, cookie = start(site)
        response = call(site, sign(build_payload(state=state, return_to="/größe?x=%2F#y z")), cookie)
        self.assertEqual([response.status, response.header("location")], [303, f"{SITE}/gr%C3%B6%C3%9Fe?x=%2F#y%20z"])
        self.assertEqual(response.header("set-cookie"), "session=one")
        self.assertEqual([hand_off.profile.email for hand_off in site.started], ["zoe@example.test"])
        self.assertEqual([entry.outcome for entry in site.log], ["accepted"])

    def test_takes_two_tabs_at_once_in_either_order(self) -> None:
        site = Site()
        first, cookie = start(site)
        second, more = start(site, cookie)
        both = f"{cookie}; {more}"
        for number, state in enumerate((second, first)):
            query = sign(build_payload(state=state, nonce=f"{number:022}"))
            self.assertEqual(call(site, query, both).header("location"), f"{SITE}/")

    def test_refuses_a_replay_in_the_same_browser_as_one(self) -> None:
        site = Site()
        state, cookie = start(site)
        query = sign(build_payload(state=state))
        call(site, query, cookie)
        self.assert_refused(call(site, query, cookie), 409, "nonce_replayed")
        self.assertEqual(len(site.started), 1)

    def test_starts_a_session_for_exactly_one_of_sixteen_at_once(self) -> None:
        site = Site()
        state, cookie = start(site)
        query = sign(build_payload(state=state))
        together = Barrier(16)

        def go(_: int) -> int:
            together.wait()
            return call(site, query, cookie).status

        with ThreadPoolExecutor(16) as pool:
            statuses = sorted(pool.map(go, range(16)))
        self.assertEqual(statuses, [303] + [409] * 15)
        self.assertEqual(len(site.started), 1)

    def test_leaves_a_planted_hand_off_unused(self) -> None:
        site = Site()
        attacker, cookie = start(site)
        _, others = start(site)
        query = sign(build_payload(state=attacker))
        for browser in ("", others):
            self.assert_refused(call(site, query, browser), 403, "state_unknown")
        self.assertEqual(call(site, query, cookie).status, 303)

    def test_forgets_an_attempt_after_ten_minutes(self) -> None:
        for passed, status in ((599, 303), (600, 403)):
            site = Site()
            state, cookie = start(site)
            site.clock.now += passed
            query = sign(build_payload(state=state, iat=site.clock.now, exp=site.clock.now + 300))
            self.assertEqual(call(site, query, cookie).status, status)

    def test_takes_a_cookie_of_either_secret_of_a_rotation(self) -> None:
        site = Site(secrets=(NEXT_SECRET,))
        state, cookie = start(site)
        site.secrets = (SECRET, NEXT_SECRET)
        self.assertEqual(call(site, sign(build_payload(state=state)), cookie).status, 303)

    def test_takes_a_credential_that_was_given_as_demanded_and_no_older_one(self) -> None:
        demands: list[tuple[dict[str, Any], int]] = [({"prompt": "login"}, 0), ({"max_age": 300}, 300), ({"max_age": 0}, 0)]
        for demand, age in demands:
            site = Site()
            state, cookie = start(site, **demand)
            earliest = site.clock.now - age - 30
            for auth_time in (None, earliest - 1):
                response = call(site, sign(build_payload(state=state, auth_time=auth_time)), cookie)
                self.assert_refused(response, 403, "auth_time_too_old")
            self.assertEqual(call(site, sign(build_payload(state=state, auth_time=earliest)), cookie).status, 303)

    def test_sends_on_what_nobody_asked_for_and_leaves_it_unused(self) -> None:
        site = Site()
        query = sign(build_payload())
        for is_logged_in, target in ((False, f"{SITE}/login"), (True, f"{SITE}/")):
            response = call(site, query, is_logged_in=is_logged_in)
            self.assertEqual([response.status, response.header("location")], [303, target])
            self.assertEqual(response.header("identity-refusal"), "state_missing")
        self.assertEqual(site.started, [])

    def test_refuses_a_login_that_has_ended(self) -> None:
        site = Site()
        state, cookie = start(site)
        site.nonces.add_ended("Vt1n0cVtSh2mV0y0rU3y8Q", site.clock.now + 360)
        query = sign(build_payload(state=state))
        self.assert_refused(call(site, query, cookie), 403, "session_ended")
        self.assertEqual(site.started, [])

    def test_ends_a_session_whose_login_ends_while_it_starts(self) -> None:
        site = Site()
        state, cookie = start(site)

        def start_session(hand_off: HandOff) -> list[tuple[str, str]]:
            site.nonces.add_ended(hand_off.sid or "", site.clock.now + 360)
            return site.start_session(hand_off)

        request = ask(sign(build_payload(state=state)), cookie)
        response = handle_callback(site.config, request, start_session=start_session)
        self.assert_refused(response, 403, "session_ended")
        self.assertEqual([response.header("set-cookie"), site.ended], [None, ["Vt1n0cVtSh2mV0y0rU3y8Q"]])

    def test_lets_nobody_in_while_the_store_is_away(self) -> None:
        class Away(MemoryStore):
            def __init__(self, good: int) -> None:
                super().__init__()
                self.good = good

            def has_ended(self, sid: str) -> bool:
                self.good -= 1
                if self.good < 0:
                    raise TimeoutError("the database is away")
                return False

        # Before the session starts, and after.
        for good in (0, 1):
            site = Site(nonces=Away(good))
            state, cookie = start(site)
            response = call(site, sign(build_payload(state=state)), cookie)
            self.assert_refused(response, 503, "store_unavailable")
            self.assertEqual([response.header("retry-after"), response.header("set-cookie")], ["5", None])
            self.assertEqual(len(site.ended), len(site.started))

    def test_shows_who_is_refused_by_the_site(self) -> None:
        site = Site()
        state, cookie = start(site)

        def start_session(hand_off: HandOff) -> None:
            raise Refusal("person_refused", "no account")

        request = ask(sign(build_payload(state=state)), cookie)
        self.assert_refused(handle_callback(site.config, request, start_session=start_session), 403, "person_refused")
        self.assertEqual(site.log[0].reason, "no account")

    def test_takes_an_error_of_an_attempt_of_this_browser_only(self) -> None:
        site = Site()
        state, cookie = start(site, prompt="none")
        self.assert_refused(call(site, f"error=login_required&state={state}", cookie), 403, "login_required", False)
        self.assert_refused(call(site, f"error=login_required&state={state}"), 403, "state_unknown", False)
        own = Response(302, (("Location", "/welcome"), ("cache-control", "public")))
        asked: list[str] = []

        def on_error(code: str) -> Response | None:
            asked.append(code)
            return own if code == "login_required" else None

        for error, status in (("login_required", 302), ("other", 400)):
            request = ask(f"error={error}&state={state}", cookie)
            response = handle_callback(site.config, request, start_session=site.start_session, on_error=on_error)
            self.assertEqual([response.status, response.header("cache-control")], [status, "no-store"])
        self.assertEqual(asked, ["login_required", "error_unknown"])

    def test_shows_a_page_with_the_code_and_the_launch_and_nothing_of_the_payload(self) -> None:
        site = Site()
        payload = build_payload(profile={"id": 1, "name": "<script>alert(1)</script>"})
        response = call(site, sign(payload))
        self.assert_refused(response, 400, "member_wrong")
        page = response.body.decode()
        launch = compute_launch_id(payload["nonce"])
        self.assertIn(f"Code: <code>member_wrong</code> · <code>{launch}</code>", page)
        self.assertIn(f'<a href="{SITE}/login">', page)
        self.assertNotIn("script", page)
        policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
        self.assertEqual(response.header("content-security-policy"), policy)
        self.assertEqual([entry.launch_id for entry in site.log], [launch])

    def assert_refused(self, response: Response, status: int, code: str, has_launch: bool = True) -> None:
        headers = [response.status, response.header("identity-refusal"), response.header("cache-control")]
        self.assertEqual(headers, [status, code, "no-store"])
        self.assertEqual(response.header("identity-launch") is not None, has_launch)
        self.assertIn(f"<code>{code}</code>", response.body.decode())


class Requests(unittest.TestCase):
    def test_join_headers_that_came_twice(self) -> None:
        request = Request("GET", "", [("Cookie", "a=1"), ("cookie", "b=2; c")])
        self.assertEqual(request.cookies(), [("a", "1"), ("b", "2")])

    def test_logout_leads_back_to_a_path_of_the_site_only(self) -> None:
        config = Site().config
        self.assertEqual(build_logout_url(config, "/bye?x=1"), f"{ISSUER}/logout?client=shop&return_to=%2Fbye%3Fx%3D1")
        for path in (None, "//evil.example", "https://evil.example"):
            self.assertEqual(build_logout_url(config, path), f"{ISSUER}/logout?client=shop")


if __name__ == "__main__":
    unittest.main()
