"""How well systems find the right key: `evaluate` makes a `Report`, the metrics are below it."""

from __future__ import annotations

import math
import os
import platform
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fuzzydict._arrays import units
from fuzzydict.errors import OptionError, printable
from fuzzydict.evaluation.datasets import Dictionary, JudgedPair, RetrievalSet
from fuzzydict.evaluation.systems import Remembering, System
from fuzzydict.results.tables import aligned

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
    """What is measured of each set and system, and of each list of pairs and system."""

    retrieval: list[Retrieval] = field(default_factory=list)
    calibration_errors: dict[str, float] = field(default_factory=dict)  # over all sets, by system
    correlations: list[Correlation] = field(default_factory=list)


def evaluate(
    systems: Sequence[System],
    sets: Sequence[RetrievalSet] = (),
    pairs: Mapping[str, Sequence[JudgedPair]] | None = None,
    *,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Report:
    """Measure systems on retrieval sets, and those with an encoder on pairs of words.

    ``progress(done, total)`` is called after each dictionary with the number of queries, counted
    once for each system. Two systems of the same name are an OptionError.
    """
    of_all: dict[str, list[_Answer]] = {system.name: [] for system in systems}
    if len(of_all) < len(systems):
        names = ", ".join(repr(system.name) for system in systems)
        raise OptionError(f"systems: expected different names, got {names}")
    report, done = Report(), 0
    total = len(systems) * sum(len(one.queries) for one in sets)
    for one in sets:
        of_set: dict[str, list[_Answer]] = {name: [] for name in of_all}
        timed = math.ceil(_TIMED / len(one.dictionaries))
        for dictionary in one.dictionaries:
            for system in systems:
                of_set[system.name] += _asked(system, dictionary, timed)
            done += len(systems) * len(dictionary.queries)
            progress(done, total)
        for system in systems:
            of_all[system.name] += of_set[system.name]
            report.retrieval.append(_measured(one, system, of_set[system.name]))
    for system in systems:
        if sets and system.is_probability:
            report.calibration_errors[system.name] = _calibration_error(of_all[system.name])
    for name, judged in (pairs or {}).items():
        for system in systems:
            if system.encoder is not None:
                never_seen, spearman = None, rank_correlation(system.encoder, judged)
                if (is_new := system.never_seen) is not None:
                    never_seen = sum(is_new(pair.first) or is_new(pair.second) for pair in judged)
                row = Correlation(name, system.name, len(judged), never_seen, spearman)
                report.correlations.append(row)
    return report


class _Answer(NamedTuple):
    """What a system answers to a query, and without the query's right keys."""

    has_key: bool  # whether some key is right
    rank: float  # of the first right key; inf if it is not among the first ten
    score: float  # of the nearest key; -inf for no answer
    without: float  # the same once the right keys are removed
    seconds: float | None  # that it took, if it was timed


def _asked(system: System, dictionary: Dictionary, timed: int) -> list[_Answer]:
    """Return the answers to the queries of a dictionary, about ``timed`` of them timed."""
    keys, queries = dictionary
    texts, ranker = [query.text for query in queries], system.over(keys)
    ranker.best(texts[0])  # what the first lookup prepares does not count
    seconds: dict[int, float] = {}
    for place in range(0, len(texts), math.ceil(len(texts) / timed)):
        if isinstance(system.encoder, Remembering):
            system.encoder.vectors.pop(texts[place], None)
        start = time.perf_counter()
        ranker.best(texts[place])
        seconds[place] = time.perf_counter() - start
    if isinstance(system.encoder, Remembering):
        system.encoder.remember(texts)  # in one batch
    answers = []
    for i, (text, accept, _) in enumerate(queries):
        found, otherwise = ranker.nearest(text, _TOPN, ()), ranker.nearest(text, 1, accept)
        rank = next((place for place, (key, _) in enumerate(found, 1) if key in accept), math.inf)
        score, without = (one[0][1] if one else -math.inf for one in (found, otherwise))
        answers.append(_Answer(bool(accept), rank, score, without, seconds.get(i)))
    return answers


def _measured(one: RetrievalSet, system: System, answers: Sequence[_Answer]) -> Retrieval:
    present = [answer for answer in answers if answer.has_key]
    ranks = np.array([answer.rank for answer in present])
    seconds = [answer.seconds for answer in answers if answer.seconds is not None]
    return Retrieval(
        name=one.name,
        system=system.name,
        queries=len(answers),
        keys=max(len(dictionary.keys) for dictionary in one.dictionaries),
        hit_at_1=float((ranks == 1).mean()) if len(ranks) else math.nan,
        mean_reciprocal_rank=float((1 / ranks).mean()) if len(ranks) else math.nan,
        auroc=auroc([answer.score for answer in present], [answer.without for answer in answers]),
        calibration_error=_calibration_error(answers) if system.is_probability else None,
        microseconds=median(seconds) * 1e6,
    )


def _calibration_error(answers: Sequence[_Answer]) -> float:
    claims = [(answer.score, answer.rank == 1) for answer in answers if answer.has_key]
    claims += [(answer.without, False) for answer in answers]
    scores = [max(score, 0.0) for score, _ in claims]  # no answer is a score of 0
    return expected_calibration_error(scores, [is_right for _, is_right in claims])


# ---- metrics ------------------------------------------------------------------------------


def auroc(present: Sequence[float], absent: Sequence[float]) -> float:
    """Return the probability that a score of ``present`` is above one of ``absent``.

    Equal scores count half. This is the area under the ROC curve: 1 if every present score is above
    every absent one, 0.5 for chance; NaN if either is empty.
    """
    from scipy.stats import mannwhitneyu

    if not len(present) or not len(absent):
        return math.nan
    above = mannwhitneyu(present, absent, method="asymptotic").statistic
    return float(above / (len(present) * len(absent)))


def expected_calibration_error(
    scores: ArrayLike, right: Sequence[bool], *, bins: int = 10
) -> float:
    """Return how far scores, (n,), are from the share of right answers; NaN for no scores.

    Scores, which are probabilities, are put in bins of equal width over [0, 1], each with its upper
    end. The error is the mean over the bins, weighted by their sizes, of the distance between mean
    score and share of right answers (C. Guo et al., 2017, "On Calibration of Modern Neural
    Networks", equation 3).
    """
    claimed, correct = np.asarray(scores, np.float64), np.asarray(right, bool)
    if not len(claimed):
        return math.nan
    places = np.digitize(claimed, np.arange(1, bins) / bins, right=True)
    claims, rights = (np.bincount(places, weights, bins) for weights in (claimed, correct))
    return float(np.abs(claims - rights).sum() / len(claimed))


def rank_correlation(encoder: Any, pairs: Sequence[JudgedPair]) -> float:
    """Return Spearman's correlation of the pairs' cosines with human judgement.

    All pairs count: a word outside the vocabulary has the vector that the encoder gives it, and
    the cosine with the zero vector is 0. NaN if all cosines or all judgements are equal.
    """
    from scipy.stats import spearmanr

    sides = ([pair.first for pair in pairs], [pair.second for pair in pairs])
    first, second = (units(np.asarray(encoder.encode(texts), np.float32)) for texts in sides)
    cosines = (first * second).sum(axis=1)
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


def report_tables(report: Report, form: str) -> list[str]:
    """Return a table of the sets and one of the pairs, in one of the forms that are `TABLES`."""
    sets: list[list[object]] = []
    for row in report.retrieval:
        *cells, microseconds = asdict(row).values()
        sets.append([*cells, f"{microseconds:.0f}"])
    for system, error in report.calibration_errors.items():
        sets.append(["all together", system, *[None] * 5, error, None])
    pairs = [list(asdict(row).values()) for row in report.correlations]
    tables = ((_SET_COLUMNS, sets), (_PAIR_COLUMNS, pairs))
    return [TABLES[form](header, rows, names=2) for header, rows in tables if rows]


def markdown_table(
    header: Sequence[str], rows: Sequence[Sequence[object]], *, names: int = 1
) -> str:
    """Return a Markdown table whose first columns hold ``names``, and the others numbers."""
    rules = ["---"] * names + ["---:"] * (len(header) - names)
    lines = [f"| {' | '.join(map(_formatted, cells))} |" for cells in (header, *rows)]
    return "\n".join([lines[0], "|" + "|".join(rules) + "|", *lines[1:]])


def _text_table(header: Sequence[str], rows: Sequence[Sequence[object]], *, names: int) -> str:
    return "\n".join(aligned([list(map(_formatted, row)) for row in (header, *rows)], texts=names))


TABLES: dict[str, Callable[..., str]] = {"table": _text_table, "markdown": markdown_table}


def _formatted(cell: object) -> str:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return "-"
    return f"{cell:.3f}" if isinstance(cell, float) else printable(str(cell))


def environment(*packages: str) -> str:
    """Return the machine and the versions that the numbers depend on, in one line."""
    versions = [f"Python {platform.python_version()}"]
    for name in ("numpy", "gensim", "fuzzydict", *packages):
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            versions.append(f"{name} not installed")
    file, cpu = Path("/proc/cpuinfo"), platform.processor() or platform.machine()
    if file.exists() and (named := re.search(r"^model name\s*: (.*)", file.read_text(), re.M)):
        cpu = named[1]
    return f"{os.cpu_count()} cores ({cpu}), {', '.join(versions)}"
