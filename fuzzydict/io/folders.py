"""Match a column of all tables in a folder, or of one table, by one process or several.

The folder is mapped part by part: a part is written as `io.columns.clean_column` writes it, whole
or not at all, and each different text is looked up once in a run. Other processes get the texts of
many parts at a time, before these are written.

A file beside the parts says what the run depends on, and which parts are written. A run that was
killed goes on after these when it is started again.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import warnings
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from fuzzydict._files import replacing
from fuzzydict.embedding.encoder import as_embedding
from fuzzydict.errors import FileFormatError, OptionError
from fuzzydict.frames.dask import require_dask
from fuzzydict.frames.workers import Matcher, look_up
from fuzzydict.io.columns import (
    Cleaned,
    ColumnMatcher,
    Deciding,
    Lookup,
    Source,
    best_keys,
    check_apart,
    copy_rows,
    decided_in,
    new_columns,
    written,
)
from fuzzydict.io.review import Review
from fuzzydict.io.tables import check_names, open_table, table_format
from fuzzydict.results.answers import Match
from fuzzydict.search.judge import weights_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from io import BufferedWriter

    from fuzzydict.io.records import Reading
    from fuzzydict.io.review import Decided
    from fuzzydict.io.tables import Table
    from fuzzydict.mapping import FuzzyDict


#: The formats of tables that a folder may have.
FOLDER_FORMATS = ("csv", "tsv", "jsonl", "parquet")
_SUCCESS = "_SUCCESS"  # as Spark and Hadoop name the file that says that a folder is complete
_STATE = "fuzzydict-map"
_LEFT = re.compile(r"\.fuzzydict-[0-9a-f]{16}(-empty)?")  # by `replacing` in a run that was killed
_KEPT = 2**20  # texts whose answers are known at least
_GIVEN = 2**14  # texts that a process is given, as its start takes some seconds
_PROCESSES = 8  # of a cluster whose number of workers is not known


class Workers(NamedTuple):
    """Who looks texts up: this process by default.

    Attributes:
        jobs: as for `look_up`.
        scheduler: as for `look_up`.
        matcher: the dict in a file, for other processes; by default it is saved beside the output.
    """

    jobs: int | None = None
    scheduler: str | None = None
    matcher: Matcher | None = None

    @property
    def are_others(self) -> bool:
        """Whether it is other processes."""
        return self.scheduler is not None or self.jobs not in (None, 1)


# ---- the parts --------------------------------------------------------------------------------


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

    Raises:
        OptionError: the output folder is in the other one, or around it; or there is no table in
            it, or a link to a folder, or there are files of several formats.
    """
    if not source.is_dir():
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
        here = Path(place).relative_to(folder)
        yield from ((here / name).as_posix() for name in files if name[0] not in "._")


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

    Args:
        d: the dict.
        source: the column; its table is a folder of CSV, TSV, JSON Lines or Parquet files, or a
            file as for `clean_column`. The format is that of all files in a folder.
        output: a folder that is empty or new, if the table is one; otherwise a file.
        prefix: as for `clean_column`.
        deciding: as for `clean_column`; the review is about all parts.
        workers: who looks texts up.
        basis: what else the answers depend on, by its names in messages. A run is only gone on with
            if it is the same.
        progress: called with the name of a step, the amount done and the total amount.

    Raises:
        OSError, FileFormatError, MissingExtraError: as `clean_column`.
        OptionError: as `clean_column` and `parts_in`; or the output folder is not empty, or of a
            run with another dict, table or option, or one that still runs.
        WorkerError: as `look_up`.
    """
    if workers.scheduler is not None:
        require_dask()
    folder = Path(str(source.table))
    parts = parts_in(folder, output, source.reading.format)
    for part in parts:
        check_apart(part.source, part.target, deciding)
    if "parquet" in (source.reading.format, table_format(parts[0].source)):
        _keep_no_memory()
    decided = decided_in(d, deciding)
    began = _basis(d, source, prefix, decided, basis or {})
    with _Run(output, began, parts, is_folder=folder.is_dir()) as run:
        mapper = _Mapper(run, d, decided, source, prefix, deciding)
        counts = mapper.map(parts, workers, progress)
        if folder.is_dir():
            with replacing(output / _SUCCESS):
                pass
        run.is_complete = True
    return counts


def _basis(
    d: FuzzyDict[Any],
    source: Source,
    prefix: str | None,
    decided: Decided,
    basis: Mapping[str, Any],
) -> dict[str, Any]:
    """Return what all answers depend on, by names for messages."""
    options = {"column": source.column, "prefix": prefix, **source.reading._asdict()}
    return {
        **{f"the option {name}": value for name, value in options.items()},
        **basis,
        "the embedding": as_embedding(d.embedding).fingerprint()["name"],
        "the score of this release": weights_digest(),
        "the decisions": sorted(
            [one.text, one.key] for file in decided.files.values() for one in file.decisions
        ),
    }


def _keep_no_memory() -> None:
    """Let pyarrow give memory back at once: its own pools keep some 50 MB from part to part."""
    with suppress(ImportError):  # which is told when the first part is read
        import pyarrow

        pyarrow.set_memory_pool(pyarrow.system_memory_pool())


class _Mapper:
    """Maps the parts of a run; arguments as of `map_parts`."""

    def __init__(
        self,
        run: _Run,
        d: FuzzyDict[Any],
        decided: Decided,
        source: Source,
        prefix: str | None,
        deciding: Deciding,
    ) -> None:
        self._run, self._d, self._source, self._deciding = run, d, source, deciding
        self._added = new_columns(source.column, prefix)
        self._doubts = Review(deciding.review, decided) if deciding.review else None
        self._answers = _Answers(d)
        self._lookup = Lookup(d, decided, self._answers)
        self._readings: dict[str, Reading] = {}  # of the parts that were opened, with guesses

    def map(
        self, parts: list[Part], workers: Workers, progress: Callable[[str, int, int], None]
    ) -> Cleaned:
        """Write the parts that are not written yet; return the numbers of rows of all."""
        steps = _Progress(parts, progress)
        counts, todo = list[Cleaned](), list[Part]()
        for part in parts:
            known = self._run.counts(part, self._deciding.sure)
            if known is None or self._doubts:  # whose texts come up again in a review
                todo.append(part)
            else:
                counts.append(known)
                steps.end("matching", part)
        if len(todo) > 1:
            for part in todo:
                self._check(part)
        for group in self._looked_up(todo, workers, steps):
            for part in group:
                counts.append(
                    self._count(part) if self._run.has(part) else self._write(part, steps)
                )
                steps.end("matching", part)
        total = Cleaned(*map(sum, zip(*counts, strict=True)))
        if not self._doubts:
            return total
        if self._run.is_folder:
            self._doubts.save()
        return total._replace(undecided=self._doubts.undecided())

    @contextmanager
    def _opened(self, part: Part) -> Iterator[Table]:
        """Open a part. How it is read is guessed, and told, when it is opened first."""
        self._run.require_same(part)
        reading = self._readings.get(part.name)
        with warnings.catch_warnings():
            if reading is not None:
                warnings.simplefilter("ignore", UserWarning)
            with open_table(part.source, reading or self._source.reading) as table:
                self._readings[part.name] = table.reading
                yield table

    def _check(self, part: Part) -> None:
        """Check that a part has the column, and none of the new names, before any is written."""
        with self._opened(part) as table:
            blocks = table.blocks(self._source.column, alone=True)
            if self._source.column not in table.names:  # of the first lines of JSON
                for _ in blocks:
                    pass
            check_names(table.names, self._added, table.name)

    def _looked_up(
        self, parts: list[Part], workers: Workers, steps: _Progress
    ) -> Iterator[list[Part]]:
        """Yield parts in groups, each once other processes have answered its texts.

        This process looks up what is not known when a part is written.
        """
        if not workers.are_others:
            yield from ([part] for part in parts)
            return
        most = _GIVEN * (workers.jobs or _PROCESSES)
        group, new = list[Part](), dict[str, None]()
        for part in parts:
            for text in self._texts(part, steps):
                if text not in self._answers.known:
                    new[text] = None
            group.append(part)
            if len(new) >= most or part is parts[-1]:
                self._ask(list(new), workers, steps)
                yield group
                group, new = [], {}
                self._answers.forget()

    def _texts(self, part: Part, steps: _Progress) -> Iterator[str]:
        """Yield the texts of a part that are looked up; they may come more than once."""
        with self._opened(part) as table:
            blocks = table.blocks(self._source.column, alone=True)
            check_names(table.names, self._added, table.name)
            seen = set[str | None]()
            for block in blocks:
                cells = [cell for cell in dict.fromkeys(block.cells) if cell not in seen]
                seen.update(cells)
                yield from self._lookup.asked(self._lookup.queries(cells))
                if done := table.progress():
                    steps.go_on("reading", part, *done)
        steps.end("reading", part)

    def _ask(self, texts: list[str], workers: Workers, steps: _Progress) -> None:
        """Let other processes look texts up."""
        if not texts:
            return
        matcher = workers.matcher or self._run.saved(self._d)
        found = look_up(
            _InAnother(matcher),
            texts,
            jobs=workers.jobs,
            scheduler=workers.scheduler,
            progress=partial(steps.tell, "looking up"),
        )
        try:
            for some, answers in found:
                self._answers.known.update(zip(some, answers, strict=True))
        except FileNotFoundError as error:
            if workers.matcher is not None or error.filename != str(self._run.copy):
                raise
            raise OptionError(
                f"DICT: workers of {workers.scheduler} do not find {self._run.copy}, the copy of "
                f"the dict for them; write to a folder (-o) that all of them have, or give a file "
                f"of d.save in one"
            ) from error
        finally:
            found.close()

    def _write(self, part: Part, steps: _Progress) -> Cleaned:
        """Write a part; a single table comes with its review, or not at all."""
        part.target.parent.mkdir(parents=True, exist_ok=True)
        doubts = None if self._run.is_folder else self._doubts
        with written(part.target, doubts) as file, self._opened(part) as table:
            blocks = table.blocks(self._source.column)
            with table.copying(file, self._added):
                go_on = partial(steps.go_on, "matching", part)
                counts = copy_rows(table, blocks, self._matcher(table.beside), go_on)
        self._run.note(part, self._deciding.sure, counts)
        return counts

    def _count(self, part: Part) -> Cleaned:
        """Return the numbers of rows of a part that is written; add its doubts to the review."""
        matcher = self._matcher(lambda _answer: "")
        with self._opened(part) as table:
            for block in table.blocks(self._source.column, alone=True):
                matcher.beside(block.cells, block.counts)
        return matcher.counted()

    def _matcher(self, as_written: Callable[[Any], Any]) -> ColumnMatcher:
        return ColumnMatcher(self._lookup, as_written, self._doubts, self._deciding.sure)


class _Progress:
    """Tells how much of a step is done, in bytes of all parts."""

    def __init__(self, parts: list[Part], tell: Callable[[str, int, int], None]) -> None:
        self.tell = tell
        self._sizes = {part.name: part.state()[0] for part in parts}
        self._done, self._total = dict[str, int](), sum(self._sizes.values())

    def go_on(self, step: str, part: Part, done: int, total: int) -> None:
        """Tell that so much of a part is done."""
        share = self._sizes[part.name] * done // max(1, total)
        self.tell(step, self._done.get(step, 0) + share, self._total)

    def end(self, step: str, part: Part) -> None:
        """Tell that a part is done."""
        self._done[step] = self._done.get(step, 0) + self._sizes[part.name]
        self.tell(step, self._done[step], self._total)


# ---- what is answered -------------------------------------------------------------------------


class _Best(NamedTuple):
    """The best key of a text, its score, and whether it matches."""

    key: str
    score: float
    matches: bool


def _best(d: FuzzyDict[Any], texts: list[str]) -> list[_Best | None]:
    return [one and _Best(one.key, one.score, one.matches) for one in best_keys(d, texts)]


class _Answers:
    """The best keys of texts, which are looked up by this process if they are not known.

    Attributes:
        known: what was looked up.
    """

    def __init__(self, d: FuzzyDict[Any]) -> None:
        self._d = d
        self.known: dict[str, _Best | None] = {}

    def __call__(self, texts: list[str]) -> list[Match | None]:
        if unknown := [text for text in texts if text not in self.known]:
            if len(self.known) > _KEPT:
                self.known = {text: self.known[text] for text in texts if text in self.known}
            self.known.update(zip(unknown, _best(self._d, unknown), strict=True))
        return [self._match(text, self.known[text]) for text in texts]

    def _match(self, text: str, best: _Best | None) -> Match | None:
        if best is None:
            return None
        value = dict.__getitem__(self._d, best.key)
        return Match(best.key, value, best.score, query=text, matches=best.matches)

    def forget(self) -> None:
        """Forget all, if that is very much."""
        if len(self.known) > _KEPT:
            self.known.clear()


class _InAnother:
    """Answers texts by the dict of a `Matcher`, wherever it is unpickled."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher

    def __call__(self, texts: list[str]) -> list[_Best | None]:
        found, cutoff = _best(self._matcher.open(), texts), self._matcher.score_cutoff
        if cutoff is None:
            return found
        return [one and one._replace(matches=cutoff <= one.score > -float("inf")) for one in found]


