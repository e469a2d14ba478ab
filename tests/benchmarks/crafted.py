"""A fuzz run over crafted files: saved dicts, vectors and projections with right checksums.

    python -m tests.benchmarks.crafted [--seed 1] [--count 100000] [--seconds 1] [--only NUMBER]

Each file is an honest one of which something was changed: the header, a shape, a dtype, numbers,
names, JSON, the links of a graph; then the checksums are made right. It is opened, read, written
and saved in a child process, which lives for some files. Anything but success and errors of this
package counts: another exception or a warning (an escape), the end of the process (a crash), more
than so many ``--seconds`` of processor time, more than 200 MB. ``--only`` makes and opens one file
again.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import struct
import sys
import tempfile
import time
import traceback
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fuzzydict import (
    Bilinear,
    DoubtfulPoolWarning,
    FileFormatError,
    FuzzyDict,
    FuzzyDictError,
    Gaussian,
    OptionError,
    WordVectors,
    saving,
)
from fuzzydict._files import DTYPES, read_arrays
from fuzzydict.embedding.projections import Factors, Projections
from fuzzydict.search.backends import usearch

_MEGABYTES = 200.0
_HANGS = 30  # seconds on the wall after which a child is ended
_BATCH = 40  # files of a child
_ROOM = 4 << 30  # bytes of addresses that a child may use beyond those of its parent
_KINDS = {"fuzzydict": "fuzzy dict", "vectors": "word vectors"}
_WORDS = ["color", "brand", "model", "speed", "price", "weight", "red", "blue", "sky", "sea"]
_QUERIES = ["colour", "topSpeed", "brandt", "key 1x", "?!", "the deep blue sea"]


def axes(words: list[str]) -> dict[str, Any]:
    """Return a vector of 6 numbers for each word."""
    numbers = np.random.default_rng(0).standard_normal((len(words), 6)).astype(np.float32)
    return dict(zip(words, numbers, strict=True))


EMBEDDING = WordVectors.from_mapping(axes(_WORDS))


# ---- honest files --------------------------------------------------------------------------


def honest(folder: Path) -> list[Path]:
    """Write honest files of all kinds, and return their paths."""
    matrix = np.linspace(-1, 1, 36, dtype=np.float32).reshape(6, 6)
    factors = Factors(matrix[:, :2], matrix[:, 2:4])
    learned = Projections(matrix, factors, np.eye(2))
    values = [1, "x", None, (1, [2.5]), {"a": {2: 3}}, np.arange(6.0).reshape(2, 3), np.int64(3)]
    items: dict[Any, Any] = {
        **dict(zip(_WORDS, values * 2, strict=False)),
        5: np.zeros((2, 0)),
        (1, "a"): True,
    }
    numbers = {key: np.arange(2.0) + i for i, key in enumerate(_WORDS)}
    many = {f"{a} {b}": i for i, a in enumerate(_WORDS) for b in _WORDS[:5]}
    dicts: dict[str, Any] = {
        "brown": FuzzyDict(items),
        "items": FuzzyDict(items, embedding=EMBEDDING, scorer=Gaussian(0.5)),
        "learned": FuzzyDict(numbers, embedding=EMBEDDING, projections=learned),
        "texts": FuzzyDict({**many, "?!": 1, "topSpeed": 2}, embedding=EMBEDDING),
        "graph": FuzzyDict(many, embedding=EMBEDDING, index="usearch", scorer="cosine"),
        "dots": FuzzyDict(many, embedding=EMBEDDING, index="usearch", scorer="dot"),
        "bilinear": FuzzyDict(numbers, embedding=EMBEDDING, scorer=Bilinear(matrix), mode="pool"),
    }
    dicts["items"].aliases = {"tint": "color", "number one": None, "Five-Five": 5}
    for name, d in dicts.items():
        d.get("colour")
        if name == "graph":
            del d["red color"]
        d.save(folder / f"{name}.fuzzydict")
    EMBEDDING.save(folder / "plain.vectors")
    WordVectors([*_WORDS, "New York", "Ä"], np.ones((12, 3))).save(folder / "listed.vectors")
    EMBEDDING.save(folder / "rounded.vectors", dtype="int8")
    return sorted(folder.iterdir())


# ---- changes -------------------------------------------------------------------------------

_NUMBERS: list[Any] = [
    *(0, -1, 1, 2, 7, 255, 2**15, 2**31, 2**32 - 1, 2**48, 2**53, 2**61 - 1, 2**63 - 1, -(2**63)),
    *(2**64, 10**30, 10**400, 0.5, -0.0, 1e-320, 1e38, 3e38, -3e38, 1e300),
    *(float("nan"), float("inf"), -float("inf")),
]
_TEXTS = ["", " ", "\n", "a\nb", "color", "COLOR", "\ud800", "Ä", "?!", "x" * 3000, "ﷺ" * 200]


def _odd_value(chance: random.Random) -> Any:
    deep: Any = chance.choice([1, []])
    for _ in range(chance.choice([3, 90, 110, 350, 450])):
        deep = chance.choice([["list", deep], [deep]])
    of_one_hash = [(2**61 - 1) * i for i in range(1, chance.choice([3, 300, 6000]))]
    return chance.choice(
        [
            *(
                None,
                True,
                False,
                [],
                {},
                [[]],
                {"a": 1},
                deep,
                of_one_hash,
                ["list"],
                ["tuple", []],
            ),
            *(["dict", 1, 2, 1, 3], ["dict", ["list"], 1], ["array", 0, 0], ["array", 0, 2**70]),
            *(["scalar", 1, 0], ["array", -1, 0], [1, "a", None], ["Gaussian", ["dict"]]),
            *(["dict", *[part for key in of_one_hash for part in (key, 0)]], ["identity"]),
            *chance.choices(_NUMBERS, k=6),
            *chance.choices(_TEXTS, k=6),
        ]
    )


def _changed_tree(tree: Any, chance: random.Random) -> Any:
    """Return JSON with a change somewhere."""
    if not isinstance(tree, dict | list) or not tree or chance.random() < 0.1:
        return _odd_value(chance)
    places: Any = list(tree) if isinstance(tree, dict) else range(len(tree))
    place, change = chance.choice(places), chance.random()
    new: Any = tree.copy()
    if change < 0.55:
        new[place] = _changed_tree(tree[place], chance)
    elif change < 0.65:
        del new[place]
    elif change < 0.8:
        new[place] = new[chance.choice(places)]
    elif isinstance(new, list):
        new.insert(place, _odd_value(chance) if change < 0.9 else new[chance.choice(places)])
    else:
        new[chance.choice(_TEXTS)] = _odd_value(chance)
    return new


def _special(array: Any, chance: random.Random) -> Any:
    """Return a number that is odd for this dtype."""
    with np.errstate(all="ignore"):
        if array.dtype.kind in "iu":
            info = np.iinfo(array.dtype)
            near = [int(info.max), int(info.min), len(array), len(array) - 1, len(array) + 1]
            number = chance.choice([*near, *[n for n in _NUMBERS if isinstance(n, int)]])
            return np.uint64(number % 2**64).astype(array.dtype)
        return np.float64(chance.choice([n for n in _NUMBERS if n != 10**400])).astype(array.dtype)


def _changed_array(array: Any, chance: random.Random) -> Any:
    """Return an array with a change: numbers, order, length, shape or dtype."""
    array = np.array(array)
    flat = array.reshape(-1)
    some = (
        [chance.randrange(flat.size) for _ in range(chance.choice([1, 1, 2, 9]))]
        if flat.size
        else []
    )
    match chance.randrange(14):
        case 0 | 1 | 2:
            for place in some:
                flat[place] = _special(flat, chance)
        case 3:
            array[...] = _special(flat, chance) if flat.size else 0
        case 4:
            flat[:] = flat[::-1]
        case 5:
            flat[:] = np.roll(flat, chance.choice([1, -1, 3]))
        case 6:
            for place in some:
                flat[place] = flat[0]
        case 7:
            with np.errstate(all="ignore"):
                flat += np.asarray(chance.choice([1, -1, 2**30])).astype(flat.dtype)
        case 8 if array.ndim and len(array):
            return array[chance.choice([slice(1, None), slice(-1), slice(0), slice(1)])]
        case 9 if array.ndim:
            return np.concatenate([array, array[:1]] * chance.choice([1, 2]))
        case 10:
            return array.reshape(chance.choice([(-1,), (1, -1), (-1, 1), array.shape[::-1]]))
        case 11:
            with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
                return array.astype(chance.choice(DTYPES))
        case 12:
            data = bytearray(array.tobytes())
            for _ in range(chance.choice([1, 2, 8]) if data else 0):
                data[chance.randrange(len(data))] = chance.choice([0, 1, 127, 128, 255, 34, 91])
            return np.frombuffer(bytes(data), array.dtype).reshape(array.shape)
        case _:
            shape = chance.choice([(), (0,), (3, 0), (0, 6), (1,), (2, 6), (70000, 0)])
            return np.zeros(shape, chance.choice(DTYPES))
    return array


def _with_odd_words(data: bytes, chance: random.Random) -> bytes:
    """Return bytes with some of their numbers of 32 bits changed: links, levels, counts, keys."""
    changed = bytearray(data)
    for _ in range(chance.choice([1, 1, 3, 20])):
        size = chance.choice([1, 2, 4, 4, 4, 8])
        place = chance.randrange(max(len(data) - size, 1))
        number = chance.choice([0, 1, 15, 16, 17, 31, 32, 33, 48, 49, 50, 51, 2**31, 2**32 - 1])
        changed[place : place + size] = (number % 2 ** (8 * size)).to_bytes(size, "little")
    return bytes(changed[: len(data)])


def _odd_shape(shape: list[Any], chance: random.Random) -> list[Any]:
    sides = [0, 1, 2, 2**20, 2**24, 2**31, 2**47, 2**63, -1, True, 1.0, None, *shape]
    new = list(shape)
    for _ in range(chance.choice([1, 1, 2])):
        match chance.randrange(3):
            case 0 if new:
                new[chance.randrange(len(new))] = chance.choice(sides)
            case 1:
                new.insert(chance.randrange(len(new) + 1), chance.choice([0, 1, *sides]))
            case _:
                new = new[1:] if chance.random() < 0.5 else new * chance.choice([1, 2, 40])
    return new


def _change_header(header: dict[str, Any], chance: random.Random) -> None:
    arrays = header["arrays"]
    name = chance.choice(list(arrays))
    match chance.randrange(8):
        case 0 | 1 | 2:
            arrays[name]["shape"] = _odd_shape(arrays[name]["shape"], chance)
        case 3:
            arrays[name]["dtype"] = chance.choice([*DTYPES, "|O", "<U1", "<c8", None, 3, ["<i4"]])
        case 4:
            arrays[name]["crc32"] = chance.choice([None, 0, "1", 2**64])
        case 5:
            header["arrays"] = dict(chance.sample(list(arrays.items()), len(arrays)))
        case 6:
            changed = _changed_tree(header, chance)
            header.clear()
            header.update(changed if isinstance(changed, dict) else {"kind": changed})
        case _:
            new = chance.choice(
                [*_TEXTS, "base." * 1200 + "query", "base." * 30 + "key", "values 9"]
            )
            arrays[new] = arrays.pop(name)


Parts = tuple[dict[str, Any], dict[str, Any]]  # meta, and arrays


def _change_parts(parts: Parts, chance: random.Random) -> Parts:
    meta, arrays = parts
    name = chance.choice(list(arrays))
    array, change = arrays[name], chance.random()
    as_json = None
    if array.dtype == np.uint8 and array.ndim == 1:
        try:
            as_json = json.loads(array.tobytes())
        except (RecursionError, ValueError):
            as_json = None
    if change < 0.15:
        return _changed_tree(meta, chance), arrays
    if change < 0.2:
        del arrays[name]
    elif change < 0.25:
        arrays[name] = arrays[chance.choice(list(arrays))]
    elif change < 0.3:
        arrays[chance.choice([*_TEXTS, f"base.{name}", f"values {len(arrays)}", "scales"])] = array
    elif as_json is not None and change < 0.8:
        text = json.dumps(_changed_tree(as_json, chance)).encode()
        if chance.random() < 0.05:
            text = chance.choice([b"[" * 90_000 + b"]" * 90_000, text[:-1], text + b"]", b"\xff"])
        arrays[name] = np.frombuffer(text, np.uint8)
    elif name.startswith("graph by") or change > 0.9:
        data = _with_odd_words(array.tobytes(), chance) if array.nbytes else b""
        arrays[name] = np.frombuffer(data, array.dtype).reshape(array.shape)
    else:
        arrays[name] = _changed_array(array, chance)
    return meta, arrays


def crafted(path: Path, chance: random.Random) -> bytes:
    """Return what an honest file holds, with some changes and right checksums."""
    kind = _KINDS[path.suffix[1:]]
    stored = read_arrays(path, kind)
    parts: Parts = json.loads(json.dumps(stored.meta)), dict(stored.arrays)
    for _ in range(chance.choice([1, 1, 1, 2, 4])):
        if parts[1] and isinstance(parts[0], dict):
            parts = _change_parts(parts, chance)
    meta, arrays = parts
    raw = {name: np.asarray(array, order="C").tobytes() for name, array in arrays.items()}
    header: dict[str, Any] = {"kind": kind, "meta": meta, "arrays": {}}
    for name, array in arrays.items():
        entry = {
            "dtype": array.dtype.str,
            "shape": list(array.shape),
            "crc32": zlib.crc32(raw[name]),
        }
        header["arrays"][name] = entry
    if chance.random() < 0.3 and arrays:
        _change_header(header, chance)
    text = json.dumps(header).encode()
    if chance.random() < 0.02:
        text = chance.choice(
            [b"[" * 200_000, text[:-1] + b', "kind": 1}', b'{"a":' * 50_000, text * 2]
        )
    data = struct.pack("<8sIIQ", b"fuzzydct", 1, zlib.crc32(text), len(text)) + text
    for part in raw.values():
        data += b"\0" * (-len(data) % 64) + part
    return data


# ---- use -----------------------------------------------------------------------------------


def _tried(read: Callable[[], Any]) -> None:
    """Read; what this package raises of itself is as it should be."""
    try:
        read()
    except FuzzyDictError:
        return


def use_dict(path: Path, embedding: Any) -> None:
    """Open a dict, read it in every way, write, save it, and read what was saved."""
    d: FuzzyDict[Any] = FuzzyDict.load(path, embedding=embedding)
    assert all(key in d for key in list(d)[:50]), "a key is not found exactly"
    reads: list[Callable[[], Any]] = [
        *(partial(d.get, query) for query in _QUERIES),
        lambda: d.most_similar(_QUERIES * 2, topn=3),
        lambda: d.explain("colour"),
        lambda: d.attend("colour"),
        lambda: d.pool("colour"),
        lambda: repr(d.aliases),
        lambda: json.dumps(
            [value.tolist() for value in d.values() if isinstance(value, np.ndarray)]
        ),
        lambda: d.update({"dark red": 1, "green hills": 2}),
        lambda: d.pop(next(iter(d))),
        lambda: d.get("dark redd"),
        lambda: d.save(path.with_name("again")),
    ]
    for read in reads:
        _tried(read)
    if (again := path.with_name("again")).exists():
        try:
            other: FuzzyDict[Any] = FuzzyDict.load(again, embedding=embedding)
            assert len(other) == len(d), "an item was lost"
            _tried(lambda: other.get("colour"))
        finally:
            again.unlink()


def use_vectors(path: Path, _: Any) -> None:
    """Open vectors, give them to a dict, read it, save them."""
    vectors = WordVectors.load(path)
    d = FuzzyDict({"color": 1.0, "top speed": 2.0, "zzz": 3.0}, embedding=vectors)
    for query in _QUERIES:
        _tried(partial(d.get, query))
    _tried(lambda: d.most_similar(_QUERIES * 2))
    _tried(lambda: d.pool("colour"))
    _tried(lambda: vectors.save(path.with_name("again"), dtype="int8"))
    assert len(WordVectors.load(path.with_name("again")).words) == len(vectors)


USES: Mapping[str, Callable[[Path, Any], None]] = {
    "fuzzydict": use_dict,
    "vectors": use_vectors,
}


def _memory(name: str) -> float:
    """Return a number of /proc/self/status, in MB."""
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024


def _opened(path: Path, source: Path) -> str:
    """Use a crafted file; return what came of it, which begins with "escape" if it is wrong."""
    embedding = None if source.stem == "brown" else EMBEDDING
    warnings.simplefilter("ignore", DoubtfulPoolWarning)  # which any values may deserve
    try:
        USES[source.suffix[1:]](path, embedding)
    except FileFormatError:
        return "refused"
    except OptionError as error:  # of another embedding
        return "refused" if str(error).startswith(("embedding:", "projections:")) else _escape()
    except MemoryError:
        return "escape: MemoryError"
    except Exception:
        return _escape()
    return "opened"


def _escape() -> str:
    kind, error, trace = sys.exc_info()
    frames = traceback.extract_tb(trace)[-3:]
    where = " < ".join(f"{Path(f.filename).name}:{f.lineno} {f.name}" for f in reversed(frames))
    return f"escape: {kind.__name__ if kind else ''}: {str(error)[:100]!r} at {where}"


def checked(number: int, seed: int, sources: list[Path], folder: Path, seconds: float) -> str:
    """Make the crafted file of a number, use it, and return what came of it in so many seconds."""
    chance = random.Random(f"{seed} {number}")
    source = chance.choice(sources)
    path = folder / f"crafted{source.suffix}"
    path.write_bytes(crafted(source, chance))
    saving._LITTLE = chance.choice([0, 1 << 26])  # whether vectors stay in the file
    Path("/proc/self/clear_refs").write_text("5", "ascii")  # forget the peak of memory
    before, begun = _memory("VmRSS"), time.process_time()
    found = _opened(path, source)
    taken, megabytes = time.process_time() - begun, _memory("VmHWM") - before
    if not found.startswith("escape") and taken > seconds:
        found = f"escape: {found} in {taken:.1f} s"
    if not found.startswith("escape") and megabytes > _MEGABYTES:
        found = f"escape: {found} in {megabytes:.0f} MB"
    return f"{source.stem}.{found}" if found.startswith("escape") else found


# ---- processes -----------------------------------------------------------------------------


def _child(
    pipe: int, numbers: range, seed: int, sources: list[Path], folder: Path, seconds: float
) -> None:
    """Write the number of each file to a pipe, and then what came of it; and end."""
    code = 1
    try:
        used = int(_memory("VmSize") * 1024**2)
        resource.setrlimit(resource.RLIMIT_AS, (used + _ROOM, used + _ROOM))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with os.fdopen(pipe, "w", encoding="utf-8", errors="backslashreplace") as told:
            warnings.simplefilter("error")
            for number in numbers:
                print(number, end="\t", file=told, flush=True)
                signal.alarm(_HANGS)
                with tempfile.TemporaryDirectory(dir=folder) as own:
                    found = checked(number, seed, sources, Path(own), seconds)
                print(found.replace("\n", " "), file=told, flush=True)
        code = 0
    finally:
        os._exit(code)


def _batch(
    numbers: range, seed: int, sources: list[Path], folder: Path, seconds: float
) -> list[tuple[int, str]]:
    """Return what came of files, each with its number; the last one is that of a crash."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        _child(writing, numbers, seed, sources, folder, seconds)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as told:
        lines = told.read().splitlines()
    _, status = os.waitpid(child, 0)
    found = [(int(line.split("\t")[0]), line.split("\t", 1)[1]) for line in lines]
    if found and not found[-1][1]:
        found[-1] = found[-1][0], f"escape: crash, status {status}"
    return found


