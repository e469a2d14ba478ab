"""Columns and frames of several libraries, and what is in them as plain lists."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from typing import Any

import narwhals as nw
import pandas as pd
import polars as pl

try:
    pa: Any = importlib.import_module("pyarrow")
except ImportError:
    pa = None

#: How a column of texts is made, by what it is.
COLUMNS: dict[str, Callable[[list[str | None]], Any]] = {
    "pandas": pd.Series,
    "pandas, categories": lambda texts: pd.Series(texts, dtype="category"),
    "pandas, object": lambda texts: pd.Series(texts, dtype=object),
    "pandas, string": lambda texts: pd.Series(texts, dtype="string"),
    "polars": pl.Series,
    "polars, categories": lambda texts: pl.Series(texts, dtype=pl.Categorical),
}
#: How a frame is made, by the library.
FRAMES: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
}
if pa is not None:
    COLUMNS["pyarrow"] = lambda texts: pa.chunked_array([texts], pa.string())
    COLUMNS["pyarrow, dictionary"] = lambda texts: pa.chunked_array(
        [pa.array(texts, pa.string()).dictionary_encode()]
    )
    FRAMES["pyarrow"] = pa.table


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def listed(frame: Any) -> dict[str, list[Any]]:
    """Return the columns of a frame as lists, with None for nulls."""
    return {
        column.name: [
            None if null else value
            for value, null in zip(column.to_list(), column.is_null().to_list(), strict=True)
        ]
        for column in nw.from_native(frame, eager_only=True).iter_columns()
    }
