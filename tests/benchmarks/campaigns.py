"""Random attacks, one after another, none of which may do harm.

    python -m tests.benchmarks.campaigns NAME [COUNT] [--seed 0] [--first 0]

kills: a process that saves a dict is killed at any moment; the file is the dict that was saved
last, or the next one. forks: a child is forked while threads read and write a dict, and does so,
too. interrupts: at any line of a write or read, or by a signal at any moment; the items and aliases
are those before or after it, the lock is free, and a file is whole. threads: they read and write
for a second; a read gives a value that its key had at some moment of the read, and no worse a key
than those that were there all the time. After all of these a dict answers as a new one of the same
items. files: a damaged file is read. crafted: twenty saved files with right checksums and wrong
contents are opened.

Each attack has a number and draws from the seed and its number; ``--first`` with a count of 1 does
one again. The exit code is 1 if anything was wrong.
"""

from __future__ import annotations

import argparse
import copy
import os
import pickle
import random
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

import fuzzydict
from fuzzydict import DoubtfulPoolWarning, FuzzyDict, FuzzyDictError
from tests.support.interrupting import at_line
from tests.support.searching import check_keys

from .crafted import opened
from .hostile_files import FORMATS, damaged
from .measuring import forked, in_child


def campaign(
    attack: str, count: int, seed: int = 0, first: int = 0
) -> tuple[list[str], Counter[str]]:
    """Do ``count`` attacks of a kind; return what was wrong, and how many ended how."""
    wrong, counts, (act, _) = list[str](), Counter[str](), ATTACKS[attack]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulPoolWarning)
        warnings.filterwarnings("ignore", ".*read with")  # an encoding that is not UTF-8
        for number in range(first, first + count):
            try:
                counts[act(random.Random(f"{seed} {number}"), Path(folder)) or "right"] += 1
            except Exception as error:  # whatever it is, it is wrong
                frames = traceback.extract_tb(error.__traceback__)[-3:]
                where = " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in frames[::-1])
                told = f"{type(error).__name__}: {error} at {where}"
                wrong.append(f"{attack} {number}: {told}")
    return wrong, counts


def _encode(texts: list[str]) -> Any:
    """Return vectors (n, 6) that depend on the letters alone."""
    sums = np.array([sum(map(ord, text)) for text in texts], np.float64).reshape(-1, 1)
    return np.sin(np.arange(1, 7) * sums)


def _check_like_new(d: FuzzyDict[Any], *queries: str, **options: Any) -> None:
    """Check that a dict answers as a new one of the same items."""
    new: FuzzyDict[Any] = FuzzyDict(dict(d), **options)
    check_keys(d)
    for query in queries:
        found, expected = d.most_similar(query, None), new.most_similar(query, None)
        scores = {match.key: match.score for match in found}
        assert len(scores) == len(found), f"{query}: a key comes twice"
        assert scores.keys() == {match.key for match in expected}, f"{query}: other keys"
        for match in expected:
            assert abs(scores[match.key] - match.score) <= 1e-4, f"{query}: {match} in a new dict"


# ---- processes ----------------------------------------------------------------------------


def _kill(chance: random.Random, folder: Path) -> None:
    keys, path = [f"key {n}" for n in range(300)], folder / "saved"
    several = [FuzzyDict(dict.fromkeys(keys, n), embedding=_encode) for n in range(2)]
    several[0].save(path)

    def save_for_ever() -> NoReturn:
        while True:
            for d in several:
                d.save(path)

    child = forked(save_for_ever)
    time.sleep(chance.uniform(0, 0.05))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    d: FuzzyDict[int] = FuzzyDict.load(path, embedding=_encode)
    assert dict(d) in several, "the file holds another dict"
    assert d.get(keys[7].upper()) == d[keys[7]]


# ---- interrupts ---------------------------------------------------------------------------

_FEW = [f"key {letter}" for letter in "abcdefgh"]
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


def _interrupt(chance: random.Random, folder: Path) -> None:
    path, scorer = folder / "saved", chance.choice([None, "cosine"])
    d: FuzzyDict[Any] = FuzzyDict(dict.fromkeys(_FEW, 1), embedding=_encode, scorer=scorer)
    d.aliases = {"first one": _FEW[0], "second one": _FEW[1], "nothing": None}
    d.save(path)
    before, sys.unraisablehook = sys.unraisablehook, lambda _: None  # of what Python calls itself
    try:
        for act in chance.sample(_ACTS, 3):
            if chance.random() < 0.5:
                d.get("warm")
            _interrupted(d, act, path, chance)
    finally:
        sys.unraisablehook = before


def _is_ours(path: str) -> bool:
    return path.startswith(str(Path(str(fuzzydict.__file__)).parent))


