"""The keys as arrays: any sequence of writes leaves what a new index of the same keys holds."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict.embedding.encoder import Encoder
from fuzzydict.search.key_index import KeyIndex
from fuzzydict.search.keys import Keys
from fuzzydict.search.score import Meaning
from fuzzydict.text.ngrams import ngrams
from tests.support.properties import examples

KEYS = st.lists(st.text("abc ", min_size=1, max_size=5).filter(str.strip), unique=True)
WRITES = st.lists(
    st.tuples(st.sampled_from(["add", "discard", "read"]), st.text("abc", max_size=3)),
    max_size=120,
)


def vectors(texts: list[str]) -> Any:
    return [[len(text), sum(map(ord, text)) % 11, 1.0] for text in texts]


def new_index(*keys: str, encode: Any = vectors) -> KeyIndex:
    index = KeyIndex(Meaning(Encoder(encode)))
    for key in keys:
        index.add(key)
    return index


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
    return (texts, spelled, count, stems, grams.tolist()), [*map(float, numbers), *background]


def written(index: KeyIndex, writes: list[tuple[str, str]], keys: dict[str, None]) -> None:
    for what, key in writes:
        if what == "add" and key not in keys:
            keys[key] = None
            index.add(key)
        elif what == "discard":
            keys.pop(key, None)
            index.discard(key)
        elif what == "read":
            index.keys()


@given(WRITES)
@examples(200)
def test_after_any_writes_it_is_as_if_new(writes: list[tuple[str, str]]) -> None:
    index, keys = new_index(), dict[str, None]()
    written(index, writes, keys)
    index.check(list(keys))
    found = index.keys()
    assert_same(found, new_index(*keys).keys())
    assert [found.slot_of(name) for name in found.living()] == found.living_slots().tolist()
    index.check(list(keys))


@given(KEYS, WRITES)
@examples(100)
def test_keys_that_were_read_never_change(names: list[str], writes: list[tuple[str, str]]) -> None:
    """What is computed of them later, neither."""
    index = new_index(*names)
    before = index.keys()
    written(index, writes, dict.fromkeys(names))
    index.keys()
    assert_same(before, new_index(*names).keys())


def test_dead_slots_are_packed_before_they_are_most() -> None:
    index = new_index(*(f"key{i}" for i in range(1000)))
    generation = index.keys().generation
    for i in range(900):
        index.discard(f"key{i}")
    keys = index.keys()
    assert (len(keys), keys.names[0]) == (100, "key900")
    assert keys.generation is not generation  # the slots are numbered anew


def test_an_embedding_that_fails_leaves_the_index_as_it_was() -> None:
    failing = True

    def sometimes(texts: list[str]) -> Any:
        if failing:
            raise RuntimeError("no connection")
        return vectors(texts)

    index = new_index("abc", encode=sometimes)
    with pytest.raises(RuntimeError, match="no connection"):
        index.keys()
    failing = False
    assert_same(index.keys(), new_index("abc").keys())


@given(KEYS, st.data())
def test_a_copy_holds_the_same_and_goes_its_own_way(keys: list[str], data: st.DataObject) -> None:
    index = new_index(*keys)
    for key in data.draw(st.lists(st.sampled_from(keys), unique=True)) if keys else []:
        index.discard(key)
    left = index.keys().living()
    other, same = copy.copy(index), new_index(*left).keys()
    assert_same(other.keys(), same)
    for changed, unchanged in ((other, index), (index, copy.copy(index))):
        changed.add("new key")
        for key in changed.keys().living()[:2]:
            changed.discard(key)
        changed.check(changed.keys().living())
        unchanged.check(left)
        assert_same(unchanged.keys(), same)


# ---- keys that were encoded before ----------------------------------------------------------


def refuse(texts: list[str]) -> Any:
    raise AssertionError(f"encoded again: {texts}")


def test_restored_keys_are_not_encoded_again() -> None:
    keys = new_index("abc", "?!", "b").keys()
    index = new_index(encode=refuse)
    index.restore(["abc", "?!", "b"], keys.vectors)  # "?!" has no words, so no vector
    assert_same(index.keys(), new_index("abc", "b").keys())
    with pytest.raises(ValueError, match="2 vectors for 1 keys with words"):
        new_index(encode=refuse).restore(["abc"], keys.vectors)


@pytest.mark.parametrize("read_before", [False, True])
def test_keys_restored_later_are_those_that_were_not_deleted_meanwhile(read_before: bool) -> None:
    saved = new_index("a", "b", "c").keys()
    index, calls = new_index(), []

    def restore(into: KeyIndex) -> None:
        calls.append(into)
        into.restore(saved.names, saved.vectors)

    index.restore_later(restore)
    if read_before:
        index.keys()
    for key in ("b", "c"):
        index.discard(key)
    index.add("d")
    index.add("c")  # again: it comes last now
    other = copy.copy(index)
    for one in (index, other):
        assert_same(one.keys(), new_index("a", "d", "c").keys())
    assert len(calls) == (1 if read_before else 2)


def test_a_restore_that_fails_is_tried_again_by_the_next_read() -> None:
    saved = new_index("a", "b").keys()
    index, fails = new_index(), True

    def restore(into: KeyIndex) -> None:
        if fails:
            raise OSError("the disk is gone")
        into.restore(saved.names, saved.vectors)

    index.restore_later(restore)
    index.discard("a")
    for _ in range(2):
        with pytest.raises(OSError, match="disk"):
            index.keys()
    fails = False
    assert index.keys().living() == ["b"]
    np.testing.assert_array_equal(index.keys().vectors[index.keys().alive], vectors(["b"]))
