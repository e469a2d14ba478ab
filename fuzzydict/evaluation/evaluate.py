"""How well systems find the right key: `evaluate` makes a `Report`, the metrics are below it."""

from __future__ import annotations

import math
import os
import platform
import shlex
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzydict.errors import OptionError, ShapeError, printable
from fuzzydict.evaluation.datasets import Dictionary, JudgedPair, Query, RetrievalSet
from fuzzydict.evaluation.systems import Ranked, Ranker, Remembering, System
from fuzzydict.io.records import as_json

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_TOPN = 10  # ranks that count for the mean reciprocal rank
_TIMED = 50  # lookups timed in a set, for each system


@dataclass(frozen=True)
class Retrieval:
    """How a system does on a retrieval set.

    Each query with right keys is asked again after these are removed. ``auroc`` tells how well the
    score of the nearest key separates the two, and ``calibration_error`` how far scores are from
    the share of right answers, over both. A query that no key answers counts as one whose right
    keys were removed, and not for the other measures.
    """

    name: str  # of the set
    system: str  # its name
    queries: int
    keys: int  # of the largest dictionary
    hit_at_1: float  # share of queries whose nearest key is right
    mean_reciprocal_rank: float  # of the first right key, within the first ten
    auroc: float
    calibration_error: float | None  # None if scores are no probabilities
    microseconds: float  # median time of a lookup


@dataclass(frozen=True)
class Correlation:
    """How a system's cosines agree with human judgement of pairs of words."""

    name: str  # of the pairs
    system: str  # its name
    pairs: int  # all count
    never_seen: int | None  # pairs with a word outside the vocabulary; None if unknown
    spearman: float  # the rank correlation; NaN if all cosines are equal


@dataclass(frozen=True)
class Report:
    """A `Retrieval` for each set and system, and a `Correlation` for each list of pairs and system.

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
    """Measure systems on retrieval sets, and those with an encoder on pairs of words.

    ``progress(done, total)`` is called after each dictionary with the number of queries, counted
    once for each system.

    Raises:
        OptionError: two systems have the same name.

    >>> from fuzzydict.evaluation.systems import fuzzy_dict
    >>> queries = [Query("colour", frozenset({"color"})), Query("modell", frozenset({"model"}))]
    >>> tiny = RetrievalSet("tiny", [Dictionary(["brand", "model", "color"], queries)])
    >>> (row,) = evaluate([fuzzy_dict()], [tiny]).retrieval
    >>> row.system, row.hit_at_1, row.auroc
    ('FuzzyDict', 1.0, 1.0)
    """
    if len({system.name for system in systems}) < len(systems):
        names = ", ".join(repr(system.name) for system in systems)
        raise OptionError(f"systems: expected different names, got {names}")
    report = Report()
    of_all = [list[_Answer]() for _ in systems]
    total, done = len(systems) * sum(len(one.queries) for one in sets), 0
    for one in sets:
        answers, seconds = ([list[Any]() for _ in systems] for _ in range(2))
        most_timed = math.ceil(_TIMED / len(one.dictionaries))
        for dictionary in one.dictionaries:
            sample = dictionary.queries[:: math.ceil(len(dictionary.queries) / most_timed)]
            timed = [_timed(system, dictionary, sample) for system in systems]
            for i, (ranker, taken) in enumerate(timed):
                _remember(systems[i], (query.text for query in dictionary.queries))
                answers[i] += _answers(ranker, dictionary.queries)
                seconds[i] += taken
            done += len(systems) * len(dictionary.queries)
            if progress is not None:
                progress(done, total)
        for i, system in enumerate(systems):
            report.retrieval.append(_retrieval(one, system, answers[i], seconds[i]))
            of_all[i] += answers[i]
    for system, found in zip(systems, of_all, strict=True):
        if sets and system.is_probability:
            report.calibration_errors[system.name] = _calibration_error(found)
    for name, judged in (pairs or {}).items():
        with_encoder = (system for system in systems if system.encoder is not None)
        report.correlations.extend(_correlation(name, judged, system) for system in with_encoder)
    return report


class _Answer(NamedTuple):
    """What a system answers to a query, and without the query's right keys."""

    has_key: bool  # whether some key is right
    rank: float  # of the first right key; inf if it is not among the first ten
    score: float  # of the nearest key; -inf for no answer
    without: float  # the same once the right keys are removed


def _remember(system: System, texts: Iterable[str]) -> None:
    """Encode texts in one batch, where the system's encoder keeps vectors."""
    if isinstance(system.encoder, Remembering):
        system.encoder.remember(texts)


