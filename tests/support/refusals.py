"""Calls that are refused: a table by the kind of error, from a part of its message to the call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

__all__ = ["Refused", "refusals"]

#: From the kind of error and a pattern of its message to one call, or several.
Refused = Mapping[type[Exception], Mapping[str, Callable[[], Any] | Iterable[Callable[[], Any]]]]


def refusals(table: Refused) -> pytest.MarkDecorator:
    """Return the mark of a test of a kind, a message and a call for each row of the table."""
    rows = [
        (kind, message, call)
        for kind, calls in table.items()
        for message, given in calls.items()
        for call in ([given] if callable(given) else given)
    ]
    return pytest.mark.parametrize(("kind", "message", "call"), rows)
