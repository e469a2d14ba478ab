"""A progress bar on standard error, for terminals only."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

__all__ = ["progress_bar"]

_STEPS = 1000  # of a whole bar


@contextmanager
def progress_bar(label: str, *, shown: bool = True) -> Iterator[Callable[[int, int], None]]:
    """Yield a function to call with the amount done and the total amount.

    No bar is shown if ``shown`` is False, or standard error is not a terminal that can draw one.
    """
    is_dumb = os.environ.get("TERM") == "dumb"
    hidden = not shown or is_dumb or sys.stderr is None or not sys.stderr.isatty()
    with click.progressbar(length=_STEPS, label=label, file=sys.stderr, hidden=hidden) as bar:
        yield lambda done, total: bar.update(_STEPS * done // max(1, total) - bar.pos)
