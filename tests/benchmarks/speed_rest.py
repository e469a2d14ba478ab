"""What is paid before and beside reads: building, writing, files, processes, the page."""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from itertools import chain, count, cycle, islice
from pathlib import Path
from typing import Any

import numpy as np

from fuzzydict import FuzzyDict

from .measuring import Case, each, run_process, script
from .queries import any_slips, key_texts, keys_of, known, made_up

_UNSEEN = 10_000  # keys of words never seen
_TYPED = 12  # queries whose letters are typed one by one, of each kind
_STROKES = 105  # samples: some cost more than others


def build(size: int) -> Iterator[Case]:
    """Measure a new dict until its first fuzzy read; what words are is learned anew by each."""
    plain = dict.fromkeys(keys_of(size), 0)
    unseen = dict.fromkeys(islice(made_up([]), _UNSEEN), 0)
    words = {f"{size:,} keys": plain, f"{_UNSEEN:,} keys of a word never seen": unseen}
    for what, items in words.items():
        ours = partial(lambda items: FuzzyDict(items).get("colour"), items)
        yield Case(f"build {what}, and read one", ours, {"dict": partial(dict, items)}, 3)


def writes(size: int) -> Iterator[Case]:
    """Measure a new key and the fuzzy read after it."""
    d = FuzzyDict(dict.fromkeys(keys_of(size), 0))
    d.get("colour")
    numbers = count()

    def write() -> None:
        d[f"a new key {next(numbers)}"] = 1
        d.get("colour")

    yield Case(f"write a key and read, {size:,} keys", write, {})


def files(size: int) -> Iterator[Case]:
    """Measure saving and opening, beside the same keys and vectors in numpy's format and JSON."""
    plain, samples = dict.fromkeys(keys_of(size), 0), 5 if size <= 100_000 else 3
    d = FuzzyDict(plain)
    vectors = d.attend("colour").keys
    what = f"{size:,} keys ({vectors.nbytes / 1e6:,.0f} MB)"
    with tempfile.TemporaryDirectory() as name:
        ours, theirs = Path(name) / "d.fuzzydict", Path(name) / "vectors.npy"

        def save() -> None:
            np.save(theirs, vectors)
            theirs.with_suffix(".json").write_text(json.dumps(plain))

        def load() -> Any:
            json.loads(theirs.with_suffix(".json").read_text())
            return np.load(theirs, mmap_mode="r")

        yield Case(f"save {what}", partial(d.save, ours), {"numpy.save and JSON": save}, samples)
        peer = "numpy.load, mapped, and JSON"
        yield Case(f"open {what}", partial(FuzzyDict.load, ours), {peer: load}, samples)
        keys = list(plain)
        for of, asked in (("a slip", any_slips(keys)), ("a known word", known(keys, 1))):
            reads = each(lambda query: FuzzyDict.load(ours).get(query), asked)
            peers = {f"{peer}; one product": lambda: load() @ vectors[0]}
            yield Case(f"open {what}, and read {of}", reads, peers, samples)


def processes(_: int) -> Iterator[Case]:
    """Measure processes that import the package, open the shipped vectors, look a query up."""
    imports = "from fuzzydict import FuzzyDict"
    opens = "import fuzzydict; fuzzydict.Brown()"
    car = Path(__file__).resolve().parents[2] / "data" / "car.json"
    lookup = [script("fuzzydict"), "lookup", str(car), "colour"]
    for what, ours, theirs in (
        (f"`{imports}`, a process", [sys.executable, "-c", imports], "import numpy"),
        (f"`{opens}`, a process", [sys.executable, "-c", opens], imports),
        ("`fuzzydict lookup data/car.json colour`, cold", lookup, "import numpy, click"),
    ):
        peers = {f'`python -c "{theirs}"`': run_process([sys.executable, "-c", theirs])}
        yield Case(what, run_process(ours), peers)


def page(size: int) -> Iterator[Case]:
    """Measure a key stroke: the query so far is sent, and the answer read, in a new connection."""
    from tests.support.exploring import answered, serving

    texts = keys_of(size) if size <= 1_000 else key_texts(size)
    queries = chain(islice(known(texts, 2), _TYPED), islice(any_slips(texts), _TYPED))
    strokes = [text[:end] for text in queries for end in range(1, len(text) + 1)]
    random.Random(0).shuffle(strokes)
    with serving(FuzzyDict({text: float(place) for place, text in enumerate(texts)})) as server:
        run = each(partial(answered, server), cycle(strokes))
        yield Case(f"a key stroke on the page, {size:,} keys", run, {}, _STROKES)
