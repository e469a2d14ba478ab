"""Long runs of random acts, after each of which nothing may be wrong.

    python -m tests.benchmarks.campaigns kills|forks|interrupts|threads [COUNT] [--seed 0]

kills: processes that save a dict are killed at random moments; the file is the dict that was saved
last, or the next one. forks: while threads read and write a dict; each child reads and writes it,
too. interrupts: at any line of a write or read, or by a signal at any moment; the items and aliases
are those before or after it, the lock is free, and a file is whole. threads: they read and write
for COUNT seconds; a read gives a value that its key had at some moment of the read, and no worse a
key than those that were there all the time. After all of them a dict answers as a new one of the
same items.
"""

from __future__ import annotations

import argparse
import copy
import itertools
import os
import pickle
import random
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

import fuzzydict
from fuzzydict import DoubtfulPoolWarning, FuzzyDict, FuzzyDictError
from tests.support.interrupting import at_line

__all__ = ["forks", "interrupts", "kills", "threads"]

_PATIENCE = 60  # seconds after which a child is said to hang


def _encode(texts: list[str]) -> Any:
    """Return vectors (n, 6) that depend on the letters alone."""
    sums = np.array([sum(map(ord, text)) for text in texts], np.float64).reshape(-1, 1)
    return np.sin(np.arange(1, 7) * sums)


def _is_like_new(d: FuzzyDict[Any], *queries: str, **options: Any) -> bool:
    """Tell whether a dict answers as a new one of the same items."""
    new: FuzzyDict[Any] = FuzzyDict(dict(d), **options)
    d._check()
    for query in queries:
        found, expected = d.most_similar(query, None), new.most_similar(query, None)
        scores = {match.key: match.score for match in found}
        if len(scores) != len(found) or scores.keys() != {match.key for match in expected}:
            return False
        if any(abs(scores[match.key] - match.score) > 1e-4 for match in expected):
            return False
    return True


# ---- processes ----------------------------------------------------------------------------


