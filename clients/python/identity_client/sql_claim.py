"""Keeps a client's position in a row. One pull at a time holds the row.

As a sign of life, that pull keeps raising a number in the row. If the number has not changed for long enough, another pull
takes over. So no clock is compared with another.
"""

import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Event, Thread
from typing import Any, Final

_SIGN_EVERY_SECONDS: Final = 2
_LOOK_EVERY_SECONDS: Final = 0.2
#: How long a pull waits for another pull that is at work.
_WAIT_SECONDS: Final = 3
#: If the number has not changed for this long, another pull takes over. A pull that works does not pause for so long.
_DEAD_AFTER_SECONDS: Final = 20
#: At most this much time is counted between two reads of the row. If a read takes longer, the database is slow, and the other
#: pull's writes may be slow, too.
_MAX_BETWEEN_LOOKS_SECONDS: Final = 1


class SqlClaim:
    """Works with functions of a store. One says how many rows a statement has changed, one reads a row, and one inserts a row
    if it is missing.
    """

    def __init__(
        self,
        run: Callable[..., int],
        read: Callable[..., Sequence[Any] | None],
        insert: Callable[..., bool],
        client: str,
    ) -> None:
        self.position = 0
        self._run = run
        self._read = read
        self._insert = insert
        self._client = client
        self._name = secrets.token_hex(16)
        self._is_over = Event()
        self._signs = Thread(target=self._give_signs, daemon=True)

    def take(self) -> bool:
        """Waits for another pull that is at work. Returns False if that takes too long."""
        self._insert("identity_positions (client, position, holder, signs)", self._client, 0, "", 0)
        self.position, holder, signs = self._look()
        waited = still = 0.0
        while True:
            is_free = holder == "" or still >= _DEAD_AFTER_SECONDS
            if is_free and self._replace(signs):
                self._signs.start()
                return True
            # The number has changed a short time ago, so the other pull is at work.
            if waited >= _WAIT_SECONDS and still < _WAIT_SECONDS:
                return False
            looked_at, before = time.monotonic(), signs
            time.sleep(_LOOK_EVERY_SECONDS)
            self.position, holder, signs = self._look()
            passed = min(time.monotonic() - looked_at, _MAX_BETWEEN_LOOKS_SECONDS)
            waited += passed
            still = still + passed if signs == before else 0.0

    def advance(self, position: int) -> bool:
        self.position = position
        return self._change("position = ?", position)

    def release(self) -> None:
        self._is_over.set()
        self._signs.join(timeout=_SIGN_EVERY_SECONDS)
        self._change("holder = ''")

    def _look(self) -> tuple[int, str, int]:
        row = self._read(
            "select position, holder, signs from identity_positions where client = ?", self._client
        )
        if row is None:
            raise RuntimeError("the row with the position of the events is gone")
        return int(row[0]), str(row[1]), int(row[2])

    def _replace(self, signs: int) -> bool:
        """Takes the row if its number has not changed."""
        statement = (
            "update identity_positions set holder = ?, signs = signs + 1 where client = ? and signs = ?"
        )
        return self._run(statement, self._name, self._client, signs) == 1

    def _change(self, changes: str, *values: str | int) -> bool:
        """False if another pull has taken over."""
        statement = (
            f"update identity_positions set {changes}, signs = signs + 1 where client = ? and holder = ?"
        )
        return self._run(statement, *values, self._client, self._name) == 1

    def _give_signs(self) -> None:
        while not self._is_over.wait(_SIGN_EVERY_SECONDS):
            # An error here is ignored. If it lasts, storing the next position fails, too, and reports it.
            with suppress(Exception):
                self._change("holder = holder")
