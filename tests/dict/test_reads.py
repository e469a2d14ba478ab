"""Reads of one query or a list: what they find, cutoffs, and what is remembered of them."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fuzzydict
from fuzzydict import ArgumentTypeError, FuzzyDict, Match, NoMatchError, OptionError, ShapeError
from fuzzydict.search import lookup
from tests.support.properties import examples
from tests.support.recording import Recording
from tests.support.searching import needs_usearch

KEYS = ["color", "brand", "top speed", "price", "!"]
QUERIES = st.one_of(
    st.sampled_from(["colour", "Brnad", "speed", "cost", "qwzzt", "!", "?", "", "  ", "car"]),
    st.sampled_from([None, 5, 6, ("a",), float("nan"), b"color"]),
    st.text(max_size=4),
)


def car(**options: Any) -> FuzzyDict[Any]:
    d: FuzzyDict[Any] = FuzzyDict({key: float(i) for i, key in enumerate(KEYS)}, **options)
    d[5] = 7.0
    d.aliases = {"car": None, "hue": "color"}
    return d


# ---- which key is found --------------------------------------------------------------------


@pytest.mark.parametrize("word", ["speed", "porsche", "of", "1961", "Straße"])
def test_a_key_of_equal_words_comes_before_all_others(word: str) -> None:
    others = [f"{word} of", f"the {word}", f"{word} {word}", f"{word}s", f"{word[:-1]} {word[-1]}"]
    d = FuzzyDict(dict.fromkeys([*others, word], 1))
    assert d.nearest(f"{word.title()}!").key == word
    assert d.most_similar(word)[0].key == word


def test_most_similar_is_sorted_and_cut() -> None:
    d = FuzzyDict(dict.fromkeys(["color", "colors", "collar", "dolor", "brand"], 1))
    ranked = d.most_similar("colour", topn=None)
    assert len(ranked) == 5
    assert [m.score for m in ranked] == sorted((m.score for m in ranked), reverse=True)
    two: Any
    for two in (2, np.int64(2)):
        assert d.most_similar("colour", topn=two) == ranked[:2]
    assert d.most_similar("colour", topn=0) == []
    assert d.most_similar("colour")[0].key == d.nearest("colour").key == "color"
    wrong: Any
    for wrong in (1.5, "3", -1):
        kind: Any = OptionError if wrong == -1 else ArgumentTypeError
        with pytest.raises(kind, match="topn must be a whole number of 0 or more, or None, got"):
            d.most_similar("colour", topn=wrong)


def test_an_equal_key_wins_then_comes_the_dicts_order() -> None:
    d = FuzzyDict(dict.fromkeys(["color", "Color", "COLOR"], 1))
    assert [m.key for m in d.most_similar("COLOR")] == ["COLOR", "color", "Color"]
    embedding = {"small": [1.0, 0.0], "large": [9.0, 1.0]}
    d = FuzzyDict({"large": 1, "small": 2}, embedding=embedding, scorer="dot")
    assert d.nearest("small") == Match("small", 2, 1.0)  # whatever a scorer thinks of it
    assert d["small"] == 2
    assert [m.key for m in d.most_similar("small")] == ["large", "small"]


@pytest.mark.parametrize("before", range(9))
def test_the_writing_decides_among_keys_of_equal_words_wherever_they_are(before: int) -> None:
    others = ["brand", "price", "top speed", "engine", "motor", "model", "year", "owner"][:before]
    assert FuzzyDict({"5 °C": 4, "-5 °C": 5})["- 5 °c"] == 5
    for keys in permutations(["C#", "C++", "C"]):
        d = FuzzyDict(dict.fromkeys([*others, *keys], 1))
        found = [d.most_similar(query, topn=3) for query in ("c", "c #", "c++")]
        assert [row[0].key for row in found] == ["C", "C#", "C++"]
        assert [d.nearest(query).key for query in ("c", "c #", "c++")] == ["C", "C#", "C++"]
    values = FuzzyDict({"C#": 1.0, "C++": 2.0}, score_cutoff=float("inf"))
    assert values.pool(["C#", "C++"]).round(3).tolist() == [1.0, 2.0]


def test_a_query_that_is_no_text_is_only_found_exactly_and_an_empty_dict_finds_none() -> None:
    d = FuzzyDict({"color": 1, 5: 2, ("a", "b"): 3})
    assert d[("a", "b")] == 3
    assert d.nearest(5) == (5, 2, 1.0)
    for query in (6, ("a",), None, b"color"):
        with pytest.raises(NoMatchError, match="only a text"):
            d[query]
    assert d.attend("color").names == ["color"]
    for read in (d.pool, d.attend):
        with pytest.raises(NoMatchError, match="5 is a key that is no text"):
            read(5)
    with pytest.raises(OptionError, match=r"is a key .*teach it by d.aliases\['five'\] = 5"):
        d.fit({"five": 5})
    with pytest.raises(OptionError, match="some of the class Taught"):
        type("Taught", (FuzzyDict,), {"aliases": {"five": 5}})
    d.clear()
    assert (d.most_similar("color"), d.get("color", 7)) == ([], 7)
    with pytest.raises(NoMatchError, match="no key"):
        d.pool("color")


def test_a_kernel_too_narrow_for_every_key_finds_none() -> None:
    axes = {"red": [1.0, 0.0], "blue": [0.0, 1.0], "grey": [0.6, 0.6]}
    d = FuzzyDict({"red": 0.0, "blue": 1.0}, embedding=axes, scorer=fuzzydict.Boxcar(0.1))
    for read in (d.attend, d.pool):
        with pytest.raises(NoMatchError, match="nothing to attend to"):
            read("grey")
    with pytest.raises(NoMatchError, match=r"'grey': every key is farther.*; widen the scorer"):
        d["grey"]
    assert d.get("grey", "none") == "none"
    assert (d["red"], d.pool("red")) == (0.0, 0.0)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_scores_of_no_number_are_refused(wrong: float) -> None:
    def scorer(query: Any, key: Any) -> Any:
        scores = query @ key.T
        scores[:, 0] = wrong
        return scores

    d = FuzzyDict({"red": 1.0, "blue": 2.0}, scorer=scorer)
    for read in (d.nearest, d.most_similar, d.attend, d.pool):
        with pytest.raises(ShapeError, match=r"not NaN.*look at the scorer"):
            read("grey")


def test_cosines_by_known_lengths_are_those_of_the_scorer() -> None:
    axes = {"huge": [3e20, 4e20], "zero": [0.0, 0.0], "one": [1.0, 0.0], "ask": [3.0, 4.0]}
    d = FuzzyDict({"huge": 1, "zero": 2, "one": 3}, embedding=axes, scorer="cosine")
    found = {match.key: match.score for match in d.most_similar("ask")}
    assert found == pytest.approx({"huge": 1.0, "zero": 0.0, "one": 0.6})
    del d["huge"]
    d.embedding = axes | {"ask": [3e20, 4e20]}
    with pytest.raises(ShapeError, match="too large"):
        d["ask"]


# ---- many queries --------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::fuzzydict.DoubtfulPoolWarning")
@pytest.mark.parametrize(
    "options",
    [
        *(
            {"mode": m, "scorer": s}
            for m in ("nearest", "pool")
            for s in (None, "cosine", "spelling")
        ),
        pytest.param({"index": "usearch"}, marks=needs_usearch),
    ],
    ids=str,
)
@given(
    queries=st.lists(QUERIES, max_size=8), cutoff=st.sampled_from([None, 0.0, 0.3, 0.9, math.inf])
)
@examples(25)
def test_get_many_is_get_of_each(
    queries: list[Any], cutoff: float | None, options: dict[str, Any]
) -> None:
    d, other, absent = car(**options), car(**options), object()  # neither remembers for the other
    found = d.get_many(queries, absent, score_cutoff=cutoff)
    expected = [other.get(query, absent, score_cutoff=cutoff) for query in queries]
    assert [one is absent for one in found] == [one is absent for one in expected]
    numbers = [one for one in found if one is not absent]
    assert numbers == pytest.approx([one for one in expected if one is not absent], rel=1e-4)


def test_get_many_takes_any_iterable_but_a_text() -> None:
    d = car()
    for queries in (("colour", ""), np.array(["colour", ""]), (q for q in ["colour", ""])):
        assert d.get_many(queries, -1) == [0.0, -1]
    assert d.get_many([]) == []
    assert FuzzyDict[int]().get_many(["a", None]) == [None, None]
    for wrong in ("colour", b"colour", 5, None):
        with pytest.raises(ArgumentTypeError, match=r"expected a list of queries.*use get"):
            d.get_many(wrong)  # type: ignore[arg-type]
    pooling = FuzzyDict({"red": 1.0, "navy": 2.0}, mode="pool")
    with pytest.warns(fuzzydict.DoubtfulPoolWarning, match="'fleet'"):
        pooling.get_many(["red", "fleet"])
    pooling.get_many(["red", None])  # or the warning would be an error


def test_a_list_with_queries_that_match_nothing_names_them_but_not_thousands() -> None:
    d = car()
    queries = ["colour", "qwzzt", None, "", "car", "hue", "qwzzt"]
    with pytest.raises(NoMatchError) as told:
        d.nearest(queries)
    assert "no key matches 5 of the queries: 'qwzzt', None, '', 'car'; " in str(told.value)
    assert told.value.args == (["qwzzt", None, "", "car", "qwzzt"],)
    found = d.nearest(queries, default=None)
    assert [match and match.key for match in found] == ["color", *[None] * 4, "color", None]
    assert found.unmatched == ("qwzzt", None, "", "car", "qwzzt")
    with pytest.raises(NoMatchError, match="'qwzzt': the nearest is"):  # that alone
        d.nearest(["colour", "qwzzt"])
    with pytest.raises(NoMatchError, match=r"3000 of the queries.* and 2950 more;") as told:
        d.nearest([("no text", i) for i in range(3000)])
    assert len(str(told.value)) < 3000


def test_scored_a_few_at_a_time_they_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    d = FuzzyDict(dict.fromkeys(["color", "brand", "speed"], 1), score_cutoff=float("-inf"))
    queries = ["colour", "brnad", "speeed", "hue", "color"]
    for scorer in (None, "cosine", "dot"):
        d.scorer = scorer
        at_once = [match for row in d.most_similar(queries, 3) for match in row]
        with monkeypatch.context() as patched:
            patched.setattr(lookup, "SCORES", 7)  # two queries over three keys
            in_turn = [match for row in d.most_similar(queries, 3) for match in row]
            assert [match.key for match in d.nearest(queries)] == [m.key for m in at_once[::3]]
        assert [match.key for match in in_turn] == [match.key for match in at_once]
        np.testing.assert_allclose(
            [m.score for m in in_turn], [m.score for m in at_once], rtol=1e-4
        )
        assert d.nearest([]) == d.most_similar([]) == []


# ---- the cutoff ----------------------------------------------------------------------------


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
    assert d.nearest("color").score == 1.0


@pytest.mark.parametrize("scorer", [None, "cosine", "spelling"])
def test_a_cutoff_may_be_given_to_a_single_read(scorer: Any) -> None:
    d = car(scorer=scorer)
    match = d.nearest("colr", score_cutoff=0)
    above = match.score + 1e-5
    exact: Any = Decimal(0)
    assert d.get("colr", score_cutoff=match.score) == d.nearest("colr").value == 0.0
    for cutoff in (match.score - 1e-5, 0, exact, -math.inf):
        assert d.get("colr", score_cutoff=cutoff) == 0.0
        assert d.nearest("colr", score_cutoff=cutoff) == match
        assert isinstance(d.pool("colr", score_cutoff=cutoff), float)
    assert d.get("colr", "none", score_cutoff=above) == "none"
    for read in (d.nearest, d.pool):
        with pytest.raises(NoMatchError, match="below the cutoff"):
            read("colr", score_cutoff=above)
    # What one cutoff found is not remembered for another, and the option is what it was.
    assert (d["colr"], d.score_cutoff) == (0.0, None)
    queries = ["color", "colour", "hue", "COLOR", 5, "!"]  # above all scores: keys and aliases
    assert d.get_many(queries, score_cutoff=math.inf) == [0.0, None, 0.0, None, 7.0, 4.0]


@pytest.mark.parametrize("cutoff", [80, 3, 1.01])
def test_a_cutoff_above_all_probabilities_is_refused(cutoff: float) -> None:
    d = car(score_cutoff=cutoff)
    one: Any = car()
    reads: list[Any] = [partial(read, "colr") for read in (d.__missing__, d.get, d.explain)]
    reads += [partial(read, "colr", score_cutoff=cutoff) for read in (one.get, one.pool)]
    reads += [partial(read, ["colr"], score_cutoff=cutoff) for read in (one.nearest, one.get_many)]
    for read in reads:
        with pytest.raises(OptionError, match=r"score_cutoff: .* from 0 to 1, or inf"):
            read()
    assert d["color"] == 0.0
    assert car(scorer="dot", score_cutoff=cutoff).get("qwzzt") is None


# ---- what a match knows --------------------------------------------------------------------


def test_a_match_is_a_tuple_of_three_that_knows_its_query_and_whether_it_is_one() -> None:
    d = car()
    for match in (d.nearest("colour"), d.most_similar("colour")[0], d.explain("colour").best):
        assert (match.key, match.query, match.matches) == ("color", "colour", True)
    assert [m.matches for m in d.most_similar("colour")] == [True, False, False, False]
    assert (d.nearest(5).query, d.nearest("!").matches) == (5, True)
    assert not d.explain("qwzzt").best.matches

    match = Match("color", "black", 0.25, query="colour", matches=False)
    assert tuple(match) == match == Match("color", "black", 0.25)
    assert hash(match) == hash(("color", "black", 0.25))
    assert repr(match) == "Match(key='color', value='black', score=0.25)"
    for again in (
        *(pickle.loads(pickle.dumps(match, protocol)) for protocol in range(6)),
        *(copy.copy(match), copy.deepcopy(match), match._replace(value="red")),
    ):
        assert type(again) is Match
        assert (again.key, again.query, again.matches) == ("color", "colour", False)


# ---- a query asked again -------------------------------------------------------------------


def test_what_is_asked_again_is_not_encoded_again_and_values_are_read() -> None:
    recording = Recording(lambda texts: [[len(text), text.count("o"), 1] for text in texts])
    d = FuzzyDict({"color": 1, "door": 2}, embedding=recording, score_cutoff=0)
    queries = [f"colour {i % 400}" for i in range(1200)]
    found, one = d.nearest(queries), d["the colour"]
    assert [match.query for match in found] == queries
    assert sorted(recording.asked) == sorted({"color", "door", "the colour", *queries})
    recording.asked.clear()
    assert d.nearest(queries) == found
    assert d.get_many(queries[::-1]) == [match.value for match in found[::-1]]
    assert d["the colour"] == d.get("the colour") == one
    dict.update(d, {"color": 5, "door": 5})
    assert d["the colour"] == 5
    assert recording.asked == []
    d["colour 7"] = 3
    assert d.nearest(queries)[7].value == 3


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


def test_a_changed_scorer_is_heeded() -> None:
    scorer = fuzzydict.Gaussian(1.0)
    d = FuzzyDict({"one": 1}, embedding={"one": [1, 0], "ask": [0, 1]}, scorer=scorer)
    d.score_cutoff = -10.0
    assert d["ask"] == 1
    scorer.width *= 0.1
    assert d.get("ask") is None
