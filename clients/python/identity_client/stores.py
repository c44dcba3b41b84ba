"""Stores for what a client must remember: used nonces, ended logins, sessions, profiles, and how far it has read the events.

A MemoryStore is for tests, and for a site with one process that may forget everything when it stops. Otherwise use a
SqlStore.
"""

import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Final, Protocol, TypeVar, runtime_checkable

from .profile import Profile
from .refusal import Refusal

_Answer = TypeVar("_Answer")
#: `sweep` keeps nonces for this much longer, because the clock of its process may be fast.
NONCES_LONGER_SECONDS: Final = 600


@dataclass(frozen=True, slots=True)
class Session:
    """Who is logged in. Only the browser knows the key of the session. A store has the key's SHA-256."""

    user_id: str
    sid: str | None
    #: Unix seconds.
    ends_at: int


@runtime_checkable
class NonceStore(Protocol):
    """Remembers what must work only once. If it raises, nobody is let in."""

    def consume(self, nonce: str, keep_until: int) -> bool:
        """Keeps the nonce until `keep_until` (Unix seconds). Returns True if the nonce was new. If several callers ask at
        once, only one gets True.
        """
        ...

    def add_ended(self, sid: str, keep_until: int) -> None:
        """Remembers that this login has ended."""
        ...

    def has_ended(self, sid: str) -> bool:
        ...


class ProfileStore(Protocol):
    def is_newer(self, profile: Profile) -> bool:
        """Whether `apply_profile` would keep this profile now."""
        ...

    def apply_profile(self, profile: Profile) -> bool:
        """Keeps the profile if it is later than the person's kept profile. Returns whether it was kept."""
        ...

    def find_profile(self, profile_id: str) -> Profile | None:
        ...

    def forget_profile(self, profile_id: str) -> None:
        """Deletes a person for good. A profile that is still on its way must not bring them back."""
        ...

    def forget_profiles(self) -> None:
        ...


class Claim(Protocol):
    """The position while one pull holds it."""

    @property
    def position(self) -> int:
        """The number of the last event that was applied, or 0 at first."""
        ...

    def advance(self, position: int) -> bool:
        """Stores a number. False if another pull has taken over, because this one seemed dead."""
        ...


class PositionStore(Protocol):
    """How far each client has applied its events."""

    def claim_position(self, client: str) -> AbstractContextManager[Claim | None]:
        """Only one pull at a time holds the position, until its `with` block ends. So each event is applied once, and in
        order. A second pull waits for the first. If the first is still at work after the wait, the second gets None.
        """
        ...


class SessionStore(Protocol):
    """The sessions, by the SHA-256 of their keys."""

    def add_session(self, digest: str, session: Session) -> None:
        ...

    def find_session(self, digest: str) -> Session | None:
        ...

    def end_session(self, digest: str) -> None:
        ...

    def end_sessions_of_login(self, sid: str) -> None:
        ...

    def end_sessions_of_person(self, user_id: str) -> None:
        ...

    def end_all_sessions(self) -> None:
        ...


@runtime_checkable
class Store(NonceStore, ProfileStore, PositionStore, SessionStore, Protocol):
    """Everything that a client must remember. MemoryStore and SqlStore implement it."""


def ask_store(question: Callable[[], _Answer]) -> _Answer:
    """Raises a Refusal if the store does not answer. Then nobody is logged in, and nobody is logged out."""
    try:
        return question()
    except Refusal:
        # If the store raises a Refusal of its own, the Refusal is passed on.
        raise
    except Exception as error:
        raise Refusal("store_unavailable", type(error).__name__) from error


class _MemoryClaim:
    def __init__(self, positions: dict[str, int], client: str) -> None:
        self._positions = positions
        self._client = client

    @property
    def position(self) -> int:
        return self._positions.get(self._client, 0)

    def advance(self, position: int) -> bool:
        self._positions[self._client] = position
        return True


class MemoryStore:
    """A Store in memory, for one process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._nonces: dict[str, int] = {}
        self._ended: dict[str, int] = {}
        self._sessions: dict[str, Session] = {}
        #: The value is None if the person was deleted.
        self._profiles: dict[str, Profile | None] = {}
        self._positions: dict[str, int] = {}
        self._turns: dict[str, Lock] = {}

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
        """Drops entries that are no longer needed. Call it now and then, such as once an hour."""
        moment = int(time.time()) if now is None else now
        with self._lock:
            for kept, until in ((self._nonces, moment - NONCES_LONGER_SECONDS), (self._ended, moment)):
                for key in [key for key, keep_until in kept.items() if keep_until < until]:
                    del kept[key]
            self._end(lambda session: session.ends_at < moment)

    def add_session(self, digest: str, session: Session) -> None:
        with self._lock:
            self._sessions[digest] = session

    def find_session(self, digest: str) -> Session | None:
        with self._lock:
            return self._sessions.get(digest)

    def end_session(self, digest: str) -> None:
        with self._lock:
            self._sessions.pop(digest, None)

    def end_sessions_of_login(self, sid: str) -> None:
        with self._lock:
            self._end(lambda session: session.sid == sid)

    def end_sessions_of_person(self, user_id: str) -> None:
        with self._lock:
            self._end(lambda session: session.user_id == user_id)

    def end_all_sessions(self) -> None:
        with self._lock:
            self._sessions.clear()

    def _end(self, is_over: Callable[[Session], bool]) -> None:
        self._sessions = {key: session for key, session in self._sessions.items() if not is_over(session)}

    def is_newer(self, profile: Profile) -> bool:
        with self._lock:
            return self._is_newer(profile)

    def apply_profile(self, profile: Profile) -> bool:
        with self._lock:
            is_newer = self._is_newer(profile)
            if is_newer:
                self._profiles[profile.id] = profile
        return is_newer

    def _is_newer(self, profile: Profile) -> bool:
        known = self._profiles.get(profile.id)
        if known is None:
            return profile.id not in self._profiles
        return profile.profile_updated_at > known.profile_updated_at

    def find_profile(self, profile_id: str) -> Profile | None:
        with self._lock:
            return self._profiles.get(profile_id)

    def forget_profile(self, profile_id: str) -> None:
        with self._lock:
            self._profiles[profile_id] = None

    def forget_profiles(self) -> None:
        with self._lock:
            self._profiles.clear()

    @contextmanager
    def claim_position(self, client: str) -> Generator[Claim | None, None, None]:
        with self._lock:
            turn = self._turns.setdefault(client, Lock())
        if not turn.acquire(timeout=3):
            yield None
            return
        try:
            yield _MemoryClaim(self._positions, client)
        finally:
            turn.release()
