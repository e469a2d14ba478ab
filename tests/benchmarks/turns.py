"""Ways to do one thing, timed in turns, so that whatever else the machine does falls on all."""

from __future__ import annotations

import importlib
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

__all__ = [
    "Case",
    "Figures",
    "Row",
    "Run",
    "each",
    "figures",
    "measured",
    "optional",
    "processor_time",
    "shown",
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
    """A line of the table: what was measured, how often, ours, and a peer's where there is one."""

    what: str
    samples: int
    times: int
    unit: str  # "s", "bytes"
    ours: Figures
    peer: str | None
    theirs: Figures | None
    peer_times: int | None = None  # None: as often as ours
    among: str | None = None

    @property
    def ratio(self) -> float | None:
        """How many times the peer's median ours is."""
        return self.ours.median / self.theirs.median if self.theirs else None


def measured(case: Case, clock: Callable[[], float] | None = None) -> Iterator[Row]:
    """Time the runs of a case in turns, after a first turn that is not told of; yield its rows.

    ``clock`` returns seconds; by default those that the clock on the wall takes.
    """
    clock = clock or time.perf_counter
    runs = {"": case.ours} | {name: run for name, run in case.peers.items() if run}
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for sample in range(case.samples + 1):
        for name, run in runs.items():
            times = case.peer_times or case.times if name else case.times
            start = clock()
            run()
            taken = clock() - start
            if sample:
                seconds[name].append(taken / times)
    found = {name: figures(taken) for name, taken in seconds.items()}
    ours = found.pop("")
    for peer, theirs in found.items() or [(None, None)]:
        often = case.samples, case.times
        yield Row(case.what, *often, "s", ours, peer, theirs, case.peer_times, case.among)


def processor_time() -> float:
    """Return the seconds that processors worked for this process and those it waited for.

    Other programs on a busy machine add little to it. All threads count.
    """
    import resource  # on POSIX only

    done = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + done.ru_utime + done.ru_stime


def figures(numbers: Iterable[float]) -> Figures:
    """Return the median and the quartiles of one number or more.

    >>> figures([4.0, 1.0, 2.0, 3.0, 5.0])
    Figures(median=3.0, low=2.0, high=4.0)
    """
    found = sorted(numbers)
    if len(found) < 2:
        return Figures(found[0], found[0], found[0])
    low, median, high = statistics.quantiles(found, n=4, method="inclusive")
    return Figures(median, low, high)


def shown(numbers: Figures, unit: str) -> str:
    """Return figures as people read them.

    >>> shown(Figures(0.00123, 0.0012, 0.0013), "s"), shown(Figures(1e3, 1e3, 1e3), "bytes")
    ('1.23 ms (1.2 to 1.3)', '1000 bytes')
    """
    scale = 1.0
    if unit == "s":
        scale, unit = next((u for u in _UNITS if numbers.median >= u[0]), _UNITS[-1])
    median, low, high = (f"{_rounded(number / scale)}" for number in numbers)
    return f"{median} {unit}" + (f" ({low} to {high})" if low != high else "")


def _rounded(number: float) -> str:
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"


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
