"""What attention looks like: ranked, as text, in a notebook, as a picture."""

from __future__ import annotations

import sys
from html.parser import HTMLParser

import numpy as np
import pytest

from fuzzydict import Attention, FuzzyDict, MissingExtraError

MARKUP = "<script>alert('x')</script>"


def attention(**values: float) -> Attention:
    d = FuzzyDict({name.replace("_", " "): value for name, value in values.items()})
    found: Attention = d.attend("top speed")
    return found


CAR = {"top_speed": 260.0, "speed": 1.0, "color": 2.0}


def test_top_is_the_best_keys_with_weights_and_values() -> None:
    a = attention(**CAR)
    top = a.top(2)
    assert [(key, value) for key, _, value in top] == [("top speed", 260.0), ("speed", 1.0)]
    assert [weight for _, weight, _ in top] == sorted(a.weights.tolist(), reverse=True)[:2]
    assert len(a.top()) == 3


def test_the_text_is_a_bar_chart() -> None:
    lines = str(attention(**CAR)).splitlines()
    assert lines[0] == "attention of 'top speed'"
    assert lines[1].split()[:2] == ["top", "speed"]
    assert lines[1].endswith("260.0")
    assert lines[1].count("█") > lines[2].count("█")


def test_the_chart_says_what_it_leaves_out() -> None:
    d = FuzzyDict({f"key {i}": i for i in range(25)})
    text = str(d.attend("key"))
    assert len(text.splitlines()) == 12
    assert "15 more keys" in text


def test_long_and_unprintable_keys_keep_the_chart_in_shape() -> None:
    d = FuzzyDict({"a" * 500: "x" * 500, "b\nc": "d\te", "e": None})
    lines = str(d.attend("a")).splitlines()
    assert len(lines) == 4
    assert max(map(len, lines)) < 120


def test_the_html_is_whole_and_escaped() -> None:
    d = FuzzyDict({MARKUP: MARKUP, "color": "black"})
    page = d.attend(MARKUP)._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    parser = Balanced()
    parser.feed(page)
    assert parser.open == []


class Balanced(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_picture_has_a_bar_for_each_key() -> None:
    matplotlib = pytest.importorskip("matplotlib", reason="pictures need the extra 'plot'")
    matplotlib.use("agg")
    axes = attention(**CAR).plot()
    widths = [bar.get_width() for bar in axes.patches]
    np.testing.assert_allclose(sum(widths), 100, rtol=1e-5)
    assert [label.get_text() for label in axes.get_yticklabels()][-1] == "top speed"
    assert axes.get_xlabel()
    assert axes.get_title()
    d = FuzzyDict({"US$ and $x^2$": 1.0, "e": 2.0})
    d.attend("dollar").plot().figure.canvas.draw()
    matplotlib.pyplot.close("all")


def test_a_picture_without_matplotlib_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"fuzzydict\[plot\]"):
        attention(**CAR).plot()
