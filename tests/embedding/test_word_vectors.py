"""Every text has a vector: known words, words never seen and what stands in, phrases; files."""

from __future__ import annotations

import pickle
from copy import deepcopy
from pathlib import Path
from typing import Any

import nltk
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import ArgumentTypeError, Brown, MissingCorpusError, ShapeError, WordVectors
from fuzzydict._arrays import units
from fuzzydict.embedding.word2vec import brown_sentences
from fuzzydict.embedding.word_vectors import English
from fuzzydict.text.words import words
from tests.support.refusals import Refused, refused

KNOWN = ["the", "color", "speed", "top", "car", "red"]
COUNTS = [700, 140, 60, 9, 4, 2]
VECTORS = np.random.default_rng(5).standard_normal((6, 8)).astype(np.float32)
SMALL = WordVectors(KNOWN, VECTORS, COUNTS)


def encoded_by_loop(text: str) -> Any:
    """Return the weighted mean of the words' vectors, one word after the other."""
    numerator, denominator = np.zeros(8), 0.0
    for word in words(text):
        row = SMALL.find(word).row
        if row < 0:
            continue
        count = COUNTS[row] if word in KNOWN else min(COUNTS)
        weight = 1e-3 / (1e-3 + count / sum(COUNTS))
        vector = VECTORS[row]
        numerator, denominator = numerator + weight * vector, denominator + weight
    return numerator / denominator if denominator else numerator


TEXTS = st.lists(
    st.lists(st.sampled_from([*KNOWN, "colour", "?!", "Speed", "日本"]), max_size=5).map(" ".join),
    max_size=6,
)


@given(TEXTS)
def test_encoding_is_that_of_a_loop_over_words(texts: list[str]) -> None:
    encoded = SMALL.encode(texts)
    assert encoded.shape == (len(texts), 8)
    assert encoded.dtype == np.float32
    for vector, text in zip(encoded, texts, strict=True):
        np.testing.assert_allclose(vector, encoded_by_loop(text), rtol=1e-4, atol=1e-5)


def test_a_word_has_the_vector_that_a_text_of_it_has() -> None:
    texts = ["color", "the", "colors", "speeed", "zzz", "日本"]
    for word, text in zip(SMALL.look_up(texts), texts, strict=True):
        vector = SMALL.encode([text])[0]
        np.testing.assert_allclose(word.unit * word.length, vector, rtol=1e-5)
        np.testing.assert_allclose(word.unit, units(vector[None])[0], rtol=1e-5)
        assert word.weight == SMALL.find(text).weight
        assert word.is_known == (text in KNOWN)
        assert bool(word.trust) == word.unit.any()
    assert SMALL.look_up([]) == []


REFUSED: Refused = {
    ShapeError: {
        "a row for each of the 1 words": lambda: WordVectors(["a"], [[1.0], [2.0]]),
        "'b' has NaN or infinity": lambda: WordVectors(["a", "b"], [[1.0], [np.nan]]),
        "expected 2, one a word, got shape": lambda: WordVectors(["a", "b"], np.eye(2), [1]),
        "'a' comes twice": lambda: WordVectors(["a", "b", "a"], np.eye(3)),
    },
    ArgumentTypeError: {
        "expected texts, got 7": lambda: WordVectors(["a", 7], np.eye(2)),  # type: ignore[list-item]
        "expected a list of texts, got the text 'red'": lambda: SMALL.encode("red"),
        "expected texts alone, got 7": lambda: SMALL.encode(["red", 7]),  # type: ignore[list-item]
    },
}

test_what_does_not_fit_is_named = refused(REFUSED)


def test_files_give_the_same_bits_and_saving_again_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "v"
    SMALL.save(path)
    loaded = WordVectors.load(path)
    assert (loaded.words, loaded.counts.tolist()) == (KNOWN, COUNTS)
    assert loaded.vectors.tobytes() == VECTORS.tobytes()
    SMALL.save(path, dtype="int8")
    once = path.read_bytes()
    for dtype in (None, "int8"):
        WordVectors.load(path).save(path, dtype=dtype)
        assert path.read_bytes() == once
    rounded = WordVectors.load(path)
    steps = np.abs(VECTORS).max(axis=1, keepdims=True) / 127
    assert (np.abs(rounded.vectors - VECTORS) <= steps * 0.5001).all()
    rounded.save(path, dtype="float32")
    np.testing.assert_array_equal(WordVectors.load(path).vectors, rounded.vectors)
    odd = WordVectors(["\ud800", "日本", 'a"b', ""], np.zeros((4, 2), np.float32))
    odd.save(path, dtype="int8")
    assert WordVectors.load(path).words == odd.words
    with pytest.raises(ArgumentTypeError, match="expected 'float32' or 'int8', got 'float16'"):
        SMALL.save(path, dtype="float16")


