"""Match a column of all tables in a folder, or of one table, in several processes.

There are three steps:

1. Read the column of every part, and count its distinct texts.
2. Look the distinct texts up, each once: here, in several processes, or on a Dask cluster.
3. Write each part again, with the new columns that `io.columns.clean_column` adds.

What was read, looked up and written is noted in a database of SQLite beside the output. A run that
was killed goes on from there when it is started again. At the end the database is removed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import warnings
from collections import Counter
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from hashlib import blake2b
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from fuzzydict._files import replacing
from fuzzydict.embedding.encoder import as_embedding
from fuzzydict.errors import FileFormatError, FuzzyDictError, OptionError, WorkerError
from fuzzydict.frames.dask import require_dask
from fuzzydict.frames.workers import Matcher, look_up
from fuzzydict.io.columns import (
    SURE,
    Cleaned,
    ColumnMatcher,
    best_keys,
    check_apart,
    copy_rows,
    decided_in,
    new_columns,
)
from fuzzydict.io.review import Review
from fuzzydict.io.tables import check_names, open_table, table_format
from fuzzydict.results.answers import Match

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from fuzzydict.io.columns import Answer
    from fuzzydict.io.review import Decided
    from fuzzydict.io.tables import Added, Writer
    from fuzzydict.mapping import FuzzyDict


#: The formats of tables that a folder may have.
FOLDER_FORMATS = ("csv", "tsv", "jsonl", "parquet")
_SUCCESS = "_SUCCESS"  # as Spark and Hadoop name the file that says that a folder is complete
_STATE = "fuzzydict-map"
_LEFT = re.compile(r"\.fuzzydict-[0-9a-f]{16}(-empty)?")  # by `replacing` in a run that was killed
_KEPT, _KEPT_CHARACTERS = 2**18, 2**26  # texts that are counted, or known, in memory
_PAGE = 4096  # texts that are read from the database at once
_SECONDS = 30.0  # after which the parts that were read are noted


# ---- the parts --------------------------------------------------------------------------------


class Part(NamedTuple):
    """A table and where it is written again; its name is what both paths end in."""

    name: str
    source: Path
    target: Path

    def state(self) -> tuple[int, int]:
        """Return the size and the time of the table, by which a change can be told."""
        status = self.source.stat()
        return status.st_size, status.st_mtime_ns


def parts_in(source: Path, output: Path, format: str | None = None) -> list[Part]:  # noqa: A002
    """Return the tables in a folder and below it, or the one that ``source`` is.

    Hidden files and folders, and those whose names begin with ``_``, are left out.

    Args:
        source: a folder, or a file.
        output: a folder for the parts of a folder, and otherwise a file.
        format: that of all files in the folder; by default all must have endings of one format.

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


# ---- all three steps --------------------------------------------------------------------------


