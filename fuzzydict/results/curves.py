"""Pictures of what was learned: regressions beside their weights; matplotlib (extra ``plot``)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzydict.errors import EmptyRowWarning, ShapeError
from fuzzydict.results.plotting import BLUE, GREY, ORANGE, load_pyplot, panels

if TYPE_CHECKING:
    from fuzzydict._arrays import Array
    from fuzzydict.nn.kernel_regression import KernelRegression

__all__ = ["plot_curves", "plot_regression"]

_COLUMNS = 4  # models side by side
_POINTS = 200  # of a curve


def plot_regression(
    models: Mapping[str, KernelRegression], truth: Callable[[Array], Array] | None = None
) -> Any:
    """Draw what each model predicts, and under it the weights, a row of them for a prediction.

    A curve has a gap where no example is within reach of the kernel.

    Args:
        models: regressions that were fitted to examples of one feature, by their titles.
        truth: the function that the examples are noisy values of, if it is known.

    Returns:
        The matplotlib ``Axes``, an array of two rows for each four models.

    Raises:
        MissingExtraError: matplotlib is not installed.
        NotFittedError: a model has seen no examples yet.
        ShapeError: there is no model, or one of several features.
    """
    if not models:
        raise ShapeError("models must have one model or more, by title; got none")
    columns = min(len(models), _COLUMNS)
    grid = panels(2 * -(-len(models) // columns), columns)
    for axes in grid[-2:, (len(models) - 1) % columns + 1 :].flat:
        axes.set_visible(False)
    for i, (title, model) in enumerate(models.items()):
        row, column = 2 * (i // columns), i % columns
        _draw(model, truth, *grid[row : row + 2, column])
        grid[row, column].set_title(title)
    grid[0, 0].legend(frameon=False, fontsize=8)
    return grid


def _draw(
    model: KernelRegression, truth: Callable[[Array], Array] | None, above: Any, below: Any
) -> None:
    """Draw the curve of one model above, and its weights below."""
    examples = getattr(model, "X_", np.zeros((1, 1)))[:, 0]
    x = np.linspace(examples.min(), examples.max(), _POINTS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyRowWarning)
        weights, predicted = model.attention(x[:, None]), model.predict(x[:, None])
    predicted[weights.sum(-1) == 0] = np.nan
    above.plot(examples, model.y_, "o", markersize=3, color=GREY, label="examples")
    if truth is not None:
        above.plot(x, truth(x), "--", color=ORANGE, label="truth")
    above.plot(x, predicted, color=BLUE, linewidth=2, label="prediction")
    above.set(xlabel="x", ylabel="y")
    by_x = weights[:, np.argsort(examples, kind="stable")]
    extent = (0.5, len(examples) + 0.5, x[0], x[-1])
    image = below.imshow(
        100 * by_x, cmap="Blues", vmin=0, aspect="auto", origin="lower", extent=extent
    )
    below.set(xlabel="example, in the order of x", ylabel="x asked")
    below.figure.colorbar(image, label="weight (%)")


def plot_curves(
    curves: Mapping[str, Sequence[float]], *, title: str, x_label: str, y_label: str
) -> Any:
    """Draw one or two curves by their names, each from its place 0 on.

    Returns:
        The matplotlib ``Axes``.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    axes = load_pyplot().figure(figsize=(6.4, 4), layout="constrained").add_subplot()
    # Told apart by their lines as well, in print and by the colour-blind.
    looks = (("o-", BLUE), ("s--", ORANGE))
    for (name, curve), (style, color) in zip(curves.items(), looks, strict=False):
        axes.plot(range(len(curve)), curve, style, color=color, label=name)
    axes.set(title=title, xlabel=x_label, ylabel=y_label)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_ylim(bottom=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    return axes
