"""How many examples a property is tested with."""

from __future__ import annotations

from hypothesis import settings

__all__ = ["ALL", "SOME", "examples"]

ALL = 100  # of most properties, with FUZZYDICT_SLOW=1
SOME = 25  # without


def examples(count: int) -> settings:
    """Return the settings of a property that needs another number of examples than most.

    ``count`` is their number with FUZZYDICT_SLOW=1. In other profiles (tests/conftest.py), it is
    less in proportion.
    """
    return settings(max_examples=max(5, count * settings().max_examples // ALL))