def map_parts(
    d: FuzzyDict[Any],
    source: Path,
    column: str,
    output: Path,
    *,
    matcher: Matcher | None = None,
    dict_file: Path | None = None,
    options: Mapping[str, Any] | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
    format: str | None = None,  # noqa: A002 - the usual name
    sheet: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    prefix: str | None = None,
    decisions: Path | None = None,
    review: Path | None = None,
    sure: float = SURE,
    progress: Callable[[str, int, int], None] = lambda _step, _done, _total: None,
) -> Cleaned:
    """Write all tables in a folder, or one, with the key, value and score that match each cell.

    Each part is written as `clean_column` does it, whole or not at all. The parts of a folder keep
    their paths in it, and an empty file ``_SUCCESS`` is written when all are there. A run that
    ended early is gone on with when it is started again: no text is looked up twice, and no part
    written twice.

    Args:
        d: the dict.
        source: a folder of CSV, TSV, JSON Lines or Parquet files, or a file as for `clean_column`.
        column: the name of the column.
        output: a folder that is empty or new, if ``source`` is one; otherwise a file.
        matcher: the dict in a file, for other processes; by default it is saved beside the output.
        dict_file: the file that the dict is from.
        options: what else the answers depend on. A run is only gone on with if they are the same.
        jobs: as for `look_up`.
        scheduler: as for `look_up`.
        format: as for `parts_in`.
        sheet: as for `clean_column`, and so are the others.
        delimiter: of CSV or TSV.
        encoding: of CSV or TSV.
        prefix: of the names of the new columns.
        decisions: a review in which somebody decided.
        review: the file for the doubtful queries of all parts.
        sure: the lowest score of a match that is not doubtful.
        progress: called with the name of a step, the amount done and the total amount.

    Raises:
        OSError, FileFormatError, MissingExtraError: as `clean_column`.
        OptionError: as `clean_column` and `parts_in`; or the output folder is not empty, or of a
            run with another dict, table or option, or one that still runs.
        WorkerError: as `look_up`.
    """
    if scheduler is not None:
        require_dask()
    parts = parts_in(source, output, format)
    for part in parts:
        check_apart(part.source, part.target, decisions, review)
    if "parquet" in (format, table_format(parts[0].source)):
        _keep_no_memory()
    decided = decided_in(d, decisions, review)
    reading = {"format": format, "sheet": sheet, "delimiter": delimiter, "encoding": encoding}
    asked = {**(options or {}), **reading, "column": column, "prefix": prefix}
    began = _basis(d, dict_file, decided, asked, parts)
    with _Run(source, output, began) as run:
        added = new_columns(column, prefix)
        _read(run, parts, column, added, reading, progress)
        seen = ColumnMatcher(d, decided, None, sure, lambda _answer: "")
        run.settle(lambda texts: {one for one in seen.asked(texts) if not seen.is_blank(one)})
        _look_up(run, d, matcher, jobs, scheduler, progress)
        with nullcontext() if review is None else Review(review, decided) as doubts:
            counts = _counted(run, d, decided, doubts, sure)
            try:
                if doubts:  # before a table is replaced, which can be read only once then
                    doubts.save()
                _write(run, parts, d, decided, column, added, reading, progress)
            except BaseException:
                if doubts:
                    doubts.restore()
                raise
        if source.is_dir():
            with replacing(output / _SUCCESS):
                pass
        run.finish()
    return counts


def _basis(
    d: FuzzyDict[Any],
    dict_file: Path | None,
    decided: Decided,
    options: Mapping[str, Any],
    parts: list[Part],
) -> dict[str, Any]:
    """Return what the answers and the parts depend on, by names for messages."""
    return {
        "the dict": _digest(dict_file),
        "the embedding": as_embedding(d.embedding).fingerprint()["name"],
        "the decisions": sorted(
            [one.text, one.key] for file in decided.files.values() for one in file.decisions
        ),
        **{f"the option {name}": value for name, value in options.items()},
        **{f"the table {part.source}": part.state() for part in parts},
    }


def _keep_no_memory() -> None:
    """Let pyarrow give memory back at once: its own pools keep some 50 MB from part to part."""
    with suppress(ImportError):  # which is told when the first part is read
        import pyarrow

        pyarrow.set_memory_pool(pyarrow.system_memory_pool())


def _digest(path: Path | None) -> str | None:
    if path is None:
        return None
    digest = blake2b(digest_size=16)
    with path.open("rb") as file:
        while data := file.read(2**20):
            digest.update(data)
    return digest.hexdigest()