def _forked(act: Callable[[], bool]) -> int:
    """Fork, and return the id of the child, which ends with status 0 if the act returns True."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12: fork beside threads
        child = os.fork()
    if child:
        return child
    status = 1
    try:
        signal.alarm(_PATIENCE)
        status = 0 if act() else 1
    finally:
        os._exit(status)


def kills(count: int, seed: int) -> list[str]:
    """Return what was wrong after so many kills amid a save."""
    chance, wrong = random.Random(seed), list[str]()
    keys = [f"key {n}" for n in range(300)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "saved")
        several = [FuzzyDict(dict.fromkeys(keys, n), embedding=_encode) for n in range(2)]
        several[0].save(path)

        def save_for_ever() -> NoReturn:
            while True:
                for d in several:
                    d.save(path)

        for number in range(count):
            child = _forked(save_for_ever)
            time.sleep(chance.uniform(0, 0.05))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            try:
                d: FuzzyDict[int] = FuzzyDict.load(path, embedding=_encode)
                is_whole = dict(d) in several and d.get(keys[7].upper()) == d[keys[7]]
            except FuzzyDictError as error:
                wrong.append(f"kill {number}: {error}")
            else:
                wrong += [] if is_whole else [f"kill {number}: the file holds another dict"]
    return wrong


def forks(count: int, seed: int) -> list[str]:
    """Return which of so many children hung, failed, or answered otherwise than a new dict."""
    items = {"color": 1.0, "price": 2.0, "top speed": 3.0, "brand": 4.0}
    d, done, chance = FuzzyDict(items), threading.Event(), random.Random(seed)

    def read() -> None:
        for i in itertools.count():
            if done.is_set():
                return
            d.get(f"colour {i}")
            d.get_many(["prize", f"brnd {i}"])

    def write() -> None:
        for i in itertools.count():
            if done.is_set():
                return
            d[f"new key {i % 50}"] = float(i)
            d.pop(f"new key {(i + 25) % 50}", None)

    def is_right() -> bool:
        d["made by the child"] = 9.0
        return _is_like_new(d, "colour", "prize", "made by a child", "new key")

    d.get("colour")
    others = [threading.Thread(target=act) for act in (read, read, write)]
    for thread in others:
        thread.start()
    wrong = []
    try:
        for number in range(count):
            time.sleep(chance.uniform(0, 0.02))
            if status := os.waitpid(_forked(is_right), 0)[1]:
                wrong.append(f"child {number}: status {status}")
    finally:
        done.set()
        for thread in others:
            thread.join()
    return wrong


# ---- interrupts ---------------------------------------------------------------------------

_PACKAGE = str(Path(str(fuzzydict.__file__)).parent)
_FEW = [f"key {letter}" for letter in "abcdefgh"]
_ALIASES = {"first one": _FEW[0], "second one": _FEW[1], "nothing": None}
_INTERRUPTS = (KeyboardInterrupt, MemoryError)

_ACTS: list[Callable[[FuzzyDict[Any], Path], Any]] = [
    lambda d, _: d.__setitem__("key new", 9),
    lambda d, _: d.__setitem__(_FEW[0], 8),
    lambda d, _: d.pop(_FEW[1], None),
    lambda d, _: d.popitem() if d else None,
    lambda d, _: d.clear(),
    lambda d, _: d.update({"key u": 1, _FEW[2]: 2}),
    lambda d, _: d.__ior__({"key v": 3}),
    lambda d, _: d.setdefault("key s", 1),
    lambda d, _: d.aliases.update({"other one": None, "First-One": None}),
    lambda d, _: d.aliases.pop("nothing", None),
    lambda d, _: setattr(d, "aliases", {"third one": None}),
    lambda d, _: setattr(d, "scorer", "cosine"),
    lambda d, _: setattr(d, "embedding", _encode),
    lambda d, _: d.fit({"fourth one": _FEW[0], "fifth one": None}) if _FEW[0] in d else None,
    lambda d, path: d.save(path),
    lambda _, path: FuzzyDict.load(path, embedding=_encode).get("key x"),
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


def interrupts(count: int, seed: int) -> list[str]:
    """Return what was wrong after so many interrupts."""
    chance, wrong, done = random.Random(seed), list[str](), 0
    with tempfile.TemporaryDirectory() as folder, _quiet():
        path = Path(folder, "saved")
        while done < count:
            scorer = chance.choice([None, "cosine"])
            d: FuzzyDict[Any] = FuzzyDict(dict.fromkeys(_FEW, 1), embedding=_encode, scorer=scorer)
            d.aliases = _ALIASES
            d.save(path)
            for number in chance.sample(range(len(_ACTS)), 3):
                if chance.random() < 0.5:
                    d.get("warm")
                done += 1
                if note := _interrupted(d, number, path, chance):
                    wrong.append(f"act {number}: {note}")
                    break
    return wrong


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
    act, kind, is_signal = _ACTS[number], chance.choice(_INTERRUPTS), chance.random() < 0.5
    other, lock, saved = copy.deepcopy(d), d._lock, path.read_bytes()
    before, start, lines = (dict(d), dict(d.aliases)), time.perf_counter(), 0
    if is_signal:
        act(other, path)
    else:
        lines = at_line(lambda: act(other, path), 0, kind, _is_ours)
    seconds = time.perf_counter() - start
    files = [saved, path.read_bytes()]
    path.write_bytes(saved)
    if is_signal:
        _by_signal(lambda: act(d, path), chance.uniform(0, seconds), kind)
    else:
        at_line(lambda: act(d, path), chance.randint(1, max(lines, 1)), kind, _is_ours)
    while not is_signal and lock._is_owned():  # type: ignore[attr-defined, unused-ignore]
        lock.release()  # a tracer may raise at the end of `with`, where no signal does
    if lock._is_owned():  # type: ignore[attr-defined, unused-ignore]
        return "its lock is held"
    now, after = (dict(d), dict(d.aliases)), (dict(other), dict(other.aliases))
    if any(one not in states for one, *states in zip(now, before, after, strict=True)):
        return f"its items or aliases are {now}, after {before} or {after}"
    if [*path.parent.iterdir()] != [path]:
        return f"it left files: {[*path.parent.iterdir()]}"
    if path.read_bytes() not in files and dict(FuzzyDict.load(path, embedding=_encode)) != dict(d):
        return "its file is another one"
    if any(d.get(alias) != (key and d[key]) for alias, key in d.aliases.items()):
        return "an alias is read otherwise"
    same = _is_like_new(d, "key x", embedding=_encode, scorer=d.scorer)
    return "" if same else "it answers otherwise than a new one"


def _is_ours(path: str) -> bool:
    return path.startswith(_PACKAGE)


def _by_signal(act: Callable[[], Any], delay: float, kind: type[BaseException]) -> None:
    """Run an act, and raise in the handler of a signal after so many seconds."""

    def handle(*_: Any) -> None:
        raise kind

    before = signal.signal(signal.SIGALRM, handle)
    with suppress(*_INTERRUPTS, FuzzyDictError):  # the signal may come when the act has ended
        try:
            signal.setitimer(signal.ITIMER_REAL, max(delay, 1e-6))
            act()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    with suppress(*_INTERRUPTS):
        time.sleep(0)  # where a last one is handled
    signal.signal(signal.SIGALRM, before)


# ---- threads ------------------------------------------------------------------------------

_KEYS = [f"{word} {n}" for word in ("color", "price", "top speed") for n in range(12)]
_NUMBERS = {key: number for number, key in enumerate(_KEYS)}
_STAYING = _KEYS[::12]  # which are never removed
_QUERIES = [
    f"{word} {n}" for word in ("colour", "prize", "speed", "COLOR", "brnd") for n in range(9)
]
_WRITERS, _READERS = 2, 3
_ROUND = 5.0  # seconds, after which another dict is made
_OPTIONS: list[dict[str, Any]] = [
    {"embedding": _encode, "scorer": "cosine"},
    {"embedding": _encode, "score_cutoff": 0.0},
    {"scorer": "spelling", "score_cutoff": 0.0},
]
if find_spec("usearch"):
    _OPTIONS.append({"embedding": _encode, "scorer": "cosine", "index": "usearch"})

Versions = dict[str, int]


def _pooled(d: FuzzyDict[Any], queries: list[str]) -> list[Any]:
    pooled = d.pool(queries, attn_mask=lambda key: key in _STAYING)
    assert pooled.shape == (len(queries), 2)
    assert (pooled[:, 0] <= max(_NUMBERS[key] for key in _STAYING) + 1e-6).all()
    return [[] for _ in queries]


def _attended(d: FuzzyDict[Any], queries: list[str]) -> list[Any]:
    """Return the value of the largest score, and then the others in the order of the dict."""
    found = []
    for one in d.attend(queries):
        assert abs(one.weights.sum() - 1) < 1e-6
        best = int(one.scores.argmax())
        values = [(value, None) for value in one.values]
        found.append([values.pop(best), *values])
    return found


#: Each gives for each query values with their scores, or None, the best one first.
_READS: list[Callable[[FuzzyDict[Any], list[str]], list[Any]]] = [
    lambda d, queries: [[(d[query], None)] for query in queries],
    lambda d, queries: [[(d.copy()[query], None)] for query in queries[:1]],
    lambda d, queries: [[(value, None)] for value in d.get_many(queries)],
    lambda d, queries: [[match[1:]] for match in d.nearest(queries)],
    lambda d, queries: [[m[1:] for m in some] for some in d.most_similar(queries, None)],
    lambda d, queries: [[told.best[1:]] for told in d.explain(queries)],
    _attended,
    _pooled,
]


class _Shared:
    """A dict that threads read and write, and what they saw that cannot be.

    Each key is written by one thread: its versions rise, and the odd ones are there. A value tells
    the number and the version of its key.
    """

    def __init__(self, options: dict[str, Any]) -> None:
        self.d: FuzzyDict[Any] = FuzzyDict(**options)
        self.begun: Versions = dict.fromkeys(_KEYS, 0)  # the version that is being written
        self.done: Versions = dict.fromkeys(_KEYS, 0)  # and the one that is there
        self.wrong = list[str]()
        for key in _KEYS:
            self._put(key)
        self.scores: dict[str, dict[str, float]] = {}
        if options.get("scorer") == "cosine":  # others depend on all keys
            scored = FuzzyDict(self.d, **{**options, "index": "exact"})
            for query in _QUERIES:
                self.scores[query] = {m.key: m.score for m in scored.most_similar(query, None)}

    def run(self, seconds: float, chance: random.Random) -> None:
        """Act for so many seconds."""
        end = time.monotonic() + seconds

        def repeat(act: Callable[[random.Random], None], chance: random.Random) -> None:
            while time.monotonic() < end and not self.wrong:
                try:
                    act(chance)
                except Exception as error:  # whatever it is, it is wrong
                    self.wrong.append(repr(error))

        acts = [partial(self._write, keys=_KEYS[n::_WRITERS]) for n in range(_WRITERS)]
        threads = [
            threading.Thread(target=repeat, args=(act, random.Random(chance.random())))
            for act in [*acts, *[self._read] * _READERS]
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _put(self, key: str) -> None:
        self.begun[key] += 1 if self.begun[key] % 2 == 0 else 2
        self.d[key] = _NUMBERS[key], self.begun[key]
        self.done[key] = self.begun[key]

    def _write(self, chance: random.Random, keys: list[str]) -> None:
        time.sleep(chance.choice([0, 0.002]))  # readers are slower
        key = chance.choice(keys)
        if chance.random() < 0.5 and key not in _STAYING and self.done[key] % 2:
            self.begun[key] += 1
            if chance.random() < 0.5:
                del self.d[key]
            else:
                self.d.pop(key)
            self.done[key] = self.begun[key]
        else:
            self._put(key)
        if chance.random() < 0.1:
            self.d.aliases[f"name {keys[0]}"] = key if key in _STAYING else None

    def _read(self, chance: random.Random) -> None:
        queries = [chance.choice(_QUERIES) for _ in range(chance.choice([1, 3, 20]))]
        before = self.done.copy()
        found = chance.choice(_READS)(self.d, queries)
        after = self.begun.copy()
        for query, answers in zip(queries, found, strict=False):
            self._check(query, answers, before, after)

    def _check(self, query: str, answers: Any, before: Versions, after: Versions) -> None:
        """Note what of the answers (value, score or None), best first, cannot be."""
        keys, scores = [], self.scores.get(query, {})
        for (number, version), score in answers:
            key = _KEYS[int(number)]
            keys.append(key)
            if not (before[key] <= version <= after[key] and version % 2):
                self.wrong.append(f"{query}: {key} had no version {version}")
            if scores and score is not None and abs(score - scores[key]) > 1e-4:
                self.wrong.append(f"{query}: {key} scored {score}")
        if len(set(keys)) < len(keys):
            self.wrong.append(f"{query}: a key comes twice")
        there = {key for key in _KEYS if before[key] == after[key] and before[key] % 2}
        if len(keys) > 1 and not there <= set(keys):
            self.wrong.append(f"{query}: {there - set(keys)} is missing")
        best = max((scores[key] for key in there if scores), default=-9.0)
        if scores and keys and scores[keys[0]] < best - 1e-4:
            self.wrong.append(f"{query}: {keys[0]} is not the best")


def threads(seconds: float, seed: int) -> list[str]:
    """Return what was wrong after reads and writes in threads for so many seconds."""
    chance, wrong = random.Random(seed), list[str]()
    end, before = time.monotonic() + seconds, sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        while not wrong and (left := end - time.monotonic()) > 0:
            options = chance.choice(_OPTIONS)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DoubtfulPoolWarning)
                shared = _Shared(options)
                shared.run(min(_ROUND, left), chance)
            if not _is_like_new(shared.d, *_QUERIES, **options):
                shared.wrong.append("other answers than those of a new dict")
            wrong += [f"{sorted(map(str, options.items()))}: {text}" for text in shared.wrong]
    finally:
        sys.setswitchinterval(before)
    return wrong


_CAMPAIGNS: Mapping[str, tuple[Callable[[int, int], list[str]], int]] = {
    "kills": (kills, 200),
    "forks": (forks, 200),
    "interrupts": (interrupts, 50_000),
    "threads": (threads, 600),
}


def main() -> None:
    """Print what was wrong; the exit code is 1 if anything was."""
    parser = argparse.ArgumentParser(description="Act at random; nothing may be wrong.")
    parser.add_argument("campaign", choices=_CAMPAIGNS)
    parser.add_argument("count", type=int, nargs="?", help="of acts, or seconds for threads")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    run, usual = _CAMPAIGNS[options.campaign]
    count = options.count or usual
    wrong = run(count, options.seed)
    for what in wrong:
        print(what)
    print(f"{options.campaign}: {count}, seed {options.seed}: {len(wrong)} wrong")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
