"""What `FuzzyDict.fit` remembers: every example is right afterwards, whatever is learned."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import FuzzyDict, NoMatchError, OptionError
from fuzzydict.text.words import plain, same_text
from tests.support.fits import SPORT, car, names, turned
from tests.support.properties import examples

TAUGHT = {"paint": "color", "cost": "price", "weather": None}


def answers(d: FuzzyDict[Any], queries: Any) -> dict[str, Any]:
    """Return the key that each query finds, or None."""
    return {
        query: match and match.key
        for query, match in zip(queries, d.nearest(list(queries), default=None), strict=True)
    }


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
    assert answers(d, shown) == shown


def test_a_review_of_many_queries_is_right_for_all_of_them() -> None:
    random = np.random.default_rng(0)
    decided = {query: random.choice(["color", "price", "year"]) for query in names(99, "q", 3)}
    decided |= dict.fromkeys(names(101, "n", 4))
    d = car()
    report = d.fit(decided, epochs=2)
    assert (report.remembered, report.validated) == (200, 200)
    assert answers(d, decided) == decided


def test_case_accents_and_separators_are_one_text() -> None:
    d = car()
    d.fit({"Café-Price": "price"})
    assert d["cafe price"] == d["price"]


def test_none_refuses_and_all_may_be_none() -> None:
    d = car()
    report = d.fit(["colour", "prise"], [None, None])
    assert (report.remembered, report.refused, report.kept) == (2, 2, False)
    assert (d.get("colour"), d.get("prise")) == (None, None)
    with pytest.raises(NoMatchError):
        d.nearest("colour")


def test_of_several_right_keys_the_nearest_is_remembered() -> None:
    d = car()
    assert d.fit({"horses": SPORT, "batteries": SPORT}).remembered == 2
    assert d.aliases == {"horses": "horse power", "batteries": "battery"}
    named = car(scorer="cosine")
    named.fit({"horses": SPORT})
    assert named.aliases["horses"] in SPORT


@pytest.mark.parametrize("scorer", ["spelling", "gaussian"])
def test_any_scorer_remembers(scorer: str) -> None:
    d = car(scorer=scorer)
    report = d.fit(TAUGHT | {"horses": SPORT}, validation=0)
    assert (report.remembered, report.kept) == (4, False)
    assert f"for the scorer '{scorer}'" in report.reason or "Gaussian" in report.reason
    assert "validation" not in str(report)  # it would make no difference
    assert answers(d, TAUGHT) == TAUGHT
    assert d.aliases["horses"] in SPORT


def test_examples_of_one_text_are_remembered_as_a_key_of_all_of_them() -> None:
    d = car()
    d.fit(["go", "Go"], [["battery", "year"], ["year", "price"]])
    assert d.aliases == {"go": "year"}


@pytest.mark.parametrize(
    ("queries", "targets", "message"),
    [
        (["go", "Go"], ["year", "price"], "'go' is to find 'year', but 'Go' is to find 'price'"),
        (["go", "GO"], [SPORT, "year"], "'battery' or 'top speed' or 'horse power', but 'GO'"),
        (["go", "Go"], ["year", None], "'Go' is to find None"),
        (["year"], ["price"], "got 'price' for 'year', but it is a key"),
    ],
)
def test_contradictions_are_named_and_nothing_is_remembered(
    queries: list[str], targets: list[Any], message: str
) -> None:
    d = car()
    with pytest.raises(OptionError, match=message):
        d.fit(["paint", *queries], ["color", *targets])
    assert not d.aliases


def test_a_key_finds_itself_and_needs_no_alias() -> None:
    d = car()
    assert d.fit({"year": "year", "price": ["price", "year"], "cost": "price"}).remembered == 1
    assert d.aliases == {"cost": "price"}


def test_a_text_without_letters_finds_nothing_anyway() -> None:
    d = car()
    assert d.fit({"...": None, "cost": "price"}).remembered == 1
    assert d.get("...") is None


def test_fit_again_keeps_what_was_remembered_and_the_new_example_wins() -> None:
    d = car()
    d.fit(TAUGHT)
    d.fit({"Paint": "model", "maker": "brand"})
    assert d.aliases == TAUGHT | {"paint": "model", "maker": "brand"}
    d.fit({"maker": "model"}, warm_start=True, validation=0)
    assert d.aliases == TAUGHT | {"paint": "model", "maker": "model"}


def test_nothing_is_remembered_where_it_is_not_asked_or_values_are_pooled() -> None:
    d = car()
    assert d.fit(TAUGHT, remember=False).remembered == 0
    assert d.fit({"paint": 3.0, "cost": 7.0}, epochs=2).remembered == 0
    assert not d.aliases


@pytest.mark.parametrize("way", ["file", "pickle", "copy", "deepcopy", "or"])
def test_what_is_remembered_goes_where_the_dict_goes(way: str, tmp_path: Path) -> None:
    d = car()
    d.fit(TAUGHT)
    d.save(tmp_path / "car")
    ways: dict[str, Any] = {
        "file": lambda: FuzzyDict.load(tmp_path / "car"),
        "pickle": lambda: pickle.loads(pickle.dumps(d)),
        "copy": d.copy,
        "deepcopy": lambda: copy.deepcopy(d),
        "or": lambda: d | {},
    }
    other = ways[way]()
    other.fit({"maker": "brand"})
    assert answers(other, [*TAUGHT, "maker"]) == TAUGHT | {"maker": "brand"}
    assert d.aliases == TAUGHT


def test_held_out_examples_are_judged_without_what_is_remembered() -> None:
    """Otherwise all of them would be right before anything is learned."""
    keys, queries, of, table = turned(20, 100, 8)
    examples = {query: keys[i] for query, i in zip(queries, of, strict=True)}
    fresh, taught = (FuzzyDict(dict.fromkeys(keys, 1), embedding=table) for _ in range(2))
    taught.fit(examples, epochs=1)
    reports = [d.fit(examples, epochs=2) for d in (fresh, taught)]
    assert reports[0] == reports[1]
    assert reports[0].held_out_before.hit_at_1 < 0.5
