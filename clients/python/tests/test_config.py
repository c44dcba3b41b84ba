"""Tests that a configuration that cannot work, or is not safe, is refused with all its faults at once."""

import json
import logging
import traceback
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from identity_client import (
    Config,
    ConfigurationError,
    EventsError,
    MemoryStore,
    Request,
    handle_callback,
    pull_events,
    receive_nudge,
    start_login,
)

from .support import SECRET


def build(**changes: Any) -> Config:
    settings: dict[str, Any] = {
        "issuer": "https://id.example.test",
        "client": "shop",
        "secrets": [SECRET],
        "callback_url": "https://shop.example.test/sso/callback?from=identity",
        "login_url": "https://shop.example.test/login",
        "nonces": MemoryStore(),
    }
    return Config(**{**settings, **changes})


class Configuration(unittest.TestCase):
    def test_is_taken(self) -> None:
        config = build()
        self.assertEqual(
            [config.origin, config.home], ["https://shop.example.test", "https://shop.example.test/"]
        )
        same = build(callback_url="https://SHOP.example.test:443/cb")
        self.assertEqual(same.home, "https://shop.example.test/")
        build(callback_url="http://127.0.0.2:4000/cb", login_url="http://127.0.0.2:4000/login")
        local = {"callback_url": "http://[::1]:4000/cb", "login_url": "http://[::1]:4000/login"}
        build(**local, secrets=["short"], home_url="http://[::1]:4000/x")

    def test_is_refused_with_the_name_of_the_setting(self) -> None:
        faults: list[tuple[str, Any]] = [
            *(
                ("issuer", url)
                for url in ("", "id.example.test", "http://id.example.test", "https://id.example.test//")
            ),
            *(
                ("issuer", url)
                for url in ("https://id.example.test?x", "https://a:b@id.example.test", "https://")
            ),
            ("issuer", "https://id.example.test/sso"),
            *(
                ("issuer", url)
                for url in ("https://id.example.test\n", "HTTPS://id.example.test", "https://id:x")
            ),
            ("callback_url", "http://shop.example.test/cb"),
            ("callback_url", "HTTPS://shop.example.test/cb"),
            ("callback_url", "https://shop.example.test/cb#x"),
            ("callback_url", "https://shop.example.test/cb?x&%70ayload=1"),
            ("callback_url", "https://shop.example.test/cb?state"),
            ("login_url", "/login"),
            ("login_url", "https://www.shop.example.test/login"),
            ("login_url", "http://localhost/login"),
            ("home_url", "javascript:alert(1)"),
            ("home_url", "https://www.shop.example.test/"),
            ("client", ""),
            ("client", "Shop"),
            ("client", "shop\n"),
            ("secrets", []),
            ("secrets", [SECRET, SECRET + "2", SECRET + "3"]),
            ("secrets", SECRET),
            ("secrets", [SECRET + "\n"]),
            ("secrets", [""]),
            ("secrets", ["s" * 31]),
            ("secrets", [SECRET, SECRET]),
            ("secrets", [f"{SECRET},{SECRET}2"]),
            ("ttl_seconds", 0),
            ("ttl_seconds", 86_400),
            ("nonces", object()),
        ]
        for name, value in faults:
            with self.subTest(name=name, value=value), self.assertRaisesRegex(
                ConfigurationError, rf"\A{name} [^;]*\Z"
            ):
                build(**{name: value})

    def test_is_refused_where_a_variable_of_the_environment_is_missing(self) -> None:
        for name in ("issuer", "client", "secrets", "callback_url", "login_url", "ttl_seconds"):
            for value in (None, b"x", 1.5):
                with self.subTest(name=name), self.assertRaisesRegex(
                    ConfigurationError, rf"\A{name} [^;]*\Z"
                ):
                    build(**{name: value})
        with self.assertRaisesRegex(ConfigurationError, "secrets must be a list"):
            build(secrets=[SECRET, None])

    def test_takes_a_short_secret_only_where_the_callback_is_plain_http(self) -> None:
        for issuer in ("https://id.example.test", "http://localhost:3000"):
            with self.assertRaisesRegex(ConfigurationError, r"\Asecrets [^;]*\Z"):
                build(issuer=issuer, secrets=["short"])
        local = {"callback_url": "https://localhost/cb", "login_url": "https://localhost/login"}
        with self.assertRaisesRegex(ConfigurationError, r"\Asecrets [^;]*\Z"):
            build(**local, secrets=["short"])
        plain = {"callback_url": "http://localhost/cb", "login_url": "http://localhost/login"}
        for addresses in (dict[str, str](), plain):
            with self.assertRaisesRegex(ConfigurationError, r"\Asecrets must not be empty\Z"):
                build(**addresses, secrets=[""])

    def test_takes_no_text_for_a_list_of_secrets(self) -> None:
        with self.assertRaisesRegex(ConfigurationError, "secrets must be a list"):
            build(issuer="http://localhost:3000", secrets="ab")

    def test_is_refused_with_all_faults_and_no_secret(self) -> None:
        with self.assertRaises(ConfigurationError) as raised:
            build(issuer="x", client="X", secrets=["hush-hush "], nonces=None)
        for name in ("issuer", "client", "secrets", "nonces"):
            self.assertIn(name, str(raised.exception))
        self.assertNotIn("hush", str(raised.exception))
        self.assertNotIn(SECRET, repr(build()))


