"""Columns of texts, and what matches them: of pandas, polars, pyarrow and others, by narwhals."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from fuzzydict._arrays import slices
from fuzzydict.errors import ArgumentTypeError, MissingExtraError, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import ModuleType

    import narwhals as nw
    from numpy.typing import NDArray

    from fuzzydict.results.answers import Match


_TOGETHER = 4096  # texts that are looked up at once
_LONG = 16_384  # texts from which on the progress is shown
_RANKED = 10  # keys of a text, of which it may be given one


class Found(NamedTuple):
    """What matches a column of n texts.

    Attributes:
        matches: the match of each distinct text, or None; and at the end None, for nulls.
        places: the place in ``matches`` of what matches each text of the column, (n,).
    """

    matches: list[Match | None]
    places: NDArray[np.intp]


def narwhals() -> ModuleType:
    """Return the library that reads frames of many libraries.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        import narwhals
    except ImportError as error:
        raise MissingExtraError(
            "columns and frames need narwhals; install it by: pip install 'fuzzydict[frames]'"
        ) from error
    return narwhals


def as_column(column: Any, name: str) -> nw.Series[Any]:
    """Return a column as narwhals has it.

    Raises:
        ArgumentTypeError: it is no column in memory; ``name`` is that of the argument.
    """
    found = narwhals().from_native(column, series_only=True, pass_through=True)
    if found is column:
        raise ArgumentTypeError(
            f"{name}: expected a column (a Series of pandas or polars, or an array of pyarrow), "
            f"got {type(column).__name__}; for a list, use nearest(queries, default=None)"
        )
    series: nw.Series[Any] = found
    return series


def texts_of(column: nw.Series[Any], name: str) -> list[str | None]:
    """Return the texts of a column; None for nulls.

    Raises:
        ArgumentTypeError: something else is among them; ``name`` is that of the argument.
    """
    texts = column.to_list()
    is_null = column.is_null().to_list()
    for row, (text, null) in enumerate(zip(texts, is_null, strict=True)):
        if null:
            texts[row] = None
        elif not isinstance(text, str):
            raise ArgumentTypeError(
                f"{name}: expected texts, got {type(text).__name__} {quoted(text)} in row {row}, "
                f"counted from 0; make them texts first, by astype(str) or cast"
            )
    return texts


class Finder(Protocol):
    """What finds keys for texts: a `FuzzyDict`."""

    def nearest(self, query: Any, *, default: Any, score_cutoff: float | None) -> Any:
        """Return the match of each query, or the default."""

    def most_similar(self, query: Any, topn: int | None) -> Any:
        """Return the best matches of each query, whatever their score."""


def find_each(
    d: Finder, texts: Sequence[str | None], score_cutoff: float | None, *, one_to_one: bool
) -> Found:
    """Return what matches each of n texts; equal texts are looked up once, nulls match nothing.

    Args:
        d: finds keys.
        texts: n texts, or None.
        score_cutoff: the least score of a match; None for that of the dict.
        one_to_one: whether each key may match one text at most; see `assign`.
    """
    distinct = [text for text in dict.fromkeys(texts) if text is not None]
    matches: list[Match | None] = []
    for some in _shown(slices(len(distinct), _TOGETHER), len(distinct)):
        matches += d.nearest(distinct[some], default=None, score_cutoff=score_cutoff)
    if one_to_one:
        matches = assign(d, distinct, matches, score_cutoff)
    place_of: dict[str | None, int] = {text: place for place, text in enumerate(distinct)}
    place_of[None] = len(distinct)
    places = np.fromiter(map(place_of.__getitem__, texts), np.intp, len(texts))
    return Found([*matches, None], places)


def _shown(blocks: list[slice], count: int) -> Iterable[slice]:
    """Return blocks of ``count`` texts; a terminal or notebook shows the progress of many."""
    from multiprocessing import parent_process

    if count < _LONG or parent_process() is not None:  # the bars of several would overwrite others
        return blocks
    from tqdm.auto import tqdm

    shown: Iterable[slice] = tqdm(blocks, unit_scale=_TOGETHER, unit=" texts", disable=None)
    return shown


