"""Engines that find the vectors with the largest inner products, by their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fuzzydict.errors import OptionError, quoted
from fuzzydict.search.backends.exact import ExactIndex
from fuzzydict.search.backends.usearch import UsearchIndex

if TYPE_CHECKING:
    from fuzzydict.search.backends.base import Engine


#: The engine that compares a query with every key, which needs no index beside the keys' vectors.
EXACT = "exact"

#: The engines by the name that ``index=`` takes.
ENGINES: dict[str, Engine] = {EXACT: ExactIndex, "usearch": UsearchIndex}


def check_engine(name: Any) -> None:
    """Raise OptionError unless there is an engine of this name."""
    if not isinstance(name, str) or name not in ENGINES:
        raise OptionError(
            f"index: expected one of {', '.join(map(repr, ENGINES))}, got {quoted(name)}"
        )
