"""Columns of texts, and what matches them: of pandas, polars, pyarrow and others, by narwhals."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple
from warnings import catch_warnings, simplefilter

import numpy as np
from numpy.typing import NDArray

from fuzzydict._arrays import slices
from fuzzydict.errors import ArgumentTypeError, needing, quoted
from fuzzydict.results.answers import Match

if TYPE_CHECKING:
    import narwhals as nw


_TOGETHER = 1024  # texts that are looked up at once
_SOON = 2.0  # seconds after which the progress is shown
_RANKED = 10  # keys of a text, of which it may be given one
_EXACT_IN_FLOATS = 2**53  # integers up to here are

#: What matches the columns of libraries that do not hold them in memory, by the library's name:
#: called as `match_column`.
LAZY: dict[str, Callable[..., Any]] = {}


class Found(NamedTuple):
    """What matches a column of n texts."""

    matches: list[Match | None]  # of each distinct text, or None; and at the end None, for nulls
    places: NDArray[np.intp]  # where in these the match of each text of the column is, (n,)


def narwhals() -> ModuleType:
    """Return the library that reads frames of many libraries, or raise MissingExtraError."""
    with needing("columns and frames need narwhals", "narwhals"):
        import narwhals
    return narwhals


def as_column(column: Any, name: str) -> nw.Series[Any]:
    """Return a column in memory as narwhals has it; ArgumentTypeError for anything else."""
    if (series := _read(column)) is not None:
        return series
    raise ArgumentTypeError(
        f"{name}: expected a column (a Series of pandas or polars, or an array of pyarrow), got "
        f"{type(column).__name__}; choose one of its columns: frame['name'] (collect the lazy "
        f"frame first), or make it one: pandas.Series(texts); a list goes to "
        f"FuzzyDict.nearest(texts, default=None)"
    )


def _read(column: Any) -> nw.Series[Any] | None:
    """Return a column as narwhals has it; None if it is none."""
    nw = narwhals()
    pd, pa = nw.dependencies.get_pandas(), nw.dependencies.get_pyarrow()
    if pd is not None and isinstance(column, pd.MultiIndex):
        return None
    if pa is not None and isinstance(column, pa.Array):
        column = pa.chunked_array([column])
    elif pd is not None and isinstance(column, pd.Index | pd.api.extensions.ExtensionArray):
        column = pd.Series(column)
    found = nw.from_native(column, series_only=True, pass_through=True)
    return found if isinstance(found, nw.Series) else None


def texts_of(column: nw.Series[Any], name: str) -> list[str | None]:
    """Return the texts of a column, None for nulls; ArgumentTypeError if it has anything else."""
    nulls = column.is_null().to_list()
    texts = [None if null else text for text, null in zip(column.to_list(), nulls, strict=True)]
    for row, text in enumerate(texts):
        if not (text is None or isinstance(text, str)):
            got = f"{type(text).__name__} {quoted(text)} in row {row}, counted from 0"
            raise ArgumentTypeError(f"{name}: expected texts, got {got}; use astype(str) or cast")
    return texts


def keys_among(keys: Any, name: str) -> list[Any]:
    """Return the texts of a column, or what is in a list or anything else that can be iterated."""
    if isinstance(keys, np.ndarray):
        keys = keys.tolist()
    elif (column := _read(keys)) is not None:
        return texts_of(column, name)
    is_frame = hasattr(type(keys), "columns")  # which gives the names of its columns
    if isinstance(keys, str | bytes) or is_frame or not isinstance(keys, Iterable):
        advice = f"; compute it first: {name}.compute()" if hasattr(type(keys), "compute") else ""
        got = f"{type(keys).__name__} {quoted(keys)}"
        raise ArgumentTypeError(f"{name}: expected a column or a list of texts, got {got}{advice}")
    return list(keys)


def find_each(
    d: Any, texts: Sequence[str | None], score_cutoff: float | None, *, one_to_one: bool
) -> Found:
    """Return what a dict matches with each of n texts; equal ones are looked up once.

    Nulls (None) match nothing. ``one_to_one``: each key may match one text at most; see `assign`.
    """
    from multiprocessing import parent_process

    distinct = [text for text in dict.fromkeys(texts) if text is not None]
    blocks: Iterable[slice] = slices(len(distinct), _TOGETHER)
    is_seen = "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())
    # Who looks on sees the progress, but not of several processes, whose bars would overlap.
    if len(distinct) > _TOGETHER and is_seen and parent_process() is None:
        with catch_warnings():
            simplefilter("ignore")  # that a notebook lacks what its bar needs, and gets one of text
            from tqdm.auto import tqdm
        blocks = tqdm(blocks, unit_scale=_TOGETHER, unit=" texts", delay=_SOON, leave=False)
    matches: list[Match | None] = []
    for some in blocks:
        matches += d.nearest(distinct[some], default=None, score_cutoff=score_cutoff)
    if one_to_one:
        matches = assign(d, distinct, matches, score_cutoff)
    place_of: dict[str | None, int] = {text: place for place, text in enumerate([*distinct, None])}
    places = np.fromiter(map(place_of.__getitem__, texts), np.intp, len(texts))
    return Found([*matches, None], places)


def assign(
    d: Any, texts: list[str], matches: list[Match | None], score_cutoff: float | None
) -> list[Match | None]:
    """Return the match of each of different texts, or None, so that no key matches two.

    A key goes to the text that equals it; if there is none, to the first that is an alias of it.
    Of the other texts, which may have one of their ten best keys, the sum of the scores is the
    highest (H. W. Kuhn, 1955, "The Hungarian method for the assignment problem").
    """
    found = {row: match.key for row, match in enumerate(matches) if match is not None}
    equal = [row for row, key in found.items() if key == texts[row]]
    taught = [row for row, key in found.items() if key == d.aliases.get(texts[row])]
    row_of = {found[row]: row for row in reversed(equal + taught)}
    rows, given = sorted(found.keys() - {*equal, *taught}), set(row_of.values())
    assigned = [match if row in given else None for row, match in enumerate(matches)]
    pairs = [
        (row, match)
        for row, best in enumerate(d.most_similar([texts[row] for row in rows], _RANKED))
        for match in best
        if match.key not in row_of
        and (match.matches if score_cutoff is None else match.score >= score_cutoff)
        and match.score > -np.inf
    ]
    if not pairs:
        return assigned
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    column_of = {key: i for i, key in enumerate(dict.fromkeys(match.key for _, match in pairs))}
    # Each text has a column of its own that stands for no key, with the score 0, or the lowest if
    # that is less. The costs begin at 1, for a sparse matrix holds no zeros.
    own, scores = range(len(rows)), [match.score for _, match in pairs]
    scores += [min(0.0, min(scores))] * len(rows)
    costs = 1 + max(scores) - np.array(scores)
    starts = np.array([*(row for row, _ in pairs), *own], np.int32)
    ends = np.array([*(column_of[match.key] for _, match in pairs), *own], np.int32)
    ends[len(pairs) :] += len(column_of)
    chosen = min_weight_full_bipartite_matching(coo_array((costs, (starts, ends))).tocsr())[1]
    for row, match in pairs:
        if chosen[row] == column_of[match.key]:
            assigned[rows[row]] = match
    return assigned


def match_column(d: Any, column: Any, score_cutoff: float | None, *, one_to_one: bool) -> Any:
    """Return a frame of the column's library: query, key, value, score; null where none matches."""
    if match_lazy := LAZY.get(type(column).__module__.partition(".")[0]):
        return match_lazy(d, column, score_cutoff, one_to_one=one_to_one)
    nw, series = narwhals(), as_column(column, "column")
    found = find_each(d, texts_of(series, "column"), score_cutoff, one_to_one=one_to_one)
    matches = found.matches
    if not (found.places == len(matches) - 1).any():
        matches = matches[:-1]  # integers would become floats in pandas beside a null
    keys, values = ([None if match is None else match[i] for match in matches] for i in range(2))
    of_distinct = nw.new_series("key", keys, nw.String(), backend=series.implementation)
    columns = [one[found.places] for one in (of_distinct, _values_column(values, series))]
    frame = series.alias("query").to_frame()
    return frame.with_columns(*columns, score_column(found, series)).to_native()


