"""`FuzzyDict.fit` as its users know it: what is remembered, what is learned, what stays as it was.

Few examples are learned from if none are held out, so most tests here set ``validation=0``.
"""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import ArgumentTypeError, Bilinear, FuzzyDict, OptionError, PoolingError, ShapeError
from fuzzydict.text.words import plain, same_text
from tests.support.fits import AT_ODDS, EXAMPLES, SPECIFICATIONS, SPORT, car, turned
from tests.support.properties import examples

UNSEEN = {"colour": "color", "prices": "price", "battry": "battery", "weigth": "weight"}
UNSEEN |= {"maximum speed": "top speed", "topSpeed": "top speed", "hors power": "horse power"}
SYNONYMS: dict[str, Any] = {"paint": "color", "cost": "price", "maker": "brand"}
TAUGHT: dict[str, Any] = {"paint": "color", "cost": "price", "weather": None}
WAYS = ["file", "pickle", "copy", "deepcopy", "or"]


def sent(d: FuzzyDict[Any], way: str, folder: Path) -> FuzzyDict[Any]:
    """Return what becomes of a dict that is written, pickled, copied or joined."""
    if way == "file":
        d.save(folder / "d")
        return FuzzyDict.load(folder / "d")
    if way == "pickle":
        return pickle.loads(pickle.dumps(d))  # type: ignore[no-any-return]
    if way == "copy":
        return d.copy()
    return copy.deepcopy(d) if way == "deepcopy" else d | {}


def options(d: FuzzyDict[Any]) -> tuple[Any, ...]:
    return d.projections, d.scorer, d.temperature, d.score_cutoff


def found(d: FuzzyDict[Any], queries: Any) -> dict[str, Any]:
    """Return the key that each query finds, or None."""
    matches = zip(queries, d.nearest(list(queries), default=None), strict=True)
    return {query: match and match.key for query, match in matches}


# ---- what is remembered ----------------------------------------------------------------------


@examples(25)
@given(
    st.dictionaries(
        st.text("abcDE -1é", min_size=1, max_size=5).filter(plain),
        st.sampled_from(["color", "price", "top speed", None]),
        min_size=1,
        max_size=8,
    )
)
def test_what_was_shown_is_right_afterwards(examples: dict[str, Any]) -> None:
    once = {same_text(query): query for query in examples}
    shown = {query: examples[query] for query in once.values()}
    d = car()
    assert d.fit(shown).remembered == len(shown)
    assert found(d, shown) == shown


@pytest.mark.parametrize(
    ("shown", "remembered"),
    [
        ([("horses", SPORT)], {"horses": "horse power"}),
        ([("go", ["battery", "year"]), ("Go", ["year", "price"])], {"go": "year"}),
        ([("year", "year"), ("price", ["price", "year"]), ("cost", "price")], {"cost": "price"}),
        ([("...", None), ("cost", "price")], {"cost": "price"}),
        ([("Café-Price", "price")], {"cafe price": "price"}),
    ],
)  # fmt: skip
def test_a_text_becomes_an_alias(shown: list[tuple[str, Any]], remembered: dict[str, str]) -> None:
    """Of several right keys it is the nearest; a key and a text without letters need no alias."""
    d = car()
    assert d.fit(*zip(*shown, strict=True)).remembered == len(remembered)
    assert {text: d.aliases[text] for text in remembered} == remembered


def test_a_new_example_wins_and_what_is_not_kept_changes_nothing() -> None:
    d = car()
    d.fit(TAUGHT)
    d.fit({"Paint": "model", "maker": "brand"})
    assert d.aliases == TAUGHT | {"paint": "model", "maker": "brand"}
    d.fit({"maker": "model"}, warm_start=True, validation=0)
    assert d.aliases == TAUGHT | {"paint": "model", "maker": "model"}
    d = car()
    before = options(d)
    report = d.fit(AT_ODDS, epochs=10, validation=0.2, remember=False)
    assert (report.kept, options(d)) == (False, before)
    assert {change.query for change in report.worse} <= AT_ODDS.keys()


