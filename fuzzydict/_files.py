"""One file of named arrays and JSON: versioned, checked, memory-mapped, no classes known.

Layout, all numbers little-endian:

    8 bytes     the magic "fuzzydct"
    4 bytes     format version
    4 bytes     CRC-32 of the header
    8 bytes     length of the header
    header      JSON: {"kind", "meta", "arrays": {name: {dtype, shape, crc32}}}
    arrays      raw, in the header's order, each starting at a multiple of 64 bytes
"""

from __future__ import annotations

import json
import math
import os
import struct
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np

from fuzzydict.errors import ArgumentTypeError, FileFormatError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = [
    "DTYPES",
    "MAGIC",
    "Stored",
    "Unchecked",
    "decoded",
    "read",
    "refusing",
    "replacing",
    "write",
]


def decoded(data: bytes, place: object, encoding: str = "utf-8") -> str:
    """Return the text that bytes encode; errors begin with ``place``.

    Raises:
        FileFormatError: the bytes are not of the encoding.
    """
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise FileFormatError(
            f"{place}: byte {error.start} is not {encoding.upper()}; save the file as UTF-8"
        ) from error


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a new file beside ``path``, which takes its place once the block ends without error.

    It is renamed when it is on the disk: whatever happens, ``path`` holds the old file or the new
    one, whole. So the old one may be read meanwhile. Who may read a new file the umask says; a
    file that is replaced keeps its permissions, and a link its place.

    What is there and is no regular file, such as a pipe or a device, keeps its place, too: it is
    written into as the block goes on, and need not be able to seek.

    Raises:
        OSError: the file cannot be written, or is a folder; the error names ``path``.
    """
    import shutil
    from pathlib import Path

    given = Path(path)
    if given.exists() and not given.is_file():
        with _errors_naming(given, given), given.open("wb") as file:
            yield file
        return
    target = given.resolve()
    beside = target.parent / f".{target.name}.{os.urandom(8).hex()}"
    with _errors_naming(target, beside):
        opened = beside.open("xb")
        try:
            with opened as file:
                if target.is_file():  # before there is anything to read in it
                    shutil.copymode(target, beside)
                yield file
                file.flush()
                os.fsync(file.fileno())
            beside.replace(target)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
        _sync_folder(target.parent)


@contextmanager
def _errors_naming(target: Path, beside: Path) -> Iterator[None]:
    """Let errors name the file that was to be written, not the one beside it."""
    try:
        yield
    except OSError as error:
        if error.filename not in (None, str(beside)):
            raise  # of another file, which the block reads
        raise OSError(error.errno, error.strerror, str(target)) from error


def _sync_folder(folder: Path) -> None:
    """Make the renaming durable, where the system lets a folder be synchronised."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


VERSION = 1
#: How every file begins.
MAGIC = b"fuzzydct"
_PREFIX = struct.Struct("<8sIIQ")
_ALIGNMENT = 64
DTYPES = ("|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8")

_UNREADABLE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)


class Unchecked(NamedTuple):
    """An array of a file, mapped and read-only; whether its bytes are right is not known yet."""

    array: NDArray[Any]
    crc32: int
    name: str  # of the array and its file, for people

    def checked(self) -> NDArray[Any]:
        """Return the array, once all its bytes were read.

        Raises:
            FileFormatError: they are not those that were written.
        """
        if zlib.crc32(self.array.data if self.array.size else b"") != self.crc32:
            raise _damaged(self.name, "it does not match its checksum")
        return self.array


class Stored(NamedTuple):
    """What a file holds: ``meta`` as JSON gives it; arrays by name, mapped and read-only."""

    meta: dict[str, Any]
    arrays: dict[str, NDArray[Any]]
    unchecked: dict[str, Unchecked]  # those that were to be checked later


def write(
    path: str | os.PathLike[str],
    kind: str,
    meta: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
) -> None:
    """Write ``arrays`` and ``meta`` (JSON types) to ``path`` as a file of this ``kind``.

    Whatever happens, ``path`` holds the old file or the new one, whole; unless it is a pipe or a
    device, which is written into.

    Raises:
        OSError: the file cannot be written.
        ArgumentTypeError: an array is of a dtype that cannot be stored.
    """
    raw = {name: _little_endian(name, array) for name, array in arrays.items()}
    header = _header(kind, meta, raw)
    with replacing(path) as file:
        file.write(_PREFIX.pack(MAGIC, VERSION, zlib.crc32(header), len(header)))
        file.write(header)
        end = _PREFIX.size + len(header)  # counted, for a pipe cannot tell
        for array in raw.values():
            gap = -end % _ALIGNMENT
            file.write(b"\0" * gap)
            file.write(array.data if array.size else b"")
            end += gap + array.nbytes


