"""How much is tested: all with FUZZYDICT_SLOW=1, a part of it otherwise."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import settings

SLOW = "FUZZYDICT_SLOW" in os.environ
ALL = 100  # examples of most properties
SOME = 15


def examples(count: int) -> settings:
    """Return the settings of a property that needs another number of examples than most.

    ``count`` is their number if all is tested. In other profiles (tests/conftest.py), it is
    less in proportion.
    """
    return settings(max_examples=max(5, count * settings().max_examples // ALL))


def one_process(first: Any, *others: Any) -> list[Any]:
    """Return the parameters of a test that starts a process, of which the others are slow."""
    slow = pytest.mark.slow("it starts a process, much as the first one does")
    return [first, *(pytest.param(other, marks=slow) for other in others)]
