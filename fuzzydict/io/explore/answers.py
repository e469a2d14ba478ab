"""What a dict tells the page of ``fuzzydict explore``, of types that JSON has."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, islice, zip_longest
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzydict._arrays import positive
from fuzzydict.embedding.encoder import as_embedding, name_of
from fuzzydict.embedding.word_vectors import ENGLISH
from fuzzydict.errors import ArgumentTypeError, FuzzyDictError, NoMatchError, OptionError, quoted
from fuzzydict.io.columns import SURE
from fuzzydict.io.records import as_line
from fuzzydict.mapping import FuzzyDict
from fuzzydict.nn.softmax import softmax
from fuzzydict.options import OPTIONS
from fuzzydict.search.score import as_score, is_spelling
from fuzzydict.text.words import plain, shortened

if TYPE_CHECKING:
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
#: What is told of a query that there is nothing to compare with, beside the verdict.
_NOTHING: dict[str, Any] = {
    **dict.fromkeys(("matches", "doubtful", "pools", "taught"), False),
    **dict.fromkeys(("none", "pooled", "not_pooled", "at")),
    "why": "",
    "keys": [],
    "others": 0,
}
_COLOR = re.compile("#(?:[0-9a-f]{3}|[0-9a-f]{6})", re.IGNORECASE)


class Answers:
    """Answers the page, for a dict whose items stay as they are; its aliases may change.

    Threads may ask at once.

    Args:
        d: the dict.
        changing: a lock that is held while aliases change, so that no answer is half of before.

    >>> told = Answers(FuzzyDict({"red": 1.0, "blue": 3.0})).answer("reed")
    >>> told["matches"], [row["key"] for row in told["keys"]]
    (True, ['red', 'blue'])
    """

    def __init__(
        self, d: FuzzyDict[Any], changing: AbstractContextManager[Any] | None = None
    ) -> None:
        self.dict, self._changing, self._map_lock = d, changing or Lock(), Lock()
        self.kind = kind_of(dict.values(d))

    def about(self) -> dict[str, Any]:
        """Return what the page shows before the first query."""
        d, scorer = self.dict, self.dict.scorer
        named = scorer if isinstance(scorer, str) else shortened(quoted(scorer), _WIDTH)
        return {
            "keys": len(d),
            "temperature": d.temperature or as_score(scorer).temperature,
            "cutoff": self._cutoff,
            "mode": d.mode,
            "scorer": "spelling and meaning" if scorer is None else named,
            "embedding": _embedding(d),
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

    def answer(self, query: str, temperature: float | None = None) -> dict[str, Any]:
        """Return the nearest keys, why, the weights and the pooled value.

        Scores are divided by the temperature before the softmax; None is that of the dict.

        Raises:
            OptionError: the query is too long, or the temperature is not above 0.
        """
        check_query(query)
        with self._changing:
            return {"query": query, **_NOTHING, **self._answer(query, temperature)}

    def _answer(self, query: str, temperature: float | None) -> dict[str, Any]:
        try:
            explanation = self.dict.explain(query)
            nearest = self.dict.most_similar(query, topn=_SHOWN)
        except NoMatchError as error:
            return {"verdict": error.message}
        told: dict[str, Any] = {
            "verdict": str(explanation).partition("\n")[0],
            "why": "\n".join(reasons(explanation)),
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
        told |= {"none": attention.none, **self._weighed(nearest, attention)}
        if explanation.taught and not explanation.matches:
            return told | {"not_pooled": "it was taught that no key is right"}
        if self.dict.mode == "pool" and not explanation.taught:
            told |= self._read(explanation, attention)
        return told | self._pooled(attention)

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

    def _weighed(self, nearest: Sequence[Match], attention: Attention) -> dict[str, Any]:
        """Return the nearest keys with their weights, and the places of them and the query."""
        slots = {name: slot for slot, name in enumerate(attention.names)}
        keys = []
        for match in nearest:
            slot = slots.get(match.key)
            weight = 0.0 if slot is None else float(attention.weights[slot])
            keys.append(self._row(match, weight, None if slot is None else attention.keys[slot]))
        others = max(len(slots) - len(keys), 0)
        return {"keys": keys, "others": others, "at": self._place(attention.query)}

    def _row(self, match: Match, weight: float, vector: NDArray[Any] | None) -> dict[str, Any]:
        return {
            "key": key_text(match.key),
            "value": shown(match.value),
            "score": match.score,
            "weight": weight,
            "color": self._color(match.value),
            "number": float(match.value) if self.kind == "numbers" else None,
            "at": None if vector is None else self._place(vector),
        }

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
        # V may have made another size of what was a color.
        color = self._color(np.clip(value.round(), 0, 255)) if value.shape == (3,) else None
        number = float(value) if value.ndim == 0 else None
        return {"pooled": {"text": shown(rounded(value)), "color": color, "number": number}}

    def _color(self, value: Any) -> str | None:
        """Return a value as "#rrggbb", if all values are colors."""
        if self.kind != "colors" or not _is_color(value):
            return None
        if not isinstance(value, str):
            return "#" + "".join(f"{int(part):02x}" for part in value)
        digits = value[1:].lower()
        return "#" + (digits if len(digits) == 6 else "".join(one * 2 for one in digits))

    # ---- keys to choose from, several queries ---------------------------------------------

    def keys_like(self, text: str) -> dict[str, Any]:
        """Return keys that begin with a text, then those that contain it, then similar ones."""
        check_query(text)
        folded, names = text.casefold(), self._names

        def similar() -> Iterator[str]:
            try:
                yield from (one.key for one in self.dict.most_similar(text, topn=_LISTED))
            except NoMatchError:
                return

        found = chain(
            (name for name in names if name.casefold().startswith(folded)),
            (name for name in names if folded in name.casefold()),
            similar(),
        )
        return {"keys": list(islice(_different(found), _LISTED))}

    def heat(self, queries: Any, temperature: float | None = None) -> dict[str, Any]:
        """Return the weights of several queries for the best keys of each; zeros without words.

        Raises:
            OptionError: there is no query, or too many; or none has anything to attend to.
            ArgumentTypeError: a query is no text.
        """
        if not isinstance(queries, list) or not 1 <= len(queries) <= _MOST_QUERIES:
            raise OptionError(f"queries: expected a list of 1 to {_MOST_QUERIES} texts")
        for query in queries:
            check_query(query)
        rows = [_at_temperature(one, temperature) for one in self.dict.attend(queries)]
        best = ([key for key, _, _ in one.top(_MOST_COLUMNS)] for one in rows)
        in_turn = (key for keys in zip_longest(*best) for key in keys if key is not None)
        keys = list(islice(_different(in_turn), _MOST_COLUMNS))
        if not keys:
            raise OptionError("queries: none of them has letters or digits to attend by")
        shares = [dict(zip(one.names, one.weights.tolist(), strict=True)) for one in rows]
        weights = [[share.get(key, 0.0) for key in keys] for share in shares]
        totals = zip(shares, weights, strict=True)
        others = [max(0.0, sum(share.values()) - sum(row)) for share, row in totals]
        return {"queries": queries, "keys": keys, "weights": weights, "others": others}

    # ---- the map --------------------------------------------------------------------------

    def map(self) -> dict[str, Any]:
        """Return where the keys lie, or some of them: the first two principal components."""
        plane = self._plane
        if plane is None:
            no_vectors = "the keys are compared by spelling alone, so that they have no vectors"
            no_names = "no key is a text with letters or digits"
            return {"points": [], "why": no_vectors if self._names else no_names}
        points = [
            {"key": name, "x": x, "y": y, "color": self._color(dict.get(self.dict, name))}
            for name, (x, y) in zip(plane.names, plane.points, strict=True)
        ]
        return {"points": points, "total": len(self._names)}

    @property
    def _plane(self) -> Plane | None:
        with self._map_lock:
            return self._projected

    @cached_property
    def _projected(self) -> Plane | None:
        if not self._names or is_spelling(self.dict.scorer):
            return None
        return Plane.of(self.dict, _spread(self._names, _MAPPED))

    def _place(self, vector: NDArray[Any]) -> list[float] | None:
        plane = self._plane
        return None if plane is None else plane.places(vector[None])[0]


class Plane(NamedTuple):
    """The plane of the first two principal components of the vectors of n keys.

    Attributes:
        names: the keys, n.
        points: their places in the square from 0 to 1, (n, 2).
        axes: what leads from vectors to places, (E, 2).
        origin: the place of the vector of zeros, (2,).
    """

    names: list[str]
    points: list[list[float]]
    axes: NDArray[np.float64]
    origin: NDArray[np.float64]

    @classmethod
    def of(cls, d: FuzzyDict[Any], names: Sequence[str]) -> Plane:
        """Return the plane of some keys of a dict, by its own vectors of keys."""
        options = {name: getattr(d, name) for name in OPTIONS if name not in ("index", "mode")}
        attention = FuzzyDict(dict.fromkeys(names), **options).attend(names[0])
        vectors = attention.keys.astype(np.float64)
        mean = vectors.mean(axis=0)
        _, _, directions = np.linalg.svd(vectors - mean, full_matrices=False)
        axes = np.zeros((len(mean), 2))
        axes[:, : len(directions)] = directions[:2].T
        points = (vectors - mean) @ axes
        low, high = points.min(axis=0), points.max(axis=0)
        width = float((high - low).max()) or 1.0
        corner = (low + high - width) / 2
        plane = cls(attention.names, [], axes / width, -(mean @ axes + corner) / width)
        return plane._replace(points=plane.places(vectors))

    def places(self, vectors: NDArray[Any]) -> list[list[float]]:
        """Return the places of vectors in the square; one outside is on its edge."""
        places: list[list[float]]
        places = np.clip(vectors @ self.axes + self.origin, 0, 1).round(4).tolist()
        return places


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
    >>> rounded(np.array(1e308))  # `np.round` makes it infinite
    1e+308
    """
    most = float(np.abs(values).max(initial=0.0))
    digits = _DIGITS - 1 - math.floor(math.log10(most)) if 0 < most < 1 else _DIGITS
    parts = [round(float(part), digits) for part in values.ravel()]
    return np.reshape(parts, values.shape).tolist()


