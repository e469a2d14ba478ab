"""Files that hold a dict: what each format gives, and what is refused, with file and line."""

from __future__ import annotations

import json
import os
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import FileFormatError, FuzzyDict, OptionError, WordVectors
from fuzzydict.io.dict_files import FORMATS, open_dict, read_dict
from fuzzydict.io.text_tables import Reading, format_by_ending
from tests.io.files import SCALARS, written

# YAML takes some breaks of lines and marks for blanks, or not at all, where JSON keeps them.
WORDS = st.text(st.characters(exclude_categories=["C", "Z"]), max_size=8)
PLAIN = SCALARS | WORDS


# ---- what is read -------------------------------------------------------------------------

CAR = {"color": "black", "top speed": "260 km/h"}
SAME = {
    "car.json": json.dumps(CAR),
    "car.toml": f'color = "black"\n"top speed" = "260 km/h" # {"a." * 40}\n',
    "car.yaml": "# a car\ncolor: black\ntop speed: 260 km/h\n",
    "car.yml": "{color: black, 'top speed': 260 km/h}",
    "car.csv": "color,black\ntop speed,260 km/h\n",
    "header.csv": "value,more,key\nblack,x,color\n\n260 km/h,y,top speed\n",
    "windows.csv": '\ufeffkey,value\r\ncolor,black\r\n"top speed","260 km/h"\r\n',
    "excel.csv": "\ufeffsep=|\r\ncolor|black\r\ntop speed|260 km/h\r\n",
    "car.tsv": "color\tblack\ntop speed\t260 km/h",
    "car.jsonl": '{"color": "black"}\n\n["top speed", "260 km/h"]\n',
    "two.ndjson": '{"key":"color","value":"black","no":1}\n{"value":"260 km/h","key":"top speed"}',
    "CAR.JSON": "\ufeff" + json.dumps(CAR),
    "car": json.dumps(CAR),
}


@pytest.mark.parametrize("name", SAME)
def test_every_format_holds_the_same_dict(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, name, SAME[name])
    assert [*read_dict(path).items()] == [*CAR.items()]
    d = open_dict(path)
    assert (type(d), dict(d)) == (FuzzyDict, CAR)
    form = format_by_ending(Path(name), FORMATS) or "json"  # what is named wins over the ending
    assert read_dict(written(tmp_path, "any.txt", SAME[name]), Reading(format=form)) == CAR


def test_columns_are_named(tmp_path: Path) -> None:
    table = written(tmp_path, "codes.csv", "id,name,code\n1,Germany,DE\n2,Spain,ES\n")
    lines = '{"name": "Germany", "value": 1}\n{"name": "Spain", "value": [2]}'
    records = written(tmp_path, "codes.jsonl", lines)
    assert read_dict(table, Reading(key="name", value="code")) == {"Germany": "DE", "Spain": "ES"}
    assert read_dict(records, Reading(key="name")) == {"Germany": 1, "Spain": [2]}
    for reading, told in {
        Reading(format="xml"): r"format: expected one of json, .*, got 'xml'",
        Reading(format="json", delimiter=";"): "is json, and only CSV and TSV have",
    }.items():
        with pytest.raises(OptionError, match=told):
            read_dict(table, reading)
    for path, reading, message in [
        (table, Reading(value="code"), "no column 'key'; its columns are 'id', 'name', 'code'"),
        (table, Reading(key="nam", value="code"), r"'nam' \(did you mean 'name'\?\); its columns"),
        (records, Reading(key="nam"), r"'nam' \(did you mean 'name'\?\) and 'value'$"),
    ]:
        with pytest.raises(FileFormatError, match=message):
            read_dict(path, reading)


def test_a_warning_tells_of_a_header_and_of_keys_that_are_one_text(tmp_path: Path) -> None:
    for content, value, line in [
        ("product,price\nsofa,100\nlamp,2.5\n", "price", 1),
        ("\nproduct,price\nsofa,100\n\nlamp,\n", "price", 2),
        ("product,code\nsofa,S1\nlamp,L7\n", "code", 1),
        ("product,maker\nSofa,Ikea\nLamp,Tolomeo\n", "maker", 1),
    ]:
        told = f"t.csv: line {line} looks like a header, but was read as an item; if it is a header"
        with pytest.warns(UserWarning, match=f"{told}, add --key product --value {value}$"):
            read_dict(written(tmp_path, "t.csv", content))
    with pytest.warns(UserWarning, match="if it is a header, remove this line, or write key,value"):
        read_dict(tmp_path / "t.csv", Reading(side=None))  # where no option names columns
    for content in [
        "product,price\nsofa,100\nlamp,dear\n",
        "product,price\nsofa,\n",
        "key,value\nsofa,much\nlamp,100\n",
        "Product,MAKER\nSofa,Ikea\nLamp,Tolomeo\n",
        "product,maker\nSofa,Ikea\nlamp,tolomeo\n",
    ]:
        read_dict(written(tmp_path, "t.csv", content))  # a warning would be an error
    path = written(tmp_path, "twins.json", '{"Spain": 1, "SPAIN": 2}')
    with pytest.warns(UserWarning, match=r"twins.json: 'Spain' and 'SPAIN' are one text.*keep one"):
        open_dict(path)
    open_dict(path, scorer="cosine")  # for which both are as near


