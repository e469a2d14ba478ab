"""What a dict tells the page of ``fuzzydict explore``, of types that JSON has."""

from __future__ import annotations

import math
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from io import BytesIO
from itertools import repeat, zip_longest
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuzzydict._arrays import slices
from fuzzydict._files import decoded
from fuzzydict.embedding.encoder import as_embedding
from fuzzydict.embedding.word_vectors import BROWN, LICENCES
from fuzzydict.errors import (
    ArgumentTypeError,
    FileFormatError,
    FuzzyDictError,
    NoMatchError,
    OptionError,
    printable,
    quoted,
)
from fuzzydict.io.columns import SURE, BlankCells
from fuzzydict.io.tables import open_table
from fuzzydict.io.text_tables import (
    BYTE_ORDER_MARK,
    TABLES,
    Reading,
    Table,
    as_json,
    as_line,
    format_by_ending,
)
from fuzzydict.mapping import FuzzyDict
from fuzzydict.nn.softmax import softmax
from fuzzydict.results.answers import Attention, Match
from fuzzydict.results.plotting import principal_axes
from fuzzydict.search.score import as_score, is_spelling
from fuzzydict.text.words import plain, shortened

#: Characters of a query; a longer one is refused.
LONGEST_QUERY = 500
_SHOWN = 12  # keys of an answer
_WIDTH = 300  # characters of a value
_DIGITS = 4  # of a pooled number
_SAMPLE = 8  # keys that the page names at first
_LISTED = 20  # keys to choose from
_MAPPED = 500  # keys on the map
_MOST_QUERIES, _MOST_COLUMNS = 20, 24  # of a heat map
_MOST_ROWS = 1_000_000  # of a table
_LONGEST = 131_072  # characters of a text, as in CSV
_MOST_TEXTS = 5_000  # different ones of a column
_BEST = 6  # keys of each: the best, and others to choose from
_TOGETHER = 256  # texts that are looked up at once
_LIST, _LINES = ".txt", "text"  # the ending of a file of lines, and their column
_COLOR = re.compile("#(?:[0-9a-f]{3}|[0-9a-f]{6})", re.IGNORECASE)