def _timed(
    system: System, dictionary: Dictionary, sample: Sequence[Query]
) -> tuple[Ranker, list[float]]:
    """Return a system over the keys, and the seconds that it takes to look up each of a sample."""
    _remember(system, dictionary.keys)
    if isinstance(system.encoder, Remembering):
        system.encoder.forget(query.text for query in sample)
    ranker = system.over(dictionary.keys)
    ranker.best(sample[0].text)  # what the first lookup prepares does not count
    seconds = []
    for query in sample:
        start = time.perf_counter()
        ranker.best(query.text)
        seconds.append(time.perf_counter() - start)
    return ranker, seconds


def _answers(ranker: Ranker, queries: Sequence[Query]) -> list[_Answer]:
    together: dict[frozenset[str], list[str]] = {}  # queries with the same right keys
    for query in dict.fromkeys(queries):
        together.setdefault(query.accept, []).append(query.text)
    without: dict[tuple[str, frozenset[str]], float] = {}
    for accept, texts in together.items():
        for text, found in zip(texts, ranker.ranked(texts, 1, without=accept), strict=True):
            without[text, accept] = _best_score(found)
    answers = []
    ranked = ranker.ranked([query.text for query in queries], _TOPN)
    for query, found in zip(queries, ranked, strict=True):
        ranks = (rank for rank, one in enumerate(found, 1) if one.key in query.accept)
        removed = without[query.text, query.accept]
        first = next(ranks, math.inf)
        answers.append(_Answer(bool(query.accept), first, _best_score(found), removed))
    return answers


def _best_score(ranked: Sequence[Ranked]) -> float:
    return ranked[0].score if ranked else -math.inf


def _retrieval(
    one: RetrievalSet, system: System, answers: Sequence[_Answer], seconds: Sequence[float]
) -> Retrieval:
    ranks = np.array([answer.rank for answer in answers if answer.has_key])
    present = [answer.score for answer in answers if answer.has_key]
    return Retrieval(
        name=one.name,
        system=system.name,
        queries=len(answers),
        keys=max(len(dictionary.keys) for dictionary in one.dictionaries),
        hit_at_1=float((ranks == 1).mean()) if len(ranks) else math.nan,
        mean_reciprocal_rank=float((1 / ranks).mean()) if len(ranks) else math.nan,
        auroc=auroc(present, [answer.without for answer in answers]),
        calibration_error=_calibration_error(answers) if system.is_probability else None,
        microseconds=median(seconds) * 1e6,
    )


def _calibration_error(answers: Sequence[_Answer]) -> float:
    claims = [(answer.score, answer.rank == 1) for answer in answers if answer.has_key]
    claims += [(answer.without, False) for answer in answers]
    scores = [max(score, 0.0) for score, _ in claims]  # no answer is a score of 0
    return expected_calibration_error(scores, [is_right for _, is_right in claims])


def _correlation(name: str, pairs: Sequence[JudgedPair], system: System) -> Correlation:
    _remember(system, (word for pair in pairs for word in (pair.first, pair.second)))
    never_seen = None
    if system.never_seen is not None:
        never_seen = sum(any(map(system.never_seen, (p.first, p.second))) for p in pairs)
    spearman = rank_correlation(system.encoder, pairs)
    return Correlation(name, system.name, len(pairs), never_seen, spearman)


# ---- metrics ------------------------------------------------------------------------------


def auroc(present: Sequence[float], absent: Sequence[float]) -> float:
    """Return the probability that a score of ``present`` is above one of ``absent``.

    Equal scores count half. This is the area under the ROC curve, computed from ranks (J. A. Hanley
    and B. J. McNeil, 1982): 1 if every present score is above every absent one, 0.5 for chance.
    NaN if either is empty.

    >>> auroc([0.9, 0.5], [0.5, 0.1])
    0.875
    """
    from scipy.stats import rankdata

    n, m = len(present), len(absent)
    if not n or not m:
        return math.nan
    ranks = rankdata([*present, *absent])[:n]
    return float((ranks.sum() - n * (n + 1) / 2) / (n * m))


def expected_calibration_error(
    scores: ArrayLike, right: Sequence[bool], *, bins: int = 10
) -> float:
    """Return how far scores, (n,), are from the share of right answers.

    Scores are put in bins of equal width over [0, 1], each with its upper end. The error is the
    mean over the bins, weighted by their sizes, of the distance between mean score and share of
    right answers (C. Guo et al., 2017, "On Calibration of Modern Neural Networks", equation 3).
    NaN for no scores.

    Raises:
        ShapeError: a score is not within [0, 1], or there are not as many bools as scores.

    >>> round(expected_calibration_error([0.75, 0.75, 0.75, 0.05], [True, True, False, False]), 3)
    0.075
    """
    claimed, correct = np.asarray(scores, np.float64), np.asarray(right, bool)
    if claimed.ndim != 1 or claimed.shape != correct.shape:
        raise ShapeError(
            f"right: expected a bool for each score, (n,) and (n,), "
            f"got {correct.shape} and {claimed.shape}"
        )
    if not len(claimed):
        return math.nan
    if not 0 <= claimed.min() <= claimed.max() <= 1:
        raise ShapeError(
            f"scores: expected probabilities within [0, 1], "
            f"got {claimed.min():.3g} to {claimed.max():.3g}"
        )
    places = np.digitize(claimed, np.arange(1, bins) / bins, right=True)
    claims, rights = (np.bincount(places, weights, bins) for weights in (claimed, correct))
    return float(np.abs(claims - rights).sum() / len(claimed))


