"""Files of arrays: read back bit for bit or refused, and written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fuzzydict._files import read_arrays, replacing, write_arrays
from fuzzydict.errors import ArgumentTypeError, FileFormatError
from tests.support.interrupting import at_line
from tests.support.properties import examples

posix = pytest.mark.skipif(os.name != "posix", reason="files are those of POSIX")


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    path = tmp_path / "some.file"
    arrays: dict[str, Any] = {
        "a": np.arange(3, dtype=np.int16),
        "empty": np.zeros((0, 2)),
        "b": np.ones((2, 3)),
    }
    write_arrays(path, "test", {"note": "é"}, arrays)
    return path


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=6,
)


ARRAYS = hnp.arrays(
    hnp.boolean_dtypes() | hnp.integer_dtypes() | hnp.floating_dtypes(sizes=(16, 32, 64)),
    hnp.array_shapes(min_dims=0, min_side=0),
)


@examples(60)
@given(
    st.dictionaries(st.text(), JSON, max_size=3),
    st.dictionaries(st.text(), ARRAYS, max_size=3),
    st.sampled_from([lambda a: a, lambda a: a.T, lambda a: np.flip(a), lambda a: a[..., None][:]]),
)
def test_any_meta_and_any_arrays_come_back_bit_for_bit(
    tmp_path_factory: pytest.TempPathFactory, meta: Any, arrays: dict[str, Any], lay: Any
) -> None:
    path = tmp_path_factory.mktemp("any") / "file"
    arrays = {name: lay(array) for name, array in arrays.items()}
    write_arrays(path, "test", meta, arrays)
    read = read_arrays(path, "test")
    assert read.meta == meta
    assert list(read.arrays) == list(arrays)
    for name, array in arrays.items():
        expected = array.astype(array.dtype.newbyteorder("<"))
        assert (read.arrays[name].dtype, read.arrays[name].shape) == (expected.dtype, array.shape)
        assert read.arrays[name].tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", ["U3", "O", "c16", "M8[D]", "S2"])
def test_arrays_that_no_file_may_hold_are_not_written(tmp_path: Path, dtype: str) -> None:
    with pytest.raises(ArgumentTypeError, match="array 'a': dtype"):
        write_arrays(tmp_path / "file", "test", {}, {"a": np.zeros(2, dtype)})
    assert not list(tmp_path.iterdir())


# ---- damage -------------------------------------------------------------------------------


def test_any_byte_that_changes_is_noticed(stored: Path) -> None:
    data = stored.read_bytes()
    for place in range(len(data)):
        for mask in (0x01, 0x80):
            stored.write_bytes(data[:place] + bytes([data[place] ^ mask]) + data[place + 1 :])
            with pytest.raises(FileFormatError, match=stored.name):
                read_arrays(stored, "test")


def test_any_missing_end_anything_after_it_and_another_kind_are_noticed(stored: Path) -> None:
    with pytest.raises(FileFormatError, match="holds test, where word vectors was expected"):
        read_arrays(stored, "word vectors")
    data = stored.read_bytes()
    for wrong in (*(data[:size] for size in range(len(data))), data + b"\0" * 64, data + b"more"):
        stored.write_bytes(wrong)
        with pytest.raises(FileFormatError, match=stored.name):
            read_arrays(stored, "test")


# ---- all or nothing -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "error", "message"),
    [
        ("os.fsync", OSError(28, "No space left on device"), r"left on device: '.*some\.file'"),
        ("pathlib.Path.replace", KeyboardInterrupt(), None),
        (None, TypeError(), "JSON"),
    ],
)
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    stored: Path, monkeypatch: pytest.MonkeyPatch, place: Any, error: Any, message: str | None
) -> None:
    def fail(*_: object) -> None:
        raise error

    before = stored.read_bytes()
    if place:
        monkeypatch.setattr(place, fail)
    with pytest.raises(type(error), match=message):
        write_arrays(stored, "test", {} if place else {"a": object()}, {"a": np.zeros(9)})
    assert stored.read_bytes() == before
    assert list(stored.parent.iterdir()) == [stored]


def test_a_name_may_be_as_long_as_the_file_system_takes(tmp_path: Path) -> None:
    path = tmp_path / ("é" * 127)
    write_arrays(path, "test", {}, {"a": np.ones(3)})
    assert read_arrays(path, "test").arrays["a"].sum() == 3
    with pytest.raises(OSError, match="name too long"):
        write_arrays(tmp_path / ("é" * 128), "test", {}, {})
    assert list(tmp_path.iterdir()) == [path]


class Interrupted(BaseException):
    """What a signal handler may raise anywhere."""


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # the file that is being opened
def test_an_exception_at_any_line_leaves_one_whole_file(tmp_path: Path) -> None:
    path, places = tmp_path / "file", 0
    outcomes = set()

    def write() -> None:
        write_arrays(path, "test", {}, {"a": np.arange(3.0, 7.0)})

    def is_traced(file: str) -> bool:
        return Path(file).stem in ("_files", "contextlib")

    write_arrays(path, "test", {}, {"a": np.arange(3.0)})
    old, is_interrupted = path.read_bytes(), True
    while is_interrupted:
        places += 1
        path.write_bytes(old)
        is_interrupted = at_line(write, places, Interrupted, is_traced) >= places
        assert list(tmp_path.iterdir()) == [path]
        outcomes.add(tuple(read_arrays(path, "test").arrays["a"].tolist()))
    assert places > 50
    assert outcomes == {(0, 1, 2), (3, 4, 5, 6)}


# ---- links, devices, permissions -------------------------------------------------------------


@posix
def test_a_link_stays_a_link_and_a_loop_of_them_is_an_error_that_names_it(tmp_path: Path) -> None:
    link, target = tmp_path / "link", tmp_path / "target"
    link.symlink_to(target)  # which is not there yet
    for size in (1, 2):
        write_arrays(link, "test", {}, {"a": np.zeros(size)})
        assert link.is_symlink()
        assert read_arrays(target, "test").arrays["a"].size == size
    target.unlink()
    target.symlink_to(link)
    with pytest.raises(OSError, match=r"symbolic links: '.*link'"):
        write_arrays(link, "test", {}, {})
    assert link.is_symlink()
    assert sorted(tmp_path.iterdir()) == [link, target]


@posix
@pytest.mark.parametrize(("before", "mode"), [(None, 0o640), (0o604, 0o604), (0o666, 0o666)])
def test_who_may_read_a_file_the_umask_says_or_the_file_it_replaces(
    tmp_path: Path, before: int | None, mode: int
) -> None:
    path, umask = tmp_path / "new", os.umask(0o027)
    try:
        if before is not None:
            path.touch()
            path.chmod(before)
        with replacing(path) as file:
            (beside,) = (one for one in tmp_path.iterdir() if one != path)
            assert beside.stat().st_mode & 0o777 == mode  # and so it is while it is written
            file.write(b"secret")
    finally:
        os.umask(umask)
    assert path.stat().st_mode & 0o777 == mode