class Answers:
    """Answers the page, several threads at once; ``changing`` is held while aliases change.

    The items of the dict stay as they are.

    >>> told = Answers(FuzzyDict({"red": 1.0, "blue": 3.0})).answer("redd")
    >>> told["matches"], [row["key"] for row in told["keys"]]
    (True, ['red', 'blue'])
    """

    def __init__(
        self, d: FuzzyDict[Any], changing: AbstractContextManager[Any] | None = None
    ) -> None:
        self.dict, self._changing = d, changing or Lock()
        values = list(dict.values(d))
        self._are_numbers = all(map(_is_number, values))
        self._are_colors = all(color_of(value) is not None for value in values)

    def about(self) -> dict[str, Any]:
        """Return what the page shows before the first query."""
        d, scorer = self.dict, self.dict.scorer
        named = scorer if isinstance(scorer, str) else shortened(quoted(scorer), _WIDTH)
        vectors = None if is_spelling(scorer) else as_embedding(d.embedding)
        embedding, licence, score = "none", "", as_score(scorer)
        if ships_as := getattr(vectors, "ships_as", None):
            free = '; embedding="english" is free for commercial use' if ships_as == BROWN else ""
            embedding, licence = ships_as.capitalize(), f"Word vectors: {LICENCES[ships_as]}{free}."
        elif vectors is not None:
            embedding = str(vectors.fingerprint()["name"])
        cutoff = score.pool_cutoff if d.mode == "pool" else score.score_cutoff
        return {
            "keys": len(d),
            "temperature": d.temperature or score.temperature,
            "cutoff": cutoff if d.score_cutoff is None else d.score_cutoff,
            "mode": d.mode,
            "scorer": "spelling and meaning" if scorer is None else named,
            "embedding": embedding,
            "licence": licence,
            "sample": _spread(self._names, _SAMPLE),
        }

    @cached_property
    def _names(self) -> list[str]:
        """The keys that can be compared: texts with letters or digits."""
        return [key for key in dict.keys(self.dict) if isinstance(key, str) and plain(key)]

    # ---- one query ------------------------------------------------------------------------

    def answer(self, query: str, temperature: Any = None) -> dict[str, Any]:
        """Return the nearest keys, why, the weights at a temperature, and the pooled value."""
        check_query(query)
        told: dict[str, Any] = {"query": query, "why": "", "keys": [], "others": 0}
        told |= dict.fromkeys(("matches", "doubtful", "pools", "taught"), False)
        told |= dict.fromkeys(("none", "pooled", "not_pooled", "at"))
        attention, slots = None, dict[str, int]()
        with self._changing:
            try:
                explanation = self.dict.explain(query)
                nearest = self.dict.most_similar(query, topn=_SHOWN)
            except NoMatchError as error:
                return told | {"verdict": error.message}
            try:
                attention = _at_temperature(self.dict.attend(query), temperature)
            except NoMatchError as error:  # an equal key may be found all the same
                told["not_pooled"] = error.message
        matches, taught = explanation.matches, explanation.taught
        best = explanation.best if matches else None
        told["verdict"], _, told["why"] = str(explanation).partition("\n")
        told |= {"matches": matches, "taught": taught}
        told["doubtful"] = best is not None and not taught and is_doubtful(best)
        told["pools"] = explanation.pools and matches and not taught
        if attention is not None:
            slots = {name: slot for slot, name in enumerate(attention.names)}
            told |= {"none": attention.none, "at": self._place(attention.query)}
            told["others"] = max(len(slots) - len(nearest), 0)
            no_key = {"not_pooled": "it was taught that no key is right"}
            told |= no_key if taught and not matches else self._pooled(attention)
        for key, value, score in nearest:
            row = {"key": key_text(key), "value": shown(value), "score": score, "at": None}
            row |= {"weight": float(attention is None and best is not None and key == best.key)}
            number = float(value) if self._are_numbers else None
            row |= {"color": self._color(value), "number": number}
            if attention is not None and key in slots:
                row["weight"] = float(attention.weights[slots[key]])
                row["at"] = self._place(attention.keys[slots[key]])
            told["keys"].append(row)
        return told

    def _pooled(self, attention: Attention) -> dict[str, Any]:
        """Return the pooled value, or why there is none."""
        try:
            output = attention.output
        except FuzzyDictError as error:
            return {"not_pooled": str(error)}
        if isinstance(attention.values[int(attention.weights.argmax())], str):
            reason = f"the values are texts, whose vectors are pooled: {len(output)} numbers"
            return {"not_pooled": reason}
        value = np.asarray(output)
        color = self._color(np.clip(value.round(), 0, 255))
        number = float(value) if value.ndim == 0 else None
        return {"pooled": {"text": shown(rounded(value)), "color": color, "number": number}}

    def _color(self, value: Any) -> str | None:
        """Return a value as "#rrggbb", if all values are colors."""
        return color_of(value) if self._are_colors else None

    # ---- keys to choose from, several queries, the map --------------------------------------

    def keys_like(self, like: str) -> dict[str, Any]:
        """Return keys that begin with a text, then those that contain it, then similar ones."""
        check_query(like)
        folded, begin, contain = like.casefold(), list[str](), list[str]()
        for name in self._names:
            if folded in (text := name.casefold()):  # quicker than `find`, where few keys have it
                if text.startswith(folded):
                    begin.append(name)
                elif len(contain) < _LISTED:
                    contain.append(name)
                if len(begin) == _LISTED:
                    break
        found = begin + contain
        if len(found) < _LISTED:
            with suppress(NoMatchError):
                found += (one.key for one in self.dict.most_similar(like, topn=_LISTED))
        return {"keys": [*dict.fromkeys(found)][:_LISTED]}

    def heat(self, queries: list[Any], temperature: Any = None) -> dict[str, Any]:
        """Return the weights of several queries for the best keys of each; zeros without words."""
        if not 1 <= len(queries) <= _MOST_QUERIES:
            raise OptionError(f"queries: expected a list of 1 to {_MOST_QUERIES} texts")
        for query in queries:
            check_query(query)
        rows = [_at_temperature(one, temperature) for one in self.dict.attend(queries)]
        in_turn = zip_longest(*(one.top(_MOST_COLUMNS) for one in rows))
        best = dict.fromkeys(item[0] for some in in_turn for item in some if item)
        if not best:
            raise OptionError("queries: none of them has letters or digits to attend by")
        keys = [*best][:_MOST_COLUMNS]
        shares = [dict(zip(one.names, one.weights.tolist(), strict=True)) for one in rows]
        weights = [[share.get(key, 0.0) for key in keys] for share in shares]
        totals = zip(shares, weights, strict=True)
        others = [max(0.0, sum(share.values()) - sum(row)) for share, row in totals]
        return {"queries": queries, "keys": keys, "weights": weights, "others": others}

    def map(self) -> dict[str, Any]:
        """Return where some keys lie by two principal components, in the square from 0 to 1."""
        if not self._names:
            return {"points": [], "why": "no key is a text with letters or digits"}
        if self._plane is None:
            spelling = "the keys are compared by spelling alone, so that they have no vectors"
            return {"points": [], "why": spelling}
        names, vectors, *_ = self._plane
        points = [
            {
                "key": name,
                "at": self._place(vector),
                "color": self._color(dict.get(self.dict, name)),
            }
            for name, vector in zip(names, vectors, strict=True)
        ]
        return {"points": points, "total": len(self._names)}

    @cached_property
    def _plane(self) -> tuple[Sequence[str], NDArray[Any], NDArray[Any], NDArray[Any]] | None:
        """Some keys, their vectors (S, E), what leads from these to places (2, E), and (2,)."""
        names = _spread(self._names, _MAPPED)
        if not names or is_spelling(self.dict.scorer):
            return None
        attention = self.dict.attend(names[0], attn_mask=lambda _: True)  # to all, with an index
        slots = {name: slot for slot, name in enumerate(attention.names)}
        vectors = attention.keys[[slots[name] for name in names]]
        _, axes, _ = principal_axes(vectors)
        points = vectors @ axes.T
        low, high = points.min(axis=0), points.max(axis=0)
        widths = np.where(high - low > 1e-9 * np.abs(points).max(), high - low, np.inf)
        middle = np.where(np.isinf(widths), 0.5, 0.0)
        return names, vectors, axes / widths[:, None], middle - low / widths

    def _place(self, vector: NDArray[Any]) -> list[float] | None:
        """Return the place of a vector (E,) on the map; one outside is on its edge."""
        if self._plane is None:
            return None
        _, _, axes, origin = self._plane
        place: list[float] = np.clip(axes @ vector + origin, 0, 1).round(4).tolist()
        return place

    # ---- a column of a table that was uploaded ----------------------------------------------

    def table(self, data: bytes, check: Callable[[], None], name: str) -> dict[str, Any]:
        """Return the names of the columns of a table, and how many rows it has; see `column`."""
        check()
        with _opened(name, data) as (table, notes):
            if (rows := table.count()) > _MOST_ROWS:
                raise _too_much(name, f"more than {_MOST_ROWS:,} rows")
            columns = [one for one in table.names if one]
        if not columns:
            raise FileFormatError(f"{name}: has no columns")
        return {"columns": columns, "rows": rows, "notes": notes}

    def column(
        self, data: bytes, check: Callable[[], None], name: str, column: str
    ) -> dict[str, Any]:
        """Return what matches the texts of a column, the doubtful first, then the unmatched.

        ``check`` is called before some texts are matched, and may raise.
        """
        d = self.dict
        with _opened(name, data) as (table, notes):
            count = _counted(table, _LINES if name.lower().endswith(_LIST) else column)
            blank = BlankCells(d)
        texts = [t for t in count if t is not None and (t in d.aliases or t not in blank)]
        best: dict[str, Sequence[Match]] = dict.fromkeys(texts, ())
        comparable = [text for text in texts if plain(text) or dict.__contains__(d, text)]
        for block in slices(len(comparable), _TOGETHER):
            check()
            some = comparable[block]
            try:
                best.update(zip(some, d.most_similar(some, topn=_BEST), strict=True))
            except NoMatchError:  # no key has letters or digits
                break
        cells = list[dict[str, Any]]()
        for text, found in best.items():
            matches, taught = bool(found) and found[0].matches, text in d.aliases
            keys = [{"key": key_text(one.key), "score": one.score} for one in found]
            cell = {"query": text, "count": count[text], "keys": keys, "taught": taught}
            doubtful = matches and not taught and is_doubtful(found[0])
            cells.append({**cell, "matches": matches, "doubtful": doubtful})
        cells.sort(key=lambda c: (not c["doubtful"], c["matches"] or c["taught"], -c["count"]))
        rows, asked = count.total(), sum(one["count"] for one in cells)
        matched = sum(one["count"] for one in cells if one["matches"])
        numbers = {"rows": rows, "matched": matched, "unmatched": asked - matched}
        return {**numbers, "blank": rows - asked, "cells": cells, "notes": notes}


