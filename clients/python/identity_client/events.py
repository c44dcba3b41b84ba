"""Reads events: a pull brings them in the order of the changes."""

import hashlib
import hmac
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from http.client import HTTPException
from threading import Thread
from typing import Final
from urllib.parse import urlencode
from urllib.request import Request as HttpRequest

from .config import Config, ConfigurationError, LogEntry, ignore_session
from .fetch import fetch
from .profile import MemberError, Profile, read_integer, read_object, read_profile, read_text
from .stores import Claim, PositionStore, ProfileStore
from .strict_json import Json, parse_strict_json

_PAGE_SIZE: Final = 1000
_ENDS_ALL: Final = ("user.suspended", "user.deleted")
#: How long the request for a page of events may take, until its last byte.
_WITHIN_SECONDS: Final = 30
_OLD_AFTER_SECONDS: Final = 60
#: How long a page of your site waits for a read of events.
_WAIT_SECONDS: Final = 2
#: After a read that failed, pages do not wait for the next read until this time has passed.
_REST_SECONDS: Final = 10


class EventsError(Exception):
    """The events could not be read. No event is lost: try again later."""


@dataclass(frozen=True, slots=True)
class Event:
    """An event about a person. Ignore an event with a `type` that you do not know."""

    seq: int
    type: str
    user_id: str | None
    #: Only in `session.ended`.
    sid: str | None
    #: Only in `profile.updated`.
    profile: Profile | None
    #: All members as they arrived.
    members: Mapping[str, Json]
    #: Whether the event's profile is later than the one in the `profiles` of the pull.
    is_newer: bool = False


def pull_events(
    config: Config,
    *,
    positions: PositionStore | None = None,
    start_over: Callable[[], object] | None = None,
    profiles: ProfileStore | None = None,
    apply: Callable[[Event], object] | None = None,
) -> int | None:
    """Reads all new events in order, and returns the number of the last one.

    Ends sessions in the `store` of the configuration, and calls `end_session` to end your own. Keeps `profiles` up to date, and
    calls `apply` with each event. By default, `positions` and `profiles` are the `store`, and `apply` is `on_event`.

    If a pull is interrupted, the next pull reads some events again, so `apply` may get an event twice. If `apply` raises, the
    next pull calls it with that event again, and the profile of the event still counts as newer.

    `start_over` is called if missed events can no longer be read. It has to end all sessions of your own, and delete what you
    keep about people elsewhere.

    Raises an EventsError. Only one pull works at a time. A second pull waits for the first, and returns None if that takes more
    than three seconds.
    """
    if config.store is None and (positions is None or start_over is None):
        raise ConfigurationError("store must be set to read events, or give positions and start_over")
    if config.store is None and config.end_session is ignore_session:
        raise ConfigurationError("end_session must be set to read events: a login that ends there ends here")
    kept = config.store if profiles is None else profiles
    hook = config.on_event if apply is None else apply
    places = config.store if positions is None else positions
    assert places is not None

    def apply_event(event: Event) -> None:
        _apply(config, event, kept, hook)

    def drop_all() -> None:
        if config.store is not None:
            config.store.end_all_sessions()
        if start_over is not None:
            start_over()
        if kept is not None:
            kept.forget_profiles()

    began_at = config.now()
    with places.claim_position(config.client) as claim:
        latest = None if claim is None else _pull_all(config, claim, apply_event, drop_all)
    if latest is not None:
        config.reader.read_at = began_at
    return latest


def read_if_old(config: Config) -> None:
    """Reads events if this process last read them over a minute ago. Waits for two seconds at most. A read that takes longer
    goes on by itself.
    """
    reader, now = config.reader, config.now()
    with reader.lock:
        if _is_within(reader.read_at, now, _OLD_AFTER_SECONDS):
            return
        if reader.thread is None or not reader.thread.is_alive():
            if _is_within(reader.tried_at, now, _REST_SECONDS):
                return
            reader.tried_at, reader.wait_until = now, time.monotonic() + _WAIT_SECONDS
            reader.thread = Thread(target=_try_to_pull, args=(config,), daemon=True)
            reader.thread.start()
        thread, left = reader.thread, reader.wait_until - time.monotonic()
    # If a read is late, no further page waits for it.
    thread.join(max(left, 0))


def _is_within(moment: int | None, now: int, seconds: int) -> bool:
    """False if the moment is later than now, because the clock was put back."""
    return moment is not None and 0 <= now - moment <= seconds


def _try_to_pull(config: Config) -> None:
    try:
        pull_events(config)
    except Exception as error:
        log_unread(config, error)


