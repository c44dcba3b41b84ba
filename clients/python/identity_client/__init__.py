"""Logs people in with the identity service, and reads what has changed about them. Start with the README beside this folder."""

from . import fake_identity
from .asgi import AsgiMiddleware, read_asgi, send_asgi
from .config import Config, ConfigurationError, LogEntry, build_logout_url
from .events import Event, EventsError, pull_events
from .hand_off import HandOff, compute_launch_id, is_own_path, verify_hand_off
from .login import handle_callback, login_silently, start_login
from .messages import Request, Response, refuse
from .nudges import receive_nudge
from .profile import Profile, Role
from .refusal import STATUSES, Code, Refusal
from .sessions import apply_profile, current_person, end_session, find_person, logout_token, require_login
from .sql import SqlStore, open_database, open_sqlite
from .stores import (
    Claim,
    MemoryStore,
    NonceStore,
    PositionStore,
    ProfileStore,
    Session,
    SessionStore,
    Store,
)
from .wsgi import IdentityMiddleware, read_wsgi, send_wsgi

__all__ = [
    "STATUSES",
    "AsgiMiddleware",
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
    "Session",
    "SessionStore",
    "SqlStore",
    "Store",
    "apply_profile",
    "build_logout_url",
    "compute_launch_id",
    "current_person",
    "end_session",
    "fake_identity",
    "find_person",
    "handle_callback",
    "is_own_path",
    "login_silently",
    "logout_token",
    "open_database",
    "open_sqlite",
    "pull_events",
    "read_asgi",
    "read_wsgi",
    "receive_nudge",
    "refuse",
    "require_login",
    "send_asgi",
    "send_wsgi",
    "start_login",
    "verify_hand_off",
]