# ---- files that are uploaded --------------------------------------------------------------


@contextmanager
def _opened(name: str, data: bytes) -> Iterator[tuple[Table, list[str]]]:
    """Open what was uploaded, by its name, with a list that gets warnings of how it was read."""
    form, notes = format_by_ending(Path(name)), list[str]()
    if is_list := name.lower().endswith(_LIST):
        text = decoded(data, name).removeprefix(BYTE_ORDER_MARK).replace("\r\n", "\n")
        lines = text.removesuffix("\n").split("\n") if text else []
        form, data = "jsonl", "".join(f"{as_json({_LINES: line})}\n" for line in lines).encode()
    if form is None:
        endings = ", ".join(f".{form}" for form in TABLES)
        raise OptionError(f"{name}: expected a file that ends in .txt or {endings}")
    with warnings.catch_warnings(record=True) as caught:  # as one thread may at a time
        warnings.simplefilter("always")
        with open_table(BytesIO(data), Reading(format=form, side=None), name=name) as table:
            table.may_be_empty = is_list
            yield table, notes
    notes += dict.fromkeys(printable(str(one.message)) for one in caught)


def _counted(table: Table, column: str) -> Counter[str | None]:
    """Return how many rows have each cell of a column; refuse too many, or too long ones."""
    if not column:
        raise OptionError("column: expected the name of a column")
    count, total, where = Counter[str | None](), 0, f" in {quoted(column)}"
    for _, cells, counts in table.blocks(column, alone=True):
        for cell, rows in zip(cells, counts or repeat(1), strict=False):
            count[cell] += rows
            total += rows
            if total > _MOST_ROWS:
                raise _too_much(table.name, f"more than {_MOST_ROWS:,} rows")
            if len(count) > _MOST_TEXTS:
                raise _too_much(table.name, f"more than {_MOST_TEXTS:,} different texts{where}")
            if cell is not None and len(cell) > _LONGEST:
                raise _too_much(table.name, f"a text of more than {_LONGEST:,} characters{where}")
    return count


