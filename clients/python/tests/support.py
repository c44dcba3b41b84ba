"""A client with the values of the test vectors, a clock that tests set, and hand-offs signed as the service signs them."""

import base64
import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from identity_client import Config, HandOff, LogEntry, MemoryStore, NonceStore, Request, Response

ROOT = Path(__file__).resolve().parents[3]
VECTORS: dict[str, Any] = json.loads((ROOT / "test/sso-vectors.json").read_text("utf-8"))["sso"]
REFUSALS: list[dict[str, Any]] = json.loads((ROOT / "clients/refusals.json").read_text("utf-8"))

ISSUER = "https://id.example.test"
SITE = "https://shop.example.test"
SECRET = "a-secret-of-the-shop-for-this-test"
NEXT_SECRET = "the-next-secret-of-the-shop-for-it"
NOW = 1_767_225_700


@dataclass
class Clock:
    now: int = NOW

    def __call__(self) -> int:
        return self.now


@dataclass
class Site:
    """A client with one secret. It records what its hooks were called with."""

    nonces: NonceStore = field(default_factory=MemoryStore)
    secrets: Sequence[str] = (SECRET,)
    site: str = SITE
    issuer: str = ISSUER
    clock: Clock = field(default_factory=Clock)
    log: list[LogEntry] = field(default_factory=list[LogEntry])
    started: list[HandOff] = field(default_factory=list[HandOff])
    ended: list[str] = field(default_factory=list[str])

    @property
    def config(self) -> Config:
        return Config(
            issuer=self.issuer,
            client="shop",
            secrets=self.secrets,
            callback_url=f"{self.site}/sso/callback",
            login_url=f"{self.site}/login",
            nonces=self.nonces,
            end_session=self.ended.append,
            log=self.log.append,
            now=self.clock,
        )

    def start_session(self, hand_off: HandOff) -> list[tuple[str, str]]:
        self.started.append(hand_off)
        return [("Set-Cookie", "session=one")]


def cookies_of(*responses: Response) -> str:
    """The cookies that a browser sends after these answers."""
    kept: dict[str, str] = {}
    for response in responses:
        for name, value in response.headers:
            if name == "Set-Cookie":
                pair, _, attributes = value.partition(";")
                cookie, _, text = pair.partition("=")
                kept.pop(cookie, None)
                if "Max-Age=0;" not in attributes + ";":
                    kept[cookie] = text
    return "; ".join(f"{name}={value}" for name, value in kept.items())


def query_of(response: Response) -> dict[str, str]:
    return {
        name: values[0]
        for name, values in parse_qs(urlsplit(response.header("location") or "").query).items()
    }


def build_profile(**changes: Any) -> dict[str, Any]:
    return {
        "id": "0190f5a0-0000-7000-8000-000000000001",
        "email": "zoe@example.test",
        "name": "Zoë O’Neil",
        "role": "merchant",
        "account": {"capabilities": ["sell_products"]},
        "profile_updated_at": "2026-01-01T00:00:00.000Z",
        **changes,
    }


def build_payload(**changes: Any) -> dict[str, Any]:
    """A member that is None is left out."""
    payload = {
        "iss": ISSUER,
        "aud": "shop",
        "iat": NOW,
        "exp": NOW + 300,
        "nonce": "AAECAwQFBgcICQoLDA0ODw",
        "client": "shop",
        "sid": "Vt1n0cVtSh2mV0y0rU3y8Q",
        "auth_time": NOW,
        "amr": ["pwd"],
        "profile": build_profile(),
        **changes,
    }
    return {name: value for name, value in payload.items() if value is not None}


def sign(payload: dict[str, Any], *secrets: str) -> str:
    """The query of a hand-off."""
    text = json.dumps(payload, separators=(",", ":"))
    wire = base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()
    made = [
        hmac.new(secret.encode(), wire.encode(), hashlib.sha256).hexdigest()
        for secret in secrets or (SECRET,)
    ]
    return urlencode({"payload": wire, **dict(zip(("signature", "signature_next"), made, strict=False))})


def ask(query: str, cookie: str = "", method: str = "GET", **headers: str) -> Request:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    return Request(method, query, {"cookie": cookie, **given})
