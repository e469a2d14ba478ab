"""Every text has a vector: known words, words never seen, phrases; and vectors in files."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nltk
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import (
    ArgumentTypeError,
    Brown,
    FileFormatError,
    FuzzyDict,
    MissingCorpusError,
    ShapeError,
    WordVectors,
)
from fuzzydict._files import read_arrays, write_arrays
from fuzzydict.embedding.vocabulary import _Spellings
from fuzzydict.embedding.word2vec import words_of_sentence
from fuzzydict.embedding.word_vectors import (
    SHIPPED,
    English,
    JoinedVectors,
    brown_sentences,
    ngram_vectors,
)
from fuzzydict.text.words import words

KNOWN = ["the", "color", "speed", "top", "car", "red"]
COUNTS = [700, 140, 60, 9, 4, 2]
VECTORS = np.random.default_rng(5).standard_normal((6, 8)).astype(np.float32)
SMALL = WordVectors(KNOWN, VECTORS, COUNTS)
SCRIPTS = """
    colour Porsche C++ 911 xyzzy a 42 x9 R2-D2 café İstanbul 日本語 ひらがな カタカナ 한국어 中 ½ ①
    Привет Ελληνικά שלום العربية हिन्दी ไทย தமிழ் ქართული Հայերեն አማርኛ \U0001d41b \ud800x
"""


def cosine(a: Any, b: Any) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def nearest(vectors: WordVectors, text: str, n: int) -> list[str]:
    query = vectors.encode([text])[0]
    cosines = vectors.vectors @ query / np.linalg.norm(vectors.vectors, axis=1)
    return [vectors.words[i] for i in np.argsort(-cosines)[:n]]


def encoded_by_loop(text: str) -> Any:
    """Return the weighted mean of the words' vectors, one word after the other."""
    numerator, denominator = np.zeros(8), 0.0
    for word in words(text):
        if word in KNOWN:
            vector, count = VECTORS[KNOWN.index(word)], COUNTS[KNOWN.index(word)]
        else:
            vector, count = SMALL.encode([word])[0], min(COUNTS)
        weight = 1e-3 / (1e-3 + count / sum(COUNTS))
        numerator, denominator = numerator + weight * vector, denominator + weight
    return numerator / denominator if denominator else numerator


TEXTS = st.lists(
    st.lists(st.sampled_from([*KNOWN, "colour", "?!", "Speed", "日本"]), max_size=5).map(" ".join),
    max_size=6,
)


# ---- known words and phrases --------------------------------------------------------------


def test_a_known_word_has_its_own_vector() -> None:
    np.testing.assert_allclose(SMALL.encode(KNOWN), VECTORS, rtol=1e-6)


@given(TEXTS)
def test_encoding_is_that_of_a_loop_over_words(texts: list[str]) -> None:
    encoded = SMALL.encode(texts)
    assert encoded.shape == (len(texts), 8)
    assert encoded.dtype == np.float32
    for vector, text in zip(encoded, texts, strict=True):
        np.testing.assert_allclose(vector, encoded_by_loop(text), rtol=1e-4, atol=1e-5)


def test_more_texts_than_a_block_holds_are_all_encoded() -> None:
    texts = [KNOWN[i % 6] for i in range(10_000)]
    np.testing.assert_allclose(SMALL.encode(texts), VECTORS[np.arange(10_000) % 6], rtol=1e-6)


def test_identifiers_of_one_meaning_have_one_vector(brown: WordVectors) -> None:
    encoded = brown.encode(["topSpeed", "top_speed", "Top speed", "TOP-SPEED", "top  speed?"])
    assert (encoded == encoded[0]).all()
    assert cosine(encoded[0], brown.encode(["speed of the top"])[0]) > 0.99


def test_of_hardly_counts(brown: WordVectors) -> None:
    color, of, phrase = brown.encode(["color", "of", "the color of"])
    assert cosine(phrase, color) > 0.98
    assert cosine(phrase, of) < 0.6


def test_all_words_weigh_alike_where_there_are_no_counts() -> None:
    vectors = WordVectors(["red", "blue"], [[1.0, 0.0], [0.0, 1.0]])
    unseen = vectors.encode(["zzz"])[0]
    assert vectors.encode(["red blue"]).tolist() == [[0.5, 0.5]]
    np.testing.assert_allclose(vectors.encode(["red zzz"])[0], (np.array([1, 0]) + unseen) / 2)


