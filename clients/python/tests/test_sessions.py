"""Tests who is logged in (contract 13.120 to 13.127, 13.130 and 13.132)."""

import hashlib
import os
import re
import tempfile
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event as Flag
from typing import Any
from unittest import mock
from urllib.parse import urlencode

from identity_client import (
    Config,
    ConfigurationError,
    HandOff,
    LogEntry,
    MemoryStore,
    Profile,
    Refusal,
    Request,
    Response,
    SqlStore,
    apply_profile,
    current_person,
    end_session,
    find_person,
    handle_callback,
    logout_token,
    open_sqlite,
    pull_events,
    receive_nudge,
    require_login,
    start_login,
)
from identity_client.fake_identity import webhook
from identity_client.profile import read_profile

from .service import Service
from .support import (
    ISSUER,
    NOW,
    SECRET,
    SITE,
    Clock,
    build_payload,
    build_profile,
    cookies_of,
    query_of,
    sign,
)

SID = "Vt1n0cVtSh2mV0y0rU3y8Q"
PERSON = build_profile()["id"]


#: The calls to the store that a page, a login and a log-out make.
STEPS = ("has_ended", "consume", "apply_profile", "find_profile", "add_session", "find_session", "end_session")


class Away(MemoryStore):
    """A store that fails while a test says so."""

    is_away = False
    away_at: tuple[str, ...] = STEPS

    def __getattribute__(self, name: str) -> Any:
        if name in STEPS and self.is_away and name in self.away_at:
            raise TimeoutError("the database is away")
        return super().__getattribute__(name)


class KitSessions(unittest.TestCase):
    def setUp(self) -> None:
        self.service = Service()
        self.addCleanup(self.service.close)
        self.store, self.clock = Away(), Clock()
        self.log: list[LogEntry] = []
        self.config = self.build()
        self.number = 0

    def build(self, **changes: Any) -> Config:
        given: dict[str, Any] = {"store": self.store, "now": self.clock, "log": self.log.append, **changes}
        site = given.pop("site", SITE)
        return Config.from_url(self.service.url.replace("//", f"//shop:{SECRET}@"), site, **given)

    def log_in(self, config: Config | None = None, cookie: str = "", **changes: Any) -> Response:
        config = config or self.config
        start = start_login(config, Request("GET", "", {"cookie": cookie}))
        self.number += 1
        given = {
            "iss": self.service.url,
            "iat": self.clock.now,
            "exp": self.clock.now + 300,
            "nonce": f"{self.number:022}",
            "state": query_of(start)["state"],
        }
        query = sign(build_payload(**(given | changes)))
        cookies = "; ".join(filter(None, (cookie, cookies_of(start))))
        return handle_callback(config, Request("GET", query, {"cookie": cookies}))

    def visit(self, cookie: str, path: str = "/orders", method: str = "GET", **more: Any) -> Request:
        return Request(method, headers={"cookie": cookie}, path=path, **more)

    def who(self, cookie: str, config: Config | None = None) -> str | None:
        person = current_person(config or self.config, self.visit(cookie))
        return None if person is None else person.name

    def post(self, cookie: str, token: str) -> Request:
        return self.visit(cookie, "/logout", "POST", body=urlencode({"token": token}).encode())


