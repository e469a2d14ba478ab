"""What a fit keeps, which examples it holds out, and its report: as text, as HTML, as a picture."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from xml.etree.ElementTree import fromstring

import numpy as np
import pytest

from fuzzydict import FuzzyDict, OptionError
from fuzzydict.learning.fit import ENOUGH
from fuzzydict.learning.report import Answers, Change, FitReport, Measures
from fuzzydict.learning.train import Epoch
from tests.support.fits import EXAMPLES, car, turned

RIGHT, WRONG = (1, -0.1, 0, 0.9, 0.0), (2, -2.0, 1, 0.9, 0.0)


def answers(*rows: tuple[int, float, int, float, float]) -> Answers:
    """Return answers: rank, log-probability, best key, score, score without the right keys."""
    rank, log, best, score, otherwise = (np.array(column) for column in zip(*rows, strict=True))
    return Answers(rank, log, best, score, np.zeros_like(best), otherwise)


REFUSED, FALSE = (2, -2.0, 1, 0.4, 0.0), (2, -1.0, 1, 0.6, 0.0)
UNSURE, FOUND, SURE = (1, -1.5, 0, 0.3, 0.2), (1, -0.4, 0, 0.7, 0.2), (1, -0.1, 0, 0.7, 0.2)
LESS_SURE = (1, -0.6, 0, 0.9, 0.0)
#: Found, and without the right key another one would be.
LED_ASTRAY = (1, -0.1, 0, 0.7, 0.6)
WON, LOST, SAME, SURER = (WRONG, RIGHT), (RIGHT, WRONG), (RIGHT, RIGHT), (LESS_SURE, RIGHT)


@pytest.mark.parametrize(
    ("changes", "held_out", "kept", "why"),
    [
        (3 * [WON], True, True, "answered better"),
        (2 * [WON], True, False, "no better than chance explains"),
        (2 * [WON], False, True, "the examples themselves are answered better"),
        (5 * [WON] + [LOST], True, False, "no better than chance explains"),
        (8 * [WON] + [LOST], True, True, "answered better"),
        ([LOST] + 20 * [SURER], True, False, "fewer of held-out examples have a right key first"),
        (2 * [SAME], False, False, "the examples themselves are answered no better"),
        ([WON] + 3 * [LOST], True, False, "answered no better"),
        # At the cutoff, more wrong answers than right ones are too many.
        (3 * [(REFUSED, FALSE)] + 2 * [(REFUSED, FOUND)], True, False, "but 3 more wrong"),
        (4 * [(UNSURE, FOUND)] + 5 * [(UNSURE, LED_ASTRAY)], True, True, "answered better"),
        (4 * [(UNSURE, SURE)] + 5 * [(FOUND, LED_ASTRAY)], True, False, "but 5 more wrong"),
    ],
)
def test_a_gain_must_beat_chance(changes: list[Any], held_out: bool, kept: bool, why: str) -> None:
    before, after = (answers(*rows) for rows in zip(*changes, strict=True))
    verdict = after.verdict(before, 0.5, held_out=held_out)
    assert verdict[0] == kept
    assert why in verdict[1]


@pytest.mark.parametrize("scorer", [None, "spelling"])
def test_the_report_tells_of_the_dict_as_it_was_and_as_it_comes_out(scorer: Any) -> None:
    examples = {"xqzzy thing": "xqzzy", "expense": "price", "hue": "colour", "vlorp": "brand"}
    d: Any = FuzzyDict.fromkeys(["colour", "price", "brand", "xqzzy"])
    d.scorer = scorer

    def log_probability() -> float:
        scores = [
            {match.key: match.score for match in d.most_similar(query)}[key]
            for query, key in examples.items()
        ]
        return float(np.maximum(np.log(scores), -20).mean())

    before = log_probability()
    report = d.fit(examples, validation=0)
    d.aliases.clear()  # all measures are without them
    assert report.training_before.log_probability == pytest.approx(before, rel=1e-3)
    assert report.training_after.log_probability == pytest.approx(log_probability(), rel=1e-3)
    assert report.kept == (scorer is None)


def test_held_out_examples_are_judged_without_what_is_remembered() -> None:
    """Otherwise all of them would be right before anything is learned."""
    keys, queries, of_key, table = turned(20, 100, 8)
    examples = {query: keys[i] for query, i in zip(queries, of_key, strict=True)}
    fresh, taught = (FuzzyDict(dict.fromkeys(keys, 1), embedding=table) for _ in range(2))
    taught.fit(examples, epochs=1)
    reports = [d.fit(examples, epochs=2) for d in (fresh, taught)]
    assert reports[0] == reports[1]
    assert reports[0].held_out_before.hit_at_1 < 0.5


def test_of_a_few_examples_nothing_is_learned_unless_it_is_asked() -> None:
    d = car()
    report = d.fit(EXAMPLES)
    assert (report.kept, report.history, d.projections) == (False, (), None)
    assert f"nothing learned: there are fewer than {ENOUGH} examples" in str(report)
    assert car().fit(EXAMPLES, validation=0).kept


@pytest.mark.parametrize(("count", "held_out"), [(100, 100), (500, 100)])
def test_many_are_held_out_in_turn_and_of_very_many_a_part(count: int, held_out: int) -> None:
    keys, queries, of_key, table = turned(20, count, 8)
    d = FuzzyDict(dict.fromkeys(keys, 1), embedding=table, scorer="cosine")
    report = d.fit(queries, [keys[i] for i in of_key], epochs=5, remember=False)
    assert (report.kept, report.validated) == (True, held_out)
    assert report.held_out_after.hit_at_1 > report.held_out_before.hit_at_1
    # All of some hundred are learned from: none are left out to stop early.
    assert all(np.isnan(epoch.held_out) == (count < 500) for epoch in report.history)


NAN = float("nan")
OF_KEYS = FitReport(
    kept=True,
    reason="it is better",
    examples=12,
    validated=12,
    remembered=11,
    refused=2,
    training_before=Measures(0.5, 0.6, -1.5, NAN, 0.4, 0.2),
    training_after=Measures(1.0, 1.0, -0.1, NAN, 0.9, 0.1),
    held_out_before=Measures(0.5, 0.6, -1.5, NAN, 0.4, 0.2),
    held_out_after=Measures(0.75, 0.8, -1.0, NAN, 0.6, 0.1),
    history=(Epoch(2.0, 2.5), Epoch(1.0, 1.5), Epoch(0.5, 1.2)),
    better=(Change("<b>hue</b>", "price", "color"),),
    worse=tuple(Change(f"query {i}", "color", "price") for i in range(13)),
    options={"projections": None, "scorer": "cosine"},
)
OF_VALUES = replace(
    OF_KEYS,
    kept=False,
    validated=0,
    remembered=0,
    training_before=Measures(NAN, NAN, NAN, 2.0),
    training_after=Measures(NAN, NAN, NAN, 1.0),
    held_out_before=Measures(NAN, NAN, NAN, NAN),
    held_out_after=Measures(NAN, NAN, NAN, NAN),
    history=(Epoch(2.0, NAN), Epoch(1.0, NAN)),
)


def test_the_text_tells_what_is_better_what_is_worse_and_what_to_do() -> None:
    assert str(OF_KEYS).splitlines() == [
        "remembered: 11 texts, answered as shown from now on; 2 of them are refused, "
        "for no key is right",
        "learned: Q and K, to pool by the cosine, since it is better",
        "note: by the cosine, reads of one key refuse nothing; set score_cutoff",
        "held out, 12 of 12 examples: answered right 40 % -> 60 %, answered wrong 20 % -> 10 %, "
        "a right key first 50 % -> 75 %, log-probability -1.50 -> -1.00",
        "better: '<b>hue</b>' price -> color",
        "worse: 'query 0' color -> price; 'query 1' color -> price; 'query 2' color -> price; "
        "and 10 more",
        "to do: give more examples like those that got worse",
    ]
    assert repr(OF_KEYS) == "<FitReport: kept, 12 examples, 11 remembered>"


def test_the_text_of_values_leaves_out_what_does_not_apply_and_the_page_is_escaped() -> None:
    text = str(OF_VALUES)
    assert text.startswith("not kept: Q and K, to pool by the cosine, learned but refused, since ")
    assert not any(one in text for one in ("first", "held out"))
    assert "examples, 12 of 12 examples: root mean squared error 2 -> 1\n" in text
    page = OF_KEYS._repr_html_()
    fromstring(f"<div>{page}</div>")  # raises unless every tag is closed
    assert "&lt;b&gt;hue&lt;/b&gt;" in page


def test_the_curve_is_drawn_with_its_units() -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot", reason="pictures need matplotlib")
    pyplot.switch_backend("agg")
    for report, lines, unit in ((OF_KEYS, 2, "nats"), (OF_VALUES, 1, "squared error")):
        axes = report.plot()
        assert len(axes.lines) == lines
        assert unit in axes.get_ylabel()
    pyplot.close("all")
    with pytest.raises(OptionError, match="nothing was learned: it is better"):
        replace(OF_KEYS, history=()).plot()
