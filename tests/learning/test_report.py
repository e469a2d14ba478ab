"""The report of a fit: as text, in notebooks, as a picture."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from fuzzydict.learning.acceptance import Change, Measures
from fuzzydict.learning.projections import Epoch
from fuzzydict.learning.report import FitReport

NAN = float("nan")
OF_KEYS = FitReport(
    kept=True,
    reason="it is better",
    examples=12,
    validated=12,
    training_before=Measures(0.5, 0.6, -1.5, NAN),
    training_after=Measures(1.0, 1.0, -0.1, NAN),
    held_out_before=Measures(0.5, 0.6, -1.5, NAN),
    held_out_after=Measures(0.75, 0.8, -1.0, NAN),
    history=(Epoch(2.0, 2.5), Epoch(1.0, 1.5), Epoch(0.5, 1.2)),
    better=(Change("<b>hue</b>", "price", "color"),),
    worse=tuple(Change(f"query {i}", "color", "price") for i in range(13)),
    options={"score_cutoff": 0.1234567, "scorer": "cosine"},
)
OF_VALUES = replace(
    OF_KEYS,
    kept=False,
    training_before=Measures(NAN, NAN, NAN, 2.0),
    training_after=Measures(NAN, NAN, NAN, 1.0),
    held_out_before=Measures(NAN, NAN, NAN, NAN),
    held_out_after=Measures(NAN, NAN, NAN, NAN),
    history=(Epoch(2.0, NAN), Epoch(1.0, NAN)),
)


def test_the_text_tells_all() -> None:
    lines = str(OF_KEYS).splitlines()
    assert lines[0] == "kept: it is better"
    assert lines[1] == "12 examples, each held out in turn; 2 passes over the examples"
    assert lines[2] == "set: score_cutoff=0.1235, scorer='cosine'"
    assert re.fullmatch(r"  hit@1, held out +0\.500 +0\.750", lines[4])
    assert "  '<b>hue</b>': price -> color" in lines
    assert lines[-1] == "  and 3 more"
    assert OF_KEYS.score_cutoff == 0.1234567


def test_what_does_not_apply_is_left_out() -> None:
    text = str(OF_VALUES)
    assert text.startswith("not kept: ")
    assert "would have set: " in text
    assert "hit@1" not in text
    assert ", held out " not in text
    assert re.search(r"root mean squared error, training +2 +1\n", text)


def test_in_notebooks_it_is_whole_and_escaped_and_of_no_colour_of_its_own() -> None:
    page = OF_KEYS._repr_html_()
    opened: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
            opened.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert opened.pop() == tag

    Reader().feed(page)
    assert opened == []
    assert "&lt;b&gt;hue&lt;/b&gt;" in page
    assert "color:" not in page
    assert "http" not in page


def test_the_curve_is_drawn_with_its_units() -> None:
    pytest.importorskip("matplotlib", reason="matplotlib, of the extra plot, is not installed")
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot

    for report, lines, unit in ((OF_KEYS, 2, "nats"), (OF_VALUES, 1, "squared error")):
        axes = report.plot()
        assert len(axes.lines) == lines
        assert axes.lines[0].get_ydata()[-1] == report.history[-1].training
        assert unit in axes.get_ylabel()
        assert "passes" in axes.get_xlabel()
        pyplot.close(axes.figure)
