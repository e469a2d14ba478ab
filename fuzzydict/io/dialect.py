"""How a file of CSV or TSV is written: its delimiter and its encoding, given or guessed.

A guess is never quiet: a UserWarning names what was guessed, and how to name another.
"""

from __future__ import annotations

import codecs
import csv
import re
import warnings
from io import StringIO
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from fuzzydict.errors import FileFormatError, OptionError, printable, quoted
from fuzzydict.io.records import encoded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: Delimiters by their names; any other character stands for itself.
NAMED = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}
_CANDIDATES = (",", ";", "\t", "|")
_MARKS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_WESTERN = "windows-1252"
_NOT_WESTERN = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f\x81\x8d\x8f\x90\x9d]")
_UTF8_LETTER = re.compile(rb"[\xc3-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}")
_BEGINNING = 2**16  # bytes by which a delimiter is guessed
_ROWS = 100
_BLOCK = 2**20


class Dialect(NamedTuple):
    """The delimiter and the encoding of a file of CSV."""

    delimiter: str
    encoding: str = "utf-8"

    def encoded(self, text: str, name: object) -> bytes:
        """Return text in this encoding.

        Raises:
            FileFormatError: the encoding, which is no Unicode, lacks a character of it.
        """
        if self.encoding == "utf-8":
            return encoded(text)
        try:
            return encoded(text).decode().encode(self.encoding)
        except UnicodeEncodeError as error:
            raise FileFormatError(
                f"{name}: {quoted(text[error.start])} cannot be written in {self.encoding}, its "
                f"encoding; save it as UTF-8 before"
            ) from error


def as_delimiter(text: str) -> str:
    r"""Return the delimiter that a text names, or is.

    >>> as_delimiter("semicolon"), as_delimiter("|"), as_delimiter(r"\t")
    (';', '|', '\t')

    Raises:
        OptionError: it is none.
    """
    sign = NAMED.get(text.lower(), "\t" if text == r"\t" else text)
    if len(sign) != 1 or sign in '"\r\n\0' or sign.isalnum():
        raise OptionError(
            f"delimiter: expected one character, or {', '.join(NAMED)}, got {quoted(text)}"
        )
    return sign


def as_encoding(name: str) -> str:
    """Return the name of an encoding that Python knows.

    Raises:
        OptionError: it knows none of this name, or it is one that escapes signs, whose rows and
            cells are not those of the file.
    """
    expected = f"encoding: expected one such as utf-8, {_WESTERN} or utf-16, got {quoted(name)}"
    try:
        found = codecs.lookup(name).name
        "".encode(name)  # some codecs are none of texts
        escapes = _escapes(found)
    except (LookupError, ValueError) as error:
        raise OptionError(expected) from error
    if escapes:
        raise OptionError(f"{expected}, which escapes signs")
    return "utf-8" if found == "utf-8-sig" else found


def _escapes(encoding: str) -> bool:
    """Tell whether the ends of lines and cells, or backslashes, are more than signs in it."""
    encode = codecs.getincrementalencoder(encoding)().encode
    parts = [encode(sign) for sign in ("a", ",", "\n")]
    is_same = b"".join(parts).decode(encoding) == "a,\n" and len(parts[1]) == len(parts[2])
    return not is_same or rb"\u0041".decode(encoding, "replace") == "A"


def opened(
    file: BinaryIO,
    name: object,
    usual: str,
    delimiter: str | None = None,
    encoding: str | None = None,
    *,
    side: str | None = "",
) -> tuple[BinaryIO, Dialect]:
    """Return a file of CSV as a stream of UTF-8, and how it is written.

    Args:
        file: the file, at its beginning.
        name: of the file in messages.
        usual: the delimiter that its ending says.
        delimiter: the delimiter, as `as_delimiter` takes it; by default it is guessed.
        encoding: the encoding; by default it is guessed.
        side: what the options begin with that name others, "left-" for ``--left-delimiter``; None
            if there are no options.

    Raises:
        OptionError: the delimiter or the encoding is none.
    """
    sign = None if delimiter is None else as_delimiter(delimiter)
    known = None if encoding is None else as_encoding(encoding)
    beginning, is_all = _beginning(file)
    found = known or _guessed_encoding(file, beginning)
    if found in ("utf-16", "utf-32"):
        big = beginning.startswith((codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE))
        found += "-be" if big else "-le"
    guesses: dict[str, str] = {}
    if sign is None:
        text = codecs.getincrementaldecoder(found)("replace").decode(beginning, is_all)
        sign, also = _guessed_delimiter(text, is_all, usual)
        if sign != usual or also:
            guesses["delimiter"] = repr(sign) + (f" (or {also!r}?)" if also else "")
    if known is None and found != "utf-8":
        guesses["encoding"] = found
    if guesses:
        other = "others" if len(guesses) > 1 else "another"
        message = f"{name}: read with {' and '.join(guesses.values())}"
        if side is not None:
            message += f"; name {other} by {' and '.join(f'--{side}{name}' for name in guesses)}"
        warnings.warn(printable(message), stacklevel=5)
    if file.seekable() and found == "utf-8":
        return file, Dialect(sign, found)
    begun = b"" if file.seekable() else beginning
    return cast("BinaryIO", _AsUtf8(begun, file, name, found)), Dialect(sign, found)