URLS: list[dict[str, Any]] = json.loads(
    (Path(__file__).resolve().parents[2] / "identity-urls.json").read_text("utf-8")
)
SITE = "https://shop.example.test"


class IdentityUrl(unittest.TestCase):
    def test_says_service_client_and_secrets_or_is_refused_without_its_values(self) -> None:
        self.assertGreater(len(URLS), 20)
        for case in URLS:
            with self.subTest(case["why"]):
                try:
                    config = Config.from_url(case["url"], f"{SITE}/", nonces=MemoryStore())
                except ConfigurationError as error:
                    self.assertNotIn("issuer", case)
                    self.assertRegex(str(error), r"\Aidentity_url must be like [^;]*\Z")
                    self.assertNotIn("kanarienvogel", "".join(traceback.format_exception(error)))
                    self.assertIsNone(error.__context__)
                    continue
                said = [config.issuer, config.client, config.secrets]
                self.assertEqual(said, [case.get("issuer"), case["client"], case["secrets"]])
                self.assertEqual(
                    [config.callback_url, config.login_url], [f"{SITE}/sso/callback", f"{SITE}/login"]
                )

    def test_may_have_other_paths(self) -> None:
        config = Config.from_url(URLS[0]["url"], SITE, nonces=MemoryStore(), callback_url=f"{SITE}/cb")
        self.assertEqual([config.callback_url, config.login_url], [f"{SITE}/cb", f"{SITE}/login"])

    def test_is_refused_where_a_variable_of_the_environment_is_missing(self) -> None:
        for url, site, name in ((None, SITE, "identity_url"), (URLS[0]["url"], "", "callback_url")):
            with self.assertRaisesRegex(ConfigurationError, f"^{name} must be"):
                Config.from_url(url, site, nonces=MemoryStore())

    def test_is_in_no_error_no_log_and_no_answer(self) -> None:
        url = URLS[0]["url"].replace("id.example.test", "127.0.0.1:1").replace("https", "http")
        for issuer in (url, ""):
            with self.assertRaises(ConfigurationError) as raised:
                build(issuer=issuer) if issuer else Config.from_url(url, "x", nonces=None)
            self.assertNotIn("kanarienvogel", "".join(traceback.format_exception(raised.exception)))
        config = Config.from_url(url, SITE, nonces=MemoryStore(), end_session=mock.Mock())
        with self.assertLogs("identity_client", logging.INFO) as logs:
            seen: list[object] = [
                config,
                start_login(config, Request("GET", "", {"host": "elsewhere.example"})),
                handle_callback(config, Request("GET", "payload=x&signature=y"), start_session=mock.Mock()),
                receive_nudge(config, Request("POST"), mock.Mock()),
            ]
        with self.assertRaises(EventsError) as failed:
            pull_events(config, positions=MemoryStore(), start_over=mock.Mock())
        seen += [logs.output, *traceback.format_exception(failed.exception)]
        self.assertEqual(len(logs.output), 3)
        self.assertNotRegex(repr(seen), "kanarienvogel|shop:")


if __name__ == "__main__":
    unittest.main()