@given(TEXTS)
def test_vectors_and_trust_asked_for_together_are_those_asked_for_apart(texts: list[str]) -> None:
    vectors, trust = SMALL.encode_with_trust(texts)
    np.testing.assert_array_equal(vectors, SMALL.encode(texts), strict=True)
    np.testing.assert_array_equal(trust, SMALL.trust(texts), strict=True)


# ---- words never seen ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("unseen", "known"),
    [("colour", "color"), ("organise", "organize"), ("recieve", "receive"), ("Colour", "color")],
)
def test_a_word_never_seen_is_near_the_one_meant(
    brown: WordVectors, unseen: str, known: str
) -> None:
    assert known in nearest(brown, unseen, 3)
    assert cosine(*brown.encode([unseen, known])) > 0.8


@pytest.mark.parametrize("text", [*SCRIPTS.split(), "a" * 5000], ids=lambda t: ascii(t)[:20])
def test_whatever_one_types_has_a_vector(brown: WordVectors, text: str) -> None:
    vector = brown.encode([text])[0]
    assert np.isfinite(vector).all()
    assert 0.3 < np.linalg.norm(vector) < 1.5


@given(st.text())
def test_only_text_without_letters_and_digits_has_the_zero_vector(text: str) -> None:
    vector = SMALL.encode([text])[0]
    assert np.isfinite(vector).all()
    assert vector.any() == bool(words(text))


@pytest.mark.parametrize("size", [1, 2, 3])
def test_vectors_of_few_numbers_are_enough_for_words_never_seen(size: int) -> None:
    vectors = WordVectors(["red", "blue"], np.eye(2, size, dtype=np.float32) + 0.1)
    typed = [chr(letter) * length for letter in range(97, 123) for length in (1, 2)]
    encoded = vectors.encode(typed)
    assert encoded.any(axis=1).all()


def test_words_never_seen_are_near_if_spelled_alike_and_only_then(brown: WordVectors) -> None:
    one, other, third = brown.encode(["日本語学校", "日本語学科", "한국어"])
    assert cosine(one, other) > 0.6
    assert cosine(one, third) < 0.6


def test_a_trusted_stand_in_gives_its_vector_and_a_doubted_one_a_part() -> None:
    vectors = WordVectors(["color", "of"], [[3.0, 4.0, 0.0], [0.0, 0.0, 5.0]])
    trusted, doubted = vectors.encode(["colorr", "collar"])
    sure, unsure, not_at_all = vectors.trust(["colorr", "collar", "zzz"])
    assert sure == 1 > unsure > 0 == not_at_all
    np.testing.assert_allclose(trusted, [3, 4, 0])
    assert 0.5 < cosine(doubted, trusted) < 0.99


def test_a_word_that_looks_like_no_other_lies_as_far_out_as_rare_words_do() -> None:
    vectors = WordVectors(["red", "blue"], [[3.0, 4.0, 0.0], [0.0, 0.0, 5.0]])
    mean = vectors.vectors.mean(axis=0)
    spread = np.linalg.norm(vectors.vectors - mean, axis=1).mean()
    for word in ("zzz", "qqq", "日本語"):
        assert np.linalg.norm(vectors.encode([word])[0] - mean) == pytest.approx(spread, rel=1e-5)


def test_trust_is_the_weighted_mean_over_words() -> None:
    color, red = (SMALL.vocabulary.trust(word) for word in ("color", "red"))
    assert SMALL.trust(["color", "red", "?!"]).tolist() == pytest.approx([color, red, 0])
    one, both = SMALL.trust(["qqq", "qqq the"])
    assert one == 0
    the, unseen = (1e-3 / (1e-3 + count / sum(COUNTS)) for count in (700, 2))
    assert both == pytest.approx(the * SMALL.vocabulary.trust("the") / (the + unseen))


