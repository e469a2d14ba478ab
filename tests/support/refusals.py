"""Calls that are refused: a table by the kind of error, from a part of its message to the call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

#: From the kind of error and a pattern of its message to one call, or several.
Refused = Mapping[type[Exception], Mapping[str, Callable[[], Any] | Iterable[Callable[[], Any]]]]


def refused(table: Refused) -> Callable[..., None]:
    """Return a test that each call of the table raises its error."""
    rows = [
        (kind, message, call)
        for kind, calls in table.items()
        for message, given in calls.items()
        for call in ([given] if callable(given) else given)
    ]

    @pytest.mark.parametrize(("kind", "message", "call"), rows)
    def test(kind: type[Exception], message: str, call: Callable[[], object]) -> None:
        with pytest.raises(kind, match=message):
            call()

    return test
