"""What a client has to remember: used nonces, ended logins, profiles, and how far it has read the events.

A MemoryStore is for tests, and for a site of one process that may forget all of it when it stops. Else use a SqlStore.
"""

import time
from threading import Lock
from typing import Protocol, runtime_checkable

from .profile import Profile


@runtime_checkable
class NonceStore(Protocol):
    """What raises here lets nobody in."""

    def consume(self, nonce: str, keep_until: int) -> bool:
        """Keeps it until that time (Unix seconds). True if it was new: of several callers at once, for one of them."""
        ...

    def add_ended(self, sid: str, keep_until: int) -> None:
        """Keeps in mind that this login ended."""
        ...

    def has_ended(self, sid: str) -> bool:
        ...


class ProfileStore(Protocol):
    def apply_profile(self, profile: Profile) -> bool:
        """Keeps it if it is newer than what is kept of that person. True if it was."""
        ...

    def find_profile(self, profile_id: str) -> Profile | None:
        ...

    def forget_profile(self, profile_id: str) -> None:
        """For good: no profile that is still on its way brings this person back."""
        ...

    def forget_profiles(self) -> None:
        ...


class PositionStore(Protocol):
    """The number of the last event that was applied, for each client. 0 before the first."""

    def read_position(self, client: str) -> int:
        ...

    def move_position(self, client: str, before: int, after: int) -> bool:
        """False, with nothing changed, where it is not at `before` any more: somebody else was faster."""
        ...


class MemoryStore:
    """All three, for one process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._nonces: dict[str, int] = {}
        self._ended: dict[str, int] = {}
        #: None for somebody who was deleted.
        self._profiles: dict[str, Profile | None] = {}
        self._positions: dict[str, int] = {}

    def consume(self, nonce: str, keep_until: int) -> bool:
        with self._lock:
            if nonce in self._nonces:
                return False
            self._nonces[nonce] = keep_until
        return True

    def add_ended(self, sid: str, keep_until: int) -> None:
        with self._lock:
            self._ended[sid] = max(keep_until, self._ended.get(sid, 0))

    def has_ended(self, sid: str) -> bool:
        with self._lock:
            return sid in self._ended

    def sweep(self, now: int | None = None) -> None:
        """Drops what is over. Call it now and then, such as once an hour."""
        moment = int(time.time()) if now is None else now
        with self._lock:
            for kept in (self._nonces, self._ended):
                for key in [key for key, keep_until in kept.items() if keep_until < moment]:
                    del kept[key]

    def apply_profile(self, profile: Profile) -> bool:
        with self._lock:
            known = self._profiles.get(profile.id)
            is_deleted = known is None and profile.id in self._profiles
            if is_deleted or (known and profile.profile_updated_at <= known.profile_updated_at):
                return False
            self._profiles[profile.id] = profile
        return True

    def find_profile(self, profile_id: str) -> Profile | None:
        with self._lock:
            return self._profiles.get(profile_id)

    def forget_profile(self, profile_id: str) -> None:
        with self._lock:
            self._profiles[profile_id] = None

    def forget_profiles(self) -> None:
        with self._lock:
            self._profiles.clear()

    def read_position(self, client: str) -> int:
        with self._lock:
            return self._positions.get(client, 0)

    def move_position(self, client: str, before: int, after: int) -> bool:
        with self._lock:
            if self._positions.get(client, 0) != before:
                return False
            self._positions[client] = after
        return True