def assign(
    d: Finder, texts: list[str], matches: list[Match | None], score_cutoff: float | None
) -> list[Match | None]:
    """Return the match of each text, or None, so that each key matches one text at most.

    The sum of the scores is the highest there is (the assignment problem; H. W. Kuhn, 1955, "The
    Hungarian method for the assignment problem"), where a text may have one of its ten best keys.

    Args:
        d: finds keys.
        texts: different texts.
        matches: the best match of each, or None.
        score_cutoff: the least score of a match; None for that of the dict.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    rows = [row for row, match in enumerate(matches) if match is not None]
    if not rows:
        return matches
    ranked = d.most_similar([texts[row] for row in rows], _RANKED)
    pairs = {
        (i, match.key): match
        for i, best in enumerate(ranked)
        for match in best
        if (match.matches if score_cutoff is None else match.score >= score_cutoff)
    }
    keys = list(dict.fromkeys(key for _, key in pairs))
    column_of = {key: column for column, key in enumerate(keys)}
    scores = np.array([match.score for match in pairs.values()])
    # Each text has a column that stands for no key. Its score is 0, or the lowest if that is less.
    # The costs begin at 1, for a sparse matrix holds no zeros.
    highest, no_key = scores.max(initial=0.0), scores.min(initial=0.0)
    costs = 1 + highest - np.append(scores, np.full(len(rows), no_key))
    own = np.arange(len(rows))
    places = (
        np.append([i for i, _ in pairs], own),
        np.append([column_of[key] for _, key in pairs], len(keys) + own),
    )
    graph = coo_array((costs, places), shape=(len(rows), len(keys) + len(rows))).tocsr()
    assigned: list[Match | None] = [None] * len(texts)
    for i, column in enumerate(min_weight_full_bipartite_matching(graph)[1].tolist()):
        if column < len(keys):
            assigned[rows[i]] = pairs[i, keys[column]]
    return assigned


def match_column(d: Finder, column: Any, score_cutoff: float | None, *, one_to_one: bool) -> Any:
    """Return a frame of the column's library: query, key, value, score; null where none matches."""
    series = as_column(column, "column")
    found = find_each(d, texts_of(series, "column"), score_cutoff, one_to_one=one_to_one)
    frame = series.alias("query").to_frame()
    return frame.with_columns(*columns_of(found, series)).to_native()


def columns_of(found: Found, like: nw.Series[Any]) -> list[nw.Series[Any]]:
    """Return the key, value and score of each text, as columns of the library of another."""
    nw, matches = narwhals(), found.matches
    if not (found.places == len(matches) - 1).any():
        matches = matches[:-1]  # integers would become floats in pandas beside a null
    keys, values, scores = (
        [None if match is None else match[i] for match in matches] for i in range(3)
    )
    of_distinct = [
        nw.new_series("key", keys, nw.String(), backend=like.implementation),
        _of_any_type("value", values, like),
        nw.new_series("score", scores, nw.Float64(), backend=like.implementation),
    ]
    return [series[found.places] for series in of_distinct]


def _of_any_type(name: str, values: list[Any], like: nw.Series[Any]) -> nw.Series[Any]:
    """Return values as a column; as texts and JSON, if the library cannot hold them in one."""
    series = partial(narwhals().new_series, name, backend=like.implementation)
    made: nw.Series[Any]
    try:
        made = series(values)
    except (TypeError, ValueError, OverflowError):
        made = series(_of_one_type(values))
    return made


def _of_one_type(values: list[Any]) -> list[Any]:
    """Return numbers as floats, or all values as texts; None as it is."""
    if all(isinstance(value, int | float | None) for value in values):
        return [None if value is None else float(value) for value in values]
    return [v if isinstance(v, str | None) else json.dumps(v, default=str) for v in values]
