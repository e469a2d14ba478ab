"""The rules of words, asked of one text after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.typing import NDArray

from fuzzydict.text.abbreviations import Runs
from fuzzydict.text.contradictions import Contradictions
from fuzzydict.text.forms import Forms
from fuzzydict.text.similarity import Run
from fuzzydict.text.sketches import Sketches

__all__ = [
    "PHRASES",
    "TELLING_WORDS",
    "as_matrix",
    "as_pairs",
    "asked_of_each",
    "contradictions",
    "form_likeness",
    "of_two",
    "runs_between",
    "runs_of",
    "shuffled",
]

_FORMS = "colour color colors organised organize irrigated irrigator children child kerb curb"
_SHORT = "temp temperature govt government spd speed car carpet qty quantity lbs pound no number"
_INITIALS = "hr human resources vat value added tax e mail email rd research and development"
_OPPOSED = "max min maximum paid unpaid not without free no less wireless wire isn't or of mon tue"
_COUNTED = "1 2 2023 12b 12c b5 a5 5m kg gram km h hour hourly per cent extra large xl small a s"
_SMALL = "a an and at by de for from in of on or s the to with"
#: Words to which the rules apply, and phrases of them.
TELLING_WORDS = st.sampled_from(f"{_FORMS} {_SHORT} {_INITIALS} {_OPPOSED} {_COUNTED}".split())
PHRASES = st.lists(TELLING_WORDS, min_size=1, max_size=4).map(" ".join)


@contextmanager
def asked_of_each() -> Iterator[None]:
    """Let sketches find every string, so that the rules are asked of each."""

    def every(
        _: Sketches,
        bits: list[int],
        places: NDArray[np.intp],
        owners: NDArray[np.intp] | None = None,
    ) -> list[tuple[int, int, int]]:
        if owners is not None:
            pairs = zip(owners.tolist(), places.tolist(), strict=True)
            return [(row, i, place) for i, (row, place) in enumerate(pairs)]
        rows = np.broadcast_to(places, (len(bits), places.shape[-1])).tolist()
        return [(i, j, place) for i, row in enumerate(rows) for j, place in enumerate(row)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Sketches, "sharing", every)
        patch.setattr(Sketches, "nested", every)
        yield


def as_matrix(found: Iterator[tuple[int, int, float]], shape: tuple[int, int]) -> list[list[float]]:
    """Return what rules found of two or more texts as rows of likeness."""
    alike = np.zeros(shape, np.float32)
    for row, column, likeness in found:
        alike[row, column] = likeness
    rows: list[list[float]] = alike.tolist()
    return rows


def as_pairs(places: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the pairs of a row and a place that a matrix of places has, one after the other."""
    return places.ravel(), np.repeat(np.arange(len(places)), places.shape[1])


def form_likeness(word: str, others: Sequence[str]) -> NDArray[np.float32]:
    """Return how alike a word and each of n words are as forms of one word, (n,)."""
    return Forms(others).likeness(word, np.arange(len(others)))


def contradictions(query: str, others: Sequence[str]) -> NDArray[np.bool_]:
    """Return whether a query and each of n texts contradict each other, (n,)."""
    return Contradictions(others).of(query, np.arange(len(others)))


def runs_of(words: Sequence[str], keys: Sequence[Sequence[str]]) -> list[Run]:
    """Return the words of a query and of c keys, given as words, that are alike together."""
    return Runs([" ".join(key) for key in keys]).of(words, np.arange(len(keys)))


def shuffled(count: int) -> NDArray[np.intp]:
    """Return some of the places of strings, in no order."""
    places = list(range(count))
    Random(count).shuffle(places)
    return np.array(places[: (count + 1) // 2], np.intp)


def of_two(count: int) -> NDArray[np.intp]:
    """Return places of strings for two queries each, (2, c)."""
    return np.stack([shuffled(count), shuffled(count)[::-1]])


def runs_between(
    words: list[str], others: list[str]
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...], float]]:
    """Yield the places of words of two texts that are alike together, and how alike they are."""
    for is_query, (a, b) in enumerate(((others, words), (words, others))):
        for run, place, likeness in _runs_of_words(a, b):
            yield (run, (place,), likeness) if is_query else ((place,), run, likeness)


def _runs_of_words(
    phrase: list[str], words: list[str]
) -> Iterator[tuple[tuple[int, ...], int, float]]:
    """Yield the places of words of a phrase, and of the word that is alike to them together."""
    joined = {phrase[i] + phrase[i + 1]: (i, i + 1) for i in range(len(phrase) - 1)}
    for word, run in joined.items():
        if word in words:
            yield run, words.index(word), 1.0
    telling = [i for i, word in enumerate(phrase) if word not in _SMALL.split()]
    for some in [list(range(len(phrase)))] + [telling] * (len(telling) < len(phrase)):
        for place, word in enumerate(words):
            runs = (some[i:j] for i, j in combinations(range(len(some) + 1), 2))
            is_short = 2 <= len(word) <= 5 and word not in _SMALL.split() and word not in phrase
            spelled = [run for run in runs if word == "".join(phrase[i][0] for i in run)]
            if is_short and spelled:
                first, *_, last = spelled[0]
                yield tuple(range(first, last + 1)), place, 0.85 if len(word) == 2 else 0.95
