"""A dict in a file of TOML: the whole file is one table."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any

from fuzzydict.errors import FileFormatError
from fuzzydict.io.dict_json import text_of
from fuzzydict.io.records import limits

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["read_toml"]

_EXPECTED = 'lines such as color = "black"'
_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
_TWICE = ("Cannot overwrite", "Cannot declare", "Duplicate")


def read_toml(path: Path) -> dict[str, Any]:
    """Return the dict in a file of TOML.

    Raises:
        OSError: the file cannot be read.
        FileFormatError: it is empty, not UTF-8 or not TOML, or has a key twice.
    """
    text = text_of(path, _EXPECTED)
    with limits(str(path)):
        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise FileFormatError(f"{path}: {_problem(text, str(error))}") from error


def _problem(text: str, message: str) -> str:
    """Return tomllib's message, its line first; for a key that comes twice, the line repeats it."""
    found = _PLACE.search(message)
    why = message[: found.start()] if found else message
    line = found[1] if found and found[1] else text.rstrip().count("\n") + 1
    if why.startswith(_TWICE):
        return f"line {line}: a key or table comes twice ({why}); keep one"
    return f"line {line} is not TOML ({why}); expected {_EXPECTED}"
