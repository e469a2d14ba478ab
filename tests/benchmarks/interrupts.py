"""Interrupt writes and reads at any line: `python -m tests.benchmarks.interrupts 50000`.

Half of the interrupts are exceptions at a line of the package, the others signals at any moment.
After each, the items and the aliases must be those before or after the act, the dict must answer
as a new one of the same items, its lock must be free, and a file must be whole, without litter.
"""

from __future__ import annotations

import copy
import pickle
import random
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

import fuzzydict
from fuzzydict import DoubtfulPoolWarning, FuzzyDict, FuzzyDictError
from tests.benchmarks.campaigns import count_and_seed
from tests.support.interrupting import at_line

PACKAGE = str(Path(fuzzydict.__file__).parent)
KEYS = [f"key {letter}" for letter in "abcdefgh"]
ALIASES = {"first one": KEYS[0], "second one": KEYS[1], "nothing": None}
KINDS = (KeyboardInterrupt, MemoryError)


def encode(texts: list[str]) -> Any:
    """Return vectors (n, 6) that depend on the letters alone."""
    return [np.sin(np.arange(1, 7) * sum(map(ord, text))) for text in texts]


ACTS: list[Callable[[FuzzyDict[Any], Path], Any]] = [
    lambda d, _: d.__setitem__("key new", 9),
    lambda d, _: d.__setitem__(KEYS[0], 8),
    lambda d, _: d.pop(KEYS[1], None),
    lambda d, _: d.popitem() if d else None,
    lambda d, _: d.clear(),
    lambda d, _: d.update({"key u": 1, KEYS[2]: 2}),
    lambda d, _: d.__ior__({"key v": 3}),
    lambda d, _: d.setdefault("key s", 1),
    lambda d, _: d.aliases.update({"other one": None, "First-One": None}),
    lambda d, _: d.aliases.pop("nothing", None),
    lambda d, _: setattr(d, "aliases", {"third one": None}),
    lambda d, _: setattr(d, "scorer", "cosine"),
    lambda d, _: setattr(d, "embedding", encode),
    lambda d, _: d.fit({"fourth one": KEYS[0], "fifth one": None}) if KEYS[0] in d else None,
    lambda d, path: d.save(path),
    lambda _, path: FuzzyDict.load(path, embedding=encode).get("key x"),
    lambda d, _: d.copy().get("key x"),
    lambda d, _: copy.copy(d),
    lambda d, _: copy.deepcopy(d),
    lambda d, _: pickle.loads(pickle.dumps(d)),
    lambda d, _: d.get("key x"),
    lambda d, _: d.get_many(["key x", "key y"]),
    lambda d, _: d.most_similar("key z", None),
    lambda d, _: d.attend("key q") if d else None,
    lambda d, _: d.explain("key q") if d else None,
    lambda d, _: d.pool(["key q", "key r"], score_cutoff=-1) if d else None,
]


def is_ours(path: str) -> bool:
    """Tell whether a file is one of the package."""
    return path.startswith(PACKAGE)


def by_signal(act: Callable[[], Any], delay: float, kind: type[BaseException]) -> None:
    """Run an act, and raise in the handler of a signal after so many seconds."""

    def handle(*_: Any) -> None:
        raise kind

    before = signal.signal(signal.SIGALRM, handle)
    with suppress(*KINDS, FuzzyDictError):  # the signal may come when the act has ended
        try:
            signal.setitimer(signal.ITIMER_REAL, max(delay, 1e-6))
            act()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    with suppress(*KINDS):
        time.sleep(0)  # where a last one is handled
    signal.signal(signal.SIGALRM, before)


def wrong(count: int, seed: int) -> list[str]:
    """Return what was wrong after so many interrupts."""
    chance, found, done = random.Random(seed), list[str](), 0
    with tempfile.TemporaryDirectory() as folder, _quiet():
        path = Path(folder, "saved")
        while done < count:
            d: FuzzyDict[Any] = FuzzyDict(
                dict.fromkeys(KEYS, 1), embedding=encode, scorer=chance.choice([None, "cosine"])
            )
            d.aliases = ALIASES
            d.save(path)
            for number in chance.sample(range(len(ACTS)), 3):
                if chance.random() < 0.5:
                    d.get("warm")
                done += 1
                if note := _interrupted(d, number, path, chance):
                    found.append(f"act {number}: {note}")
                    break
    return found


@contextmanager
def _quiet() -> Iterator[None]:
    """Show neither doubtful pools nor what an interrupt stops that Python itself calls."""
    before = sys.unraisablehook
    sys.unraisablehook = lambda _: None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DoubtfulPoolWarning)
            yield
    finally:
        sys.unraisablehook = before


def _interrupted(d: FuzzyDict[Any], number: int, path: Path, chance: random.Random) -> str:
    """Interrupt an act, and return what is wrong after it."""
    act, kind, is_signal = ACTS[number], chance.choice(KINDS), chance.random() < 0.5
    other, files = copy.deepcopy(d), [path.read_bytes()]
    before = _state(d)
    start = time.perf_counter()
    if is_signal:
        act(other, path)
    lines = 0 if is_signal else at_line(lambda: act(other, path), 0, kind, is_ours)
    seconds = time.perf_counter() - start
    files.append(path.read_bytes())
    path.write_bytes(files[0])
    if is_signal:
        by_signal(lambda: act(d, path), chance.uniform(0, seconds), kind)
    else:
        at_line(lambda: act(d, path), chance.randint(1, max(lines, 1)), kind, is_ours)
    while not is_signal and d._lock._is_owned():
        d._lock.release()  # a tracer may raise at the end of `with`, where no signal does
    if d._lock._is_owned():
        return "its lock is held"
    now, after = _state(d), _state(other)
    if any(one not in states for one, *states in zip(now, before, after, strict=True)):
        return f"its items or aliases are {now}, after {before} or {after}"
    if [*path.parent.iterdir()] != [path]:
        return f"it left files: {[*path.parent.iterdir()]}"
    if path.read_bytes() not in files and dict(FuzzyDict.load(path, embedding=encode)) != dict(d):
        return "its file is another one"
    return "" if _is_like_new(d) else "it answers otherwise than a new one"


def _state(d: FuzzyDict[Any]) -> tuple[dict[Any, Any], dict[Any, Any]]:
    return dict(d), dict(d.aliases)


def _is_like_new(d: FuzzyDict[Any]) -> bool:
    new = FuzzyDict(dict(d), embedding=encode, scorer=d.scorer)
    found, expected = d.most_similar("key x", None), new.most_similar("key x", None)
    scores = {match.key: match.score for match in found}
    if len(scores) != len(found) or scores.keys() != {match.key for match in expected}:
        return False
    d._check()
    read = all(d.get(alias) == (key and d[key]) for alias, key in d.aliases.items())
    return read and all(abs(scores[match.key] - match.score) < 1e-4 for match in expected)


def main() -> None:
    """Print what was wrong."""
    count, seed = count_and_seed(__doc__, 50_000)
    found = wrong(count, seed)
    print(*found, sep="\n")
    print(f"interrupts: {count}, seed {seed}: {len(found)} wrong dicts")


if __name__ == "__main__":
    main()
