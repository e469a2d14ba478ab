"""Systems measured on retrieval sets and on pairs of words: a report of plain figures."""

from __future__ import annotations

import json
import math
import os
import platform
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzydict.errors import OptionError
from fuzzydict.evaluation.metrics import (
    auroc,
    expected_calibration_error,
    hit_at_1,
    mean_reciprocal_rank,
    rank_correlation,
)
from fuzzydict.evaluation.systems import Ranker, Remembering, System

if TYPE_CHECKING:
    from fuzzydict.evaluation.datasets import Dictionary, JudgedPair, Query, RetrievalSet

__all__ = [
    "Correlation",
    "Report",
    "Retrieval",
    "as_json",
    "as_tables",
    "environment",
    "evaluate",
    "markdown_table",
    "shown_command",
    "text_table",
]


_TOPN = 10  # ranks that the mean reciprocal rank looks at
_TIMED = 50  # lookups timed in a set, for each system


@dataclass(frozen=True)
class Retrieval:
    """How a system does on a set; the names of measures are those of `fuzzydict.measures`.

    Attributes:
        name: of the set.
        system: its name.
        queries: how many there are.
        keys: how many the largest dictionary has.
        hit_at_1: share of queries whose nearest key is right.
        mean_reciprocal_rank: of the first right key, over ten.
        auroc: whether the score of the nearest key tells "the right key is here" from the same
            query with its right keys taken out.
        calibration_error: how far scores are from the share of answers that are right, over both;
            None where scores do not claim to be probabilities.
        microseconds: median of single lookups.
    """

    name: str
    system: str
    queries: int
    keys: int
    hit_at_1: float
    mean_reciprocal_rank: float
    auroc: float
    calibration_error: float | None
    microseconds: float


@dataclass(frozen=True)
class Correlation:
    """How a system's cosines go with people's judgement of pairs of words.

    Attributes:
        name: of the pairs.
        system: its name.
        pairs: how many there are; all count.
        never_seen: pairs with a word that the system's vectors have not seen; None if unknown.
        spearman: the rank correlation; NaN where all cosines are equal.
    """

    name: str
    system: str
    pairs: int
    never_seen: int | None
    spearman: float


@dataclass(frozen=True)
class Report:
    """All figures: a `Retrieval` for each set and system, a `Correlation` for pairs and system.

    ``calibration_errors`` has the error over all sets together, by the system's name.
    """

    retrieval: list[Retrieval] = field(default_factory=list)
    calibration_errors: dict[str, float] = field(default_factory=dict)
    correlations: list[Correlation] = field(default_factory=list)


