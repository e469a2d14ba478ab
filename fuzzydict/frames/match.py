"""Match a column with keys, and join two frames on texts, in whatever library narwhals reads."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fuzzydict._arrays import as_bool
from fuzzydict.errors import ArgumentTypeError, OptionError, UnknownOptionError, quoted
from fuzzydict.frames.dask import is_dask, join_dask
from fuzzydict.mapping import FuzzyDict, suggestion
from fuzzydict.options import OPTIONS, as_cutoff
from fuzzydict.reads import Reads
from fuzzydict.results.columns import (
    Found,
    find_each,
    is_large,
    keys_among,
    narwhals,
    score_column,
    texts_of,
)
from fuzzydict.text.words import same_text

if TYPE_CHECKING:
    import narwhals as nw


#: Which rows of the left frame a join has.
HOWS = ("left", "inner", "anti")
#: What a name of the right frame ends in that the left one has, too.
SUFFIX = "_right"
_ONE_TEXT = "one text, for case, accents and punctuation make no difference"
_NAMED = 20  # columns that an error lists
_MATCH = ("score_cutoff", "one_to_one", "synonyms")  # what may be named beside a dict's options
_JOIN = (*_MATCH, "on", "left_on", "right_on", "how", "add_score", "suffix")


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
        keys: a `FuzzyDict`, or what `connect` opened; a mapping; or a column or list of texts,
            which are their own values.
        score_cutoff: the least score of a match; by default that of the dict.
        one_to_one: whether each key may match one text at most.
        **options: those of the `FuzzyDict` that is made of ``keys``, and its ``synonyms``.

    Raises:
        ArgumentTypeError: ``column`` or ``keys`` is none of these.
        OptionError: there is no such option; or ``keys`` has options of its own.

    >>> import pandas as pd
    >>> match(pd.Series(["colour", "brnd"]), ["color", "brand"])["key"].tolist()
    ['color', 'brand']
    """
    _require_known("match", _MATCH, options)
    if isinstance(keys, Reads) and not isinstance(keys, FuzzyDict):  # its keys are elsewhere
        _require_none(options, keys)
        return keys.match(column, score_cutoff=score_cutoff, one_to_one=one_to_one)
    d = as_dict(keys, options)
    texts = [key for key in d if isinstance(key, str)]
    if d and not texts:
        raise ArgumentTypeError(f"keys: expected texts, got {quoted(next(iter(d)))} and its like")
    if not isinstance(keys, Mapping):
        warn_of_twins("keys", texts)
    return d.match(column, score_cutoff=score_cutoff, one_to_one=one_to_one)


def as_dict(keys: Any, options: dict[str, Any]) -> FuzzyDict[Any]:
    """Return a `FuzzyDict` of keys, with these options; or the one that ``keys`` is."""
    if isinstance(keys, FuzzyDict):
        _require_none(options, keys)
        return keys
    if not isinstance(keys, Mapping):
        keys = {key: key for key in keys_among(keys, "keys") if key is not None}
    return dict_of(keys, **options)


def dict_of(items: Any, *, synonyms: Any = None, **options: Any) -> FuzzyDict[Any]:
    """Return a `FuzzyDict` of items, with these options and synonyms."""
    d: FuzzyDict[Any] = FuzzyDict(items, **options)
    if synonyms is not None:
        d.synonyms = synonyms
    return d


def _require_known(function: str, own: Sequence[str], options: Mapping[str, Any]) -> None:
    """Raise an error if a name is neither one of a function's own, nor an option of `FuzzyDict`."""
    known = [*own, *(name for name in OPTIONS if name not in own)]
    for name in options.keys() - set(known):
        raise UnknownOptionError(
            f"{function} takes no {quoted(name)}{suggestion(name, known)}; it takes "
            f"{', '.join(known)}"
        )


