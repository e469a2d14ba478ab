"""Reading and writing files: named arrays in one file, atomic replacement, decoding.

A file of arrays is versioned, checked and memory-mapped. Its layout, all numbers little-endian:

    8 bytes     the magic "fuzzydct"
    4 bytes     format version
    4 bytes     CRC-32 of the header
    8 bytes     length of the header
    header      JSON: {"kind", "meta", "arrays": {name: {dtype, shape, crc32, sum64}}}
    arrays      raw, in the header's order, each starting at a multiple of 64 bytes

A checksum tells of damage, not of harm: anybody can compute one. What a file says is trusted only
once `json_of` and `array_of` took it, in time and memory that its size bounds.

Arrays of over 64 MB have ``sum64``, too, which is checked in a third of the time of the CRC-32: the
sum of their bytes as numbers of 64 bits, each block of 4096 bytes times an odd number of its own.
It does not see numbers that changed places within a block. Their CRC-32 is for older releases.
"""

from __future__ import annotations

import errno
import io
import json
import math
import os
import re
import stat
import struct
import zlib
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeAlias, cast

import numpy as np

from fuzzydict._arrays import slices
from fuzzydict.errors import ArgumentTypeError, FileFormatError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray


#: How every file of arrays begins.
MAGIC = b"fuzzydct"
#: The dtypes that a file can hold.
DTYPES = ("|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8")
_VERSION = 1
_PREFIX = struct.Struct("<8sIIQ")
_ALIGNMENT = 64
_LARGE = 1 << 26  # bytes of an array that is checked by its sum
_BLOCK = 4096  # bytes of a block of it
_THREADS = 4  # that sum it
_SPAN = 1 << 14  # blocks that a thread sums
_AT_ONCE = 1 << 8  # blocks summed at a time, which stay in the processor's cache
_DEEPEST = 400  # containers of JSON in each other: fewer than Python's stack takes
_NO_BRACKETS = re.compile(rb'"[^"]*+"?|[^"\[\]{}]++')  # strings, and what is between brackets
_EMPTY = 1 << 20  # rows that the arrays without numbers may have in all, beside one a byte


#: Is called while a piece of an array is in the processor's cache, with where it begins and ends.
Look: TypeAlias = "Callable[[int, int], None]"


class Unchecked(NamedTuple):
    """A mapped, read-only array of a file, whose checksum has not been compared yet."""

    array: NDArray[Any]
    crc32: int
    sum64: int | None  # None if only the CRC-32 was written
    name: str  # of the array and its file, for messages

    def checked(self, look: Look | None = None) -> NDArray[Any]:
        """Read all bytes of the array, and return it.

        Args:
            look: is called with the places of all numbers, from one to another, piece by piece, in
                any order and by several threads, and may raise.

        Raises:
            FileFormatError: the bytes do not match the checksum.
        """
        if self.sum64 is None:
            is_whole = zlib.crc32(self.array.data if self.array.size else b"") == self.crc32
            if is_whole and look is not None:
                look(0, self.array.size)
        else:
            is_whole = _sum64(self.array, look) == self.sum64
        if not is_whole:
            raise _damaged(self.name, "it does not match its checksum")
        if self.array.dtype == np.bool_ and self.array.view(np.uint8).max(initial=0) > 1:
            raise _damaged(self.name, "it has bytes that are neither true nor false")
        return self.array


class Stored(NamedTuple):
    """The content of a file of arrays. The arrays are mapped and read-only."""

    meta: dict[str, Any]
    arrays: dict[str, NDArray[Any]]
    unchecked: dict[str, Unchecked]  # the arrays named in ``later``