class Sessions(KitSessions):
    def test_are_kept_by_the_kit(self) -> None:
        """Contract 13.120 to 13.122."""
        answer = self.log_in()
        form = r"\A__Host-shop_session=[A-Za-z0-9_-]{43}; Path=/; HttpOnly; Secure; SameSite=Lax\Z"
        self.assertRegex(answer.header("set-cookie") or "", form)
        cookie = cookies_of(answer)
        self.assertEqual(self.who(cookie), "Zoë O’Neil")
        kept, key = str(vars(self.store)["_sessions"]), cookie.split("=")[1]
        self.assertNotIn(key, kept)
        self.assertIn(hashlib.sha256(f"shop {key}".encode()).hexdigest(), kept)

    def test_have_another_cookie_on_plain_http(self) -> None:
        """Contract 13.122."""
        config = self.build(site="http://localhost:4000")
        cookie = self.log_in(config).header("set-cookie") or ""
        self.assertRegex(cookie, r"\Ashop_session=[A-Za-z0-9_-]{43}; Path=/; HttpOnly; SameSite=Lax\Z")

    def test_begin_anew_at_each_login_and_end_the_one_before(self) -> None:
        """Contract 13.121."""
        fixed = "__Host-shop_session=" + "A" * 43
        first = cookies_of(self.log_in(cookie=fixed))
        self.assertEqual([self.who(fixed), self.who(first)], [None, "Zoë O’Neil"])
        second = cookies_of(self.log_in(cookie=first))
        self.assertEqual([self.who(first), self.who(second)], [None, "Zoë O’Neil"])

    def test_are_of_nobody_with_a_cookie_that_is_made_up(self) -> None:
        self.log_in()
        digest = next(iter(vars(self.store)["_sessions"]))
        for value in ("", "A" * 43, "A" * 42, digest, PERSON, SID, "x" * 10_000):
            self.assertIsNone(self.who(f"__Host-shop_session={value}"), value)
        self.assertEqual(self.service.asked, [])

    def test_are_none_of_another_client_that_shares_the_store(self) -> None:
        key = cookies_of(self.log_in()).split("=")[1]
        other = replace(self.config, client="office")
        self.assertIsNone(self.who(f"__Host-office_session={key}", other))

    def test_last_for_twelve_hours_or_as_said(self) -> None:
        """Contract 13.123."""
        cookie = cookies_of(self.log_in())
        self.clock.now += 43_199
        self.assertIsNotNone(self.who(cookie))
        self.clock.now += 1
        self.assertIsNone(self.who(cookie))
        config = self.build(max_seconds=60)
        cookie = cookies_of(self.log_in(config))
        self.clock.now += 60
        self.assertIsNone(self.who(cookie, config))
        self.store.sweep(self.clock.now + 43_200)
        self.assertEqual(vars(self.store)["_sessions"], {})
        for seconds in (59, 2_592_001):
            with self.assertRaisesRegex(ConfigurationError, "max_seconds"):
                self.build(max_seconds=seconds)

    def test_are_one_of_sixteen_callbacks_at_once(self) -> None:
        start = start_login(self.config, Request("GET"))
        times = {"iss": self.service.url, "iat": NOW, "exp": NOW + 300}
        query = sign(build_payload(state=query_of(start)["state"], **times))
        request = Request("GET", query, {"cookie": cookies_of(start)})
        with ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(lambda _: handle_callback(self.config, request).status, range(16)))
        self.assertEqual(sorted(answers), [303] + [409] * 15)
        self.assertEqual(len(vars(self.store)["_sessions"]), 1)

    def test_need_a_store(self) -> None:
        config = Config.from_url(f"https://shop:{SECRET}@id.example.test", SITE, nonces=MemoryStore())
        with self.assertRaisesRegex(ConfigurationError, "^store must be set"):
            handle_callback(config, Request("GET"))
        with self.assertRaisesRegex(ConfigurationError, "^store must be set"):
            pull_events(config)
        with self.assertRaisesRegex(ConfigurationError, "^store must be a store"):
            self.build(store=object())

    def test_are_none_of_a_person_who_was_deleted_meanwhile(self) -> None:
        self.store.forget_profile(PERSON)
        answer = self.log_in()
        self.assertEqual([answer.status, answer.header("identity-refusal")], [403, "session_ended"])
        self.assertEqual([answer.header("set-cookie"), vars(self.store)["_sessions"]], [None, {}])

    def test_start_for_whom_the_client_lets_in(self) -> None:
        def let_in(hand_off: HandOff) -> None:
            if hand_off.profile.role == "merchant":
                raise Refusal("person_refused", "No merchants")

        config = self.build(on_login=let_in)
        answer = self.log_in(config)
        self.assertEqual([answer.status, answer.header("identity-refusal")], [403, "person_refused"])
        self.assertTrue(self.log[-1].reason.startswith("No merchants. "))
        self.assertEqual([answer.header("set-cookie"), vars(self.store)["_sessions"]], [None, {}])
        answer = self.log_in(config, profile=build_profile(role="customer"))
        self.assertEqual(self.who(cookies_of(answer), config), "Zoë O’Neil")

    def test_are_the_clients_own_if_it_starts_them(self) -> None:
        start = start_login(self.config, Request("GET"))
        times = {"iss": self.service.url, "iat": NOW, "exp": NOW + 300}
        query = sign(build_payload(state=query_of(start)["state"], **times))
        request = Request("GET", query, {"cookie": cookies_of(start)})
        answer = handle_callback(self.config, request, start_session=lambda _: [("Set-Cookie", "mine=1")])
        self.assertEqual([answer.header("set-cookie"), vars(self.store)["_sessions"]], ["mine=1", {}])