def test_rows_of_one_cell_are_a_list(tmp_path: Path) -> None:
    assert read_dict(written(tmp_path, "keys.csv", "key\npear\n\npear\n")) == {"pear": "pear"}
    table = written(tmp_path, "list.csv", "apple\npear\n")
    with pytest.warns(UserWarning, match="line 1 was read as an item; if .* add --key apple$"):
        assert read_dict(table) == {"apple": "apple", "pear": "pear"}
    with pytest.raises(FileFormatError, match="line 1 has 1 cell, where a key and a value were"):
        read_dict(table, Reading(side=None))  # synonyms are pairs


@given(st.dictionaries(WORDS, PLAIN, min_size=1))
def test_yaml_reads_what_json_writes(
    tmp_path_factory: pytest.TempPathFactory, content: dict[str, Any]
) -> None:
    text = json.dumps(content, indent=1, ensure_ascii=False)
    read = read_dict(written(tmp_path_factory.mktemp("any"), "any.yaml", text))
    assert repr(read) == repr(content)  # as texts, for 1.0 is not 1


def test_yaml_is_that_of_version_1_2_with_keys_as_written_merges_and_aliases(
    tmp_path: Path,
) -> None:
    typed = "no: NO\n1: 12:30\n012: 012\n2024-02-29: 2024-02-29\n~: ~\non: true\nhex: 0x1f\nf: 1e3"
    merged = "a: &a {b: 1, c: 2}\nd: {<<: *a, c: 3, e: *a}\nf: &f [x]\ng: *f\n"
    expected: dict[str, dict[str, Any]] = {
        typed: {"no": "NO", "1": "12:30", "012": 12, "2024-02-29": date(2024, 2, 29)}
        | {"~": None, "on": True, "hex": 31, "f": 1000.0},
        "%YAML 1.1\n---\nno: no\nn: 010\n": {"no": "no", "n": 10},  # whatever it says
        "a: &x 1\nb: &x 2\nc: *x\n": {"a": 1, "b": 2, "c": 2},  # an anchor given again
        merged: {"a": {"b": 1, "c": 2}, "d": {"b": 1, "c": 3, "e": {"b": 1, "c": 2}}}
        | {"f": ["x"], "g": ["x"]},
    }
    for text, content in expected.items():
        assert read_dict(written(tmp_path, "a.yaml", text)) == content


# ---- what is refused ----------------------------------------------------------------------

TWICE = [
    ("a.json", '{"x": 1,\n "b": {"x": 0},\n "\\u0078": 2}', "key 'x' comes twice in one object"),
    ("b.json", '{"a": "{", "b": [{"c": 1, "d": "\\"c\\": 0", "c": 2}]}', "'c' comes twice in one"),
    ("a.toml", "x = 1\ny = 2\nx = 3\n", "line 3: a key or table comes twice"),
    ("b.toml", "[a]\nx = 1\n[b]\nx = 1\n[a]\ny = 2", "line 5: .* twice .*'a'"),
    ("c.toml", "s = '''\nx = 1\n[a]\n'''\nx = 1\nx = 2\ny = 1\n", "line 6: .* twice"),
    ("d.toml", "x.y = 1\nz = 1\nx = 2\n", "line 3: .* twice"),
    ("e.toml", "y = 1\nx = {a = 1, a = 2}", "line 2: .* twice .*key 'a'"),
    ("a.yaml", "x: 1\ny: {x: 0}\n'x': 2\n", "'x' comes twice .* on lines 1 and 3"),
    ("b.yaml", "x: 1\ny:\n  - {z: 1, z: 2}\n", "'z' comes twice .* on lines 3 and 3"),
    ("c.yaml", "a: &a {b: 1}\nc:\n  <<: *a\n  d: 1\n  d: 2\n", "'d' comes twice .* lines 4 and 5"),
    ("a.csv", 'x,1\n"y\nz",2\nx,3\n', "'x' comes twice, on lines 1 and 4"),
    ("a.tsv", "x\t1\nx\t2\n", "'x' comes twice, on lines 1 and 2"),
    ("a.jsonl", '{"x": 1}\n\n{"key": "x", "value": 3}\n', "'x' comes twice, on lines 1 and 3"),
]