def write_arrays(
    path: str | os.PathLike[str],
    kind: str,
    meta: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
) -> None:
    """Write ``arrays`` and ``meta`` (JSON types) to ``path`` as a file of this ``kind``.

    The file is replaced as by `replacing`.

    Raises:
        OSError: the file cannot be written.
        ArgumentTypeError: an array has a dtype that cannot be stored.
    """
    raw = {name: _little_endian(name, array) for name, array in arrays.items()}
    rows = _empty_rows(array.shape for array in raw.values())
    if rows > _EMPTY + sum(array.nbytes for array in raw.values()):
        raise ArgumentTypeError(
            f"arrays without numbers, of {rows} rows in all, cannot be stored; leave them out"
        )
    header = _header(kind, meta, raw)
    with replacing(path) as file:
        file.write(_PREFIX.pack(MAGIC, _VERSION, zlib.crc32(header), len(header)))
        file.write(header)
        end = _PREFIX.size + len(header)  # counted, because a pipe has no position
        for array in raw.values():
            gap = -end % _ALIGNMENT
            file.write(b"\0" * gap)
            file.write(array.data if array.size else b"")
            end += gap + array.nbytes


def _little_endian(name: str, array: NDArray[Any]) -> NDArray[Any]:
    array = np.asarray(array, order="C")
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    if array.dtype.str not in DTYPES:
        raise ArgumentTypeError(
            f"array {name!r}: dtype {array.dtype} cannot be stored; "
            f"expected one of {', '.join(DTYPES)}"
        )
    return array