def _read(
    run: _Run,
    parts: list[Part],
    column: str,
    added: list[Added],
    reading: dict[str, Any],
    progress: Callable[[str, int, int], None],
) -> None:
    """Count the texts of the parts that were not read yet."""
    step = _Step("reading", parts, progress)
    counts, read, noted, characters = Counter[str | None](), list[Part](), monotonic(), 0
    for part in parts:
        if run.is_noted("read", part):
            step.end(part)
            continue
        with open_table(part.source, **reading) as table:
            blocks = table.blocks(column, alone=True)
            check_names(table.names, added, table.name)
            for block in blocks:
                if block.counts is None:
                    counts.update(block.cells)
                else:
                    counts.update(dict(zip(block.cells, block.counts, strict=True)))
                characters += sum(map(len, filter(None, block.cells)))
                if len(counts) > _KEPT or characters > _KEPT_CHARACTERS:
                    run.add(counts)
                    counts, characters = Counter(), 0
                if done := table.progress():
                    step.go_on(part, *done)
        read.append(part)
        step.end(part)
        if monotonic() - noted > _SECONDS:
            run.add(counts)
            run.note("read", read)
            counts, read, noted, characters = Counter(), [], monotonic(), 0
    run.add(counts)
    run.note("read", read)


def _look_up(
    run: _Run,
    d: FuzzyDict[Any],
    matcher: Matcher | None,
    jobs: int | None,
    scheduler: str | None,
    progress: Callable[[str, int, int], None],
) -> None:
    """Look the texts up that have no answer yet."""
    total = run.left()
    if not total:
        return
    ask: Callable[[list[str]], list[_Best | None]]
    if scheduler is None and jobs in (None, 1):
        ask = _InThisProcess(d)
    else:
        ask = _InAnother(matcher or run.saved(d))
    found = look_up(
        ask,
        run.unanswered(),
        jobs=jobs,
        scheduler=scheduler,
        total=total,
        progress=lambda done, total: progress("looking up", done, total),
    )
    try:
        for texts, answers in found:
            run.answer(texts, answers)
    except FileNotFoundError as error:
        if matcher is not None or error.filename != str(run.copy):
            raise
        raise OptionError(
            f"DICT: workers of {scheduler} do not find {run.copy}, the copy of the dict for them; "
            f"write to a folder (-o) that all of them have, or give a file of d.save in one"
        ) from error
    finally:
        found.close()


def _counted(
    run: _Run, d: FuzzyDict[Any], decided: Decided, doubts: Review | None, sure: float
) -> Cleaned:
    """Return the numbers of rows of all parts, and add their doubts to the review."""
    matcher = ColumnMatcher(d, decided, doubts, sure, lambda _answer: "", run.answers(d))
    for texts, rows in run.counts():
        matcher.beside(texts, rows)
    matcher.count_rows()
    if doubts:
        matcher.count["undecided"] = doubts.undecided()
    return Cleaned(**{name: matcher.count[name] for name in Cleaned._fields})


def _write(
    run: _Run,
    parts: list[Part],
    d: FuzzyDict[Any],
    decided: Decided,
    column: str,
    added: list[Added],
    reading: dict[str, Any],
    progress: Callable[[str, int, int], None],
) -> None:
    """Write the parts that were not written yet, each with what was answered."""
    step = _Step("writing", parts, progress)
    # The least score of a match that is sure counts for reviews alone.
    matcher = ColumnMatcher(d, decided, None, SURE, lambda answer: answer, run.answers(d))
    for part in parts:
        if run.is_noted("written", part):
            step.end(part)
            continue
        run.require_same(part)
        part.target.parent.mkdir(parents=True, exist_ok=True)
        with (
            warnings.catch_warnings(action="ignore", category=UserWarning),  # told when it was read
            replacing(part.target) as file,
            open_table(part.source, **reading) as table,
        ):
            blocks = table.blocks(column)
            with table.writer(file, added) as writer:
                beside = _Beside(matcher, writer)
                copy_rows(table, blocks, writer, beside, partial(step.go_on, part))
        run.note("written", [part])
        step.end(part)