class Cookies(KitSessions):
    def test_are_trimmed_of_spaces_and_tabs_only(self) -> None:
        cookie = cookies_of(self.log_in())
        name, _, value = cookie.partition("=")
        for given in (f"a=b;\t {cookie} \t", f"{name} =\t{value}", f"{name}; {cookie}", f"{cookie}; {name}=x"):
            self.assertEqual(self.who(given), "Zoë O’Neil", given)
        for given in (*(f"{mark}{cookie}" for mark in "\xa0\x85\x1c\x0b"), f"{name}\xa0={value}", f"{cookie}\x85"):
            self.assertIsNone(self.who(given), repr(given))
        # If two cookies have one name, the first counts, even if only the second is right.
        self.assertIsNone(self.who(f"{name}=x; {cookie}"))

    def test_of_an_attempt_are_read_alike(self) -> None:
        for form, status in (
            ("a=b; {} ", 303),
            ("{}; {name}=x", 303),
            ("\xa0{}", 403),
            ("\x85{}", 403),
            ("{name}=x; {}", 403),
        ):
            start = start_login(self.config, Request("GET"))
            cookie = cookies_of(start)
            self.number += 1
            times = {"iss": self.service.url, "iat": self.clock.now, "exp": self.clock.now + 300}
            query = sign(build_payload(state=query_of(start)["state"], nonce=f"{self.number:022}", **times))
            given = {"cookie": form.format(cookie, name=cookie.partition("=")[0])}
            self.assertEqual(handle_callback(self.config, Request("GET", query, given)).status, status, form)


class Events(KitSessions):
    def test_without_a_sid_end_no_session(self) -> None:
        """Contract 13.124."""
        cookie = cookies_of(self.log_in(sid=None))
        self.service.append("session.ended", user_id=PERSON)
        self.assertEqual([pull_events(self.config), self.who(cookie)], [1, "Zoë O’Neil"])

    def test_end_sessions(self) -> None:
        """Contract 13.124."""
        for event in (
            {"type": "session.ended", "user_id": PERSON, "sid": SID},
            {"type": "user.suspended", "user_id": PERSON},
            {"type": "user.deleted", "user_id": PERSON},
        ):
            cookie = cookies_of(self.log_in())
            other_id = PERSON.replace("0001", "0002")
            other = cookies_of(self.log_in(sid="B" * 22, profile=build_profile(id=other_id)))
            self.service.append(**event)
            pull_events(self.config)
            self.assertEqual([self.who(cookie), self.who(other)], [None, "Zoë O’Neil"], event)
            self.assertEqual(len(vars(self.store)["_sessions"]), 1)
            self.store.end_all_sessions()
            self.store.forget_profiles()
            self.clock.now += 1
            # The next round is another login.
            self.store.sweep(self.clock.now + 10_000)

    def test_that_are_gone_end_all_sessions(self) -> None:
        """Contract 13.124."""
        cookie = cookies_of(self.log_in())
        self.service.oldest = 5
        pull_events(self.config)
        self.assertEqual([self.who(cookie), vars(self.store)["_sessions"]], [None, {}])

    def test_are_read_first_if_the_last_read_is_over_a_minute_ago(self) -> None:
        """Contract 13.125."""
        cookie = cookies_of(self.log_in())
        self.assertIsNotNone(self.who(cookie))
        self.assertEqual(self.service.asked, [0])
        self.clock.now += 60
        self.assertIsNotNone(self.who(cookie))
        self.assertEqual(self.service.asked, [0])
        renamed = build_profile(name="Zoë Two", profile_updated_at="2026-02-01T00:00:00.000Z")
        self.service.append("profile.updated", user_id=PERSON, profile=renamed)
        self.clock.now += 1
        self.assertEqual(self.who(cookie), "Zoë Two")
        self.service.append("session.ended", user_id=PERSON, sid=SID)
        self.clock.now += 61
        self.assertIsNone(self.who(cookie))
        self.clock.now -= 600
        cookie = cookies_of(self.log_in(sid="B" * 22))
        asked = len(self.service.asked)
        self.assertIsNotNone(self.who(cookie))
        self.assertGreater(len(self.service.asked), asked)

    def test_reach_the_hook_by_each_read(self) -> None:
        heard: list[str] = []
        config = self.build(on_event=lambda event: heard.append(event.type))
        cookie = cookies_of(self.log_in(config))
        self.service.append("user.restored", user_id=PERSON)
        self.who(cookie, config)
        self.assertEqual(heard, ["user.restored"])

    def test_that_cannot_be_read_end_nothing_and_are_not_asked_for_at_each_page(self) -> None:
        """Contract 13.125."""
        cookie = cookies_of(self.log_in())
        self.service.other = (500, {}, b"")
        for _ in range(3):
            self.assertEqual(self.who(cookie), "Zoë O’Neil")
        self.assertEqual(self.service.asked, [0])
        self.assertEqual([entry.outcome for entry in self.log], ["accepted", "events_unread"])
        self.assertEqual(self.log[-1].reason, "events answered 500. Sessions go on by what is known.")
        self.service.other = None
        self.clock.now += 11
        self.who(cookie)
        self.assertEqual(self.service.asked, [0, 0])

    def test_hold_a_page_up_for_two_seconds_only_and_sixteen_pages_at_once(self) -> None:
        """Contract 13.125 and 13.135."""
        cookie, goes_on, calls = cookies_of(self.log_in()), Flag(), list[bool]()
        waits: list[float] = []

        def pull(config: Config) -> None:
            calls.append(True)
            goes_on.wait(30)

        with (
            mock.patch("identity_client.events.pull_events", pull),
            mock.patch("identity_client.events._WAIT_SECONDS", 0.2),
            ThreadPoolExecutor(16) as pool,
        ):
            began = time.monotonic()
            self.assertEqual(set(pool.map(self.who, [cookie] * 16)), {"Zoë O’Neil"})
            self.assertGreaterEqual(time.monotonic() - began, 0.2)
            with mock.patch("threading.Thread.join", lambda thread, timeout: waits.append(timeout)):
                self.who(cookie)
            goes_on.set()
            self.assertLess(time.monotonic() - began, 10)
        self.assertEqual(waits, [0])
        self.assertEqual(calls, [True])


