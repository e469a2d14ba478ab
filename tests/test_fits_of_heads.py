"""`FuzzyDict.fit` with heads: keys that lie far apart, little data, and what goes wrong."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuzzydict import ArgumentTypeError, Bilinear, FuzzyDict, OptionError
from fuzzydict.projections import Projections
from fuzzydict.query_heads import QueryHeads

from .benchmarks.heads import lying_apart
from .test_fits import EXAMPLES as A_DOZEN
from .test_fits import SPORT, car
from .test_fits import UNSEEN as OF_THE_CAR

EXAMPLES, UNSEEN, SIZE = 300, 200, 4
DATA = lying_apart(EXAMPLES + UNSEEN, 40, SIZE, seed=0)
QUERIES, KEYS, RIGHT = DATA.names()
TABLE = DATA.embedding()


def fitted(num_heads: int | None, scorer: Any = "cosine", **options: Any) -> tuple[Any, Any]:
    d: Any = FuzzyDict(dict.fromkeys(KEYS, 1), embedding=TABLE, scorer=scorer)
    options = {"num_heads": num_heads, **options}
    return d, d.fit(QUERIES[:EXAMPLES], RIGHT[:EXAMPLES], **options)


def recall(d: FuzzyDict[int]) -> float:
    """Return which share of the right keys of queries never seen are among the first three."""
    ranked = d.most_similar(QUERIES[EXAMPLES:], 3)
    shares = [
        len({match.key for match in row} & set(right)) / len(right)
        for row, right in zip(ranked, RIGHT[EXAMPLES:], strict=True)
    ]
    return float(np.mean(shares))


@pytest.fixture(scope="module")
def three() -> tuple[Any, Any]:
    return fitted(3)


# ---- what they are for --------------------------------------------------------------------


@pytest.mark.parametrize("scorer", [None, "cosine", "scaled_dot", "dot"])
def test_three_heads_find_three_keys_that_lie_apart_and_one_cannot(scorer: Any) -> None:
    (one, report_of_one), (three, report) = fitted(1, scorer), fitted(3, scorer)
    assert report_of_one.kept
    assert report.kept
    assert recall(one) < 0.4
    assert recall(three) > 0.65
    assert report.held_out_after.hit_at_1 > report_of_one.held_out_after.hit_at_1 + 0.3
    heads = three.projections.heads
    assert heads.temperature == pytest.approx(three.temperature or heads.temperature)
    assert three.attend(QUERIES[-1]).query.shape == (3, SIZE)


def test_three_heads_pool_what_one_cannot() -> None:
    """The mean of the values of a query's three keys."""
    values = dict(zip(KEYS, np.random.default_rng(1).normal(0, 1, (len(KEYS), 8)), strict=True))
    wanted = np.array([np.mean([values[key] for key in right], axis=0) for right in RIGHT])
    explained = []
    for num_heads in (1, 3):
        d: Any = FuzzyDict(values, embedding=TABLE)
        assert d.fit(QUERIES[:EXAMPLES], wanted[:EXAMPLES], num_heads=num_heads).kept
        errors = d.pool(QUERIES[EXAMPLES:]) - wanted[EXAMPLES:]
        explained.append(1 - float((errors**2).mean() / wanted.var()))
    assert explained[0] < 0.25
    assert explained[1] > 1.5 * explained[0]


def test_heads_of_a_low_rank_are_learned() -> None:
    d, report = fitted(2, rank=2)
    assert report.kept
    assert d.projections.query.maps.left.shape == (2, SIZE, 2)


def test_one_head_is_what_is_learned_by_default() -> None:
    (default, _), (one, _) = fitted(None), fitted(1)
    assert default.projections == one.projections
    assert default.projections.heads is None


def test_the_same_seed_learns_the_same(three: tuple[Any, Any]) -> None:
    assert fitted(3)[0].projections == three[0].projections
    assert fitted(3, seed=1)[0].projections != three[0].projections


# ---- little data --------------------------------------------------------------------------


def test_a_dozen_examples_teach_heads_and_break_nothing() -> None:
    d = car()
    report = d.fit(list(A_DOZEN), list(A_DOZEN.values()), num_heads=3, epochs=40)
    assert report.kept
    assert {key for key, _, _ in d.attend("performance").top(3)} == set(SPORT)
    assert {query: d.nearest(query).key for query in OF_THE_CAR} == OF_THE_CAR
    parts = d.explain("colour").best_parts
    assert parts is not None
    assert parts.probability == pytest.approx(d.nearest("colour").score)


def test_heads_that_learn_from_chance_are_not_kept() -> None:
    random = np.random.default_rng(0)
    d: Any = FuzzyDict(dict.fromkeys(KEYS, 1), embedding=TABLE, scorer="cosine")
    targets = [KEYS[i] for i in random.integers(0, len(KEYS), 60)]
    assert not d.fit(QUERIES[:60], targets, num_heads=4).kept
    assert (d.projections, d.temperature) == (None, None)


