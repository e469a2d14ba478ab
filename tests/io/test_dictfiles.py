"""Files that hold a dict: what json gives, or one clear line about what is wrong."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import FileFormatError, FuzzyDict, OptionError, WordVectors
from fuzzydict.io.dict_files import open_dict, read_dict

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=6,
)


@given(st.dictionaries(st.text(), VALUES))
def test_any_object_is_read_as_json_reads_it(
    tmp_path_factory: pytest.TempPathFactory, content: dict[str, Any]
) -> None:
    path = tmp_path_factory.mktemp("any") / "file"
    path.write_text(json.dumps(content))
    assert read_dict(path) == content
    assert list(read_dict(path)) == list(content)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_the_encodings_of_json_and_their_marks(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "file").write_bytes('{"colour": "grün"}'.encode(encoding))
    assert read_dict(tmp_path / "file") == {"colour": "grün"}


def test_a_lone_surrogate_is_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text(r'{"a\udfff": "b\ud800"}')
    assert read_dict(tmp_path / "file") == {"a\udfff": "b\ud800"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty; expected an object such as"),
        (b"\xef\xbb\xbf \r\n", "is empty; expected an object such as"),
        (b"color: black", "line 1, column 1 is not JSON"),
        (b'{\n "color": black}', "line 2, column 11 is not JSON"),
        (b"{'color': 'black'}", "line 1, column 2 is not JSON"),
        (b'{"color": "black"', r"line 1, column 18 is not JSON"),
        (b'{"color": "black"} {}', "line 1, column 20 is not JSON"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "byte 0 is not UTF-8"),
        (b'{"color": "gr\xfcn"}', "byte 13 is not UTF-8"),
        (b"[1, 2]", "holds an array; expected an object"),
        (b'"black"', "holds a string; expected an object"),
        (b"3", "holds a number; expected an object"),
        (b"3.5", "holds a number; expected an object"),
        (b"true", "holds a boolean; expected an object"),
        (b"null", "holds null; expected an object"),
        (b'{"a": 1, "b": 2, "a": 1}', "the key 'a' comes twice"),
        (b'{"a": {"x": 1, "x": 2}}', "the key 'x' comes twice"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b'{"a": ' + b"9" * 5000 + b"}", "too many digits"),
    ],
    ids=lambda content: repr(content)[:30],
)
def test_anything_else_is_told_with_the_name_of_the_file(
    tmp_path: Path, content: bytes, message: str
) -> None:
    (tmp_path / "file.json").write_bytes(content)
    with pytest.raises(FileFormatError, match=rf"file\.json: .*{message}"):
        read_dict(tmp_path / "file.json")


def test_a_key_that_comes_twice_is_found_among_many(tmp_path: Path) -> None:
    pairs = ", ".join(f'"key {i}": {i}' for i in range(200_000))
    (tmp_path / "file").write_text(f'{{{pairs}, "key 199999": 0}}')
    with pytest.raises(FileFormatError, match="the key 'key 199999' comes twice"):
        read_dict(tmp_path / "file")


@pytest.mark.parametrize("name", ["car.fd", "car.json", "car.csv", "car", "car.yaml"])
def test_a_saved_dict_is_known_whatever_its_ending(tmp_path: Path, name: str) -> None:
    d = FuzzyDict({"color": "black", "size": (1, 2)}, score_cutoff=0.3)
    d.save(tmp_path / name)
    opened = open_dict(tmp_path / name)
    assert (opened, opened.score_cutoff) == (d, 0.3)
    assert read_dict(tmp_path / name) == d
    assert (type(opened), type(read_dict(tmp_path / name))) == (FuzzyDict, dict)
    with pytest.raises(OptionError, match="key and value name columns"):
        open_dict(tmp_path / name, key="color")
    with pytest.raises(FileFormatError):
        open_dict(tmp_path / name, format="json")  # as it is told


def test_other_files_of_ours_and_parquet_say_what_they_are(tmp_path: Path) -> None:
    WordVectors(["a"], [[1.0]]).save(tmp_path / "mine.vectors")
    with pytest.raises(FileFormatError, match=r"mine.vectors holds .*, where fuzzy dict was exp"):
        open_dict(tmp_path / "mine.vectors")
    (tmp_path / "t.parquet").write_bytes(b"PAR1\x15\x04\x15\x20" + bytes(99) + b"PAR1")
    with pytest.raises(FileFormatError, match=r"t\.parquet: is a Parquet file, from which no dict"):
        open_dict(tmp_path / "t.parquet")
    (tmp_path / "keys.csv").write_text("PAR1,a key like another\n")
    assert read_dict(tmp_path / "keys.csv") == {"PAR1": "a key like another"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_dict_may_come_from_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor() as other:
        written = other.submit((tmp_path / "pipe").write_text, '{"color": "black"}')
        assert read_dict(tmp_path / "pipe") == {"color": "black"}
        written.result(timeout=60)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read_dict(tmp_path / "nowhere")
    with pytest.raises(IsADirectoryError):
        read_dict(tmp_path)