class _Beside:
    """Finds what one writer writes beside cells; what matches them is known from other parts."""

    def __init__(self, matcher: ColumnMatcher[Answer], writer: Writer[Any]) -> None:
        self._matcher, self._writer = matcher, writer
        self._known: dict[str | None, Any] = {}
        self._characters = 0

    def beside(self, cells: list[str | None], _counts: Sequence[int] | None = None, /) -> list[Any]:
        """Return what is written beside some cells, as `ColumnMatcher.beside` does."""
        if len(self._known) > _KEPT or self._characters > _KEPT_CHARACTERS:
            self._known.clear()
            self._characters = 0
        unknown = [cell for cell in dict.fromkeys(cells) if cell not in self._known]
        if unknown:
            found = list(map(self._writer.beside, self._matcher.beside(unknown)))
            self._known.update(zip(unknown, found, strict=True))
            texts = [text for text in unknown + found if isinstance(text, str)]
            self._characters += sum(map(len, texts))
        return list(map(self._known.__getitem__, cells))

    def count_rows(self) -> None:
        """Count nothing: the rows were counted when they were read."""


class _Step:
    """Tells how much of a step is done, in bytes of all parts."""

    def __init__(
        self, name: str, parts: list[Part], progress: Callable[[str, int, int], None]
    ) -> None:
        self._name, self._progress = name, progress
        self._sizes = {part.name: part.state()[0] for part in parts}
        self._done, self._total = 0, sum(self._sizes.values())

    def go_on(self, part: Part, done: int, total: int) -> None:
        share = self._sizes[part.name] * done // max(1, total)
        self._progress(self._name, self._done + share, self._total)

    def end(self, part: Part) -> None:
        self._done += self._sizes[part.name]
        self._progress(self._name, self._done, self._total)


# ---- what is asked ----------------------------------------------------------------------------


class _Best(NamedTuple):
    """The best key of a text, its score, and whether it matches."""

    key: str
    score: float
    matches: bool


class _InThisProcess:
    """Answers texts by the dict of this process."""

    def __init__(self, d: FuzzyDict[Any]) -> None:
        self._d = d

    def __call__(self, texts: list[str]) -> list[_Best | None]:
        found = best_keys(self._d, texts)
        return [one and _Best(one.key, one.score, one.matches) for one in found]


