"""The identity service of your tests. It makes what the service would send you, so your CI can log in without the service."""

import json
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, urlencode

from .config import Config
from .hand_off import encode, sign
from .messages import Request
from .nudges import sign_nudge
from .refusal import Code

_Pairs = list[tuple[str, str]]


def hand_off(config: Config, launch: str, *, profile: Mapping[str, Any] | None = None, **changes: Any) -> str:
    """Answers a launch, which is the URL that `start_login` redirects to. Returns your callback's URL with a genuine hand-off.

    `profile` and `changes` replace members. A member that is None is left out. For a minute after this call, pages do not ask
    the service for events.
    """
    config.reader.read_at = config.now()
    return _callback(config, _seal(config, _build(config, launch, profile or {}) | changes))


def refusal(config: Config, code: Code, launch: str) -> str:
    """Returns your callback's URL with something that the kit refuses with this code."""
    return _callback(config, _refused(config, code, _build(config, launch, {})))


def webhook(config: Config, latest: int = 1) -> Request:
    """Returns a nudge, which says that `latest` is the number of the newest event."""
    nudge_id, timestamp = f"{config.client}_{latest}", str(config.now())
    body = json.dumps({"client": config.client, "latest": latest}, separators=(",", ":")).encode()
    signatures = sign_nudge(config, f"{nudge_id}.{timestamp}.".encode() + body)
    headers = {
        "webhook-id": nudge_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(signatures),
    }
    return Request("POST", "", headers, body)


def _build(config: Config, launch: str, profile: Mapping[str, Any]) -> dict[str, Any]:
    """Raises a ValueError if the service would answer the launch with an error."""
    address, _, query = launch.partition("?")
    if address != f"{config.base_url}/sso/launch/{config.client}":
        raise ValueError(f"not a launch of this client: {address}")
    now, asked = config.now(), dict(parse_qsl(query))
    return {
        "iss": config.issuer,
        "aud": config.client,
        "iat": now,
        "exp": now + config.ttl_seconds,
        "nonce": secrets.token_urlsafe(16),
        "client": config.client,
        "sid": secrets.token_urlsafe(16),
        "auth_time": now,
        "amr": ["pwd"],
        "profile": {
            "id": "0190f5a0-0000-7000-8000-000000000001",
            "email": "zoe@example.test",
            "name": "Zoë O’Neil",
            "role": "customer",
            "account": {"capabilities": []},
            "profile_updated_at": f"{datetime.fromtimestamp(now, UTC):%Y-%m-%dT%H:%M:%S}.000Z",
            **profile,
        },
        "state": asked.get("state"),
        "return_to": asked.get("return_to"),
    }


def _refused(config: Config, code: Code, right: dict[str, Any]) -> _Pairs:
    iat, ttl, state = right["iat"], config.ttl_seconds, right["state"] or ""
    changes: dict[str, dict[str, Any]] = {
        "member_wrong": {"profile": {**right["profile"], "role": "owner"}},
        "issuer_wrong": {"iss": "https://elsewhere.example"},
        "audience_wrong": {"aud": "elsewhere"},
        "issued_in_future": {"iat": iat + 90, "exp": iat + 90 + ttl},
        "expired": {"iat": iat - ttl - 90, "exp": iat - 90},
        "lifetime_wrong": {"exp": iat + ttl + 1},
        "state_missing": {"state": None},
        "state_unknown": {"state": "of-another-browser"},
        "auth_time_too_old": {"auth_time": 0},
    }
    if code in changes:
        return _seal(config, right | changes[code])
    genuine = _seal(config, right)
    payload, signature = genuine[0][1], genuine[1][1]
    queries: dict[str, _Pairs] = {
        "parameter_missing": [("payload", payload)],
        "parameter_repeated": [*genuine, ("payload", payload)],
        "payload_malformed": _sign(config, f"{payload}="),
        "signature_malformed": [("payload", payload), ("signature", signature.upper())],
        "signature_wrong": [("payload", payload), ("signature", sign(payload, "of-somebody-else"))],
        "json_malformed": _sign(config, encode(b"{")),
        "error_unknown": [("error", "anything"), ("state", state)],
        "login_required": [("error", code), ("state", state)],
        "interaction_required": [("error", code), ("state", state)],
        "access_denied": [("error", code), ("state", state)],
    }
    if code not in queries:
        raise ValueError(f"no hand-off alone is refused with {code}")
    return queries[code]


def _seal(config: Config, payload: dict[str, Any]) -> _Pairs:
    members = {name: value for name, value in payload.items() if value is not None}
    return _sign(config, encode(json.dumps(members, ensure_ascii=False, separators=(",", ":")).encode()))


def _sign(config: Config, payload: str) -> _Pairs:
    signatures = [sign(payload, secret) for secret in config.secrets]
    return [("payload", payload), *zip(("signature", "signature_next"), signatures, strict=False)]


def _callback(config: Config, query: _Pairs) -> str:
    return f"{config.callback_url}{'&' if '?' in config.callback_url else '?'}{urlencode(query)}"
