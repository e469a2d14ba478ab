"""How CSV is written: what is guessed is right or refused, is told, and stays in the output."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import FileFormatError, FuzzyDict, OptionError
from fuzzydict.io.columns import Cleaned, clean_column
from fuzzydict.io.dialect import opened
from fuzzydict.io.dict_files import open_dict, read_dict
from fuzzydict.io.examples import read_examples
from tests.support.properties import examples

COUNTRIES = FuzzyDict({"Germany": "DE", "France": "FR", "Curaçao": "CW", "Łódź": "city"})


class Pipe(io.RawIOBase):
    """A stream that cannot be read again, of which some bytes come at a time."""

    def __init__(self, data: bytes, size: int) -> None:
        self._data, self._size = io.BytesIO(data), size

    def read(self, size: int = -1) -> bytes:
        return self._data.read(min(self._size, size))


def texts_of(file: Any, **given: Any) -> tuple[str, str, str]:
    stream, dialect = opened(file, "t.csv", ",", **given)
    parts = []
    while part := stream.read(7):
        parts.append(part)
    return b"".join(parts).decode(), dialect.delimiter, dialect.encoding


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "windows-1252", "utf-16"])
@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.filterwarnings("ignore:t.csv")
def test_a_guess_reads_what_was_written(encoding: str, sign: str, end: str) -> None:
    rows = [["id", "Größe", "price"], ["1", "Curaçao “x”", "2.50"], ["2", "", "3.00"]]
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=sign, lineterminator=end).writerows(rows)
    data = text.getvalue().encode(encoding)
    found, delimiter, codec = texts_of(io.BytesIO(data))
    assert (found.removeprefix("\ufeff"), delimiter) == (text.getvalue(), sign)
    assert found.encode(codec) == data
    for size in (1, 5, 100):  # of a stream the first line is enough
        found, delimiter, _ = texts_of(Pipe(data, size))
        assert (found.removeprefix("\ufeff"), delimiter) == (text.getvalue(), sign)


CELLS = st.text(st.sampled_from("ab é;,|\t\"'1.\n"), max_size=6)


@examples(200)
@given(st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=2, max_size=9))
@pytest.mark.filterwarnings("ignore:t.csv")
def test_what_csv_writes_with_commas_is_read_with_commas(rows: list[list[str]]) -> None:
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    assert texts_of(io.BytesIO(text.getvalue().encode()))[1:] == (",", "utf-8")


def test_what_is_as_its_ending_says_is_read_quietly() -> None:
    for text in ("a,b\n1,2\n", "a\nb\n", "", "word\nred; green\nblue\n", "x,y\nà;b,c\n"):
        assert texts_of(io.BytesIO(text.encode())) == (text, ",", "utf-8")


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"a;b\n1;2\n", "read with ';'; name another by --delimiter"),
        (b"a,b\n\xe7,2\n", "read with windows-1252; name another by --encoding"),
        (b"a;b\n\xe7;2\n", "with ';' and windows-1252; name others by --delimiter and --encoding"),
        ("a,b\n".encode("utf-16-le"), None),
        (b"a;5,00\nb;2,50\n", "read with ',' (or ';'?); name another by --delimiter"),
    ],
)
def test_a_guess_is_told(data: bytes, told: str | None) -> None:
    if told is None:  # without a mark, it is none of these
        assert texts_of(io.BytesIO(data))[2] == "utf-8"
        return
    with pytest.warns(UserWarning, match="t.csv: ") as caught:
        texts_of(io.BytesIO(data))
    assert len(caught) == 1
    assert told in str(caught[0].message)


def test_what_is_named_is_not_guessed() -> None:
    data = b"a;5,00\nb\xe7;2,50\n"
    named = {"delimiter": "semicolon", "encoding": "latin-1"}
    assert texts_of(io.BytesIO(data), **named)[1:] == (";", "iso8859-1")
    for wrong in ("", "ab", '"', "\n", "x", "semikolon"):
        with pytest.raises(OptionError, match=r"delimiter: expected one character, or comma, "):
            texts_of(io.BytesIO(data), delimiter=wrong)
    for wrong in ("", "utf-99", "base64", "\0"):
        with pytest.raises(OptionError, match=r"encoding: expected one such as utf-8, "):
            texts_of(io.BytesIO(data), encoding=wrong)
    for wrong in ("unicode_escape", "raw_unicode_escape", "punycode", "idna"):
        with pytest.raises(OptionError, match=rf"encoding: expected .*, got '{wrong}'"):
            texts_of(io.BytesIO(data), encoding=wrong)
    with pytest.raises(FileFormatError, match=r"t.csv: line 2 is not ASCII; name the encoding"):
        texts_of(io.BytesIO(data), delimiter=";", encoding="ascii")
    assert cast("Any", texts_of(Pipe(data, 3), **named))[1] == ";"


def test_bytes_that_are_no_text_and_damaged_utf_8_are_not_guessed(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    for data in (b"c\n\x89PNG\x1a\n", b"c\n\x81\n", b"c\n" + "Größe".encode() + b"\nCura\xe7ao\n"):
        table.write_bytes(data)
        with pytest.raises(FileFormatError, match=r"line \d: byte \d is not UTF-8; save the file"):
            clean_column(COUNTRIES, table, "c", tmp_path / "out.csv")


@pytest.mark.parametrize("encoding", ["windows-1252", "utf-16"])
def test_the_output_is_written_as_the_table_is(tmp_path: Path, encoding: str) -> None:
    table, output = tmp_path / "t.csv", tmp_path / "out.csv"
    text = "n;c\r\n1;Curacao\r\n2;Gérmany\r\n\r\n3;\r\n"
    table.write_bytes(text.encode(encoding))
    with pytest.warns(UserWarning, match="t.csv: read with ';' and "):
        counts = clean_column(COUNTRIES, table, "c", output)
    assert counts == Cleaned(matched=2, unmatched=0, blank=1)
    data = output.read_bytes().decode(encoding)
    assert [line.rsplit(";", 1)[0] for line in data.split("\r\n")] == [
        "n;c;c_key;c_value", "1;Curacao;Curaçao;CW", "2;Gérmany;Germany;DE", "", "3;;;", ""
    ]  # fmt: skip
    assert data.startswith("n;c;")
    again = tmp_path / "again.csv"
    clean_column(COUNTRIES, table, "c", again, delimiter=";", encoding=encoding)
    assert again.read_bytes() == output.read_bytes()


def test_a_key_that_the_encoding_lacks_is_an_error_and_nothing_is_written(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_bytes(b"c\nCura\xe7ao\nLodz\n")
    before = table.read_bytes()
    with pytest.raises(FileFormatError, match=r"'Ł' cannot be written in cp1252, its encoding; sa"):
        clean_column(COUNTRIES, table, "c", table, encoding="cp1252")
    assert table.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_dicts_and_examples_are_read_so_too(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("key;value\nCuraçao;2,50\n".encode("cp1252"))
    with pytest.warns(UserWarning, match="read with ';' and windows-1252; name others"):
        assert read_dict(path) == {"Curaçao": "2,50"}
    assert {**open_dict(path, delimiter=";", encoding="cp1252")} == {"Curaçao": "2,50"}
    (tmp_path / "d.json").write_text("{}")
    for named in ({"delimiter": ";"}, {"encoding": "cp1252"}):
        with pytest.raises(OptionError, match=r"d.json is json, and only CSV and TSV have|only of"):
            read_dict(tmp_path / "d.json", **named)
    path.write_bytes("query;target\nCuracao;Curaçao\n".encode("cp1252"))
    with pytest.warns(UserWarning, match="read with ';' and windows-1252$"):
        assert read_examples(path) == [("Curacao", "Curaçao")]


def test_a_review_that_a_spreadsheet_saved_goes_on_as_it_is(tmp_path: Path) -> None:
    table, review = tmp_path / "t.csv", tmp_path / "review.csv"
    table.write_text("c\nCurasow\nqwzzt\n", "utf-8")
    review.write_bytes("query;count;key;score;target\r\nçurasow;1;;;Curaçao\r\n".encode("cp1252"))
    d = FuzzyDict({"Germany": "DE", "Curaçao": "CW"})
    with pytest.warns(UserWarning, match="review.csv: read with ';' and windows-1252$"):
        counts = clean_column(d, table, "c", tmp_path / "out.csv", review=review)
    assert (counts.matched, counts.undecided) == (1, 1)
    header, decided, asked, end = review.read_bytes().decode("cp1252").split("\r\n")
    assert header == "query;count;key;score;target"
    assert decided == "çurasow;1;;;Curaçao"
    assert asked.startswith("qwzzt;1;")
    assert not end
