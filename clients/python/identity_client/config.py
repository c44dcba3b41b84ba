"""What you agreed on with the operator of the identity service, and where the kit keeps its data."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self, cast
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from .hand_off import PARAMETERS, HandOff, is_own_path
from .reader import Reader
from .refusal import Code, Refusal
from .stores import NonceStore, Store

if TYPE_CHECKING:
    from .events import Event

_CLIENT = re.compile(r"[a-z][a-z0-9_]{0,62}")
_LOOPBACK = re.compile(r"127(?:\.[0-9]{1,3}){3}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_VISIBLE = re.compile(r"[!-~]+")
_MIN_SECRET_BYTES = 32
_IDENTITY_URL = re.compile(
    r"(https?://)([a-z0-9_]+):((?:[A-Za-z0-9_.~!$&'()*+,;=:-]|%[0-9A-Fa-f]{2})+)@([^@/?#\s]+/?)"
)


class ConfigurationError(ValueError):
    """Names all faults at once, but no secret."""


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A login or a refusal. Support finds it by the id of its launch, in your log and in the identity service's log."""

    #: `opened_elsewhere`: a browser opened the login start or the callback at a URL that is not the configured one. `reason`
    #: names that URL. `events_unread`: the newest events could not be read in time.
    outcome: Code | Literal["accepted", "opened_elsewhere", "events_unread"]
    #: What failed, and what to do about it. Empty if nothing failed.
    reason: str
    launch_id: str | None
    #: The URL that explains the code of a refusal.
    help_url: str = ""

    def __post_init__(self) -> None:
        # Your own code may have put a control character into the reason. A line break could forge a line of the log.
        object.__setattr__(self, "reason", _CONTROL.sub("?", self.reason))


def log_entry(entry: LogEntry) -> None:
    level = logging.INFO if entry.outcome == "accepted" else logging.WARNING
    why = f": {entry.reason} {entry.help_url}".rstrip() if entry.reason else ""
    logging.getLogger("identity_client").log(
        level, "%s, launch %s%s", entry.outcome, entry.launch_id or "unknown", why
    )


def read_clock() -> int:
    return int(time.time())


def ignore_session(_sid: str) -> None:
    """Does nothing. It is for a site that reads no events."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The configuration. All URLs come from here, and none comes from a request."""

    #: The base URL of the identity service, exactly as the operator has set it. Each hand-off names it.
    issuer: str
    #: Your client's name at the identity service.
    client: str
    #: One secret, or two during a rotation.
    secrets: Sequence[str] = field(repr=False)
    callback_url: str
    #: The URL that starts a login. It must be at the callback's origin.
    login_url: str
    #: Keeps your sessions, and everything else that the kit must remember.
    store: Store | None = None
    #: The store of used nonces. By default it is `store`.
    nonces: NonceStore = cast("NonceStore", None)
    #: Where a login leads if it has no `return_to`. By default, the start page of the callback's origin.
    home_url: str = ""
    #: How long a hand-off may be valid at most, in seconds: the operator's IDENTITY_SSO_TTL.
    ttl_seconds: int = 300
    #: How long a session in `store` lasts, in seconds.
    max_seconds: int = 43_200
    #: Gets each event that the kit reads, in order. If this raises, the event comes again.
    on_event: Callable[[Event], object] | None = None
    #: Gets each hand-off before its session in `store` starts. To turn a person away, raise a `Refusal("person_refused")`.
    on_login: Callable[[HandOff], object] | None = None
    #: If you keep sessions outside `store`: ends the sessions of the login with this `sid`.
    end_session: Callable[[str], None] = ignore_session
    log: Callable[[LogEntry], None] = log_entry
    #: The current time, in Unix seconds.
    now: Callable[[], int] = read_clock
    reader: Reader = field(default_factory=Reader, init=False, repr=False, compare=False)

    @classmethod
    def from_url(cls, identity_url: str | None, origin: str, **more: Any) -> Self:
        """Makes a configuration from `IDENTITY_URL`, such as `https://shop:SECRET@id.example.com`, and from scheme, host and
        port of your site.

        Your callback is then `/sso/callback`, and your login start `/login`, unless `more` names them. During a
        rotation, `IDENTITY_URL` has two secrets with a comma between them.
        """
        found = _IDENTITY_URL.fullmatch(identity_url or "")
        try:
            secrets = unquote(found[3], errors="strict").split(",") if found else []
        except UnicodeDecodeError:
            found = None
        if not found:
            form = "https://shop:SECRET@id.example.com, with your secret percent-encoded"
            raise ConfigurationError(f"identity_url must be like {form}")
        site = origin.removesuffix("/")
        paths: dict[str, Any] = {"callback_url": f"{site}/sso/callback", "login_url": f"{site}/login"}
        return cls(issuer=found[1] + found[4], client=found[2], secrets=secrets, **(paths | more))

    def __post_init__(self) -> None:
        if self.store is not None and not _is_given(self.nonces):
            object.__setattr__(self, "nonces", self.store)
        faults = [*_find_url_faults(self), *_find_secret_faults(self)]
        if not _matches(_CLIENT, self.client):
            faults.append(
                "client must be lower-case letters, digits and underscores, and begin with a letter"
            )
        if self.ttl_seconds not in range(30, 3_601):
            faults.append("ttl_seconds must be a whole number between 30 and 3600")
        if self.max_seconds not in range(60, 2_592_001):
            faults.append("max_seconds must be a whole number between 60 and 2592000")
        if self.store is not None and not _is_whole_store(self.store):
            faults.append("store must be a store, such as SqlStore(…) or MemoryStore()")
        elif not _is_store(self.nonces):
            faults.append("nonces must be a store, such as SqlStore(…) or MemoryStore(), unless store is one")
        if faults:
            raise ConfigurationError("; ".join(faults))

    @property
    def base_url(self) -> str:
        """The issuer without a slash at its end."""
        return self.issuer.removesuffix("/")

    @property
    def origin(self) -> str:
        """The origin of your own site."""
        return _origin_of(self.callback_url)

    @property
    def home(self) -> str:
        return self.home_url or f"{self.origin}/"

    @property
    def is_secure(self) -> bool:
        return self.callback_url.startswith("https://")


