"""Reading and writing files: named arrays in one file, atomic replacement, decoding.

A checksum tells of damage, not of harm: anybody can compute one. What a file says is trusted only
once `json_of` and `array_of` took it, in time and memory that its size bounds.
"""

from __future__ import annotations

import errno
import io
import json
import math
import os
import stat
import struct
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fuzzydict.errors import ArgumentTypeError, FileFormatError

#: How every file of arrays begins.
MAGIC = b"fuzzydct"
#: The dtypes that a file can hold.
DTYPES = ("|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8")
_VERSION = 2
_PREFIX = struct.Struct("<8sIIQ")  # the magic, the version, the header's CRC-32 and its length
# Then the header, JSON {kind, meta, arrays: {name: {dtype, shape, crc32}}}, and the raw arrays in
_ALIGNMENT = 64  # its order, little-endian, each after zeros up to a multiple of so many bytes
_EMPTY = 1 << 20  # rows that the arrays without numbers may have in all, beside one a byte


class Unchecked(NamedTuple):
    """A mapped, read-only array of a file, whose checksum has not been compared yet."""

    array: NDArray[Any]
    crc32: int
    name: str  # of the array and its file, for messages

    def checked(self) -> NDArray[Any]:
        """Read all bytes of the array, and return it; raise FileFormatError if they are wrong."""
        if _crc32(self.array) != self.crc32:
            why = "it does not match its checksum"
        elif self.array.dtype == np.bool_ and self.array.view(np.uint8).max(initial=0) > 1:
            why = "it has bytes that are neither true nor false"
        else:
            return self.array
        raise FileFormatError(
            f"{self.name} is damaged: {why}; restore it from a copy, or make it again"
        )


class Stored(NamedTuple):
    """The content of a file of arrays, which are mapped and read-only."""

    meta: dict[str, Any]
    arrays: dict[str, NDArray[Any]]
    unchecked: dict[str, Unchecked]  # those that are read later


def write_arrays(
    path: str | os.PathLike[str],
    kind: str,
    meta: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
) -> None:
    """Write arrays and ``meta``, of JSON's types, to a file of this ``kind``, as by `replacing`."""
    raw, entries = list[NDArray[Any]](), dict[str, Any]()
    for name, given in arrays.items():
        array = np.asarray(given, given.dtype.newbyteorder("<"), order="C")
        if array.dtype.str not in DTYPES:
            raise ArgumentTypeError(
                f"array {name!r}: dtype {array.dtype} cannot be stored; "
                f"expected one of {', '.join(DTYPES)}"
            )
        raw.append(array)
        entries[name] = {"dtype": array.dtype.str, "shape": array.shape, "crc32": _crc32(array)}
    if (rows := _empty_rows(raw)) > _EMPTY + sum(array.nbytes for array in raw):
        raise ArgumentTypeError(
            f"arrays without numbers, of {rows} rows in all, cannot be stored; leave them out"
        )
    header = json.dumps({"kind": kind, "meta": dict(meta), "arrays": entries}).encode("ascii")
    with replacing(path) as file:
        file.write(_PREFIX.pack(MAGIC, _VERSION, zlib.crc32(header), len(header)))
        file.write(header)
        end = _PREFIX.size + len(header)  # counted, because a pipe has no position
        for array in raw:
            gap = -end % _ALIGNMENT
            file.write(b"\0" * gap)
            file.write(array.data if array.size else b"")
            end += gap + array.nbytes


def read_arrays(path: str | os.PathLike[str], kind: str, later: Collection[str] = ()) -> Stored:
    """Map the arrays of a file of this ``kind``, or raise FileFormatError.

    Those named in ``later`` are returned without being read, as `Unchecked`.
    """
    data, header, end = _opened(path, kind)
    mapped = dict[str, Unchecked]()
    with as_format_errors(path):
        for name, entry in header["arrays"].items():
            dtype, shape, before = entry["dtype"], tuple(entry["shape"]), end
            are_sides = all(type(side) is int and 0 <= side < 2**48 for side in shape)
            if dtype not in DTYPES or len(shape) > 32 or not are_sides:
                raise ValueError(f"array {name!r} is of dtype {dtype} and shape {shape}")
            start = before + -before % _ALIGNMENT
            end = start + math.prod(shape) * np.dtype(dtype).itemsize
            if end > len(data) or data[before:start].any():
                raise ValueError(f"array {name!r} is not where it should be")
            array = data[start:end].view(dtype).reshape(shape)
            mapped[name] = Unchecked(array, entry["crc32"], f"array {name!r} of {path}")
        if end != len(data):
            raise ValueError(f"it has {len(data)} bytes where {end} were written")
        if _empty_rows(one.array for one in mapped.values()) > _EMPTY + len(data):
            raise ValueError("it has more rows without numbers than a file of its size may have")
        meta = header["meta"]
        if not isinstance(meta, dict):
            raise TypeError(f"meta is {meta!r}")
        arrays = {name: one.checked() for name, one in mapped.items() if name not in later}
    return Stored(meta, arrays, {name: mapped[name] for name in mapped if name in later})


