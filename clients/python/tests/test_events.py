"""Tests pulls, from a server that answers as the identity service does."""

import json
import unittest
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from unittest import mock

from identity_client import (
    Claim,
    Config,
    ConfigurationError,
    Event,
    EventsError,
    MemoryStore,
    handle_callback,
    pull_events,
    start_login,
)
from identity_client.profile import read_profile

from .service import Service, answer_with
from .support import NEXT_SECRET, SECRET, Site, ask, build_payload, build_profile, cookies_of, query_of, sign

SID = "Vt1n0cVtSh2mV0y0rU3y8Q"
PERSON = build_profile()["id"]


class Pulls(unittest.TestCase):
    def setUp(self) -> None:
        self.service = Service()
        self.addCleanup(self.service.close)
        self.store = MemoryStore()
        self.site = Site(nonces=self.store, issuer=self.service.url)
        self.applied: list[Event] = []
        self.times_over: list[bool] = []

    def position(self) -> int | None:
        with self.store.claim_position("shop") as claim:
            return None if claim is None else claim.position

    def pull(self, **options: Any) -> int | None:
        given: dict[str, Any] = {
            "positions": self.store,
            "profiles": self.store,
            "apply": self.applied.append,
            "start_over": lambda: self.times_over.append(True),
            **options,
        }
        return pull_events(self.site.config, **given)

    def test_read_everything_once_in_order_and_say_how_far_they_came(self) -> None:
        for _ in range(2500):
            self.service.append("user.restored", user_id=PERSON)
        self.assertEqual(self.pull(), 2500)
        self.assertEqual([event.seq for event in self.applied], list(range(1, 2501)))
        self.assertEqual(self.service.asked, [0, 1000, 2000, 2500])
        self.service.append("user.restored", user_id=PERSON)
        self.assertEqual(self.pull(), 2501)
        self.assertEqual([len(self.applied), self.position()], [2501, 2501])

    def test_keep_profiles_up_to_date_and_forget_people(self) -> None:
        for minute in (1, 3, 2):
            updated_at = f"2026-01-01T00:0{minute}:00.000Z"
            profile = build_profile(name=f"Zoë {minute}", profile_updated_at=updated_at)
            self.service.append("profile.updated", user_id=PERSON, profile=profile)
        self.pull()
        kept = self.store.find_profile(PERSON)
        self.assertEqual(kept and kept.name, "Zoë 3")
        self.service.append("user.deleted", user_id=PERSON)
        self.pull()
        self.assertIsNone(self.store.find_profile(PERSON))

    def test_leave_a_site_whose_hook_raised_once_equal_to_the_master(self) -> None:
        people: dict[str, str] = {}
        calls: list[tuple[str, bool]] = []
        is_away = False

        def apply(event: Event) -> None:
            assert event.profile is not None
            calls.append((event.profile.name, event.is_newer))
            if is_away:
                raise KeyError("the table is away")
            if event.is_newer:
                people[event.profile.id] = event.profile.name

        for minute in (1, 1, 2):
            self.service.append("profile.updated", user_id=PERSON, profile=self.profile_of(minute))
        events, self.service.events = self.service.events, []
        for number, event in enumerate(events):
            self.service.events.append(event)
            is_away = number != 1
            if is_away:
                with self.assertRaisesRegex(KeyError, "the table is away"):
                    self.pull(apply=apply)
            if number == 2:
                # Before the event comes again, a callback keeps a later profile, and its site stores it.
                self.store.apply_profile(read_profile(self.profile_of(3)))
                people[PERSON] = "Zoë 3"
            is_away = False
            self.pull(apply=apply)
        self.assertEqual(
            calls, [("Zoë 1", True), ("Zoë 1", True), ("Zoë 1", False), ("Zoë 2", True), ("Zoë 2", False)]
        )
        kept = self.store.find_profile(PERSON)
        self.assertEqual([people, kept and kept.name], [{PERSON: "Zoë 3"}, "Zoë 3"])

    def profile_of(self, minute: int) -> dict[str, Any]:
        return build_profile(name=f"Zoë {minute}", profile_updated_at=f"2026-01-01T00:0{minute}:00.000Z")

    def test_end_sessions_and_refuse_their_hand_off_when_it_comes_late(self) -> None:
        self.service.append("session.ended", user_id=PERSON, sid=SID)
        self.pull()
        self.assertEqual(self.site.ended, [SID])
        start = start_login(self.site.config, ask(""))
        payload = build_payload(iss=self.service.url, state=query_of(start)["state"])
        request = ask(sign(payload), cookies_of(start))
        response = handle_callback(self.site.config, request, start_session=self.site.start_session)
        self.assertEqual([response.status, response.header("identity-refusal")], [403, "session_ended"])
        # The end of a login is remembered for as long as a hand-off is valid, and for 60 seconds more.
        self.store.sweep(self.site.clock.now + 360)
        self.assertTrue(self.store.has_ended(SID))
        self.store.sweep(self.site.clock.now + 361)
        self.assertFalse(self.store.has_ended(SID))

    def test_bear_events_and_members_that_they_do_not_know(self) -> None:
        self.service.append("erased")
        del self.service.events[0]["occurred_at"]
        self.service.append("parcel.sent", user_id=PERSON, weight={"kg": 1.5})
        self.pull()
        self.assertEqual([event.type for event in self.applied], ["erased", "parcel.sent"])
        self.assertEqual(self.applied[1].members["weight"], {"kg": 1.5})

    def test_go_on_after_410_with_nothing_of_before(self) -> None:
        self.service.append("profile.updated", user_id=PERSON, profile=build_profile())
        self.pull()
        self.service.events = [{"seq": number, "type": "erased"} for number in range(901, 904)]
        self.service.oldest = 901
        self.assertEqual(self.pull(), 903)
        self.assertEqual([len(self.times_over), self.store.find_profile(PERSON)], [1, None])
        self.assertEqual([event.seq for event in self.applied[1:]], [901, 902, 903])

    def test_do_not_go_round_for_ever(self) -> None:
        self.service.other = answer_with(410, b'{"oldest":5}')
        for _ in range(2):
            with self.assertRaisesRegex(EventsError, "410"):
                self.pull()
        self.assertEqual(self.times_over, [True])
        self.service.other = answer_with(200, b'{"events":[{"seq":4,"type":"erased"}],"latest":9}')
        with self.assertRaisesRegex(EventsError, "4 comes after 4"):
            self.pull()
        self.service.other = answer_with(200, b'{"events":[{"seq":6,"type":"erased"}],"latest":9}')
        with self.assertRaisesRegex(EventsError, "6 comes after 4"):
            self.pull()

    def test_apply_each_event_once_where_sixteen_are_asked_for_at_once(self) -> None:
        for _ in range(20):
            self.service.append("erased")
        config = self.site.config

        def pull(_: int) -> int | None:
            return pull_events(
                config, positions=self.store, start_over=lambda: None, apply=self.applied.append
            )

        with ThreadPoolExecutor(16) as pool:
            self.assertEqual(list(pool.map(pull, range(16))), [20] * 16)
        self.assertEqual([event.seq for event in self.applied], list(range(1, 21)))

    def test_stop_where_another_process_has_taken_over(self) -> None:
        for _ in range(3):
            self.service.append("erased")

        class Overtaken(MemoryStore):
            @contextmanager
            def claim_position(self, client: str) -> Generator[Claim | None, None, None]:
                yield mock.Mock(position=0, advance=lambda position: position < 2)

        with self.assertRaisesRegex(EventsError, "another process"):
            self.pull(positions=Overtaken())
        self.assertEqual([event.seq for event in self.applied], [1, 2])

    def test_ask_for_nothing_where_another_one_is_at_work(self) -> None:
        class Held(MemoryStore):
            @contextmanager
            def claim_position(self, client: str) -> Generator[Claim | None, None, None]:
                yield None

        self.assertIsNone(pull_events(self.site.config, positions=Held(), start_over=lambda: None))
        self.assertEqual(self.service.asked, [])

    def test_store_how_far_they_came_after_all_of_it_is_applied(self) -> None:
        self.service.append("user.restored", user_id=PERSON)
        self.service.append("user.suspended", user_id=PERSON)

        def crash(event: Event) -> None:
            self.applied.append(event)
            if event.seq == 2 and len(self.applied) == 2:
                raise KeyError("our own")

        with self.assertRaisesRegex(KeyError, "our own"):
            self.pull(apply=crash)
        self.assertEqual(self.position(), 1)
        self.assertEqual(self.pull(apply=crash), 2)
        self.assertEqual([event.seq for event in self.applied], [1, 2, 2])

    def test_take_the_token_of_either_secret_of_a_rotation(self) -> None:
        self.service.append("erased")
        for secrets in ((SECRET, NEXT_SECRET), (NEXT_SECRET, SECRET)):
            self.site.secrets = secrets
            self.assertEqual(self.pull(), 1)
        self.site.secrets = (NEXT_SECRET,)
        with self.assertRaisesRegex(EventsError, "401: compare the secret and the client's name"):
            self.pull()

    def test_send_the_token_nowhere_else(self) -> None:
        other = Service()
        self.addCleanup(other.close)
        self.service.other = answer_with(302, b"", Location=f"{other.url}/sso/events?after=0&limit=1")
        with self.assertRaisesRegex(EventsError, "302"):
            self.pull()
        self.assertEqual(other.asked, [])

    def test_lose_nothing_when_the_answer_is_none_of_events(self) -> None:
        answers: list[tuple[int, bytes]] = [
            (503, b""),
            (410, b"gone"),
            (410, b"{}"),
            (200, b"<html>"),
            (200, b"{}"),
            (200, b'{"events":[1]}'),
            (200, b'{"events":[{"seq":"1","type":"erased"}]}'),
            (200, b'{"events":[{"seq":1,"type":"erased","seq":2}]}'),
            (200, json.dumps({"events": [{"seq": 1, "type": "profile.updated", "profile": {}}]}).encode()),
        ]
        for status, body in answers:
            self.service.other = answer_with(status, body)
            with self.subTest(body), self.assertRaises(EventsError):
                self.pull()
        self.service.close()
        with self.assertRaises(EventsError):
            self.pull()
        self.assertEqual([self.position(), self.applied, self.times_over], [0, [], []])

    def test_are_refused_where_no_session_could_be_ended(self) -> None:
        config = self.site.config
        deaf = Config(
            issuer=config.issuer,
            client=config.client,
            secrets=config.secrets,
            callback_url=config.callback_url,
            login_url=config.login_url,
            nonces=self.store,
        )
        with self.assertRaises(ConfigurationError):
            pull_events(deaf, positions=self.store, start_over=lambda: None)


if __name__ == "__main__":
    unittest.main()