class _InAnother:
    """Answers texts by the dict of a `Matcher`, wherever it is unpickled."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher

    def __call__(self, texts: list[str]) -> list[_Best | None]:
        found, cutoff = _InThisProcess(self._matcher.open())(texts), self._matcher.score_cutoff
        if cutoff is None:
            return found
        return [one and one._replace(matches=cutoff <= one.score > -float("inf")) for one in found]


# ---- what is noted ----------------------------------------------------------------------------

_TABLES = """
CREATE TABLE IF NOT EXISTS began (what TEXT);
CREATE TABLE IF NOT EXISTS part (step TEXT, name BLOB, PRIMARY KEY (step, name)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS text (
    id INTEGER PRIMARY KEY, text BLOB UNIQUE, rows INTEGER,
    is_settled INTEGER DEFAULT 0, key BLOB, score REAL, matches INTEGER
);
"""


class _Run:
    """What a run has done so far, in a database that outlives it.

    Args:
        source: what is read.
        output: what is written.
        began: what the answers and the parts depend on, by names for messages.

    Attributes:
        copy: where the dict is saved for other processes, if need be.
    """

    def __init__(self, source: Path, output: Path, began: dict[str, Any]) -> None:
        self._output, self._began = output, json.loads(json.dumps(began, default=str))
        self._is_folder = source.is_dir()
        hidden = f".{_STATE}" if self._is_folder else f".{output.name}.{_STATE}"
        self._folder = (output if self._is_folder else output.parent) / hidden
        self.copy = self._folder.absolute() / "dict.fuzzydict"
        if (
            self._is_folder
            and not self._folder.is_dir()
            and output.exists()
            and any(output.iterdir())
        ):
            raise OptionError(
                f"{output} is not empty; name a new folder, or remove what is in this one"
            )

    def __enter__(self) -> Self:
        self._is_new, self._is_output_new = not self._folder.exists(), not self._output.exists()
        self._folder.mkdir(parents=True, exist_ok=True)
        self._database = sqlite3.connect(self._folder / "run.sqlite", 0, isolation_level=None)
        try:
            with self._errors():
                self._database.execute("PRAGMA locking_mode = EXCLUSIVE")
                self._database.execute("PRAGMA cache_size = -8192")
                self._database.execute("BEGIN EXCLUSIVE")
                for statement in filter(str.strip, _TABLES.split(";")):
                    self._database.execute(statement)
                self._go_on()
        except BaseException:
            self._database.close()
            raise
        return self

    def _go_on(self) -> None:
        """Begin a new run, or check that it is the one that began."""
        row = self._database.execute("SELECT what FROM began").fetchone()
        if row is None:
            self._execute("INSERT INTO began VALUES (?)", [(json.dumps(self._began),)])
            self._commit()
            return
        before = json.loads(row[0])
        changed = [one for one in self._began if before.get(one, ...) != self._began[one]]
        changed += before.keys() - self._began.keys()
        if changed:
            raise OptionError(
                f"{changed[0]} has changed since the run began that {self._folder} is of; make it "
                f"what it was to go on, or remove {self._whole()} to begin again"
            )
        self._commit()
        if self._is_folder:
            for path in self._output.rglob(".fuzzydict-*"):
                if _LEFT.fullmatch(path.name):
                    path.unlink()

    def _whole(self) -> Path:
        return self._output if self._is_folder else self._folder

    def __exit__(self, kind: Any, error: BaseException | None, _: object) -> None:
        is_misuse = isinstance(error, Exception) and not isinstance(error, WorkerError)
        try:
            has_done = not is_misuse or self._has(
                "SELECT 1 FROM text WHERE is_settled = 2 "
                "UNION SELECT 1 FROM part WHERE step = 'written'"
            )
        except (OSError, FuzzyDictError):
            has_done = True
        self._database.close()
        if self._is_new and not has_done:  # nothing to go on with
            self.finish()
            if self._is_folder and self._is_output_new:
                with suppress(OSError):
                    self._output.rmdir()

    def finish(self) -> None:
        """Remove the database."""
        self._database.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    # parts

    def is_noted(self, step: str, part: Part) -> bool:
        """Tell whether a step was done with a part."""
        return self._has(
            "SELECT 1 FROM part WHERE step = ? AND name = ?", step, _as_bytes(part.name)
        )

    def note(self, step: str, parts: Iterable[Part]) -> None:
        """Note that a step was done with some parts."""
        self._execute(
            "INSERT INTO part VALUES (?, ?)", [(step, _as_bytes(part.name)) for part in parts]
        )
        self._commit()

    def require_same(self, part: Part) -> None:
        """Raise FileFormatError if a part changed since the run began."""
        if list(part.state()) != self._began[f"the table {part.source}"]:
            raise FileFormatError(
                f"{part.source} has changed since it was read; remove {self._whole()} to begin "
                f"again"
            )

    # texts

    def add(self, counts: Mapping[str | None, int]) -> None:
        """Add the numbers of rows of some texts."""
        self._execute(
            "INSERT INTO text (text, rows) VALUES (?, ?) "
            "ON CONFLICT (text) DO UPDATE SET rows = rows + excluded.rows",
            [(_as_bytes(text or ""), rows) for text, rows in counts.items()],
        )

    def settle(self, asked: Callable[[list[str]], set[str]]) -> None:
        """Note which texts need no answer: those that are not ``asked``."""
        for page in self._pages("id, text", "is_settled = 0"):
            texts = asked([_as_text(text) for _, text in page])
            others = [(number,) for number, text in page if _as_text(text) not in texts]
            self._execute("UPDATE text SET is_settled = 1 WHERE id = ?", others)
        self._commit()

    def left(self) -> int:
        """Return how many texts have no answer yet."""
        return int(self._fetched("SELECT COUNT(*) FROM text WHERE is_settled = 0")[0][0])

    def unanswered(self) -> Iterator[str]:
        """Yield the texts that have no answer yet."""
        for page in self._pages("id, text", "is_settled = 0"):
            yield from (_as_text(text) for _, text in page)

    def answer(self, texts: list[str], answers: list[_Best | None]) -> None:
        """Note what was answered to some texts."""
        rows = [
            (
                *((_as_bytes(one.key), one.score, one.matches) if one else [None] * 3),
                _as_bytes(text),
            )
            for text, one in zip(texts, answers, strict=True)
        ]
        self._execute(
            "UPDATE text SET is_settled = 2, key = ?, score = ?, matches = ? WHERE text = ?", rows
        )
        self._commit()

    def answers(self, d: FuzzyDict[Any]) -> Callable[[list[str]], list[Match | None]]:
        """Return what `ColumnMatcher` asks in place of the dict."""

        def answers(texts: list[str]) -> list[Match | None]:
            known: dict[str, Match | None] = {}
            for start in range(0, len(texts), _PAGE):
                known.update(self._matches(texts[start : start + _PAGE], d))
            return [known[text] for text in texts]

        return answers

    def _matches(self, texts: list[str], d: FuzzyDict[Any]) -> Iterator[tuple[str, Match | None]]:
        places = ", ".join("?" * len(texts))
        rows = self._fetched(
            f"SELECT text, key, score, matches FROM text WHERE text IN ({places})",  # noqa: S608
            list(map(_as_bytes, texts)),
        )
        for data, saved, score, matches in rows:
            text = _as_text(data)
            if saved is None:
                yield text, None
                continue
            key = _as_text(saved)
            value = dict.__getitem__(d, key)
            yield text, Match(key, value, score, query=text, matches=bool(matches))

    def counts(self) -> Iterator[tuple[list[str | None], list[int]]]:
        """Yield all texts, as they first came, with their numbers of rows."""
        for page in self._pages("id, text, rows", "1"):
            yield [_as_text(text) for _, text, _ in page], [rows for _, _, rows in page]

    # the database

    def _pages(self, columns: str, where: str) -> Iterator[list[Any]]:
        """Yield rows in the order of their numbers; others may be written meanwhile."""
        query = f"SELECT {columns} FROM text WHERE {where} AND id > ? ORDER BY id LIMIT {_PAGE}"  # noqa: S608
        last = -1
        while page := self._fetched(query, [last]):
            yield page
            last = page[-1][0]

    def _has(self, query: str, *values: Any) -> bool:
        return bool(self._fetched(f"{query} LIMIT 1", values))

    def _fetched(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._errors():
            return self._database.execute(query, values).fetchall()

    def _execute(self, statement: str, rows: list[Any]) -> None:
        with self._errors():
            if not self._database.in_transaction:
                self._database.execute("BEGIN")
            self._database.executemany(statement, rows)

    def _commit(self) -> None:
        with self._errors():
            if self._database.in_transaction:
                self._database.execute("COMMIT")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise OptionError(
                    f"another run writes to {self._output}; wait for its end, or end it"
                ) from error
            raise OSError(f"{self._folder}: {error}") from error
        except sqlite3.DatabaseError as error:
            raise FileFormatError(
                f"{self._folder} is damaged: {error}; remove {self._whole()} to begin again"
            ) from error

    def saved(self, d: FuzzyDict[Any]) -> Matcher:
        """Return a matcher of the dict, which is saved beside the output for other processes."""
        d.save(self.copy)
        return Matcher(self.copy, embedding=d.embedding, trust=True)


def _as_bytes(text: str) -> bytes:
    """Return text as bytes, for SQLite refuses lone surrogates in text."""
    return text.encode("utf-8", "surrogatepass")


def _as_text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")