def test_vectors_of_words_never_seen_are_the_same_in_every_process(brown: WordVectors) -> None:
    program = (
        "import sys; from fuzzydict import Brown;"
        "sys.stdout.buffer.write(Brown().encode(['colour', '日本語', 'xyzzy of']).tobytes())"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout
    assert found == brown.encode(["colour", "日本語", "xyzzy of"]).tobytes()


@pytest.mark.parametrize("word", ["colour", "speeds", "colorful", "cars", "xyzzy", "1961"])
def test_a_vector_is_that_of_the_stand_ins_as_far_as_they_are_trusted(word: str) -> None:
    rows, weights, _ = stand_ins = SMALL.vocabulary.stand_ins(word)
    lent = sum((w * VECTORS[row] for row, w in zip(rows, weights, strict=True)), np.zeros(8))
    mean = VECTORS.mean(axis=0)
    spread = np.mean([np.linalg.norm(vector - mean) for vector in VECTORS])
    (direction,) = ngram_vectors([word], 8)
    own = mean + spread * direction / np.linalg.norm(direction)
    expected = stand_ins.trust * lent + (1 - stand_ins.trust) * own
    np.testing.assert_allclose(SMALL.encode([word])[0], expected, rtol=1e-5, atol=1e-6)


@given(st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=12), st.integers(1, 400))
def test_vectors_of_ngrams_are_the_same_for_one_word_and_for_many(
    words: list[str], size: int
) -> None:
    each = np.concatenate([ngram_vectors([word], size) for word in words])
    np.testing.assert_array_equal(ngram_vectors(words, size), each, strict=True)


def test_many_words_have_the_vectors_that_each_has(brown: WordVectors) -> None:
    unseen = ["colour", "organised", "xyzzy", "日本語", "x9", "goverment"]
    many = [*unseen, *(f"zq{i}" for i in range(1100))]
    expected = np.concatenate([brown.encode([word]) for word in unseen])
    np.testing.assert_allclose(brown.encode(many)[: len(unseen)], expected, rtol=1e-5, atol=1e-7)


# ---- what is refused ----------------------------------------------------------------------


def test_a_text_is_not_a_list_of_texts() -> None:
    with pytest.raises(ArgumentTypeError, match="expected a list of texts, got the text 'red'"):
        SMALL.encode("red")
    assert SMALL.encode([]).shape == (0, 8)


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ((["a"], [[1.0], [2.0]]), ShapeError, "a row for each of the 1 words"),
        ((["a"], [1.0]), ShapeError, r"got shape \(1,\)"),
        ((["a"], [[]]), ShapeError, "E of 1 or more"),
        (([], np.zeros((0, 3))), ShapeError, "each of the 0 words"),
        ((["a", "b"], [[1.0], [np.nan]]), ShapeError, "'b' has NaN or infinity"),
        ((["a", "b"], [[np.inf], [1.0]]), ShapeError, "'a' has NaN or infinity"),
        ((["a", "b"], [[1.0], [1.0, 2.0]]), ShapeError, "ragged"),
        ((["a", "b"], [[1.0], [2.0]], [1]), ShapeError, "expected 2, one a word, got 1"),
        ((["a", "b", "a"], [[1.0], [2.0], [3.0]]), ShapeError, "'a' comes twice"),
        ((["a"], [["x"]]), ArgumentTypeError, "must be an array of real numbers"),
        ((["a", 7], [[1.0], [2.0]]), ArgumentTypeError, "expected texts, got 7"),
    ],
)
def test_what_cannot_be_word_vectors(arguments: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        WordVectors(*arguments)


# ---- files and copies ---------------------------------------------------------------------


def test_float32_files_give_the_same_bits(tmp_path: Path) -> None:
    SMALL.save(tmp_path / "v")
    loaded = WordVectors.load(tmp_path / "v")
    assert loaded.words == KNOWN
    assert loaded.counts.tolist() == COUNTS
    assert loaded.vectors.tobytes() == VECTORS.tobytes()
    assert loaded.encode(["a red colour"]).tobytes() == SMALL.encode(["a red colour"]).tobytes()


def test_int8_files_are_within_half_a_step(tmp_path: Path) -> None:
    SMALL.save(tmp_path / "v", dtype="int8")
    loaded = WordVectors.load(tmp_path / "v")
    steps = np.abs(VECTORS).max(axis=1, keepdims=True) / 127
    assert (np.abs(loaded.vectors - VECTORS) <= steps * 0.5001).all()
    np.testing.assert_allclose(loaded.encode(KNOWN), loaded.vectors, rtol=1e-6)


def test_saving_again_changes_nothing_unless_asked_to(tmp_path: Path) -> None:
    SMALL.save(tmp_path / "v", dtype="int8")
    once = (tmp_path / "v").read_bytes()
    for dtype in (None, "int8"):
        WordVectors.load(tmp_path / "v").save(tmp_path / "v", dtype=dtype)
        assert (tmp_path / "v").read_bytes() == once
    rounded = WordVectors.load(tmp_path / "v")
    rounded.save(tmp_path / "wide", dtype="float32")
    np.testing.assert_array_equal(WordVectors.load(tmp_path / "wide").vectors, rounded.vectors)


def test_zero_vectors_and_odd_words_survive_a_file(tmp_path: Path) -> None:
    odd = WordVectors(["\ud800", "日本", 'a"b', ""], np.zeros((4, 2), np.float32))
    odd.save(tmp_path / "v", dtype="int8")
    assert WordVectors.load(tmp_path / "v").words == odd.words
    assert not WordVectors.load(tmp_path / "v").vectors.any()


def test_another_dtype_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArgumentTypeError, match="expected 'float32' or 'int8', got 'float16'"):
        SMALL.save(tmp_path / "v", dtype="float16")
    assert not list(tmp_path.iterdir())


