"""What the commands share: runs timed in turns, memory, child processes, printed figures."""

from __future__ import annotations

import importlib
import os
import signal
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fuzzydict.evaluation import environment, markdown_table

Run = Callable[[], object]


class Case(NamedTuple):
    """What is measured: a run of ours, runs of peers by their names, and how often.

    A run does the thing ``times`` times; what is told is the time of once.
    """

    what: str
    ours: Run
    peers: Mapping[str, Run | None]  # None: not installed, and left out
    samples: int = 21
    times: int = 1
    among: str | None = None  # the column of a table with a row for each ``what``


class Figures(NamedTuple):
    median: float
    low: float
    high: float


class Row(NamedTuple):
    """A line of the table: what was measured, our seconds, and a peer's where there is one."""

    case: Case
    ours: Figures
    peer: str | None
    theirs: Figures | None


def measured(case: Case, clock: Callable[[], float] = time.perf_counter) -> Iterator[Row]:
    """Time the runs of a case in turns, after a first turn that is not told of; yield its rows."""
    runs = {"": case.ours} | {name: run for name, run in case.peers.items() if run}
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for sample in range(case.samples + 1):
        for name, run in runs.items():
            taken = timed(run, clock)
            if sample:
                seconds[name].append(taken / case.times)
    found = {name: figures(taken) for name, taken in seconds.items()}
    ours = found.pop("")
    for peer, theirs in found.items() or [(None, None)]:
        yield Row(case, ours, peer, theirs)


def timed(run: Run, clock: Callable[[], float] = time.perf_counter) -> float:
    start = clock()
    run()
    return clock() - start


def processor_time() -> float:
    """Return the seconds that processors worked for this process and those it waited for.

    Other programs on a busy machine add little to it. All threads count.
    """
    import resource  # on POSIX only

    done = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + done.ru_utime + done.ru_stime


class Compared(NamedTuple):
    """What two dicts took for the same queries, in seconds, and how far their answers differ."""

    exact: list[float]
    other: list[float]
    processor: list[float]  # of this process, for the other
    found: float  # share of queries with the same best key, or one that scores the same
    off: float  # how far the other's score is off, in 19 of 20 queries, as a share of it
    apart: list[float]  # how far both scores are apart


def compared(exact: Any, other: Any, queries: Iterable[str], warm: int = 20) -> Compared:
    """Ask two dicts for their best keys in turns; the first ``warm`` queries do not count."""
    rows = []
    for query in queries:
        start = time.perf_counter()
        (right,) = exact.most_similar(query, 1)
        between, used = time.perf_counter(), processor_time()
        (found,) = other.most_similar(query, 1)
        end, used = time.perf_counter(), processor_time() - used
        is_same = right.key == found.key or abs(right.score - found.score) < 1e-6
        off = abs(found.score / right.score - 1) if right.score else 0.0
        apart = abs(found.score - right.score)
        rows.append((between - start, end - between, used, is_same, off, apart))
    if len(rows) <= warm:
        sys.exit(f"error: there are no more than {warm} queries of a kind; take more keys")
    slow, fast, processor, same, offs, apart = map(list, zip(*rows[warm:], strict=True))
    off = float(np.quantile(offs, 0.95))
    return Compared(slow, fast, processor, float(np.mean(same)), off, apart)


def figures(numbers: Iterable[float]) -> Figures:
    found = sorted(numbers)
    if len(found) < 2:
        return Figures(found[0], found[0], found[0])
    low, median, high = statistics.quantiles(found, n=4, method="inclusive")
    return Figures(median, low, high)


def shown(seconds: float, *others: float) -> str:
    """Return seconds as people read them, such as "1.23 ms (1.2 to 1.3)": with quartiles."""
    units = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
    scale, unit = next((u for u in units if seconds >= u[0]), units[-1])
    numbers = [number / scale for number in (seconds, *others)]
    median, *ends = (f"{n:.0f}" if n >= 100 else f"{n:.3g}" for n in numbers)
    return f"{median} {unit}" + (f" ({' to '.join(ends)})" if len({*ends}) > 1 else "")


def each(function: Callable[[Any], object], inputs: Iterable[Any], times: int = 1) -> Run:
    """Return a run that calls ``function`` with the next inputs, ``times`` of them."""
    left = iter(inputs)

    def run() -> None:
        try:
            for _ in range(times):
                function(next(left))
        except StopIteration:
            raise RuntimeError(f"there are too few inputs: a run needs {times}") from None

    return run


def optional(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


# ---- processes and memory ------------------------------------------------------------------


def resident(field: str = "VmRSS") -> float:
    """Return the memory of this process that is in use, or was at most (VmHWM), in megabytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    line = next(line for line in lines if line.startswith(field))
    return int(line.split()[1]) * 1024 / 1e6


def script(name: str) -> str:
    return str(Path(sysconfig.get_path("scripts")) / name)


def run_process(words: Sequence[str], folder: Path | None = None) -> Run:
    """Return a run of a process, which raises OSError where it cannot be, or goes wrong."""
    where = folder or tempfile.gettempdir()  # not where the package's sources are

    def run() -> None:
        done = subprocess.run(words, cwd=where, capture_output=True, text=True)
        if done.returncode > 1:  # 1 is that of a query without a match
            raise OSError(f"{' '.join(words)[:80]} ended with {done.returncode}:\n{done.stderr}")

    return run


def forked(act: Callable[[], object]) -> int:
    """Fork, and return the id of the child, which ends after the act, or a minute at most."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12: fork beside threads
        child = os.fork()
    if child:
        return child
    try:
        signal.alarm(60)
        act()
    finally:
        os._exit(0)


def in_child(act: Callable[[], str]) -> str:
    """Return what an act returns in a forked child, or how it failed or ended the process."""
    reading, writing = os.pipe()

    def write() -> None:
        try:
            text = act()
        except BaseException:
            text = traceback.format_exc(limit=-3)
        os.write(writing, text.encode("utf-8", "backslashreplace"))

    child = forked(write)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    return text or f"it ended with status {status}"


def print_report(
    title: str, header: Sequence[str], rows: Sequence[Sequence[object]], *packages: str
) -> None:
    """Print a table below a line that says what was measured and on what."""
    threads = f"OMP_NUM_THREADS={os.environ.get('OMP_NUM_THREADS', '')}"
    print(f"{title} ({environment(*packages)}, {threads})\n", flush=True)
    print(f"{markdown_table(header, rows)}\n", flush=True)
