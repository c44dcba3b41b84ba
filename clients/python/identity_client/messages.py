"""A request and a response, which any framework can make and send."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final
from urllib.parse import parse_qsl

from .config import Config, log_refusal
from .refusal import Code, Refusal

#: The longest body that the kit reads.
MAX_BODY_BYTES: Final = 65_536

Headers = tuple[tuple[str, str], ...]


def find_once(pairs: Sequence[tuple[str, str]], name: str) -> str | None:
    """The value of the header with this name. None if it is missing or repeated, because programs differ in which value they
    read.
    """
    values = [value for given, value in pairs if given == name]
    return values[0] if len(values) == 1 else None


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    #: The query string as it arrived, still percent-encoded.
    query: str = ""
    #: Headers by name, in upper or lower case.
    headers: Mapping[str, str] | Sequence[tuple[str, str]] = ()
    body: bytes = b""
    #: The path as it arrived, still percent-encoded. Empty if it is not known. Then no login leads back to this page.
    path: str = ""

    def header(self, name: str) -> str | None:
        pairs = self.headers.items() if isinstance(self.headers, Mapping) else self.headers
        values = [value for given, value in pairs if given.lower() == name]
        return ("; " if name == "cookie" else ", ").join(values) if values else None

    def cookies(self) -> list[tuple[str, str]]:
        """The cookies as they were sent. A browser may send two cookies with one name: the first counts."""
        pairs = (pair.partition("=") for pair in (self.header("cookie") or "").split(";"))
        # Python's own strip removes more characters than browsers do. If the kit used it, a page of another host could set our
        # `__Host-` cookies.
        return [(name.strip(" \t"), value.strip(" \t")) for name, mark, value in pairs if mark]

    def page(self) -> str | None:
        """The path and query that a login can lead back to. None if it cannot, for example after a POST."""
        if self.method != "GET" or not self.path:
            return None
        return f"{self.path}?{self.query}" if self.query else self.path

    def field(self, name: str) -> str:
        """The value of a field of a posted form. Empty if the field is repeated, or if the form is too long."""
        if len(self.body) > MAX_BODY_BYTES:
            return ""
        pairs = parse_qsl(self.body.decode("utf-8", "replace"), keep_blank_values=True, errors="replace")
        return find_once(pairs, name) or ""

    def is_speculative(self) -> bool:
        """Browsers and chat programs open links before anybody clicks. Such a request must use nothing up."""
        return self.method == "HEAD" or "prefetch" in (self.header("sec-purpose") or "").lower()


@dataclass(frozen=True, slots=True)
class Response:
    status: int
    #: There may be several `Set-Cookie` headers.
    headers: Headers = ()
    body: bytes = b""

    def header(self, name: str) -> str | None:
        return next((value for given, value in self.headers if given.lower() == name.lower()), None)


#: Every answer to a browser during a login has these headers.
PRIVATE: Headers = (("Cache-Control", "no-store"), ("Referrer-Policy", "no-referrer"))


def put_in(ours: Headers, headers: Iterable[tuple[str, str]]) -> Headers:
    """Adds `headers` to `ours`. They replace headers with the same name."""
    names = {name.lower() for name, _ in ours}
    return (*ours, *((name, value) for name, value in headers if name.lower() not in names))


def redirect(location: str, headers: Iterable[tuple[str, str]] = ()) -> Response:
    plain = ("Content-Type", "text/plain; charset=utf-8")
    return Response(303, put_in((("Location", location), plain, *PRIVATE), headers))


def answer_speculation() -> Response:
    return Response(204, PRIVATE)


_MORE_HEADERS: Mapping[Code, Headers] = {"store_unavailable": (("Retry-After", "5"),)}


def refuse(config: Config, refusal: Refusal, allowed: str = "GET, HEAD") -> Response:
    """Logs the refusal, and returns its page. `allowed` names the methods that the URL accepts."""
    log_refusal(config, refusal)
    more = _MORE_HEADERS.get(refusal.code, ())
    if refusal.code == "method_not_allowed":
        more = (("Allow", allowed),)
    return show_refusal(refusal, config.home, config.login_url, more)


def describe_refusal(refusal: Refusal) -> Headers:
    """The headers that programs read."""
    launch: Headers = (("Identity-Launch", refusal.launch_id),) if refusal.launch_id else ()
    return (("Identity-Refusal", refusal.code), *launch)


def show_refusal(refusal: Refusal, home_url: str, login_url: str, headers: Headers = ()) -> Response:
    """A page for the person. It loads nothing, and shows nothing from the payload."""
    launch = f" · <code>{escape(refusal.launch_id)}</code>" if refusal.launch_id else ""
    links = _link(login_url, "Log in")
    if refusal.code in ("nonce_replayed", "logout_token_wrong"):
        # Most people who get one of these refusals have reloaded a page, and have a session already.
        links = f"{_link(home_url, 'Go on')}\n{links}"
    page = _PAGE.format(
        title="You are not logged out" if refusal.code == "logout_token_wrong" else "The login did not work",
        style=_STYLE,
        advice=escape(_ADVICE.get(refusal.code, _USUAL_ADVICE)),
        links=links,
        code=escape(refusal.code),
        launch=launch,
    )
    policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
    return Response(
        refusal.status,
        (
            ("Content-Type", "text/html; charset=utf-8"),
            *PRIVATE,
            ("Content-Security-Policy", policy),
            ("X-Content-Type-Options", "nosniff"),
            *describe_refusal(refusal),
            *headers,
        ),
        page.encode(),
    )


def _link(url: str, words: str) -> str:
    return f'<p><a href="{escape(url)}">{words}</a></p>'


#: Advice for refusals that only the owner of the site can fix.
_USUAL_ADVICE = "Log in again. If that does not help, tell us the code below."
_ADVICE: Mapping[Code, str] = {
    "issued_in_future": "The clock of this site is wrong. If it happens again, tell us the code below.",
    "expired": "It took too long. Log in again.",
    "state_unknown": "This browser did not ask for this login, or did so more than ten minutes ago. Log in again.",
    "auth_time_too_old": "This site needs you to prove again that it is you. Log in again.",
    "nonce_replayed": "This login was used already. Go on if you are logged in, or log in again.",
    "session_ended": "This login has ended. Log in again.",
    "person_refused": "This site does not let you in. Ask its owner.",
    "login_required": "Log in to go on.",
    "interaction_required": "There is something to do before you can go on. Log in, and follow what it says.",
    "logout_token_wrong": "Your session here has not ended. Go on, and log out once more.",
    "access_denied": "You cannot log in here with this account. Ask support.",
    "store_unavailable": "This site cannot let anybody in at the moment. Try again in a few minutes.",
}

_STYLE = """
:root { color-scheme: light dark; }
body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 36rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; line-height: 1.2; }
code { white-space: nowrap; }
"""

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
<h1>{title}</h1>
<p>{advice}</p>
{links}
<p>Code: <code>{code}</code>{launch}</p>
</main>
</body>
</html>
"""
