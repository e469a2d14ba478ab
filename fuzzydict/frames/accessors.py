"""``.fuzzy`` of pandas: added to its columns and frames, whenever it is imported."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import ModuleType
from typing import Any


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
    if _PandasFinder not in sys.meta_path:
        sys.meta_path.insert(0, _PandasFinder)
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
            if not hasattr(kind, "fuzzy"):
                register("fuzzy")(accessor)


class _PandasFinder:
    """Finds pandas as the other finders do, with a loader that adds the accessors."""

    @staticmethod
    def find_spec(
        fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        others = (finder for finder in sys.meta_path if finder is not _PandasFinder)
        finds = (getattr(finder, "find_spec", None) for finder in others)  # Python skips None, too
        specs = (find(fullname, path, target) for find in finds if find is not None)
        spec = next(filter(None, specs), None) if fullname == "pandas" else None
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = _PandasLoader(spec.loader.name, spec.loader.path)
        return spec


class _PandasLoader(SourceFileLoader):
    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        register_accessors()
