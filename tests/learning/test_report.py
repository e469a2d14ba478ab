"""The report of a fit: as text, in notebooks, as a picture."""

from __future__ import annotations

from dataclasses import replace
from xml.etree.ElementTree import fromstring

import numpy as np
import pytest

from fuzzydict import OptionError
from fuzzydict.learning.report import Change, FitReport, Measures
from fuzzydict.learning.train import Epoch

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


FEW = replace(
    OF_KEYS,
    kept=False,
    reason="they are few",
    validated=0,
    history=(),
    better=(),
    worse=(),
    options={},
)


def test_the_text_tells_what_is_better_what_is_worse_and_what_to_do() -> None:
    assert str(OF_KEYS).splitlines() == [
        "remembered: 11 texts, answered as shown from now on; 2 of them are refused, "
        "for no key is right",
        "learned: Q and K, to pool by the cosine, since it is better",
        "held out, 12 of 12 examples: answered right 40 % -> 60 %, answered wrong 20 % -> 10 %, "
        "a right key first 50 % -> 75 %, log-probability -1.50 -> -1.00",
        "better: '<b>hue</b>' price -> color",
        "worse: 'query 0' color -> price; 'query 1' color -> price; 'query 2' color -> price; "
        "and 10 more",
        "to do: give more examples like those that got worse",
    ]
    assert repr(OF_KEYS) == "<FitReport: kept, 12 examples, 11 remembered>"


def test_of_a_few_examples_it_tells_how_they_were_answered_before() -> None:
    assert str(FEW).splitlines() == [
        "remembered: 11 texts, answered as shown from now on; 2 of them are refused, "
        "for no key is right",
        "nothing learned: they are few",
        "without what is remembered: answered right 40 %, answered wrong 20 %, "
        "a right key first 50 %, log-probability -1.50",
    ]
    with pytest.raises(OptionError, match="nothing was learned: they are few"):
        FEW.plot()


def test_what_does_not_apply_is_left_out() -> None:
    text = str(OF_VALUES)
    assert text.startswith("not kept: Q and K, to pool by the cosine, learned but refused, since ")
    assert "first" not in text
    assert "held out" not in text
    assert "examples, 12 of 12 examples: root mean squared error 2 -> 1\n" in text


def test_in_notebooks_it_is_whole_and_escaped() -> None:
    page = OF_KEYS._repr_html_()
    fromstring(f"<div>{page}</div>")  # raises unless every tag is closed
    assert "&lt;b&gt;hue&lt;/b&gt;" in page


def test_the_curve_is_drawn_smooth_with_its_units() -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot", reason="pictures need matplotlib")
    pyplot.switch_backend("agg")
    noise = np.random.default_rng(0).normal(0, 0.03, 100)
    losses = np.exp(-np.arange(100) / 30) + noise
    noisy = replace(OF_VALUES, history=tuple(Epoch(loss, NAN) for loss in losses))
    for report, lines, unit in ((OF_KEYS, 2, "nats"), (noisy, 1, "squared error")):
        axes = report.plot()
        assert len(axes.lines) == lines
        assert unit in axes.get_ylabel()
        assert "passes" in axes.get_xlabel()
    drawn = axes.lines[0].get_ydata()
    assert np.abs(np.diff(drawn)).sum() < 0.3 * np.abs(np.diff(losses)).sum()
    assert drawn[-1] == pytest.approx(losses[-10:].mean(), abs=0.03)
    pyplot.close("all")
