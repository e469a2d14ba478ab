"""Saving is all or nothing: where it fails or is killed, the old file or the new one is whole."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from decimal import Decimal
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from fuzzydict import ArgumentTypeError, FuzzyDict
from tests.saving.test_saving import nested

KILLS = 100 if os.environ.get("FUZZYDICT_SLOW") else 10


def one_hot(texts: list[str]) -> Any:
    return np.eye(5)[[sum(map(ord, text)) % 5 for text in texts]]


# ---- what is refused at save --------------------------------------------------------------


class Level(IntEnum):
    LOW = 1


class Pair(NamedTuple):
    x: int


CYCLE: list[Any] = []
CYCLE.append(CYCLE)
REFUSED = [
    *(object(), b"bytes", {1, 2}, 1j, Decimal(1), Level.LOW, Pair(1), len, nested(102), CYCLE),
    *(np.array([object()]), np.array(["text"]), np.complex128(1), np.datetime64("2020")),
    *(np.array([1.0]).view(np.ma.MaskedArray), np.ones((1,) * 32), FuzzyDict(), [{"a": [set()]}]),
]


@pytest.mark.parametrize("value", REFUSED, ids=lambda value: type(value).__name__)
def test_a_value_that_cannot_be_saved_is_refused_with_the_first_such_key(
    tmp_path: Path, value: Any
) -> None:
    d: FuzzyDict[Any] = FuzzyDict(
        {"fine": 1, "first": value, "second": object()}, embedding=one_hot
    )
    (tmp_path / "saved").write_text("old")
    with pytest.raises(ArgumentTypeError, match=r"the item of key 'first' cannot be saved: .*conv"):
        d.save(tmp_path / "saved")
    assert (tmp_path / "saved").read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_keys_that_cannot_be_saved_are_refused(tmp_path: Path) -> None:
    for key in (frozenset({1}), b"bytes", Level.LOW, type("Text", (str,), {})("x")):
        with pytest.raises(ArgumentTypeError, match=r"the item of key .* cannot be saved"):
            FuzzyDict({"a": 1, key: 2}, embedding=one_hot).save(tmp_path / "saved")
    assert not list(tmp_path.iterdir())


def test_a_function_as_scorer_is_refused(tmp_path: Path) -> None:
    d = FuzzyDict({"a": 1}, embedding=one_hot, scorer=lambda q, k: q @ k.T)
    with pytest.raises(ArgumentTypeError, match=r"scorer: .*holds no functions; set d.scorer"):
        d.save(tmp_path / "saved")


# ---- where it cannot be written -----------------------------------------------------------


def test_there_is_no_such_folder_or_file(tmp_path: Path) -> None:
    d = FuzzyDict({"a": 1}, embedding=one_hot)
    with pytest.raises(FileNotFoundError):
        d.save(tmp_path / "none" / "saved")
    with pytest.raises(FileNotFoundError):
        FuzzyDict.load(tmp_path / "saved")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        d.save(tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
@pytest.mark.parametrize("name", ["pipe", "link"])
def test_what_is_no_regular_file_is_written_into_and_not_replaced(
    tmp_path: Path, name: str
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    d = FuzzyDict({"a": 1, "b": np.arange(3.0)}, embedding=one_hot)
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        d.save(tmp_path / name)
        received = os.read(reader, 2**16)
    finally:
        os.close(reader)
    d.save(tmp_path / "saved")
    assert received == (tmp_path / "saved").read_bytes()
    assert (tmp_path / "pipe").is_fifo()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "pipe", "saved"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to any folder")
def test_a_folder_that_is_read_only(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(PermissionError):
            FuzzyDict({"a": 1}, embedding=one_hot).save(tmp_path / "saved")
    finally:
        tmp_path.chmod(0o700)
    assert not list(tmp_path.iterdir())


FULL = """
import resource, signal, sys
from fuzzydict import FuzzyDict
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
d = FuzzyDict({f"key {i}": i for i in range(1000)}, embedding=lambda t: [[1.0] * 9 for _ in t])
try:
    d.save(sys.argv[1])
except OSError as error:
    print(error.errno)
"""


def test_a_disk_that_is_full_leaves_the_old_file_and_no_litter(tmp_path: Path) -> None:
    FuzzyDict({"old": 1}, embedding=one_hot).save(tmp_path / "saved")
    child = [sys.executable, "-c", FULL, str(tmp_path / "saved")]
    ran = subprocess.run(child, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == [str(errno.EFBIG)]
    assert FuzzyDict.load(tmp_path / "saved", embedding=one_hot) == {"old": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["saved"]


# ---- kill -9 ------------------------------------------------------------------------------

SAVING = """
import sys
import numpy as np
from fuzzydict import FuzzyDict
d = FuzzyDict(dict.fromkeys(map(str, range(2000)), 0), embedding=lambda t: np.ones((len(t), 400)))
for i in range(10**9):
    d.update(dict.fromkeys(d, i))
    d.save(sys.argv[1])
    if not i:
        print("saving", flush=True)
"""


def test_a_process_killed_while_it_saves_leaves_a_whole_file(tmp_path: Path) -> None:
    path, chance = tmp_path / "saved", np.random.default_rng(0)
    beside = set()
    for _ in range(KILLS):
        child = [sys.executable, "-c", SAVING, str(path)]
        with subprocess.Popen(child, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(chance.uniform(0, 0.05))
            process.send_signal(signal.SIGKILL)
        back: Any = FuzzyDict.load(path, embedding=lambda texts: np.ones((len(texts), 400)))
        assert len(back) == 2000
        assert len(set(back.values())) == 1
        beside |= {name for name in os.listdir(tmp_path) if name != "saved"}  # noqa: PTH208
    if KILLS >= 100:  # some were killed amid writing, or nothing was tested
        assert beside
    print(f"{KILLS} kills, {len(beside)} of them amid writing")
