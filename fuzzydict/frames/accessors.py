"""``series.fuzzy`` and ``frame.fuzzy`` in pandas."""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from fuzzydict.frames.join import join, match

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType


class SeriesAccessor:
    """``series.fuzzy`` in pandas."""

    def __init__(self, series: Any) -> None:
        self._series = series

    def match(self, keys: Any, **arguments: Any) -> Any:
        """Return `match` of the series."""
        return match(self._series, keys, **arguments)


class FrameAccessor:
    """``frame.fuzzy`` in pandas."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def join(self, other: Any, **arguments: Any) -> Any:
        """Return `join` of the frame and another."""
        return join(self._frame, other, **arguments)


def register_accessors() -> None:
    """Add ``fuzzy`` to the series and frames of pandas; if it is not imported yet, when it is."""
    if "pandas" not in sys.modules:
        sys.meta_path.insert(0, _OfPandas())
        return
    from pandas.api.extensions import register_dataframe_accessor, register_series_accessor

    register_series_accessor("fuzzy")(SeriesAccessor)
    register_dataframe_accessor("fuzzy")(FrameAccessor)


class _OfPandas(MetaPathFinder):
    """Finds pandas as Python does, and adds the accessors when it has been imported."""

    def find_spec(
        self,
        fullname: str,
        path: object,  # noqa: ARG002
        target: object = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        if fullname != "pandas":
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                register_accessors()

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
