"""Files that somebody changed by hand or by accident: each is read, or refused with its name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import FileFormatError, FuzzyDict
from fuzzydict.io.dict_files import read_dict
from fuzzydict.io.records import as_json
from fuzzydict.io.review import DecidedFile, read_examples
from tests.io.files import clean

DICTS = {
    "json": r'{"a": {"b": [1, 2.5, null, "x\u00e9"]}, "c": "d"}',
    "toml": 'a = 1\n[b]\nc = "x"\n[[d]]\ne = 2024-01-01\n"q w" = {x = 1, y = [1, 2]}\n',
    "yaml": 'a: 1\nb: &x {c: d}\ne:\n - *x\n? k\n: "v"\nf: |\n  text\n<<: *x\ng: !!float 1\n',
    "csv": 'key,value\na,b\n"c ""d""",e\n',
    "tsv": "a\tb\nc\td\n",
    "jsonl": '{"key": "a", "value": 1}\n["b", 2]\n{"c": 3}\n',
}
TABLES = {
    "csv": 'query,target,n\na,b,"1, 2"\n"c ""d""",,\n',
    "tsv": "target\tquery\na\tb\nc\td\n",
    "jsonl": '{"query": "a", "target": "b"}\n{"target": null, "query": "c"}\n',
}
SIGNS = st.sampled_from([*"{}[]:,\"'\\\n\r\t &*!<>|-?%@#=.019eaxNO~\ufeff\0\x85\u2028é"])
CHANGES = st.lists(st.tuples(st.integers(0, 99), st.integers(0, 3), SIGNS), max_size=4)


def changed(text: str, changes: list[tuple[int, int, str]]) -> bytes:
    for place, length, sign in changes:
        text = text[:place] + sign + text[place + length :]
    return text.encode()


def check(path: Path, read: Callable[[Path], Any]) -> Any:
    """Return what is read, or None where the file is refused with its name."""
    try:
        return read(path)
    except FileFormatError as error:
        assert str(error).startswith(str(path))  # noqa: PT017 - it may be read as well
        return None


@pytest.mark.filterwarnings("ignore:.*read with")
@pytest.mark.parametrize("form", DICTS)
@given(CHANGES, st.binary(max_size=20) | st.none())
def test_a_dict_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory,
    form: str,
    changes: list[tuple[int, int, str]],
    noise: bytes | None,
) -> None:
    path = tmp_path_factory.getbasetemp() / f"mutated.{form}"
    path.write_bytes(changed(DICTS[form], changes) if noise is None else noise)
    content = check(path, read_dict)
    assert content is None or all(type(key) is str for key in content)
    assert content is None or "\n" not in as_json(content)


@pytest.mark.more
@pytest.mark.parametrize("form", TABLES)
@given(CHANGES)
def test_a_table_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, form: str, changes: list[tuple[int, int, str]]
) -> None:
    folder = tmp_path_factory.getbasetemp()
    path, output = folder / f"mutated.{form}", folder / "mutated.out"
    path.write_bytes(changed(TABLES[form], changes))
    output.write_text("old")
    examples = check(path, read_examples)
    assert examples is None or all(query.strip() for query, _ in examples)
    d = FuzzyDict({"a": 1})
    decided = check(path, lambda file: DecidedFile(file, d))
    assert decided is None or {one.key for one in decided.decisions} <= {"a", None}
    counts = check(path, lambda table: clean(d, table, "query", output))
    assert (counts is None) == (output.read_text("utf-8") == "old")