def _require_none(options: Mapping[str, Any], keys: Any) -> None:
    if options:
        raise OptionError(
            f"{', '.join(options)}: keys is a {type(keys).__name__}, which has options of its own; "
            f"set them there"
        )


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
    suffix: str = SUFFIX,
    one_to_one: bool = False,
    **options: Any,
) -> Any:
    """Join two frames: to each row of the left the row of the right whose text means the same.

    Rows keep the order of the left frame, and in pandas its index. Equal texts are looked up once.

    Args:
        left: a frame.
        right: a frame of the same library; its texts are the keys, each of which comes once,
            however it is written. Nulls and blanks are no keys.
        on: the column of texts, if it has the same name in both.
        left_on: the column of the left frame.
        right_on: the column of the right frame.
        how: "left": all rows of the left frame, with nulls where nothing matches; "inner": those
            that match; "anti": those that match nothing, without the columns of the right frame.
        score_cutoff: the least score of a match; by default that of the options.
        add_score: whether the score is a column too, ``score``.
        suffix: what is added to names of the right frame that are in the left one, and to
            ``score`` if that is; by default "_right".
        one_to_one: whether a key may match one text of the left frame at most; see
            `FuzzyDict.match`.
        **options: those of the `FuzzyDict` that is made of the keys: ``embedding``, ``scorer`` ...;
            and its ``synonyms``.

    Raises:
        OptionError: there is no such column, ``how`` or option; a name comes twice even so; a text
            of the right frame comes twice, or differs from another by case, accents or
            punctuation alone.
        ArgumentTypeError: these are no frames of one library, or a column does not hold texts.

    >>> import pandas as pd
    >>> left = pd.DataFrame({"field": ["colour", "qwzzt"]})
    >>> right = pd.DataFrame({"name": ["color", "brand"], "value": ["black", "Porsche"]})
    >>> join(left, right, left_on="field", right_on="name", how="inner")["value"].tolist()
    ['black']
    """
    require_how(how)
    _require_known("join", _JOIN, options)
    (of_left, left_column), (of_right, right_column) = _columns_of_texts(on, left_on, right_on)
    cutoff, add_score = as_cutoff(score_cutoff), as_bool("add_score", add_score)
    one_to_one = as_bool("one_to_one", one_to_one)

    def join_frame(frame: Any, how: str = how, find: Callable[..., Found] = find_each) -> Any:
        asked, keys = _as_frame(frame, "left"), _as_frame(right, "right")
        if asked.implementation is not keys.implementation:
            raise ArgumentTypeError(
                f"right: expected a frame of {asked.implementation}, as left is, got one of "
                f"{keys.implementation}"
            )
        queries = _texts_in(asked, of_left, left_column)
        texts = _texts_in(keys, of_right, right_column)
        names = new_names(asked.columns, keys.columns, suffix, add_score=add_score)
        d = dict_of(row_of_each(texts, right_column, "right"), **options)
        found = find(d, queries, cutoff, one_to_one=one_to_one)
        rows = np.array([-1 if one is None else one.value for one in found.matches])[found.places]
        if how != "left":
            is_kept = (rows < 0) if how == "anti" else (rows >= 0)
            asked, rows = asked[np.flatnonzero(is_kept)], rows[is_kept]
            found = found._replace(places=found.places[is_kept])
        if how != "anti":
            added = _rows_of(keys, rows)
            if add_score:
                added.append(score_column(found, keys.get_column(right_column)))
            named = zip(added, names, strict=True)
            asked = asked.with_columns(*(column.alias(name) for column, name in named))
        return asked.to_native()

    if is_dask(left):
        return join_dask(left, left_column, how, join_frame)
    return join_frame(left)


def _columns_of_texts(on: Any, left_on: Any, right_on: Any) -> list[tuple[str, Any]]:
    """Return the names of the columns of texts of two frames, each behind what errors call it."""
    found = []
    for name, column in (("left_on", left_on), ("right_on", right_on)):
        if (column is None) == (on is None):
            raise OptionError(f"{name}: give left_on and right_on, or on for a name that both have")
        given, text = (name, column) if on is None else ("on", on)
        if not isinstance(text, str | int):
            raise ArgumentTypeError(
                f"{given}: expected the name of one column, got "
                f"{type(text).__name__} {quoted(text)}"
            )
        found.append((given if on is None else f"on, in {name.removesuffix('_on')}", text))
    return found


def require_how(how: Any) -> None:
    """Raise an error that says what to do instead, if there is no such join."""
    if how not in HOWS:
        raise OptionError(
            f"how: expected one of {', '.join(HOWS)}, got {quoted(how)}; for all rows of the right "
            f'one, give it as left; for the rows of both, add those of how="anti" with both swapped'
        )


def _as_frame(frame: Any, name: str) -> nw.DataFrame[Any]:
    """Return a frame in memory as narwhals has it; ``name`` is that of the argument."""
    library = narwhals()
    try:
        found: Any = library.from_native(frame, eager_only=True, pass_through=True)
    except library.exceptions.DuplicateError as error:
        raise OptionError(f"{name}: {error}") from error
    if not isinstance(found, library.DataFrame):
        raise ArgumentTypeError(
            f"{name}: expected a frame in memory (of pandas, polars, pyarrow ...), got "
            f"{type(frame).__name__} of {type(frame).__module__.split('.')[0]}; collect() or "
            f"compute() a lazy one first, and make a column one by to_frame()"
        )
    if getattr(getattr(frame, "columns", None), "nlevels", 1) > 1:
        raise OptionError(
            f"{name}: its columns have names of several levels; give each one name, as by "
            f"frame.columns = frame.columns.map('_'.join)"
        )
    return found  # type: ignore[no-any-return]


