"""A dict in a file of TOML: the whole file is one table."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any

from fuzzydict.errors import FileFormatError
from fuzzydict.records import decoded

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["read_toml"]

_PLACE = re.compile(r" \(at (line (\d+), column \d+|end of document)\)$")
_TWICE = ("Cannot overwrite", "Cannot declare", "Duplicate inline table key")
_HEAD = re.compile(r"\s*(?:(\[.*\])|([^=]+?)\s*=)")  # the header of a table, or a key


def read_toml(path: Path) -> dict[str, Any]:
    """Return the dict in a file of TOML.

    Raises:
        OSError: the file cannot be read.
        FileFormatError: it is not UTF-8, not TOML, or names a key twice.
    """
    text = decoded(path.read_bytes(), str(path)).removeprefix("\ufeff")
    if not text.strip():
        raise FileFormatError(f'{path}: is empty; expected lines such as color = "black"')
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FileFormatError(f"{path}: {_why(text, str(error))}") from error
    except RecursionError as error:
        raise FileFormatError(f"{path}: its TOML is nested too deeply; flatten it") from error
    except ValueError as error:  # Python's limit to the digits of a whole number
        raise FileFormatError(
            f"{path}: one of its numbers has too many digits; put it in quotes"
        ) from error


def _why(text: str, message: str) -> str:
    """Say what is wrong and where, in the parser's words, and where a repeated key stood first."""
    found = _PLACE.search(message)
    told = message[: found.start()] if found else message
    lines = text.splitlines()
    number = int(found[2]) if found and found[2] else len(lines)
    if not told.startswith(_TWICE):
        return f'line {number} is not TOML ({told}); expected lines such as color = "black"'
    head = _head(lines[number - 1])
    first = _first_line(lines[: number - 1], head)
    where = f"on lines {first} and {number}" if first else f"again on line {number}"
    return f"{head} comes twice, {where}; keep one"


def _head(line: str) -> str:
    found = _HEAD.match(line)
    return (found[1] or found[2]) if found else line.strip()


def _first_line(before: list[str], head: str) -> int | None:
    """Return the number of the line with the same head, of the same table; None if unseen."""
    for number in range(len(before), 0, -1):
        found = _head(before[number - 1])
        if found == head:
            return number
        if found.startswith("[") and not head.startswith("["):
            return None
    return None