class Guards(KitSessions):
    def test_lead_to_the_login_and_back_to_the_page(self) -> None:
        """Contract 13.126."""
        cookie = cookies_of(self.log_in())
        person = require_login(self.config, self.visit(cookie))
        self.assertEqual(isinstance(person, Profile) and person.id, PERSON)
        for request, target in (
            (self.visit("", query="x=1&y=%2F"), "/login?return_to=%2Forders%3Fx%3D1%26y%3D%252F"),
            (self.visit("", method="POST"), "/login"),
            (self.visit("", path="//evil.example"), "/login"),
            (self.visit("", path=""), "/login"),
        ):
            answer = require_login(self.config, request)
            assert isinstance(answer, Response)
            expected = [303, SITE + target, "no-store"]
            self.assertEqual(
                [answer.status, answer.header("location"), answer.header("cache-control")], expected
            )
        config = self.build(login_url=f"{SITE}/login?lang=en")
        answer = require_login(config, self.visit(""))
        assert isinstance(answer, Response)
        self.assertEqual(answer.header("location"), f"{SITE}/login?lang=en&return_to=%2Forders")

    def test_know_people(self) -> None:
        """Contract 13.130."""
        self.assertIsNone(find_person(self.config, PERSON))
        profile = read_profile(build_profile())
        self.assertEqual(
            [apply_profile(self.config, profile), apply_profile(self.config, profile)], [True, False]
        )
        self.assertEqual(find_person(self.config, PERSON), profile)

    def test_answer_503_if_the_store_is_away(self) -> None:
        """Contract 13.132."""
        cookie = cookies_of(self.log_in())
        token = logout_token(self.config, self.visit(cookie))
        self.store.is_away = True
        with self.assertRaises(Refusal) as caught:
            current_person(self.config, self.visit(cookie))
        self.assertEqual(caught.exception.code, "store_unavailable")
        for answer in (
            require_login(self.config, self.visit(cookie)),
            end_session(self.config, self.post(cookie, token)),
            self.log_in(),
        ):
            assert isinstance(answer, Response)
            self.assertEqual([answer.status, answer.header("identity-refusal")], [503, "store_unavailable"])
            self.assertEqual([answer.header("retry-after"), answer.header("set-cookie")], ["5", None])
        self.assertIsNone(self.who(""))
        self.store.is_away = False
        self.assertIsNotNone(self.who(cookie))


    def test_let_nobody_in_and_nobody_out_at_whatever_step_the_store_goes_away(self) -> None:
        """Contract 13.132."""
        cookie = cookies_of(self.log_in())
        for step in STEPS:
            if step == "find_session":
                continue
            self.store.is_away, self.store.away_at = True, (step,)
            answer = self.log_in(cookie=cookie)
            self.store.is_away = False
            self.assertEqual([answer.status, answer.header("set-cookie")], [503, None], step)
            self.assertEqual(self.who(cookie), "Zoë O’Neil", step)


    def test_end_only_the_new_session_if_a_login_cannot_be_finished(self) -> None:
        """Contract 13.132."""
        cookie = cookies_of(self.log_in())
        kept = dict(vars(self.store)["_sessions"])
        asked: list[str] = []

        def has_ended(store: Away, sid: str) -> bool:
            asked.append(sid)
            if len(asked) == 2:
                raise TimeoutError("the database is away")
            return False

        with mock.patch.object(Away, "has_ended", has_ended):
            # Both sessions are of one login at the service, as after a second click.
            answer = self.log_in(cookie=cookie)
        self.assertEqual([answer.status, answer.header("set-cookie")], [503, None])
        self.assertEqual([self.who(cookie), vars(self.store)["_sessions"]], ["Zoë O’Neil", kept])

        def end_session(store: Away, digest: str) -> None:
            asked.append(digest)
            if len(asked) == 3:
                raise TimeoutError("the database is away")
            vars(store)["_sessions"].pop(digest)

        with mock.patch.object(Away, "end_session", end_session):
            self.assertEqual(self.log_in(cookie=cookie).status, 503)
        self.assertEqual([self.who(cookie), vars(self.store)["_sessions"]], ["Zoë O’Neil", kept])

    def test_answer_503_if_it_is_away_after_the_session_has_started(self) -> None:
        """Contract 13.132."""
        right = {"has_ended": self.store.has_ended, "end_session": self.store.end_session}
        asked: list[str] = []

        def fail_later(name: str) -> Any:
            def ask(store: Away, text: str) -> Any:
                asked.append(name)
                if len(asked) > 1:
                    raise TimeoutError("the database is away")
                return right[name](text)

            return ask

        with (
            mock.patch.object(Away, "has_ended", fail_later("has_ended")),
            mock.patch.object(Away, "end_session", fail_later("end_session")),
        ):
            answer = self.log_in()
        self.assertEqual([asked, answer.status], [["has_ended", "has_ended", "end_session"], 503])

    def test_answer_503_if_a_kept_profile_cannot_be_read(self) -> None:
        """Contract 13.132."""
        with tempfile.TemporaryDirectory() as folder:
            store = SqlStore(open_sqlite(os.path.join(folder, "identity.db")))
            store.create_tables()
            config = self.build(store=store)
            cookie = cookies_of(self.log_in(config))
            for text in ("{", "{}", "[]", '{"id":"x"}'):
                store._run("update identity_profiles set profile = ?", text)
                for answer in (require_login(config, self.visit(cookie)), self.log_in(config)):
                    assert isinstance(answer, Response)
                    self.assertEqual(
                        [answer.status, answer.header("identity-refusal")], [503, "store_unavailable"], text
                    )

    def test_answer_503_to_a_hand_off_without_a_state(self) -> None:
        """Contract 13.132."""
        cookie = cookies_of(self.log_in())
        self.store.is_away, self.store.away_at = True, ("find_session",)
        times = {"iss": self.service.url, "iat": self.clock.now, "exp": self.clock.now + 300}
        query = sign(build_payload(nonce="B" * 22, **times))
        answer = handle_callback(self.config, Request("GET", query, {"cookie": cookie}))
        self.assertEqual([answer.status, answer.header("identity-refusal")], [503, "store_unavailable"])