def kind_of(values: Iterable[Any]) -> str:
    """Return what values are shown as: "colors", "numbers", "texts", or "other".

    >>> kind_of([(255, 0, 0), "#00f"]), kind_of([1, 2.5]), kind_of(["black"]), kind_of([])
    ('colors', 'numbers', 'texts', 'other')
    """
    several = list(values)
    kinds = {"colors": _is_color, "numbers": _is_number, "texts": lambda one: type(one) is str}
    found = (kind for kind, is_one in kinds.items() if several and all(map(is_one, several)))
    return next(found, "other")


def _is_number(value: Any) -> bool:
    is_real = isinstance(value, int | float | np.integer | np.floating)
    try:
        return is_real and not isinstance(value, bool) and bool(np.isfinite(float(value)))
    except OverflowError:  # an int that is too large
        return False


def _is_color(value: Any) -> bool:
    """Tell whether a value is "#rgb", "#rrggbb", or three whole numbers from 0 to 255."""
    if isinstance(value, str):
        return bool(_COLOR.fullmatch(value))
    is_list = isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim == 1)
    return (
        bool(is_list)
        and len(value) == 3
        and all(_is_number(part) and 0 <= part <= 255 and part == int(part) for part in value)
    )


def _at_temperature(attention: Attention, temperature: float | None) -> Attention:
    """Return an attention with its weights at another temperature, unless it is None."""
    if temperature is None:
        return attention
    scores = attention.scores.astype(np.float64)
    weights = softmax(scores, positive("temperature", temperature))
    return replace(attention, weights=weights.astype(np.float64, copy=False))


