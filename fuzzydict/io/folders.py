"""Match a column of all tables in a folder, or of one table, by one process or several.

The folder is mapped part by part: a part is written whole or not at all, and each different text is
looked up once in a run. Other processes get the texts of many parts at a time, before these are
written. A file beside the parts says what the run depends on, and which parts are written: a run
that was killed goes on after these when it is started again.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import warnings
from collections import Counter
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from fuzzydict._files import replacing
from fuzzydict.embedding.encoder import as_embedding
from fuzzydict.errors import FileFormatError, OptionError
from fuzzydict.frames.dask import require_dask
from fuzzydict.frames.workers import Matcher, look_up
from fuzzydict.io.columns import (
    Cleaned,
    ColumnMatcher,
    Deciding,
    Source,
    best_keys,
    check_apart,
    new_columns,
)
from fuzzydict.io.tables import open_table, table_format
from fuzzydict.io.text_tables import check_names
from fuzzydict.results.answers import Match
from fuzzydict.search.judge import weights_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from fuzzydict.io.text_tables import Table
    from fuzzydict.mapping import FuzzyDict


#: The formats of tables that a folder may have.
FOLDER_FORMATS = ("csv", "tsv", "jsonl", "parquet")
_SUCCESS = "_SUCCESS"  # as Spark and Hadoop name the file that says that a folder is complete
_NOTES = ".fuzzydict-map.jsonl"  # in the folder that is written
_LEFT = re.compile(r"\.fuzzydict-([0-9a-f]{16}|copy-.*)")  # in a run that was killed
_KEPT = 2**20  # texts whose answers are known at least
_GIVEN = 2**14  # texts that a process is given, as its start takes some seconds
_PROCESSES = 8  # of a cluster whose number of workers is not known


class Workers(NamedTuple):
    """Who looks texts up: this process by default; ``jobs`` and ``scheduler`` as for `look_up`."""

    jobs: int | None = None
    scheduler: str | None = None
    matcher: Matcher | None = None  # the dict in a file; by default it is saved beside the output


class Part(NamedTuple):
    """A table and where it is written again; its name is what both paths end in."""

    name: str
    source: Path
    target: Path

    def state(self) -> list[int]:
        """Return the size and the time of the table, by which a change can be told."""
        status = self.source.stat()
        return [status.st_size, status.st_mtime_ns]


def parts_in(source: Path, output: Path, format: str | None = None) -> list[Part]:  # noqa: A002
    """Return the tables in a folder and below it, or the one that ``source`` is.

    Hidden files and folders, and those whose names begin with ``_``, are left out. All files have
    one format, the one that is given or that of their endings.
    """
    if not source.is_dir():
        if source.exists() and not source.is_file():
            raise OptionError(f"{source} can be read only once, as a pipe; name a regular file")
        return [Part(source.name, source, output)]
    inner, outer = (Path(os.path.realpath(path)) for path in (output, source))
    if inner.is_relative_to(outer) or outer.is_relative_to(inner):
        raise OptionError(f"{output} is {source}, in it or around it; write to another folder")
    names = sorted(_names_in(source))
    if not names:
        raise OptionError(f"{source} has no tables in it; name a folder that has")
    forms = {name: format or table_format(Path(name)) for name in names}
    first, form = next(iter(forms.items()))
    for name, other in forms.items():
        if other not in FOLDER_FORMATS:
            raise OptionError(
                f"{source / name}: expected a table of format {', '.join(FOLDER_FORMATS)}; move it "
                f"elsewhere, or name the format of all files"
            )
        if other != form:
            raise OptionError(
                f"{source} has tables of several formats, {first} and {name}; map each format by "
                f"itself"
            )
    return [Part(name, source / name, output / name) for name in names]


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
    d: FuzzyDict[Any],
    source: Source,
    output: Path,
    *,
    prefix: str | None = None,
    deciding: Deciding = Deciding(),  # noqa: B008
    workers: Workers = Workers(),  # noqa: B008
    basis: Mapping[str, Any] | None = None,
    progress: Callable[[str, int, int], None] = lambda _step, _done, _total: None,
) -> Cleaned:
    """Write all tables in a folder, or one, with the key, value and score that match each cell.

    Each part is written as `clean_column` does it, whole or not at all. The parts of a folder keep
    their paths in it, and an empty file ``_SUCCESS`` is written when all are there. A run into a
    folder that ended early is gone on with when it is started again: parts that were written stay.
    They are read once more, and not written, for a review, which is about all parts, and for
    another ``sure``.

    The table of ``source`` is a folder of CSV, TSV, JSON Lines or Parquet files of one format, in
    which one of JSON Lines may be empty, or a file as for `clean_column`. The output is a folder
    that is empty or new, or a file. ``basis`` is what else the answers depend on, by its names in
    messages: a run is only gone on with if it is the same. ``progress`` is called with the name of
    a step, the amount done and the total amount.

    Raises what `clean_column` and `look_up` raise, and OptionError if the output folder is not
    empty, or of a run with another dict, table or option, or one that still runs.
    """
    if workers.scheduler is not None:
        require_dask()
    folder = Path(str(source.table))
    parts = parts_in(folder, output, source.reading.format)
    for part in parts:
        check_apart(part.source, part.target, deciding)
    with ExitStack() as end:
        answers = _Answers(d, workers, output if folder.is_dir() else output.parent, end)
        mapper = _Mapper(source, prefix, ColumnMatcher(d, deciding, answers), parts, progress)
        mapper.check()
        if not folder.is_dir():
            return mapper.map(answers)
        options = {"column": source.column, "prefix": prefix, **source.reading._asdict()}
        decided = (one for file in mapper.matcher.decided.files.values() for one in file.decisions)
        began = {
            **{f"the option {name}": value for name, value in options.items()},
            **(basis or {}),
            "the embedding": as_embedding(d.embedding).fingerprint()["name"],
            "the score of this release": weights_digest(),
            "the decisions": sorted([one.query, one.target] for one in decided),
        }
        notes = _Notes(output, began, mapper.states, end)
        counts = mapper.map(answers, notes)
        if mapper.matcher.review:
            mapper.matcher.review.save()
        with replacing(output / _SUCCESS):
            pass
        notes.path.unlink()  # as all is done
    return counts


class _Mapper:
    """Maps a single table, or the parts of a folder, of which notes are taken."""

    def __init__(
        self,
        source: Source,
        prefix: str | None,
        matcher: ColumnMatcher,
        parts: list[Part],
        progress: Callable[[str, int, int], None],
    ) -> None:
        self.matcher, self._source, self._parts, self._tell = matcher, source, parts, progress
        self._added = new_columns(source.column, prefix)
        self.states = {part.name: part.state() for part in parts}  # as the run begins
        self._is_checked = False
        self._total, self._done = sum(size for size, _ in self.states.values()), Counter[str]()

    def _progress(self, step: str, part: Part, done: int = 0, total: int = 0) -> None:
        """Tell how much of a step is done, in bytes of all parts; without numbers, the part is."""
        size = self.states[part.name][0]
        if total:
            self._tell(step, self._done[step] + size * done // total, self._total)
        else:
            self._done[step] += size
            self._tell(step, self._done[step], self._total)

    @contextmanager
    def _opened(self, part: Part) -> Iterator[Table]:
        """Open a part. What is guessed of it is told when it is checked."""
        if part.state() != self.states[part.name]:
            raise FileFormatError(f"{part.source} has changed since it was read; start again")
        with warnings.catch_warnings():
            if self._is_checked:
                warnings.simplefilter("ignore", UserWarning)
            with open_table(part.source, self._source.reading) as table:
                table.may_be_empty = part.source != self._source.table
                yield table

    def check(self) -> None:
        """Check that all parts have the column, and none of the new names."""
        for part in self._parts:
            with self._opened(part) as table:
                blocks = table.blocks(self._source.column, alone=True)
                if self._source.column not in table.names:  # of the first lines of JSON
                    for _ in blocks:
                        pass
                check_names(table.names, self._added, table.name)
        self._is_checked = True

    def map(self, answers: _Answers, notes: _Notes | None = None) -> Cleaned:
        """Write the parts that are not written yet; return the numbers of rows of all."""
        counts, todo = list[Cleaned](), list[Part]()
        for part in self._parts:
            known = notes.counts(part, self.matcher.sure) if notes else None
            if known is None or self.matcher.review:  # in which its texts come up again
                todo.append(part)
            else:
                counts.append(known)
                self._progress("matching", part)
        for group in self._looked_up(todo, answers) if answers.of_others else [todo]:
            for part in group:
                counts.append(self._map_part(part, notes))
                if arrow := sys.modules.get("pyarrow"):  # whose pool keeps some 50 MB of a part
                    arrow.default_memory_pool().release_unused()
                self._progress("matching", part)
        return self.matcher.with_undecided(Cleaned(*map(sum, zip(*counts, strict=True))))

    def _map_part(self, part: Part, notes: _Notes | None) -> Cleaned:
        """Write a part, unless it stands; a single table comes with its review."""
        given = self._source.column, self._added
        go_on = partial(self._progress, "matching", part)
        if notes is None:
            return self.matcher.clean(self._opened(part), *given, part.target, go_on)
        if notes.stands(part):
            with self._opened(part) as table:
                counts = self.matcher.copy(table, *given, None, go_on)
            notes.add(part, self.matcher.sure, counts)
            return counts
        part.target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(part.target) as file:
            with self._opened(part) as table:
                counts = self.matcher.copy(table, *given, file, go_on)
            notes.add(part, self.matcher.sure, counts)  # before it stands, so that no run forgets
        return counts

    def _looked_up(self, parts: list[Part], answers: _Answers) -> Iterator[list[Part]]:
        """Yield parts in groups, each once other processes have answered its texts.

        This process looks up what is not known when a part is written.
        """
        group, new = list[Part](), dict[str, None]()
        for part in parts:
            seen = set[str | None]()
            with self._opened(part) as table:
                for block in table.blocks(self._source.column, alone=True):
                    cells = [cell for cell in dict.fromkeys(block.cells) if cell not in seen]
                    seen.update(cells)
                    asked = self.matcher.asked(self.matcher.queries(cells))
                    new.update(dict.fromkeys(answers.unknown(asked)))
                    if done := table.progress():
                        self._progress("reading", part, *done)
            self._progress("reading", part)
            group.append(part)
            if len(new) >= answers.of_others or part is parts[-1]:
                answers.ask([*new], partial(self._tell, "looking up"))
                yield group
                group, new = [], {}
                answers.forget()


# ---- what is answered -------------------------------------------------------------------------

#: The best key of a text, its score, and whether it matches; None if there is none.
_Best: TypeAlias = tuple[str, float, bool] | None


def _best(d: FuzzyDict[Any], texts: list[str]) -> list[_Best]:
    return [one and (one.key, one.score, one.matches) for one in best_keys(d, texts)]


def _best_in_another(matcher: Matcher, texts: list[str]) -> list[_Best]:
    """Answer texts by the dict of a `Matcher`, in another process."""
    found, cutoff = _best(matcher.open(), texts), matcher.score_cutoff
    if cutoff is None:
        return found
    return [one and (*one[:2], cutoff <= one[1] > -float("inf")) for one in found]


class _Answers:
    """The best keys of texts, which this process looks up if no other one did.

    Other processes ask a file of the dict. If nobody names one, it is saved in a folder of its own,
    made in ``place`` and removed at the ``end`` of the run.
    """

    def __init__(self, d: FuzzyDict[Any], workers: Workers, place: Path, end: ExitStack) -> None:
        self._d, self._workers, self._place, self._end = d, workers, place.absolute(), end
        self._known: dict[str, _Best] = {}
        self._copy = ""  # of the dict, if one was saved
        are_there = workers.scheduler is not None or workers.jobs not in (None, 1)
        #: The number of texts that keep the other processes at work; 0 if there are none.
        self.of_others = _GIVEN * (workers.jobs or _PROCESSES) if are_there else 0

    def __call__(self, texts: list[str]) -> list[Match | None]:
        if unknown := [*self.unknown(texts)]:
            if len(self._known) > _KEPT:
                self._known = {text: self._known[text] for text in texts if text in self._known}
            self._known.update(zip(unknown, _best(self._d, unknown), strict=True))
        found = list[Match | None]()
        for text in texts:
            if (best := self._known[text]) is None:
                found.append(None)
            else:
                value = dict.__getitem__(self._d, best[0])
                found.append(Match(best[0], value, best[1], query=text, matches=best[2]))
        return found

    def unknown(self, texts: Iterable[str]) -> Iterator[str]:
        """Yield those of some texts whose answers are not known."""
        return (text for text in texts if text not in self._known)

    def forget(self) -> None:
        """Forget all, if that is very much."""
        if len(self._known) > _KEPT:
            self._known.clear()

    def ask(self, texts: list[str], progress: Callable[[int, int], None]) -> None:
        """Let the other processes look texts up."""
        if not texts:
            return
        jobs, scheduler, matcher = self._workers
        if matcher is None:
            self._place.mkdir(parents=True, exist_ok=True)
            folder = TemporaryDirectory(
                prefix=".fuzzydict-copy-", dir=self._place, ignore_cleanup_errors=True
            )
            self._copy = str(Path(self._end.enter_context(folder), "dict.fuzzydict"))
            self._d.save(self._copy)
            matcher = Matcher(self._copy, embedding=self._d.embedding, trust=True)
            self._workers = self._workers._replace(matcher=matcher)
        asked = partial(_best_in_another, matcher)
        found = look_up(asked, texts, jobs=jobs, scheduler=scheduler, progress=progress)
        try:
            with closing(found):
                for some, best in found:
                    self._known.update(zip(some, best, strict=True))
        except FileNotFoundError as error:
            if not self._copy or error.filename != self._copy:
                raise
            raise OptionError(
                f"DICT: workers of {scheduler} do not find {self._copy}, the copy of the dict for "
                f"them; write to a folder (-o) that all of them have, or give a file of d.save in "
                f"one"
            ) from error


# ---- what is noted ----------------------------------------------------------------------------


class _Notes:
    """What a run writes into a folder, noted there so that another run goes on with it.

    The file has a line of JSON for what the run depends on, by names for messages, and one for each
    part that is written, with the state of its table.
    """

    def __init__(
        self, output: Path, began: dict[str, Any], states: dict[str, list[int]], end: ExitStack
    ) -> None:
        self.path, self._output, self._states = output / _NOTES, output, states
        self._noted: dict[str, tuple[float, list[int]]] = {}  # sure and counts, by names of parts
        if output.exists() and not self.path.is_file() and any(output.iterdir()):
            raise OptionError(
                f"{output} is not empty; name a new folder, or remove what is in this one"
            )
        self._made = [] if output.exists() else [output]
        output.mkdir(parents=True, exist_ok=True)
        self._log = end.enter_context(self.path.open("ab"))
        try:
            import fcntl

            fcntl.flock(self._log, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise OptionError(
                f"another run writes to {output}; wait for its end, or end it"
            ) from error
        except (ImportError, OSError):  # on Windows, and on some network drives
            pass
        self._go_on(json.loads(json.dumps(began, default=str)))
        end.callback(self._leave)

    def _go_on(self, began: dict[str, Any]) -> None:
        """Read what was noted, and check that it is about this run; or begin a new run."""
        *lines, torn = self.path.read_bytes().split(b"\n")
        self._log.truncate(self._log.tell() - len(torn))  # of a run that was killed as it wrote
        try:
            before, *parts = map(json.loads, lines or [b"{}"])
            self._noted = {name: (sure, [*map(int, counts)]) for name, sure, counts, _ in parts}
            changed = [one for one in began if before.get(one, ...) != began[one]]
            changed += sorted(before.keys() - began.keys())
            states = {name: state for name, *_, state in parts}
        except (AttributeError, TypeError, ValueError) as error:
            raise FileFormatError(
                f"{self.path} is damaged: {error}; remove {self._output} to begin again"
            ) from error
        changed += [f"the table {n}" for n, state in states.items() if state != self._states.get(n)]
        if not self._noted:
            self._log.truncate(0)
            self._append(began)
        elif changed:
            raise OptionError(
                f"{changed[0]} has changed since the run began that {self.path} is of; make it "
                f"what it was to go on, or remove {self._output} to begin again"
            )
        for left in self._output.rglob(".fuzzydict-*"):
            if _LEFT.fullmatch(left.name):
                shutil.rmtree(left) if left.is_dir() else left.unlink()

    def _leave(self) -> None:
        """Leave nothing where there is nothing to go on with."""
        self._log.close()
        if not self._noted:
            self.path.unlink(missing_ok=True)
            for folder in [*sorted(self._output.rglob("*"), reverse=True), *self._made]:
                with suppress(OSError):
                    folder.rmdir()

    def stands(self, part: Part) -> bool:
        """Tell whether a part is written."""
        return part.name in self._noted and part.target.is_file()

    def counts(self, part: Part, sure: float) -> Cleaned | None:
        """Return the numbers of rows of a part that is written, if they are known."""
        known, counts = self._noted.get(part.name, (None, []))
        return Cleaned(*counts) if known == sure and self.stands(part) else None

    def add(self, part: Part, sure: float, counts: Cleaned) -> None:
        """Note that a part is written."""
        self._noted[part.name] = sure, [*counts]
        self._append([part.name, sure, counts, self._states[part.name]])

    def _append(self, line: Any) -> None:
        self._log.write(json.dumps(line).encode() + b"\n")
        self._log.flush()
        os.fsync(self._log.fileno())
