"""What is paid before and beside reads: building, writing, files, processes, learning, the page."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from http.client import HTTPConnection
from itertools import chain, count, cycle, islice
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from fuzzydict import FuzzyDict
from fuzzydict.learning.train import Settings, fit_retrieval

from .measuring import Case, Run, each, optional
from .queries import Kind, any_slips, key_texts, keys_of, known, made_up
from .speed_reads import Given

__all__ = ["build", "files", "fitting", "page", "processes", "run_process", "script", "writes"]

Counts = Sequence[int] | None

_UNSEEN = 10_000  # keys of words never seen
_PAIRS, _FIT_KEYS, _FIT_SIZE = 2_000, 4_000, 300
_TYPED = 12  # queries whose letters are typed one by one, of each kind
_STROKES = 105  # samples: some cost more than others
_CAR = Path(__file__).resolve().parents[2] / "data" / "car.json"
_READ_AFTER_OPENING: dict[str, Kind] = {
    "a slip": any_slips,
    "a known word": partial(known, count=1),
}


# ---- building, writing, files -------------------------------------------------------------


def build(keys: Counts) -> Iterator[Case]:
    """Measure a new dict until its first fuzzy read; what words are is learned anew by each."""
    unseen = dict.fromkeys(islice(made_up([]), _UNSEEN), 0)
    for size in keys or (100_000,):
        plain, data = dict.fromkeys(keys_of(size), 0), Given(size)
        for what, items in (
            (f"{size:,} keys", plain),
            (f"{_UNSEEN:,} keys of a word never seen", unseen),
        ):
            ours = partial(lambda items: FuzzyDict(items).get("colour"), items)
            yield Case(f"build {what}, and read one", ours, {"dict": partial(dict, items)}, 3)
        given = dict.fromkeys(data.keys, 0)
        ours = partial(
            lambda items, encode: FuzzyDict(items, embedding=encode, scorer="cosine").get("+ 0"),
            given,
            data.encode,
        )
        alone = {"the vectors alone": partial(data.encode, data.keys)}
        yield Case(f"build {size:,} keys, and read one, vectors given", ours, alone, 3)


def writes(keys: Counts) -> Iterator[Case]:
    """Measure a new key and the fuzzy read after it."""
    for size in keys or (1_000, 100_000):
        d = FuzzyDict(dict.fromkeys(keys_of(size), 0))
        d.get("colour")
        numbers = count()

        def write(d: FuzzyDict[int] = d, numbers: Iterator[int] = numbers) -> None:
            d[f"a new key {next(numbers)}"] = 1
            d.get("colour")

        yield Case(f"write a key and read, {size:,} keys", write, {})


def files(keys: Counts) -> Iterator[Case]:
    """Measure saving and opening, beside the same keys and vectors in numpy's format and JSON."""
    for size in keys or (100_000, 1_000_000):
        plain, samples = dict.fromkeys(keys_of(size), 0), 5 if size <= 100_000 else 3
        d = FuzzyDict(plain)
        vectors = d.attend("colour").keys
        what = f"{size:,} keys ({vectors.nbytes / 1e6:,.0f} MB)"
        with tempfile.TemporaryDirectory() as name:
            ours, theirs = Path(name) / "d.fuzzydict", Path(name) / "vectors.npy"
            saves = partial(d.save, ours), partial(_save, plain, vectors, theirs)
            yield Case(f"save {what}", saves[0], {"numpy.save and JSON": saves[1]}, samples)
            opened, load = partial(FuzzyDict.load, ours), partial(_load, theirs)
            yield Case(f"open {what}", opened, {"numpy.load, mapped, and JSON": load}, samples)
            one_product = partial(lambda load, query: load() @ query, load, vectors[0].copy())
            for of, kind in _READ_AFTER_OPENING.items():
                asked = islice(kind(list(plain)), samples + 1)
                reads = each(partial(lambda opened, query: opened().get(query), opened), asked)
                peers = {"numpy.load, mapped, and JSON; one product": one_product}
                yield Case(f"open {what}, and read {of}", reads, peers, samples)


def _save(plain: dict[str, int], vectors: Any, path: Path) -> None:
    np.save(path, vectors)
    path.with_suffix(".json").write_text(json.dumps(plain))


def _load(path: Path) -> Any:
    json.loads(path.with_suffix(".json").read_text())
    return np.load(path, mmap_mode="r")


# ---- processes ----------------------------------------------------------------------------


def processes(_: Counts) -> Iterator[Case]:
    """Measure processes that import the package, open the shipped vectors, look a query up."""
    imports, opens = "import fuzzydict", "import fuzzydict; fuzzydict.Brown()"
    lookup = [script("fuzzydict"), "lookup", str(_CAR), "colour"]
    for what, ours, theirs in (
        (f"`{imports}`, a process", _python(imports), "import numpy"),
        (f"`{opens}`, a process", _python(opens), imports),
        ("`fuzzydict lookup data/car.json colour`, cold", lookup, "import numpy, click"),
    ):
        peers = {f'`python -c "{theirs}"`': run_process(_python(theirs))}
        yield Case(what, run_process(ours), peers)