DOTS = "a." * 40
BAD = [
    *TWICE,
    *((f"empty.{form}", "", "") for form in FORMATS if form != "fuzzydict"),
    *((f"blank.{form}", " \n\n", "") for form in ("json", "toml", "yaml", "jsonl")),
    *((f"binary.{form}", b"\x89PNG\r\n\x1a\n\0\0\xff", "not UTF-8") for form in FORMATS[:-2]),
    *((f"wide.{form}", "a,b".encode("utf-16"), "") for form in ("toml", "yaml", "jsonl", "xlsx")),
    *((f"zeros.{form}", b"a\0b\0\n", "") for form in FORMATS),
    *((f"sheet.{form}", b"PK\3\4\xff", "is a zip file, as .xlsx") for form in FORMATS[:-2]),
    ("marked.json", b"\xef\xbb\xbf \r\n", "is empty; expected an object such as"),
    ("open.json", '{\n"color": "black"', "line 2, column 17 is not JSON"),
    ("table.txt", "a,1\n", "or name its format with --format: json, toml"),
    ("more.json", '{"color": "black"} {}', "line 1, column 20 is not JSON"),
    ("latin.json", b'{"color": "gr\xfcn"}', "byte 13 is not UTF-8"),
    ("list.json", "[1, 2]", "holds an array; expected an object"),
    ("deep.json", '{"a":' * 100_000, "nested too deeply"),
    ("long.json", '{"a": ' + "9" * 5000 + "}", "too many digits"),
    ("broken.toml", "color = black\n", "line 1 is not TOML"),
    ("deep.toml", "x = " + "[" * 20_000, "nested too deeply"),
    ("long.toml", "x = " + "9" * 5000, "too many digits"),
    ("broken.yaml", "color: black\n  top: [1\n", "line 2 is not YAML"),
    ("list.yaml", "- color\n- black\n", "holds an array"),
    ("brackets.yaml", "a: " + "[" * 101 + "]" * 101, "nested too deeply, more than 100 brackets"),
    ("deep.yaml", "a:\n  " + "[" * 20_000, "line 2 is not YAML"),
    ("two.yaml", "a: 1\n---\nb: 2\n", "line 2 is not YAML"),
    ("object.yaml", "a: !!python/object/apply:os.system [ls]\n", "line 1 is not YAML"),
    ("key.yaml", "a: 1\n? [b, c]\n: 2\n", "line 2 has a key that is no text"),
    ("date.yaml", "a: 2024-02-31\n", "line 1 is not YAML ('2024-02-31' is not of its type: put"),
    ("long.yaml", "b:\n  a: " + "9" * 5000, "is not of its type: put it in quotes"),
    ("tag.yaml", "!!timestamp x", "line 1 is not YAML (failed to construct timestamp"),
    ("self.yaml", "a: &a [*a]\n", "line 1 holds itself by an alias"),
    ("three.csv", "a,1,x\nb,2,y\n", "line 1 has 3 cells, where a key and a value were expected"),
    ("number.jsonl", "1\n", "line 1: expected"),
    ("many.jsonl", '{"a": 1, "b": 2}\n', "line 1: expected"),
    ("numeric.jsonl", '["a", 1]\n[2, 1]\n', "line 2 has a number as key"),
    ("cut.fuzzydict", b"fuzzydct", "not a fuzzydict file"),
    # What its parser takes, but nobody can print, or takes the square of its size in time.
    ("hex.toml", "a = 0x" + "f" * 20_000, "has too many digits; put it in quotes"),
    ("binary.toml", "a = [{b = 0b" + "1" * 20_000 + "}]", "has too many digits; put it in quotes"),
    ("binary.yaml", "a: 1\nb: 0b" + "1" * 20_000, "too many digits; put it in quotes"),
    ("version.yaml", "%YAML 1.3\n---\na: 1", "is not YAML that can be read"),
    ("digits.yaml", "%YAML " + "9" * 5000 + ".1\n---\na: 1", "is not YAML that can be read"),
    ("sign.yaml", r'a: "\UFFFFFFFF"', "is not YAML that can be read"),
    ("omap.yaml", "a: !!omap [b: 1, b: 2]", "is not YAML that can be read"),
    ("int.yaml", "a: !!int 1:1", "line 1 is not YAML ('1:1' is not of its type"),
    ("parts.toml", "\n" + DOTS + "a = 1", "line 2 has a key of more than 16 parts; use fewer"),
    ("quoted.toml", '"a".' * 40 + "'b' = 1", "line 1 has a key of more than 16 parts"),
    ("text.toml", "x = ['''a'''', {" + DOTS + "a = 1}]", "line 1 has a key of more than 16"),
    ("after.toml", "x = ''\n#'''\n" + DOTS + "a = 1", "line 3 has a key of more than 16 parts"),
]