def header_digest(path: str | os.PathLike[str], kind: str) -> str:
    """Return a hash of the header, which has the checksum of each array; raise as `read_arrays`."""
    data, _, end = _opened(path, kind)
    return blake2b(data[:end].tobytes(), digest_size=16).hexdigest()


def _opened(
    path: str | os.PathLike[str], kind: str
) -> tuple[NDArray[np.uint8], dict[str, Any], int]:
    """Map a file of this ``kind``; return its bytes, its header, and where that ends."""
    try:
        with errors_naming(path, path):
            data: NDArray[np.uint8] = np.asarray(np.memmap(path, np.uint8, "r"))
    except ValueError:  # an empty file cannot be mapped
        data = np.zeros(0, np.uint8)
    if len(data) < _PREFIX.size or data[: len(MAGIC)].tobytes() != MAGIC:
        raise FileFormatError(
            f"{path} is not a fuzzydict file (or its beginning is damaged); "
            f"expected a file that fuzzydict has written"
        )
    _, version, checksum, length = _PREFIX.unpack_from(data.data)
    if version != _VERSION:
        raise FileFormatError(
            f"{path} has format version {version}, and this release of fuzzydict reads version "
            f"{_VERSION}: make the file again, or install the release that wrote it"
        )
    end = _PREFIX.size + length
    text = data[_PREFIX.size :][:length].tobytes()
    with as_format_errors(path):
        if len(text) != length or zlib.crc32(text) != checksum:
            raise ValueError("its header does not match its checksum")
        header = _parsed_json(text)
        if header["kind"] != kind:
            raise FileFormatError(f"{path} holds {header['kind']}, where {kind} was expected")
    return data, header, end


def _crc32(array: NDArray[Any]) -> int:
    return zlib.crc32(array.data) if array.size else 0


def _empty_rows(arrays: Iterable[NDArray[Any]]) -> int:
    """Return how many lists the arrays without numbers are as lists, whatever their last axis."""
    shapes = (array.shape for array in arrays if not array.size)
    return sum(math.prod(side or 1 for side in shape) for shape in shapes)


# ---- what a file says -------------------------------------------------------------------------


