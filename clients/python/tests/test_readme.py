"""Runs the samples of the README that need no framework. test/clients/python-frameworks.test.ts runs the others."""

import logging
import os
import re
import sys
import tempfile
import types
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from .service import Service
from .support import SECRET

README = Path(__file__).resolve().parents[1] / "README.md"
TEXT = README.read_text("utf-8")


def sample(heading: str) -> str:
    """The Python code below the given heading of the README."""
    found = re.search(rf"^##+ {heading}\n.*?```python\n(.*?)```", TEXT, re.DOTALL | re.MULTILINE)
    assert found, heading
    return found[1]


class Samples(unittest.TestCase):
    def setUp(self) -> None:
        logging.disable()
        self.addCleanup(logging.disable, logging.NOTSET)
        self.service = Service()
        self.addCleanup(self.service.close)
        url = self.service.url.replace("//", f"//shop:{SECRET},{SECRET}-next@")
        self.enterContext(mock.patch.dict(os.environ, {"IDENTITY_URL": url}))
        self.enterContext(mock.patch.dict(sys.modules))
        folder = self.enterContext(tempfile.TemporaryDirectory())
        code = sample("Put it into your site")
        self.shop: Any = types.ModuleType("shop_login")
        sys.modules["shop_login"] = self.shop
        exec(code.replace('"/var/lib/shop/identity.db"', repr(os.path.join(folder, "db"))), vars(self.shop))

    def test_pull_from_a_timer(self) -> None:
        self.assertEqual(list(self.shop.config.secrets), [SECRET, f"{SECRET}-next"])
        self.service.append("erased")
        exec(sample("Hear of changes"), {})
        self.assertEqual(self.service.asked, [0, 1])

    def test_test_without_a_service_in_ten_lines(self) -> None:
        code = sample("Test without a service")
        self.assertLessEqual(len(code.splitlines()), 10)
        exec(code, {})
        self.assertEqual([self.list_sessions(), self.service.asked], [1, []])

    def test_keep_pages_of_a_person_in_no_cache(self) -> None:
        example = README.parent / "example.py"
        codes = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL) + [example.read_text("utf-8")]
        pages = [code for code in codes if "person.name" in code]
        self.assertEqual(len(pages), 5)
        for code in pages:
            self.assertRegex(code, r'"Cache-Control"(: |, )"no-store"')

    def list_sessions(self) -> int:
        with self.shop.store._connect() as connection:
            return int(connection.execute("select count(*) from identity_sessions").fetchone()[0])


if __name__ == "__main__":
    unittest.main()