def read(path: str | os.PathLike[str], kind: str, later: Collection[str] = ()) -> Stored:
    """Open a file of this ``kind`` that `write` made; its arrays are mapped, not copied.

    Those whose names are in ``later`` are not read: who needs them checks them first.

    Raises:
        FileNotFoundError: there is no such file.
        FileFormatError: the file is damaged, of another kind, or of another version.
    """
    try:
        data = np.asarray(np.memmap(path, np.uint8, "r"))
    except ValueError:  # there is nothing to map
        data = np.zeros(0, np.uint8)
    header, end = _checked_header(data, path)
    try:
        if header["kind"] != kind:
            raise FileFormatError(f"{path} holds {header['kind']}, where {kind} was expected")
        mapped = {}
        for name, entry in header["arrays"].items():
            mapped[name], end = _mapped(data, entry, end, f"array {name!r} of {path}")
        meta = header["meta"]
        if not isinstance(meta, dict):
            raise TypeError(f"meta is {meta!r}")
    except (AttributeError, KeyError, TypeError) as error:
        raise _damaged(path, f"its header is not of this format ({error!r})") from error
    if end != len(data):
        raise _damaged(path, f"it has {len(data)} bytes where {end} were written")
    arrays = {name: one.checked() for name, one in mapped.items() if name not in later}
    return Stored(meta, arrays, {name: mapped[name] for name in mapped if name in later})


@contextmanager
def refusing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let whatever fails on the content of a file say that the file is not as it should be.

    Raises:
        FileFormatError: something failed.
    """
    try:
        yield
    except FileFormatError as error:
        if str(path) in str(error):
            raise
        raise _foreign(path, error) from error
    except _UNREADABLE as error:
        raise _foreign(path, error) from error


def _foreign(path: object, error: Exception) -> FileFormatError:
    return FileFormatError(
        f"{path} is damaged, or was not written by fuzzydict: {error}; restore it from a copy"
    )


def _header(kind: str, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    entries = {
        name: {
            "dtype": array.dtype.str,
            "shape": list(array.shape),
            "crc32": zlib.crc32(array.data) if array.size else 0,
        }
        for name, array in arrays.items()
    }
    content = {"kind": kind, "meta": dict(meta), "arrays": entries}
    return json.dumps(content, ensure_ascii=True, allow_nan=True).encode("ascii")


def _checked_header(data: NDArray[np.uint8], path: object) -> tuple[dict[str, Any], int]:
    """Return the header and the byte where it ends."""
    if len(data) < _PREFIX.size or data[: len(MAGIC)].tobytes() != MAGIC:
        raise FileFormatError(
            f"{path} is not a fuzzydict file (or its beginning is damaged); "
            f"expected a file that fuzzydict has written"
        )
    _, version, checksum, length = _PREFIX.unpack(data[: _PREFIX.size].tobytes())
    if version != VERSION:
        raise FileFormatError(
            f"{path} has format version {version}, and this release of fuzzydict reads version "
            f"{VERSION}: make the file again, or install the release that wrote it"
        )
    end = _PREFIX.size + length
    text = data[_PREFIX.size : min(end, len(data))].tobytes()
    if len(text) != length or zlib.crc32(text) != checksum:
        raise _damaged(path, "its header does not match its checksum")
    try:
        return json.loads(text), end
    except (ValueError, RecursionError) as error:
        raise _damaged(path, "its header is not JSON") from error


def _mapped(
    data: NDArray[np.uint8], entry: Mapping[str, Any], end: int, name: str
) -> tuple[Unchecked, int]:
    """Map one array, which starts at the next aligned byte from ``end``; return its own end."""
    if entry["dtype"] not in DTYPES:
        raise _damaged(name, f"dtype {entry['dtype']} is not one of {', '.join(DTYPES)}")
    dtype, shape = np.dtype(entry["dtype"]), tuple(entry["shape"])
    if len(shape) > 32 or not all(type(side) is int and 0 <= side < 2**48 for side in shape):
        raise _damaged(name, f"{shape} is not a shape")
    start = end + (-end % _ALIGNMENT)
    stop = start + math.prod(shape) * dtype.itemsize
    if stop > len(data):
        raise _damaged(name, f"shape {shape} does not fit into the {len(data)} bytes of the file")
    if data[end:start].any():
        raise _damaged(name, "there are bytes before it that nobody wrote")
    try:
        array = data[start:stop].view(dtype).reshape(shape)
    except (OverflowError, ValueError) as error:  # empty, with too many or too long sides
        raise _damaged(name, f"{shape} is not a shape") from error
    return Unchecked(array, entry["crc32"], name), stop


def _damaged(what: object, why: str) -> FileFormatError:
    return FileFormatError(f"{what} is damaged: {why}; restore it from a copy, or make it again")


def _little_endian(name: str, array: NDArray[Any]) -> NDArray[Any]:
    array = np.asarray(array, order="C")
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    if array.dtype.str not in DTYPES:
        raise ArgumentTypeError(
            f"array {name!r}: dtype {array.dtype} cannot be stored; "
            f"expected one of {', '.join(DTYPES)}"
        )
    return array
