"""Runs the test vectors, which every kit must pass."""

import unittest
from typing import Any

from identity_client import (
    STATUSES,
    Config,
    HandOff,
    MemoryStore,
    Refusal,
    Request,
    compute_launch_id,
    handle_callback,
    receive_nudge,
    verify_hand_off,
)
from identity_client.attempts import find_attempt
from identity_client.hand_off import find_launch_id
from identity_client.messages import show_refusal

from .support import REFUSALS, VECTORS


def verify(query: str, now: int | None = None, secrets: list[str] | None = None) -> HandOff:
    verifier = VECTORS["verifier"]
    return verify_hand_off(
        query,
        issuer=verifier["iss"],
        client=verifier["aud"],
        secrets=secrets or [VECTORS["secret"]],
        ttl_seconds=verifier["ttl"],
        now=verifier["now"] if now is None else now,
    )


def refuse(query: str, **options: Any) -> str | None:
    try:
        verify(query, **options)
    except Refusal as refusal:
        return refusal.code
    return None


class Codes(unittest.TestCase):
    def test_are_those_of_every_kit(self) -> None:
        self.assertEqual(dict(STATUSES), {entry["code"]: entry["status"] for entry in REFUSALS})

    def test_have_the_reasons_that_every_kit_logs(self) -> None:
        for entry in REFUSALS:
            reason = f"{entry['meaning']} {entry['remedy']}".replace("’", "'")
            self.assertEqual(Refusal(entry["code"]).reason, reason)
            for detail in ("Because", "Because."):
                self.assertEqual(Refusal(entry["code"], detail).reason, f"Because. {reason}")

    def test_have_the_sentences_that_every_kit_shows(self) -> None:
        sentences = {entry["code"]: entry["person"] for entry in REFUSALS if "person" in entry}
        self.assertGreater(len(sentences), 20)
        home = "https://shop.example.test/"
        for code, sentence in sentences.items():
            page = show_refusal(Refusal(code, "For the log"), home, f"{home}login").body.decode()
            self.assertIn(f"<p>{sentence}</p>", page)
            self.assertNotIn("For the log", page)


class HandOffs(unittest.TestCase):
    def test_the_worked_example(self) -> None:
        query = f"payload={VECTORS['payload']}&signature={VECTORS['signature']}"
        hand_off = verify(query)
        self.assertEqual(hand_off.profile.name, "Zoë O’Neil >> ??~!")
        self.assertEqual(hand_off.profile.capabilities, ("manage_storefront", "sell_products"))
        self.assertEqual(
            [hand_off.sid, hand_off.auth_time, hand_off.amr, hand_off.state], [None, None, (), None]
        )
        for time in VECTORS["times"]:
            self.assertEqual(refuse(query, now=time["now"]), time.get("refusal"), time)

    def test_refused_signatures_and_payloads(self) -> None:
        for rejected in [*VECTORS["rejected_signatures"], *VECTORS["rejected_payloads"]]:
            payload = rejected.get("payload", VECTORS["payload"])
            with self.subTest(rejected["why"]):
                query = f"payload={payload}&signature={rejected['signature']}"
                self.assertEqual(refuse(query), rejected["refusal"])

    def test_every_other_one(self) -> None:
        self.assertGreater(len(VECTORS["hand_offs"]), 150)
        for case in VECTORS["hand_offs"]:
            with self.subTest(case["why"]):
                outcome = refuse(case["query"], now=case.get("now"), secrets=case.get("secrets"))
                self.assertEqual(outcome, case.get("refusal"))
                if "launch" in case:
                    self.assertEqual(find_launch_id(case["query"]), case["launch"])

    def test_the_launch(self) -> None:
        self.assertEqual(compute_launch_id(VECTORS["launch"]["nonce"]), VECTORS["launch"]["id"])


class BrokenStore(MemoryStore):
    def consume(self, nonce: str, keep_until: int) -> bool:
        raise ConnectionError("the database is away")


def open_client(given: dict[str, Any], store: MemoryStore) -> Config:
    configuration: dict[str, Any] = VECTORS["callbacks"]["configuration"]
    now: int = given.get("now", VECTORS["verifier"]["now"])
    options: dict[str, Any] = {**configuration, "secrets": given.get("secrets", configuration["secrets"])}
    return Config(**options, nonces=store, now=lambda: now, log=lambda entry: None)


class Attempts(unittest.TestCase):
    def test_are_read_as_every_kit_writes_them(self) -> None:
        for attempt in VECTORS["attempts"]:
            config = open_client({}, MemoryStore())
            found = find_attempt(config, Request("GET", "", {"cookie": attempt["cookie"]}), attempt["state"])
            assert found is not None
            self.assertEqual([found.started_at, found.max_age], [attempt["started_at"], attempt["max_age"]])


class Callbacks(unittest.TestCase):
    def test_every_one(self) -> None:
        self.assertGreater(len(VECTORS["callbacks"]["cases"]), 40)
        for case in VECTORS["callbacks"]["cases"]:
            with self.subTest(case["why"]):
                self.check(case["given"], case["expected"])

    def check(self, given: dict[str, Any], expected: dict[str, Any]) -> None:
        store = BrokenStore() if given.get("store_fails") else MemoryStore()
        for nonce in given.get("used_nonces", []):
            store.consume(nonce, 2**40)
        for sid in given.get("ended_sids", []):
            store.add_ended(sid, 2**40)
        started: list[HandOff] = []

        def start_session(hand_off: HandOff) -> None:
            if given.get("refuses_person"):
                raise Refusal("person_refused")
            started.append(hand_off)

        headers = {"cookie": given.get("cookie", ""), **given.get("headers", {})}
        response = handle_callback(
            open_client(given, store),
            Request(given.get("method", "GET"), given["query"], headers),
            start_session=start_session,
            is_logged_in=lambda request: bool(given.get("logged_in")),
        )
        self.assertEqual(response.status, expected["status"])
        self.assertEqual(response.header("Identity-Refusal"), expected.get("refusal"))
        self.assertEqual(response.header("Cache-Control"), "no-store")
        self.assertEqual(response.header("Referrer-Policy"), "no-referrer")
        if "launch" in expected:
            self.assertEqual(response.header("Identity-Launch"), expected["launch"])
        if "location" in expected:
            self.assertEqual(response.header("Location"), expected["location"])
        self.assertEqual(len(started), 1 if expected["starts_session"] else 0)
        # All hand-offs of the vectors have the same nonce.
        if not given.get("store_fails") and not given.get("used_nonces"):
            was_used = not store.consume(VECTORS["launch"]["nonce"], 2**40)
            self.assertEqual(was_used, expected["uses_nonce"])


class Nudges(unittest.TestCase):
    def test_every_one(self) -> None:
        nudges = VECTORS["nudges"]
        for case in nudges["cases"]:
            with self.subTest(case["why"]):
                given = {
                    "now": case.get("now", nudges["now"]),
                    "secrets": case.get("secrets", nudges["secrets"]),
                }
                pulls: list[bool] = []
                request = Request(case.get("method", "POST"), "", case["headers"], case["body"].encode())
                response = receive_nudge(
                    open_client(given, MemoryStore()), request, lambda: pulls.append(True)
                )
                self.assertEqual(
                    [response.status, response.header("Identity-Refusal")],
                    [case["status"], case.get("refusal")],
                )
                self.assertEqual(len(pulls), 1 if case["status"] == 204 else 0)


if __name__ == "__main__":
    unittest.main()
