"""Tests the fake service, which is for tests of clients, against the vectors and this kit."""

import json
import typing
import unittest
from urllib.parse import parse_qs, urlsplit

from identity_client import Code, Config, MemoryStore, fake_identity, receive_nudge
from identity_client.fake_identity import hand_off, refusal, webhook

from .browser import RefusalTestCase, call, start
from .support import VECTORS, Site
from .test_vectors import open_client

#: Codes of refusals that no single hand-off can cause.
NOT_ALONE = {
    "nonce_replayed",
    "session_ended",
    "person_refused",
    "method_not_allowed",
    "logout_token_wrong",
    "store_unavailable",
    "nudge_malformed",
    "nudge_signature_wrong",
    "nudge_too_old",
}


class FakeIdentity(RefusalTestCase):
    def test_seals_the_worked_example_byte_for_byte_with_both_secrets_of_a_rotation(self) -> None:
        said = json.loads(VECTORS["json"])
        secrets = [VECTORS["secret"], VECTORS["signature_next_secret"]]
        config = open_client({"now": said["iat"], "secrets": secrets}, MemoryStore())
        launch = f"https://id.example.test/sso/launch/{said['client']}"
        made = hand_off(config, launch, **{**said, "sid": None, "auth_time": None, "amr": None})
        query = {name: values[0] for name, values in parse_qs(urlsplit(made).query).items()}
        self.assertEqual(query, {name: VECTORS[name] for name in ("payload", "signature", "signature_next")})

    def test_signs_a_nudge_as_the_service_does(self) -> None:
        nudges = VECTORS["nudges"]
        rotation = [VECTORS["signature_next_secret"], *nudges["secrets"]]
        for secrets, case in zip((nudges["secrets"], rotation), nudges["cases"], strict=False):
            config = open_client({"now": nudges["now"], "secrets": secrets}, MemoryStore())
            made = webhook(config, 17)
            self.assertEqual([made.headers, made.body.decode()], [case["headers"], case["body"]])

    def test_answers_a_login_and_each_other_answer_is_refused_with_its_code(self) -> None:
        site = Site()
        state, cookie = start(site, prompt="login")
        launch = f"https://id.example.test/sso/launch/shop?state={state}&return_to=%2Forders"
        codes = [code for code in typing.get_args(Code) if code not in NOT_ALONE]
        self.assertEqual(len(codes), 19)
        for code in codes:
            with self.subTest(code):
                address = refusal(site.config, code, launch)
                self.assertEqual(call(site, urlsplit(address).query, cookie).header("Identity-Refusal"), code)
        made = hand_off(site.config, launch, profile={"role": "admin"})
        answer = call(site, urlsplit(made).query, cookie)
        self.assertEqual([answer.status, answer.header("Location")], [303, f"{site.site}/orders"])
        self.assertEqual(site.started[0].profile.role, "admin")
        self.assertEqual(receive_nudge(site.config, webhook(site.config), lambda: None).status, 204)

    def test_says_what_it_cannot_make(self) -> None:
        config: Config = Site().config
        with self.assertRaisesRegex(ValueError, "^no hand-off alone is refused with nonce_replayed$"):
            fake_identity.refusal(config, "nonce_replayed", "https://id.example.test/sso/launch/shop")
        with self.assertRaisesRegex(ValueError, "^not a launch of this client: "):
            hand_off(config, "https://id.example.test/sso/launch/other?state=x")


if __name__ == "__main__":
    unittest.main()
