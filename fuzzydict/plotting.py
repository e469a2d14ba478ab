"""Pictures, with matplotlib (extra ``plot``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from fuzzydict.arrays import as_floats
from fuzzydict.errors import MissingExtraError, ShapeError
from fuzzydict.text import shortened

if TYPE_CHECKING:
    from fuzzydict.answers import Attention

__all__ = ["picture", "plot_curves", "plot_heatmap", "plot_weights"]

_LABEL = 32  # characters of a key
_BLANK = "\N{OPEN BOX}"
_LINES = ("o-", "s--")
_BLUE = "#0072b2"  # of the palette of Okabe and Ito, which the colour-blind can tell apart
_COLORS = (_BLUE, "#d55e00")


def plot_weights(attention: Attention, n: int = 10) -> Any:
    """Draw the ``n`` largest weights of ``attention`` as bars; return the matplotlib ``Axes``.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    figure = _pyplot().figure(figsize=(6.4, 1.2 + 0.32 * min(n, len(attention.names))))
    axes = figure.add_subplot()
    rows = attention.top(n)[::-1]
    names = [_label(key) for key, _, _ in rows]
    bars = axes.barh(range(len(rows)), [100 * w for _, w, _ in rows], color=_BLUE)
    axes.set_yticks(range(len(rows)), names)
    axes.bar_label(bars, fmt="%.1f", padding=3)
    axes.set_title(f"Attention of {_label(attention.text)!r}")
    axes.set_xlabel("weight (%)")
    axes.set_xlim(0, 112 * max((w for _, w, _ in rows), default=1.0))
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    return axes


def picture(attention: Attention, kind: str, n: int = 10) -> bytes:
    """Return the ``n`` largest weights as a file: ``kind`` is "png", "svg", or "html" for a page.

    Raises:
        MissingExtraError: matplotlib is not installed, which a page does without.
    """
    if kind == "html":
        page = f"""<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Attention of {escape(attention.text)}</title></head>
<body style="font-family:sans-serif">{attention.chart_html(n)}</body>
</html>
"""
        return page.encode("utf-8", "xmlcharrefreplace")
    pyplot = _pyplot()
    with pyplot.rc_context({"svg.hashsalt": "fuzzydict"}):  # the same picture, the same file
        figure = plot_weights(attention, n).figure
        file = BytesIO()
        figure.savefig(file, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else {})
    pyplot.close(figure)
    return file.getvalue()


def plot_heatmap(
    weights: ArrayLike,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    title: str = "Attention",
    row_label: str = "query",
    column_label: str = "key",
    label: str = "weight",
) -> Any:
    """Draw weights (L, S), a row for each query and a column for each key, as shades of blue.

    Args:
        weights: The weights, 0 or more.
        rows: The names of the L queries; a blank is shown as an open box.
        columns: The names of the S keys.
        title: Above the picture.
        row_label: What the rows are,
        column_label: what the columns are,
        label: and what the shades are.

    Returns:
        The matplotlib ``Axes``.

    Raises:
        MissingExtraError: matplotlib is not installed.
        ShapeError: The weights do not have a row for each query and a column for each key.
    """
    (matrix,) = as_floats(weights=weights)
    if matrix.shape != (len(rows), len(columns)) or not matrix.size:
        raise ShapeError(
            f"weights must have shape (L, S) = {(len(rows), len(columns))}, with a row for each "
            f"query and a column for each key and not none; got {matrix.shape}"
        )
    names = [
        [_label(name) if name.strip() else _BLANK for name in side] for side in (rows, columns)
    ]
    tall, wide = (max(map(len, side)) for side in names)  # the longest name of each side
    size = (
        max(1.4 + 0.3 * len(columns) + 0.08 * tall, 4.0),
        max(1.1 + 0.3 * len(rows) + 0.08 * wide, 2.5),
    )
    axes = _pyplot().figure(figsize=size, layout="constrained").add_subplot()
    # One hue from light to dark: its order shows whatever colours one can tell apart, and in print.
    image = axes.imshow(matrix, cmap="Blues", vmin=0, aspect="equal")
    axes.set_yticks(range(len(rows)), names[0])
    axes.set_xticks(range(len(columns)), names[1], rotation=90 if wide > 2 else 0)
    axes.tick_params(length=0)
    axes.set(title=title, ylabel=row_label, xlabel=column_label)
    bar = axes.inset_axes((1 + 0.3 / len(columns), 0, 0.7 / len(columns), 1))  # as high as the map
    axes.figure.colorbar(image, cax=bar, label=label)
    return axes


def plot_curves(
    curves: Mapping[str, Sequence[float]], *, title: str, x_label: str, y_label: str
) -> Any:
    """Draw curves by their names, each from its place 0 on; return the matplotlib ``Axes``.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    axes = _pyplot().figure(figsize=(6.4, 4), layout="constrained").add_subplot()
    # Told apart by their lines as well, in print and by the colour-blind.
    for (name, curve), style, color in zip(curves.items(), _LINES, _COLORS, strict=False):
        axes.plot(range(len(curve)), curve, style, color=color, label=name)
    axes.set(title=title, xlabel=x_label, ylabel=y_label)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_ylim(bottom=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    return axes


def _label(text: str) -> str:
    """Shorten a key, and keep matplotlib from reading formulas between its dollar signs."""
    return shortened(text, _LABEL).replace("$", r"\$")


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise MissingExtraError(
            "pictures need matplotlib, which is not installed; install it with: "
            "pip install 'fuzzydict[plot]'"
        ) from error
    return pyplot
