"""A request and a response, as any framework can make and send them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from .refusal import Code, Refusal

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    #: The query string as it arrived, still percent-encoded.
    query: str = ""
    #: By name, in any case.
    headers: Mapping[str, str] | Sequence[tuple[str, str]] = ()
    body: bytes = b""

    def header(self, name: str) -> str | None:
        pairs = self.headers.items() if isinstance(self.headers, Mapping) else self.headers
        values = [value for given, value in pairs if given.lower() == name]
        return ("; " if name == "cookie" else ", ").join(values) if values else None

    def cookies(self) -> list[tuple[str, str]]:
        """As they were sent: a browser may have two of one name."""
        pairs = (pair.partition("=") for pair in (self.header("cookie") or "").split(";"))
        return [(name.strip(), value.strip()) for name, mark, value in pairs if mark]

    def is_speculative(self) -> bool:
        """Browsers and chat programs open links ahead of the click. That must not use anything up."""
        return self.method == "HEAD" or "prefetch" in (self.header("sec-purpose") or "").lower()


@dataclass(frozen=True, slots=True)
class Response:
    status: int
    #: `Set-Cookie` may be there more than once.
    headers: Headers = ()
    body: bytes = b""

    def header(self, name: str) -> str | None:
        return next((value for given, value in self.headers if given.lower() == name.lower()), None)


#: On every answer that a login passes through.
PRIVATE: Headers = (("Cache-Control", "no-store"), ("Referrer-Policy", "no-referrer"))


def redirect(location: str, headers: Iterable[tuple[str, str]] = ()) -> Response:
    plain = ("Content-Type", "text/plain; charset=utf-8")
    return Response(303, (("Location", location), plain, *PRIVATE, *headers))


def answer_speculation() -> Response:
    return Response(204, PRIVATE)


def describe_refusal(refusal: Refusal) -> Headers:
    """The headers that programs read."""
    launch: Headers = (("Identity-Launch", refusal.launch_id),) if refusal.launch_id else ()
    return (("Identity-Refusal", refusal.code), *launch)


def show_refusal(refusal: Refusal, login_url: str, headers: Headers = ()) -> Response:
    """A page for the person, which loads nothing and says nothing of the payload."""
    launch = f" · <code>{escape(refusal.launch_id)}</code>" if refusal.launch_id else ""
    page = _PAGE.format(
        style=_STYLE,
        advice=escape(_ADVICE.get(refusal.code, _USUAL_ADVICE)),
        login_url=escape(login_url),
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


_USUAL_ADVICE = "Log in again. If that does not help, tell the people who run this site the code below."
_ADVICE: Mapping[Code, str] = {
    "state_unknown": "Log in again in this browser. It has to allow cookies.",
    "auth_time_too_old": "Log in again, and give your password or passkey when you are asked for it.",
    "nonce_replayed": "This link was used before. Go on if you are logged in, or else log in again.",
    "session_ended": "This login has ended. Log in again.",
    "person_refused": "This site does not let you in. Ask the people who run it.",
    "login_required": "Log in to go on.",
    "interaction_required": "There is something for you to do first. Log in, and follow what it says.",
    "access_denied": "Your account is suspended. Ask support.",
    "method_not_allowed": "Open the login from this site.",
    "store_unavailable": "Try again in a minute.",
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
<title>The login did not work</title>
<style>{style}</style>
</head>
<body>
<main>
<h1>The login did not work</h1>
<p>{advice}</p>
<p><a href="{login_url}">Log in</a></p>
<p>Code: <code>{code}</code>{launch}</p>
</main>
</body>
</html>
"""
