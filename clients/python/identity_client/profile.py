"""What a hand-off or an event says about a person."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from .strict_json import Json

Role = Literal["admin", "merchant", "customer"]

_ROLES: Mapping[str, Role] = {"admin": "admin", "merchant": "merchant", "customer": "customer"}

_MAX_INTEGER = 2**53 - 1
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_INSTANT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")


class MemberError(ValueError):
    """Names the member that is missing or has another type."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Identify people by `id`, which never changes and is never reused. The email address can change."""

    id: str
    email: str
    name: str
    role: Role
    #: A capability that is missing here is off. Ignore a capability that you do not know.
    capabilities: tuple[str, ...]
    #: The time of the last change. As text, it sorts by time.
    profile_updated_at: str

    def to_wire(self) -> dict[str, Json]:
        """The profile as the identity service writes it, for a cache in JSON."""
        capabilities: list[Json] = list(self.capabilities)
        return {
            "id": self.id,
            "email": self.email,
            "name": self.name,
            "role": self.role,
            "account": {"capabilities": capabilities},
            "profile_updated_at": self.profile_updated_at,
        }


def read_profile(value: Json) -> Profile:
    """Raises a MemberError."""
    profile = read_object(value, "profile")
    account = read_object(profile.get("account"), "profile.account")
    return Profile(
        id=read_text(profile, "id", _ID),
        email=read_text(profile, "email", length=(3, 254)),
        name=read_text(profile, "name", length=(1, 200)),
        role=_read_role(profile),
        capabilities=read_texts(account, "capabilities"),
        profile_updated_at=_read_instant(profile),
    )


def read_object(value: Json, name: str) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise MemberError(name)
    return value


def read_text(
    value: Mapping[str, Json],
    name: str,
    form: re.Pattern[str] | None = None,
    *,
    length: tuple[int, int] = (0, 8192),
) -> str:
    text = value.get(name)
    if not isinstance(text, str) or not length[0] <= len(text) <= length[1]:
        raise MemberError(name)
    if form is not None and not form.fullmatch(text):
        raise MemberError(name)
    return text


def read_texts(value: Mapping[str, Json], name: str) -> tuple[str, ...]:
    texts = value.get(name)
    if not isinstance(texts, list):
        raise MemberError(name)
    found = tuple(text for text in texts if isinstance(text, str))
    if len(found) != len(texts):
        raise MemberError(name)
    return found


def read_integer(value: Mapping[str, Json], name: str) -> int:
    number = value.get(name)
    # In Python, True is an integer, too. Other languages round large integers.
    if not isinstance(number, int) or isinstance(number, bool) or abs(number) > _MAX_INTEGER:
        raise MemberError(name)
    return number


def _read_role(profile: Mapping[str, Json]) -> Role:
    role = _ROLES.get(read_text(profile, "role"))
    if role is None:
        raise MemberError("role")
    return role


def _read_instant(profile: Mapping[str, Json]) -> str:
    text = read_text(profile, "profile_updated_at", _INSTANT)
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise MemberError("profile_updated_at") from None
    return text
