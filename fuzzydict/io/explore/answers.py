"""What a dict tells the page of ``fuzzydict explore``, of types that JSON has.

It answers one query, several, and the texts of a column of a table that was uploaded.
"""

from __future__ import annotations

import math
import re
import warnings
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from io import BytesIO
from itertools import islice, repeat, zip_longest
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzydict._arrays import positive, slices
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
from fuzzydict.io.tables import TABLES, open_table, table_format
from fuzzydict.io.text_tables import BLANK, BYTE_ORDER_MARK, Reading, as_line
from fuzzydict.mapping import FuzzyDict
from fuzzydict.nn.softmax import softmax
from fuzzydict.options import OPTIONS
from fuzzydict.results.plotting import principal_axes
from fuzzydict.search.score import as_score, is_spelling
from fuzzydict.text.words import plain, shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray

    from fuzzydict.results.answers import Attention, Match
    from fuzzydict.results.explanation import Explanation

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
_TRIED = 10  # columns whose rows are counted
_LINES = "text"  # the column of a file of lines
#: What is told of a query that there is nothing to compare with, beside the verdict.
_NOTHING: dict[str, Any] = {
    **dict.fromkeys(("matches", "doubtful", "pools", "taught"), False),
    **dict.fromkeys(("none", "pooled", "not_pooled", "at")),
    "why": [],
    "keys": [],
    "others": 0,
}
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
        embedding, licence = "none", ""
        if not is_spelling(scorer):
            vectors = as_embedding(d.embedding)
            if ships_as := getattr(vectors, "ships_as", None):
                free = '; embedding="english" is free for commercial use'
                embedding, more = ships_as.capitalize(), free if ships_as == BROWN else ""
                licence = f"Word vectors: {LICENCES[ships_as]}{more}."
            else:
                embedding = str(vectors.fingerprint()["name"])
        return {
            "keys": len(d),
            "temperature": d.temperature or as_score(scorer).temperature,
            "cutoff": self._cutoff,
            "mode": d.mode,
            "scorer": "spelling and meaning" if scorer is None else named,
            "embedding": embedding,
            "licence": licence,
            "sample": _spread(self._names, _SAMPLE),
        }

    @property
    def _cutoff(self) -> float | None:
        """The least score of a key that is found, or whose value counts in pool mode."""
        d, score = self.dict, as_score(self.dict.scorer)
        own = score.pool_cutoff if d.mode == "pool" else score.score_cutoff
        return own if d.score_cutoff is None else d.score_cutoff

    @cached_property
    def _names(self) -> list[str]:
        """The keys that can be compared: texts with letters or digits."""
        return [key for key in dict.keys(self.dict) if isinstance(key, str) and plain(key)]

    # ---- one query ------------------------------------------------------------------------

    def answer(self, query: Any, temperature: Any = None) -> dict[str, Any]:
        """Return the nearest keys, why, the weights at a temperature, and the pooled value."""
        check_query(query)
        with self._changing:
            return {"query": query, **_NOTHING, **self._answer(query, temperature)}

    def _answer(self, query: str, temperature: Any) -> dict[str, Any]:
        try:
            explanation = self.dict.explain(query)
            nearest = self.dict.most_similar(query, topn=_SHOWN)
        except NoMatchError as error:
            return {"verdict": error.message}
        told: dict[str, Any] = {
            "verdict": str(explanation).partition("\n")[0],
            "why": reasons(explanation),
            "matches": explanation.matches,
            "taught": explanation.taught,
            "doubtful": not explanation.taught and is_doubtful(explanation.best),
        }
        try:
            attention = _at_temperature(self.dict.attend(query), temperature)
        except NoMatchError as error:  # an equal key may be found all the same
            found = explanation.best.key if explanation.matches else None
            keys = [self._row(one, float(one.key == found), None) for one in nearest]
            return told | {"keys": keys, "not_pooled": error.message}
        slots = {name: slot for slot, name in enumerate(attention.names)}
        told |= {"none": attention.none, "at": self._place(attention.query), "keys": []}
        for match in nearest:
            slot = slots.get(match.key)
            weight = 0.0 if slot is None else float(attention.weights[slot])
            at = None if slot is None else self._place(attention.keys[slot])
            told["keys"].append(self._row(match, weight, at))
        told["others"] = max(len(slots) - len(nearest), 0)
        if explanation.taught and not explanation.matches:
            return told | {"not_pooled": "it was taught that no key is right"}
        if self.dict.mode == "pool" and not explanation.taught:
            told |= self._read(explanation, attention)
        return told | self._pooled(attention)

    def _row(self, match: Match, weight: float, at: list[float] | None) -> dict[str, Any]:
        return {
            "key": key_text(match.key),
            "value": shown(match.value),
            "score": match.score,
            "weight": weight,
            "color": self._color(match.value),
            "number": float(match.value) if self._are_numbers else None,
            "at": at,
        }

    def _read(self, explanation: Explanation, attention: Attention) -> dict[str, Any]:
        """Return the verdict on a read that pools, whose cutoff is another."""
        query, best, cutoff = quoted(explanation.query), explanation.best, self._cutoff
        if best is not None and not explanation.equal and best.score < (cutoff or -math.inf):
            verdict = (
                f"{query} finds nothing: the best, {quoted(best.key)}, has {best.score:.3f}, "
                f"below the cutoff {cutoff:.3f}"
            )
            return {"verdict": verdict, "matches": False, "doubtful": False}
        ((key, weight, _),) = attention.top(1)
        verdict = f"{query} gives the pooled value; {quoted(key)} weighs most: {weight:.3f}"
        return {"verdict": verdict, "pools": True}

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

    def keys_like(self, like: Any) -> dict[str, Any]:
        """Return keys that begin with a text, then those that contain it, then similar ones."""
        check_query(like)
        folded, names = like.casefold(), self._names

        def similar() -> Iterator[str]:
            try:
                yield from (one.key for one in self.dict.most_similar(like, topn=_LISTED))
            except NoMatchError:
                return

        found = dict[str, None]()
        for some in (
            (name for name in names if name.casefold().startswith(folded)),
            (name for name in names if folded in name.casefold()),
            similar(),
        ):
            if len(found) < _LISTED:
                found |= dict.fromkeys(islice(some, _LISTED))
        return {"keys": [*found][:_LISTED]}

    def heat(self, queries: Any, temperature: Any = None) -> dict[str, Any]:
        """Return the weights of several queries for the best keys of each; zeros without words."""
        if not isinstance(queries, list) or not 1 <= len(queries) <= _MOST_QUERIES:
            raise OptionError(f"queries: expected a list of 1 to {_MOST_QUERIES} texts")
        for query in queries:
            check_query(query)
        rows = [_at_temperature(one, temperature) for one in self.dict.attend(queries)]
        best = ([key for key, _, _ in one.top(_MOST_COLUMNS)] for one in rows)
        in_turn = dict.fromkeys(key for some in zip_longest(*best) for key in some)
        keys = [key for key in in_turn if key is not None][:_MOST_COLUMNS]
        if not keys:
            raise OptionError("queries: none of them has letters or digits to attend by")
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
        points = [
            {
                "key": name,
                "at": self._place(vector),
                "color": self._color(dict.get(self.dict, name)),
            }
            for name, vector in zip(*self._plane[:2], strict=True)
        ]
        return {"points": points, "total": len(self._names)}

    @cached_property
    def _plane(self) -> tuple[Sequence[str], NDArray[Any], NDArray[Any], NDArray[Any]] | None:
        """Some keys, their vectors (S, E), what leads from these to places (2, E), and (2,)."""
        names, d = _spread(self._names, _MAPPED), self.dict
        if not names or is_spelling(d.scorer):
            return None
        options = {name: getattr(d, name) for name in OPTIONS if name not in ("index", "mode")}
        alone = FuzzyDict(dict.fromkeys(names), **options)
        alone.synonyms = d.synonyms
        attention = alone.attend(names[0])
        _, axes, _ = principal_axes(attention.keys)
        points = attention.keys @ axes.T
        low, high = points.min(axis=0), points.max(axis=0)
        widths = np.where(high - low > 1e-9 * np.abs(points).max(), high - low, np.inf)
        middle = np.where(np.isinf(widths), 0.5, 0.0)
        return attention.names, attention.keys, axes / widths[:, None], middle - low / widths

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
        upload = Upload(name, data)
        with _notes() as notes:
            columns = upload.columns()
            if not columns:
                raise FileFormatError(f"{name}: has no columns")
            rows = upload.rows(columns)
        return {"columns": columns, "rows": rows, "notes": notes}

    def column(
        self, data: bytes, check: Callable[[], None], name: str, column: str
    ) -> dict[str, Any]:
        """Return what matches the texts of a column, the doubtful first, then the unmatched.

        ``check`` is called before some texts are matched, and may raise.
        """
        upload, d = Upload(name, data), self.dict
        with _notes() as notes:
            count, blank = upload.count(column), BlankCells(d)
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
        cells, matched = [], 0
        for text in texts:
            matches, taught = bool(best[text]) and best[text][0].matches, text in d.aliases
            doubtful = matches and not taught and is_doubtful(best[text][0])
            cell = {
                "query": text,
                "count": count[text],
                "keys": [{"key": key_text(one.key), "score": one.score} for one in best[text]],
                "matches": matches,
                "doubtful": doubtful,
                "taught": taught,
            }
            urgency = 0 if doubtful else 2 if matches or taught else 1
            cells.append((urgency, -count[text], cell))
            matched += count[text] if matches else 0
        asked = sum(count[text] for text in texts)
        return {
            "rows": count.total(),
            "matched": matched,
            "unmatched": asked - matched,
            "blank": count.total() - asked,
            "cells": [cell for *_, cell in sorted(cells, key=lambda one: one[:2])],
            "notes": notes,
        }