def listed(content: Any) -> Any:
    return np.frombuffer(json.dumps(content).encode(), np.uint8)


@pytest.mark.parametrize(
    "changes",
    [
        *[{name: None} for name in ("words", "counts", "vectors")],
        {"words": listed(["a", "b"])},
        {"words": listed("abc")},
        {"words": listed({"a": 1, "b": 2, "c": 3})},
        {"words": listed([1, 2, 3])},
        {"words": np.frombuffer(b'["a", "b"', np.uint8)},
        {"words": np.frombuffer(b"[" * 100_000, np.uint8)},
        {"words": np.frombuffer(b"\xff\xfe\xff", np.uint8)},
        {"counts": np.ones(2, np.int64)},
        {"counts": np.ones((3, 1), np.int64)},
        {"counts": np.ones(3)},
        {"vectors": np.ones((2, 2), np.float32)},
        {"vectors": np.ones(3, np.float32)},
        {"vectors": np.ones((3, 2), np.int8)},
        {"vectors": np.ones((3, 0), np.float32)},
        {"vectors": np.ones((3, 2), np.int8), "scales": np.ones(2, np.float32)},
        {"vectors": np.ones((3, 2), np.int8), "scales": np.ones(3, np.int8)},
        {"words": listed([]), "counts": np.ones(0, np.int64), "vectors": np.ones((0, 2), "f4")},
    ],
    ids=lambda changes: ",".join(changes),
)
def test_files_with_something_missing_or_of_the_wrong_kind(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    whole = {
        "words": listed(["a", "b", "c"]),
        "counts": np.ones(3, np.int64),
        "vectors": np.ones((3, 2), np.float32),
    }
    write_arrays(tmp_path / "v", "word vectors", {}, whole)
    assert len(WordVectors.load(tmp_path / "v")) == 3
    changed = {name: array for name, array in {**whole, **changes}.items() if array is not None}
    write_arrays(tmp_path / "v", "word vectors", {}, changed)
    with pytest.raises(FileFormatError, match="v holds no whole word vectors"):
        WordVectors.load(tmp_path / "v")


@pytest.mark.parametrize(
    "changes",
    [
        *[{name: None} for name in ("checksums", "rows", "counts")],
        {"text": np.frombuffer(b"a\nb", np.uint8)},
        {"text": np.frombuffer(b"a\nb\n\xff", np.uint8)},
        {"text": np.frombuffer(b"a\nb\nc", np.int8)},
        {"text": np.zeros((3, 1), np.uint8)},
        {"checksums": np.zeros(2, np.uint32)},
        {"checksums": np.zeros(3, np.int64)},
        {"rows": np.array([0, 1, 3], np.uint32)},
        {"rows": np.array([0, 1, 2], np.int32)},
        {"counts": np.ones(3)},
    ],
    ids=lambda changes: ",".join(changes),
)
def test_files_whose_words_cannot_be_looked_up(tmp_path: Path, changes: dict[str, Any]) -> None:
    WordVectors(["a", "b", "c"], np.ones((3, 2))).save(tmp_path / "v")
    whole = dict(read_arrays(tmp_path / "v", "word vectors").arrays)
    changed = {name: array for name, array in {**whole, **changes}.items() if array is not None}
    write_arrays(tmp_path / "v2", "word vectors", {}, changed)
    with pytest.raises(FileFormatError, match="v2 holds no whole word vectors"):
        WordVectors.load(tmp_path / "v2")


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.uint32, np.int64])
def test_counts_in_a_file_are_integers_of_any_kind(tmp_path: Path, dtype: Any) -> None:
    whole = WordVectors(["a", "b"], np.eye(2), [9, 2]).arrays()
    write_arrays(tmp_path / "v", "word vectors", {}, {**whole, "counts": np.array([9, 2], dtype)})
    assert WordVectors.load(tmp_path / "v").counts.tolist() == [9, 2]


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    write_arrays(tmp_path / "v", "something else", {}, {})
    with pytest.raises(FileFormatError, match="holds something else"):
        WordVectors.load(tmp_path / "v")


