"""The numbers in texts: whether two texts have the same."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["OTHER_NUMBER", "with_other_numbers"]

#: What is left of a likeness if the numbers differ.
OTHER_NUMBER = 0.5
_LONG = 5  # digits that blanks may part: 555 1234 is 5551234, but 1 5 is not 15
_DIGITS = re.compile(r"\d+")


def with_other_numbers(query: str, strings: Sequence[str]) -> list[int]:
    """Return the places of strings that have numbers, as the query has, and not the same.

    Blanks do not part the digits of a long one, as of a telephone or a date.

    >>> with_other_numbers("555 1234", ["5551234", "555 1235", "phone"])
    [1]
    """
    asked = _DIGITS.findall(query)
    if not asked:
        return []
    joined = "".join(asked)
    whole = joined if len(joined) >= _LONG else None
    numbers = enumerate(map(_DIGITS.findall, strings))
    return [i for i, found in numbers if found and found != asked and "".join(found) != whole]
