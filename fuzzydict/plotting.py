"""Pictures, with matplotlib (extra ``plot``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fuzzydict.errors import MissingExtraError

if TYPE_CHECKING:
    from fuzzydict.answers import Attention

__all__ = ["plot_weights"]

_BLUE = "#0072b2"  # of the palette of Okabe and Ito, which the colour-blind can tell apart


def plot_weights(attention: Attention, n: int = 10) -> Any:
    """Draw the ``n`` largest weights of ``attention`` as bars; return the matplotlib ``Axes``.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    figure = _pyplot().figure(figsize=(6.4, 1.2 + 0.32 * min(n, len(attention.names))))
    axes = figure.add_subplot()
    rows = attention.top(n)[::-1]
    bars = axes.barh([key for key, _, _ in rows], [100 * w for _, w, _ in rows], color=_BLUE)
    axes.bar_label(bars, fmt="%.1f", padding=3)
    axes.set_title(f"Attention of {attention.text!r}")
    axes.set_xlabel("weight (%)")
    axes.set_xlim(0, 112 * max((w for _, w, _ in rows), default=1.0))
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    return axes


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise MissingExtraError(
            "pictures need matplotlib, which is not installed; install it with: "
            "pip install 'fuzzydict[plot]'"
        ) from error
    return pyplot