def _embedding(d: FuzzyDict[Any]) -> str:
    if is_spelling(d.scorer):
        return "none"
    if d.embedding is None:
        return "Brown"
    if name_of(d.embedding) == ENGLISH:
        return ENGLISH
    return str(as_embedding(d.embedding).fingerprint()["name"])


def _spread(names: Sequence[str], most: int) -> list[str]:
    """Return at most so many names, evenly spread among all."""
    step = max(1.0, len(names) / most)
    return [names[int(place * step)] for place in range(min(len(names), most))]


def _different(names: Iterable[str]) -> Iterator[str]:
    """Yield each name where it comes first."""
    seen = set[str]()
    for name in names:
        if name not in seen:
            seen.add(name)
            yield name


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
    if explanation.equal:
        return [*_of_words(explanation), "An equal key always comes first."]
    return [*_of_words(explanation), *_of_keys(explanation)]


def _of_words(explanation: Explanation) -> Iterator[str]:
    words, more = explanation.words[:_WORDS], len(explanation.words) - _WORDS
    known = [shortened(word.text, _WIDE) for word in words if word.known]
    if known:
        yield f"Known words: {', '.join(known)}."
    for word in words:
        if word.known:
            continue
        unknown = f"{quoted(word.text, _WIDE)} is not known"
        if word.stand_in is None:
            yield f"{unknown}, and no known word is like it."
        else:
            yield f"{unknown}; it is taken for {shortened(word.stand_in, _WIDE)}."
    if more > 0:
        yield f"It has {more} more words."
    if words and not explanation.tells_words:
        yield "The encoder compares the text as a whole, and these words are compared beside it."


def _of_keys(explanation: Explanation) -> Iterator[str]:
    best, next_best = explanation.best, explanation.runner_up
    if best is None or best.score == -np.inf:
        return
    yield f"{quoted(best.key, _WIDE)} has {best.score:.3f}."
    parts = explanation.best_parts
    shares = {} if parts is None else {name: getattr(parts, name) for name in _SAY}
    ranked = sorted(shares.items(), key=lambda share: -abs(share[1]))
    told = [(name, share) for name, share in ranked if abs(share) >= _LEAST]
    for_it = [f"{_SAY[name][0]} ({share:+.1f})" for name, share in told if share > 0]
    against = [f"{_SAY[name][1]} ({share:+.1f})" for name, share in told if share < 0]
    for title, said in {"For it": for_it, "Against it": against}.items():
        if said:
            yield f"{title}: {', '.join(said)}."
    if next_best is not None and next_best.score > -np.inf:
        yield f"The next key, {quoted(next_best.key, _WIDE)}, has {next_best.score:.3f}."
    if explanation.none is not None:
        yield f"The probability that no key is right is {explanation.none:.3f}."
