"""What is known of all keys together: words, how rare they are, and the cosines to expect."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import Brown, FuzzyDict
from fuzzydict.search.keys import USUAL, Keys, WordTable, background_of
from fuzzydict.text.ngrams import ngrams
from tests.support.properties import examples
from tests.support.reference import cosine_of

WORDS = ["color", "colours", "the", "engine", "motors", "1961", "Porsche", "ltd", "speed", "xyzzy"]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
NAMES = st.lists(TEXTS, min_size=1, max_size=12, unique=True)


def keys_of(names: Sequence[str]) -> Keys:
    return Keys.of(WordTable(Brown()), names, Brown().encode(names))


def assert_same_statistics(one: Keys, other: Keys) -> None:
    assert one.statistics[:2] == other.statistics[:2]
    np.testing.assert_array_equal(one.statistics.ngrams, other.statistics.ngrams)
    np.testing.assert_allclose(one.background, other.background, rtol=1e-4, atol=1e-6)


def test_nor_do_those_of_thousands_of_which_some_are_looked_at() -> None:
    names = [f"{one} {other}" for one in Brown().words[200:230] for other in Brown().words[300:320]]
    one, other = keys_of(names), keys_of(names[::-1])
    assert len(one.sample(USUAL)) == USUAL < len(names)
    assert {one.names[i] for i in one.sample(USUAL)} == {
        other.names[i] for i in other.sample(USUAL)
    }
    assert_same_statistics(one, other)


# ---- keys that are written ------------------------------------------------------------------


def vectors_of(texts: Sequence[str]) -> Any:
    rows = [[len(text), sum(map(ord, text)) % 11, 1.0] for text in texts]
    return np.array(rows, np.float32).reshape(len(texts), 3)


def changed(keys: Keys, of_dict: Sequence[Any]) -> Keys:
    """Return the keys of a dict as it is now, given those of the last read."""
    changes = keys.changes(list(of_dict))
    return keys if changes is None else keys.changed(changes, vectors_of(changes.new))


def new_keys(of_dict: Sequence[Any]) -> Keys:
    return changed(Keys(WordTable(Brown())), of_dict)


def assert_same(one: Keys, other: Keys) -> None:
    """Assert that the same is known of the living keys, in order, and of all of them."""
    told, numbers = zip(contents(one), contents(other), strict=True)
    assert told[0] == told[1]
    np.testing.assert_allclose(*numbers, rtol=1e-5, atol=1e-6)


def contents(keys: Keys) -> tuple[Any, list[float]]:
    """Return what is known of each living key, and of all of them: texts and counts, numbers."""
    slots = keys.living_slots().tolist()
    assert keys.living() == [keys.names[slot] for slot in slots]
    assert (keys.count, len(keys.dead)) == (len(slots), len(keys) - len(slots))
    words = [[word for word in keys.columns[i] if word] for i in slots]
    texts = [(keys.names[i], keys.texts[i]) for i in slots]
    spelled = [[keys.strings[word] for word in some] for some in words]
    count, stems, grams, background = keys.statistics
    numbers = [*keys.postings.likeness(ngrams("ab ca"))[slots], *keys.vectors[slots].ravel()]
    numbers += [keys.weights[word] for some in words for word in some]
    numbers += [keys.facts_by_name["weight"][word] for some in words for word in some]
    return (texts, spelled, count, stems, grams.tolist()), [*map(float, numbers), *background]


WRITES = st.lists(
    st.tuples(
        st.sampled_from(["add", "remove", "again", "read", "branch"]), st.text("ab ", max_size=3)
    ),
    max_size=80,
)


@given(WRITES)
@examples(200)
def test_after_any_writes_they_are_as_if_new_and_what_was_read_never_changes(
    writes: list[tuple[str, str]],
) -> None:
    d, keys = dict[Any, None]({7: None}), Keys(WordTable(Brown()))
    read = list[tuple[Keys, list[Any]]]()
    for what, key in writes:
        if what == "add":
            d[key] = None
        elif what == "remove":
            d.pop(key, None)
        elif what == "again" and key in d:
            same = next(one for one in d if one == key)
            del d[same]
            d[same] = None
        elif what == "read":
            keys = changed(keys, [*d])
            read.append((keys, [*d]))
            keys.check([*d])
            assert keys.changes([*d]) is None
        elif what == "branch" and read:  # a copy of a dict goes its own way
            keys, names = read[len(key) % len(read)]
            d = dict.fromkeys(names)
    for one, names in [*read, (changed(keys, [*d]), [*d])]:
        assert_same(one, new_keys(names))


def test_of_two_that_go_on_from_the_same_keys_at_once_each_has_its_own() -> None:
    first = new_keys(["red", "blue"])
    with ThreadPoolExecutor(8) as pool:
        lists = [["red", "blue", f"new {i}", "last"] for i in range(50)]
        for names, keys in zip(lists, pool.map(partial(changed, first), lists), strict=True):
            assert_same(keys, new_keys(names))
    assert_same(first, new_keys(["red", "blue"]))


def by_loop(vectors: Any) -> tuple[float, float]:
    """Return mean and spread of the cosines of all pairs, beside two pairs of 0.2 +- 0.1."""
    cosines = [cosine_of(a, b) for a, b in itertools.combinations(vectors, 2)]
    mean = (sum(cosines) + 2 * 0.2) / (len(cosines) + 2)
    squares = sum((cosine - mean) ** 2 for cosine in cosines) + 2 * 0.1**2
    return mean, math.sqrt(squares / (len(cosines) + 2))


def test_a_key_that_comes_again_in_a_copy_stays_where_it_was_in_the_original() -> None:
    d = FuzzyDict({"red": 1, "dark blue": 2, "light green": 3})
    assert d.get("x y") is None
    other = d.copy()
    other["red"] = other.pop("red")
    assert other["gren light"] == 3
    assert d.most_similar("red")[0].score == other.most_similar("red")[0].score == 1.0
    d._check()
    other._check()


def test_the_background_is_that_of_a_loop() -> None:
    for count in range(6):
        vectors = np.random.default_rng(count).standard_normal((count, 4)).astype(np.float32)
        vectors[count // 2 :: 4] = 0  # the vector of a text without words
        assert background_of(vectors) == pytest.approx(by_loop(vectors), rel=1e-5)
    mean, spread = background_of(np.ones((128, 3), np.float32))
    assert mean == pytest.approx(1, abs=1e-3)
    assert spread > 0
