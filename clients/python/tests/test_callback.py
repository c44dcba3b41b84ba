"""Tests the callback, opened as browsers open it."""

import unittest
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

from .browser import RefusalTestCase, call, start
from .support import NEXT_SECRET, SECRET, SITE, Site, build_payload, sign


class Callback(RefusalTestCase):
    def test_logs_in_and_goes_on_to_where_the_person_wanted_to_go(self) -> None:
        site = Site()
        state, cookie = start(site)
        response = call(site, sign(build_payload(state=state, return_to="/größe?x=%2F#y z")), cookie)
        self.assertEqual(
            [response.status, response.header("location")], [303, f"{SITE}/gr%C3%B6%C3%9Fe?x=%2F#y%20z"]
        )
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
        response = call(site, query, cookie)
        self.assert_refused(response, 409, "nonce_replayed")
        self.assertEqual(len(site.started), 1)
        self.assertIn(f'<a href="{SITE}/">Go on</a>', response.body.decode())

    def test_says_in_the_log_only_that_the_clock_may_be_wrong(self) -> None:
        ago = "Expired 3300 s ago by our clock; issued 3600 s ago. "
        for seconds, reason in ((3600, ago), (-3600, "Issued 3600 s ahead of our clock. ")):
            site = Site()
            iat = site.clock.now - seconds
            response = call(site, sign(build_payload(iat=iat, exp=iat + 300)))
            self.assertTrue(site.log[0].reason.startswith(reason), site.log[0].reason)
            self.assertNotIn("3600", response.body.decode())

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
        demands: list[tuple[dict[str, Any], int]] = [
            ({"prompt": "login"}, 0),
            ({"max_age": 300}, 300),
            ({"max_age": 0}, 0),
        ]
        for demand, age in demands:
            site = Site()
            state, cookie = start(site, **demand)
            earliest = site.clock.now - age - 30
            for auth_time in (None, earliest - 1):
                response = call(site, sign(build_payload(state=state, auth_time=auth_time)), cookie)
                self.assert_refused(response, 403, "auth_time_too_old")
            self.assertEqual(
                call(site, sign(build_payload(state=state, auth_time=earliest)), cookie).status, 303
            )

    def test_sends_on_what_nobody_asked_for_and_leaves_it_unused(self) -> None:
        site = Site()
        query = sign(build_payload())
        for is_logged_in, target in ((False, f"{SITE}/login"), (True, f"{SITE}/")):
            response = call(site, query, is_logged_in=is_logged_in)
            self.assertEqual([response.status, response.header("location")], [303, target])
            self.assertEqual(response.header("identity-refusal"), "state_missing")
        self.assertEqual(site.started, [])


if __name__ == "__main__":
    unittest.main()
