"""Tests what can go wrong between a hand-off and its session, and what the person is told then."""

import logging
import re
import unittest
from dataclasses import replace
from typing import Any

from identity_client import HandOff, MemoryStore, Refusal, Response, compute_launch_id, handle_callback
from identity_client.config import log_entry

from .browser import RefusalTestCase, call, start
from .support import ISSUER, NEXT_SECRET, NOW, SITE, Site, ask, build_payload, build_profile, sign


class Ends(RefusalTestCase):
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

        # In the first round, the store fails before the session starts, and in the second round after.
        for good in (0, 1):
            site = Site(nonces=Away(good))
            state, cookie = start(site)
            response = call(site, sign(build_payload(state=state)), cookie)
            self.assert_refused(response, 503, "store_unavailable")
            self.assertEqual([response.header("retry-after"), response.header("set-cookie")], ["5", None])
            self.assertEqual(len(site.ended), len(site.started))

    def test_says_what_the_store_refuses_by_itself(self) -> None:
        class Refusing(MemoryStore):
            def consume(self, nonce: str, keep_until: int) -> bool:
                raise Refusal("expired", "It is from before a restore")

        site = Site(nonces=Refusing())
        state, cookie = start(site)
        self.assert_refused(call(site, sign(build_payload(state=state)), cookie), 401, "expired")

    def test_answers_503_if_a_session_of_the_site_cannot_be_ended(self) -> None:
        """Contract 13.132."""

        def end_session(sid: str) -> None:
            raise TimeoutError("the database is away")

        site = Site()
        state, cookie = start(site)
        config = replace(site.config, end_session=end_session)

        def start_session(hand_off: HandOff) -> None:
            site.nonces.add_ended(hand_off.sid or "", site.clock.now + 360)

        request = ask(sign(build_payload(state=state)), cookie)
        answer = handle_callback(config, request, start_session=start_session)
        self.assert_refused(answer, 503, "store_unavailable")

    def test_shows_who_is_refused_by_the_site(self) -> None:
        site = Site()
        state, cookie = start(site)

        def start_session(hand_off: HandOff) -> None:
            raise Refusal("person_refused", "no account")

        request = ask(sign(build_payload(state=state)), cookie)
        self.assert_refused(
            handle_callback(site.config, request, start_session=start_session), 403, "person_refused"
        )
        self.assertTrue(site.log[0].reason.startswith("no account. This site does not let this person in."))

    def test_takes_an_error_of_an_attempt_of_this_browser_only(self) -> None:
        site = Site()
        state, cookie = start(site, prompt="none")
        self.assert_refused(
            call(site, f"error=login_required&state={state}", cookie), 403, "login_required", False
        )
        self.assert_refused(call(site, f"error=login_required&state={state}"), 403, "state_unknown", False)
        own = Response(302, (("Location", "/welcome"), ("cache-control", "public")))
        asked: list[str] = []

        def on_error(code: str) -> Response | None:
            asked.append(code)
            return own if code == "login_required" else None

        for error, status in (("login_required", 302), ("other", 400)):
            request = ask(f"error={error}&state={state}", cookie)
            response = handle_callback(
                site.config, request, start_session=site.start_session, on_error=on_error
            )
            kept = [value for name, value in response.headers if name.lower() == "cache-control"]
            self.assertEqual([response.status, kept], [status, ["no-store"]])
            code = "login_required" if status == 302 else "error_unknown"
            self.assertEqual([response.header("identity-refusal"), site.log[-1].outcome], [code, code])
        self.assertEqual(asked, ["login_required", "error_unknown"])

    def test_leads_where_it_says_whatever_headers_the_site_adds(self) -> None:
        site = Site()
        state, cookie = start(site)
        headers = [("location", "https://evil.example"), ("Cache-Control", "public"), ("Set-Cookie", "a=1")]
        headers.append(("Set-Cookie", "b=2"))
        request = ask(sign(build_payload(state=state)), cookie)
        response = handle_callback(site.config, request, start_session=lambda _: headers)
        found = sorted((name.lower(), value) for name, value in response.headers if name != "Content-Type")
        expected = [("cache-control", "no-store"), ("location", f"{SITE}/"), ("referrer-policy", "no-referrer")]
        self.assertEqual(found, [*expected, ("set-cookie", "a=1"), ("set-cookie", "b=2")])

    def test_names_the_launch_wherever_one_payload_can_be_read(self) -> None:
        site = Site()
        query = sign(build_payload())
        payload = query.split("&")[0]
        launch = compute_launch_id("AAECAwQFBgcICQoLDA0ODw")
        for given in (f"{query}&state=a&state=b", payload):
            self.assertEqual(call(site, given).header("identity-launch"), launch)
        for given in (f"{query}&{payload}", f"{payload}=", f"{payload}!", payload + "A" * 8192):
            self.assertIsNone(call(site, given).header("identity-launch"))

    def test_refuses_half_a_character_which_no_database_takes(self) -> None:
        site = Site()
        state, cookie = start(site)
        wrong: list[dict[str, Any]] = [
            {"profile": build_profile(name="Zo\ud83d")},
            {"profile": build_profile(account={"capabilities": ["\ud83d"]})},
            {"return_to": "/\ud83d"},
        ]
        for changes in wrong:
            response = call(site, sign(build_payload(state=state, **changes)), cookie)
            self.assert_refused(response, 400, "json_malformed")

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

    def test_logs_no_control_character(self) -> None:
        site = Site()
        state, cookie = start(site)

        def start_session(hand_off: HandOff) -> None:
            raise Refusal("person_refused", "Zo\u00eb\r\naccepted, launch\x00\x1b[2J\x7f\x85\x9b")

        request = ask(sign(build_payload(state=state)), cookie)
        handle_callback(site.config, request, start_session=start_session)
        self.assertTrue(site.log[0].reason.startswith("Zoë??accepted, launch??[2J???. "), site.log[0].reason)

    def test_logs_the_reason_and_where_it_is_explained(self) -> None:
        site = Site()
        state, cookie = start(site)
        payload = build_payload(state=state, iat=NOW - 400, exp=NOW - 100)
        for query in (sign(payload), sign(payload, NEXT_SECRET), sign(build_payload(state=state)), ""):
            call(site, query, cookie)
        with self.assertLogs("identity_client", logging.INFO) as logged:
            for entry in site.log:
                log_entry(entry)
        launch = compute_launch_id(payload["nonce"])
        expired, wrong, accepted, missing = (record.getMessage() for record in logged.records)
        self.assertRegex(
            expired,
            rf"\Aexpired, launch {launch}: Expired 100 s ago by our clock; issued 400 s ago\. The hand-off has expired\. .*"
            rf" {re.escape(ISSUER)}/developers/refusals#expired\Z",
        )
        self.assertRegex(wrong, rf"\Asignature_wrong, launch {launch}: No signature .* Compare the secret ")
        self.assertEqual(accepted, f"accepted, launch {launch}")
        self.assertRegex(missing, r"\Aparameter_missing, launch unknown: There is no payload\. ")


if __name__ == "__main__":
    unittest.main()
