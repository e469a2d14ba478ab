"""A dict in a file that several processes ask: what they answer, open, encode and refuse."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import sys
import threading
import zlib
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from fuzzydict import ArgumentTypeError, FileFormatError, FuzzyDict, Match, Matcher, OptionError
from tests.support.frames import COLUMNS, listed

CAR = {"brand": "Porsche", "color": "black", "top speed": 260}
ASKED = ["colour", "qwzzt", "brnd", "colour", "TopSpeed"]
#: Ways to start processes that this system has.
WAYS = multiprocessing.get_all_start_methods()
#: Where a process starts anew, by a server or not, it does the same.
LIKE_SPAWN = pytest.mark.skipif(
    "FUZZYDICT_SLOW" not in os.environ, reason="much as spawn; set FUZZYDICT_SLOW=1"
)
EACH = [pytest.param(way, marks=LIKE_SPAWN if way == "forkserver" else ()) for way in WAYS]


@pytest.fixture(autouse=True)
def _processes_find_this_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the end of the path, so that the installed package comes first."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(Path(__file__).parents[2])])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    FuzzyDict(CAR).save(tmp_path / "car.fuzzydict")
    return tmp_path / "car.fuzzydict"


def encode(texts: list[str]) -> Any:
    """Return vectors (n, 8) that say nothing, as another encoder's."""
    seeds = [zlib.crc32(text.lower().encode()) for text in texts]
    return np.array([np.random.default_rng(seed).normal(size=8) for seed in seeds])


# ---- what it answers --------------------------------------------------------------------------


def test_a_pickle_is_small_and_finds_the_file_from_any_folder(
    path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    FuzzyDict({f"key {i}": i for i in range(3000)}, scorer="spelling").save(path)
    monkeypatch.chdir(path.parent)
    with pytest.raises(OptionError, match="score_cutoff"):
        Matcher(path, score_cutoff=float("nan"))
    pickled = pickle.dumps(Matcher(path.name, score_cutoff=0.9))
    assert len(pickled) < 1000
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    again = pickle.loads(pickled)
    assert repr(again) == f"Matcher({str(path)!r}, score_cutoff=0.9)"
    assert again(["key 17", "qwzzt"]) == [Match("key 17", 17, 1.0), None]
    FuzzyDict(CAR, score_cutoff=0.999).save(path)
    assert Matcher(path)(["brnd"]) == [None]


@pytest.mark.parametrize("library", COLUMNS)
def test_a_list_is_answered_by_matches_and_a_column_by_a_frame(path: Path, library: str) -> None:
    d, matcher = FuzzyDict(CAR), Matcher(path)
    found = matcher(ASKED)
    assert found == d.nearest(ASKED, default=None)
    assert [match and match.value for match in found] == ["black", None, "Porsche", "black", 260]
    assert (matcher([]), matcher([None, 3])) == ([], [None, None])
    column = COLUMNS[library]([*ASKED, None])
    frame, expected = matcher(column), d.match(column)
    assert type(frame) is type(expected)
    assert listed(frame) == listed(expected)


# ---- several processes ------------------------------------------------------------------------

CHUNKS = [ASKED, ASKED[:1], [], ASKED[::-1]]


def threads_of(matcher: Matcher) -> int:
    matcher(["colour"])
    return max(int(one["num_threads"]) for one in threadpool_info())


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("way", EACH)
def test_processes_answer_as_one_does_and_compute_with_one_thread(
    path: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    d = FuzzyDict(CAR)
    Matcher(path)(["brnd"])  # which a fork has open
    with ProcessPoolExecutor(2, multiprocessing.get_context(way)) as pool:
        assert pool.submit(threads_of, Matcher(path)).result() == 1
        for found, chunk in zip(pool.map(Matcher(path), CHUNKS), CHUNKS, strict=True):
            expected = d.nearest(chunk, default=None)
            assert [one and one[:2] for one in found] == [one and one[:2] for one in expected]
            scores = [one and one.score for one in expected]
            assert [one and one.score for one in found] == pytest.approx(scores)


def test_threads_open_the_file_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load, opened = FuzzyDict.load, list[str]()

    def counted(*arguments: Any, **options: Any) -> Any:
        opened.append(threading.current_thread().name)
        return load(*arguments, **options)

    monkeypatch.setattr(FuzzyDict, "load", counted)
    matcher = Matcher(path)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(matcher, [ASKED] * 32))
    assert found == [FuzzyDict(CAR).nearest(ASKED, default=None)] * 32
    assert len(opened) == 1


# ---- embeddings -------------------------------------------------------------------------------


def test_an_embedding_that_no_process_gets_is_refused(tmp_path: Path) -> None:
    FuzzyDict(CAR, embedding=encode).save(tmp_path / "d")
    with pytest.raises(ArgumentTypeError, match=r"cannot be pickled.*at the top level of a module"):
        Matcher(tmp_path / "d", embedding=lambda texts: encode(texts))
    with pytest.raises(ArgumentTypeError, match="embedding: expected None"):
        Matcher(tmp_path / "d", embedding=3)
    for wrong in (None, "english"):
        with pytest.raises(OptionError, match="pass the function as embedding="):
            Matcher(tmp_path / "d", embedding=wrong)(["colour"])


# ---- files ------------------------------------------------------------------------------------


def test_a_file_that_changed_or_is_gone_is_one_clear_error(path: Path) -> None:
    matcher = Matcher(path)
    FuzzyDict({**CAR, "color": "white"}).save(path)
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        with pytest.raises(OptionError, match=r"not the file that the Matcher was made with"):
            pool.submit(matcher, ["colour"]).result()
        assert pool.submit(Matcher(path), ["colour"]).result()[0].value == "white"
        other = Matcher(path, score_cutoff=0.6, embedding="english")
        path.unlink()
        with pytest.raises(FileNotFoundError, match=r"each process.*where every host finds it"):
            pool.submit(other, ["colour"]).result()


def test_a_damaged_file_is_opened_again_once_it_is_mended(tmp_path: Path) -> None:
    path, copy = tmp_path / "d", tmp_path / "copy"
    FuzzyDict({f"key {i}": i for i in range(6000)}).save(copy)
    data = bytearray(copy.read_bytes())
    data[len(data) // 2] ^= 255
    path.write_bytes(data)
    matcher = Matcher(path)
    for _ in range(2):
        with pytest.raises(FileFormatError, match="damaged"):
            matcher(["key 17"])
    copy.replace(path)
    assert [match.value for match in matcher(["key 17"])] == [17]


def test_what_is_open_answers_until_the_new_file_is_asked(path: Path) -> None:
    old = Matcher(path)
    old(["colour"])
    FuzzyDict({**CAR, "color": "white"}).save(path)
    assert old(["colour"])[0].value == "black"
    assert Matcher(path)(["colour"])[0].value == "white"
    with pytest.raises(OptionError, match="it was saved again"):
        old(["colour"])


def test_what_is_no_file_of_a_dict_or_no_list_is_refused_at_once(
    path: Path, tmp_path: Path
) -> None:
    with pytest.raises(FileNotFoundError, match="none"):
        Matcher(tmp_path / "none")
    (tmp_path / "text").write_text("color, black")
    with pytest.raises(FileFormatError, match="not a fuzzydict file"):
        Matcher(tmp_path / "text")
    with pytest.raises(OptionError, match="expected postgresql://") as error:
        Matcher("mysql://me:secret@host/db?table=keys")
    assert "secret" not in str(error.value)
    for text in ("colour", b"colour"):
        with pytest.raises(ArgumentTypeError, match="give a list of one"):
            Matcher(path)(text)
