"""Tests the stores in memory and in SQLite. Tests them in Postgres, too, if IDENTITY_TEST_POSTGRES has a connection string for
psycopg, and in MySQL or MariaDB if IDENTITY_TEST_MYSQL has, as JSON, the arguments for `connect` of PyMySQL and of mysqlclient.
"""

import importlib
import json
import os
import re
import sqlite3
import tempfile
import time
import unittest
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any
from unittest import mock

from identity_client import Claim, MemoryStore, Profile, Session, SqlStore, open_database, open_sqlite, sql
from identity_client.profile import read_profile
from identity_client.sql import Connect, list_tables

from .support import build_profile

TABLES = ("nonces", "ended", "profiles", "positions", "sessions")


def profile(minute: int, name: str = "Zoë") -> Profile:
    return read_profile(build_profile(name=name, profile_updated_at=f"2026-01-01T00:{minute:02}:00.000Z"))


class Stores(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.openers: list[Callable[[], MemoryStore | SqlStore]] = [MemoryStore, lambda: open_in(folder.name)]
        if os.environ.get("IDENTITY_TEST_POSTGRES"):
            self.openers.append(open_postgres)
        if os.environ.get("IDENTITY_TEST_MYSQL"):
            self.openers += [partial(open_mysql, name) for name in ("pymysql", "MySQLdb")]

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
            # A nonce stays for ten minutes longer than needed, because the clock of the process that sweeps may be fast.
            store.sweep(700)
            self.assertFalse(store.consume("old", 300))
            store.sweep(701)
            self.assertEqual([store.consume("old", 300), store.consume("new", 300)], [True, False])

    def test_tell_texts_apart_byte_by_byte(self) -> None:
        for store in self.open():
            found = [store.consume(nonce, 100) for nonce in ("case", "CASE", "case")]
            self.assertEqual(found, [True, True, False])

    def test_keep_sessions(self) -> None:
        for store in self.open():
            sessions = {
                key: Session(f"person {key[0]}", sid, 100)
                for key, sid in (("a" * 64, "one"), ("b" * 64, "ONE"), ("c" * 64, None), ("d" * 64, "two"))
            }
            for digest, session in sessions.items():
                store.add_session(digest, session)
            self.assertEqual({digest: store.find_session(digest) for digest in sessions}, sessions)
            store.end_sessions_of_login("one")
            store.end_session("d" * 64)
            ended = [store.find_session(key) is None for key in sessions]
            self.assertEqual(ended, [True, False, False, True])
            store.end_sessions_of_person("person b")
            self.assertEqual([store.find_session(key) is None for key in sessions], [True, True, False, True])
            store.sweep(100)
            self.assertIsNotNone(store.find_session("c" * 64))
            store.sweep(101)
            self.assertIsNone(store.find_session("c" * 64))
            store.add_session("e" * 64, Session("person", None, 100))
            store.end_all_sessions()
            self.assertIsNone(store.find_session("e" * 64))

    def test_make_their_tables_by_one_file(self) -> None:
        """Contract 13.131."""
        tables = [re.match(r"create table if not exists (\w+)", text) for text in list_tables()]
        self.assertEqual([found and found[1] for found in tables], [f"identity_{name}" for name in TABLES])
        with closing(sqlite3.connect(":memory:")) as connection:
            for _ in range(2):
                connection.executescript(Path(sql.__file__).with_name("schema.sql").read_text("utf-8"))

    def test_of_two_clients_in_one_database_have_different_prefixes(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            connect = open_sqlite(os.path.join(folder, "identity.db"))
            shop, office = SqlStore(connect), SqlStore(connect, prefix="office_")
            for store in (shop, office):
                store.create_tables()
                store.add_session("a" * 64, Session("person", "one", 100))
                self.assertEqual([store.consume("n", 100), store.apply_profile(profile(5))], [True, True])
                with hold(store) as claim:
                    self.assertTrue(claim.advance(7 if store is shop else 3))
            office.end_all_sessions()
            office.forget_profiles()
            self.assertEqual([shop.find_session("a" * 64) is None, shop.find_profile(profile(0).id)], [False, profile(5)])
            with hold(shop) as claim:
                self.assertEqual(claim.position, 7)
            for prefix in ("", "Shop_", "shop-", "1_", "a" * 32, "x; drop table y", "shop_\n"):
                with self.assertRaisesRegex(ValueError, "prefix must be a plain name in lower case"):
                    SqlStore(connect, prefix=prefix)

    def test_keep_profiles_in_ascii_so_that_no_charset_can_change_them(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            store = open_in(folder)
            store.apply_profile(profile(5, "Zoë \U0001f600"))
            text = store._read("select profile from identity_profiles")
            self.assertTrue(text and text[0].isascii(), text)

    def test_keep_the_newest_profile(self) -> None:
        for store in self.open():
            self.assertTrue(store.is_newer(profile(5)))
            applied = [store.apply_profile(profile(minute, str(minute))) for minute in (5, 4, 5, 6)]
            self.assertEqual(applied, [True, False, False, True])
            self.assertEqual(store.find_profile(profile(0).id), profile(6, "6"))
            self.assertEqual([store.is_newer(profile(minute)) for minute in (5, 6, 7)], [False, False, True])

    def test_bring_nobody_back_who_was_forgotten(self) -> None:
        for store in self.open():
            for _ in range(2):
                store.forget_profile(profile(0).id)
                self.assertFalse(store.is_newer(profile(5)))
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
            with hold(store) as claim, hold(store, "other") as other:
                self.assertEqual([claim.position, other.position], [0, 0])
                self.assertEqual([claim.advance(17), claim.advance(3)], [True, True])
            with hold(store) as claim, hold(store, "other") as other:
                self.assertEqual([claim.position, other.position], [3, 0])

    def test_let_no_pull_in_memory_wait_for_long(self) -> None:
        store = MemoryStore()
        with store.claim_position("busy") as first, ThreadPoolExecutor(1) as pool:

            def claim() -> bool:
                with store.claim_position("busy") as second:
                    return second is None

            self.assertIsNotNone(first)
            self.assertTrue(pool.submit(claim).result())
        with store.claim_position("busy") as third:
            self.assertIsNotNone(third)

    def test_give_a_position_to_one_of_sixteen_at_a_time(self) -> None:
        for store in self.open():
            holding: list[int] = []
            most: list[int] = []

            def work(
                number: int,
                store: MemoryStore | SqlStore = store,
                holding: list[int] = holding,
                most: list[int] = most,
            ) -> bool:
                with store.claim_position("at-once") as claim:
                    if claim is None:
                        return False
                    holding.append(number)
                    most.append(len(holding))
                    time.sleep(0.01)
                    moved = claim.advance(claim.position + 1)
                    holding.remove(number)
                    return moved

            with ThreadPoolExecutor(16) as pool:
                held = sum(pool.map(work, range(16)))
            self.assertEqual([max(most), len(most)], [1, held])
            with hold(store, "at-once") as claim:
                self.assertEqual(claim.position, held)

    def test_let_go_of_a_position_after_an_exception(self) -> None:
        for store in self.open():
            with self.assertRaises(KeyError), hold(store):
                raise KeyError("our own")
            with hold(store) as claim:
                self.assertTrue(claim.advance(1))

    def test_take_a_position_from_whoever_gives_no_sign(self) -> None:
        for store in self.open():
            if isinstance(store, MemoryStore):
                continue
            # Within so short a time, a pull at work would not raise its number.
            with (
                hold(store) as dead,
                mock.patch("identity_client.sql_claim._DEAD_AFTER_SECONDS", 0.5),
                hold(store) as claim,
            ):
                self.assertEqual([dead.advance(7), claim.advance(3)], [False, True])
            with hold(store) as claim:
                self.assertEqual(claim.position, 3)

    def test_in_sqlite_outlive_the_process(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            open_in(folder).consume("n", 100)
            self.assertFalse(open_in(folder).consume("n", 100))

    def open(self) -> Generator[MemoryStore | SqlStore, None, None]:
        """These tests run one after the other, because two drivers share a database, and each needs it empty."""
        for opener in self.openers:
            yield opener()


@contextmanager
def hold(store: MemoryStore | SqlStore, client: str = "shop") -> Generator[Claim, None, None]:
    with store.claim_position(client) as claim:
        assert claim is not None
        yield claim


def open_in(folder: str) -> SqlStore:
    store = SqlStore(open_sqlite(os.path.join(folder, "identity.db")))
    store.create_tables()
    return store


def open_postgres() -> SqlStore:
    psycopg: Any = importlib.import_module("psycopg")
    connect: Connect = partial(psycopg.connect, os.environ["IDENTITY_TEST_POSTGRES"])
    return empty(SqlStore(connect, "%s"))


def open_mysql(name: str) -> SqlStore:
    driver: Any = importlib.import_module(name)
    given: dict[str, Any] = json.loads(os.environ["IDENTITY_TEST_MYSQL"])
    return empty(SqlStore(open_database(lambda: driver.connect(**given)), "%s", is_mysql=True))


def empty(store: SqlStore) -> SqlStore:
    store.create_tables()
    for table in TABLES:
        store._run(f"delete from identity_{table}")
    return store


if __name__ == "__main__":
    unittest.main()
