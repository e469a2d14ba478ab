"""What `FuzzyDict.fit` keeps: of few examples, by which cutoff, and what it says of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzzydict import FuzzyDict
from fuzzydict.embedding.encoder import as_embedding
from fuzzydict.learning.acceptance import (
    MANY,
    Answers,
    Cutoffs,
    best_cutoff,
    is_right,
    misspelled_keys,
    split,
    verdict_on_keys,
)
from fuzzydict.learning.candidate import Answer, DictState
from tests.support.fits import AT_ODDS, CAR, EXAMPLES, SPECIFICATIONS, car

DEPARTMENTS = ["billing", "technical support", "shipping", "returns", "sales", "careers", "press"]
REQUESTS: dict[str, Any] = {
    "invoice": "billing",
    "payment failed": "billing",
    "charged twice": "billing",
    "credit card": "billing",
    "it does not work": "technical support",
    "error message": "technical support",
    "crash": "technical support",
    "where is my parcel": "shipping",
    "delivery": "shipping",
    "late package": "shipping",
    "refund": "returns",
    "send it back": "returns",
    "wrong size": "returns",
    "buy": "sales",
    "quote": "sales",
    "discount": "sales",
    "job": "careers",
    "apply": "careers",
    "interview request": "press",
    "weather": None,
    "hello": None,
}


def answered_right(d: FuzzyDict[Any], examples: dict[str, Any]) -> float:
    """Return the share of examples that a dict whose values are its keys answers right."""
    return float(np.mean([d.get(query) == target for query, target in examples.items()]))


def of(keys: Any, **options: Any) -> FuzzyDict[Any]:
    return FuzzyDict({key: key for key in keys}, **options)


# ---- the cutoff ------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [1])
def test_a_few_none_do_not_make_the_dict_refuse_what_it_was_taught(seed: int) -> None:
    d = of(DEPARTMENTS)
    before = answered_right(d, REQUESTS)
    report = d.fit(REQUESTS, seed=seed)
    assert report.kept
    assert report.training_before.right_at_cutoff == before
    assert report.training_after.right_at_cutoff == answered_right(d, REQUESTS) >= 0.9
    learned, d.score_cutoff = d.score_cutoff, None
    assert learned is not None
    assert report.training_after.right_at_cutoff >= answered_right(d, REQUESTS)
    assert "right at the cutoff, held out" in str(report)


ANSWERS = st.lists(
    st.builds(
        Answer,
        rank=st.sampled_from([0, 1, 2]),
        log_probability=st.just(0.0),
        best=st.just(0),
        score=st.sampled_from([0.0, 0.1, 0.2, 0.5, 0.6, 1.0]),
    ),
    max_size=8,
)


@settings(max_examples=100)
@given(ANSWERS, ANSWERS, st.sampled_from([-np.inf, 0.02, 0.55]))
def test_the_best_cutoff_is_that_of_all_that_harm_neither_side(
    held_out: list[Answer], learned_from: list[Answer], usual: float
) -> None:
    sides = held_out, learned_from

    def right(cutoff: float) -> list[int]:
        return [int(is_right(side, cutoff).sum()) for side in sides]

    tried = [right(cutoff) for cutoff in np.arange(-0.05, 1.1, 0.05)]
    good = [sum(n) for n in tried if all(a >= b for a, b in zip(n, right(usual), strict=True))]
    cutoff = best_cutoff(held_out, learned_from, usual)
    if cutoff is None:
        assert not good or all(o.rank for o in [*held_out, *learned_from])
    else:
        assert np.isfinite(cutoff)
        assert sum(right(cutoff)) == max(good)
        assert all(a >= b for a, b in zip(right(cutoff), right(usual), strict=True))


# ---- few examples ----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 2])
def test_a_dozen_synonyms_are_kept_whatever_the_seed(seed: int) -> None:
    asked = [query for query, key in REQUESTS.items() if key in DEPARTMENTS[:5]]
    dozen = {query: REQUESTS[query] for query in asked if query not in ("charged twice", "crash")}
    d = of(DEPARTMENTS)
    before = answered_right(d, dozen)
    assert d.fit(dozen, seed=seed).kept
    assert before < 0.7
    assert answered_right(d, dozen) > 0.9
    slips = {"biling": "billing", "shiping": "shipping", "retruns": "returns", "pres": "press"}
    assert answered_right(d, slips) == 1


def test_the_car_of_the_readme_is_kept_with_another_seed() -> None:
    assert car().fit(EXAMPLES, seed=1).kept


@pytest.fixture(scope="module")
def at_odds() -> tuple[FuzzyDict[Any], Any, list[tuple[int, int]]]:
    d, told = of(CAR), list[tuple[int, int]]()
    report = d.fit(AT_ODDS, epochs=10, progress=lambda done, total: told.append((done, total)))
    return d, report, told


def test_examples_that_contradict_one_another_are_not_kept(at_odds: Any) -> None:
    d, report, _ = at_odds
    assert not report.kept
    assert (d.projections, d.score_cutoff) == (None, None)
    assert "worse " in report.reason or "no better by " in report.reason
    assert "give more" in report.reason or "validation=0" in report.reason  # what to do next
    assert {change.query for change in report.worse} <= AT_ODDS.keys()
    assert "worse, held out:" in str(report)
    assert report.worse


def test_both_tries_are_told_as_one_and_may_be_stopped(at_odds: Any) -> None:
    _, _, told = at_odds
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert {total for _, total in told} == {told[-1][0]}
    assert len({done for done, total in told if done > total / 2}) > 100

    def stop(done: int, total: int) -> None:
        if done > 0.7 * total:
            raise KeyboardInterrupt

    d = of(CAR)
    with pytest.raises(KeyboardInterrupt):
        d.fit(AT_ODDS, epochs=2, progress=stop)
    assert d.projections is None


@pytest.mark.parametrize("validation", [None, 0])
def test_a_few_examples_more_do_not_stop_it_early(validation: float | None) -> None:
    """Held out to tell when to stop, a few of them would be missed."""
    more = {
        "hue": "color",
        "tint": "color",
        "passengers": "seats",
        "chairs": "seats",
        "company": "brand",
        "charge": "price",
        "velocity": "top speed",
        "energy": "battery",
    }
    keys = ["battery", "top speed", "horse power", "color", "brand", "model", "price", "seats"]
    paired = {"paint": "color", "shade": "color", "cost": "price", "how expensive": "price"}
    paired |= {"maker": "brand", "manufacturer": "brand", "range": "battery", "version": "model"}
    paired |= {"how quick is it": "top speed", "engine strength": "horse power"}
    paired |= {"people": "seats", "places": "seats"} | more
    assert len(paired) == 20
    d = of(keys)
    report = d.fit(paired, validation=validation)
    assert report.kept
    assert sum(d.most_similar(query, 1)[0].key == key for query, key in paired.items()) >= 19


def test_without_validation_the_examples_decide_and_the_report_says_so() -> None:
    d = of(["color", "price", "brand"])
    report = d.fit({"hue": "color", "maker": "brand", "expense": "price"}, validation=0)
    assert report.kept
    assert report.validated == 0
    assert "none were held out" in report.reason
    assert "better, training:" in str(report)
    assert "held out:" not in str(report)


def answers(changes: str, *, rounds: int = 1) -> Answers:
    """Return answers: some won (+), some lost (-); others stay right (=), or more surely so (^)."""
    right, wrong = Answer(1, -0.1, 0, 0.9), Answer(2, -2.0, 1, 0.9)
    before = [
        {"+": wrong, "^": right._replace(log_probability=-0.6)}.get(c, right) for c in changes
    ]
    after = [wrong if change == "-" else right for change in changes]
    return Answers(np.tile(np.arange(len(changes)), rounds), before * rounds, after * rounds)


@pytest.mark.parametrize(
    ("held_out", "few", "many"),
    [
        ("++", True, True),
        ("^^", True, True),
        ("==", False, False),
        ("-^^^^^", True, False),
        ("+-====", False, False),
        ("--^^^^^^^^^^", False, False),
        ("+----", False, False),
        ("", True, True),
    ],
)
@pytest.mark.parametrize("rounds", [1, 3])
def test_a_few_must_not_come_to_harm_and_many_must_gain(
    held_out: str, few: bool, many: bool, rounds: int
) -> None:
    sides = answers(held_out, rounds=rounds), answers("++=")
    cutoffs = Cutoffs(0.02, 0.02)
    for must_gain, kept in ((False, few), (True, many)):
        assert verdict_on_keys(*sides, cutoffs, (0, 32), must_gain=must_gain)[0] == kept
        assert not verdict_on_keys(*sides, cutoffs, (2, 32), must_gain=must_gain)[0]
        assert not verdict_on_keys(*sides, Cutoffs(0.02, 0.95), (0, 32), must_gain=must_gain)[0]


@pytest.mark.parametrize(
    ("held_out", "learned_from", "must_gain", "why"),
    [
        ("==", "++", False, "no better by log-probability"),
        ("-^^^^^", "++", True, "worse by hit@1 and right at the cutoff"),
        ("--^^^^^^^^^^", "++", False, "worse than chance explains by hit@1 and right at the cut"),
        ("++", "-^^^^^", False, "worse by hit@1 and right at the cutoff"),
        ("++", "==", False, "no better by any of these"),
    ],
)
def test_the_report_says_which_figure_decided(
    held_out: str, learned_from: str, must_gain: bool, why: str
) -> None:
    sides = answers(held_out), answers(learned_from)
    kept, reason = verdict_on_keys(*sides, Cutoffs(0, 0), (0, 0), must_gain=must_gain)
    assert not kept
    assert f": {why}" in reason


def test_what_is_learned_must_help_the_examples_themselves() -> None:
    kept, reason = verdict_on_keys(
        answers("++"), answers("+--"), Cutoffs(0, 0), (0, 0), must_gain=False
    )
    assert not kept
    assert "the training examples" in reason


# ---- who is held out -------------------------------------------------------------------------


@given(st.integers(1, 300), st.integers(0, 300), st.integers(1, 3))
def test_queries_with_a_key_and_those_without_are_held_out_alike(
    keyed: int, strangers: int, rounds: int
) -> None:
    groups = [np.arange(keyed), np.arange(keyed, keyed + strangers)]
    count = keyed + strangers
    parts = split(groups, 0.2, 256, np.random.default_rng(0), rounds=rounds)
    if count < 4:
        assert parts == []
    elif count >= MANY:
        (part,) = parts
        held = int((part < keyed).sum())
        assert held == min(max(round(0.2 * keyed), 1), keyed - 1)
        assert len(np.unique(part)) == len(part) < count
    else:
        assert sorted(np.concatenate(parts).tolist()) == sorted([*range(count)] * rounds)
        shares = [int((part < keyed).sum()) for part in parts]
        assert max(shares) - min(shares) <= 1


def test_three_keys_among_many_strangers_are_measured() -> None:
    random = np.random.default_rng(0)
    strangers = ["".join(random.choice(list("bcdfghjklmnpqrst"), 7)) for _ in range(150)]
    d = car()
    report = d.fit({"paint": "color", "cost": "price", "maker": "brand"} | dict.fromkeys(strangers))
    assert "nan" not in str(report)
    assert report.held_out_after.hit_at_1 in (0, 1)


def test_misspelled_keys_to_test_with_are_others_than_those_fitted_to() -> None:
    embedding = as_embedding(lambda texts: np.ones((len(texts), 2)))
    state = DictState((), SPECIFICATIONS, None, [], embedding, {"projections": None})
    random = np.random.default_rng(0)
    fitted = misspelled_keys(state, 32, random).queries
    tested = misspelled_keys(state, 32, random, times=8, apart_from=fitted).queries
    assert len(fitted) >= 8
    assert len(tested) >= 24
    assert not {*fitted, *SPECIFICATIONS} & set(tested)


# ---- what is judged is what comes out --------------------------------------------------------


def test_the_report_tells_of_the_dict_that_comes_out() -> None:
    examples = {"xqzzy thing": "xqzzy", "expense": "price", "hue": "colour", "vlorp": "brand"}
    d = of(["colour", "price", "brand", "xqzzy"])
    first = d.fit(examples, validation=0)
    assert first.kept
    right = [d.attend(query).weights[list(d).index(key)] for query, key in examples.items()]
    assert np.log(right).mean() == pytest.approx(first.training_after.log_probability, rel=1e-3)
    again = d.fit(examples, validation=0)
    assert again.training_before == first.training_before
