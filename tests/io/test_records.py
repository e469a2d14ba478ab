"""Records of text files: nothing is lost, and every value has a text."""

from __future__ import annotations

import csv
import io
import json
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import FileFormatError
from fuzzydict.io.records import (
    BLANK,
    as_cell,
    as_json,
    as_line,
    csv_row,
    csv_table,
    json_records,
)

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda parts: st.lists(parts) | st.dictionaries(st.text(), parts),
    max_leaves=6,
)


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1), st.sampled_from(["\n", "\r\n"]))
def test_rows_of_csv_have_their_cells_and_their_text(rows: list[tuple[str, str]], end: str) -> None:
    rows = [("first", "row"), *((f".{one}", other) for one, other in rows)]
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator=end, quoting=csv.QUOTE_ALL).writerows(rows)
    header, below = csv_table(io.BytesIO(text.getvalue().encode()), "t.csv", ",")
    assert header is not None
    records = [header, *below]
    assert [tuple(record.content) for record in records] == rows
    assert "".join(record.raw for record in records) == text.getvalue()
    assert [next(csv.reader([csv_row(row, ",")])) for row in (["a", "b c"], ["a,", 'd "e"'])] == [
        *(["a", "b c"], ["a,", 'd "e"'])
    ]


@pytest.mark.parametrize(
    "last", [b"d\n", b'"d,e\n', b'd,"e"f\n', b"d,\xe7\n", b"d,\0\n", b"d," + b"e" * 2**24]
)
def test_rows_before_one_that_is_refused_come_first(last: bytes) -> None:
    _, rows = csv_table(io.BytesIO(b"a,b\n1,2\n\n3,4\n" + last), "t.csv", ",")
    assert [next(rows).content for _ in range(3)] == [["1", "2"], [], ["3", "4"]]
    with pytest.raises(FileFormatError, match="line 5"):
        next(rows)


def test_a_row_is_read_whole_however_many_lines_it_has() -> None:
    cell = "x\n" * 60_000
    data = f'a,b\n1,"{cell}"\n2,3\n'.encode()
    _, rows = csv_table(io.BytesIO(data), "t.csv", ",")
    assert [(row.line, row.content) for row in rows] == [
        (2, ["1", cell]),
        (60_003, ["2", "3"]),
    ]


@pytest.mark.parametrize("last", [b"{", b'{"a": "\xe7"}', b'{"a": 1, "a": 2}', b'"\0"', b"[1] 2"])
def test_lines_before_one_that_is_refused_come_first(last: bytes) -> None:
    lines = json_records(io.BytesIO(b"1\n\n[2]\n" + last), "t.jsonl")
    assert [next(lines).content for _ in range(3)] == [1, BLANK, [2]]
    with pytest.raises(FileFormatError, match="line 4"):
        next(lines)


@given(st.lists(VALUES))
def test_lines_of_json_have_their_values_and_their_text(values: list[Any]) -> None:
    text = "".join(f"{json.dumps(value)}\n\n" for value in values)
    records = list(json_records(io.BytesIO(text.encode()), "t.jsonl"))
    assert "".join(record.raw for record in records) == text
    assert [record.content for record in records[::2]] == values
    assert all(record.is_blank for record in records[1::2])
    assert [record.line for record in records] == list(range(1, len(records) + 1))


@given(VALUES)
def test_json_is_what_the_json_module_reads(value: Any) -> None:
    line = as_json(value)
    assert json.loads(line) == value
    assert len(line.splitlines()) == 1


@pytest.mark.parametrize(
    ("value", "as_text", "in_json"),
    [
        ("one, two", "one, two", '"one, two"'),
        ("two\nlines", '"two\\nlines"', '"two\\nlines"'),
        ("a\tb", "a\tb", '"a\\tb"'),
        ("\x1b[2J", '"\\u001b[2J"', '"\\u001b[2J"'),
        ("\u2028", '"\\u2028"', '"\\u2028"'),
        (True, "true", "true"),
        (float("nan"), "NaN", "null"),
        (np.float32("-inf"), "-Infinity", "null"),
        (np.array([[1, 2]]), "[[1, 2]]", "[[1, 2]]"),
        ({"b", "a"}, '["a", "b"]', '["a", "b"]'),
        (date(2024, 2, 29), "2024-02-29", '"2024-02-29"'),
        (Decimal("1.10"), "1.10", '"1.10"'),
        (timedelta(hours=30), "1 day, 6:00:00", '"1 day, 6:00:00"'),
        (b"ab", "b'ab'", "\"b'ab'\""),
        (np.datetime64("2024-02-29"), "2024-02-29", '"2024-02-29"'),
        (time(12, 30), "12:30:00", '"12:30:00"'),
        ({(1, 2): None, 3: 1j}, '{"(1, 2)": null, "3": "1j"}', '{"(1, 2)": null, "3": "1j"}'),
    ],
)
def test_any_value_has_a_text(value: Any, as_text: str, in_json: str) -> None:
    assert as_line(value) == as_text
    assert as_json(value) == in_json
    assert as_cell(value) == (value if isinstance(value, str) else as_text)
    assert as_cell(None) == ""