class _AsUtf8:
    """A stream of UTF-8 that is read from one of another encoding, whose beginning was read."""

    def __init__(self, beginning: bytes, file: BinaryIO, name: object, encoding: str) -> None:
        self._beginning, self._name, self._encoding = beginning, name, encoding
        self._read = getattr(file, "read1", file.read)  # `read` would wait for a whole block
        self._decode = codecs.getincrementaldecoder(encoding)().decode
        self._line = 1

    def read(self, size: int) -> bytes:
        """Return some of what comes next; nothing at the end."""
        while True:
            data, self._beginning = self._beginning or self._read(size), b""
            if self._encoding == "utf-8":
                return cast("bytes", data)
            try:
                text = self._decode(data, final=not data)
            except UnicodeDecodeError as error:
                before = error.object[: error.start].decode(self._encoding, "ignore")
                raise FileFormatError(
                    f"{self._name}: line {self._line + before.count(chr(10))} is not "
                    f"{self._encoding.upper()}; name the encoding that it has"
                ) from error
            self._line += text.count("\n")
            if text or not data:
                return encoded(text)


def _beginning(file: BinaryIO) -> tuple[bytes, bool]:
    """Return the first bytes of a file, and whether these are all.

    Of a stream, no more is read than its first line, for what comes next may take long.
    """
    if file.seekable():
        place = file.tell()
        beginning = file.read(_BEGINNING)
        file.seek(place)
        return beginning, len(beginning) < _BEGINNING
    read, beginning = getattr(file, "read1", file.read), b""
    while data := read(_BEGINNING):
        beginning += data
        if b"\n" in data or len(beginning) >= _BEGINNING:
            break
    return beginning, not data


# ---- guesses ------------------------------------------------------------------------------


def _guessed_encoding(file: BinaryIO, beginning: bytes) -> str:
    """Return "utf-16-le" or "-be" if a mark says so, windows-1252 if it can be, or "utf-8"."""
    for mark, encoding in _MARKS.items():
        if beginning.startswith(mark):
            return encoding
    decode = codecs.getincrementaldecoder("utf-8")().decode
    try:
        for data in _blocks(file, beginning):
            decode(data)
    except UnicodeDecodeError:
        if not any(map(_is_not_western, _blocks(file, beginning))):
            return _WESTERN
    return "utf-8"


def _is_not_western(data: bytes) -> bool:
    """Tell whether bytes are no text of windows-1252, or are one of UTF-8 that is damaged."""
    return bool(_NOT_WESTERN.search(data) or _UTF8_LETTER.search(data))


def _blocks(file: BinaryIO, beginning: bytes) -> Iterator[bytes]:
    """Yield all of a file, or the beginning of a stream."""
    if not file.seekable():
        yield beginning
        return
    place = file.tell()
    try:
        while data := file.read(_BLOCK):
            yield data
    finally:
        file.seek(place)


def _guessed_delimiter(text: str, is_all: bool, usual: str) -> tuple[str, str]:
    """Return the delimiter that cuts the first rows into the same number of cells, two or more.

    The usual one goes first, then the one that makes the most cells.

    Returns:
        It; and another one that does so, or "".
    """
    lines = StringIO(text.removeprefix("\ufeff"), newline="\n").readlines()
    if not is_all and len(lines) > 1:
        del lines[-1]  # it may be cut
    cells = {sign: _width(lines, sign) for sign in dict.fromkeys((usual, *_CANDIDATES))}
    possible = [sign for sign in sorted(cells, key=cells.__getitem__)[::-1] if cells[sign] > 1]
    best = usual if usual in possible or not possible else possible[0]
    return best, next((sign for sign in possible if sign != best), "")


def _width(lines: Iterable[str], delimiter: str) -> int:
    """Return how many cells each of the first rows has; 0 if not all have as many."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        widths = {len(row) for row in islice(reader, _ROWS) if row}
    except csv.Error:
        return 0
    return widths.pop() if len(widths) == 1 else 0
