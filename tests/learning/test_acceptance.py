"""What `FuzzyDict.fit` keeps: which examples are held out, and which gains are enough."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import FuzzyDict
from fuzzydict.learning.candidate import Answers, Asked, Candidate
from fuzzydict.learning.fit import ENOUGH, split
from tests.support.fits import AT_ODDS, CAR, EXAMPLES, car, turned


def of(keys: Any, **options: Any) -> FuzzyDict[Any]:
    return FuzzyDict({key: key for key in keys}, **options)


# ---- which gains are enough ------------------------------------------------------------------

RIGHT, WRONG = (1, -0.1, 0, 0.9, 0.0), (2, -2.0, 1, 0.9, 0.0)


def answers(*rows: tuple[int, float, int, float, float]) -> Answers:
    """Return answers: rank, log-probability, best key, score, score without the right keys."""
    return Answers(*(np.array(column) for column in zip(*rows, strict=True)))


@pytest.mark.parametrize(
    ("changes", "held_out", "kept", "why"),
    [
        ("+++", True, True, "answered better"),
        ("^^^", True, True, "answered better"),
        ("++", True, False, "no better than chance explains"),
        ("++", False, True, "the examples themselves are answered better"),
        ("+++++-", True, False, "no better than chance explains"),
        ("++++++++-", True, True, "answered better"),
        ("-" + 20 * "^", True, False, "fewer of held-out examples have a right key first"),
        ("==", True, False, "answered no better"),
        ("==", False, False, "the examples themselves are answered no better"),
        ("+---", True, False, "answered no better"),
    ],
)
def test_held_out_examples_must_be_answered_better_than_by_chance(
    changes: str, held_out: bool, kept: bool, why: str
) -> None:
    """Some are won (+), some lost (-); others stay right (=), or are so more surely (^)."""
    less_sure = (1, -0.6, 0, 0.9, 0.0)
    before = answers(*({"+": WRONG, "^": less_sure}.get(c, RIGHT) for c in changes))
    after = answers(*(WRONG if change == "-" else RIGHT for change in changes))
    verdict = after.verdict(before, 0.5, held_out=held_out)
    assert verdict[0] == kept
    assert why in verdict[1]


def test_more_wrong_answers_than_right_ones_are_too_many() -> None:
    refused, wrong, better = (2, -2.0, 1, 0.4, 0.0), (2, -1.0, 1, 0.6, 0.0), (1, -0.5, 0, 0.6, 0.0)
    after = answers(*[wrong] * 3, *[better] * 2)
    kept, why = after.verdict(answers(*[refused] * 5), 0.5, held_out=True)
    assert (kept, "2 more are answered right, but 3 more wrong" in why) == (False, True)


def test_answers_to_queries_without_their_keys_count_as_wrong() -> None:
    refused, found, sure = (1, -1.5, 0, 0.3, 0.2), (1, -0.4, 0, 0.7, 0.2), (1, -0.4, 0, 0.7, 0.6)
    surer = (1, -0.1, 0, 0.7, 0.2)
    assert answers(*[found] * 9).verdict(answers(*[refused] * 9), 0.5, held_out=True)[0]
    after = answers(*[found] * 4, *[sure] * 5)
    assert after.verdict(answers(*[refused] * 9), 0.5, held_out=True)[0]
    before = answers(*[refused] * 4, *[found] * 5)
    kept, why = answers(*[surer] * 4, *[sure] * 5).verdict(before, 0.5, held_out=True)
    assert not kept
    assert "4 more are answered right, but 5 more wrong" in why


def asked(d: FuzzyDict[Any], query: str, right: list[int]) -> Answers:
    state = d._state(warm_start=False)
    candidate = Candidate(state, state.nothing)
    return candidate.answers(Asked.of([query], state, state.scorer), [np.array(right, np.intp)])


@pytest.mark.parametrize("scorer", [None, "spelling"])
def test_a_candidate_that_learned_nothing_answers_as_the_dict(scorer: Any) -> None:
    d = of(["color", "price", "brand", "top speed"], scorer=scorer)
    answer = asked(d, "colour", [1])
    scores = d.most_similar("colour")
    assert answer.score == pytest.approx(scores[0].score, rel=1e-5)
    (price,) = [match.score for match in scores if match.key == "price"]
    assert answer.log_probability == pytest.approx(max(np.log(price), -20), rel=1e-4)
    (none,) = asked(d, "zebra", []).log_probability
    assert np.exp(none) == pytest.approx(1 - sum(m.score for m in d.most_similar("zebra")))


def test_the_score_without_the_right_keys_is_that_of_the_dict_without_them() -> None:
    d = of(["color", "price", "brand", "colors", "colored"])
    fewer = of(["price", "brand"])
    best = fewer.most_similar("colour", topn=1)[0].score
    assert asked(d, "colour", [0, 3, 4]).otherwise == pytest.approx(best, abs=0.02)
    assert asked(of(["color", "price"]), "colour", [0, 1]).otherwise == -np.inf
    assert asked(of(["color", "price"], scorer="cosine"), "colour", [0, 1]).otherwise == -np.inf


def test_at_the_cutoff_answers_are_right_or_wrong_or_refused() -> None:
    three = answers((1, 0.0, 0, 0.6, 0.0), (2, 0.0, 0, 0.6, 0.0), (0, 0.0, 0, 0.6, 0.0))
    assert three.is_right(0.6).tolist() == [True, False, False]
    assert three.is_wrong(0.6).tolist() == [False, True, True]
    assert three.is_right(0.7).tolist() == [False, False, True]
    assert not three.is_wrong(0.7).any()


# ---- which examples are held out -------------------------------------------------------------


@given(st.integers(1, 300), st.integers(0, 300))
def test_queries_with_a_key_and_those_without_are_held_out_alike(
    keyed: int, strangers: int
) -> None:
    groups = [np.arange(keyed), np.arange(keyed, keyed + strangers)]
    count = keyed + strangers
    parts = split(groups, 0.2, np.random.default_rng(0), many=100, most=256)
    if count < 4:
        assert parts == []
    elif count >= 100:
        (part,) = parts
        held = int((part < keyed).sum())
        assert held == min(max(round(0.2 * keyed), 1), keyed - 1)
        assert len(np.unique(part)) == len(part) < count
    else:
        assert sorted(np.concatenate(parts).tolist()) == [*range(count)]
        shares = [int((part < keyed).sum()) for part in parts]
        assert max(shares) - min(shares) <= 1


def test_three_keys_among_many_strangers_are_measured() -> None:
    random = np.random.default_rng(0)
    strangers = ["".join(random.choice(list("bcdfghjklmnpqrst"), 7)) for _ in range(100)]
    examples = {"paint": "color", "cost": "price", "maker": "brand"} | dict.fromkeys(strangers)
    report = car().fit(examples, epochs=3)
    assert "nan" not in str(report)
    assert report.validated == len(examples)
    assert 0 <= report.held_out_after.hit_at_1 <= 1


# ---- few examples, and many ------------------------------------------------------------------


def test_of_a_few_examples_nothing_is_learned_unless_it_is_asked() -> None:
    d = car()
    report = d.fit(EXAMPLES)
    assert (report.kept, report.history, d.projections) == (False, (), None)
    assert f"fewer than {ENOUGH} examples" in report.reason
    assert car().fit(EXAMPLES, validation=0).kept


def test_many_examples_are_held_out_in_turn() -> None:
    keys, queries, of_key, table = turned(20, 100, 8)
    d = FuzzyDict(dict.fromkeys(keys, 1), embedding=table, scorer="cosine")
    report = d.fit(queries, [keys[i] for i in of_key], epochs=5, remember=False)
    assert report.kept
    assert report.validated == len(queries)
    assert report.held_out_after.hit_at_1 > report.held_out_before.hit_at_1


def test_all_of_some_hundred_examples_are_learned_from() -> None:
    """None of them are left out to stop early, so that what is kept is what was measured."""
    keys, queries, of_key, table = turned(20, 120, 8)
    d = FuzzyDict(dict.fromkeys(keys, 1), embedding=table)
    report = d.fit(queries, [keys[i] for i in of_key], epochs=6, remember=False)
    assert len(report.history) == 7
    assert all(np.isnan(epoch.held_out) for epoch in report.history)


def test_examples_that_contradict_one_another_teach_nothing() -> None:
    d = of(CAR)
    report = d.fit(AT_ODDS, epochs=10, validation=0.2, remember=False)
    assert not report.kept
    assert d.projections is None
    assert {change.query for change in report.worse} <= AT_ODDS.keys()
    assert "to do: give more examples" in str(report)


def test_the_report_tells_of_the_dict_that_comes_out() -> None:
    examples = {"xqzzy thing": "xqzzy", "expense": "price", "hue": "colour", "vlorp": "brand"}
    d = of(["colour", "price", "brand", "xqzzy"])
    first = d.fit(examples, validation=0, remember=False)
    assert first.kept
    scores = [
        {match.key: match.score for match in d.most_similar(query)}[key]
        for query, key in examples.items()
    ]
    assert np.log(scores).mean() == pytest.approx(first.training_after.log_probability, rel=1e-3)
    again = d.fit(examples, validation=0, remember=False)
    assert again.training_before == first.training_before
