"""A dict in a file of TOML: the whole file is one table."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any

from fuzzydict.errors import FileFormatError
from fuzzydict.records import decoded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

__all__ = ["read_toml"]

_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
_TWICE = ("Cannot overwrite", "Cannot declare")
_HEAD = re.compile(r"""\s*(?:(\[.*\])|((?:"(?:[^"\\]|\\.)*"|'[^']*'|[^=#"'])+)=)""")
Name = tuple[str, ...]  # a key with those of the tables around it


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
    """Say what is wrong and where: in the parser's words, or where a key stands both times."""
    found = _PLACE.search(message)
    told = message[: found.start()] if found else message
    lines = text.rstrip().split("\n")
    end = int(found[1]) if found and found[1] else len(lines)
    if not told.startswith(_TWICE):
        return f'line {end} is not TOML ({told}); expected lines such as color = "black"'
    *before, (second, name) = _named(lines[:end])
    shown = repr(".".join(name))
    same = [line for line, other in before if other == name]
    parts = [line for line, other in before if other[: len(name)] == name]  # as x.y is of x
    where = f"on lines {(same or parts)[0]} and" if same or parts else "again on line"
    return f"{shown} comes twice, {where} {second}; keep one"


def _named(lines: Sequence[str]) -> list[tuple[int, Name]]:
    """Return which line names what, up to the last; with nothing that another table repeats."""
    named: list[tuple[int, Name]] = []
    table: Name = ()
    for number, statement in _statements(lines):
        head = _HEAD.match(statement)
        if head is None:
            continue
        name = _name_of(head[1] or f"{head[2]} = 0")
        if head[1]:
            table = name
            if head[1].startswith("[["):  # a new table of a list, which has all its keys anew
                named = [(line, n) for line, n in named if n[: len(name)] != name or n == name]
        named.append((number, name if head[1] else table + name))
    return named


def _statements(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Give the headers and items of TOML, with the line where each begins."""
    start, statement = 1, ""
    for number, line in enumerate(lines, 1):
        goes_on = bool(statement) and line.rstrip().endswith(",")
        statement += line + "\n"
        if goes_on:  # a long list, which is not to be read again and again
            continue
        try:
            tomllib.loads(statement)
        except tomllib.TOMLDecodeError:
            continue  # its value goes on
        yield start, statement
        start, statement = number + 1, ""


def _name_of(head: str) -> Name:
    held: Any = tomllib.loads(head)
    name: list[str] = []
    while held:
        ((key, held),) = held.items()
        name.append(key)
        held = held[0] if isinstance(held, list) else held
    return tuple(name)
