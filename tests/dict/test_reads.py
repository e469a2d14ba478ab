"""The fuzzy reads: nearest, most similar, attention, pooling; one query or a list of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fuzzydict import (
    ArgumentTypeError,
    Brown,
    Cosine,
    FuzzyDict,
    Gaussian,
    NoMatchError,
    ShapeError,
)
from fuzzydict.nn.softmax import softmax
from tests.support.recording import Recording, one_hot
from tests.support.reference import assert_probabilities
from tests.support.searching import assert_same

VECTORS = {"red": [1.0, 0.0], "blue": [0.0, 1.0], "violet": [0.8, 0.6], "grey": [0.6, 0.6]}


def vectors_of(*keys: str, **options: Any) -> FuzzyDict[float]:
    return FuzzyDict({key: float(i) for i, key in enumerate(keys)}, embedding=VECTORS, **options)


@pytest.mark.parametrize(
    ("embedding", "keys", "queries"),
    [
        (
            None,
            ["color", "engine", "brand", "topSpeed", "horse power", "1961", "C++", "Taycan 4S"],
            ["colour", "motor", "hue", "Speed", "taycan", "horsepower", "speed of the top", "C#"],
        ),
        (VECTORS, ["red", "Blue", "red blue", "hues of grey"], ["violet", "rred", "Blue grey"]),
    ],
)
def test_the_default_score_is_that_of_the_formula(
    embedding: Any, keys: list[str], queries: list[str]
) -> None:
    for query in [*queries, "1962", "hue"]:
        assert_probabilities(FuzzyDict(dict.fromkeys(keys, 1), embedding=embedding), query)


def test_weights_are_the_keys_shares_of_the_probability() -> None:
    d = FuzzyDict(dict.fromkeys(["color", "colors", "brand"], 1.0))
    scores = {match.key: match.score for match in d.most_similar("colour")}
    attention = d.attend("colour")
    for name, log, weight in zip(attention.names, attention.scores, attention.weights, strict=True):
        assert np.exp(log) == pytest.approx(scores[name], rel=1e-5)
        assert weight == pytest.approx(scores[name] / sum(scores.values()), rel=1e-5)


@pytest.mark.parametrize("key", ["topSpeed", "top_speed", "Top speed", "top-speed", "TOP SPEED"])
def test_ways_to_write_an_identifier_are_one_key(key: str) -> None:
    d = FuzzyDict({"brand": 0, key: 1, "color": 2})
    for match in d.nearest(["topSpeed", "top_speed", "Top speed", "top speed"]):
        assert (match.key, match.value) == (key, 1)
        assert match.score >= 0.9


@pytest.mark.parametrize("word", ["speed", "porsche", "of", "1961", "Straße"])
def test_a_key_of_equal_words_comes_before_all_others(word: str) -> None:
    others = [f"{word} of", f"the {word}", f"{word} {word}", f"{word}s", f"{word[:-1]} {word[-1]}"]
    d = FuzzyDict(dict.fromkeys([*others, word], 1))
    assert d.nearest(f"{word.title()}!").key == word
    assert d.most_similar(word)[0].key == word


@pytest.mark.parametrize(
    ("keys", "found"),
    [
        (["color", "Porsche", "collar", "porch"], {"colur": 0, "porshe": 1, "Colours": 0}),
        (["automobile", "banana", "carpet"], {"vehicle": 0}),
        (["cost of", "the engine"], {"engine of the": 1}),  # rare words weigh more than "of"
        (["color", "brand", "top speed"], dict.fromkeys(["asdf", "qwzzt", "xxxx", "zxcvbnm"])),
    ],
    ids=["spelling", "meaning", "rare words", "gibberish"],
)
def test_a_query_finds_its_key_or_none(keys: list[str], found: dict[str, int | None]) -> None:
    d = FuzzyDict({key: i for i, key in enumerate(keys)})
    assert {query: d.get(query) for query in found} == found


def test_a_query_that_is_no_text_is_only_found_exactly_and_an_empty_dict_finds_none() -> None:
    d = FuzzyDict({"color": 1, 5: 2, ("a", "b"): 3})
    assert d[("a", "b")] == 3
    assert d.nearest(5) == (5, 2, 1.0)
    for query in (6, ("a",), None, b"color"):
        with pytest.raises(NoMatchError, match="only a text"):
            d[query]
    assert d.attend("color").names == ["color"]
    d.clear()
    assert (d.most_similar("color"), d.get("color", 7)) == ([], 7)
    with pytest.raises(NoMatchError, match="no key"):
        d.pool("color")


# ---- the cutoff ---------------------------------------------------------------------------


def test_below_the_cutoff_there_is_no_match_and_the_message_says_what_was_nearest() -> None:
    d = FuzzyDict({"color": "black", "brand": "Porsche"})
    match = d.nearest("colr")
    d.score_cutoff = match.score
    assert d["colr"] == "black"  # a score equal to the cutoff matches
    d.score_cutoff = match.score + 1e-6
    told = rf"'colr'.*'color'.*{match.score:.6f}.*score_cutoff"
    with pytest.raises(NoMatchError, match=told) as caught:
        d["colr"]
    assert (caught.value.key, caught.value.cutoff) == ("color", d.score_cutoff)
    assert caught.value.score == pytest.approx(match.score)
    with pytest.raises(NoMatchError, match="'color'"):
        d.nearest(["brand", "colr"])
    assert d["color"] == "black"
    assert d.nearest("color").score == 1.0
    assert d.most_similar("colr")[0].key == match.key


def test_pooling_has_the_cutoff_attention_has_none_and_equal_values_pool_to_themselves() -> None:
    d = FuzzyDict(dict.fromkeys(["red", "blue", "green", "navy"], 10**18 + 1))
    with pytest.raises(NoMatchError, match="cutoff"):
        d.pool("zzzqx", score_cutoff=0.9)
    assert d.attend("zzzqx").weights.sum() == pytest.approx(1.0)
    assert d.pool("dark blue") == pytest.approx(10**18 + 1, rel=1e-15)


# ---- attention ----------------------------------------------------------------------------


def test_attention_holds_every_intermediate() -> None:
    d = vectors_of("red", "blue", "grey", scorer="scaled_dot", temperature=0.5)
    a = d.attend("violet")
    keys = np.array([VECTORS[name] for name in d], np.float32)
    np.testing.assert_allclose(a.query, VECTORS["violet"], rtol=1e-6)
    np.testing.assert_array_equal(a.keys, keys)
    assert (a.names, a.values) == (["red", "blue", "grey"], [0.0, 1.0, 2.0])
    np.testing.assert_allclose(a.scores, keys @ a.query / np.sqrt(2), rtol=1e-6)
    np.testing.assert_allclose(a.weights, softmax(a.scores, 0.5), rtol=1e-6)
    assert a.output == pytest.approx(float(a.weights @ np.array([0.0, 1.0, 2.0])), rel=1e-5)


@pytest.mark.parametrize(
    "scorer", [None, "dot", "cosine", Cosine(), Gaussian(0.5), lambda q, k: q @ k.T]
)
def test_a_list_of_queries_is_answered_as_one_by_one(scorer: Any) -> None:
    d = vectors_of("red", "blue", "grey", scorer=scorer, score_cutoff=-10.0)
    queries = ["violet", "blue", "rred"]
    assert_same(d.nearest(queries), [d.nearest(q) for q in queries])
    np.testing.assert_allclose(d.pool(queries), [d.pool(q) for q in queries], rtol=1e-5)
    several, attended = d.most_similar(queries), d.attend(queries)
    for query, some, one in zip(queries, several, attended, strict=True):
        assert_same(some, d.most_similar(query))
        np.testing.assert_allclose(one.weights, d.attend(query).weights, rtol=1e-4)
    assert d.nearest([]) == d.most_similar([]) == d.attend([]) == []


def test_a_mask_takes_keys_away_and_must_fit() -> None:
    d = vectors_of("red", "blue", "grey")
    by_bools = d.attend("red", attn_mask=[False, True, True])
    by_key = d.attend("red", attn_mask=lambda key: key != "red")
    for a in (by_bools, by_key):
        assert a.weights[0] == 0.0
        assert a.weights.sum() == pytest.approx(1.0)
        assert np.isneginf(a.scores[0])
    assert d.pool("red", attn_mask=[False, True, False]) == 1.0
    mixed = FuzzyDict({"red": 0.0, 5: 9.0, "blue": 1.0}, embedding=VECTORS)
    assert mixed.pool("red", attn_mask=[False, True, True]) == 1.0
    wrong: list[tuple[Any, type[Exception], str]] = [
        ([True, False], ShapeError, r"attn_mask.*3 keys.*2"),
        ([1, 0, 1], ArgumentTypeError, r"attn_mask.*bool"),
        ([False] * 3, NoMatchError, "nothing to attend to"),
    ]
    for mask, kind, told in wrong:
        with pytest.raises(kind, match=told):
            d.attend("red", attn_mask=mask)


def test_an_exact_key_takes_nearly_all_of_the_weight_among_a_thousand() -> None:
    words = [word for word in Brown().words[500:6000] if word.isalpha()]
    keys = np.random.default_rng(0).choice(words, 1000, replace=False).tolist()
    d = FuzzyDict({key: float(i) for i, key in enumerate(keys)})
    own = [float(attention.weights[i]) for i, attention in enumerate(d.attend(keys))]
    assert min(own) >= 0.75
    assert np.median(own) >= 0.95


# ---- a query asked again --------------------------------------------------------------------


def test_what_is_asked_again_is_not_looked_up_again_and_values_are_read() -> None:
    recording = Recording(one_hot)
    d: FuzzyDict[Any] = FuzzyDict({"color": "black", "brand": "Porsche"}, embedding=recording)
    d.score_cutoff, asked = 0, recording.asked  # and a query that its spelling does not settle
    found = d["the colour"]
    asked.clear()
    assert d["the colour"] == d.get("the colour") == found
    assert d.setdefault("color", 5) == "black"  # which changes nothing, as the next
    assert d.pop("absent", None) is None
    for key in d:
        dict.__setitem__(d, key, "red")
    assert d["the colour"] == "red"
    assert asked == []
    d["another colour"] = "blue"
    assert d["the colour"] in ("red", "blue")
    assert asked != []


WRITES: dict[str, tuple[Callable[[Any], object], object]] = {
    "a key that is nearer": (lambda d: d.update({"color": 1}), 1),
    "another value": (lambda d: d.update({"colored": 2}), 2),
    "del": (lambda d: d.__delitem__("colored"), "Porsche"),
    "pop": (lambda d: d.pop("colored"), "Porsche"),
    "clear": (lambda d: (d.clear(), d.update({"colour's": 3})), 3),
    "setdefault": (lambda d: d.setdefault("color", 4), 4),
    "a method of dict that adds": (lambda d: dict.__setitem__(d, "color", 5), 5),
    "a method of dict that removes": (lambda d: dict.__delitem__(d, "colored"), "Porsche"),
    "a scorer": (lambda d: setattr(d, "scorer", lambda q, k: -abs(q @ k.T)), "Porsche"),
    "an embedding": (
        lambda d: setattr(d, "embedding", {"colour": [1, 0], "colored": [0, 1]}),
        None,
    ),
    "another class option": (lambda d: setattr(type(d), "score_cutoff", float("inf")), None),
    "a cutoff": (lambda d: setattr(d, "score_cutoff", float("inf")), None),
}


@pytest.mark.parametrize("name", WRITES)
def test_what_was_found_is_forgotten_at_any_change(name: str) -> None:
    class Own(FuzzyDict[Any]):
        score_cutoff = -10.0

    write, value = WRITES[name]
    d = Own({"colored": "black", "brand": "Porsche"})
    assert d["colour"] == "black"
    write(d)
    if value is not None:
        assert d["colour"] == value
    fresh = Own(d, embedding=d.embedding, scorer=d.scorer, score_cutoff=d.score_cutoff)
    assert d.get("colour") == fresh.get("colour")


def test_a_scorer_that_is_changed_where_it_is_is_heeded() -> None:
    scorer = Gaussian(1.0)
    d = FuzzyDict({"one": 1}, embedding={"one": [1, 0], "ask": [0, 1]}, scorer=scorer)
    d.score_cutoff = -10.0
    assert d["ask"] == 1
    scorer.width *= 0.1
    assert d.get("ask") is None


def test_equal_keys_are_those_of_the_dict_whatever_a_subclass_says_is_in_it() -> None:
    class Tolerant(FuzzyDict[int]):
        def __contains__(self, key: object) -> bool:
            return self.get(key) is not None

    d = Tolerant({"color": 1, "brand": 2})
    assert "colour" in d
    assert d.nearest("colour").key == "color"
    assert d.nearest("colour").score < 1
    assert not d.explain("colour").equal


def test_a_refused_query_is_asked_anew_after_a_write_or_with_another_cutoff() -> None:
    d = FuzzyDict({"color": 1, "brand": 2})
    for _ in range(2):
        with pytest.raises(NoMatchError, match="'tyre': the nearest is"):
            d["tyre"]
    assert d.get("tyre", score_cutoff=0) in (1, 2)
    d["tire"] = 3
    assert d["tyre"] == 3
    del d["tire"]
    assert d.get("tyre") is None
    d.score_cutoff = 0
    assert d["tyre"] in (1, 2)