# ---- what is learned from keys ---------------------------------------------------------------


@pytest.fixture(scope="module")
def taught() -> tuple[FuzzyDict[int], Any]:
    d = car()
    report = d.fit(list(EXAMPLES), list(EXAMPLES.values()), remember=False, validation=0)
    return d, report


def test_performance_is_learned_from_a_dozen_examples(taught: tuple[FuzzyDict[int], Any]) -> None:
    d, report = taught
    before, after = (x.attend("performance") for x in (car(), d))
    was, now = (dict(zip(a.names, a.weights, strict=True)) for a in (before, after))
    assert min(was[key] for key in SPORT) < 0.1  # it knew one of the three
    assert min(now[key] for key in SPORT) > 0.1  # 0.16 or more for 20 seeds
    assert sum(now[key] for key in SPORT) > 0.8
    assert report.kept
    assert report.training_after.log_probability > report.training_before.log_probability
    assert report.training_after.hit_at_1 > report.training_before.hit_at_1
    assert not d.aliases
    assert found(d, UNSEEN) == UNSEEN  # queries never seen, and slips
    assert [d[key] for key in SPECIFICATIONS] == list(range(len(SPECIFICATIONS)))


@pytest.mark.parametrize(
    ("scorer", "function"), [(None, False), ("cosine", False), ("cosine", True)]
)
def test_two_spaces_are_tied_whatever_turn_lies_between(scorer: Any, function: bool) -> None:
    keys, queries, of, table = turned(170, 170, 8)
    embedding: Any = (lambda texts: [table[text] for text in texts]) if function else table
    d = FuzzyDict(dict.fromkeys(keys, 1), embedding=embedding, scorer=scorer)

    def share_right() -> float:
        best = [best.key for (best,) in d.most_similar(queries[120:], 1)]
        return float(np.mean([key == keys[i] for key, i in zip(best, of[120:], strict=True)]))

    assert (before := share_right()) < 0.1
    assert d.fit(queries[:120], keys[:120], epochs=15).kept
    assert share_right() > before + 0.1


def test_less_than_all_can_be_learned() -> None:
    d = car()
    assert d.fit(SYNONYMS, validation=0, rank=4, learn=["query"]).kept
    assert (d.projections.query.left.shape[1], d.projections.key) == (4, None)


def test_the_same_seed_learns_the_same_of_a_mapping_and_of_two_lists() -> None:
    mapped, listed, other = car(), car(), car()
    shown = SYNONYMS | {"speedy": SPORT, "zebra": None}
    lists = list(shown), list(shown.values())
    assert mapped.fit(shown, validation=0) == listed.fit(*lists, validation=0)
    assert options(mapped) == options(listed)
    other.fit(shown, validation=0, seed=3)
    assert options(other) != options(listed)


# ---- values ----------------------------------------------------------------------------------


@pytest.mark.parametrize("learn", [None, ["query", "key", "value"]])
@pytest.mark.parametrize("scorer", [None, "scaled_dot"])
def test_values_are_pooled_as_they_were_told(scorer: Any, learn: Any) -> None:
    keys, queries, of, table = turned(20, 300, 16)
    values = np.random.default_rng(0).uniform(0, 10, (20, 2))
    d = FuzzyDict(dict(zip(keys, values, strict=True)), embedding=table, scorer=scorer)
    wanted = values @ np.array([[0.0, 2.0], [1.0, 0.0]]) if learn else values
    assert d.fit(queries[:200], wanted[of[:200]], learn=learn).kept
    assert d.scorer == scorer or d.scorer == "cosine"
    missed = d.pool(queries[200:]) - wanted[of[200:]]
    assert np.sqrt((missed**2).mean()) < 0.7 * wanted.std()  # untrained 0.95 to 1.4
    if learn:
        attention = d.attend(queries[0])
        projected = attention.weights @ values @ d.projections.value
        np.testing.assert_allclose(attention.output, projected, rtol=1e-4)
        np.testing.assert_allclose(attention.output, d.pool(queries[0]))


