"""Parquet tables: what was there is kept, what is added is typed, what is damaged is refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from fuzzydict import FileFormatError, MissingExtraError
from fuzzydict.io.columns import Cleaned
from tests.io.test_cleaning import ADDED, COUNTRIES, MESSY, cleaned, reference


def pyarrow() -> tuple[Any, Any]:
    why = "Parquet needs the extra 'parquet'"
    return tuple(pytest.importorskip(name, reason=why) for name in ("pyarrow", "pyarrow.parquet"))


def test_a_parquet_table_keeps_types_metadata_and_order(tmp_path: Path) -> None:
    arrow, parquet = pyarrow()
    cells = [*MESSY, None] * 2000
    table = arrow.table(
        {
            "n": arrow.array(range(len(cells)), arrow.int16()),
            "country": arrow.array(cells).dictionary_encode(),
            "nested": [{"x": [i]} for i in range(len(cells))],
        }
    ).replace_schema_metadata({"made": "by hand"})
    parquet.write_table(table, tmp_path / "t.parquet", compression="zstd", row_group_size=700)
    _, counts = cleaned(tmp_path / "t.parquet")
    after = parquet.read_table(tmp_path / "out")
    assert after.select(["n", "country", "nested"]).equals(table)
    assert after.schema.metadata[b"made"] == b"by hand"
    assert after.schema.names[3:] == ADDED
    assert after.schema.types[3:] == [arrow.string(), arrow.string(), arrow.float64()]
    for row in after.slice(0, len(MESSY) + 1).to_pylist():
        key, value, score = reference(COUNTRIES, row["country"] or "")
        assert [row[name] for name in ADDED[::2]] == [key, score]
        assert row["country_value"] == (json.dumps(value) if isinstance(value, list) else value)
    facts = parquet.read_metadata(tmp_path / "out")
    assert facts.row_group(0).column(0).compression == "ZSTD"
    assert counts == Cleaned(matched=12_000, unmatched=4_000, blank=6_000)


def test_parquet_files_that_do_not_fit(tmp_path: Path) -> None:
    arrow, parquet = pyarrow()
    table = tmp_path / "t.parquet"
    parquet.write_table(
        arrow.table({"a": ["x"] * 999, "b": [[1]] * 999, "a_key": [1] * 999}), table
    )
    whole = table.read_bytes()
    for column, message in [
        ("c", r"no column 'c'; its columns are 'a', 'b', 'a_key'"),
        ("a", r"has a column 'a_key' already"),
        ("b", r"the column 'b' holds lists; expected texts"),
    ]:
        with pytest.raises(FileFormatError, match=message):
            cleaned(table, column)
    for damaged in (b"", b"PAR1", whole[:-20], whole[:200] + whole[240:], b"\0" * 99):
        table.write_bytes(damaged)
        with pytest.raises(FileFormatError, match=r"t.parquet is damaged, or not a Parquet file"):
            cleaned(table, "a", prefix="x")
    assert [path.name for path in tmp_path.iterdir()] == ["t.parquet"]


def test_parquet_without_its_package_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    with pytest.raises(MissingExtraError, match=r"pip install 'fuzzydict\[parquet\]'"):
        cleaned(tmp_path / "t.parquet")
