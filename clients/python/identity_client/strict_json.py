"""Accepts only JSON that every parser reads in the same way: UTF-8, no name twice in an object, at most 16 levels, no half of
a surrogate pair.
"""

import json
import re
from typing import NoReturn

Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None

_MAX_DEPTH = 16
_TOKEN = re.compile(r'\\.|["{}\[\]]', re.DOTALL)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def parse_strict_json(data: bytes) -> Json:
    """Raises a ValueError that says what is wrong."""
    text = data.decode("utf-8")
    # The depth is checked first, because Python's parser calls itself for each level.
    _require_shallow(text)
    value: Json = json.loads(
        text, object_pairs_hook=_build_object, parse_constant=_refuse_constant, parse_int=_parse_int
    )
    if _SURROGATE.search(text):
        # Raises if the text has half of a surrogate pair. An escape in JSON can stand for such a half, but no database or page
        # accepts it.
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    return value


def _require_shallow(text: str) -> None:
    # Matches one token at a time. A pattern for the whole of a long text would take many times the memory of the text.
    depth, is_in_text = 0, False
    for found in _TOKEN.finditer(text):
        token = found[0]
        if token == '"':
            is_in_text = not is_in_text
        elif is_in_text:
            continue
        elif token in ("{", "["):
            depth += 1
            if depth > _MAX_DEPTH:
                raise ValueError(f"more than {_MAX_DEPTH} levels deep")
        elif token in ("}", "]"):
            depth -= 1


def _build_object(members: list[tuple[str, Json]]) -> dict[str, Json]:
    value = dict(members)
    if len(value) != len(members):
        raise ValueError("duplicate name in an object")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _parse_int(digits: str) -> int | float:
    # Python refuses to make an integer of thousands of digits. All numbers that we use have fewer than 20 digits.
    return int(digits) if len(digits) < 20 else float(digits)