def test_a_fingerprint_is_computed_once_and_differs_with_each_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    vectors = WordVectors(KNOWN, VECTORS, COUNTS)
    name = vectors.fingerprint()["name"]
    assert name == SMALL.fingerprint()["name"]
    others = [
        WordVectors([*KNOWN[:-1], "blue"], VECTORS, COUNTS),
        WordVectors(KNOWN, VECTORS * 2, COUNTS),
        WordVectors(KNOWN, VECTORS, [*COUNTS[:-1], 1]),
    ]
    assert len({name, *(other.fingerprint()["name"] for other in others)}) == 4
    monkeypatch.setattr("hashlib.blake2b", lambda *_, **__: pytest.fail("it was hashed again"))
    assert vectors.fingerprint()["name"] == name


def test_what_is_pickled_or_copied_encodes_alike(brown: WordVectors) -> None:
    texts = ["colour", "the color of", "日本語"]
    for vectors in (SMALL, brown):
        expected = vectors.encode(texts)
        for copy in (pickle.loads(pickle.dumps(vectors)), deepcopy(vectors)):
            assert copy.words == vectors.words
            assert copy.counts.tolist() == vectors.counts.tolist()
            assert copy.encode(texts).tobytes() == expected.tobytes()


def test_loaded_vectors_are_mapped_until_all_are_asked_for(tmp_path: Path) -> None:
    SMALL.save(tmp_path / "v", dtype="int8")
    loaded = WordVectors.load(tmp_path / "v")
    loaded.encode(["red colour"])
    matrix = vars(loaded)["_matrix"]
    assert "whole" not in vars(matrix)
    assert not matrix.codes.flags.owndata
    assert loaded.vectors.flags.owndata


def test_few_words_are_looked_up_without_reading_all(tmp_path: Path) -> None:
    SMALL.save(tmp_path / "v")
    joined = JoinedVectors(NEW, WordVectors.load(tmp_path / "v"))
    joined.encode(["red speed", "phone"])
    assert not {"words", "_rows"} & vars(vars(joined.parts[1].vocabulary)["_words"]).keys()


def test_nobody_else_can_change_the_vectors() -> None:
    rows = np.eye(2, dtype=np.float32)
    vectors = WordVectors(["red", "blue"], rows)
    rows[0, 0] = 7.0
    assert vectors.encode(["red"]).tolist() == [[1.0, 0.0]]
    with pytest.raises(ValueError, match="read-only"):
        vectors.vectors[0, 0] = 7.0


# ---- side by side -----------------------------------------------------------------------------

NEW = WordVectors(["phone", "red", "mobile"], [[1.0, 0.0], [0.0, 2.0], [3.0, 3.0]], [5, 3, 1])