def run(seed: int, count: int, seconds: float) -> tuple[Counter[str], dict[int, str]]:
    """Return how many files were opened, refused and escaped, and the escapes by their numbers."""
    totals, escapes = Counter[str](), dict[int, str]()
    usearch._FEW = 0  # so that graphs are walked, however few vectors they have
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "honest").mkdir()
        sources = honest(folder / "honest")
        for source in sources:  # which also opens what all children share
            USES[source.suffix[1:]](source, None if source.stem == "brown" else EMBEDDING)
        done = 0
        while done < count:
            numbers = range(done, min(done + _BATCH, count))
            found = _batch(numbers, seed, sources, folder, seconds)
            if not found:
                raise RuntimeError("a child told nothing")
            for number, what in found:
                totals["escaped" if "escape" in what else what] += 1
                if "escape" in what:
                    escapes[number] = what
                    print(f"file {number}: {what}", flush=True)
            done = found[-1][0] + 1
            if done % 10_000 < _BATCH:
                print(f"{done} of {count}: {dict(totals)}", flush=True)
    return totals, escapes


def main() -> None:
    """Run from the command line; the exit code is 1 if a file escaped."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=1.0, help="of the processor, for a file")
    parser.add_argument("--only", type=int, metavar="NUMBER", help="one file, in this process")
    options = parser.parse_args()
    if options.only is not None:
        return _main_of_one(options.seed, options.only, options.seconds)
    begun = time.perf_counter()
    totals, escapes = run(options.seed, options.count, options.seconds)
    print(
        f"crafted files: seed {options.seed}, {options.count} files, {totals['opened']} opened, "
        f"{totals['refused']} refused, {len(escapes)} escaped, crashed, or were slow or large, "
        f"in {time.perf_counter() - begun:.0f} s"
    )
    sys.exit(bool(escapes))


def _main_of_one(seed: int, number: int, seconds: float) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "honest").mkdir()
        sources = honest(folder / "honest")
        usearch._FEW = 0
        for source in sources:
            USES[source.suffix[1:]](source, None if source.stem == "brown" else EMBEDDING)
        warnings.simplefilter("error")
        print(checked(number, seed, sources, folder, seconds))


if __name__ == "__main__":
    main()