@pytest.mark.parametrize(("name", "content", "message"), BAD, ids=[bad[0] for bad in BAD])
def test_a_bad_file_is_refused_with_its_name(
    tmp_path: Path, name: str, content: str | bytes, message: str
) -> None:
    with pytest.raises(FileFormatError) as caught:
        read_dict(written(tmp_path, name, content))
    told = str(caught.value)
    assert told.startswith(f"{tmp_path / name}")
    assert re.search(".*".join(map(re.escape, message.split(".*"))), told)
    assert told.endswith("; keep one") == ("twice" in message)


def test_aliases_that_grow_without_end_are_refused(tmp_path: Path) -> None:
    rows = ["a0: &a0 [x]"]
    rows += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    with pytest.raises(FileFormatError, match="aliases repeat too many values"):
        read_dict(written(tmp_path, "bomb.yaml", "\n".join(rows)))


# ---- JSON, and files of other kinds ---------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_the_encodings_of_json_and_their_marks(tmp_path: Path, encoding: str) -> None:
    text = r'{"colour": "grün", "a\udfff": "b\ud800"}'
    path = written(tmp_path, "file", text.encode(encoding))
    assert read_dict(path) == {"colour": "grün", "a\udfff": "b\ud800"}


@pytest.mark.parametrize("name", ["car.fd", "car.json", "car.csv", "car"])
def test_a_saved_dict_is_known_whatever_its_ending_and_keeps_its_options(
    tmp_path: Path, name: str
) -> None:
    d = FuzzyDict({"color": "black", "size": (1, 2), 5: np.arange(3)}, score_cutoff=0.3)
    d.save(tmp_path / name)
    opened = open_dict(tmp_path / name)
    assert (opened["colour"], opened[5].tolist(), opened.score_cutoff) == ("black", [0, 1, 2], 0.3)
    assert read_dict(tmp_path / name, Reading(format="fuzzydict")).keys() == d.keys()
    assert (type(opened), type(read_dict(tmp_path / name))) == (FuzzyDict, dict)
    with pytest.raises(OptionError, match="key and value name columns"):
        open_dict(tmp_path / name, Reading(key="color"))
    with pytest.raises(FileFormatError):
        open_dict(tmp_path / name, Reading(format="json"))


def test_files_of_other_kinds_say_what_they_are(tmp_path: Path) -> None:
    WordVectors(["a"], [[1.0]]).save(tmp_path / "mine.vectors")
    written(tmp_path, "t.parquet", b"PAR1\x15\x04\x15\x20" + bytes(99) + b"PAR1")
    written(tmp_path, "t.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500))
    for name, message in {
        "mine.vectors": "mine.vectors holds .*, where fuzzy dict was expected",
        "t.parquet": r"t\.parquet: is a Parquet file, which",
        "t.xls": r"t\.xls: is an old \.xls workbook, or encrypted; save it as",
    }.items():
        with pytest.raises(FileFormatError, match=message):
            open_dict(tmp_path / name)
    assert read_dict(written(tmp_path, "t.csv", "PAR1,a key\n")) == {"PAR1": "a key"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_dict_may_come_from_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor() as other:
        written = other.submit((tmp_path / "pipe").write_text, '{"color": "black"}')
        assert read_dict(tmp_path / "pipe") == {"color": "black"}
        written.result(timeout=60)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there are no such devices here")
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/full"])
def test_a_device_without_end_is_refused(device: str) -> None:
    path = Path(device)
    for form in FORMATS:
        with pytest.raises((OSError, FileFormatError), match=device):
            open_dict(path, Reading(format=form))
    with pytest.raises(FileFormatError, match=f"^{device}: is a device; expected a file or a pipe"):
        read_dict(path)
    with pytest.raises(FileFormatError, match="is empty"):
        read_dict(Path(os.devnull))
    with pytest.raises(OSError, match="/proc/self/mem"):  # the error of reading names the file, too
        read_dict(Path("/proc/self/mem"), Reading(format="json"))