def evaluate(
    systems: Sequence[System],
    sets: Sequence[RetrievalSet] = (),
    pairs: Mapping[str, Sequence[JudgedPair]] | None = None,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Report:
    """Measure systems on retrieval sets, and those that have an encoder on pairs of words.

    ``progress(done, total)`` is told of each dictionary, in queries asked of all systems.

    Raises:
        OptionError: two systems have one name.

    >>> from fuzzydict.evaluation.datasets import Dictionary, Query, RetrievalSet
    >>> from fuzzydict.evaluation.systems import fuzzy_dict
    >>> queries = [Query("colour", frozenset({"color"})), Query("modell", frozenset({"model"}))]
    >>> tiny = RetrievalSet("tiny", [Dictionary(["brand", "model", "color"], queries)])
    >>> (figures,) = evaluate([fuzzy_dict()], [tiny]).retrieval
    >>> figures.system, figures.hit_at_1, figures.auroc
    ('FuzzyDict', 1.0, 1.0)
    """
    report, asked = Report(), {system.name: _Answers() for system in systems}
    if len(asked) < len(systems):
        names = ", ".join(repr(system.name) for system in systems)
        raise OptionError(f"systems: expected a name of its own for each, got {names}")
    total, done = len(systems) * sum(len(one.queries) for one in sets), 0
    for one in sets:
        found = {system.name: _Answers() for system in systems}
        for dictionary in one.dictionaries:
            _ask(systems, dictionary, found, timed=math.ceil(_TIMED / len(one.dictionaries)))
            done += len(systems) * len(dictionary.queries)
            if progress is not None:
                progress(done, total)
        for system in systems:
            report.retrieval.append(_retrieval(one, system, found[system.name]))
            asked[system.name].add(found[system.name])
    for system in systems:
        if sets and system.is_probability:
            report.calibration_errors[system.name] = asked[system.name].calibration_error()
    for name, judged in (pairs or {}).items():
        report.correlations.extend(
            _correlation(name, judged, s) for s in systems if s.encoder is not None
        )
    return report


# ---- retrieval ----------------------------------------------------------------------------


class _Answers:
    """What a system answered to n queries."""

    def __init__(self) -> None:
        self.ranked: list[list[str]] = []  # the nearest keys, best first
        self.right: list[bool] = []  # whether the nearest is right
        self.present: list[float] = []  # its score; -inf where there is no answer
        self.absent: list[float] = []  # the score of the nearest without the right keys
        self.seconds: list[float] = []  # of some lookups

    def add(self, other: _Answers) -> None:
        for name, values in vars(other).items():
            getattr(self, name).extend(values)

    def calibration_error(self) -> float:
        """Return the error over queries whose keys are there, and those that cannot be right."""
        scores = np.maximum([*self.present, *self.absent], 0)  # no answer claims nothing
        return expected_calibration_error(scores, [*self.right, *(False for _ in self.absent)])


def _ask(
    systems: Sequence[System], dictionary: Dictionary, found: Mapping[str, _Answers], timed: int
) -> None:
    """Add to what is found the answers to all queries of a dictionary."""
    step = math.ceil(len(dictionary.queries) / timed)
    sample = [query.text for query in dictionary.queries[::step]]
    texts = [query.text for query in dictionary.queries]
    rankers = []
    for system in systems:
        if isinstance(system.encoder, Remembering):
            system.encoder.remember(dictionary.keys)
            system.encoder.forget(sample)
        rankers.append(system.over(dictionary.keys))
        found[system.name].seconds.extend(_seconds(rankers[-1], sample))
    for system, ranker in zip(systems, rankers, strict=True):
        if isinstance(system.encoder, Remembering):
            system.encoder.remember(texts)
        for query in dictionary.queries:
            _add(found[system.name], ranker, query)


def _seconds(ranker: Ranker, queries: Sequence[str]) -> list[float]:
    """Return what single lookups take, the keys being ready."""
    ranker.best(queries[0])  # what is made at the first lookup is not counted
    seconds = []
    for query in queries:
        start = time.perf_counter()
        ranker.best(query)
        seconds.append(time.perf_counter() - start)
    return seconds


def _add(answers: _Answers, ranker: Ranker, query: Query) -> None:
    ranked = ranker.ranked(query.text, _TOPN)
    others = ranker.ranked(query.text, 1, without=query.accept)
    answers.ranked.append([key for key, _ in ranked])
    answers.right.append(bool(ranked) and ranked[0].key in query.accept)
    answers.present.append(ranked[0].score if ranked else -math.inf)
    answers.absent.append(others[0].score if others else -math.inf)


def _retrieval(one: RetrievalSet, system: System, answers: _Answers) -> Retrieval:
    accepted = [query.accept for query in one.queries]
    return Retrieval(
        name=one.name,
        system=system.name,
        queries=len(accepted),
        keys=max(len(dictionary.keys) for dictionary in one.dictionaries),
        hit_at_1=hit_at_1([keys[0] if keys else None for keys in answers.ranked], accepted),
        mean_reciprocal_rank=mean_reciprocal_rank(answers.ranked, accepted, topn=_TOPN),
        auroc=auroc(answers.present, answers.absent),
        calibration_error=answers.calibration_error() if system.is_probability else None,
        microseconds=median(answers.seconds) * 1e6,
    )


# ---- pairs of words -----------------------------------------------------------------------


def _correlation(name: str, pairs: Sequence[JudgedPair], system: System) -> Correlation:
    words = [word for pair in pairs for word in (pair.first, pair.second)]
    if isinstance(system.encoder, Remembering):
        system.encoder.remember(words)
    never_seen = None
    if system.never_seen is not None:
        never_seen = sum(any(map(system.never_seen, (p.first, p.second))) for p in pairs)
    return Correlation(
        name, system.name, len(pairs), never_seen, rank_correlation(system.encoder, pairs)
    )


_CPU_INFO = Path("/proc/cpuinfo")
_PACKAGES = ("numpy", "gensim", "fuzzydict")
_SETS = (
    *("set", "system", "queries", "keys"),
    *("hit@1", "MRR", "AUROC", "calibration error", "µs a lookup"),
)
_PAIRS = ("pairs of words", "system", "pairs", "with a word never seen", "Spearman")
_NOTHING = "-"


# ---- what was run, and where --------------------------------------------------------------


def environment(*packages: str) -> str:
    """Return the machine and the versions that numbers depend on, in a line."""
    versions = ", ".join(f"{name} {_version(name)}" for name in (*_PACKAGES, *packages))
    python = f"Python {platform.python_version()}"
    return f"{os.cpu_count()} cores ({_cpu_model()}), {python}, {versions}"


def shown_command(*words: str | Path) -> str:
    """Return a command as it can be run again, its files by their names alone.

    >>> shown_command("fuzzydict", "evaluate", Path("there/my typos.json"))
    "fuzzydict evaluate 'my typos.json'"
    """
    return shlex.join(
        (word.name or str(word)) if isinstance(word, Path) else word for word in words
    )


def _cpu_model() -> str:
    if _CPU_INFO.exists():
        for line in _CPU_INFO.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


# ---- tables -------------------------------------------------------------------------------


def markdown_table(
    header: Sequence[str], rows: Sequence[Sequence[object]], *, names: int = 1
) -> str:
    """Return a table whose first columns hold ``names``, and the others numbers.

    >>> print(markdown_table(["set", "hit@1"], [["typos", 0.97512]]))
    | set | hit@1 |
    |---|---:|
    | typos | 0.975 |
    """
    rules = ["---"] * names + ["---:"] * (len(header) - names)
    lines = [f"| {' | '.join(map(_shown, cells))} |" for cells in (header, *rows)]
    return "\n".join([lines[0], "|" + "|".join(rules) + "|", *lines[1:]])


def text_table(header: Sequence[str], rows: Sequence[Sequence[object]], *, names: int = 1) -> str:
    """Return a table for a terminal; ``names`` stand at the left of their columns, numbers right.

    >>> print(text_table(["set", "hit@1"], [["typos", 0.97512], ["all", None]]))
    set    hit@1
    typos  0.975
    all        -
    """
    shown = [list(map(_shown, cells)) for cells in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i < names else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ).rstrip()
        for cells in shown
    )


def _shown(cell: object) -> str:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return _NOTHING
    return f"{cell:.3f}" if isinstance(cell, float) else str(cell)


# ---- a report -----------------------------------------------------------------------------


def as_tables(report: Report, table: Callable[..., str] = text_table) -> list[str]:
    """Return a table of the retrieval sets, and one of the pairs of words, if measured."""
    sets: list[list[object]] = [
        [
            *(row.name, row.system, row.queries, row.keys, row.hit_at_1),
            *(row.mean_reciprocal_rank, row.auroc, row.calibration_error),
            f"{row.microseconds:.0f}",
        ]
        for row in report.retrieval
    ]
    sets += [
        ["all together", system, *[None] * 5, error, None]
        for system, error in report.calibration_errors.items()
    ]
    pairs = [
        [row.name, row.system, row.pairs, row.never_seen, row.spearman]
        for row in report.correlations
    ]
    found = ((_SETS, sets), (_PAIRS, pairs))
    return [table(header, rows, names=2) for header, rows in found if rows]


def as_json(report: Report, **about: Any) -> str:
    """Return a report as JSON, all figures unrounded, NaN as null; ``about`` comes first."""
    return json.dumps(_finite({**about, **asdict(report)}), indent=2, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value
