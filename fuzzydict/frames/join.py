"""Match a column with keys, and join two frames on texts that mean the same.

Columns and frames are those of pandas, polars, pyarrow and whatever else narwhals reads (extra
``frames``); what is returned is of the same library.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzydict.errors import ArgumentTypeError, OptionError, quoted
from fuzzydict.mapping import FuzzyDict, suggestion
from fuzzydict.options import as_cutoff
from fuzzydict.results.columns import as_column, columns_of, find_each, narwhals, texts_of

if TYPE_CHECKING:
    import narwhals as nw
    from numpy.typing import NDArray


HOWS = ("left", "inner", "anti")
_SCORE = "score"


def match(
    column: Any,
    keys: Any,
    *,
    score_cutoff: float | None = None,
    one_to_one: bool = False,
    **options: Any,
) -> Any:
    """Return what matches each text of a column: query, key, value and score, as a frame.

    Args:
        column: texts; see `FuzzyDict.match`, which this is for keys that are in no dict yet.
        keys: a `FuzzyDict`; a mapping; or a column or list of texts, which are their own values.
        score_cutoff: the least score of a match; by default that of the dict.
        one_to_one: whether each key may match one text at most.
        **options: those of the `FuzzyDict` that is made of ``keys``.

    Raises:
        ArgumentTypeError: ``column`` or ``keys`` is none of these.
        OptionError: ``keys`` is a `FuzzyDict`, and there are ``options``.

    >>> import pandas as pd
    >>> match(pd.Series(["colour", "brnd"]), ["color", "brand"])["key"].tolist()
    ['color', 'brand']
    """
    d = as_dict(keys, options)
    return d.match(column, score_cutoff=score_cutoff, one_to_one=one_to_one)


def as_dict(keys: Any, options: dict[str, Any]) -> FuzzyDict[Any]:
    """Return a `FuzzyDict` of keys, with these options; or the one that ``keys`` is.

    Raises:
        ArgumentTypeError, OptionError: As `match` does.
    """
    if isinstance(keys, FuzzyDict):
        if options:
            raise OptionError(
                f"{', '.join(options)}: keys is a FuzzyDict, which has options of its own; set "
                f"them there"
            )
        return keys
    if isinstance(keys, Mapping):
        return FuzzyDict(keys, **options)
    if isinstance(keys, str | bytes):
        raise ArgumentTypeError(f"keys: expected a list of keys, got the text {quoted(keys)}")
    if isinstance(keys, np.ndarray):
        keys = keys.tolist()
    if not isinstance(keys, list | tuple | set | frozenset):
        keys = texts_of(as_column(keys, "keys"), "keys")
    texts = [key for key in keys if key is not None]
    return FuzzyDict(zip(texts, texts, strict=True), **options)


def join(
    left: Any,
    right: Any,
    *,
    on: str | None = None,
    left_on: str | None = None,
    right_on: str | None = None,
    how: str = "left",
    score_cutoff: float | None = None,
    add_score: bool = True,
    suffix: str = "_right",
    one_to_one: bool = False,
    **options: Any,
) -> Any:
    """Join two frames: to each row of the left the row of the right whose text means the same.

    Rows keep the order of the left frame, and in pandas its index. Equal texts are looked up once.

    Args:
        left: a frame.
        right: a frame of the same library; its texts are the keys, each of which comes once.
        on: the column of texts, if it has the same name in both.
        left_on: the column of the left frame.
        right_on: the column of the right frame.
        how: "left": all rows of the left frame, with nulls where nothing matches; "inner": those
            that match; "anti": those that match nothing, without the columns of the right frame.
        score_cutoff: the least score of a match; by default that of the options.
        add_score: whether the score is a column too, ``score``.
        suffix: what is added to names of the right frame that are in the left one, and to
            ``score`` if that is.
        one_to_one: whether a key may match one text of the left frame at most; see
            `FuzzyDict.match`.
        **options: those of the `FuzzyDict` that is made of the keys: ``embedding``, ``scorer`` ...

    Raises:
        OptionError: there is no such column or ``how``; a name comes twice even so; a text of
            the right frame comes twice.
        ArgumentTypeError: these are no frames of one library, or a column does not hold texts.

    >>> import pandas as pd
    >>> left = pd.DataFrame({"field": ["colour", "qwzzt"]})
    >>> right = pd.DataFrame({"name": ["color", "brand"], "value": ["black", "Porsche"]})
    >>> join(left, right, left_on="field", right_on="name", how="inner")["value"].tolist()
    ['black']
    """
    if how not in HOWS:
        raise OptionError(f"how: expected one of {', '.join(HOWS)}, got {quoted(how)}")
    score_cutoff = as_cutoff(score_cutoff)
    asked, keys = _as_frame(left, "left"), _as_frame(right, "right")
    if asked.implementation is not keys.implementation:
        raise ArgumentTypeError(
            f"right: expected a frame of {asked.implementation}, as left is, got one of "
            f"{keys.implementation}"
        )
    of_left = _column(asked, "left_on", left_on, on)
    of_right = _column(keys, "right_on", right_on, on)
    names = _new_names(asked.columns, [*keys.columns, *([_SCORE] if add_score else [])], suffix)
    row_of = _row_of_each(texts_of(keys[of_right], "right"), of_right)
    d = FuzzyDict(row_of, **options)
    found = find_each(d, texts_of(asked[of_left], "left"), score_cutoff, one_to_one=one_to_one)
    rows = np.array([-1 if one is None else one.value for one in found.matches])[found.places]
    if how != "left":
        is_kept = (rows < 0) if how == "anti" else (rows >= 0)
        asked, rows = asked.filter(is_kept.tolist()), rows[is_kept]
        found = found._replace(places=found.places[is_kept])
    if how != "anti":
        added = _rows_of(keys, rows)
        if add_score:
            added.append(columns_of(found, keys[of_right])[-1])
        asked = asked.with_columns(
            *(series.alias(name) for series, name in zip(added, names, strict=True))
        )
    return asked.to_native()


def _as_frame(frame: Any, name: str) -> nw.DataFrame[Any]:
    """Return a frame as narwhals has it."""
    found = narwhals().from_native(frame, eager_only=True, pass_through=True)
    if found is frame:
        raise ArgumentTypeError(
            f"{name}: expected a frame (of pandas, polars, pyarrow ...), got "
            f"{type(frame).__name__}; collect a lazy one first"
        )
    of_narwhals: nw.DataFrame[Any] = found
    return of_narwhals


def _column(frame: nw.DataFrame[Any], name: str, given: str | None, on: str | None) -> str:
    """Return the name of the column that is joined on.

    Raises:
        OptionError: it was not given, or twice; or there is none, and the nearest is named.
    """
    column = on if given is None else given
    if column is None or (given is not None and on is not None):
        raise OptionError(f"{name}: give left_on and right_on, or on for a name of both frames")
    if column not in frame.columns:
        raise OptionError(
            f"{name}: there is no column {quoted(column)}{suggestion(column, frame.columns)}"
        )
    return column


def _row_of_each(texts: list[str | None], column: str) -> dict[str, int]:
    """Return the row of each text of the right frame; nulls are no keys.

    Raises:
        OptionError: a text is in several rows.
    """
    rows = {text: row for row, text in enumerate(texts) if text is not None}
    if len(rows) < len(texts) - texts.count(None):
        ((text, count),) = Counter(text for text in texts if text is not None).most_common(1)
        raise OptionError(
            f"right: each key may come once in column {quoted(column)}, but {quoted(text)} is in "
            f"{count} rows; leave out the others, as by drop_duplicates or unique"
        )
    return rows


def _new_names(left: list[str], added: list[str], suffix: str) -> list[str]:
    """Return the names in the joined frame of the columns that are added to the left one.

    Raises:
        OptionError: a name would come twice.
    """
    taken, names = set(left), list[str]()
    for name in added:
        names.append(f"{name}{suffix}" if name in taken else name)
        if names[-1] in taken:
            raise OptionError(
                f"suffix: both frames have a column {quoted(name)}, and {quoted(names[-1])} is "
                f"there as well; choose another suffix than {quoted(suffix)}"
            )
        taken.add(names[-1])
    return names


def _rows_of(frame: nw.DataFrame[Any], rows: NDArray[np.intp]) -> list[nw.Series[Any]]:
    """Return the columns of n rows of a frame, with nulls where the row is -1."""
    nw, backend = narwhals(), frame.implementation
    if not len(frame):
        kept = not backend.is_pandas_like()  # whose integers have no null
        nulls = [None] * len(rows)
        return [
            nw.new_series(column.name, nulls, column.dtype if kept else None, backend=backend)
            for column in frame.iter_columns()
        ]
    taken = frame[np.maximum(rows, 0)]
    if (rows >= 0).all():
        return list(taken.iter_columns())
    is_found = nw.new_series("found", (rows >= 0).tolist(), backend=backend)
    return [taken.select(nw.when(is_found).then(nw.col(name)))[name] for name in frame.columns]