def log_unread(config: Config, error: Exception) -> None:
    # The message of any other error may contain secrets, so it is not logged.
    what = str(error) if isinstance(error, EventsError) else type(error).__name__
    config.log(LogEntry("events_unread", f"{what}. Sessions go on by what is known.", None))


def _pull_all(
    config: Config, claim: Claim, apply: Callable[[Event], None], start_over: Callable[[], None]
) -> int:
    after = claim.position
    while True:
        status, answer = _get(config, after)
        if status == 200:
            events = _read_events(answer, after)
            # Reads until a page is empty. The request for that page tells the service that all events were applied.
            if not events:
                return after
            for event in events:
                apply(event)
                after = _advance(claim, event.seq)
        elif status == 410:
            before_oldest = _read_oldest(answer) - 1
            if before_oldest == after or before_oldest < 0:
                raise EventsError("events answered 410, and to go on from where this was")
            start_over()
            after = _advance(claim, before_oldest)
        elif status == 401:
            what = "compare the secret and the client's name with the operator's (invalid_token)"
            raise EventsError(f"events answered 401: {what}")
        else:
            raise EventsError(f"events answered {status}")


def _advance(claim: Claim, position: int) -> int:
    """Raises if another process has taken over. Otherwise older events could undo what that process has applied."""
    if not claim.advance(position):
        raise EventsError("another process reads events now")
    return position


def _apply(
    config: Config, event: Event, profiles: ProfileStore | None, apply: Callable[[Event], object] | None
) -> None:
    if event.sid is not None and event.type == "session.ended":
        # The end of the login is kept first. A hand-off of this login may be on its way, and must not start a session now.
        config.nonces.add_ended(event.sid, config.now() + config.ttl_seconds + 60)
        if config.store is not None:
            config.store.end_sessions_of_login(event.sid)
        config.end_session(event.sid)
    if profiles is not None and event.user_id is not None and event.type == "user.deleted":
        profiles.forget_profile(event.user_id)
    if config.store is not None and event.user_id is not None and event.type in _ENDS_ALL:
        config.store.end_sessions_of_person(event.user_id)
    profile = event.profile
    is_newer = profiles is not None and profile is not None and profiles.is_newer(profile)
    if apply is not None:
        apply(replace(event, is_newer=is_newer))
    # The profile is kept last. If `apply` raises, the event comes again, and its profile must then still count as newer. If a
    # callback has kept a later profile since, that profile stays.
    if profiles is not None and profile is not None and is_newer:
        profiles.apply_profile(profile)


def _get(config: Config, after: int) -> tuple[int, bytes]:
    """Tries each secret. During a rotation, the service may have only one of the two secrets."""
    status, body = 0, b""
    deadline = time.monotonic() + _WITHIN_SECONDS
    for secret in config.secrets:
        status, body = _get_with(config, secret, after, deadline)
        if status != 401:
            break
    return status, body


def _get_with(config: Config, secret: str, after: int, deadline: float) -> tuple[int, bytes]:
    token = hmac.digest(secret.encode(), f"identity events v1 {config.client}".encode(), hashlib.sha256).hex()
    query = urlencode({"after": after, "limit": _PAGE_SIZE})
    headers = {"Authorization": f"Bearer {token}", "User-Agent": "identity-client-python"}
    request = HttpRequest(f"{config.base_url}/sso/events?{query}", headers=headers)
    try:
        return fetch(request, deadline)
    except (OSError, HTTPException) as error:
        raise EventsError(f"events cannot be read: {type(error).__name__}") from error


def _read_oldest(body: bytes) -> int:
    try:
        return read_integer(read_object(parse_strict_json(body), "the whole"), "oldest")
    except ValueError as error:
        raise EventsError(f"410 without the oldest number: {type(error).__name__}") from None


def _read_events(body: bytes, after: int) -> list[Event]:
    try:
        members = read_object(parse_strict_json(body), "the whole").get("events")
        if not isinstance(members, list):
            raise MemberError("events")
        events = [_read_event(read_object(member, "event")) for member in members]
    except ValueError as error:
        raise EventsError(f"the answer is not a page of events: {error}") from None
    for event in events:
        if event.seq != after + 1:
            raise EventsError(f"{event.seq} comes after {after}")
        after = event.seq
    return events


def _read_event(event: dict[str, Json]) -> Event:
    return Event(
        seq=read_integer(event, "seq"),
        type=read_text(event, "type"),
        user_id=read_text(event, "user_id") if "user_id" in event else None,
        sid=read_text(event, "sid") if "sid" in event else None,
        profile=read_profile(event["profile"]) if "profile" in event else None,
        members=event,
    )
