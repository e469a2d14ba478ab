"""``.fuzzy`` of pandas: added to its columns and frames, whenever it is imported."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import ModuleType
from typing import Any

_ACCESSOR = "fuzzy"


class ColumnAccessor:
    """``series.fuzzy`` and ``index.fuzzy`` in pandas."""

    def __init__(self, column: Any) -> None:
        self._column = column

    def match(self, keys: Any, **arguments: Any) -> Any:
        """Return `fuzzydict.match` of the column: query, key, value and score, as a frame."""
        from fuzzydict.frames.match import match

        return match(self._column, keys, **arguments)


class FrameAccessor:
    """``frame.fuzzy`` in pandas."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def join(self, other: Any, **arguments: Any) -> Any:
        """Return `fuzzydict.join` of the frame, which is the left one, and another."""
        from fuzzydict.frames.match import join

        return join(self._frame, other, **arguments)


def register_accessors() -> None:
    """Add ``fuzzy`` to what pandas has; if it is not imported yet, when it is."""
    if not any(isinstance(finder, _PandasFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _PandasFinder())
    if sys.modules.get("pandas") is None:
        return
    with suppress(ImportError, AttributeError):  # something else of that name
        from pandas import DataFrame, Index, Series
        from pandas.api import extensions

        for kind, register, accessor in (
            (Series, extensions.register_series_accessor, ColumnAccessor),
            (Index, extensions.register_index_accessor, ColumnAccessor),
            (DataFrame, extensions.register_dataframe_accessor, FrameAccessor),
        ):
            if not hasattr(kind, _ACCESSOR):
                register(_ACCESSOR)(accessor)


class _PandasFinder(MetaPathFinder):
    """Finds pandas as the other finders do, for a loader that adds the accessors."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != "pandas":
            return None
        others = [finder for finder in sys.meta_path if finder is not self]
        finds = [getattr(finder, "find_spec", None) for finder in others]  # Python skips None, too
        specs = (find(fullname, path, target) for find in finds if find is not None)
        spec = next((spec for spec in specs if spec is not None), None)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = _PandasLoader(spec.loader.name, spec.loader.path)
        return spec


class _PandasLoader(SourceFileLoader):
    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        register_accessors()
