"""Pictures, with matplotlib (extra ``plot``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fuzzydict.errors import MissingExtraError

if TYPE_CHECKING:
    from fuzzydict.answers import Attention

__all__ = ["plot_weights"]

_LABEL = 32  # characters of a key
_BLUE = "#0072b2"  # of the palette of Okabe and Ito, which the colour-blind can tell apart


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


def _label(text: str) -> str:
    """Shorten a key, and keep matplotlib from reading formulas between its dollar signs."""
    shown = "".join(c if c.isprintable() else " " for c in text)
    return (shown if len(shown) <= _LABEL else shown[: _LABEL - 1] + "…").replace("$", r"\$")


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise MissingExtraError(
            "pictures need matplotlib, which is not installed; install it with: "
            "pip install 'fuzzydict[plot]'"
        ) from error
    return pyplot
