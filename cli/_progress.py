"""Progress on standard error, for terminals only: a bar, or a line for what takes long."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from threading import Timer

import click

from ._output import echo

_STEPS = 1000  # of a whole bar
_PATIENCE = 2.0  # seconds


@contextmanager
def progress_bar(label: str, *, shown: bool = True) -> Iterator[Callable[[int, int], None]]:
    """Yield a function to call with the amount done and the total amount.

    No bar is shown if ``shown`` is False, or standard error is not a terminal that can draw one.
    """
    is_dumb = os.environ.get("TERM") == "dumb"
    hidden = not shown or is_dumb or not is_watched()
    with click.progressbar(length=_STEPS, label=label, file=sys.stderr, hidden=hidden) as bar:
        yield lambda done, total: bar.update(_STEPS * done // max(1, total) - bar.pos)


@contextmanager
def progress_bars() -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function to call with a label, the amount done and the total amount.

    Each label gets a bar of its own, as soon as the one before is done.
    """
    with ExitStack() as stack:
        shown: list[tuple[str, Callable[[int, int], None]]] = []

        def update(label: str, done: int, total: int) -> None:
            if not shown or shown[-1][0] != label:
                stack.close()
                shown.append((label, stack.enter_context(progress_bar(label))))
            shown[-1][1](done, total)

        yield update


def is_watched() -> bool:
    """Tell whether standard error is a terminal, where somebody may wait."""
    return sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def telling_if_slow(what: str) -> Iterator[None]:
    """Print on a terminal what is done, if it takes more than two seconds."""
    timer = Timer(_PATIENCE, lambda: echo(f"{what} ...", err=True))
    timer.daemon = True
    if is_watched():
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