def log_refusal(config: Config, refusal: Refusal) -> None:
    help_url = f"{config.base_url}/developers/refusals#{refusal.code}"
    config.log(LogEntry(refusal.code, refusal.reason, refusal.launch_id, help_url))


def require_store(config: Config) -> Store:
    if config.store is None:
        raise ConfigurationError("store must be set, or give start_session and keep your own sessions")
    return config.store


def build_logout_url(config: Config, return_to: str | None = None) -> str:
    """The URL that logs a browser out of the identity service, too. End your own session first.

    `return_to` is a path on your site.
    """
    query = {"client": config.client}
    if return_to is not None and is_own_path(return_to):
        query["return_to"] = return_to
    return f"{config.base_url}/logout?{urlencode(query)}"


def _find_url_faults(config: Config) -> list[str]:
    faults: list[str] = []
    urls = {"issuer": config.issuer, "callback_url": config.callback_url, "login_url": config.login_url}
    if config.home_url:
        urls["home_url"] = config.home_url
    for name, url in urls.items():
        if not _is_safe_url(url):
            faults.append(
                f"{name} must be an https:// URL (http:// only on this machine), without a fragment"
            )
    if not faults:
        names = {name for name, _ in parse_qsl(urlsplit(config.callback_url).query, keep_blank_values=True)}
        if names & set(PARAMETERS):
            faults.append(f"callback_url must have none of the parameters {', '.join(PARAMETERS)}")
        if config.base_url != _origin_of(config.issuer):
            faults.append("issuer must be scheme, host and port alone")
        if _origin_of(config.login_url) != config.origin:
            faults.append(
                "login_url must have the scheme, host and port of callback_url: they share a cookie"
            )
        if _origin_of(config.home) != config.origin:
            faults.append("home_url must have the scheme, host and port of callback_url")
    return faults


def _matches(form: re.Pattern[str], value: object) -> bool:
    """False for a value that is no text, such as a missing environment variable."""
    return isinstance(value, str) and form.fullmatch(value) is not None


def _is_safe_url(url: str) -> bool:
    if not _matches(_VISIBLE, url) or "#" in url or "\\" in url:
        return False
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    host = parts.hostname or ""
    if not host or "@" in parts.netloc:
        return False
    if not url.startswith(f"{parts.scheme}://"):
        return False
    is_here = host in ("localhost", "::1") or host.endswith(".localhost") or _matches(_LOOPBACK, host)
    return parts.scheme == "https" or (parts.scheme == "http" and is_here)


def _find_secret_faults(config: Config) -> list[str]:
    if not _are_texts(config.secrets) or not 1 <= len(config.secrets) <= 2:
        return ["secrets must be a list of one secret, or of two during a rotation"]
    faults: list[str] = []
    if any(secret != secret.strip() for secret in config.secrets):
        faults.append("secrets must not have spaces or line breaks around them")
    # Plain http is allowed only on this machine. There, a short secret is enough for a first try.
    is_local = str(config.callback_url).startswith("http://")
    if not all(config.secrets):
        faults.append("secrets must not be empty")
    elif not is_local and any(len(secret.encode()) < _MIN_SECRET_BYTES for secret in config.secrets):
        faults.append(f"secrets must have at least {_MIN_SECRET_BYTES} bytes each")
    if any("," in secret for secret in config.secrets):
        faults.append("secrets must be given one by one, not with a comma between them")
    if len(set(config.secrets)) < len(config.secrets):
        faults.append("secrets must differ from each other")
    return faults


def _are_texts(value: object) -> bool:
    """False for a single text. To Python, a text is a sequence too."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        return False
    return all(isinstance(each, str) for each in cast("Sequence[object]", value))


def _is_store(value: object) -> bool:
    return isinstance(value, NonceStore)


def _is_whole_store(value: object) -> bool:
    return isinstance(value, Store)


def _is_given(value: object) -> bool:
    return value is not None


def _origin_of(url: str) -> str:
    """The origin as browsers write it: in lower case, and without the usual port."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    usual = {"https": 443, "http": 80}.get(parts.scheme)
    port = "" if parts.port in (None, usual) else f":{parts.port}"
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}{port}"