# ---- again, and elsewhere --------------------------------------------------------------------


def test_a_fit_starts_afresh_or_goes_on(taught: tuple[FuzzyDict[int], Any]) -> None:
    fresh, d, on = car(), taught[0].copy(), taught[0].copy()
    for one in (fresh, d):
        one.fit(["paint"], ["color"], validation=0, remember=False)
    assert d.projections == fresh.projections  # not on top of the first
    on.fit(["paint"], ["color"], validation=0, remember=False, warm_start=True)
    before, after = (x.most_similar("maker")[0] for x in (d, on))
    assert (after.key, on.nearest("paint").key) == ("brand", "color")
    assert before.score < after.score  # as before the first fit, or as after it


@pytest.mark.parametrize("way", WAYS)
def test_what_was_learned_and_remembered_goes_where_the_dict_goes(way: str, tmp_path: Path) -> None:
    d = car()
    d.fit(EXAMPLES, validation=0)
    other = sent(d, way, tmp_path)
    assert (other.projections, other.aliases) == (d.projections, d.aliases)
    for now, then in zip(other.nearest(list(UNSEEN)), d.nearest(list(UNSEEN)), strict=True):
        assert (now.key, now.score) == (then.key, pytest.approx(then.score, abs=1e-5))
    other.fit({"maker": "model"})
    assert (other.nearest("maker").key, d.nearest("maker").key) == ("model", "brand")


def numbers(d: FuzzyDict[Any]) -> Any:
    """Fit a dict to pool numbers, which sets its scorer and temperature."""
    return d.fit({"paint": 3.0, "cost": 7.0}, validation=0, epochs=3)


def test_keys_after_numbers_are_judged_by_the_default_score() -> None:
    few = FuzzyDict({"nut": 13, "screw": 1, "washer": 5})
    assert (few.fit({"nuts": 3}).kept, few["nuts"]) == (False, 13)  # none is held out
    twice, once = car(), car()
    assert numbers(twice).kept
    learned = twice.scorer, twice.temperature
    assert (learned[0], learned[1] is None) == ("cosine", False)
    twice = pickle.loads(pickle.dumps(twice.copy()))  # which knows what was before the fit
    assert (twice.scorer, twice.temperature) == learned
    reports = [d.fit(SYNONYMS, validation=0) for d in (twice, once)]
    assert options(twice) == options(once)
    assert (twice.scorer, twice.temperature) == (None, None)
    assert reports[0] == reports[1]


def test_what_was_set_since_the_last_fit_or_while_it_learns_stays() -> None:
    d = car()
    numbers(d)
    d.temperature = 0.3

    def meanwhile(done: int, total: int) -> None:
        if done == total:
            d.score_cutoff = 0.3

    assert d.fit(SYNONYMS, validation=0, progress=meanwhile).kept
    assert (d.temperature, d.score_cutoff) == (0.3, 0.3)


# ---- what goes wrong -------------------------------------------------------------------------


def test_no_thread_reads_amid_what_is_set() -> None:
    read: list[tuple[Any, ...]] = []

    def read_options() -> None:
        d.get("zebra")
        read.append(options(d))

    class Watched(FuzzyDict[int]):
        """Lets another thread read after each option that is set."""

        def __setattr__(self, name: str, value: Any) -> None:
            super().__setattr__(name, value)
            if not waiting:
                thread = Thread(target=read_options)
                thread.start()
                thread.join(0.2)
                threads.append(thread)

    waiting, threads = [True], list[Thread]()
    d = Watched(car())
    before = options(d)
    waiting.clear()
    assert numbers(d).kept
    for thread in threads:
        thread.join()
    assert len(read) >= 2
    assert set(map(repr, read)) == {repr(options(d))} != {repr(before)}