def _python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def script(name: str) -> str:
    """Return the path of a program of this environment."""
    return str(Path(sysconfig.get_path("scripts")) / name)


def run_process(words: Sequence[str], folder: Path | None = None) -> Run:
    """Return a run of a process, which raises OSError where it cannot be, or goes wrong."""
    where = folder or tempfile.gettempdir()  # not where the package's sources are

    def run() -> None:
        done = subprocess.run(words, cwd=where, capture_output=True, text=True)
        if done.returncode > 1:  # 1 is that of a query without a match
            raise OSError(
                f"{' '.join(words)[:80]} ended with {done.returncode}:{os.linesep}{done.stderr}"
            )

    return run


# ---- learning -----------------------------------------------------------------------------


def fitting(_: Counts) -> Iterator[Case]:
    """Measure a pass of learning Q and K over cosines, beside torch with the same batches."""
    random_ = np.random.default_rng(0)
    queries, keys = (
        random_.standard_normal((n, _FIT_SIZE), dtype=np.float32) for n in (_PAIRS, _FIT_KEYS)
    )
    right = random_.integers(_FIT_KEYS, size=_PAIRS)
    settings = Settings(epochs=1, validation=0, batch_size=256, identity_penalty=0)
    pairs = np.stack([np.arange(_PAIRS), right], axis=1)
    torch = optional("torch")
    theirs = torch and partial(_fitted_by_torch, torch, queries, keys, right, settings)
    ours = partial(fit_retrieval, queries, keys, pairs, settings)
    what = f"a pass of {_PAIRS:,} pairs over {_FIT_KEYS:,} keys of {_FIT_SIZE} numbers"
    yield Case(f"fit Q and K, {what}", ours, {"torch": theirs}, 3)


def _fitted_by_torch(torch: Any, queries: Any, keys: Any, right: Any, settings: Settings) -> None:
    x, y, wanted = (torch.from_numpy(array) for array in (queries, keys, right))
    q, k = (torch.nn.Parameter(torch.eye(x.shape[1])) for _ in range(2))
    log_temperature = torch.nn.Parameter(torch.tensor(float(np.log(settings.start_temperature))))
    rate = settings.learning_rate
    matrices = torch.optim.Adam([q, k], lr=rate * x.shape[1] ** -0.5)
    number = torch.optim.Adam([log_temperature], lr=rate)
    random_ = np.random.default_rng(0)
    order, drawn_of = random_.permutation(len(x)), settings.candidates
    for rows in np.array_split(order, -(-len(x) // (settings.batch_size or 1))):
        drawn = torch.from_numpy(random_.choice(len(y), drawn_of, replace=False, shuffle=False))
        some, here = torch.unique(torch.cat([wanted[rows], drawn]), return_inverse=True)
        query = torch.nn.functional.normalize(x[torch.from_numpy(rows)] @ q, dim=1)
        key = torch.nn.functional.normalize(y[some] @ k, dim=1)
        logits = query @ key.T / log_temperature.exp()
        loss = torch.nn.functional.cross_entropy(logits, here[: len(rows)])
        for optimizer in (matrices, number):
            optimizer.zero_grad()
        loss.backward()
        for optimizer in (matrices, number):
            optimizer.step()


# ---- the page -----------------------------------------------------------------------------


def page(keys: Counts) -> Iterator[Case]:
    """Measure a key stroke: the query so far is sent, and the answer read, in a new connection."""
    from fuzzydict.io.explore.server import ExploreServer

    for size in keys or (1_000, 100_000):
        texts = keys_of(size) if size <= 1_000 else key_texts(size)
        d = FuzzyDict({text: float(place) for place, text in enumerate(texts)})
        queries = chain(islice(known(texts, 2), _TYPED), islice(any_slips(texts), _TYPED))
        strokes = [text[:end] for text in queries for end in range(1, len(text) + 1)]
        random.Random(0).shuffle(strokes)
        server = ExploreServer(d)
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            run = each(partial(_ask, server), cycle(strokes))
            yield Case(f"a key stroke on the page, {size:,} keys", run, {}, _STROKES)
        finally:
            server.shutdown()
            server.server_close()


def _ask(server: Any, query: str) -> None:
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    origin = f"http://127.0.0.1:{server.server_port}"
    headers = {"Content-Type": "application/json", "Origin": origin}
    body = json.dumps({"query": query, "temperature": None})
    connection.request("POST", f"{urlsplit(server.url).path}answer", body, headers)
    answer = json.load(connection.getresponse())
    connection.close()
    if answer["query"] != query:
        raise RuntimeError(f"the page was answered {answer}")