class Upload(BytesIO):
    """The bytes of a file that was uploaded, and whose name tells the format."""

    def __init__(self, name: str, data: bytes) -> None:
        super().__init__(data)
        path = Path(name)
        self.name, self.is_lines = name, path.suffix.lower() == ".txt"
        self._reading = Reading(format=table_format(path), side=None)
        if not (self._reading.format or self.is_lines):
            endings = ", ".join(f".{form}" for form in TABLES)
            raise OptionError(f"{name}: expected a file that ends in .txt or {endings}")

    def columns(self) -> list[str]:
        """Return the names of the columns; the lines of a .txt file are one."""
        if self.is_lines:
            return [_LINES]
        self.seek(0)
        with open_table(self, self._reading) as table:
            if self._reading.format != "jsonl":
                return list(filter(None, table.names))
            names = dict[str, None]()
            for record in table.rows():
                if isinstance(record.content, dict):
                    names.update(dict.fromkeys(record.content))
                elif record.content is not BLANK:
                    raise FileFormatError(f"{self.name}: line {record.line} is no object")
            return list(names)

    def rows(self, columns: Sequence[str]) -> int:
        """Return how many rows there are, by the first of the columns that can be matched."""
        for column in columns[:_TRIED]:
            try:
                return sum(rows for _, rows in self._cells(column))
            except FileFormatError as error:  # it may hold something else than texts
                problem = error
        raise problem

    def count(self, column: str) -> Counter[str | None]:
        """Return how many rows have each text of a column; None stands for an empty cell."""
        count: Counter[str | None] = Counter()
        for cell, rows in self._cells(column):
            count[cell] += rows
            if len(count) > _MOST_TEXTS:
                raise self._too_much(f"more than {_MOST_TEXTS:,} different texts", column)
            if cell is not None and len(cell) > _LONGEST:
                raise self._too_much(f"a text of more than {_LONGEST:,} characters", column)
        return count

    def _cells(self, column: str) -> Iterator[tuple[str | None, int]]:
        """Yield the cells of a column, each with how many rows have it."""
        total = 0
        for cell, rows in self._lines() if self.is_lines else self._column(column):
            total += rows
            if total > _MOST_ROWS:
                raise self._too_much(f"more than {_MOST_ROWS:,} rows")
            yield cell, rows

    def _lines(self) -> Iterator[tuple[str, int]]:
        text = decoded(self.getvalue(), self.name).removeprefix(BYTE_ORDER_MARK)
        lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
        return zip(lines if text else [], repeat(1), strict=False)

    def _column(self, column: str) -> Iterator[tuple[str | None, int]]:
        if not column:
            raise OptionError("column: expected the name of a column")
        self.seek(0)
        with open_table(self, self._reading) as table:
            for cells, counts, _ in table.blocks(column, alone=True):
                yield from zip(cells, counts or repeat(1), strict=False)

    def _too_much(self, what: str, column: str | None = None) -> OptionError:
        where = "" if column is None else f" in {quoted(column)}"
        return OptionError(
            f"{self.name}: has {what}{where}; match it with the command fuzzydict map"
        )