def _too_much(name: str, what: str) -> OptionError:
    return OptionError(f"{name}: has {what}; match it with the command fuzzydict map")


# ---- what is asked, and what is shown -----------------------------------------------------


def check_query(query: Any) -> None:
    """Refuse what is no text, or too long a text."""
    if not isinstance(query, str):
        raise ArgumentTypeError(f"query: expected a text, got {quoted(query)}")
    if len(query) > LONGEST_QUERY:
        raise OptionError(f"query: {len(query)} characters; shorten it to {LONGEST_QUERY}")


def is_doubtful(match: Match) -> bool:
    """Tell whether a person should look at the best key of a match, as `fuzzydict map` does."""
    return match.score < SURE and match.key != match.query


def key_text(key: Any) -> str:
    """Return a key as a text: a key that is one as it is, so that it can be taught."""
    return key if isinstance(key, str) else shown(key)


def shown(value: Any) -> str:
    """Return a value as a text of one line, shortened."""
    return shortened(as_line(value), _WIDTH)


def rounded(values: NDArray[Any]) -> Any:
    """Return numbers with four decimals, or the first four digits of those that are all below 1.

    >>> rounded(np.array([1.23456, 2e-6])), rounded(np.array([1e-6, 2.34567e-6]))
    ([1.2346, 0.0], [1e-06, 2.346e-06])
    """
    most = float(np.abs(values).max(initial=0.0)) or 1.0
    digits = max(_DIGITS, _DIGITS - 1 - math.floor(math.log10(most)))
    parts = [round(float(part), digits) for part in values.ravel()]
    return np.reshape(parts, values.shape).tolist()


def color_of(value: Any) -> str | None:
    """Return "#rgb", "#rrggbb", or three whole numbers from 0 to 255 as such a text; else None.

    >>> color_of((255, 0, 16)), color_of("#F01"), color_of((255, 0, 256))
    ('#ff0010', '#F01', None)
    """
    if isinstance(value, str):
        return value if _COLOR.fullmatch(value) else None
    is_list = isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim == 1)
    if not is_list or len(value) != 3:
        return None
    if not all(_is_number(part) and 0 <= part <= 255 and part == int(part) for part in value):
        return None
    return "#" + "".join(f"{int(part):02x}" for part in value)


def _is_number(value: Any) -> bool:
    is_real = isinstance(value, int | float | np.integer | np.floating)
    try:
        return is_real and not isinstance(value, bool) and bool(np.isfinite(float(value)))
    except OverflowError:  # an int that is too large
        return False


def _at_temperature(attention: Attention, temperature: Any) -> Attention:
    """Return an attention with its weights at another temperature, unless that is None."""
    if temperature is None or not attention.names:
        return attention
    weights: Any = softmax(attention.scores.astype(np.float64), temperature)
    return replace(attention, weights=weights)


def _spread(names: Sequence[str], most: int) -> list[str]:
    """Return at most so many names, evenly spread among all."""
    step = max(1.0, len(names) / most)
    return [names[int(place * step)] for place in range(min(len(names), most))]
