"""The keys as arrays: any sequence of writes leaves what a new index of the same keys holds."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict.embedding.base import SAMPLE
from fuzzydict.embedding.encoder import Encoder, as_embedding
from fuzzydict.embedding.projections import Projected, Projections
from fuzzydict.search.key_index import KeyIndex
from tests.support.properties import examples


def vectors(texts: list[str]) -> Any:
    return [[len(text), sum(map(ord, text)) % 11, 1.0] for text in texts]


def new_index(*keys: str) -> KeyIndex:
    index = KeyIndex(Encoder(vectors))
    for key in keys:
        index.add(key)
    return index


def contents(index: KeyIndex) -> list[tuple[Any, ...]]:
    """Return all that is known of each living key, in order."""
    keys = index.keys()
    similar = keys.ngrams.similarities("abc")
    slots = [slot for slot in range(len(keys)) if keys.alive[slot]]
    assert keys.living() == [keys.names[slot] for slot in slots]
    assert keys.slots == dict(zip(keys.living(), slots, strict=True))
    assert (keys.count, len(keys.dead)) == (len(slots), len(keys) - len(slots))
    return [
        (
            keys.names[i],
            keys.plain[i],
            keys.vectors[i].tolist(),
            float(keys.inverse_lengths[i]),
            float(keys.trust[i]),
            float(similar[i]),
        )
        for i in slots
    ]


@given(
    st.lists(
        st.tuples(st.sampled_from(["add", "discard", "read"]), st.text("abc", max_size=3)),
        max_size=120,
    )
)
@examples(200)
def test_after_any_writes_it_is_as_if_new(writes: list[tuple[str, str]]) -> None:
    index, keys = new_index(), dict[str, None]()
    for what, key in writes:
        if what == "add" and key not in keys:
            keys[key] = None
            index.add(key)
        elif what == "discard":
            keys.pop(key, None)
            index.discard(key)
        elif what == "read":
            assert index.keys().background is not None
    assert contents(index) == contents(new_index(*keys))
    assert index.keys().background == new_index(*keys).keys().background


def test_the_background_is_told_from_some_of_the_living_keys() -> None:
    asked: list[Any] = []

    class Recording(Encoder):
        def background(self, keys: Any) -> Any:
            asked.append(keys)
            return super().background(keys)

    index = KeyIndex(Recording(lambda texts: [["gone" in text, 1.0] for text in texts]))
    for i in range(3 * SAMPLE):
        index.add(f"{'gone' if i < SAMPLE else 'key'} {i}")
    index.keys()
    for i in range(SAMPLE):
        index.discard(f"gone {i}")
    assert index.keys().background.mean > 0.9
    (some,) = asked
    assert SAMPLE / 2 < len(some) <= SAMPLE
    assert not some[:, 0].any()


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

    index = KeyIndex(Encoder(sometimes))
    index.add("abc")
    with pytest.raises(RuntimeError, match="no connection"):
        index.keys()
    failing = False
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
        for key in changed.keys().living()[:2]:
            changed.discard(key)
        changed.check(changed.keys().living())
        unchanged.check([name for name, *_ in before])
        assert contents(unchanged) == before


def test_a_key_of_words_that_were_learned_is_trusted() -> None:
    words = as_embedding({"red": [1.0, 0.0], "blue": [0.0, 1.0]})
    index = KeyIndex(Projected(words, Projections(words=["hue"])))
    for key in ("red", "hue", "xyzzy", "hue xyzzy"):
        index.add(key)
    keys = index.keys()
    assert keys.trust.tolist() == [1, 1, 0, 0.5]
    assert keys.trust.tolist() == index.embedding.trust(keys.names).tolist()
    np.testing.assert_array_equal(keys.vectors, index.embedding.encode(keys.names))


def test_keys_are_those_of_the_last_read_until_the_next() -> None:
    index = new_index("a", "b")
    keys = index.keys()
    assert index.keys() is keys  # nothing was written
    index.add("c")
    assert keys.names[:2] == ["a", "b"]
    assert index.keys().living() == ["a", "b", "c"]


@given(st.lists(st.text("abc", min_size=1, max_size=3), min_size=1, unique=True), st.data())
def test_some_of_the_keys_are_keys_of_their_own(names: list[str], data: st.DataObject) -> None:
    keys = new_index(*names).keys()
    slots = sorted(data.draw(st.sets(st.sampled_from(range(len(names))), min_size=1)))
    some = keys.some(np.array(slots))
    assert some.names == some.living() == [names[slot] for slot in slots]
    assert some.background == keys.background
    assert some.ngrams.similarities("ab").tolist() == [
        keys.ngrams.similarities("ab")[slot] for slot in slots
    ]
    np.testing.assert_array_equal(some.vectors, keys.vectors[slots])


# ---- keys that were encoded before ----------------------------------------------------------


def test_restored_keys_are_not_encoded_again() -> None:
    def refuse(texts: list[str]) -> Any:
        raise AssertionError(f"encoded again: {texts}")

    keys = new_index("abc", "?!", "b").keys()
    index = KeyIndex(Encoder(refuse))
    index.restore(["abc", "?!", "b"], keys.vectors, keys.trust)  # "?!" has no words, so no vector
    assert contents(index) == contents(new_index("abc", "b"))
    with pytest.raises(ValueError, match="2 vectors for 1 keys with words"):
        KeyIndex(Encoder(refuse)).restore(["abc"], keys.vectors, keys.trust)


@pytest.mark.parametrize("read_before", [False, True])
def test_keys_restored_later_are_those_that_were_not_deleted_meanwhile(read_before: bool) -> None:
    saved = new_index("a", "b", "c").keys()
    index, calls = KeyIndex(Encoder(vectors)), []

    def restore(into: KeyIndex) -> None:
        calls.append(into)
        into.restore(saved.names, saved.vectors, saved.trust)

    index.restore_later(restore)
    if read_before:
        index.keys()
    for key in ("b", "c"):
        index.discard(key)
    index.add("d")
    index.add("c")  # again: it comes last now
    other = copy.copy(index)
    assert contents(index) == contents(other) == contents(new_index("a", "d", "c"))
    assert len(calls) == (1 if read_before else 2)


def test_a_restore_that_fails_is_tried_again_by_the_next_read() -> None:
    saved = new_index("a", "b").keys()
    index = KeyIndex(Encoder(vectors))
    fails = True

    def restore(into: KeyIndex) -> None:
        if fails:
            raise OSError("the disk is gone")
        into.restore(saved.names, saved.vectors, saved.trust)

    index.restore_later(restore)
    index.discard("a")
    for _ in range(2):
        with pytest.raises(OSError, match="disk"):
            index.keys()
    fails = False
    assert contents(index) == contents(new_index("b"))