# ---- what is noted ----------------------------------------------------------------------------


class _Run:
    """What a run does, noted beside the parts of a folder so that another run goes on with it.

    The file has a line of JSON for what the run depends on, by names for messages, and one for each
    part that is written, with the state of its table. Of a single table, nothing is noted.

    Attributes:
        copy: where the dict is saved for other processes, if need be.
        is_complete: is set when all is done.
    """

    def __init__(
        self, output: Path, began: dict[str, Any], parts: list[Part], *, is_folder: bool
    ) -> None:
        self.is_folder, self.is_complete = is_folder, False
        self._states = {part.name: part.state() for part in parts}
        self._output, self._began = output, json.loads(json.dumps(began, default=str))
        hidden = f".{_STATE}" if is_folder else f".{output.name}.{_STATE}"
        self._folder = (output if is_folder else output.parent) / hidden
        self.copy = self._folder.absolute() / "dict.fuzzydict"
        self._noted: dict[str, tuple[float, list[int]]] = {}  # sure and counts, by names of parts
        self._log: BufferedWriter | None = None
        self._matcher: Matcher | None = None

    def __enter__(self) -> Self:
        if not self.is_folder:
            return self
        self._is_output_new = not self._output.exists()
        if not (self._folder.is_dir() or self._is_output_new) and any(self._output.iterdir()):
            raise OptionError(
                f"{self._output} is not empty; name a new folder, or remove what is in this one"
            )
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / "run.jsonl"
        self._log = path.open("ab")
        try:
            _lock(self._log, self._output)
            self._go_on(path, self._log)
        except BaseException:
            self._log.close()
            raise
        return self

    def _go_on(self, path: Path, log: BufferedWriter) -> None:
        """Read what was noted, and check that it is about this run; or begin a new run."""
        *lines, torn = path.read_bytes().split(b"\n")
        log.truncate(log.tell() - len(torn))  # of a run that was killed as it wrote
        try:
            before, *parts = map(json.loads, lines or [b"{}"])
            self._noted = {name: (sure, [*map(int, counts)]) for name, sure, counts, _ in parts}
            changed = [one for one in self._began if before.get(one, ...) != self._began[one]]
            changed += sorted(before.keys() - self._began.keys())
            states = {name: state for name, *_, state in parts}
            changed += [
                f"the table {name}" for name in states if states[name] != self._states.get(name)
            ]
        except (AttributeError, TypeError, ValueError) as error:
            raise FileFormatError(
                f"{path} is damaged: {error}; remove {self._output} to begin again"
            ) from error
        if not lines:
            self._append(self._began)
        elif changed:
            raise OptionError(
                f"{changed[0]} has changed since the run began that {self._folder} is of; make it "
                f"what it was to go on, or remove {self._output} to begin again"
            )
        for left in self._output.rglob(".fuzzydict-*"):
            if _LEFT.fullmatch(left.name):
                left.unlink()

    def __exit__(self, *_: object) -> None:
        if self._log:
            self._log.close()
        if self.is_complete or not self._noted:  # nothing to go on with
            shutil.rmtree(self._folder, ignore_errors=True)
        if self.is_folder and not self._noted:
            made = [self._output] if self._is_output_new else []
            for folder in [*sorted(self._output.rglob("*"), reverse=True), *made]:
                with suppress(OSError):
                    folder.rmdir()

    def has(self, part: Part) -> bool:
        """Tell whether a part is written."""
        return part.name in self._noted and part.target.is_file()

    def counts(self, part: Part, sure: float) -> Cleaned | None:
        """Return the numbers of rows of a part that is written, if they are known."""
        if not self.has(part) or self._noted[part.name][0] != sure:
            return None
        return Cleaned(*self._noted[part.name][1])

    def note(self, part: Part, sure: float, counts: Cleaned) -> None:
        """Note that a part is written."""
        self._noted[part.name] = sure, [*counts]
        self._append([part.name, sure, counts, self._states[part.name]])

    def _append(self, line: Any) -> None:
        if self._log:
            self._log.write(json.dumps(line).encode() + b"\n")
            self._log.flush()
            os.fsync(self._log.fileno())

    def require_same(self, part: Part) -> None:
        """Raise FileFormatError if a part changed since the run began."""
        if part.state() != self._states[part.name]:
            again = f"remove {self._output} to begin again" if self.is_folder else "start again"
            raise FileFormatError(f"{part.source} has changed since it was read; {again}")

    def saved(self, d: FuzzyDict[Any]) -> Matcher:
        """Return a matcher of the dict, which is saved beside the output for other processes."""
        if self._matcher is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            d.save(self.copy)
            self._matcher = Matcher(self.copy, embedding=d.embedding, trust=True)
        return self._matcher


def _lock(file: BufferedWriter, output: Path) -> None:
    """Refuse that another run writes to the same place, where files can be locked."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise OptionError(f"another run writes to {output}; wait for its end, or end it") from error
    except (ImportError, OSError):  # on Windows, and on some network drives
        return