@contextmanager
def as_format_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn errors about the content of a file into a FileFormatError that names the file."""
    failures = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
    try:
        yield
    except failures as error:
        if isinstance(error, FileFormatError) and str(path) in str(error):
            raise
        raise FileFormatError(
            f"{path} is damaged, or was not written by fuzzydict: {error}; restore it from a copy"
        ) from error


def _parsed_json(text: bytes) -> Any:
    """Return JSON in UTF-8, in which lone surrogates pass, as Python values."""
    try:
        # Each NaN becomes an object of its own, as it was: NaNs may be keys.
        return json.loads(text.decode("utf-8", "surrogatepass"), parse_constant=float)
    except RecursionError as error:
        raise ValueError("its containers are nested too deeply") from error


def json_of(array: NDArray[Any], *, of_texts: bool = False) -> list[Any]:
    """Return the list, maybe of texts alone, that an array says as JSON; or raise ValueError."""
    if array.dtype != np.uint8 or array.ndim != 1:
        raise ValueError(f"it has an array of {array.dtype} where JSON was expected")
    found = _parsed_json(array.tobytes())
    if not isinstance(found, list):
        raise ValueError("it has JSON that is no list")
    if of_texts and not set(map(type, found)) <= {str}:
        raise ValueError("it lists texts, and something else among them")
    return found


def array_of(
    arrays: Mapping[str, NDArray[Any]], name: str, dtypes: str, *shape: int | None
) -> NDArray[Any]:
    """Return an array of a file; KeyError if it is missing, ValueError if it is not as expected.

    Its dtype must be one of ``dtypes``, as "f4 f8", its numbers finite; None in its shape is any.
    """
    array = arrays[name]
    if array.dtype.str[1:] not in dtypes.split():
        raise ValueError(f"its {name} are of dtype {array.dtype}, not {dtypes}")
    expected = [side if n is None else n for n, side in zip(shape, array.shape, strict=False)]
    if array.ndim != len(shape) or array.shape != tuple(expected):
        wanted = ", ".join("any" if side is None else str(side) for side in shape)
        raise ValueError(f"its {name} are of shape {array.shape}, not ({wanted})")
    require_finite_array(name, array)
    return array


def require_finite_array(name: str, array: NDArray[Any]) -> None:
    """Raise ValueError if an array holds NaN or infinity."""
    if array.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            extremes = array.min(initial=0), array.max(initial=0)  # NaN if any number is
        if not np.isfinite(extremes).all():
            raise ValueError(f"its {name} are not finite numbers")


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces ``path``, once on the disk, if the block raises nothing.

    It has the permissions of the file that it replaces. A link stays a link, and a pipe is written
    to. An OSError names ``path``.
    """
    name, mode = os.fsdecode(path), None
    if not name:
        raise FileNotFoundError(errno.ENOENT, "the name is empty; name a file", name)
    if os.path.split(name)[1] in ("", os.curdir):  # which a `Path` leaves out
        raise IsADirectoryError(errno.EISDIR, "this names a folder; name a file", name)
    with suppress(FileNotFoundError):
        mode = Path(name).stat().st_mode
    if mode is not None and not stat.S_ISREG(mode):
        with errors_naming(name, name), Path(name).open("wb") as file:
            yield file
        return
    target = Path(os.path.realpath(name))
    # A short name, for that of the target may have all the 255 bytes that a name can have.
    beside = target.with_name(f".fuzzydict-{os.urandom(8).hex()}")
    permissions = 0o666 if mode is None else stat.S_IMODE(mode)
    with errors_naming(target, beside):
        try:  # begins before the file exists, so that an interrupt never leaves it behind
            with open(beside, "xb", opener=partial(os.open, mode=permissions)) as file:
                if mode is not None and os.name == "posix":
                    os.fchmod(file.fileno(), permissions)  # the umask may have taken something
                yield file
                file.flush()
                os.fsync(file.fileno())
            beside.replace(target)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
        # Makes the renaming durable, where a folder can be opened: not on Windows, nor where one
        # may write but not list.
        with suppress(PermissionError):
            handle = os.open(target.parent, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


@contextmanager
def locked(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let one process or thread at a time check and replace a file, which need not exist.

    The lock is that of its folder, which stays where files are replaced. There is none on Windows,
    on some network drives, and in a folder that cannot be listed.
    """
    with ExitStack() as end:
        with suppress(ImportError, OSError):
            import fcntl

            handle = os.open(Path(os.path.realpath(path)).parent, os.O_RDONLY)
            end.callback(os.close, handle)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextmanager
def errors_naming(target: str | os.PathLike[str], beside: str | os.PathLike[str]) -> Iterator[None]:
    """Make errors about a temporary file name the target."""
    try:
        yield
    except OSError as error:
        if error.filename is not None and not str(error.filename).startswith(str(beside)):
            raise  # about another file, which the block reads
        raise OSError(error.errno, error.strerror, str(target)) from error


class NamedFile(io.FileIO):
    """A file whose errors name it, also those of reading and writing."""

    def readinto(self, buffer: Any) -> int | None:
        with errors_naming(self.name, self.name):
            return super().readinto(buffer)

    def readall(self) -> bytes:
        with errors_naming(self.name, self.name):
            return super().readall()

    def write(self, data: Any) -> int | None:  # type: ignore[override]
        with errors_naming(self.name, self.name):
            return super().write(data)


def open_to_read(path: str | os.PathLike[str]) -> io.BufferedReader:
    """Open a file, a pipe or a terminal to read its bytes; an OSError names it."""
    file = NamedFile(os.fspath(path))
    status = os.fstat(file.fileno())
    is_device = stat.S_ISCHR(status.st_mode) and not file.isatty()  # as /dev/zero, without an end
    if is_device and not os.path.samestat(status, os.stat(os.devnull)):  # noqa: PTH116
        file.close()
        raise FileFormatError(f"{path}: is a device; expected a file or a pipe")
    return io.BufferedReader(file)


def bytes_of(path: str | os.PathLike[str]) -> bytes:
    """Return the bytes of a file or a pipe; errors as in `open_to_read`."""
    with open_to_read(path) as file:
        return file.read()


def decoded(data: bytes, place: object, encoding: str = "utf-8") -> str:
    """Return bytes as text; a FileFormatError begins with the place that they are from."""
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise FileFormatError(
            f"{place}: byte {error.start} is not {encoding.upper()}; save the file as UTF-8"
        ) from error
