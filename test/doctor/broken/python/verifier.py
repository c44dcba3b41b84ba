"""Verifies a hand-off, as an engineer without the kit writes it from the documentation. `broken` names the one rule that it
breaks.
"""

import base64
import hashlib
import hmac
import json
import re
from urllib.parse import parse_qsl

LEEWAY = 30


class Refused(Exception):
    def __init__(self, code):
        super().__init__(code)
        self.code = code


def read_query(query, broken=""):
    pairs = parse_qsl(query, keep_blank_values=True, errors="replace")
    names = [name for name, _ in pairs]
    for name in ("payload", "signature", "signature_next", "state", "error"):
        if name == "payload" and broken == "payload_repeated":
            continue
        if name == "signature" and broken == "signature_repeated":
            continue
        if names.count(name) > 1:
            raise Refused("parameter_repeated")
    return dict(pairs)


def verify(query, settings, now, broken, consume):
    """Returns the payload. `consume` uses a nonce up. Only the broken client that uses nonces up too early calls it here."""
    parameters = read_query(query, broken)
    if "payload" not in parameters or "signature" not in parameters:
        raise Refused("parameter_missing")
    wire = parameters["payload"]
    data = decode(wire, broken)
    signatures = [parameters["signature"]]
    if "signature_next" in parameters and broken != "signature_next_ignored":
        signatures.append(parameters["signature_next"])
    form = "[0-9a-fA-F]{64}" if broken == "signature_uppercase" else "[0-9a-f]{64}"
    if not all(re.fullmatch(form, signature) for signature in signatures):
        raise Refused("signature_malformed")
    if broken == "nonce_before_mac":
        found = re.search(rb'"nonce":"([A-Za-z0-9_-]{22})"', data)
        if found and not consume(found[1].decode(), now + 600):
            raise Refused("nonce_replayed")
    if not is_signed(wire, data, signatures, settings["secrets"], broken):
        raise Refused("signature_wrong")
    payload = parse(data, broken)
    if not has_right_members(payload, broken):
        raise Refused("member_wrong")
    if payload["iss"] != settings["issuer"] and broken != "issuer_not_checked":
        raise Refused("issuer_wrong")
    if payload["aud"] != settings["client"] and broken != "audience_not_checked":
        raise Refused("audience_wrong")
    if payload["client"] != settings["client"] and broken != "client_not_checked":
        raise Refused("audience_wrong")
    check_time(payload, settings["ttl"], now, broken)
    return payload


def decode(wire, broken):
    alphabet = "[A-Za-z0-9_-]+"
    if broken == "payload_padded":
        alphabet = "[A-Za-z0-9_-]+={0,2}"
    if broken == "payload_standard_base64":
        alphabet = "[A-Za-z0-9_+/-]+"
    if len(wire) > 8192 or not re.fullmatch(alphabet, wire):
        raise Refused("payload_malformed")
    spelling = wire.rstrip("=").replace("+", "-").replace("/", "_")
    try:
        data = base64.urlsafe_b64decode(spelling + "=" * (-len(spelling) % 4))
    except ValueError:
        raise Refused("payload_malformed") from None
    if base64.urlsafe_b64encode(data).rstrip(b"=").decode() != spelling and broken != "payload_spare_bits":
        raise Refused("payload_malformed")
    return data


def is_signed(wire, data, signatures, secrets, broken):
    if broken == "mac_not_checked":
        return True
    message = data if broken == "mac_over_json" else wire.encode()
    digits = 32 if broken == "mac_compared_in_part" else 64
    matches = False
    for secret in secrets:
        expected = hmac.new(secret.encode(), message, hashlib.sha256).hexdigest()
        for signature in signatures:
            given = signature.lower() if broken == "signature_uppercase" else signature
            matches = hmac.compare_digest(expected[:digits], given[:digits]) or matches
    return matches


def parse(data, broken):
    try:
        text = data.decode("utf-8")
        check_depth(text)
        hook = None if broken == "json_duplicate_names" else refuse_duplicates
        return json.loads(text, object_pairs_hook=hook, parse_constant=refuse_constant)
    except ValueError:
        raise Refused("json_malformed") from None


def check_depth(text):
    depth = 0
    for token in re.findall(r'"(?:[^"\\]|\\.)*"|[{}\[\]]', text):
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(token, 0)
        if depth > 16:
            raise ValueError("too deep")


def refuse_duplicates(members):
    if len(dict(members)) != len(members):
        raise ValueError("a name twice")
    return dict(members)


def refuse_constant(name):
    raise ValueError(name)


def has_right_members(payload, broken):
    if not isinstance(payload, dict) or not isinstance(payload.get("profile"), dict):
        return False
    needed = [payload.get(name) for name in ("iss", "aud", "client", "nonce")]
    optional = [payload.get(name, "") for name in ("sid", "state", "return_to")]
    times = [payload.get("iat"), payload.get("exp"), payload.get("auth_time", 0)]
    if not all(isinstance(text, str) for text in [*needed, *optional]):
        return False
    if not all(isinstance(time, int) and not isinstance(time, bool) for time in times):
        return False
    if not re.fullmatch("[A-Za-z0-9_-]{22}", payload["nonce"]):
        return False
    return broken == "member_types" or is_profile(payload["profile"])


def is_profile(profile):
    account = profile.get("account")
    capabilities = account.get("capabilities") if isinstance(account, dict) else None
    texts = [profile.get(name) for name in ("id", "email", "name", "role", "profile_updated_at")]
    if not isinstance(capabilities, list) or not all(
        isinstance(text, str) and text for text in [*texts, *capabilities]
    ):
        return False
    return profile["role"] in ("admin", "merchant", "customer")


def check_time(payload, ttl, now, broken):
    leeway = {"leeway_too_long": 3600, "leeway_missing": 0}.get(broken, LEEWAY)
    if payload["iat"] > now + leeway and broken != "future_not_checked":
        raise Refused("issued_in_future")
    if now >= payload["exp"] + leeway and broken != "expiry_not_checked":
        raise Refused("expired")
    lifetime = payload["exp"] - payload["iat"]
    if lifetime <= 0 or (lifetime > ttl and broken != "lifetime_not_checked"):
        raise Refused("lifetime_wrong")


def check_nudge(headers, body, settings, now):
    """Verifies a nudge by Standard Webhooks, with the key that is made from the secret. Raises Refused."""
    nudge_id, timestamp, signatures = (
        headers.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature")
    )
    if not nudge_id or not re.fullmatch("[0-9]{1,12}", timestamp) or not signatures:
        raise Refused("nudge_malformed")
    matches = False
    for secret in settings["secrets"]:
        key = hmac.digest(secret.encode(), f"identity webhooks v1 {settings['client']}".encode(), "sha256")
        mac = hmac.digest(key, f"{nudge_id}.{timestamp}.".encode() + body, "sha256")
        expected = b"v1," + base64.b64encode(mac)
        for signature in signatures.split(" "):
            matches = hmac.compare_digest(expected, signature.encode()) or matches
    if not matches:
        raise Refused("nudge_signature_wrong")
    if abs(now - int(timestamp)) > 300:
        raise Refused("nudge_too_old")
    try:
        nudge = json.loads(body)
        is_right = nudge["client"] == settings["client"] and isinstance(nudge["latest"], int)
    except (ValueError, KeyError, TypeError):
        is_right = False
    if not is_right:
        raise Refused("nudge_malformed")
