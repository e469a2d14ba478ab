"""The heat map: its names, its shades, and weights that do not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fuzzydict.errors import ShapeError
from fuzzydict.results.plotting import panels, plot_heatmap

pyplot: Any = pytest.importorskip("matplotlib.pyplot", reason="pictures need matplotlib")


def test_each_weight_is_a_square_with_a_name_on_each_side() -> None:
    weights = np.array([[0.2, 0.8, 0.0], [0.5, 0.25, 0.25]])
    axes = plot_heatmap(
        weights, ["x", " "], ["$a$", "b", "c"], title="T", row_label="R", column_label="C"
    )
    np.testing.assert_array_equal(axes.images[0].get_array(), weights)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["x", "␣"]
    assert [label.get_text() for label in axes.get_xticklabels()] == [r"\$a\$", "b", "c"]
    assert (axes.get_title(), axes.get_ylabel(), axes.get_xlabel()) == ("T", "R", "C")
    assert axes.images[0].colorbar.ax.get_ylabel() == "weight"
    axes.figure.canvas.draw()
    pyplot.close(axes.figure)


@pytest.mark.parametrize("shape", [(3, 2), (2,), (2, 3, 1)])
def test_weights_that_do_not_fit_the_names_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ShapeError, match=r"\(L, S\) = \(2, 3\)"):
        plot_heatmap(np.ones(shape), ["a", "b"], ["c", "d", "e"])


def test_a_small_map_has_its_numbers_in_it_and_may_be_drawn_beside_others() -> None:
    left, right = panels(1, 2)[0]
    weights = np.array([[0.2, 0.8, 0.0]])
    assert plot_heatmap(weights, ["x"], ["a", "b", "c"], axes=right) is right
    assert [(text.get_text(), text.get_position()) for text in right.texts] == [
        ("0.20", (0, 0)),
        ("0.80", (1, 0)),
    ]
    assert not left.images
    names = [str(i) for i in range(20)]
    assert not plot_heatmap(np.full((20, 20), 0.05), names, names).texts
    pyplot.close("all")


def test_an_empty_picture_is_refused() -> None:
    with pytest.raises(ShapeError, match="not none"):
        plot_heatmap(np.ones((0, 1)), [], ["a"])
