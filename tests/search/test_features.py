"""Which keys are compared with a query, and in what they are found to be alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fuzzydict import Brown, FuzzyDict
from fuzzydict.embedding.encoder import Encoder
from fuzzydict.embedding.projections import with_projections
from fuzzydict.search.features import Query, encode, nearness
from fuzzydict.search.key_index import Keys
from fuzzydict.text.abbreviations import Abbreviations
from tests.support.properties import SLOW
from tests.support.reference import Reference, assert_probabilities

WORDS = ["color", "colour", "the", "engine"]


def scores(d: FuzzyDict[Any], query: str) -> dict[str, float]:
    return {match.key: match.score for match in d.most_similar(query, None)}


def test_deleted_keys_take_no_place_among_the_candidates() -> None:
    gone = [f"colour{letter}{other}" for letter in "abcdefghij" for other in "klmnopqrst"]
    d = FuzzyDict(dict.fromkeys([*gone, "colouring", *(f"other{i}" for i in range(150))], 1))
    before = scores(d, "colour")
    for key in gone:
        del d[key]
    assert d.nearest("colour").key == "colouring"
    assert scores(d, "colour")["colouring"] > before["colouring"]


@pytest.mark.more
def test_of_many_keys_those_worth_a_comparison_are_found() -> None:
    words = [word for word in Brown().words[300:3000] if word.isalpha() and len(word) > 5]
    chance = np.random.default_rng(0)
    keys = [" ".join(pair) for pair in chance.choice(words, (100, 2)).tolist()]
    keys += chance.choice(words, 100, replace=False).tolist()
    d = FuzzyDict(dict.fromkeys(keys, 1), score_cutoff=0)
    reference = Reference(d)
    for key in chance.choice(keys, 5 if SLOW else 2).tolist():
        place = len(key) // 2
        for query in (key[:place] + key[place + 1 :], " ".join(reversed(key.split()))):
            expected = reference.probabilities(query)
            best = max(expected, key=expected.__getitem__)
            assert best == key
            assert d.nearest(query).key == key
            # What is not compared as a string competes by its meaning alone, surface and all.
            assert scores(d, query)[key] == pytest.approx(expected[key], rel=0.02)


def test_of_a_long_text_the_first_words_are_compared_one_by_one() -> None:
    long = " ".join(WORDS * 12)
    assert_probabilities(
        FuzzyDict(dict.fromkeys([long, "the color", "engine"], 1)), long + " speed"
    )


def test_an_embedding_whose_texts_lie_close_together_tells_them_apart_all_the_same() -> None:
    """Of some models all cosines are above 0.7: what counts is how far one stands out."""
    axes = np.eye(40) + 1.0
    names = [f"{chr(97 + i % 26)}{chr(97 + i // 26)}" * 3 for i in range(40)]
    vectors = dict(zip(names, axes, strict=True))

    def encode(texts: list[str]) -> Any:
        return [vectors.get(text, axes[7]) for text in texts]  # any query means the eighth key

    d = FuzzyDict(dict.fromkeys(names, 1), embedding=encode, score_cutoff=0)
    assert d.nearest("ωψξ").key == names[7]


def test_words_in_common_take_nothing_from_the_nearness_of_whole_texts() -> None:
    """An encoder reads "shoe size" as a whole; a mean of words is near "file size" for "size"."""

    def encode(texts: list[str]) -> Any:
        return [[1.0, 0.3 * ("size" in text), text.count("s") / 9] for text in texts]

    names = ["shoe size", "file path", "user"]
    explained = FuzzyDict(dict.fromkeys(names, 1), embedding=encode).explain("file size")
    keys, query = np.array(encode(names)), np.array(encode(["file size"])[0])
    mean, spread = Encoder(encode).background(keys.astype(np.float32))
    cosine = keys[0] @ query / np.linalg.norm(keys[0]) / np.linalg.norm(query)
    assert explained.best.key == names[0]
    assert explained.best_parts is not None
    assert explained.best_parts.nearness == pytest.approx((cosine - mean) / spread, rel=0.02)


@pytest.mark.parametrize(
    ("query", "key"), [("birth date", "start date"), ("home phone", "work phone")]
)
def test_words_that_differ_take_from_the_nearness_of_short_texts(query: str, key: str) -> None:
    embedding = with_projections(Brown(), None)
    asked = Query.of(query, embedding)
    encode([asked], embedding)
    keys = Keys.of(embedding, [key], *embedding.encode_with_trust([key]))
    whole = float(nearness([asked], keys)[0, 0])
    parts = FuzzyDict({key: 1}).explain(query).best_parts
    of_words = FuzzyDict({key.split()[0]: 1}).explain(query.split()[0]).best_parts
    assert parts
    assert of_words
    assert of_words.nearness < parts.nearness < whole
    assert parts.nearness == pytest.approx((whole + of_words.nearness) / 2, rel=0.05)


# ---- abbreviations ----------------------------------------------------------------------------

COLUMNS = ["customer name", "date of birth", "address", "quantity", "order number", "price"]
COLUMNS += ["country", "postal code", "description", "amount", "manager", "average temperature"]


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("addr", "address"),
        ("desc", "description"),
        ("temp", "average temperature"),
        ("prc", "price"),
        ("qty", "quantity"),
        ("amt", "amount"),
        ("mgr", "manager"),
        ("dob", "date of birth"),
        ("cust_nm", "customer name"),
        ("ordNum", "order number"),
        ("avg_temp", "average temperature"),
    ],
)
def test_names_of_columns_are_found_by_their_abbreviations(query: str, key: str) -> None:
    assert FuzzyDict({column: column for column in COLUMNS}).most_similar(query)[0].key == key


@pytest.mark.parametrize("query", ["car", "man", "art", "can of man"])
def test_a_word_that_is_known_abbreviates_none(query: str, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = ["carpet", "manager", "article", "candle of mankind", "caption of manners"]
    found = FuzzyDict(dict.fromkeys(keys)).most_similar(query)
    monkeypatch.setattr(Abbreviations, "found", lambda *_: iter(()))
    assert FuzzyDict(dict.fromkeys(keys)).most_similar(query) == found


@pytest.mark.parametrize(
    ("query", "key"),
    [("902", "90210"), ("1234567", "12345678"), ("a123", "a1234"), ("covid1", "covid19")],
)
def test_a_code_abbreviates_none(query: str, key: str) -> None:
    assert FuzzyDict({key: 1, "banana": 2}).get(query) is None


def test_the_whole_word_comes_before_one_that_it_begins() -> None:
    d = FuzzyDict({"temperance": 1, "temperature": 2, "tempr": 3})
    assert d["Tempr"] == 3
    assert d.most_similar("tempr")[0].key == "tempr"
    assert d["temperat"] == 2
