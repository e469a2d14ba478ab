"""`FuzzyDict.fit` again, and as it is called: afresh each time, all at once, and with a mapping."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

from fuzzydict import ArgumentTypeError, FuzzyDict

from .test_fits import SPECIFICATIONS, car

SYNONYMS = {"paint": "color", "cost": "price", "maker": "brand"}
STRANGERS = {"weather": None, "zebra": None, "quarterly revenue": None}
LETTERS = "abcdefghij"


def options(d: FuzzyDict[Any]) -> tuple[Any, ...]:
    return d.projections, d.scorer, d.temperature, d.score_cutoff


# ---- afresh ----------------------------------------------------------------------------------


def test_a_cutoff_that_was_learned_does_not_stay() -> None:
    twice, once = car(), car()
    assert twice.fit(SYNONYMS | STRANGERS, validation=0).score_cutoff is not None
    assert twice.score_cutoff is not None
    for d in (twice, once):
        assert d.fit(SYNONYMS, validation=0).kept
    assert options(twice) == options(once)
    assert twice.score_cutoff is None
    assert twice.most_similar("paint") == once.most_similar("paint")


def test_keys_after_numbers_are_judged_by_the_default_score() -> None:
    twice, once = car(), car()
    assert twice.fit({"paint": 3.0, "cost": 7.0}, validation=0).kept
    assert twice.scorer == "cosine"
    reports = [d.fit(SYNONYMS, validation=0) for d in (twice, once)]
    assert options(twice) == options(once)
    assert twice.scorer is None
    assert reports[0] == reports[1]


def test_what_was_set_since_the_last_fit_stays() -> None:
    d = car()
    d.fit(SYNONYMS | STRANGERS, validation=0)
    d.score_cutoff = 0.3
    d.fit(SYNONYMS, validation=0)
    assert d.score_cutoff == 0.3


def test_what_is_set_while_it_learns_stays() -> None:
    d = car()

    def meanwhile(done: int, total: int) -> None:
        if done == total:
            d.score_cutoff = 0.3

    assert d.fit(SYNONYMS, validation=0, progress=meanwhile).kept
    assert d.score_cutoff == 0.3


def test_what_is_not_kept_changes_nothing_of_what_was(monkeypatch: Any) -> None:
    d = car()
    d.fit(SYNONYMS | STRANGERS, validation=0)
    before = options(d)
    monkeypatch.setattr(
        "fuzzydict.learning.acceptance.verdict_on_keys", lambda *_, **__: (False, "no")
    )
    assert not d.fit(SYNONYMS, validation=0).kept
    assert options(d) == before


@pytest.mark.parametrize("way", ["pickle", "copy", "deepcopy", "or"])
def test_copies_remember_what_was_fitted(way: str) -> None:
    d = car()
    d.fit(SYNONYMS | STRANGERS, validation=0)
    ways: dict[str, Any] = {
        "pickle": lambda: pickle.loads(pickle.dumps(d)),
        "copy": d.copy,
        "deepcopy": lambda: copy.deepcopy(d),
        "or": lambda: d | {},
    }
    other = ways[way]()
    assert other.score_cutoff == d.score_cutoff is not None
    other.fit(SYNONYMS, validation=0)
    assert other.score_cutoff is None


def test_a_file_remembers_no_fit_and_projections_start_afresh(tmp_path: Path) -> None:
    d = car()
    d.fit(SYNONYMS | STRANGERS, validation=0)
    d.save(tmp_path / "car")
    back: FuzzyDict[int] = FuzzyDict.load(tmp_path / "car")
    back.fit({"paint": "color"}, validation=0)
    assert back.score_cutoff == d.score_cutoff
    once = car()
    once.fit({"paint": "color"}, validation=0)
    assert np.allclose(back.projections.query, once.projections.query)


def test_words_that_were_learned_are_known_where_a_fit_goes_on() -> None:
    d = FuzzyDict(dict.fromkeys(["color", "brand", "price"], 1))
    d.fit({"hue": "color"}, validation=0)
    report = d.fit({"vlorp": "brand"}, validation=0, warm_start=True)
    assert report.kept
    assert d.projections.words == {"hue", "vlorp"}
    weights = d.attend("vlorp").weights
    assert np.log(weights[1]) == pytest.approx(report.training_after.log_probability, rel=1e-3)


# ---- at once ---------------------------------------------------------------------------------


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
    d = Watched(dict.fromkeys(SPECIFICATIONS, 1))
    before = options(d)
    waiting.clear()
    assert d.fit(SYNONYMS | STRANGERS, validation=0).kept
    for thread in threads:
        thread.join()
    assert len(read) >= 2
    assert set(map(repr, read)) == {repr(options(d))} != {repr(before)}


# ---- a mapping -------------------------------------------------------------------------------


def test_a_mapping_of_queries_to_targets_is_as_good_as_two_lists() -> None:
    mapped, listed = car(), car()
    examples = {"paint": ["color", "model"], "cost": "price", "zebra": None}
    assert mapped.fit(examples, validation=0) == listed.fit(
        list(examples), list(examples.values()), validation=0
    )
    assert options(mapped) == options(listed)
    values, listed = car(), car()
    values.fit({"paint": 3.0, "cost": 7.0}, validation=0)
    listed.fit(["paint", "cost"], [3.0, 7.0], validation=0)
    assert options(values) == options(listed)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["paint"],), "targets: missing.*mapping"),
        (("paint",), "queries: expected a list"),
        (({"paint": "color"}, ["color"]), "leave targets out"),
        (({3: "color"},), "expected texts, got int 3"),
        ((None,), "queries: expected a list"),
    ],
)
def test_targets_are_left_out_of_a_mapping_alone(arguments: Any, message: str) -> None:
    with pytest.raises(ArgumentTypeError, match=message):
        car().fit(*arguments)
