"""The kit for Python, mounted as the broken clients are. The doctor must find nothing wrong with it."""

import secrets
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "clients/python"))

import identity_client as identity  # noqa: E402


class KitSite:
    def __init__(self, settings, origin):
        self.store = identity.MemoryStore()
        self.sessions = {}
        self.config = identity.Config(
            issuer=settings["issuer"],
            client=settings["client"],
            secrets=settings["secrets"],
            callback_url=f"{origin}/kit/callback",
            login_url=f"{origin}/kit/login",
            home_url=f"{origin}/kit/",
            ttl_seconds=settings["ttl"],
            nonces=self.store,
            end_session=self.end_session,
            log=lambda entry: None,
        )

    def login(self, request):
        return_to = request.parameters.get("return_to")
        return answer(identity.start_login(self.config, read(request), return_to=return_to))

    def callback(self, request):
        return answer(
            identity.handle_callback(
                self.config,
                read(request),
                start_session=self.start_session,
                is_logged_in=lambda _: self.find_session(request) is not None,
            )
        )

    def home(self, request):
        session = self.find_session(request)
        profile = session and self.store.find_profile(session.profile.id)
        return 200, [], f"{profile.id}\n{profile.name}\n{profile.email}" if profile else "nobody"

    def events(self, request):
        return answer(identity.receive_nudge(self.config, read(request), self.pull_soon))

    def start_session(self, hand_off):
        self.store.apply_profile(hand_off.profile)
        key = secrets.token_urlsafe(32)
        self.sessions[key] = hand_off
        return [("Set-Cookie", f"kit_session={key}; Path=/kit/; HttpOnly; SameSite=Lax")]

    def find_session(self, request):
        return self.sessions.get(request.cookies.get("kit_session"))

    def end_session(self, sid):
        for key in [key for key, hand_off in list(self.sessions.items()) if hand_off.sid == sid]:
            self.sessions.pop(key, None)

    def pull_soon(self):
        threading.Thread(target=self.pull, daemon=True).start()

    def pull(self):
        try:
            identity.pull_events(
                self.config, positions=self.store, profiles=self.store, start_over=self.sessions.clear
            )
        except identity.EventsError:
            """The doctor may send a nudge while there is no service that has events."""


def read(request):
    return identity.Request(request.method, request.query, request.headers, request.body)


def answer(response):
    return response.status, list(response.headers), response.body