def test_joined_vectors_have_both_parts_of_a_word_and_zeros_for_what_one_lacks() -> None:
    joined = JoinedVectors(SMALL, NEW)
    red, phone, known = joined.encode(["red", "phone", KNOWN[0]])
    np.testing.assert_allclose(red, np.append(SMALL.encode(["red"])[0], [0.0, 2.0]), rtol=1e-6)
    np.testing.assert_allclose(phone, np.append(np.zeros(SMALL.size), [1.0, 0.0]), rtol=1e-6)
    np.testing.assert_allclose(known, np.append(SMALL.encode([KNOWN[0]])[0], [0.0, 0.0]), rtol=1e-6)
    assert joined.size == SMALL.size + 2
    assert joined.trust(["mobile"]).tolist() == [1]
    assert joined.word_features(["phone"]).units.shape == (1, joined.size)


@pytest.mark.parametrize("many", [1, 300])
def test_stand_ins_for_words_that_neither_part_has_are_looked_for_once(
    many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    joined = JoinedVectors(SMALL, NEW)
    words = [f"phoone{'o' * i}" for i in range(many)]
    asked: list[str] = []
    stand_ins = _Spellings.stand_ins

    def counted(self: Any, some: list[str]) -> Any:
        asked.extend(some)
        return stand_ins(self, some)

    monkeypatch.setattr(_Spellings, "stand_ins", counted)
    NEW.vocabulary._remembered.clear()
    vectors = joined.encode(words)
    assert sorted(asked) == sorted(words)
    if many == 1:
        lent = vectors[0, -2:]
        assert lent @ [1.0, 0.0] > 0.9 * np.linalg.norm(lent)


def test_pickled_joined_vectors_encode_alike() -> None:
    texts = ["red phone", "phoone", KNOWN[0]]
    joined = JoinedVectors(SMALL, NEW)
    again = pickle.loads(pickle.dumps(joined))
    np.testing.assert_array_equal(again.encode(texts), joined.encode(texts))
    assert again.fingerprint() == joined.fingerprint()


# ---- the Brown corpus, and the vectors that ship ----------------------------------------------


def test_the_vectors_are_opened_once(brown: WordVectors) -> None:
    assert Brown() is brown


def test_the_vectors_are_whole(brown: WordVectors) -> None:
    assert len(brown) == len(set(brown.words)) == len(brown.counts) == len(brown.vectors)
    assert (np.diff(brown.counts) <= 0).all()
    assert brown.counts.min() == 2
    np.testing.assert_allclose(np.linalg.norm(brown.vectors, axis=1), 1, atol=0.01)


@pytest.mark.parametrize(
    ("query", "near", "far"),
    [
        ("car", "truck", "church"),
        ("red", "blue", "government"),
        ("king", "queen", "engine"),
        ("monday", "tuesday", "water"),
        ("river", "lake", "theory"),
    ],
)
def test_words_of_a_kind_are_nearer(brown: WordVectors, query: str, near: str, far: str) -> None:
    one, two, three = brown.encode([query, near, far])
    assert one @ two > one @ three + 0.1


@pytest.mark.slow("it reads the whole corpus")
def test_the_corpus_has_its_sentences(brown_corpus: list[list[str]]) -> None:
    assert len(brown_corpus) == 57_340
    assert sum(map(len, brown_corpus)) == 1_161_192
    assert brown_corpus[0][:5] == ["The", "Fulton", "County", "Grand", "Jury"]


@pytest.mark.slow("it reads the whole corpus")
def test_the_words_that_ship_are_those_of_the_corpus(
    brown: WordVectors, brown_corpus: list[list[str]]
) -> None:
    occurrences = Counter(word for one in map(words_of_sentence, brown_corpus) for word in one)
    expected = {word: count for word, count in occurrences.items() if count >= 2}
    assert dict(zip(brown.words, brown.counts.tolist(), strict=True)) == expected


@pytest.fixture
def no_corpus(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Let nltk look for data in an empty folder only."""
    lazy = nltk.corpus.util.LazyCorpusLoader("brown", nltk.corpus.CategorizedTaggedCorpusReader)
    monkeypatch.setattr(nltk.corpus, "brown", lazy)
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    return tmp_path


def test_a_missing_corpus_says_where_it_was_sought_and_how_to_get_it(no_corpus: Path) -> None:
    with pytest.raises(MissingCorpusError, match="the Brown corpus is not on this") as found:
        brown_sentences()
    assert isinstance(found.value, LookupError)
    assert str(no_corpus) in str(found.value)
    assert str(found.value).endswith("fetch it with: python -m nltk.downloader brown")


@pytest.mark.usefixtures("no_corpus")
@pytest.mark.parametrize("fetched", [False, True])
def test_a_download_that_brings_nothing_ends_with_the_command(
    monkeypatch: pytest.MonkeyPatch, fetched: bool
) -> None:
    asked: list[str] = []

    def download(name: str, **_: object) -> bool:
        asked.append(name)
        return fetched

    monkeypatch.setattr(nltk, "download", download)
    with pytest.raises(MissingCorpusError, match=r"python -m nltk\.downloader brown$"):
        brown_sentences(download=True)
    assert asked == ["brown"]


def test_a_corpus_that_is_there_is_not_downloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nltk, "download", lambda *_, **__: pytest.fail("it was downloaded"))
    monkeypatch.setattr(nltk.corpus, "brown", SimpleNamespace(sents=lambda: [("One", ".")]))
    assert brown_sentences(download=True) == [["One", "."]]


@pytest.mark.parametrize("shipped", [Brown, English])
def test_the_vectors_that_ship_are_pickled_by_name(
    shipped: Callable[[], WordVectors], tmp_path: Path
) -> None:
    shipped().save(tmp_path / "mine.vectors")
    for vectors in (shipped(), WordVectors.load(tmp_path / "mine.vectors")):
        pickled = pickle.dumps(vectors)
        assert len(pickled) < 200
        assert pickle.loads(pickled) is shipped()


@pytest.mark.parametrize("shipped", [Brown, English])
def test_a_file_of_the_vectors_that_ship_gives_their_scores_in_every_process(
    shipped: Callable[[], WordVectors], tmp_path: Path
) -> None:
    shipped().save(tmp_path / "mine.vectors")
    loaded = WordVectors.load(tmp_path / "mine.vectors")
    expected = FuzzyDict({"phone": 1, "price": 2}, embedding=shipped()).most_similar("mobile")
    d = FuzzyDict({"phone": 1, "price": 2}, embedding=loaded)
    assert d.most_similar("mobile") == deepcopy(d).most_similar("mobile") == expected
    (tmp_path / "pickle").write_bytes(pickle.dumps(d))
    assert (tmp_path / "pickle").stat().st_size < 1000
    code = (
        "import pickle, sys; d = pickle.load(open(sys.argv[1], 'rb')); "
        "print([tuple(match) for match in d.most_similar('mobile')])"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, str(tmp_path / "pickle")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == str([tuple(match) for match in expected])
    d.save(tmp_path / "d")
    for embedding in (None if shipped is Brown else "english", shipped(), loaded):
        again: FuzzyDict[int] = FuzzyDict.load(tmp_path / "d", embedding=embedding)
        assert again.most_similar("mobile") == expected


@pytest.mark.parametrize("name", SHIPPED)
def test_the_vectors_that_ship_are_told_by_their_fingerprints(name: str) -> None:
    shipped = WordVectors.shipped(name)
    assert shipped.fingerprint() == {"name": SHIPPED[name]}
    assert shipped.ships_as == name
    arrays = shipped.arrays()
    codes = arrays["vectors"].copy()
    assert WordVectors.from_arrays({**arrays, "vectors": codes}).ships_as == name
    codes[7, 7] += 1
    assert WordVectors.from_arrays({**arrays, "vectors": codes}).ships_as is None
    assert SMALL.ships_as is None


def test_a_phrase_is_encoded_alike_after_its_words_and_before() -> None:
    words, vectors = ["top", "spede", "speed"], np.eye(3)
    after = WordVectors(words, vectors)
    for phrase in ("top speed", "speed top", "top sped", "sped", "top sped"):
        after.word_features(phrase.split())
        encoded, trust = after.encode_with_trust([phrase])
        expected, of_expected = WordVectors(words, vectors).encode_with_trust([phrase])
        np.testing.assert_array_equal(encoded, expected)
        np.testing.assert_array_equal(trust, of_expected)
        encoded[:] = 0  # what is returned is the caller's
    learned = after.with_learned(["sped"])
    assert learned.encode_with_trust(["top sped"])[1] == 1 > trust
