"""What every measurement prints: what was measured, on what, and a table in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from fuzzydict.evaluation.evaluate import environment, markdown_table

__all__ = ["print_report"]


def print_report(title: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table below a line that says what was measured and on what."""
    print(f"{title} ({environment()})\n\n{markdown_table(header, rows)}\n", flush=True)
