"""Each failure has one code and one status. `/developers/refusals` at the identity service explains each code, and what to
do.
"""

from collections.abc import Mapping
from typing import Final, Literal

from .reasons import REASONS

Code = Literal[
    "parameter_missing",
    "parameter_repeated",
    "payload_malformed",
    "signature_malformed",
    "signature_wrong",
    "json_malformed",
    "member_wrong",
    "issuer_wrong",
    "audience_wrong",
    "issued_in_future",
    "expired",
    "lifetime_wrong",
    "state_missing",
    "state_unknown",
    "auth_time_too_old",
    "nonce_replayed",
    "session_ended",
    "person_refused",
    "login_required",
    "interaction_required",
    "access_denied",
    "error_unknown",
    "method_not_allowed",
    "logout_token_wrong",
    "store_unavailable",
    "nudge_malformed",
    "nudge_signature_wrong",
    "nudge_too_old",
]

STATUSES: Final[Mapping[Code, int]] = {
    "parameter_missing": 400,
    "parameter_repeated": 400,
    "payload_malformed": 400,
    "signature_malformed": 400,
    "signature_wrong": 401,
    "json_malformed": 400,
    "member_wrong": 400,
    "issuer_wrong": 401,
    "audience_wrong": 401,
    "issued_in_future": 401,
    "expired": 401,
    "lifetime_wrong": 401,
    "state_missing": 303,
    "state_unknown": 403,
    "auth_time_too_old": 403,
    "nonce_replayed": 409,
    "session_ended": 403,
    "person_refused": 403,
    "login_required": 403,
    "interaction_required": 403,
    "access_denied": 403,
    "error_unknown": 400,
    "method_not_allowed": 405,
    "logout_token_wrong": 403,
    "store_unavailable": 503,
    "nudge_malformed": 400,
    "nudge_signature_wrong": 401,
    "nudge_too_old": 401,
}


class Refusal(Exception):
    """Why somebody is not let in. `code` is public. `reason` is only for your log, and begins with the detail.

    Your `start_session` may raise `Refusal("person_refused", "why")`.
    """

    def __init__(self, code: Code, detail: str = "", launch_id: str | None = None) -> None:
        self.code: Final[Code] = code
        self.reason: Final = (f"{detail.rstrip('.')}. " if detail else "") + REASONS[code]
        super().__init__(f"{code}: {self.reason}")
        self.launch_id = launch_id

    @property
    def status(self) -> int:
        return STATUSES[self.code]
