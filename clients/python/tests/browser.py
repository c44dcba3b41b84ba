"""Plays a browser that logs in at a client."""

import unittest
from typing import Any

from identity_client import Response, handle_callback, start_login

from .support import Site, ask, cookies_of, query_of


def start(site: Site, cookie: str = "", **options: Any) -> tuple[str, str]:
    """A browser that has asked for a login: its state, and its cookies."""
    response = start_login(site.config, ask("", cookie), **options)
    return query_of(response)["state"], cookies_of(response)


def call(site: Site, query: str, cookie: str = "", is_logged_in: bool = False) -> Response:
    return handle_callback(
        site.config,
        ask(query, cookie),
        start_session=site.start_session,
        is_logged_in=lambda request: is_logged_in,
    )


class RefusalTestCase(unittest.TestCase):
    def assert_refused(self, response: Response, status: int, code: str, has_launch: bool = True) -> None:
        headers = [response.status, response.header("identity-refusal"), response.header("cache-control")]
        self.assertEqual(headers, [status, code, "no-store"])
        self.assertEqual(response.header("identity-launch") is not None, has_launch)
        self.assertIn(f"<code>{code}</code>", response.body.decode())
