"""Verifies a hand-off, without side effects: it gets the time as an argument, and uses nothing up."""

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl

from .profile import MemberError, Profile, read_integer, read_profile, read_text, read_texts
from .refusal import Refusal
from .strict_json import Json, parse_strict_json

LEEWAY_SECONDS: Final = 30
_MAX_PAYLOAD_LENGTH = 8192
PARAMETERS = ("payload", "signature", "signature_next", "state", "error")
_BASE64URL = re.compile(r"[A-Za-z0-9_-]+")
_SIGNATURE = re.compile(r"[0-9a-f]{64}")
_RANDOM = re.compile(r"[A-Za-z0-9_-]{22}")
_STATE = re.compile(r"[A-Za-z0-9._~-]{1,512}")
_PATH = re.compile(r"/(?![/\\])[^\\\x00-\x1f\x7f-\x9f]*")
_NONCE_IN_BYTES = re.compile(rb'"nonce"\s*:\s*"([A-Za-z0-9_-]{22})"')


@dataclass(frozen=True, slots=True)
class HandOff:
    iat: int
    exp: int
    nonce: str
    profile: Profile
    #: Names this login at your site. The event about its end has the same `sid`.
    sid: str | None
    #: When the person last gave a credential, in Unix seconds. None if another site logged them in.
    auth_time: int | None
    amr: tuple[str, ...]
    state: str | None
    return_to: str | None


def is_own_path(text: str) -> bool:
    """Whether the text is a path on your own site. Nobody may be sent to another site."""
    return len(text) <= 2048 and _PATH.fullmatch(text) is not None


def clean(text: str) -> str:
    """Makes a text safe for one line of the log."""
    return re.sub(r"[^\x21-\x7e]", "?", text[:255])


def compute_launch_id(nonce: str) -> str:
    """Names a launch in your log, in the log of the identity service, and on the page of a refusal."""
    digits = hashlib.sha256(nonce.encode("ascii")).hexdigest()
    return f"{digits[:4]}-{digits[4:8]}"


def find_launch_id(query: str) -> str | None:
    """Finds the launch id by a pattern. It parses nothing, because the hand-off may not be verified yet."""
    payloads = [value for name, value in _split(query) if name == "payload"]
    try:
        found = _NONCE_IN_BYTES.search(_decode_canonical(payloads[0])) if len(payloads) == 1 else None
    except Refusal:
        return None
    return compute_launch_id(found[1].decode("ascii")) if found else None


def read_parameters(query: str) -> Mapping[str, str]:
    """Raises a Refusal if a parameter of the hand-off is there twice."""
    pairs = _split(query)
    names = [name for name, _ in pairs]
    for name in PARAMETERS:
        if names.count(name) > 1:
            raise Refusal("parameter_repeated", f"The parameter is {name}")
    return dict(pairs)


def verify_hand_off(
    query: str, *, issuer: str, client: str, secrets: Sequence[str], ttl_seconds: int, now: int
) -> HandOff:
    """Returns a genuine hand-off, and raises a Refusal for any other. `query` is the query string as it arrived.

    Before you act on the hand-off, compare its `state`, and then use its `nonce` up. `handle_callback` does both.
    """
    parameters = read_parameters(query)
    payload = parameters.get("payload")
    signatures = [parameters[name] for name in ("signature", "signature_next") if name in parameters]
    if payload is None or "signature" not in parameters:
        missing = "payload" if payload is None else "signature"
        raise Refusal("parameter_missing", f"There is no {missing}")
    data = _decode_canonical(payload)
    if not all(_SIGNATURE.fullmatch(signature) for signature in signatures):
        raise Refusal("signature_malformed")
    if not _is_genuine(payload, signatures, secrets):
        raise Refusal("signature_wrong")
    members = _read_json(data)
    hand_off = _read_members(members)
    if members["iss"] != issuer:
        # The signature is right, so the payload is from somebody who has the secret. The log shows both issuers, so that you
        # see which one to correct.
        raise Refusal(
            "issuer_wrong", f"It is from {clean(str(members['iss']))}, and the issuer here is {issuer}"
        )
    if members["aud"] != client or members["client"] != client:
        raise Refusal("audience_wrong")
    _require_timely(hand_off, ttl_seconds, now)
    return hand_off


def _split(query: str) -> list[tuple[str, str]]:
    return parse_qsl(query, keep_blank_values=True, errors="replace")


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def sign(payload: str, secret: str) -> str:
    return hmac.new(secret.encode(), payload.encode("ascii"), hashlib.sha256).hexdigest()


def decode(payload: str) -> bytes:
    """Decodes base64url, even if the spelling is not canonical. Raises a ValueError."""
    return base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))


def _decode_canonical(payload: str) -> bytes:
    """Decoders accept several spellings of the same bytes. This accepts only the canonical spelling."""
    if len(payload) > _MAX_PAYLOAD_LENGTH or not _BASE64URL.fullmatch(payload):
        raise Refusal("payload_malformed", "Its length or alphabet is wrong")
    try:
        data = decode(payload)
    except binascii.Error:
        raise Refusal("payload_malformed", "Its length is wrong") from None
    if encode(data) != payload:
        raise Refusal("payload_malformed", "Its spelling is not canonical")
    return data


def _is_genuine(payload: str, signatures: Sequence[str], secrets: Sequence[str]) -> bool:
    """Compares every pair, so that the time does not show which pair matches."""
    matches = False
    for secret in secrets:
        for signature in signatures:
            matches = hmac.compare_digest(sign(payload, secret), signature) or matches
    return matches


def _read_json(data: bytes) -> dict[str, Json]:
    try:
        value = parse_strict_json(data)
    except ValueError as error:
        raise Refusal("json_malformed", type(error).__name__) from None
    if not isinstance(value, dict):
        raise Refusal("member_wrong", "The whole is no object")
    return value


def _read_members(members: dict[str, Json]) -> HandOff:
    try:
        for name in ("iss", "aud", "client"):
            read_text(members, name)
        return_to = read_text(members, "return_to") if "return_to" in members else None
        if return_to is not None and not is_own_path(return_to):
            raise MemberError("return_to")
        return HandOff(
            iat=read_integer(members, "iat"),
            exp=read_integer(members, "exp"),
            nonce=read_text(members, "nonce", _RANDOM),
            profile=read_profile(members.get("profile")),
            sid=read_text(members, "sid", _RANDOM) if "sid" in members else None,
            auth_time=read_integer(members, "auth_time") if "auth_time" in members else None,
            amr=read_texts(members, "amr") if "amr" in members else (),
            state=read_text(members, "state", _STATE) if "state" in members else None,
            return_to=return_to,
        )
    except MemberError as error:
        raise Refusal("member_wrong", f"{error} is missing or wrong") from None


def _require_timely(hand_off: HandOff, ttl_seconds: int, now: int) -> None:
    if not hand_off.iat <= now + LEEWAY_SECONDS:
        raise Refusal("issued_in_future", f"Issued {hand_off.iat - now} s ahead of our clock")
    if not now < hand_off.exp + LEEWAY_SECONDS:
        when = f"Expired {now - hand_off.exp} s ago by our clock; issued {now - hand_off.iat} s ago"
        raise Refusal("expired", when)
    lifetime = hand_off.exp - hand_off.iat
    if not 0 < lifetime <= ttl_seconds:
        raise Refusal("lifetime_wrong", f"Valid for {lifetime} s, and we accept {ttl_seconds}")
