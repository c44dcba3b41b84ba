"""The stores, each in memory and in SQLite; and in Postgres where IDENTITY_TEST_POSTGRES has an address and psycopg is here."""

import importlib
import os
import tempfile
import unittest
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from typing import Any

from identity_client import MemoryStore, Profile, SqlStore, open_sqlite
from identity_client.profile import read_profile
from identity_client.sql import Connect

from .support import build_profile


def profile(minute: int, name: str = "Zoë") -> Profile:
    return read_profile(build_profile(name=name, profile_updated_at=f"2026-01-01T00:{minute:02}:00.000Z"))


class Stores(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.openers: list[Callable[[], MemoryStore | SqlStore]] = [MemoryStore, lambda: open_in(folder.name)]
        if os.environ.get("IDENTITY_TEST_POSTGRES"):
            self.openers.append(open_postgres)

    def test_use_a_nonce_up_once(self) -> None:
        for store in self.open():
            self.assertEqual(
                [store.consume("n", 100), store.consume("n", 200), store.consume("m", 100)],
                [True, False, True],
            )

    def test_use_a_nonce_up_once_of_sixteen_at_once(self) -> None:
        for store in self.open():
            together = Barrier(16)

            def consume(_: int, store: MemoryStore | SqlStore = store, together: Barrier = together) -> bool:
                together.wait()
                return store.consume("at-once", 100)

            with ThreadPoolExecutor(16) as pool:
                self.assertEqual(sum(pool.map(consume, range(16))), 1)

    def test_keep_ended_logins_in_mind(self) -> None:
        for store in self.open():
            self.assertFalse(store.has_ended("sid"))
            store.add_ended("sid", 200)
            store.add_ended("sid", 100)
            self.assertTrue(store.has_ended("sid"))
            store.sweep(150)
            self.assertTrue(store.has_ended("sid"))
            store.sweep(201)
            self.assertFalse(store.has_ended("sid"))

    def test_sweep_nonces_that_are_over(self) -> None:
        for store in self.open():
            store.consume("old", 100)
            store.consume("new", 200)
            store.sweep(101)
            self.assertEqual([store.consume("old", 300), store.consume("new", 300)], [True, False])

    def test_keep_the_newest_profile(self) -> None:
        for store in self.open():
            applied = [store.apply_profile(profile(minute, str(minute))) for minute in (5, 4, 5, 6)]
            self.assertEqual(applied, [True, False, False, True])
            self.assertEqual(store.find_profile(profile(0).id), profile(6, "6"))

    def test_bring_nobody_back_who_was_forgotten(self) -> None:
        for store in self.open():
            for _ in range(2):
                store.forget_profile(profile(0).id)
                self.assertFalse(store.apply_profile(profile(5)))
                self.assertIsNone(store.find_profile(profile(0).id))
            store.forget_profiles()
            self.assertTrue(store.apply_profile(profile(5)))
            store.forget_profile(profile(0).id)
            self.assertIsNone(store.find_profile(profile(0).id))

    def test_keep_the_newest_of_sixteen_profiles_at_once(self) -> None:
        for store in self.open():
            with ThreadPoolExecutor(16) as pool:
                list(pool.map(store.apply_profile, map(profile, range(16))))
            self.assertEqual(store.find_profile(profile(0).id), profile(15))
            store.forget_profiles()
            self.assertIsNone(store.find_profile(profile(0).id))

    def test_keep_a_position_for_each_client(self) -> None:
        for store in self.open():
            self.assertEqual(store.read_position("shop"), 0)
            moves = [store.move_position("shop", *move) for move in ((1, 9), (0, 17), (0, 5), (17, 3))]
            self.assertEqual(moves, [False, True, False, True])
            self.assertEqual([store.read_position("shop"), store.read_position("other")], [3, 0])

    def test_move_a_position_for_one_of_sixteen_at_once(self) -> None:
        for store in self.open():
            with ThreadPoolExecutor(16) as pool:
                moves = list(pool.map(partial(store.move_position, "at-once", 0), range(1, 17)))
            self.assertEqual(sum(moves), 1)

    def test_in_sqlite_outlive_the_process(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            open_in(folder).consume("n", 100)
            self.assertFalse(open_in(folder).consume("n", 100))

    def open(self) -> list[MemoryStore | SqlStore]:
        return [opener() for opener in self.openers]


def open_in(folder: str) -> SqlStore:
    store = SqlStore(open_sqlite(os.path.join(folder, "identity.db")))
    store.create_tables()
    return store


def open_postgres() -> SqlStore:
    psycopg: Any = importlib.import_module("psycopg")
    connect: Connect = partial(psycopg.connect, os.environ["IDENTITY_TEST_POSTGRES"])
    store = SqlStore(connect, "%s")
    store.create_tables()
    store.sweep(2**62)
    store.forget_profiles()
    for client in ("shop", "other", "at-once"):
        store.move_position(client, store.read_position(client), 0)
    return store


if __name__ == "__main__":
    unittest.main()