def rank_correlation(encoder: Any, pairs: Sequence[JudgedPair]) -> float:
    """Return Spearman's correlation of the pairs' cosines with human judgement.

    All pairs count: a word outside the vocabulary has the vector that the encoder gives it, and
    the cosine with the zero vector is 0. NaN if all cosines or all judgements are equal.
    """
    from scipy.stats import spearmanr

    first, second = (
        np.asarray(encoder.encode([pair[side] for pair in pairs]), np.float32) for side in (0, 1)
    )
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    cosines = (first * second).sum(axis=1) / np.where(lengths == 0, 1, lengths)
    judged = [pair.judged for pair in pairs]
    if np.ptp(cosines) == 0 or np.ptp(judged) == 0:
        return math.nan
    return float(spearmanr(cosines, judged).statistic)


# ---- reports ------------------------------------------------------------------------------

_SET_COLUMNS = (
    *("set", "system", "queries", "keys"),
    *("hit@1", "MRR", "AUROC", "calibration error", "µs a lookup"),
)
_PAIR_COLUMNS = ("pairs of words", "system", "pairs", "with a word never seen", "Spearman")


def report_tables(report: Report, table: Callable[..., str]) -> list[str]:
    """Return a table of the retrieval sets and one of the pairs of words, if measured.

    ``table`` is `text_table` or `markdown_table`.
    """
    sets: list[list[object]] = []
    for row in report.retrieval:
        *cells, microseconds = asdict(row).values()
        sets.append([*cells, f"{microseconds:.0f}"])
    for system, error in report.calibration_errors.items():
        sets.append(["all together", system, *[None] * 5, error, None])
    pairs = [list(asdict(row).values()) for row in report.correlations]
    tables = ((_SET_COLUMNS, sets), (_PAIR_COLUMNS, pairs))
    return [table(header, rows, names=2) for header, rows in tables if rows]


def report_json(report: Report, **about: Any) -> str:
    """Return a report as JSON with unrounded numbers, NaN as null; ``about`` comes first."""
    return as_json({**about, **asdict(report)}, indent=2)


def markdown_table(
    header: Sequence[str], rows: Sequence[Sequence[object]], *, names: int = 1
) -> str:
    """Return a Markdown table whose first columns hold ``names``, and the others numbers.

    >>> print(markdown_table(["set", "hit@1"], [["typos", 0.97512]]))
    | set | hit@1 |
    |---|---:|
    | typos | 0.975 |
    """
    rules = ["---"] * names + ["---:"] * (len(header) - names)
    lines = [f"| {' | '.join(map(_formatted, cells))} |" for cells in (header, *rows)]
    return "\n".join([lines[0], "|" + "|".join(rules) + "|", *lines[1:]])


def text_table(header: Sequence[str], rows: Sequence[Sequence[object]], *, names: int = 1) -> str:
    """Return a table for a terminal: ``names`` columns aligned left, the others right.

    >>> print(text_table(["set", "hit@1"], [["typos", 0.97512], ["all", None]]))
    set    hit@1
    typos  0.975
    all        -
    """
    table = [list(map(_formatted, cells)) for cells in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i < names else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ).rstrip()
        for cells in table
    )


def _formatted(cell: object) -> str:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return "-"
    return f"{cell:.3f}" if isinstance(cell, float) else printable(str(cell))


def environment(*packages: str) -> str:
    """Return the machine and the versions that the numbers depend on, in one line."""
    versions = []
    for name in ("numpy", "gensim", "fuzzydict", *packages):
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            versions.append(f"{name} not installed")
    python = f"Python {platform.python_version()}"
    return f"{os.cpu_count()} cores ({_cpu_model()}), {python}, {', '.join(versions)}"


def _cpu_model() -> str:
    file = Path("/proc/cpuinfo")
    lines = file.read_text().splitlines() if file.exists() else []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.processor() or platform.machine())


def shown_command(*words: str | Path) -> str:
    """Return a command line in which files have their names alone, without folders.

    >>> shown_command("fuzzydict", "evaluate", Path("there/my typos.json"))
    "fuzzydict evaluate 'my typos.json'"
    """
    return shlex.join(
        (word.name or str(word)) if isinstance(word, Path) else word for word in words
    )
