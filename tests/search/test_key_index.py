"""The keys as arrays: any sequence of writes leaves what a new index of the same keys holds."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzzydict.embedding.base import SAMPLE
from fuzzydict.embedding.encoder import Encoder, as_embedding
from fuzzydict.embedding.projections import Projected, Projections
from fuzzydict.search.key_index import KeyIndex


def vectors(texts: list[str]) -> Any:
    return [[len(text), sum(map(ord, text)) % 11, 1.0] for text in texts]


def new_index(*keys: str) -> KeyIndex:
    index = KeyIndex(Encoder(vectors))
    for key in keys:
        index.add(key)
    index.sync()
    return index


def contents(index: KeyIndex) -> list[tuple[Any, ...]]:
    """Return all that is known of each living key, in order."""
    slots = np.flatnonzero(index.alive).tolist()
    similar = index.ngrams.similarities("abc")
    return [
        (
            index.names[i],
            index.plain[i],
            index.vectors[i].tolist(),
            float(index.inverse_lengths[i]),
            float(index.trust[i]),
            float(similar[i]),
        )
        for i in slots
    ]


@given(
    st.lists(
        st.tuples(st.sampled_from(["add", "discard", "sync"]), st.text("abc", max_size=3)),
        max_size=120,
    )
)
@settings(max_examples=200, deadline=None)
def test_after_any_writes_it_is_as_if_new(writes: list[tuple[str, str]]) -> None:
    index, keys = new_index(), dict[str, None]()
    for what, key in writes:
        assert index.background is not None  # asked for ever again, so that none is out of date
        if what == "add" and key not in keys:
            keys[key] = None
            index.add(key)
        elif what == "discard":
            keys.pop(key, None)
            index.discard(key)
        elif what == "sync":
            index.sync()
    index.sync()
    assert contents(index) == contents(new_index(*keys))
    assert index.background == new_index(*keys).background


def test_the_background_is_told_from_some_of_the_living_keys() -> None:
    asked: list[Any] = []

    class Recording(Encoder):
        def background(self, keys: Any) -> Any:
            asked.append(keys)
            return super().background(keys)

    index = KeyIndex(Recording(lambda texts: [["gone" in text, 1.0] for text in texts]))
    for i in range(3 * SAMPLE):
        index.add(f"{'gone' if i < SAMPLE else 'key'} {i}")
    index.sync()
    for i in range(SAMPLE):
        index.discard(f"gone {i}")
    assert index.background.mean > 0.9
    (some,) = asked
    assert SAMPLE / 2 < len(some) <= SAMPLE
    assert not some[:, 0].any()


def test_dead_slots_are_packed_before_they_are_most() -> None:
    index = new_index(*(f"key{i}" for i in range(1000)))
    for i in range(900):
        index.discard(f"key{i}")
    index.sync()
    assert len(index) == 100
    assert index.names[0] == "key900"


def test_an_embedding_that_fails_leaves_the_index_as_it_was() -> None:
    failing = True

    def sometimes(texts: list[str]) -> Any:
        if failing:
            raise RuntimeError("no connection")
        return vectors(texts)

    index = KeyIndex(Encoder(sometimes))
    index.add("abc")
    with pytest.raises(RuntimeError, match="no connection"):
        index.sync()
    assert len(index) == 0
    failing = False
    index.sync()
    assert contents(index) == contents(new_index("abc"))


@given(st.lists(st.text("abc", min_size=1, max_size=3), unique=True), st.data())
def test_a_copy_holds_the_same_and_goes_its_own_way(keys: list[str], data: st.DataObject) -> None:
    index = new_index(*keys)
    for key in data.draw(st.lists(st.sampled_from(keys), unique=True)) if keys else []:
        index.discard(key)
    before = contents(index)
    other = copy.copy(index)
    assert contents(other) == before
    for changed, unchanged in ((other, index), (index, copy.copy(index))):
        changed.add("new key")
        changed.sync()
        for key in changed.living()[:2]:
            changed.discard(key)
        changed._check()
        unchanged._check()
        assert contents(unchanged) == before


def test_a_key_of_words_that_were_learned_is_trusted() -> None:
    words = as_embedding({"red": [1.0, 0.0], "blue": [0.0, 1.0]})
    index = KeyIndex(Projected(words, Projections(words=["hue"])))
    for key in ("red", "hue", "xyzzy", "hue xyzzy"):
        index.add(key)
    index.sync()
    assert index.trust.tolist() == [1, 1, 0, 0.5]
    assert index.trust.tolist() == index.embedding.trust(index.names).tolist()
    np.testing.assert_array_equal(index.vectors, index.embedding.encode(index.names))
