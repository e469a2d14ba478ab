"""Pictures by matplotlib (extra ``plot``): bars, maps of keys, heat maps, and curves."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fuzzydict._arrays import Array, as_floats
from fuzzydict.errors import EmptyRowWarning, ShapeError, needing
from fuzzydict.nn.kernel_regression import KernelRegression
from fuzzydict.text.words import shortened

# From the palette of Okabe and Ito, which colour-blind people can tell apart, and a grey.
_BLUE, _ORANGE, _GREY = "#0072b2", "#d55e00", "#767676"
# One hue from light to dark, which keeps its order in print and for colour-blind people.
_SHADES: dict[str, Any] = {"cmap": "Blues", "vmin": 0}
_LABEL, _BLANK = 32, "\N{OPEN BOX}"  # characters of a key; what shows a blank one
_NUMBERED = 150  # squares of a heat map with room for their numbers
_COLUMNS, _POINTS = 4, 200  # regressions side by side, and points of the curve of each
_ALWAYS = 2  # names that stand on a map: of the query and of its best key
# Positions of a name relative to its point, in points, in the order in which they are tried.
_PLACES = [
    *((8, 0, "left"), (-8, 0, "right"), (0, 10, "center"), (0, -10, "center")),
    *((6, 8, "left"), (6, -8, "left"), (-6, 8, "right"), (-6, -8, "right")),
]


def plot_weights(text: str, weights: Sequence[tuple[str, float]], note: str) -> Any:
    """Draw the weights of a query as bars, the first at the top; return the matplotlib ``Axes``."""
    axes = load_pyplot().figure(figsize=(6.4, 1.2 + 0.32 * len(weights))).add_subplot()
    rows = weights[::-1]
    bars = axes.barh(range(len(rows)), [100 * weight for _, weight in rows], color=_BLUE)
    axes.set_yticks(range(len(rows)), [_label(key) for key, _ in rows])
    axes.bar_label(bars, fmt="%.1f", padding=3)
    axes.set(title=f"Attention of '{_label(text)}'", xlabel=f"weight (%)\n{note}".rstrip())
    axes.set_xlim(0, 112 * max((weight for _, weight in rows), default=1.0))
    axes.spines[["top", "right"]].set_visible(False)
    axes.figure.tight_layout()
    return axes


def plot_map(attention: Any, n: int, note: str) -> Any:
    """Draw the vectors of the query and keys of an `Attention` as points; return the ``Axes``.

    The plane is that of the first two principal components of the keys. Keys with more weight are
    larger and darker. The ``n`` with the largest weights are named, unless a name would cover
    another. ``note`` is a line below.
    """
    text, names, weights = attention.text, attention.names, attention.weights
    mean, plane, shares = principal_axes(attention.keys)
    points, star = (attention.keys - mean) @ plane.T, (attention.query - mean) @ plane.T
    axes = load_pyplot().figure(figsize=(6.8, 5.2), layout="constrained").add_subplot()
    percent, style = 100 * weights, {"edgecolors": _GREY, "linewidths": 0.6, "zorder": 2}
    dots = axes.scatter(*points.T, c=percent, s=20 + 1.2 * percent, **_SHADES, **style)
    axes.scatter(*star, marker="*", s=200, color=_ORANGE, edgecolors="white", zorder=3)
    axes.figure.colorbar(dots, label="weight (%)")
    axes.set_title(f"'{_label(text)}' among the keys")
    axes.set_xlabel(f"first axis ({shares[0]:.0%} of the keys' variance)\n{note}".rstrip())
    axes.set_ylabel(f"second axis ({shares[1]:.0%} of it)")
    axes.set(xticks=[], yticks=[])  # vectors have no unit
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.12)
    best = np.argsort(-weights, kind="stable")[:n]
    labels = [_label(text), *(_label(names[i]) for i in best)]
    _name_points(axes, np.vstack([star, points[best]]), points, labels)
    return axes


def principal_axes(keys: Array) -> tuple[Array, Array, Array]:
    """Return the mean of keys (S, E), two principal axes (2, E) or zeros, their variances (2,)."""
    mean = keys.mean(0, dtype=np.float64)
    _, lengths, directions = np.linalg.svd(keys - mean, full_matrices=False)
    axes, shares = np.zeros((2, len(mean))), np.zeros(2)
    axes[: len(directions)] = directions[:2]
    shares[: len(lengths)] = lengths[:2] ** 2 / max((lengths**2).sum(), 1e-300)
    return mean, axes, shares


def _name_points(axes: Any, points: Array, dots: Array, names: Sequence[str]) -> None:
    """Write names (n) beside points (n, 2) so that they cover no name, dot (m, 2) or frame.

    Where there is no such place, a name is left out; the first two may cover dots.
    """
    axes.figure.draw_without_rendering()  # the layout fixes the pixels of the points,
    axes.figure.set_layout_engine("none")  # which are to stay there
    frame, centres = axes.get_window_extent(), axes.transData.transform(dots)
    taken = np.hstack([centres - 4, centres + 4])  # boxes (m, 4): left, bottom, right, top
    for number, (point, name) in enumerate(zip(points, names, strict=True)):
        style = {"color": _ORANGE, "weight": "bold"} if number == 0 else {}
        text = axes.annotate(
            name, point, (0, 0), textcoords="offset points", va="center", fontsize=9, **style
        )
        free = None  # a place that covers no name
        for place in _PLACES:
            box = _placed(text, place)
            if (box[:2] >= frame.min).all() and (box[2:] <= frame.max).all():
                covers = np.all((box[:2] < taken[:, 2:]) & (taken[:, :2] < box[2:]), axis=1)
                if not covers.any():
                    break
                if free is None and not covers[len(dots) :].any():
                    free = place
        else:
            if number >= _ALWAYS or free is None:
                text.remove()
                continue
            box = _placed(text, free)
        taken = np.vstack([taken, box])


def _placed(text: Any, place: tuple[int, int, str]) -> Array:
    """Move a name to a place beside its point, and return its box, (4,)."""
    x, y, side = place
    text.set(position=(x, y), ha=side)
    box: Array = text.get_window_extent().extents
    return box


def plot_heatmap(
    weights: ArrayLike,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    title: str = "Attention",
    row_label: str = "query",
    column_label: str = "key",
    label: str = "weight",
    axes: Any = None,
) -> Any:
    """Draw weights (L, S), 0 or more, as a heat map: a row for each query, a column for each key.

    A small map shows them as numbers too. A blank among the names is shown as an open box.
    ``axes`` are those to draw on, by default new ones; they are returned.
    """
    (matrix,) = as_floats(weights=weights)
    if matrix.shape != (len(rows), len(columns)) or not matrix.size:
        shape = f"(L, S) = {(len(rows), len(columns))}, not empty, as there are names"
        raise ShapeError(f"weights must have shape {shape}; got {matrix.shape}")
    names = [[_label(n) if n.strip() else _BLANK for n in side] for side in (rows, columns)]
    tall, wide = (max(map(len, side)) for side in names)  # the longest name of each side
    if axes is None:
        width = max(1.4 + 0.3 * len(columns) + 0.08 * tall, 4.0)
        height = max(1.1 + 0.3 * len(rows) + 0.08 * wide, 2.5)
        axes = load_pyplot().figure(figsize=(width, height), layout="constrained").add_subplot()
    image = axes.imshow(matrix, aspect="equal", **_SHADES)
    axes.set_yticks(range(len(rows)), names[0])
    axes.set_xticks(range(len(columns)), names[1], rotation=90 if wide > 2 else 0)
    axes.tick_params(length=0)
    axes.set(title=title, ylabel=row_label, xlabel=column_label)
    bar = axes.inset_axes((1 + 0.3 / len(columns), 0, 0.7 / len(columns), 1))  # as high as the map
    axes.figure.colorbar(image, cax=bar, label=label)
    if matrix.size <= _NUMBERED:
        for row, column in np.argwhere(matrix >= 0.005):  # the others round to 0.00
            weight = matrix[row, column]
            style = {"color": "white" if weight > 0.6 * matrix.max() else "black", "fontsize": 7}
            axes.text(column, row, f"{weight:.2f}", ha="center", va="center", **style)
    return axes


def plot_regression(
    models: Mapping[str, KernelRegression], truth: Callable[[Array], Array] | None = None
) -> Any:
    """Draw the predictions of each model, and below them the weights, a row for each prediction.

    The ``models`` are fitted to examples of one feature; ``truth`` is the function without noise,
    if it is known. A curve has a gap where no example is inside the kernel. Return the ``Axes``, an
    array of two rows for each four models.
    """
    if not models:
        raise ShapeError("models must have one model or more, by title; got none")
    columns = min(len(models), _COLUMNS)
    grid = panels(2 * -(-len(models) // columns), columns)
    for axes in grid[-2:, (len(models) - 1) % columns + 1 :].flat:
        axes.set_visible(False)
    for i, (title, model) in enumerate(models.items()):
        row, column = 2 * (i // columns), i % columns
        above, below = grid[row : row + 2, column]
        examples = getattr(model, "X_", np.zeros((1, 1)))[:, 0]
        x = np.linspace(examples.min(), examples.max(), _POINTS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EmptyRowWarning)
            weights, predicted = model.attention(x[:, None]), model.predict(x[:, None])
        predicted[weights.sum(-1) == 0] = np.nan
        above.plot(examples, model.y_, "o", markersize=3, color=_GREY, label="examples")
        if truth is not None:
            above.plot(x, truth(x), "--", color=_ORANGE, label="truth")
        above.plot(x, predicted, color=_BLUE, linewidth=2, label="prediction")
        above.set(xlabel="x", ylabel="y", title=title)
        by_x = 100 * weights[:, np.argsort(examples, kind="stable")]
        extent = (0.5, len(examples) + 0.5, x[0], x[-1])
        image = below.imshow(by_x, aspect="auto", origin="lower", extent=extent, **_SHADES)
        below.set(xlabel="example, in the order of x", ylabel="x asked")
        below.figure.colorbar(image, label="weight (%)")
    grid[0, 0].legend(frameon=False, fontsize=8)
    return grid


def plot_losses(losses: Mapping[str, Sequence[float]], unit: str) -> Any:
    """Draw one or two curves of losses over 0, 1, 2, ... passes; return the ``Axes``."""
    axes = load_pyplot().figure(figsize=(6.4, 4), layout="constrained").add_subplot()
    # Different lines as well as colours, for print and for colour-blind people.
    looks = (("o-", _BLUE), ("s--", _ORANGE))
    for (name, curve), (style, color) in zip(losses.items(), looks, strict=False):
        axes.plot(range(len(curve)), curve, style, color=color, label=name)
    axes.set(title="Learning", xlabel="passes over the examples", ylabel=unit)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_ylim(bottom=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    return axes


def panels(rows: int, columns: int, size: tuple[float, float] = (3.0, 2.6)) -> Any:
    """Return the ``Axes`` (rows, columns) of a new figure, each of ``size`` in inches."""
    figure = load_pyplot().figure(figsize=(columns * size[0], rows * size[1]), layout="constrained")
    figure.get_layout_engine().set(wspace=0.06, hspace=0.04)
    return figure.subplots(rows, columns, squeeze=False)


def drawn(axes: Any, kind: str) -> bytes:
    """Return the figure of ``axes`` as a reproducible "png" or "svg" file, and close the figure."""
    pyplot = load_pyplot()
    figure, file = np.ravel(axes)[0].figure, BytesIO()
    with pyplot.rc_context({"svg.hashsalt": "fuzzydict"}):
        figure.savefig(file, format=kind, dpi=120, metadata={"Date": None} if kind == "svg" else {})
    pyplot.close(figure)
    return file.getvalue()


def _label(text: str) -> str:
    """Shorten a key, and escape its dollar signs, which mark formulas in matplotlib."""
    return shortened(text, _LABEL).replace("$", r"\$")


def load_pyplot() -> Any:
    """Return ``matplotlib.pyplot``, or raise a MissingExtraError."""
    with needing("pictures need matplotlib", "matplotlib"):
        from matplotlib import pyplot
    return pyplot