class Clocks(KitSessions):
    def test_wrong_by_ten_minutes_let_nobody_in_and_say_so(self) -> None:
        for seconds, code in ((-600, "issued_in_future"), (600, "expired")):
            right = self.clock.now
            nudge = webhook(self.config)
            self.clock.now += seconds
            answer = self.log_in(iat=right, exp=right + 300)
            self.assertEqual([answer.status, answer.header("identity-refusal")], [401, code])
            self.assertIn("Set yours by NTP.", self.log[-1].reason)
            answer = receive_nudge(self.config, nudge, self.fail)
            self.assertEqual([answer.status, answer.header("identity-refusal")], [401, "nudge_too_old"])
            self.assertTrue(self.log[-1].reason.startswith(f"Signed {seconds} s ago by our clock."))
            self.clock.now = right
        self.assertEqual(vars(self.store)["_sessions"], {})

    def test_that_jump_by_ten_minutes_end_no_session(self) -> None:
        cookie, began = cookies_of(self.log_in()), self.clock.now
        for seconds in (-600, 600):
            self.clock.now = began + seconds
            self.assertEqual(self.who(cookie), "Zoë O’Neil")
        self.service.append("session.ended", user_id=PERSON, sid=SID)
        self.clock.now = began - 600
        # A read whose time is now in the future does not count.
        self.assertIsNone(self.who(cookie))