# ---- again, and elsewhere -----------------------------------------------------------------


@pytest.mark.parametrize("way", ["file", "pickle", "copy", "deepcopy", "or"])
def test_heads_go_where_the_dict_goes(three: tuple[Any, Any], way: str, tmp_path: Path) -> None:
    d, _ = three
    d.save(tmp_path / "d")
    ways: dict[str, Any] = {
        "file": lambda: FuzzyDict.load(tmp_path / "d", embedding=TABLE),
        "pickle": lambda: pickle.loads(pickle.dumps(d)),
        "copy": d.copy,
        "deepcopy": lambda: copy.deepcopy(d),
        "or": lambda: d | {},
    }
    other = ways[way]()
    assert other.projections == d.projections
    assert other.most_similar(QUERIES[-9:]) == d.most_similar(QUERIES[-9:])


def test_a_warm_start_goes_on_from_the_heads_that_there_are() -> None:
    d, first = fitted(3, epochs=20)
    before = recall(d)
    report = d.fit(QUERIES[:EXAMPLES], RIGHT[:EXAMPLES], warm_start=True, epochs=100)
    assert report.kept
    was, goes_on = first.held_out_after.log_probability, report.held_out_before.log_probability
    assert goes_on == pytest.approx(was, abs=0.1)
    assert recall(d) > before + 0.1
    assert d.projections.num_heads == 3
    assert not d.projections.query.of_heads  # one layer for all that was learned
    afresh, _ = fitted(1, warm_start=False)
    afresh.fit(QUERIES[:EXAMPLES], RIGHT[:EXAMPLES], num_heads=2, warm_start=True)
    assert afresh.projections.num_heads == 2  # each goes on from the one


def test_a_fit_afresh_may_have_as_many_as_it_likes(three: tuple[Any, Any]) -> None:
    d = three[0].copy()
    d.fit(QUERIES[:EXAMPLES], RIGHT[:EXAMPLES], num_heads=2)
    assert d.projections.num_heads == 2
    d.fit(QUERIES[:EXAMPLES], RIGHT[:EXAMPLES])
    assert d.projections.num_heads == 1


def test_heads_that_were_given_are_learned_on() -> None:
    random = np.random.default_rng(5)
    given = Projections(QueryHeads(np.eye(SIZE) + random.normal(0, 0.1, (2, SIZE, SIZE)), 0.1))
    d: Any = FuzzyDict(dict.fromkeys(KEYS, 1), embedding=TABLE, scorer="cosine", projections=given)
    assert d.fit(QUERIES[:EXAMPLES], RIGHT[:EXAMPLES]).kept
    assert d.projections.base == given
    assert d.projections.query.of_heads
    with pytest.raises(OptionError, match="queries have 2 heads"):
        d.fit(QUERIES[:EXAMPLES], RIGHT[:EXAMPLES], num_heads=3)


# ---- what goes wrong ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"num_heads": 0}, OptionError, "num_heads must be at least 1, got 0"),
        ({"num_heads": 2.0}, ArgumentTypeError, "num_heads must be a whole number, got 2.0"),
        ({"num_heads": "2"}, ArgumentTypeError, "num_heads must be a whole number"),
        ({"num_heads": 41}, OptionError, "num_heads: expected 40 at most"),
        ({"num_heads": 2, "learn": ["key"]}, OptionError, "num_heads: learn=.* as it is"),
        (
            {"num_heads": 2, "warm_start": True},
            OptionError,
            "queries have 3 heads.*leave num_heads",
        ),
        ({"learn": "key", "warm_start": True}, OptionError, "num_heads: learn='key'"),
    ],
)
def test_bad_heads_are_named_and_change_nothing(
    three: tuple[Any, Any], options: dict[str, Any], error: type[Exception], message: str
) -> None:
    d = three[0].copy()
    with pytest.raises(error, match=message):
        d.fit(QUERIES[:EXAMPLES], RIGHT[:EXAMPLES], **options)
    assert d.projections is three[0].projections


def test_a_scorer_that_learns_its_own_parameters_has_no_heads(three: tuple[Any, Any]) -> None:
    d = three[0].copy()
    for scorer in (Bilinear(np.eye(SIZE)), "gaussian"):
        d.scorer = scorer
        for options in ({"num_heads": 2}, {"warm_start": True}):
            with pytest.raises(OptionError, match=r"num_heads: the scorer .* its own"):
                d.fit(QUERIES[:20], RIGHT[:20], **options)
        assert d.projections is three[0].projections


def test_an_interruption_leaves_the_heads_as_they_were(three: tuple[Any, Any]) -> None:
    d = three[0].copy()

    def interrupt(done: int, total: int) -> None:
        if done > total / 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        d.fit(QUERIES[:50], RIGHT[:50], warm_start=True, progress=interrupt)
    assert d.projections is three[0].projections
