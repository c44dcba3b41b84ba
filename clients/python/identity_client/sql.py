"""The stores in a database, with any driver of the DB-API: SQLite, Postgres (psycopg), MySQL and MariaDB.

Each step is one statement in its own transaction, so that several processes can share the stores.
"""

import json
import re
import sqlite3
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any, Literal, Protocol

from .profile import Profile, read_profile
from .sql_claim import SqlClaim
from .stores import NONCES_LONGER_SECONDS, Claim, Session
from .strict_json import Json


def list_tables(prefix: str = "identity_") -> list[str]:
    """The statements of schema.sql, which create the tables, with your prefix. Running them again changes nothing."""
    text = Path(__file__).with_name("schema.sql").read_text("utf-8")
    statements = re.sub(r"^--.*$", "", text, flags=re.MULTILINE).split(";\n")
    return [_spell(statement.strip(), prefix) for statement in statements if statement.strip()]


def _spell(statement: str, prefix: str) -> str:
    return statement.replace("identity_", prefix)


_PREFIX = re.compile(r"[a-z_][a-z0-9_]{0,30}")
_PROFILES = "identity_profiles (id, updated_at, profile)"
#: Stands for the time in the row of a deleted person, which has no profile. It is later than the time of any profile.
_NEVER = "9999-12-31T23:59:59.999Z"


class Connection(Protocol):
    def cursor(self) -> Any:
        ...


#: Returns a connection for one `with` block. At the end of the block, the connection commits, or rolls back after an
#: exception. For psycopg, use `lambda: psycopg.connect(…)`, or the `connection` of a pool. For other drivers, use
#: `open_database`.
Connect = Callable[[], AbstractContextManager[Connection]]


def open_database(open_connection: Callable[[], Any]) -> Connect:
    """For any driver: opens a connection for each statement, commits at the end, and closes it."""

    @contextmanager
    def connect() -> Generator[Connection, None, None]:
        # If there was no commit, closing the connection rolls back.
        with closing(open_connection()) as connection:
            yield connection
            connection.commit()

    return connect


def open_sqlite(path: str) -> Connect:
    """SQLite in a file, which processes on one machine may share."""
    return open_database(lambda: sqlite3.connect(path, timeout=10))


class SqlStore:
    """A Store in a database. `placeholder` is how the driver writes parameters: `?` (sqlite3) or `%s` (psycopg, and all
    drivers of MySQL).

    `is_mysql` is for MySQL and MariaDB. The names of the tables begin with `prefix`: two clients in one database need
    different prefixes.
    """

    def __init__(
        self,
        connect: Connect,
        placeholder: Literal["?", "%s"] = "?",
        *,
        is_mysql: bool = False,
        prefix: str = "identity_",
    ) -> None:
        if not _PREFIX.fullmatch(prefix):
            raise ValueError("prefix must be a plain name in lower case")
        self._connect = connect
        self._placeholder = placeholder
        self._is_mysql = is_mysql
        self._prefix = prefix

    def create_tables(self) -> None:
        """Creates tables that are missing. You may create them by a migration of your own instead."""
        for statement in list_tables(self._prefix):
            self._run(statement)

    def consume(self, nonce: str, keep_until: int) -> bool:
        return self._insert("identity_nonces (nonce, keep_until)", nonce, keep_until)

    def add_ended(self, sid: str, keep_until: int) -> None:
        if not self._insert("identity_ended (sid, keep_until)", sid, keep_until):
            statement = "update identity_ended set keep_until = ? where sid = ? and keep_until < ?"
            self._run(statement, keep_until, sid, keep_until)

    def has_ended(self, sid: str) -> bool:
        return self._read("select 1 from identity_ended where sid = ?", sid) is not None

    def sweep(self, now: int | None = None) -> None:
        """Deletes rows that are no longer needed. Call it now and then, such as once an hour."""
        moment = int(time.time()) if now is None else now
        self._run("delete from identity_nonces where keep_until < ?", moment - NONCES_LONGER_SECONDS)
        self._run("delete from identity_ended where keep_until < ?", moment)
        self._run("delete from identity_sessions where ends_at < ?", moment)

    def add_session(self, digest: str, session: Session) -> None:
        columns = "identity_sessions (digest, user_id, ends_at, sid)"
        self._insert(columns, digest, session.user_id, session.ends_at, session.sid)

    def find_session(self, digest: str) -> Session | None:
        row = self._read("select user_id, sid, ends_at from identity_sessions where digest = ?", digest)
        return None if row is None else Session(row[0], row[1], int(row[2]))

    def end_session(self, digest: str) -> None:
        self._run("delete from identity_sessions where digest = ?", digest)

    def end_sessions_of_login(self, sid: str) -> None:
        self._run("delete from identity_sessions where sid = ?", sid)

    def end_sessions_of_person(self, user_id: str) -> None:
        self._run("delete from identity_sessions where user_id = ?", user_id)

    def end_all_sessions(self) -> None:
        self._run("delete from identity_sessions")

    def is_newer(self, profile: Profile) -> bool:
        statement = "select 1 from identity_profiles where id = ? and updated_at >= ?"
        return self._read(statement, profile.id, profile.profile_updated_at) is None

    def apply_profile(self, profile: Profile) -> bool:
        text, updated_at = json.dumps(profile.to_wire()), profile.profile_updated_at
        if self._insert(_PROFILES, profile.id, updated_at, text):
            return True
        statement = "update identity_profiles set updated_at = ?, profile = ? where id = ? and updated_at < ?"
        return self._run(statement, updated_at, text, profile.id, updated_at) == 1

    def find_profile(self, profile_id: str) -> Profile | None:
        row = self._read("select profile from identity_profiles where id = ? and profile <> ''", profile_id)
        if row is None:
            return None
        kept: Json = json.loads(row[0])
        return read_profile(kept)

    def forget_profile(self, profile_id: str) -> None:
        if not self._insert(_PROFILES, profile_id, _NEVER, ""):
            self._run(
                "update identity_profiles set updated_at = ?, profile = '' where id = ?", _NEVER, profile_id
            )

    def forget_profiles(self) -> None:
        self._run("delete from identity_profiles")

    @contextmanager
    def claim_position(self, client: str) -> Generator[Claim | None, None, None]:
        claim = SqlClaim(self._run, self._read, self._insert, client)
        if not claim.take():
            yield None
            return
        try:
            yield claim
        finally:
            claim.release()

    def _insert(self, columns: str, *values: str | int | None) -> bool:
        """False if a row with this key exists already."""
        marks = ", ".join("?" * len(values))
        if self._is_mysql:
            return self._run(f"insert ignore into {columns} values ({marks})", *values) == 1
        return self._run(f"insert into {columns} values ({marks}) on conflict do nothing", *values) == 1

    def _spell(self, statement: str) -> str:
        return _spell(statement, self._prefix).replace("?", self._placeholder)

    def _run(self, statement: str, *values: str | int | None) -> int:
        with self._connect() as connection, closing(connection.cursor()) as cursor:
            cursor.execute(self._spell(statement), values)
            return int(cursor.rowcount)

    def _read(self, statement: str, *values: str | int) -> Sequence[Any] | None:
        with self._connect() as connection, closing(connection.cursor()) as cursor:
            cursor.execute(self._spell(statement), values)
            row: Sequence[Any] | None = cursor.fetchone()
            # Some drivers of MySQL return bytes for a text column that compares byte by byte.
            return row and [
                bytes(each).decode() if isinstance(each, bytes | bytearray) else each for each in row
            ]