@pytest.mark.parametrize(
    "scorer", [Bilinear(np.eye(8)), "gaussian", "spelling", lambda q, k: q @ k.T]
)
@pytest.mark.parametrize("target", ["color", 1.0])
def test_a_scorer_for_which_nothing_is_learned_is_told(scorer: Any, target: Any) -> None:
    d = car(scorer=scorer)
    with pytest.raises(OptionError, match=r"fit learns Q and K for None .*'dot', got .* d\.scorer"):
        d.fit(["paint"], [target], remember=False)
    assert (d.scorer, d.projections) == (scorer, None)


@pytest.mark.parametrize(
    ("queries", "targets", "options", "error", "message"),
    [
        (["hue"], ["colour"], {}, OptionError, "'colour', for the query 'hue', is not a key"),
        (["hue"], ["?!"], {}, OptionError, "has no letters or digits"),
        (["hue", "cost"], ["color"], {}, ShapeError, "2 queries and 1 targets"),
        ([], [], {}, OptionError, "there are no examples"),
        (["hue"], [None], {"remember": False}, OptionError, "got None for all"),
        (["hue"], [[]], {}, OptionError, "is empty"),
        ("hue", ["color"], {}, ArgumentTypeError, "expected a list"),
        ([3], ["color"], {}, ArgumentTypeError, "expected texts, got int 3"),
        (["..."], ["color"], {}, OptionError, "no letters or digits"),
        (["hue", "cost"], ["color", 3.0], {}, ArgumentTypeError, "expected keys"),
        (["hue"], [["color", 3]], {}, ArgumentTypeError, "one or the other"),
        (["hue", "cost"], [[1.0], [1.0, 2.0]], {}, ShapeError, "targets is ragged"),
        (["hue"], [[1.0, 2.0]], {}, ShapeError, "of what is pooled"),
        (["hue", "cost"], [1.0, {2}], {}, ArgumentTypeError, "target of 'cost' must be an array"),
        (["hue"], [1.0], {"seed": None}, ArgumentTypeError, "seed must be a whole number"),
        (["hue", "hue"], ["color", None], {}, OptionError, "keep one"),
        (["color", "hue"], [None, "color"], {}, OptionError, "is a key"),
        (["Hue", "hue"], ["color", "price"], {}, OptionError, "to find 'color', but 'hue'"),
        (["go", "GO"], [SPORT, "year"], {}, OptionError, "or 'horse power', but 'GO'"),
        (["paint"], None, {}, ArgumentTypeError, "targets: missing.*mapping"),
        ({"paint": "color"}, ["color"], {}, ArgumentTypeError, "leave targets out"),
        (["hue"], ["color"], {"rank": 10_000}, OptionError, "rank must be .* from 1 to 2"),
        (["hue"], ["color"], {"learn": ["value"]}, OptionError, "needs numbers"),
        (["hue"], ["color"], {"learn": "all"}, OptionError, "learn: expected"),
    ],
)
def test_bad_examples_are_named_and_change_nothing(
    queries: Any, targets: Any, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    d = car()
    d["?!"] = -1
    with pytest.raises(error, match=message):
        d.fit(queries, targets, **options)
    assert (d.projections, d.scorer, d.temperature, len(d.aliases)) == (None, None, None, 0)
    with pytest.raises(PoolingError, match="'color'"):
        FuzzyDict({"color": "black", "price": 3}).fit(["hue"], [3.0])
    with pytest.raises(OptionError, match="no key"):
        FuzzyDict({3: 4}).fit(["hue"], ["color"])


def test_an_interruption_leaves_the_dict_as_it_was() -> None:
    d = car()
    seen = []

    def interrupt(done: int, total: int) -> None:
        seen.append((done, total))
        if done > total / 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        d.fit(EXAMPLES, epochs=3, validation=0.2, progress=interrupt)
    assert (d.projections, len(d.aliases)) == (None, 0)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert {total for _, total in seen} == {6000}  # five parts in turn, and all
