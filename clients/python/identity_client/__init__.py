"""Logs people in with the identity service, and reads their changes. Start with the README beside this folder."""

from . import fake_identity
from .config import Config, ConfigurationError, LogEntry, build_logout_url
from .events import Event, EventsError, pull_events
from .hand_off import HandOff, compute_launch_id, is_own_path, verify_hand_off
from .login import handle_callback, start_login
from .messages import Request, Response
from .nudges import receive_nudge
from .profile import Profile, Role
from .refusal import STATUSES, Code, Refusal
from .sql import SqlStore, open_sqlite
from .stores import Claim, MemoryStore, NonceStore, PositionStore, ProfileStore
from .wsgi import IdentityMiddleware, read_wsgi, send_wsgi

__all__ = [
    "STATUSES",
    "Claim",
    "Code",
    "Config",
    "ConfigurationError",
    "Event",
    "EventsError",
    "HandOff",
    "IdentityMiddleware",
    "LogEntry",
    "MemoryStore",
    "NonceStore",
    "PositionStore",
    "Profile",
    "ProfileStore",
    "Refusal",
    "Request",
    "Response",
    "Role",
    "SqlStore",
    "build_logout_url",
    "compute_launch_id",
    "fake_identity",
    "handle_callback",
    "is_own_path",
    "open_sqlite",
    "pull_events",
    "read_wsgi",
    "receive_nudge",
    "send_wsgi",
    "start_login",
    "verify_hand_off",
]
