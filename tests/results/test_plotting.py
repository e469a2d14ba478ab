"""Pictures of attention, heat maps and regressions: what they show, and what they refuse."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from fuzzydict import FuzzyDict, KernelRegression, NotFittedError, OptionError, ShapeError
from fuzzydict.results.plotting import panels, plot_heatmap, plot_regression

pyplot: Any = pytest.importorskip("matplotlib.pyplot", reason="pictures need matplotlib")

VECTORS = {"red": [1.0, 0, 0], "navy": [0, 1.0, 0], "teal": [0, 0.8, 0.3], "rose": [0.9, 0.1, 0.1]}


@pytest.fixture(autouse=True)
def closed() -> Any:
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")


def colors(**options: Any) -> FuzzyDict[int]:
    keys = ("red", "navy", "teal")
    return FuzzyDict(dict.fromkeys(keys, 1), embedding=VECTORS, scorer="cosine", **options)


def points(axes: Any) -> tuple[Any, Any]:
    """Return the places of the keys (S, 2), and of the query (2,)."""
    keys, query = axes.collections[:2]
    return keys.get_offsets().data, query.get_offsets().data[0]


def test_a_picture_has_a_bar_for_each_key() -> None:
    attention = colors().attend("red")
    axes = attention.plot()
    np.testing.assert_allclose(sum(bar.get_width() for bar in axes.patches), 100, rtol=1e-5)
    assert [label.get_text() for label in axes.get_yticklabels()][-1] == "red"
    assert len(attention.plot(2).patches) == 2
    axes = FuzzyDict({"US$ and $x^2$": 1.0, "e": 2.0}).attend("dollar").plot()
    axes.figure.canvas.draw()
    assert "keys in effect; no key is right:" in axes.get_xlabel()


def test_a_map_keeps_the_distances_of_three_keys_and_tells_names_and_variance() -> None:
    attention = colors().attend("rose")
    axes = attention.plot(kind="map")
    places, query = points(axes)
    for i, j in itertools.combinations(range(3), 2):
        far = np.linalg.norm(attention.keys[i] - attention.keys[j])
        assert np.linalg.norm(places[i] - places[j]) == pytest.approx(far, abs=1e-5)
    assert axes.get_aspect() == 1
    assert np.linalg.norm(places - query, axis=1).argmin() == 0
    assert {text.get_text() for text in axes.texts} == {"rose", "red", "navy", "teal"}
    assert len(attention.plot(1, kind="map").texts) <= 2
    for keys in (["red"], ["red", "navy"], ["red", "Red"]):  # few keys, or equal ones
        d = FuzzyDict(dict.fromkeys(keys, 1), embedding=VECTORS, scorer="dot")
        axes = d.attend("red").plot(kind="map")
        axes.figure.canvas.draw()
        assert np.isfinite(points(axes)[0]).all()


def test_each_weight_is_a_square_with_a_name_on_each_side_and_its_number_in_it() -> None:
    weights = np.array([[0.2, 0.8, 0.0], [0.5, 0.25, 0.25]])
    left, right = panels(1, 2)[0]
    titles = {"title": "T", "row_label": "R", "column_label": "C"}
    assert plot_heatmap(weights, ["x", " "], ["$a$", "b", "c"], axes=right, **titles) is right
    np.testing.assert_array_equal(right.images[0].get_array(), weights)
    assert [label.get_text() for label in right.get_yticklabels()] == ["x", "␣"]
    assert [label.get_text() for label in right.get_xticklabels()] == [r"\$a\$", "b", "c"]
    assert (right.get_title(), right.get_ylabel(), right.get_xlabel()) == ("T", "R", "C")
    right.figure.canvas.draw()
    assert [text.get_text() for text in right.texts] == ["0.20", "0.80", "0.50", "0.25", "0.25"]
    assert not left.images


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(OptionError, match="kind must be one of weights, map, got 'pie'"):
        colors().attend("rose").plot(kind="pie")
    with pytest.raises(OptionError, match="scorer='spelling' has none"):
        FuzzyDict({"red": 1}, scorer="spelling").attend("rde").plot(kind="map")
    with pytest.raises(ShapeError, match=r"\(L, S\) = \(2, 3\)"):
        plot_heatmap(np.ones((3, 2)), ["a", "b"], ["c", "d", "e"])
    with pytest.raises(ShapeError, match="not empty"):
        plot_heatmap(np.ones((0, 1)), [], ["a"])
    with pytest.raises(ShapeError, match="one model or more"):
        plot_regression({})
    with pytest.raises(NotFittedError):
        plot_regression({"new": KernelRegression()})
    with pytest.raises(ShapeError, match="2 columns"):
        plot_regression({"two": KernelRegression().fit(np.ones((3, 2)), Y)})


X = np.array([[0.0], [1.0], [4.0]])
Y = np.array([1.0, 2.0, 5.0])


def test_a_regression_stands_above_its_weights_and_each_model_has_a_place() -> None:
    model = KernelRegression("gaussian", 0.7).fit(X[::-1], Y[::-1])
    grid = plot_regression({"wide": model}, truth=lambda x: x + 1)
    assert grid.shape == (2, 1)
    above, below = grid[:, 0]
    examples, truth, predicted = above.get_lines()
    np.testing.assert_array_equal(sorted(examples.get_xdata()), X[:, 0])
    x = predicted.get_xdata()
    np.testing.assert_allclose(predicted.get_ydata(), model.predict(x[:, None]))
    np.testing.assert_allclose(truth.get_ydata(), x + 1)
    weights = below.images[0].get_array()
    np.testing.assert_allclose(weights.sum(axis=1), 100)
    assert (weights[0].argmax(), weights[-1].argmax()) == (0, 2)  # the examples are in order
    axes = plot_regression({"narrow": KernelRegression("boxcar", 1.0).fit(X, Y)})[0, 0]
    x, y = axes.get_lines()[-1].get_data()
    np.testing.assert_array_equal(np.isnan(y), (x > 2) & (x < 3))
    model = KernelRegression().fit(X, Y)
    grid = plot_regression({str(i): model for i in range(7)})
    assert grid.shape == (4, 4)
    drawn = [axes for axes in grid.flat if axes.lines or axes.images]
    assert len(drawn) == 2 * 7
    assert [axes for axes in grid.flat if axes.get_visible()] == drawn