def _interrupted(
    d: FuzzyDict[Any], act: Callable[[FuzzyDict[Any], Path], Any], path: Path, chance: random.Random
) -> None:
    """Interrupt an act, and check what it left."""
    kind, is_signal = chance.choice(_INTERRUPTS), chance.random() < 0.5
    other, lock, saved = copy.deepcopy(d), d._lock, path.read_bytes()
    before, start = (dict(d), dict(d.aliases)), time.perf_counter()
    if is_signal:
        act(other, path)
    else:
        lines = at_line(partial(act, other, path), 0, kind, _is_ours)
    seconds = time.perf_counter() - start
    files = [saved, path.read_bytes()]
    path.write_bytes(saved)
    if is_signal:
        _by_signal(partial(act, d, path), chance.uniform(0, seconds), kind)
    else:
        at_line(partial(act, d, path), chance.randint(1, max(lines, 1)), kind, _is_ours)
    while not is_signal and lock._is_owned():  # type: ignore[attr-defined, unused-ignore]
        lock.release()  # a tracer may raise at the end of `with`, where no signal does
    assert not lock._is_owned(), "its lock is held"  # type: ignore[attr-defined, unused-ignore]
    now, after = (dict(d), dict(d.aliases)), (dict(other), dict(other.aliases))
    for one, *states in zip(now, before, after, strict=True):
        assert one in states, f"its items or aliases are {one}, not one of {states}"
    assert [*path.parent.iterdir()] == [path], "it left files"
    if path.read_bytes() not in files:
        assert dict(FuzzyDict.load(path, embedding=_encode)) == dict(d), "its file is another one"
    for alias, key in d.aliases.items():
        assert d.get(alias) == (key and d[key]), "an alias is read otherwise"
    _check_like_new(d, "key x", embedding=_encode, scorer=d.scorer)


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
_ASKED = ("colour", "prize", "speed", "COLOR", "brnd")
_QUERIES = [f"{word} {n}" for word in _ASKED for n in range(9)]
_OPTIONS: list[dict[str, Any]] = [
    {"embedding": _encode, "scorer": "cosine"},
    {"embedding": _encode, "score_cutoff": 0.0},
    {"scorer": "spelling", "score_cutoff": 0.0},
]
if find_spec("usearch"):
    _OPTIONS.append({"embedding": _encode, "scorer": "cosine", "index": "usearch"})

Versions = dict[str, int]


#: Each gives for each query values with their scores, or None, the best one first.
_READS: list[Callable[[FuzzyDict[Any], list[str]], list[Any]]] = [
    lambda d, queries: [[(d[query], None)] for query in queries],
    lambda d, queries: [[(d.copy()[query], None)] for query in queries[:1]],
    lambda d, queries: [[(value, None)] for value in d.get_many(queries)],
    lambda d, queries: [[match[1:]] for match in d.nearest(queries)],
    lambda d, queries: [[m[1:] for m in some] for some in d.most_similar(queries, None)],
    lambda d, queries: [[one.best[1:]] for one in d.explain(queries)],
    lambda d, queries: [[(v, None) for _, _, v in one.top(99)] for one in d.attend(queries)],
]


class _Shared:
    """A dict that threads read and write, and what they saw that cannot be.

    Each key is written by one thread: its versions rise, and odd ones are there. So a value tells.
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
        end = time.monotonic() + seconds

        def repeat(act: Callable[[random.Random], None], chance: random.Random) -> None:
            while time.monotonic() < end and not self.wrong:
                try:
                    act(chance)
                except Exception as error:  # whatever it is, it is wrong
                    self.wrong.append(repr(error))

        acts = [partial(self._write, keys=_KEYS[n::2]) for n in range(2)] + [self._read] * 3
        threads = [
            threading.Thread(target=repeat, args=(act, random.Random(chance.random())))
            for act in acts
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


def _share(chance: random.Random, _: Path) -> None:
    """Read and write in threads for a second."""
    options, before = chance.choice(_OPTIONS), sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        shared = _Shared(options)
        shared.run(1.0, chance)
    finally:
        sys.setswitchinterval(before)
    assert not shared.wrong, f"{sorted(map(str, options.items()))}: {shared.wrong}"
    there = {key: (_NUMBERS[key], n) for key, n in shared.done.items() if n % 2}
    assert dict(shared.d) == there, "a write was lost"
    _check_like_new(shared.d, *_QUERIES, **options)


def _fork(chance: random.Random, _: Path) -> None:
    options = {"embedding": _encode, "score_cutoff": 0.0}
    shared = _Shared(options)

    def use() -> str:
        shared.d["made by the child"] = 9, 9
        _check_like_new(shared.d, "colour 1", "made by a child", **options)
        return "right"

    thread = threading.Thread(target=shared.run, args=(0.3, random.Random(chance.random())))
    thread.start()
    time.sleep(chance.uniform(0, 0.2))
    ended = in_child(use)
    thread.join()
    assert ended == "right", ended
    assert not shared.wrong, shared.wrong


# ---- all attacks --------------------------------------------------------------------------


def _damage(chance: random.Random, folder: Path) -> str:
    form = chance.choice(FORMATS)
    return f"{form} {damaged(form, chance, folder)}"


#: What an attack does with its chance and a folder, and how many there are by default. It returns
#: how it ended, or raises.
ATTACKS: Mapping[str, tuple[Callable[[random.Random, Path], str | None], int]] = {
    "kills": (_kill, 200),
    "forks": (_fork, 200),
    "interrupts": (_interrupt, 20_000),
    "threads": (_share, 600),
    "files": (_damage, 70_000),
    "crafted": (opened, 5_000),
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Attack at random; nothing may be wrong.")
    parser.add_argument("attack", choices=ATTACKS)
    parser.add_argument("count", type=int, nargs="?", help="how many")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first attack")
    given = parser.parse_args()
    count = given.count or ATTACKS[given.attack][1]
    wrong, counts = campaign(given.attack, count, given.seed, given.first)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    ended = ", ".join(f"{number:,} {how}" for how, number in sorted(counts.items()))
    print(f"{given.attack}: seed {given.seed}, {count:,} attacks: {ended}, {len(wrong)} wrong")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