def _header(kind: str, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    entries = {
        name: {
            "dtype": array.dtype.str,
            "shape": list(array.shape),
            "crc32": zlib.crc32(array.data) if array.size else 0,
            **({"sum64": _sum64(array)} if array.nbytes > _LARGE else {}),
        }
        for name, array in arrays.items()
    }
    return json.dumps({"kind": kind, "meta": dict(meta), "arrays": entries}).encode("ascii")


def read_arrays(path: str | os.PathLike[str], kind: str, later: Collection[str] = ()) -> Stored:
    """Open a file of this ``kind`` that `write_arrays` made; its arrays are mapped, not copied.

    Args:
        path: the file.
        kind: as given to `write_arrays`.
        later: names of arrays that are returned without being read, as `Unchecked`.

    Raises:
        FileNotFoundError: there is no such file.
        FileFormatError: the file is damaged, of another kind, or of another version.
    """
    data = _mapped(path)
    header, end = _read_header(data, path, kind)
    try:
        mapped = {}
        for name, entry in header["arrays"].items():
            mapped[name], end = _map_array(data, entry, end, f"array {name!r} of {path}")
        meta = header["meta"]
        if not isinstance(meta, dict):
            raise TypeError(f"meta is {meta!r}")
    except (AttributeError, KeyError, TypeError) as error:
        raise _damaged(path, f"its header is not of this format ({error!r})") from error
    if end != len(data):
        raise _damaged(path, f"it has {len(data)} bytes where {end} were written")
    if _empty_rows(one.array.shape for one in mapped.values()) > _EMPTY + len(data):
        raise _damaged(path, "it has more rows without numbers than a file of its size may have")
    arrays = {name: one.checked() for name, one in mapped.items() if name not in later}
    return Stored(meta, arrays, {name: mapped[name] for name in mapped if name in later})


def header_digest(path: str | os.PathLike[str], kind: str) -> str:
    """Return what tells a file of this ``kind`` from others, without reading its arrays.

    It is a hash of the header, which has the checksum of each array. Errors as in `read_arrays`.
    """
    from hashlib import blake2b

    data = _mapped(path)
    _, end = _read_header(data, path, kind)
    return blake2b(data[:end].tobytes(), digest_size=16).hexdigest()


def _mapped(path: str | os.PathLike[str]) -> NDArray[np.uint8]:
    try:
        with _errors_naming(path, path):
            return np.asarray(np.memmap(path, np.uint8, "r"))
    except ValueError:  # an empty file cannot be mapped
        return np.zeros(0, np.uint8)


def _read_header(data: NDArray[np.uint8], path: object, kind: str) -> tuple[dict[str, Any], int]:
    """Return the header of a file of this ``kind``, and the position of its end."""
    if len(data) < _PREFIX.size or data[: len(MAGIC)].tobytes() != MAGIC:
        raise FileFormatError(
            f"{path} is not a fuzzydict file (or its beginning is damaged); "
            f"expected a file that fuzzydict has written"
        )
    _, version, checksum, length = _PREFIX.unpack(data[: _PREFIX.size].tobytes())
    if version != _VERSION:
        raise FileFormatError(
            f"{path} has format version {version}, and this release of fuzzydict reads version "
            f"{_VERSION}: make the file again, or install the release that wrote it"
        )
    end = _PREFIX.size + length
    text = data[_PREFIX.size : min(end, len(data))].tobytes()
    if len(text) != length or zlib.crc32(text) != checksum:
        raise _damaged(path, "its header does not match its checksum")
    try:
        header = parsed_json(text)
    except ValueError as error:
        raise _damaged(path, f"its header is not JSON ({error})") from error
    try:
        found = header["kind"]
    except (KeyError, TypeError) as error:
        raise _damaged(path, f"its header is not of this format ({error!r})") from error
    if found != kind:
        raise FileFormatError(f"{path} holds {found}, where {kind} was expected")
    return header, end


def _map_array(
    data: NDArray[np.uint8], entry: Mapping[str, Any], end: int, name: str
) -> tuple[Unchecked, int]:
    """Map the array that starts at the next aligned byte from ``end``; return its own end."""
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
        raise _damaged(name, "the padding before it is not zero")
    try:
        array = data[start:stop].view(dtype).reshape(shape)
    except (OverflowError, ValueError) as error:  # no elements, but too many or too long axes
        raise _damaged(name, f"{shape} is not a shape") from error
    return Unchecked(array, entry["crc32"], entry.get("sum64"), name), stop


def _empty_rows(shapes: Iterable[tuple[int, ...]]) -> int:
    """Return how many lists the arrays without numbers are as lists, whatever their last axis."""
    return sum(math.prod(side or 1 for side in shape) for shape in shapes if 0 in shape)


def _sum64(array: NDArray[Any], look: Look | None = None) -> int:
    """Return a checksum of the bytes of an array, from 0 to 2**64 - 1; ``look`` sees each piece."""
    from concurrent.futures import ThreadPoolExecutor

    data, a_block = array.reshape(-1).view(np.uint8), _BLOCK // array.itemsize
    blocks = data[: len(data) - len(data) % _BLOCK].view("<u8").reshape(-1, _BLOCK // 8)
    rest = data[blocks.nbytes :]
    if look is not None:
        look(blocks.nbytes // array.itemsize, array.size)

    def summed(span: slice) -> int:
        total = 0
        for first in range(span.start, span.stop, _AT_ONCE):
            some = blocks[first : min(first + _AT_ONCE, span.stop)]
            if look is not None:
                look(first * a_block, (first + len(some)) * a_block)
            weights = np.arange(first, first + len(some), dtype=np.uint64) * np.uint64(2)
            sums = some.sum(axis=1, dtype=np.uint64) * (weights + np.uint64(1))
            total += int(sums.sum(dtype=np.uint64))
        return total

    spans = slices(len(blocks), _SPAN)
    if len(spans) == 1:
        total = summed(spans[0])
    else:
        with ThreadPoolExecutor(min(os.cpu_count() or 1, _THREADS)) as threads:
            total = sum(threads.map(summed, spans))
    return (zlib.crc32(rest.tobytes()) + total) % 2**64


# ---- what a file says -------------------------------------------------------------------------


def parsed_json(text: bytes) -> Any:
    """Return JSON in UTF-8, in which lone surrogates pass, as Python values.

    Raises:
        ValueError: it is not JSON, has a name twice in an object, or is nested too deeply.
    """
    if text.count(b"[") + text.count(b"{") > _DEEPEST:
        _require_shallow(text)
    try:
        return json.loads(
            text.decode("utf-8", "surrogatepass"),
            # Each NaN becomes an object of its own, as it was: NaNs may be keys.
            parse_constant=float,
            object_pairs_hook=_object,
        )
    except RecursionError as error:  # the stack was nearly full before
        raise ValueError("its containers are nested too deeply") from error


def _require_shallow(text: bytes) -> None:
    """Raise ValueError if containers are nested so deeply that to read them overflows the stack."""
    unescaped = text.replace(rb"\\", b"").replace(rb"\"", b"")
    brackets = np.frombuffer(_NO_BRACKETS.sub(b"", unescaped), np.uint8)
    steps = np.where(brackets & 2, 1, -1)  # the codes of "[" and "{" have this bit
    if np.cumsum(steps).max(initial=0) > _DEEPEST:
        raise ValueError(f"its containers are nested more than {_DEEPEST} deep")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name comes twice in one object")
    return found


def json_of(array: NDArray[Any]) -> list[Any]:
    """Return the list that an array of a file says as JSON.

    Raises:
        ValueError: it is none.
    """
    if array.dtype != np.uint8 or array.ndim != 1:
        raise ValueError(f"it has an array of {array.dtype} where JSON was expected")
    found = parsed_json(array.tobytes())
    if not isinstance(found, list):
        raise ValueError("it has JSON that is no list")
    return found


def texts_of(array: NDArray[Any]) -> list[str]:
    """Return the texts that an array of a file lists as JSON.

    Raises:
        ValueError: it lists something else.
    """
    found = json_of(array)
    if not set(map(type, found)) <= {str}:
        raise ValueError("it lists texts, and something else among them")
    return found


def array_of(
    arrays: Mapping[str, NDArray[Any]], name: str, dtypes: str, *shape: int | None
) -> NDArray[Any]:
    """Return an array of a file, once it is what it should be.

    Args:
        arrays: by their names.
        name: its name.
        dtypes: the codes that it may have, such as "f4 f8".
        shape: its shape; None stands for any number.

    Raises:
        KeyError: there is none of this name.
        ValueError: it has another dtype or shape, or numbers that are not finite.
    """
    array = arrays[name]
    if array.dtype.str[1:] not in dtypes.split():
        raise ValueError(f"its {name} are of dtype {array.dtype}, not {dtypes}")
    if array.ndim != len(shape) or any(
        wanted not in (None, side) for side, wanted in zip(array.shape, shape, strict=True)
    ):
        wanted = ", ".join("any" if side is None else str(side) for side in shape)
        raise ValueError(f"its {name} are of shape {array.shape}, not ({wanted})")
    require_finite_array(name, array)
    return array


def require_finite_array(name: str, array: NDArray[Any]) -> None:
    """Raise ValueError if an array holds NaN or infinity."""
    if array.dtype.kind != "f" or not array.size:
        return
    with np.errstate(all="ignore"):
        # In one pass, where the sum of squares does not overflow. The extremes are NaN where any
        # number is.
        if array.dtype == np.float32 and np.isfinite(np.vdot(array, array)):
            return
        if not np.isfinite([array.min(), array.max()]).all():
            raise ValueError(f"its {name} are not finite numbers")


def _damaged(what: object, why: str) -> FileFormatError:
    return FileFormatError(f"{what} is damaged: {why}; restore it from a copy, or make it again")


@contextmanager
def as_format_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn errors about the content of a file into errors that name the file.

    Raises:
        FileFormatError: the block failed on the content.
    """
    failures = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
    try:
        yield
    except failures as error:
        if isinstance(error, FileFormatError) and str(path) in str(error):
            raise
        raise FileFormatError(
            f"{path} is damaged, or was not written by fuzzydict: {error}; restore it from a copy"
        ) from error


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces ``path`` when the block ends without an error.

    It is renamed once it is on the disk, so ``path`` always holds the whole old file or the whole
    new one, and the old one can be read meanwhile. If the block fails, the temporary file is
    removed. Until it is renamed, nobody but its owner may open it: then it gets the permissions of
    the file that it replaces, or those that the umask gives a new file. A link stays a link.

    A path that is not a regular file, such as a pipe or a device, is written to directly.

    Raises:
        OSError: the file cannot be written, is a folder, or is a link in a loop of links; the
            error names ``path``.
    """
    from pathlib import Path

    name = os.fsdecode(path)
    if not name:
        raise FileNotFoundError(errno.ENOENT, "the name is empty; name a file", name)
    if os.path.split(name)[1] in ("", os.curdir):  # which a `Path` leaves out
        raise IsADirectoryError(errno.EISDIR, "this names a folder; name a file", name)
    given = Path(path)
    if not _is_regular(given):
        with _errors_naming(given, given), given.open("wb") as file:
            yield file
        return
    target = Path(os.path.realpath(given))
    # A short name, for that of the target may have all the 255 bytes that a name can have.
    beside = target.with_name(f".fuzzydict-{os.urandom(8).hex()}")
    with _errors_naming(target, beside):
        try:  # begins before the file exists, so that an interrupt never leaves it behind
            with _new_file(beside, 0o600) as file:
                yield file
                file.flush()
                if os.name == "posix":
                    os.fchmod(file.fileno(), _permissions(target, beside))
                os.fsync(file.fileno())
            beside.replace(target)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
        _sync_folder(target.parent)


def _is_regular(path: Path) -> bool:
    """Tell whether a path leads to a regular file, or to none yet."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return True


def _new_file(path: Path, permissions: int) -> BinaryIO:
    """Open a file that does not exist yet, with these permissions but for those of the umask."""
    return cast("BinaryIO", open(path, "xb", opener=partial(os.open, mode=permissions)))


def _permissions(target: Path, beside: Path) -> int:
    """Return the permissions of a file, or if there is none, those that a new one gets.

    An empty file shows the latter: to read the umask is to set it, for all threads.
    """
    with suppress(FileNotFoundError):
        return stat.S_IMODE(target.stat().st_mode)
    empty = beside.with_name(f"{beside.name}-empty")
    try:
        with _new_file(empty, 0o666) as file:
            return stat.S_IMODE(os.fstat(file.fileno()).st_mode)
    finally:
        empty.unlink(missing_ok=True)


@contextmanager
def _errors_naming(
    target: str | os.PathLike[str], beside: str | os.PathLike[str]
) -> Iterator[None]:
    """Make errors about a temporary file name the target."""
    try:
        yield
    except OSError as error:
        if error.filename is not None and not str(error.filename).startswith(str(beside)):
            raise  # about another file, which the block reads
        raise OSError(error.errno, error.strerror, str(target)) from error


def _sync_folder(folder: Path) -> None:
    """Make the renaming durable, where a folder can be opened."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except PermissionError:  # on Windows, or where one may write but not list
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class _Reading(io.FileIO):
    """A file whose errors name it, also those of reading."""

    def readinto(self, buffer: Any) -> int | None:
        with self._naming():
            return super().readinto(buffer)

    def readall(self) -> bytes:
        with self._naming():
            return super().readall()

    @contextmanager
    def _naming(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise OSError(error.errno, error.strerror, self.name) from error


def open_to_read(path: str | os.PathLike[str]) -> io.BufferedReader:
    """Open a file or a pipe to read its bytes.

    Raises:
        OSError: it cannot be opened or read; the error names it.
        FileFormatError: it is a device, which may have no end, such as ``/dev/zero``. Terminals
            and the empty device are read.
    """
    file = _Reading(os.fspath(path))
    if _may_be_endless(file):
        file.close()
        raise FileFormatError(f"{path}: is a device; expected a file or a pipe")
    return io.BufferedReader(file)


def _may_be_endless(file: io.FileIO) -> bool:
    """Tell whether an open file is a device, but for terminals and the empty device."""
    from pathlib import Path

    status = os.fstat(file.fileno())
    if not stat.S_ISCHR(status.st_mode) or file.isatty():
        return False
    return not os.path.samestat(status, Path(os.devnull).stat())


def bytes_of(path: str | os.PathLike[str]) -> bytes:
    """Return the bytes of a file or a pipe; errors as in `open_to_read`."""
    with open_to_read(path) as file:
        return file.read()


def decoded(data: bytes, place: object, encoding: str = "utf-8") -> str:
    """Return bytes as text.

    Args:
        data: the bytes.
        place: where they are from; error messages begin with it.
        encoding: of the text.

    Raises:
        FileFormatError: the bytes are not of the encoding.
    """
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise FileFormatError(
            f"{place}: byte {error.start} is not {encoding.upper()}; save the file as UTF-8"
        ) from error