def test_fingerprints_differ_with_each_part_and_copies_encode_alike() -> None:
    several = [
        SMALL,
        WordVectors([*KNOWN[:-1], "blue"], VECTORS, COUNTS),
        WordVectors(KNOWN, VECTORS * 2, COUNTS),
        WordVectors(KNOWN, VECTORS, [*COUNTS[:-1], 1]),
    ]
    assert len({one.fingerprint()["name"] for one in several}) == 4
    assert WordVectors(KNOWN, VECTORS, COUNTS).fingerprint() == SMALL.fingerprint()
    texts = ["colour", "the color of", "日本語"]
    for copy in (pickle.loads(pickle.dumps(SMALL)), deepcopy(SMALL)):
        assert copy.words == KNOWN
        assert copy.counts.tolist() == COUNTS
        assert copy.encode(texts).tobytes() == SMALL.encode(texts).tobytes()


def test_the_default_has_the_numbers_of_english_beside_those_of_brown(brown: WordVectors) -> None:
    english = English()
    for vectors, by in ((brown, Brown), (english, English)):
        assert pickle.loads(pickle.dumps(vectors)) is by() is vectors
        assert len(vectors) == len(set(vectors.words)) == len(vectors.counts)
    asked = ["smartphone", "color", "the"]
    np.testing.assert_array_equal(brown.encode(asked)[:, : english.size], english.encode(asked))
    only_brown = next(word for word in brown.words if not english.find(word).is_known)
    assert not brown.encode([only_brown])[0, : english.size].any()
    assert not brown.encode(["smartphone"])[0, english.size :].any()


def test_a_missing_corpus_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lazy = nltk.corpus.util.LazyCorpusLoader("brown", nltk.corpus.CategorizedTaggedCorpusReader)
    monkeypatch.setattr(nltk.corpus, "brown", lazy)
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    with pytest.raises(MissingCorpusError, match="the Brown corpus is not on this") as found:
        brown_sentences()
    assert isinstance(found.value, LookupError)
    assert str(tmp_path) in str(found.value)
    assert str(found.value).endswith("fetch it with: python -m nltk.downloader brown")
    for fetched in (False, True):  # but nothing is there
        monkeypatch.setattr(nltk, "download", lambda *_, answer=fetched, **__: answer)
        with pytest.raises(MissingCorpusError, match=r"python -m nltk\.downloader brown$"):
            brown_sentences(download=True)


def vocabulary(words: list[str], counts: list[int]) -> WordVectors:
    return WordVectors(words, np.ones((len(words), 1)), counts)


FEW = vocabulary(["the", "color", "New_York", "Zoë", "iPhone", "don't"], [700, 140, 60, 9, 4, 2])


def test_a_word_is_found_as_it_is_spelled_or_plain_and_texts_have_tokens() -> None:
    rows = {"color": 1, "New_York": 2, "new_york": 2, "Zoë": 3, "zoe": 3, "iphone": 4}
    for word, row in rows.items():
        assert FEW.find(word)[::2] == (row, True)
    for word in ("colour", ""):
        assert not FEW.find(word).is_known
    both = vocabulary(["US", "us"], [9, 5])  # a spelling of its own goes before a plain form
    assert (both.find("US").row, both.find("us").row) == (0, 1)
    assert vocabulary(["Polish", "POLISH"], [9, 5]).find("polish").row == 0
    for text, tokens in {
        "The colour!": ["the", "colour"],
        "New York": ["new_york"],
        "Zoe\u0308": ["zoe"],
        "iPhone": ["iPhone"],
        "IPHONE": ["iphone"],
        "Don\u2019t": ["don't"],
        "topSpeed": ["top", "speed"],
        "?!": [],
    }.items():
        assert FEW.tokens(text) == tokens


def test_a_word_one_slip_away_stands_in_but_not_for_codes_and_numbers() -> None:
    listed = ["stare", "spare", "store", "the"]
    assert vocabulary(listed, [9, 5, 2, 1]).find("szare").row == 0
    assert vocabulary(listed[::-1], [9, 5, 2, 1]).find("szare").row == 2
    for slip in ("color1", "colr", "co lor", "colorado", "日本語日本", "", "the1"):
        assert vocabulary(["the", "color"], [9, 5]).find(slip)[::2] == (-1, False)
    row, _, is_known, trust = vocabulary(["1961", "the"], [9, 5]).find("1961")
    assert (row, is_known, trust) == (0, True, 0)
    assert vocabulary(["19610", "the"], [9, 5]).find("19611").row == -1
