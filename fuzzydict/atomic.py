"""Files: text read as UTF-8, and files written whole or not at all."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

from fuzzydict.errors import FileFormatError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["decoded", "replacing"]


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
