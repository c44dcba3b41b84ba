"""Says which paths of a site the kit answers, for every kind of server."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qsl, urlsplit

from .config import Config
from .events import EventsError, log_unread, pull_events
from .login import OnError, StartSession, handle_callback, start_login
from .messages import PRIVATE, Request, Response, find_once
from .nudges import receive_nudge
from .sessions import end_session

class Routes:
    def __init__(
        self,
        config: Config,
        *,
        start_session: StartSession | None = None,
        is_logged_in: Callable[[Request], bool] | None = None,
        on_error: OnError | None = None,
        events_path: str | None = None,
        on_nudge: Callable[[], object] | None = None,
        logout_path: str = "/logout",
    ) -> None:
        if start_session is None and config.store is None:
            raise ValueError("a configuration without a store needs start_session")
        if events_path is not None and on_nudge is None and config.store is None:
            raise ValueError("events_path needs on_nudge")
        self._config = config
        self._start_session = start_session
        self._is_logged_in = is_logged_in
        self._on_error = on_error
        self._on_nudge = on_nudge
        #: Whether the kit keeps the sessions.
        self.keeps_sessions = start_session is None
        self._answers: dict[str, Callable[[Request], Response]] = {}
        if self.keeps_sessions:
            self._answers[logout_path] = self._end_session
        if on_nudge is not None or config.store is not None:
            self._answers[events_path or "/sso/events"] = self._receive_nudge
        #: The paths that accept a POST.
        self._posts = frozenset(self._answers)
        self._answers[urlsplit(config.callback_url).path or "/"] = self._handle_callback
        self._answers[urlsplit(config.login_url).path or "/"] = self._start_login

    def find_answer(self, path: str) -> Callable[[Request], Response] | None:
        return self._answers.get(path)

    def reads_body(self, method: str, path: str) -> bool:
        """False if the answer is a 405, which needs no body."""
        return method == "POST" and path in self._posts

    def _start_login(self, request: Request) -> Response:
        """Starts a login. `return_to` in the query names the page to come back to. A repeated `return_to` is ignored."""
        pairs = parse_qsl(request.query, keep_blank_values=True, errors="replace")
        return start_login(self._config, request, return_to=find_once(pairs, "return_to"))

    def _handle_callback(self, request: Request) -> Response:
        return handle_callback(
            self._config,
            request,
            start_session=self._start_session,
            is_logged_in=self._is_logged_in,
            on_error=self._on_error,
        )

    def _end_session(self, request: Request) -> Response:
        return end_session(self._config, request)

    def _receive_nudge(self, request: Request) -> Response:
        if self._on_nudge is not None:
            return receive_nudge(self._config, request, self._on_nudge)
        try:
            return receive_nudge(self._config, request, self._pull)
        except Exception as error:
            # After a 503, the service sends the nudge again.
            log_unread(self._config, error)
            return Response(503, (("Retry-After", "1"), *PRIVATE))

    def _pull(self) -> None:
        if pull_events(self._config) is None:
            raise EventsError("another pull is still at work")