def score_column(found: Found, like: nw.Series[Any]) -> Any:
    """Return the score of each text, as a column of the library of another."""
    nw = narwhals()
    scores = [None if match is None else match.score for match in found.matches]
    column: Any = nw.new_series("score", scores, nw.Float64(), backend=like.implementation)
    return column[found.places]


def _values_column(values: list[Any], like: nw.Series[Any]) -> Any:
    """Return values as a column; as texts and JSON, if the library cannot hold them in one."""
    new_series = partial(narwhals().new_series, "value", backend=like.implementation)
    some_are_large = any(map(is_large, values))
    if like.implementation.is_pandas_like():
        if not some_are_large or all(value is not None for value in values):
            return new_series(values)
        # Integers beside a null become floats, which do not hold large ones.
        pandas = like.implementation.to_native_namespace()
        return as_column(pandas.Series(values, dtype=object, name="value"), "value")
    values = [v.tolist() if isinstance(v, np.ndarray | np.bool_) else v for v in values]
    with suppress(Exception):  # each library has errors of its own
        made = new_series(values)
        if all(map(_is_held, made.to_list(), values)):
            return made
    numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
    if len(numbers) + values.count(None) == len(values) and not some_are_large:
        return new_series([None if value is None else float(value) for value in values])
    texts: list[str | None] = []
    for value in values:  # JSON, if it has what this is
        texts.append(value if isinstance(value, str | None) else str(value))
        if isinstance(value, bool | int | float | list | tuple | dict):
            with suppress(TypeError, ValueError):  # a mapping with other keys than texts; a circle
                texts[-1] = json.dumps(value, default=str, ensure_ascii=False)
    return new_series(texts)


def is_large(value: Any) -> bool:
    """Tell whether a value is an integer that no float may equal."""
    return isinstance(value, int | np.integer) and abs(int(value)) > _EXACT_IN_FLOATS


def _is_held(held: Any, value: Any) -> bool:
    """Tell whether a column holds a value as it is: not 1 for True, nor a mapping without a key."""
    if isinstance(value, list | tuple):
        return len(held) == len(value) and all(map(_is_held, held, value))
    own = value.tolist() if isinstance(value, np.generic) else value
    are_numbers = all(type(one) in (int, float) for one in (held, own))
    is_of_type = type(held) is bool if type(own) is bool else isinstance(own, type(held))
    return (are_numbers or is_of_type) and bool(held == own)
