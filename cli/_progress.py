"""How far a command has come, as a bar on standard error; on terminals only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

__all__ = ["progress_bar"]

_STEPS = 1000  # of a whole bar


@contextmanager
def progress_bar(label: str, *, shown: bool = True) -> Iterator[Callable[[int, int], None]]:
    """Give what is to be called with what is done and what there is to do.

    Where standard error is closed, or no terminal, no bar is shown; nor where ``shown`` is False.
    """
    hidden = not shown or sys.stderr is None or not sys.stderr.isatty()
    with click.progressbar(length=_STEPS, label=label, file=sys.stderr, hidden=hidden) as bar:
        yield lambda done, total: bar.update(_STEPS * done // max(1, total) - bar.pos)