def _texts_in(frame: nw.DataFrame[Any], name: str, column: Any) -> list[str | None]:
    """Return the texts that are joined on; if there is no such column, the nearest is named."""
    if column not in frame.columns:
        names = getattr(getattr(frame.to_native(), "index", None), "names", [])
        advice = "; reset_index() makes the index one" if column in names else ""
        raise OptionError(
            f"{name}: there is no column {quoted(column)}{suggestion(str(column), frame.columns)}"
            f"{advice}; there are {', '.join(map(quoted, frame.columns[:_NAMED]))}"
        )
    return texts_of(frame.get_column(column), f"{name}: {quoted(column)}")


def row_of_each(
    texts: Sequence[str | None], column: str, source: str, lines: Sequence[int] | None = None
) -> dict[str, int]:
    """Return the row of each text of a column of a table; nulls and blanks are no keys.

    ``source`` is the name of the table, and ``lines`` those of the rows, if it is a file. Raise an
    OptionError if a text comes twice, or differs from another by case, accents or punctuation
    alone, so that neither of them would be likely enough.
    """
    keys = [(text, row) for row, text in enumerate(texts) if text and not text.isspace()]
    if twins := _first_twins([text for text, _ in keys]):
        i, j = (keys[place][1] for place in twins)
        first, second = quoted(texts[i]), quoted(texts[j])
        at = f"on lines {lines[i]} and {lines[j]}" if lines else f"in rows {i} and {j}"
        raise OptionError(
            f"{source}: {first} comes twice in column {quoted(column)}, {at}; keep one"
            if texts[i] == texts[j]
            else f"{source}: {first} and {second} in column {quoted(column)}, {at}, are "
            f"{_ONE_TEXT}; keep one"
        )
    return dict(keys)


def warn_of_twins(source: object, keys: Sequence[str]) -> None:
    """Warn of the first two keys that are one text; ``source`` is where they are from."""
    if twins := _first_twins(keys):
        first, second = (quoted(keys[place]) for place in twins)
        warnings.warn(
            f"{source}: {first} and {second} are {_ONE_TEXT}: they share their probability, so "
            f"that neither may match; keep one",
            stacklevel=3,
        )


def _first_twins(keys: Sequence[str]) -> tuple[int, int] | None:
    """Return the first two places of keys that are one text, if there are any."""
    place_of: dict[str, int] = {}
    for place, key in enumerate(keys):
        first = place_of.setdefault(same_text(key), place)
        if first != place:
            return first, place
    return None


def new_names(
    left: Sequence[str], right: Sequence[str], suffix: str, *, add_score: bool
) -> list[str]:
    """Return the names that the columns of the right table, and the score, have in the join."""
    if not isinstance(suffix, str):
        raise ArgumentTypeError(f"suffix: expected a text, got {quoted(suffix)}")
    taken, names = set(left), list[str]()
    for name in [*right, "score"] if add_score else right:
        names.append(f"{name}{suffix}" if name in taken else name)
        if names[-1] in taken:
            raise OptionError(
                f"suffix: there would be two columns {quoted(names[-1])}; choose another suffix "
                f"than {quoted(suffix)}, rename a column, or leave out the score if it is that"
            )
        taken.add(names[-1])
    return names


def _rows_of(frame: nw.DataFrame[Any], rows: NDArray[np.intp]) -> list[nw.Series[Any]]:
    """Return the columns of n rows of a frame, with nulls where the row is -1."""
    nw, backend, is_found = narwhals(), frame.implementation, rows >= 0
    if backend.is_pandas_like():
        native = frame.to_native().set_axis(range(len(frame)))
        if not is_found.all():  # beside a null, integers of numpy would become floats
            large = [
                column.name
                for column in frame.iter_columns()
                if column.dtype.is_integer() and str(column.to_native().dtype).islower()
                if len(column) and (is_large(column.max()) or is_large(column.min()))
            ]
            native = native.astype(dict.fromkeys(large, object))
        return list(nw.from_native(native.reindex(rows), eager_only=True).iter_columns())
    if not len(frame):
        kinds, nulls = frame.schema.items(), [None] * len(rows)
        return [nw.new_series(name, nulls, kind, backend=backend) for name, kind in kinds]
    taken = frame[np.maximum(rows, 0)]
    if is_found.all():
        return list(taken.iter_columns())
    found = nw.new_series("found", is_found.tolist(), backend=backend)
    return [taken.select(nw.when(found).then(nw.col(name)))[name] for name in frame.columns]