class LogOuts(KitSessions):
    def test_end_the_session_and_lead_to_the_service(self) -> None:
        """Contract 13.127."""
        cookie = cookies_of(self.log_in())
        other = cookies_of(self.log_in(sid="B" * 22))
        token = logout_token(self.config, self.visit(cookie))
        self.assertRegex(token, r"\A[0-9a-f]{64}\Z")
        for _ in range(2):  # A double click sends the form twice.
            answer = end_session(self.config, self.post(cookie, token), "/bye")
            target = f"{self.service.url}/logout?client=shop&return_to=%2Fbye"
            self.assertEqual([answer.status, answer.header("location")], [303, target])
        gone = "__Host-shop_session=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Lax"
        self.assertEqual(answer.header("set-cookie"), gone)
        self.assertEqual([self.who(cookie), self.who(other)], [None, "Zoë O’Neil"])

    def test_are_refused_by_another_method_or_token(self) -> None:
        """Contract 13.127."""
        cookie = cookies_of(self.log_in())
        other = cookies_of(self.log_in(sid="B" * 22))
        token = logout_token(self.config, self.visit(cookie))
        for request in (
            self.visit(cookie, "/logout", query=f"token={token}"),
            self.visit(cookie, "/logout", "HEAD"),
        ):
            answer = end_session(self.config, request)
            self.assertEqual([answer.status, answer.header("allow")], [405, "POST"])
        wrong = logout_token(self.config, self.visit(other))
        for request in (
            self.post(cookie, wrong),
            self.post(cookie, ""),
            self.post(cookie, "é"),
            self.post("", token),
            self.post("", ""),
            self.visit(cookie, "/logout", "POST", body=b"\xff\xfe=&token"),
            *(
                self.visit(cookie, "/logout", "POST", body=body.encode())
                for body in (
                    f"token={token}&token=",
                    f"token=&token={token}",
                    f"token={token}&token={token}",
                    f"token={token}&x=" + "x" * 65_536,
                )
            ),
        ):
            answer = end_session(self.config, request)
            self.assertEqual([answer.status, answer.header("identity-refusal")], [403, "logout_token_wrong"])
            self.assertIn(b"<h1>You are not logged out</h1>", answer.body)
        self.assertEqual([self.who(cookie), self.who(other)], ["Zoë O’Neil"] * 2)
        self.assertEqual(logout_token(self.config, self.visit("")), "")


class Reasons(KitSessions):
    def test_name_both_issuers_if_the_mac_is_right(self) -> None:
        """Contract 13.133."""
        answer = self.log_in(iss=ISSUER)
        self.assertEqual(answer.header("identity-refusal"), "issuer_wrong")
        said = (
            f"It is from {ISSUER}, and the issuer here is {self.service.url}. The hand-off comes from another"
        )
        self.assertTrue(self.log[-1].reason.startswith(said), self.log[-1].reason)
        self.assertEqual(self.log[-1].help_url, f"{self.service.url}/developers/refusals#issuer_wrong")
        self.log_in(iss="https://a\nb" + "c" * 9)
        self.assertIsNone(re.search("\n", self.log[-1].reason))


if __name__ == "__main__":
    unittest.main()
