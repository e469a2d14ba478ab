"""Strings that share most n-grams, found by the rare ones: those that a full count would find."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import Brown
from fuzzydict.text import ngrams as ngram_search
from fuzzydict.text.ngrams import NgramIndex, most_alike

TEXTS = st.text("abc ", min_size=1, max_size=6)


def expected(index: NgramIndex, query: str, count: int, alive: Any) -> list[tuple[int, float]]:
    cosines = index.similarities(query)
    places = [int(i) for i in np.flatnonzero(alive) if cosines[i] > 0]
    best = sorted(places, key=lambda place: (-cosines[place], place))[:count]
    return [(place, float(cosines[place])) for place in sorted(best)]


def found(index: NgramIndex, query: str, count: int, alive: Any) -> list[tuple[int, float]]:
    places, cosines = most_alike(index, query, count, alive)
    return [(int(place), float(cosine)) for place, cosine in zip(places, cosines, strict=True)]


@given(st.lists(TEXTS, max_size=60), TEXTS, st.integers(1, 8), st.data())
def test_of_few_strings_they_are_the_most_alike(
    strings: list[str], query: str, count: int, data: st.DataObject
) -> None:
    index = NgramIndex(strings[: len(strings) // 2])
    index.similarities("a")
    index.extend(strings[len(strings) // 2 :])
    alive = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(strings), max_size=len(strings)))
    )
    alive = alive.astype(np.bool_)
    assert found(index, query, count, alive) == expected(index, query, count, alive)


def test_of_many_strings_they_are_nearly_always_the_most_alike(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = [word for word in Brown().words if word.isalpha()][:8000]
    index, alive = NgramIndex(words), np.ones(len(words), np.bool_)
    monkeypatch.setattr(ngram_search, "_READ", 600)  # as if there were a hundred times as many
    monkeypatch.setattr(ngram_search, "_KEPT", 300)
    chance, best, all_found = random.Random(0), 0, 0.0
    for _ in range(200):
        word = chance.choice(words)
        place = chance.randrange(len(word) + 1)
        query = word[:place] + chance.choice("etaoin") + word[place:]
        wanted = expected(index, query, 8, alive)
        told = found(index, query, 8, alive)
        exact = index.similarities(query)
        assert all(cosine == pytest.approx(exact[place], rel=1e-6) for place, cosine in told)
        best += max(told, key=lambda one: one[1])[1] == pytest.approx(max(c for _, c in wanted))
        all_found += len({p for p, _ in told} & {p for p, _ in wanted}) / len(wanted)
    assert best >= 198
    assert all_found > 0.8 * 200
