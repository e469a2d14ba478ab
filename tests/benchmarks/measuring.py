"""Ways to do one thing, timed in turns, and how figures are printed."""

from __future__ import annotations

import importlib
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from fuzzydict.evaluation.evaluate import environment, markdown_table

__all__ = [
    *("Case", "Figures", "Row", "Run", "each", "figures", "measured", "optional"),
    *("print_report", "processor_time", "shown", "timed"),
]

Run = Callable[[], object]
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


class Case(NamedTuple):
    """What is measured: a run of ours, runs of peers by their names, and how often.

    A run of ours does the thing ``times`` times, one of a peer ``peer_times``; what is told is the
    time of once.
    """

    what: str
    ours: Run
    peers: Mapping[str, Run | None]  # None: not installed, and left out
    samples: int = 21
    times: int = 1
    peer_times: int | None = None  # None: as often as ours
    among: str | None = None  # the column of a table with a row for each ``what``


class Figures(NamedTuple):
    """The median of some numbers, and the quartiles."""

    median: float
    low: float
    high: float


class Row(NamedTuple):
    """A line of the table: what was measured, our seconds, and a peer's where there is one."""

    case: Case
    ours: Figures
    peer: str | None
    theirs: Figures | None

    @property
    def ratio(self) -> float | None:
        """How many times the peer's median ours is."""
        return self.ours.median / self.theirs.median if self.theirs else None


def measured(case: Case, clock: Callable[[], float] = time.perf_counter) -> Iterator[Row]:
    """Time the runs of a case in turns, after a first turn that is not told of; yield its rows."""
    runs = {"": case.ours} | {name: run for name, run in case.peers.items() if run}
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for sample in range(case.samples + 1):
        for name, run in runs.items():
            times = case.peer_times or case.times if name else case.times
            taken = timed(run, clock)
            if sample:
                seconds[name].append(taken / times)
    found = {name: figures(taken) for name, taken in seconds.items()}
    ours = found.pop("")
    for peer, theirs in found.items() or [(None, None)]:
        yield Row(case, ours, peer, theirs)


def timed(run: Run, clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the seconds that a run takes by a clock."""
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


def figures(numbers: Iterable[float]) -> Figures:
    """Return the median and the quartiles of one number or more."""
    found = sorted(numbers)
    if len(found) < 2:
        return Figures(found[0], found[0], found[0])
    low, median, high = statistics.quantiles(found, n=4, method="inclusive")
    return Figures(median, low, high)


def shown(seconds: Figures) -> str:
    """Return seconds as people read them, such as "1.23 ms (1.2 to 1.3)"."""
    scale, unit = next((u for u in _UNITS if seconds.median >= u[0]), _UNITS[-1])
    numbers = [number / scale for number in seconds]
    median, low, high = (f"{n:.0f}" if n >= 100 else f"{n:.3g}" for n in numbers)
    return f"{median} {unit}" + (f" ({low} to {high})" if low != high else "")


def each(function: Callable[[Any], object], inputs: Iterable[Any], times: int = 1) -> Run:
    """Return a run that calls ``function`` with the next inputs, ``times`` of them."""
    left = iter(inputs)

    def run() -> None:
        done = 0
        for done, one in enumerate(islice(left, times), start=1):  # noqa: B007 -- counts
            function(one)
        if done < times:
            raise RuntimeError(f"there are too few inputs: a run needs {times}")

    return run


def optional(module: str) -> Any:
    """Return a module, or None where it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


def print_report(title: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table below a line that says what was measured and on what."""
    print(f"{title} ({environment()})\n\n{markdown_table(header, rows)}\n", flush=True)