@contextmanager
def _notes() -> Iterator[list[str]]:
    """Give a list that gets the warnings of how a file was read, each once; one thread may."""
    notes = list[str]()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield notes
    notes += dict.fromkeys(printable(str(one.message)) for one in caught)


# ---- what is asked, and what is shown -----------------------------------------------------


def check_query(query: Any) -> None:
    """Refuse what is no text, or too long a text."""
    if not isinstance(query, str):
        raise ArgumentTypeError(f"query: expected a text, got {quoted(query)}")
    if len(query) > LONGEST_QUERY:
        raise OptionError(f"query: {len(query)} characters; shorten it to {LONGEST_QUERY}")


def is_doubtful(match: Match) -> bool:
    """Tell whether a person should look at a match, as `fuzzydict map` does."""
    return match.matches and match.score < SURE and match.key != match.query


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
    """Return "#rgb", "#rrggbb", or three whole numbers from 0 to 255, as "#rrggbb"; else None.

    >>> color_of((255, 0, 16)), color_of("#F01"), color_of((255, 0, 256))
    ('#ff0010', '#ff0011', None)
    """
    if isinstance(value, str) and _COLOR.fullmatch(value):
        digits = value[1:].lower()
        return "#" + (digits if len(digits) == 6 else "".join(one * 2 for one in digits))
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
    """Return an attention with its weights at another temperature, unless it is None."""
    if temperature is None:
        return attention
    scores = attention.scores.astype(np.float64)
    weights = softmax(scores, positive("temperature", temperature))
    return replace(attention, weights=weights.astype(np.float64, copy=False))


