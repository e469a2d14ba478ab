"""Match a column of all tables in a folder, or of one table, by one process or several.

A part of a folder is written whole or not at all. A file beside the parts says what the run depends
on, and which parts are written: a run that was killed goes on after these.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from fuzzydict._files import errors_naming, replacing
from fuzzydict.embedding.encoder import as_embedding
from fuzzydict.errors import FileFormatError, OptionError
from fuzzydict.frames.dask import require_dask
from fuzzydict.frames.workers import Matcher, answering
from fuzzydict.io.columns import (
    Cleaned,
    ColumnMatcher,
    Deciding,
    Nearest,
    Source,
    best_keys,
    check_apart,
    clean_column,
    new_columns,
)
from fuzzydict.io.tables import open_table
from fuzzydict.io.text_tables import Table, check_names, format_by_ending
from fuzzydict.mapping import FuzzyDict
from fuzzydict.results.answers import Match
from fuzzydict.search.score import weights_digest
from fuzzydict.stores.base import Progress, untold
from fuzzydict.stores.remote import AnyDict, RemoteDict

#: The formats of tables that a folder may have.
FOLDER_FORMATS = ("csv", "tsv", "jsonl", "parquet")
_SUCCESS = "_SUCCESS"  # as Spark and Hadoop name the file that says that a folder is complete
_NOTES = ".fuzzydict-map.jsonl"  # in the folder that is written
_LEFT = re.compile(r"\.fuzzydict-([0-9a-f]{16}|copy-.*)")  # in a run that was killed
_REMEMBERED = 2**20  # texts of all parts


class Workers(NamedTuple):
    """Who looks texts up, by default this process; ``jobs`` and ``scheduler`` as in `answering`."""

    jobs: int | None = None
    scheduler: str | None = None
    matcher: Matcher | None = None  # the dict in a file; by default it is saved beside the output


class Part(NamedTuple):
    """A table and where it is written again; its name is what both paths end in."""

    name: str
    source: Path
    target: Path
    state: list[int]  # the size and the time of the table, by which a change can be told


def parts_in(source: Path, output: Path, format: str | None = None) -> list[Part]:  # noqa: A002
    """Return the tables in a folder and below it, or the one that ``source`` is.

    Hidden files and folders, and those whose names begin with ``_``, are left out. All files have
    one format, the one that is given or that of their endings.
    """
    if not source.is_dir():
        if source.exists() and not source.is_file():
            raise OptionError(f"{source} can be read only once, as a pipe; name a regular file")
        return [Part(source.name, source, output, _state(source))]
    inner, outer = (Path(os.path.realpath(path)) for path in (output, source))
    if inner.is_relative_to(outer) or outer.is_relative_to(inner):
        raise OptionError(f"{output} is {source}, in it or around it; write to another folder")
    names = sorted(_names_in(source))
    if not names:
        raise OptionError(f"{source} has no tables in it; name a folder that has")
    forms = {name: format or format_by_ending(Path(name)) for name in names}
    for name, form in forms.items():
        if form not in FOLDER_FORMATS:
            raise OptionError(
                f"{source / name}: expected a table of format {', '.join(FOLDER_FORMATS)}; move it "
                f"elsewhere, or name the format of all files"
            )
        if form != forms[names[0]]:
            several = f"tables of several formats, {names[0]} and {name}"
            raise OptionError(f"{source} has {several}; map each format by itself")
    return [Part(name, source / name, output / name, _state(source / name)) for name in names]


def _state(table: Path) -> list[int]:
    status = table.stat()
    return [status.st_size, status.st_mtime_ns]


def _names_in(folder: Path) -> Iterator[str]:
    def fail(error: OSError) -> None:
        raise error

    for place, folders, files in os.walk(folder, onerror=fail):
        folders[:] = [name for name in folders if name[0] not in "._"]
        for path in (Path(place, name) for name in folders):
            if path.is_symlink():  # it may lead round in a circle
                raise OptionError(
                    f"{path} is a link to a folder; put the folder there, or map it by itself"
                )
        for path in (Path(place, name) for name in files if name[0] not in "._"):
            if not path.is_file():  # a pipe would be waited for, without end
                raise OptionError(f"{path} is no regular file, which a table is; move it elsewhere")
            yield path.relative_to(folder).as_posix()


# ---- all parts --------------------------------------------------------------------------------


def map_parts(
    d: AnyDict,
    source: Source,
    output: Path,
    *,
    prefix: str | None = None,
    deciding: Deciding = Deciding(),  # noqa: B008
    workers: Workers = Workers(),  # noqa: B008
    basis: Mapping[str, Any] | None = None,
    progress: Progress = untold,
) -> Cleaned:
    """Write all tables in a folder, or one, with the key, value and score that match each cell.

    Each part is written as `clean_column` does it, whole or not at all, and an empty file
    ``_SUCCESS`` when all are there. The folder is empty or new, or of a run that ended early: then
    parts that were written stay, unless there is a review, which is about all parts. ``basis`` is
    what else the answers depend on, by its names in messages: a run is only gone on with if it is
    the same.

    Raises what `clean_column` and `answering` raise, and OptionError if the output folder is not
    empty, or of a run with another dict, table or option, or one that still runs.
    """
    if workers.scheduler is not None:
        require_dask()
    folder = Path(str(source.table))
    parts = parts_in(folder, output, source.reading.format)
    for part in parts:
        check_apart(part.source, part.target, deciding)
    common: dict[str, Any] = {"prefix": prefix, "deciding": deciding, "progress": progress}
    with ExitStack() as end:
        nearest: Nearest | None = None
        if workers.scheduler is not None or workers.jobs not in (None, 1):
            with errors_naming("the working directory", ""):  # which processes begin in
                place = Path.cwd() / (output if folder.is_dir() else output.parent)
            nearest = _by_others(d, workers, place, end)
        if not folder.is_dir():
            return clean_column(d, source, output, nearest=nearest, **common)
        matcher = ColumnMatcher(d, _REMEMBERED, deciding, nearest)
        added = new_columns(source.column, prefix)
        for part in parts:
            _check(part, source, added)
        options = {"column": source.column, "prefix": prefix, "sure": deciding.sure}
        options |= source.reading._asdict()
        began: dict[str, Any] = {f"the option {name}": value for name, value in options.items()}
        began |= basis or {}
        began["the embedding"] = as_embedding(d.embedding).fingerprint()["name"]
        began["the score of this release"] = weights_digest()
        began["the decisions"] = sorted([one.query, one.target] for one in matcher.decisions)
        notes = _Notes(output, began, parts, end)
        counts = _map_all(parts, source, added, matcher, notes, progress)
        if matcher.review:
            counts = counts._replace(undecided=matcher.review.save())
        with replacing(output / _SUCCESS):
            pass
        notes.remove()  # as all is done
    return counts


def _map_all(
    parts: list[Part],
    source: Source,
    added: Mapping[str, Sequence[Any]],
    matcher: ColumnMatcher,
    notes: _Notes,
    progress: Progress,
) -> Cleaned:
    """Write the parts that are not noted as written; return the counts of all."""
    total, read, size = Cleaned(0, 0, 0), 0, sum(part.state[0] for part in parts)

    def tell(done: int, of_part: int) -> None:
        progress(read + part.state[0] * done // max(of_part, 1), size)

    for part in parts:
        # For a review, the texts of all parts must come up.
        counts = notes.counts.get(part.name)
        if counts is None or matcher.review or not part.target.is_file():
            part.target.parent.mkdir(parents=True, exist_ok=True)
            with replacing(part.target) as file:
                with _opened(part, source) as table:
                    counts = matcher.copy(table, source.column, added, file, tell)
                # before it stands, so that no run forgets
                notes.append([part.name, counts, part.state])
        total = Cleaned(*map(sum, zip(total, counts, strict=True)))
        if arrow := sys.modules.get("pyarrow"):  # whose pool keeps some 50 MB of a part
            arrow.default_memory_pool().release_unused()
        read += part.state[0]
        progress(read, size)
    return total


@contextmanager
def _opened(part: Part, source: Source) -> Iterator[Table]:
    if _state(part.source) != part.state:
        raise FileFormatError(f"{part.source} has changed since it was read; start again")
    with open_table(part.source, source.reading) as table:
        table.may_be_empty = True
        yield table


def _check(part: Part, source: Source, added: Iterable[str]) -> None:
    """Check that a part has the column, and none of the names of the new ones."""
    quiet = warnings.catch_warnings(action="ignore", category=UserWarning)  # told as it is matched
    with quiet, _opened(part, source) as table:
        for _ in table.blocks(source.column, alone=True):
            if source.column in table.names:  # or else in later lines of JSON
                break
        check_names(table.names, added, table.name)


# ---- who looks texts up -------------------------------------------------------------------------


def _by_others(d: AnyDict, workers: Workers, place: Path, end: ExitStack) -> Nearest:
    """Return what looks texts up in other processes, from the first text to the run's ``end``."""

    @cache
    def started() -> Callable[[list[str]], list[Match | None]]:
        asked = d if workers.matcher is None else workers.matcher
        if isinstance(asked, FuzzyDict):  # of no file: it is copied to a folder of its own there
            place.mkdir(parents=True, exist_ok=True)
            folder = TemporaryDirectory(
                prefix=".fuzzydict-copy-", dir=place, ignore_cleanup_errors=True
            )
            copy = Path(end.enter_context(folder), "dict.fuzzydict")
            asked.save(copy)
            asked = Matcher(str(copy), embedding=asked.embedding, trust=True)
        best = partial(_best, asked)  # to a database each process connects
        jobs, scheduler = workers.jobs, workers.scheduler
        return end.enter_context(answering(best, jobs=jobs, scheduler=scheduler))

    def nearest(texts: list[str]) -> list[Match | None]:
        found = started()(texts) if texts else []
        if isinstance(d, RemoteDict):
            return found
        return [one and one._replace(value=dict.__getitem__(d, one.key)) for one in found]

    return nearest


