"""Tables of lines: how CSV is written, what its rows and values are, and lines of JSON."""

from __future__ import annotations

import csv
import io
import warnings
from datetime import date, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import FileFormatError, FuzzyDict, OptionError
from fuzzydict.io.tables import open_table
from fuzzydict.io.text_tables import Reading, Table, as_cell, as_json, as_line
from tests.io.files import Trickle, clean, written
from tests.support.properties import examples

COUNTRIES = FuzzyDict({"Germany": "DE", "France": "FR", "Curaçao": "CW", "Łódź": "city"})


def table_of(data: bytes | Trickle, form: str = "csv", **reading: Any) -> Table:
    file: Any = data if isinstance(data, Trickle) else io.BytesIO(data)
    with open_table(file, Reading(form, **reading), name=f"t.{form}") as table:
        return table


def cells_of(table: Table) -> list[list[str]]:
    assert table.header is not None
    return [cells for _, _, cells in (table.header, *table.rows())]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "windows-1252", "utf-16"])
@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.filterwarnings("ignore:t.csv")
def test_a_guess_reads_what_was_written(encoding: str, sign: str, end: str) -> None:
    rows = [["id", "Größe", "price"], ["1", "Curaçao “x”", "2.50"], ["2", "", "3.00"]]
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=sign, lineterminator=end).writerows(rows)
    data = text.getvalue().encode(encoding)
    for file in (data, Trickle(data, 1), Trickle(data, 5), Trickle(data, 100)):
        table = table_of(file)
        assert table.dialect.delimiter == sign
        assert table.header is not None
        if isinstance(file, bytes) or encoding != "windows-1252":  # of a stream, as line 1 is
            assert cells_of(table) == rows


CELLS = st.text(st.sampled_from("ab é;,|\t\"'1.\n"), max_size=6)


@examples(200)
@given(st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=2, max_size=9))
@pytest.mark.filterwarnings("ignore:t.csv")
def test_what_csv_writes_with_commas_is_read_with_commas(rows: list[list[str]]) -> None:
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    assert table_of(text.getvalue().encode()).dialect == (",", "utf-8")


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"a;b\n1;2\n", "read with ';'; name another by --delimiter"),
        (b"a,b\n\xe7,2\n", "read with windows-1252; name another by --encoding"),
        (b"\xff\xfe" + "a,b\n1,2\n".encode("utf-16-le"), "read with utf-16-le; name another by"),
        (b"a;b\n\xe7;2\n", "with ';' and windows-1252; name others by --delimiter and --encoding"),
        (b"a;5,00\nb;2,50\n", "read with ',' (or ';'?); name another by --delimiter"),
        *((text.encode(), "") for text in ("a,b\n1,2\n", "a\nb\n", "", "x,y\nà;b,c\n")),
        (b"word\nred; green\nblue\n", ""),
    ],
)
def test_a_guess_is_told_if_it_is_not_what_the_ending_says(data: bytes, told: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table_of(data)
    messages = [str(one.message) for one in caught]
    assert len(messages) == bool(told)
    assert told in "".join(messages)


def test_a_line_with_only_a_mark_of_the_byte_order_is_blank() -> None:
    assert cells_of(table_of("\ufeffa,b\n\ufeff\n1,2\n".encode())) == [["a", "b"], ["1", "2"]]


def test_what_is_named_is_not_guessed() -> None:
    data = b"a;5,00\nb\xe7;2,50\n"
    named = {"delimiter": "semicolon", "encoding": "latin-1"}
    for file in (data, Trickle(data, 3)):
        table = table_of(file, **named)
        assert table.dialect == (";", "iso8859-1")
        assert cells_of(table) == [["a", "5,00"], ["bç", "2,50"]]
    for wrong in ("", "ab", '"', "\n", "x", "semikolon"):
        with pytest.raises(OptionError, match=r"delimiter: expected one character, or comma, "):
            table_of(data, delimiter=wrong)
    for wrong in ("", "utf-99", "base64", "\0", "unicode_escape", "punycode", "idna"):
        with pytest.raises(OptionError, match=r"encoding: expected one such as utf-8, "):
            table_of(data, encoding=wrong)
    with pytest.raises(FileFormatError, match=r"t.csv: line 2 is not ASCII; name the encoding"):
        cells_of(table_of(data, delimiter=";", encoding="ascii"))


def test_the_output_is_written_as_the_table_is_if_its_encoding_has_the_keys(tmp_path: Path) -> None:
    table = written(tmp_path, "t.csv", "sep=;\r\nc;n\r\nCuracao;ü\r\n".encode("utf-16"))
    clean(COUNTRIES, table, "c", table, encoding="utf-16")
    text = table.read_bytes().decode("utf-16")
    assert text.startswith("sep=;\r\nc;n;c_key;c_value;c_score\r\nCuracao;ü;C")
    table = written(tmp_path, "t.csv", before := b"c\nCura\xe7ao\nLodz\n")
    with pytest.raises(FileFormatError, match=r"'Ł' cannot be written in cp1252, its encoding; sa"):
        clean(COUNTRIES, table, "c", table, encoding="cp1252")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"t.csv": before}


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
        (np.datetime64("NaT", "s"), "null", "null"),
        (time(12, 30), "12:30:00", '"12:30:00"'),
        ({(1, 2): None, 3: 1j}, '{"(1, 2)": null, "3": "1j"}', '{"(1, 2)": null, "3": "1j"}'),
    ],
)
def test_any_value_has_a_text(value: Any, as_text: str, in_json: str) -> None:
    assert as_line(value) == as_text
    assert as_json(value) == in_json
    assert as_cell(value) == (value if isinstance(value, str) else as_text)
    assert as_cell(None) == ""
