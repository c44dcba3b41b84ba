"""The stores in a database, by any driver of the DB-API: SQLite, and Postgres by psycopg.

Each step is one statement in its own transaction, so that several processes can share the stores.
"""

import json
import sqlite3
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from typing import Any, Literal, Protocol

from .profile import Profile, read_profile
from .sql_claim import SqlClaim
from .stores import Claim
from .strict_json import Json

_TABLES = (
    "create table if not exists identity_nonces (nonce text primary key, keep_until bigint not null)",
    "create table if not exists identity_ended (sid text primary key, keep_until bigint not null)",
    "create table if not exists identity_profiles"
    " (id text primary key, updated_at text not null, profile text not null)",
    # `holder` is empty if nobody pulls.
    "create table if not exists identity_positions (client text primary key, position bigint not null,"
    " holder text not null, signs bigint not null)",
)


#: The time in a deleted person's row, which has no profile. It is later than any profile.
_NEVER = "9999-12-31T23:59:59.999Z"


class Connection(Protocol):
    def cursor(self) -> Any:
        ...


#: Returns a connection for one `with` block. At the end of the block it commits, or rolls back after an exception. For
#: psycopg, use `lambda: psycopg.connect(…)`, or the `connection` of a pool.
Connect = Callable[[], AbstractContextManager[Connection]]


def open_sqlite(path: str) -> Connect:
    """SQLite in a file, which processes on one machine may share."""

    @contextmanager
    def connect() -> Generator[Connection, None, None]:
        with closing(sqlite3.connect(path, timeout=10)) as connection, connection:
            yield connection

    return connect


class SqlStore:
    """A NonceStore, a ProfileStore and a PositionStore. `placeholder` is the driver's: `?` (sqlite3), `%s` (psycopg)."""

    def __init__(self, connect: Connect, placeholder: Literal["?", "%s"] = "?") -> None:
        self._connect = connect
        self._placeholder = placeholder

    def create_tables(self) -> None:
        """Creates tables that are missing. You may create them by a migration of your own instead."""
        for statement in _TABLES:
            self._run(statement)

    def consume(self, nonce: str, keep_until: int) -> bool:
        statement = "insert into identity_nonces (nonce, keep_until) values (?, ?) on conflict do nothing"
        return self._run(statement, nonce, keep_until) == 1

    def add_ended(self, sid: str, keep_until: int) -> None:
        self._run(
            "insert into identity_ended (sid, keep_until) values (?, ?)"
            " on conflict (sid) do update set keep_until = excluded.keep_until"
            " where excluded.keep_until > identity_ended.keep_until",
            sid,
            keep_until,
        )

    def has_ended(self, sid: str) -> bool:
        return self._read("select 1 from identity_ended where sid = ?", sid) is not None

    def sweep(self, now: int | None = None) -> None:
        """Deletes rows that are no longer needed. Call it now and then, such as once an hour."""
        moment = int(time.time()) if now is None else now
        self._run("delete from identity_nonces where keep_until < ?", moment)
        self._run("delete from identity_ended where keep_until < ?", moment)

    def is_newer(self, profile: Profile) -> bool:
        statement = "select 1 from identity_profiles where id = ? and updated_at >= ?"
        return self._read(statement, profile.id, profile.profile_updated_at) is None

    def apply_profile(self, profile: Profile) -> bool:
        statement = (
            "insert into identity_profiles (id, updated_at, profile) values (?, ?, ?)"
            " on conflict (id) do update set updated_at = excluded.updated_at, profile = excluded.profile"
            " where excluded.updated_at > identity_profiles.updated_at"
        )
        text = json.dumps(profile.to_wire())
        return self._run(statement, profile.id, profile.profile_updated_at, text) == 1

    def find_profile(self, profile_id: str) -> Profile | None:
        row = self._read("select profile from identity_profiles where id = ? and profile <> ''", profile_id)
        if row is None:
            return None
        kept: Json = json.loads(row[0])
        return read_profile(kept)

    def forget_profile(self, profile_id: str) -> None:
        statement = (
            "insert into identity_profiles (id, updated_at, profile) values (?, ?, '')"
            " on conflict (id) do update set updated_at = excluded.updated_at, profile = ''"
        )
        self._run(statement, profile_id, _NEVER)

    def forget_profiles(self) -> None:
        self._run("delete from identity_profiles")

    @contextmanager
    def claim_position(self, client: str) -> Generator[Claim | None, None, None]:
        claim = SqlClaim(self._run, self._read, client)
        if not claim.take():
            yield None
            return
        try:
            yield claim
        finally:
            claim.release()

    def _run(self, statement: str, *values: str | int) -> int:
        with self._connect() as connection, closing(connection.cursor()) as cursor:
            cursor.execute(statement.replace("?", self._placeholder), values)
            return int(cursor.rowcount)

    def _read(self, statement: str, *values: str | int) -> Sequence[Any] | None:
        with self._connect() as connection, closing(connection.cursor()) as cursor:
            cursor.execute(statement.replace("?", self._placeholder), values)
            row: Sequence[Any] | None = cursor.fetchone()
            return row
