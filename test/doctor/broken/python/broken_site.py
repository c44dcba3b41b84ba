"""A site with a login, in memory. The site named `right` has no fault. The name of any other site says its one fault."""

import re
import secrets
import threading
import time
from urllib.parse import urlencode

from verifier import Refused, check_nudge, read_query, verify

NAMES = """
mac_not_checked mac_over_json mac_compared_in_part signature_uppercase signature_next_ignored signature_repeated
payload_repeated payload_padded payload_standard_base64 payload_spare_bits json_duplicate_names member_types
issuer_not_checked audience_not_checked client_not_checked expiry_not_checked leeway_too_long leeway_missing
future_not_checked lifetime_not_checked nonce_not_checked nonce_before_mac nonce_not_atomic state_not_compared
state_missing_accepted one_state_cookie return_to_open callback_cached linked_by_email older_profile_applied
""".split()

STATUSES = {
    **dict.fromkeys(
        ["signature_wrong", "issuer_wrong", "audience_wrong", "issued_in_future", "expired"], 401
    ),
    **dict.fromkeys(["lifetime_wrong", "nudge_signature_wrong", "nudge_too_old"], 401),
    **dict.fromkeys(["state_unknown", "login_required", "interaction_required", "access_denied"], 403),
    "nonce_replayed": 409,
    "method_not_allowed": 405,
}


class Site:
    """Each method takes a request and returns status, headers and body."""

    def __init__(self, broken, settings):
        self.broken = broken
        self.settings = settings
        self.lock = threading.Lock()
        self.nonces = set()
        self.sessions = {}
        self.users = {}

    def login(self, request):
        state = secrets.token_urlsafe(16)
        query = {"state": state}
        if request.parameters.get("return_to"):
            query["return_to"] = request.parameters["return_to"]
        target = f"{self.settings['issuer']}/sso/launch/{self.settings['client']}?{urlencode(query)}"
        started = f"{state}.{int(time.time())}"
        cookies = [self.build_cookie(self.attempt_name(state), started, 600)]
        if self.broken != "one_state_cookie":
            attempts = [name for name in request.cookies if name.startswith(self.attempt_name(""))]
            oldest_first = sorted(attempts, key=lambda name: request.cookies[name].rpartition(".")[2])
            cookies += [self.build_cookie(name, "", 0) for name in oldest_first[:-4]]
        return 303, [("Location", target), *(("Set-Cookie", cookie) for cookie in cookies)], ""

    def callback(self, request):
        try:
            parameters = read_query(request.query, self.broken)
            if "error" in parameters and "payload" not in parameters:
                return self.refuse(self.read_error(request, parameters))
            payload = verify(request.query, self.settings, int(time.time()), self.broken, self.consume)
            if "state" not in payload and self.broken != "state_missing_accepted":
                target = "/" if self.find_user(request) else "/login"
                headers = [("Location", f"/{self.broken}{target}"), ("Identity-Refusal", "state_missing")]
                return 303, headers, ""
            if not self.is_asked_for(request, payload.get("state")):
                raise Refused("state_unknown")
            if self.broken != "nonce_before_mac" and not self.consume(payload["nonce"], payload["exp"] + 60):
                raise Refused("nonce_replayed")
        except Refused as refused:
            return self.refuse(refused.code)
        session = secrets.token_urlsafe(32)
        self.sessions[session] = self.save_user(payload["profile"])
        cookie = self.build_cookie(f"{self.broken}_session", session, 3600)
        return 303, [("Location", self.find_target(payload)), ("Set-Cookie", cookie)], ""

    def home(self, request):
        user = self.find_user(request)
        if user is None:
            return 200, [], "nobody"
        return 200, [], "\n".join(str(user.get(name)) for name in ("id", "name", "email"))

    def events(self, request):
        try:
            check_nudge(request.headers, request.body, self.settings, int(time.time()))
        except Refused as refused:
            return self.refuse(refused.code)
        return 204, [], ""

    def refuse(self, code):
        return STATUSES.get(code, 400), [("Identity-Refusal", code)], f"The login did not work. Code: {code}"

    def read_error(self, request, parameters):
        known = ("login_required", "interaction_required", "access_denied")
        if not self.has_attempt(request, parameters.get("state")):
            return "state_unknown"
        return parameters["error"] if parameters["error"] in known else "error_unknown"

    def attempt_name(self, state):
        name = f"{self.broken}_attempt"
        return name if self.broken == "one_state_cookie" else f"{name}_{state}"

    def has_attempt(self, request, state):
        return (
            state is not None
            and request.cookies.get(self.attempt_name(state), "").rpartition(".")[0] == state
        )

    def is_asked_for(self, request, state):
        if self.broken == "state_not_compared" or (state is None and self.broken == "state_missing_accepted"):
            return True
        return self.has_attempt(request, state)

    def consume(self, nonce, keep_until):
        if self.broken == "nonce_not_checked":
            return True
        if self.broken == "nonce_not_atomic":
            if nonce in self.nonces:
                return False
            # Sleeps for as long as a database takes to answer.
            time.sleep(0.05)
            self.nonces.add(nonce)
            return True
        with self.lock:
            is_new = nonce not in self.nonces
            self.nonces.add(nonce)
            return is_new

    def save_user(self, profile):
        """Updates the profile of the local user, and returns that user's key."""
        with self.lock:
            key = str(profile.get("id"))
            if self.broken == "linked_by_email":
                key = next(
                    (key for key, user in self.users.items() if user["email"] == profile["email"]), key
                )
            known = self.users.get(key)
            if known is None:
                self.users[key] = profile
            elif self.broken == "older_profile_applied" or is_newer(profile, known):
                self.users[key] = {**profile, "id": known.get("id")}
            return key

    def find_user(self, request):
        return self.users.get(self.sessions.get(request.cookies.get(f"{self.broken}_session")))

    def find_target(self, payload):
        path = payload.get("return_to", f"/{self.broken}/")
        if self.broken == "return_to_open" or re.fullmatch(r"/(?![/\\])[^\\\x00-\x20\x7f-\U0010ffff]*", path):
            return path
        return f"/{self.broken}/"

    def build_cookie(self, name, value, max_age):
        return f"{name}={value}; Path=/{self.broken}/; Max-Age={max_age}; HttpOnly; SameSite=Lax"


def is_newer(profile, known):
    return str(profile.get("profile_updated_at")) > str(known.get("profile_updated_at"))
