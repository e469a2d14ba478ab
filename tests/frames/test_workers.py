"""Texts looked up by several processes: each once, whatever dies, and with one clear error."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import pytest

from fuzzydict import OptionError, WorkerError
from fuzzydict.frames.dask import LOCAL
from fuzzydict.frames.workers import answering
from tests.support.frames import until

TEXTS = [f"text {i}" for i in range(300)]
SLOW = pytest.mark.slow("it starts several processes")
needs_dask = pytest.mark.skipif(find_spec("distributed") is None, reason="Dask is not installed")


@pytest.fixture(autouse=True)
def _processes_find_this_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the end of the path, so that the installed package comes first."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(Path(__file__).parents[2])])


class Noted:
    """Answers each text by its length, and notes in a folder which process was asked what.

    It answers nothing before so many processes were asked, so that each gets some texts.
    """

    def __init__(self, folder: Path, processes: int = 1) -> None:
        self.folder, self.processes = folder, processes

    def __call__(self, texts: list[str]) -> list[int]:
        with (self.folder / f"{os.getpid()}.txt").open("a") as file:
            file.writelines(f"{text}\n" for text in texts)
        until(lambda: len(self.asked()) >= self.processes)
        return list(map(len, texts))

    def asked(self) -> dict[str, list[str]]:
        """Return the texts that each process was asked."""
        return {path.stem: path.read_text().splitlines() for path in self.folder.iterdir()}


def die(_texts: list[str]) -> NoReturn:
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
    raise AssertionError


class OddError(Exception):
    """Cannot be made again from its text alone."""

    def __init__(self, one: int, other: int) -> None:
        super().__init__(f"{one} and {other}")


def refuse(_texts: list[str]) -> NoReturn:
    raise OptionError("this is refused")


def raise_odd(_texts: list[str]) -> NoReturn:
    raise OddError(1, 2)


@pytest.fixture
def noted(tmp_path: Path) -> Noted:
    (tmp_path / "noted").mkdir()
    return Noted(tmp_path / "noted")


def answers(matcher: Any, texts: Any = TEXTS, **how: Any) -> dict[str, Any]:
    with answering(matcher, **how) as answer:
        return dict(zip(texts, answer(texts), strict=True))


def test_this_process_answers_by_default(noted: Noted) -> None:
    assert answers(noted) | answers(noted, [], jobs=1) == {text: len(text) for text in TEXTS}
    assert noted.asked() == {str(os.getpid()): TEXTS}


LOCAL_CLUSTER = pytest.param(LOCAL, marks=[pytest.mark.more, needs_dask])


@pytest.mark.parametrize("scheduler", [None, LOCAL_CLUSTER])
def test_several_processes_look_up_each_text_once(noted: Noted, scheduler: Any) -> None:
    noted.processes = 2
    found = answers(noted, jobs=2, scheduler=scheduler)
    assert found == {text: len(text) for text in TEXTS}
    asked = noted.asked()
    assert len(asked.keys() - {str(os.getpid())}) == len(asked) == 2
    assert Counter(text for texts in asked.values() for text in texts) == Counter(TEXTS)


# ---- what goes wrong --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("jobs", "matcher", "kind", "message"),
    [
        (1, refuse, OptionError, r"^this is refused$"),
        pytest.param(2, refuse, OptionError, r"^this is refused$", marks=SLOW),
        pytest.param(2, raise_odd, WorkerError, r"^OddError: 1 and 2$", marks=SLOW),
        pytest.param(2, die, WorkerError, r"^a process ended .* fewer jobs$", marks=SLOW),
    ],
)
def test_an_error_of_the_matcher_or_its_end_is_raised_here(
    jobs: int, matcher: Any, kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        answers(matcher, jobs=jobs)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no /proc to see processes in")
@SLOW
@pytest.mark.parametrize("sent", ["SIGKILL", "SIGINT"])
def test_workers_end_with_their_process(noted: Noted, sent: str) -> None:
    """If it is killed, so that it can end nothing itself, and at Ctrl-C, which all get."""
    code = (
        f"import sys; sys.path.append({str(Path(__file__).parents[2])!r})\n"
        "from pathlib import Path\n"
        "from fuzzydict.frames.workers import answering\n"
        "from tests.frames.test_workers import Noted\n"
        f"noted = Noted(Path({str(noted.folder)!r}), 2)\n"
        "with answering(noted, jobs=2) as answer: answer([*map(str, range(10**6))])\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
    try:
        until(lambda: len(noted.asked()) == 2)
        workers = [int(pid) for pid in noted.asked()]
        number = getattr(signal, sent)
        os.killpg(process.pid, number) if sent == "SIGINT" else process.send_signal(number)
        process.wait()
        until(lambda: not any(map(is_running, workers)))
    finally:
        process.kill()


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


# ---- Dask -------------------------------------------------------------------------------------


@needs_dask
@pytest.mark.more
def test_a_cluster_is_found_by_its_address(noted: Noted) -> None:
    from distributed import LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster:
        address = cluster.scheduler_address
        assert answers(noted, scheduler=address) == {text: len(text) for text in TEXTS}
        with pytest.raises(OptionError, match=r"^this is refused$"):
            answers(refuse, scheduler=address)
        with pytest.raises(WorkerError, match=r"OddError: 1 and 2"):
            answers(raise_odd, scheduler=address)


@needs_dask
@pytest.mark.more
def test_a_scheduler_that_is_not_there_is_told() -> None:
    import dask

    with dask.config.set({"distributed.comm.timeouts.connect": "300ms"}):
        for address in ("tcp://127.0.0.1:9", "nonsense", "x://y"):
            with pytest.raises(WorkerError, match=f"'{address}' cannot be reached"):
                answers(len, scheduler=address)
