"""A nudge says that there is something new to pull. It is signed as in Standard Webhooks 1.0."""

import base64
import hashlib
import hmac
import re
from collections.abc import Callable
from typing import Final

from .config import Config, log_refusal
from .messages import MAX_BODY_BYTES, PRIVATE, Headers, Request, Response, describe_refusal
from .profile import read_integer, read_object, read_text
from .refusal import Refusal
from .strict_json import parse_strict_json

_MAX_SIGNATURES: Final = 16
_LIFE_SECONDS: Final = 300
_TIMESTAMP = re.compile(r"[0-9]{1,12}")


def receive_nudge(config: Config, request: Request, on_nudge: Callable[[], object]) -> Response:
    """Calls `on_nudge` for a genuine nudge. `on_nudge` may itself pull the events.

    If `on_nudge` raises, the error is not caught here. If your framework then answers 500, the identity service sends the
    nudge again.
    """
    try:
        _require_genuine(config, request)
    except Refusal as refusal:
        log_refusal(config, refusal)
        allowed: Headers = (("Allow", "POST"),) if refusal.code == "method_not_allowed" else ()
        headers = (("Content-Type", "text/plain; charset=utf-8"), *PRIVATE)
        return Response(
            refusal.status, (*headers, *allowed, *describe_refusal(refusal)), f"{refusal.code}\n".encode()
        )
    on_nudge()
    return Response(204, PRIVATE)


def _require_genuine(config: Config, request: Request) -> None:
    if request.method != "POST":
        raise Refusal("method_not_allowed")
    nudge_id = request.header("webhook-id")
    timestamp = request.header("webhook-timestamp")
    signatures = request.header("webhook-signature")
    if not nudge_id or not timestamp or not signatures:
        raise Refusal("nudge_malformed", "A header is missing")
    if not _TIMESTAMP.fullmatch(timestamp) or len(request.body) > MAX_BODY_BYTES:
        raise Refusal("nudge_malformed", "The timestamp is no number, or the body is too long")
    message = f"{nudge_id}.{timestamp}.".encode("utf-8", "replace") + request.body
    if not _is_signed(config, message, signatures):
        raise Refusal("nudge_signature_wrong")
    age = config.now() - int(timestamp)
    if abs(age) > _LIFE_SECONDS:
        raise Refusal("nudge_too_old", f"Signed {age} s ago by our clock")
    try:
        nudge = read_object(parse_strict_json(request.body), "the whole")
        is_ours = read_text(nudge, "client") == config.client and read_integer(nudge, "latest") >= 0
    except ValueError as error:
        raise Refusal("nudge_malformed", f"The body: {type(error).__name__}") from None
    if not is_ours:
        raise Refusal("nudge_malformed", "It is of another client, or without a number")


def sign_nudge(config: Config, message: bytes) -> list[str]:
    """Returns a signature for each secret."""
    label = f"identity webhooks v1 {config.client}".encode()
    keys = [hmac.digest(secret.encode(), label, hashlib.sha256) for secret in config.secrets]
    return ["v1," + base64.b64encode(hmac.digest(key, message, hashlib.sha256)).decode() for key in keys]


def _is_signed(config: Config, message: bytes, signatures: str) -> bool:
    """Whether one of the secrets made one of the signatures."""
    matches = False
    for expected in sign_nudge(config, message):
        for signature in signatures.split(" ")[:_MAX_SIGNATURES]:
            matches = hmac.compare_digest(expected.encode(), signature.encode("utf-8", "replace")) or matches
    return matches