def _best(asked: Matcher | RemoteDict, texts: list[str]) -> list[Match | None]:
    """Return the best keys of texts; the asking process has the values, if a file has them."""
    if isinstance(asked, RemoteDict):
        return best_keys(asked, texts)
    d, cutoff = asked.open(), asked.score_cutoff
    found = best_keys(d, texts)
    for place, one in enumerate(found):
        if one is not None:
            value = one.value if isinstance(d, RemoteDict) else None
            matches = one.matches if cutoff is None else cutoff <= one.score > -math.inf
            found[place] = Match(one.key, value, one.score, query=one.query, matches=matches)
    return found


# ---- what is noted ----------------------------------------------------------------------------


class _Notes:
    """What a run writes into a folder, noted there so that another run goes on with it.

    The file has a line of JSON for what the run depends on, by names for messages, and one for each
    part that is written: its name, the numbers of its rows, and the state of its table.
    """

    def __init__(
        self, output: Path, began: dict[str, Any], parts: list[Part], end: ExitStack
    ) -> None:
        self.path = output / _NOTES
        self.counts: dict[str, Cleaned] = {}  # by the names of parts that are noted
        if output.exists() and not self.path.is_file() and any(output.iterdir()):
            is_complete = (output / _SUCCESS).exists()
            what = "complete: a run has written all of its parts" if is_complete else "not empty"
            raise OptionError(f"{output} is {what}; name a new folder, or remove what is in this")
        output.mkdir(parents=True, exist_ok=True)
        self._log = end.enter_context(self.path.open("a+b"))
        try:
            import fcntl

            fcntl.flock(self._log, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise OptionError(
                f"another run writes to {output}; wait for its end, or end it"
            ) from error
        except (ImportError, OSError):  # on Windows, and on some network drives
            pass
        self._go_on(json.loads(json.dumps(began, default=str)), parts)

    def _go_on(self, began: dict[str, Any], parts: list[Part]) -> None:
        """Read what was noted, and check that it is about this run; or begin a new run."""
        output = self.path.parent
        self._log.seek(0)
        *lines, torn = self._log.read().split(b"\n")
        self._log.truncate(self._log.tell() - len(torn))  # of a run that was killed as it wrote
        try:
            before, *written = map(json.loads, lines or [b"{}"])
            self.counts = {name: Cleaned(*map(int, counts)) for name, counts, _ in written}
            changed = [one for one in began if before.get(one, ...) != began[one]]
            changed += sorted(before.keys() - began.keys())
        except (AttributeError, TypeError, ValueError) as error:
            raise FileFormatError(
                f"{self.path} is damaged: {error}; remove {output} to begin again"
            ) from error
        states = {part.name: part.state for part in parts}
        changed += [f"the table {n}" for n, _, state in written if state != states.get(n)]
        if not self.counts:
            self._log.truncate(0)
            self.append(began)
        elif changed:
            raise OptionError(
                f"{changed[0]} has changed since the run began that {self.path} is of; make it "
                f"what it was to go on, or remove {output} to begin again"
            )
        for left in output.rglob(".fuzzydict-*"):
            if _LEFT.fullmatch(left.name):
                shutil.rmtree(left) if left.is_dir() else left.unlink()

    def remove(self) -> None:
        self._log.close()  # for Windows
        self.path.unlink(missing_ok=True)

    def append(self, line: Any) -> None:
        """Write a line, on the disk."""
        self._log.write(json.dumps(line).encode() + b"\n")
        self._log.flush()
        os.fsync(self._log.fileno())
