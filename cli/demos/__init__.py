"""Demos: each file is a short lesson, to read and to run."""

from __future__ import annotations

__all__ = ["DEMOS"]

#: Their names, in an order to read them in.
DEMOS = (
    *("dictionary", "column", "http_status", "colors"),
    *("selfattention", "sentence", "heads", "kernels", "performance", "decoder"),
)