def _spread(names: Sequence[str], most: int) -> list[str]:
    """Return at most so many names, evenly spread among all."""
    step = max(1.0, len(names) / most)
    return [names[int(place * step)] for place in range(min(len(names), most))]


# ---- why ----------------------------------------------------------------------------------

_WORDS = 6  # that are told
_WIDE = 40  # characters of a key or word
_LEAST = 0.05  # log-odds that are told
#: What each part of the log-odds says of a key: for it, and against it.
_SAY = {
    "spelling": ("it is spelled alike", "it is spelled otherwise"),
    "meaning": ("it means much the same", "it means something else"),
    "words": ("its words are matched", "its words are not matched"),
    "against": ("little sets them apart", "something sets them apart"),
    "rivals": ("no other key competes", "other keys compete"),
    "base": ("a key is often meant", "a key is seldom meant"),
}


def reasons(explanation: Explanation) -> list[str]:
    """Return sentences that say why a query finds its key, or none.

    >>> from fuzzydict import FuzzyDict
    >>> told = reasons(FuzzyDict({"price": 1, "brand": 2}).explain("cost"))
    >>> told[0], told[1][:11], told[2][:6]
    ('Known words: cost.', "'price' has", 'For it')
    """
    if explanation.taught:  # then the key is compared with itself
        return ["What was taught comes before all that is only similar."]
    words, more = explanation.words[:_WORDS], len(explanation.words) - _WORDS
    known = [shortened(word.text, _WIDE) for word in words if word.known]
    said = [f"Known words: {', '.join(known)}."] if known else []
    for word in words:
        unknown = f"{quoted(word.text, _WIDE)} is not known"
        if word.stand_in is not None and not word.known:
            said.append(f"{unknown}; it is taken for {shortened(word.stand_in, _WIDE)}.")
        elif not word.known:
            said.append(f"{unknown}, and no known word is like it.")
    if more > 0:
        said.append(f"It has {more} more words.")
    if words and not explanation.tells_words:
        whole = "The encoder compares the text as a whole, and these words are compared beside it."
        said.append(whole)
    if explanation.equal:
        return [*said, "An equal key always comes first."]
    return [*said, *_of_keys(explanation)]


def _of_keys(explanation: Explanation) -> Iterator[str]:
    best, next_best, parts = explanation.best, explanation.runner_up, explanation.best_parts
    if best is None or best.score == -np.inf:
        return
    yield f"{quoted(best.key, _WIDE)} has {best.score:.3f}."
    shares = {} if parts is None else {name: getattr(parts, name) for name in _SAY}
    ranked = sorted(shares.items(), key=lambda share: -abs(share[1]))
    for side, (title, sign) in enumerate({"For it": 1, "Against it": -1}.items()):
        told = [(name, share) for name, share in ranked if sign * share >= _LEAST]
        if told:
            said = ", ".join(f"{_SAY[name][side]} ({share:+.1f})" for name, share in told)
            yield f"{title}: {said}."
    if next_best is not None and next_best.score > -np.inf:
        yield f"The next key, {quoted(next_best.key, _WIDE)}, has {next_best.score:.3f}."
    if explanation.none is not None:
        yield f"The probability that no key is right is {explanation.none:.3f}."
