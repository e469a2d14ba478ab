"""The numbers in texts: whether two texts have the same."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["OTHER_NUMBER", "with_other_numbers"]

#: What is left of a likeness if the numbers differ.
OTHER_NUMBER = 0.5
_LONG = 5  # digits that blanks may part: 1 5 is not 15
_DIGITS = re.compile(r"\d+")


def with_other_numbers(query: str, strings: Sequence[str]) -> list[int]:
    """Return the places of strings that have numbers, as the query has, and not the same.

    Blanks do not part the digits of a long one, as of a telephone or a date. But two parts of
    which one is a single digit may be a fraction: 3.14159 is not 314159.

    >>> with_other_numbers("5551234", ["555 1234", "555 1235", "5 551234", "phone"])
    [1, 2]
    """
    asked = _DIGITS.findall(query)
    if not asked:
        return []
    pairs = ((i, string, _DIGITS.findall(string)) for i, string in enumerate(strings))
    return [
        i
        for i, string, found in pairs
        if found
        and found != asked
        and not (_parted(string, found, asked) or _parted(query, asked, found))
    ]


def _parted(text: str, numbers: Sequence[str], others: Sequence[str]) -> bool:
    """Tell whether the numbers of a text are parts of the one other number."""
    if ["".join(numbers)] != others or len(others[0]) < _LONG:
        return False
    may_be_fraction = len(numbers) == 2 and min(map(len, numbers)) == 1
    return not may_be_fraction and " ".join(numbers) in text
