"""Raise an exception before any line of some files."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from fuzzydict import FuzzyDictError


def at_line(
    act: Callable[[], Any], place: int, kind: type[BaseException], of: Callable[[str], bool]
) -> int:
    """Run an act, raise before a line, and return how many lines were come to.

    Args:
        act: what is interrupted; it may answer by an error of the package.
        place: the number of the line, counted from 1; none is if it is 0 or too large.
        kind: what is raised.
        of: whether the lines of a file, by its path, count.
    """
    count = 0

    def trace(frame: Any, event: str, _: Any) -> Any:
        nonlocal count
        if not of(frame.f_code.co_filename):
            return None
        if event == "line":
            count += 1
            if count == place:
                raise kind
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    except (kind, FuzzyDictError):
        pass
    finally:
        sys.settrace(before)
    return count
