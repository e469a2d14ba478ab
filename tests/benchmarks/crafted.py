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
import math
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
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

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
from fuzzydict.embedding.projections import Factors, Projections
from fuzzydict.search.backends import usearch

from .memory import resident

_MEGABYTES = 200.0
_HANGS = 30  # seconds on the wall after which a child is ended
_BATCH = 40  # files of a child
_ROOM = 4 << 30  # bytes of addresses that a child may use beyond those of its parent
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
    odd: list[Any] = [None, True, False, [], {}, [[]], {"a": 1}, deep, of_one_hash, ["list"]]
    odd += [["tuple", []], ["dict", 1, 2, 1, 3], ["dict", ["list"], 1], ["array", 0, 0]]
    odd += [["array", 0, 2**70], ["array", -1, 0], ["scalar", 1, 0], [1, "a", None], ["identity"]]
    odd += [["Gaussian", ["dict"]], ["dict", *(part for key in of_one_hash for part in (key, 0))]]
    return chance.choice([*odd, *chance.choices(_NUMBERS, k=6), *chance.choices(_TEXTS, k=6)])


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


def _with_odd_numbers(data: bytes, chance: random.Random) -> bytes:
    """Return bytes with some numbers changed: links, levels, counts, places, vectors."""
    changed, odd = bytearray(data), [0, 1, 15, 16, 17, 31, 32, 33, 48, 50, 2**31, 2**32 - 1]
    for _ in range(chance.choice([1, 1, 3, 20])):
        size = chance.choice([1, 2, 4, 4, 4, 8])
        place = chance.randrange(max(len(data) // size, 1)) * size
        number = (chance.choice(odd) % 2 ** (8 * size)).to_bytes(size, "little")
        if chance.random() < 0.3:
            number = struct.pack("<f", chance.choice([-0.0, 1e-40, 3e38, math.nan, -math.inf]))
        changed[place : place + len(number)] = number
    return bytes(changed[: len(data)])


def _changed_rows(entry: dict[str, Any], data: bytes, chance: random.Random) -> bytes:
    """Return the rows of an array in another order, fewer of them, or some twice."""
    count = entry["shape"][0] if entry["shape"] else 1
    size = len(data) // max(count, 1)
    rows = [data[i * size : (i + 1) * size] for i in range(count)]
    cut = chance.randrange(count + 1)
    orders = [rows[::-1], rows[cut:] + rows[:cut], rows[:1] * count, rows[:cut], rows[cut:]]
    rows = chance.choice([*orders, rows + rows[:1], rows * 2])
    if entry["shape"]:
        entry["shape"][0] = len(rows)
    return b"".join(rows)


Header = dict[str, Any]
Arrays = dict[str, bytes]


def _change(header: Header, arrays: Arrays, chance: random.Random) -> None:
    """Change something of a file: an array, what the header says of one, or the header."""
    name = chance.choice(list(arrays))
    entry, data = header["arrays"][name], arrays[name]
    match chance.randrange(10):
        case 0:
            header["meta"] = _changed_tree(header["meta"], chance)
        case 1 | 2:
            entry[chance.choice(["shape", "dtype"])] = _changed_tree(entry["shape"], chance)
        case 3:
            entry["dtype"] = chance.choice(["<i8", "<i4", "|u1", "<f2", "<f4", "<f8", "|O", "<U1"])
        case 4:
            arrays[name] = arrays[chance.choice(list(arrays))]
        case 5:
            new = chance.choice([*_TEXTS, f"base.{name}", f"values {len(arrays)}", "scales"])
            arrays[new], header["arrays"][new] = arrays.pop(name), header["arrays"].pop(name)
        case 6:
            del arrays[name], header["arrays"][name]
        case 7:
            arrays[name] = _with_odd_numbers(data, chance) if data else b""
        case _ if data[:1] in (b"[", b"{") and data[:200] != b"[" * 200:  # changed before
            text = json.dumps(_changed_tree(json.loads(data), chance)).encode()
            deep = b"[" * 90_000 + b"]" * 90_000
            texts = [text] * 20 + [deep, text[:-1], text + b"]", b"\xff"]
            arrays[name] = chance.choice(texts)
            entry["shape"] = [len(arrays[name])]
        case _:
            arrays[name] = _changed_rows(entry, data, chance)


def _parts_of(data: bytes) -> tuple[Header, Arrays]:
    """Return the header of a file, and the bytes of each of its arrays."""
    place = 24 + int.from_bytes(data[16:24], "little")
    header, arrays = json.loads(data[24:place]), dict[str, bytes]()
    for name, entry in header["arrays"].items():
        place += -place % 64
        size = math.prod(entry["shape"]) * np.dtype(entry["dtype"]).itemsize
        arrays[name] = data[place : place + size]
        place += size
    return header, arrays


def crafted(path: Path, chance: random.Random) -> bytes:
    """Return what an honest file holds, with some changes and right checksums."""
    header, arrays = _parts_of(path.read_bytes())
    for _ in range(chance.choice([1, 1, 1, 2, 4])):
        with suppress(IndexError, TypeError, ValueError):  # what was changed cannot be once more
            _change(header, arrays, chance)
    for name, data in arrays.items():
        header["arrays"][name].pop("sum64", None)
        header["arrays"][name]["crc32"] = zlib.crc32(data)
    if chance.random() < 0.1:
        changed = _changed_tree(header, chance)
        header = changed if isinstance(changed, dict) else {"kind": changed}
    text = json.dumps(header).encode()
    if chance.random() < 0.02:
        deep = [b"[" * 200_000, b'{"a":' * 50_000]
        text = chance.choice([*deep, text[:-1] + b', "kind": 1}', text * 2])
    data = struct.pack("<8sIIQ", b"fuzzydct", 2, zlib.crc32(text), len(text)) + text
    for part in arrays.values():
        data += b"\0" * (-len(data) % 64) + part
    return data


# ---- use -----------------------------------------------------------------------------------


def _tried(read: Callable[..., Any], *arguments: Any) -> None:
    """Read; what this package raises of itself is as it should be."""
    with suppress(FuzzyDictError):
        read(*arguments)


def _use_dict(path: Path, embedding: Any) -> None:
    """Open a dict, read it in every way, write, save it, and read what was saved."""
    d: FuzzyDict[Any] = FuzzyDict.load(path, embedding=embedding)
    assert all(key in d for key in list(d)[:50]), "a key is not found exactly"
    for query in _QUERIES:
        _tried(d.get, query)
    _tried(d.most_similar, _QUERIES * 2, 3)
    for read in (d.explain, d.attend, d.pool):
        _tried(read, "colour")
    repr(d.aliases)
    json.dumps([value.tolist() for value in d.values() if isinstance(value, np.ndarray)])
    _tried(d.update, {"dark red": 1, "green hills": 2})
    d.pop(next(iter(d)))
    _tried(d.get, "dark redd")
    again = path.with_name("again")
    _tried(d.save, again)
    if again.exists():
        other: FuzzyDict[Any] = FuzzyDict.load(again, embedding=embedding)
        assert len(other) == len(d), "an item was lost"
        _tried(other.get, "colour")


def _use_vectors(path: Path, _: Any) -> None:
    """Open vectors, give them to a dict, read it, save them."""
    vectors = WordVectors.load(path)
    d = FuzzyDict({"color": 1.0, "top speed": 2.0, "zzz": 3.0}, embedding=vectors)
    for query in _QUERIES:
        _tried(d.get, query)
    _tried(d.most_similar, _QUERIES * 2)
    _tried(d.pool, "colour")
    again = path.with_name("again")
    vectors.save(again, dtype="int8")
    assert len(WordVectors.load(again).words) == len(vectors)


_USES: Mapping[str, Callable[[Path, Any], None]] = {
    "fuzzydict": _use_dict,
    "vectors": _use_vectors,
}


def _used(path: Path, source: Path) -> str:
    """Use a crafted file; return what came of it, which begins with "escape" if it is wrong."""
    embedding = None if source.stem == "brown" else EMBEDDING
    warnings.simplefilter("ignore", DoubtfulPoolWarning)  # which any values may deserve
    try:
        _USES[source.suffix[1:]](path, embedding)
    except FileFormatError:
        return "refused"
    except OptionError as error:  # of another embedding
        if str(error).startswith(("embedding:", "projections:")):
            return "refused"
        return _escape(error)
    except Exception as error:
        return _escape(error)
    return "opened"


def _escape(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)[-3:]
    where = " < ".join(f"{Path(f.filename).name}:{f.lineno} {f.name}" for f in reversed(frames))
    return f"escape: {type(error).__name__}: {str(error)[:100]!r} at {where}"


def _checked(number: int, seed: int, sources: list[Path], folder: Path, seconds: float) -> str:
    """Make the crafted file of a number, use it, and return what came of it in so many seconds."""
    chance = random.Random(f"{seed} {number}")
    source = chance.choice(sources)
    path = folder / f"crafted{source.suffix}"
    path.write_bytes(crafted(source, chance))
    saving._LITTLE = chance.choice([0, 1 << 26])  # whether vectors stay in the file
    Path("/proc/self/clear_refs").write_text("5", "ascii")  # forget the peak of memory
    before, begun = resident(), time.process_time()
    found = _used(path, source)
    taken, megabytes = time.process_time() - begun, resident("VmHWM") - before
    if taken > seconds or megabytes > _MEGABYTES:
        found = f"escape: {found} in {taken:.1f} s, {megabytes:.0f} MB"
    return f"{source.stem}.{found}" if found.startswith("escape") else found


# ---- processes -----------------------------------------------------------------------------


def _batch(numbers: range, use: Callable[[int], str]) -> Iterator[tuple[int, str]]:
    """Use files in a child; yield what came of each. A crash ends the child, and is the last."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        _told(numbers, use, writing)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as told:
        lines = told.read().splitlines()
    _, status = os.waitpid(child, 0)
    if not lines:
        raise RuntimeError(f"a child told nothing, and ended with status {status}")
    for line in lines:
        number, _, found = line.partition("\t")
        yield int(number), found or f"escape: crash, status {status}"


def _told(numbers: range, use: Callable[[int], str], pipe: int) -> NoReturn:
    """Write the number of each file to a pipe, and then what came of it; and end."""
    try:
        room = int(resident("VmSize") * 1e6) + _ROOM
        resource.setrlimit(resource.RLIMIT_AS, (room, room))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with os.fdopen(pipe, "w", encoding="utf-8", errors="backslashreplace") as told:
            warnings.simplefilter("error")
            for number in numbers:
                print(number, end="\t", file=told, flush=True)
                signal.alarm(_HANGS)
                print(use(number).replace("\n", " "), file=told, flush=True)
    finally:
        os._exit(0)


def run(seed: int, numbers: range, seconds: float) -> Counter[str]:
    """Return how many files were opened, refused and escaped; print the escapes."""
    totals = Counter[str]()
    usearch._FEW = 0  # so that graphs are walked, however few vectors they have
    with tempfile.TemporaryDirectory() as name:
        sources = honest(Path(name))
        for source in sources:  # which also opens what all children share
            assert _used(source, source) == "opened"
        (Path(name) / "again").unlink()

        def use(number: int) -> str:
            with tempfile.TemporaryDirectory(dir=name) as own:
                return _checked(number, seed, sources, Path(own), seconds)

        while numbers:
            for number, found in _batch(numbers[:_BATCH], use):
                totals["escaped" if "escape" in found else found] += 1
                if "escape" in found:
                    print(f"file {number}: {found}", flush=True)
                numbers = range(number + 1, numbers.stop)
    return totals


def main() -> None:
    """Run from the command line; the exit code is 1 if a file escaped."""
    parser = argparse.ArgumentParser(description="Open crafted files.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=1.0, help="of the processor, for a file")
    parser.add_argument("--only", type=int, metavar="NUMBER", help="one file again")
    given = parser.parse_args()
    numbers = range(given.count) if given.only is None else range(given.only, given.only + 1)
    totals = run(given.seed, numbers, given.seconds)
    print(
        f"crafted files: seed {given.seed}, {len(numbers)} files, {totals['opened']} opened, "
        f"{totals['refused']} refused, {totals['escaped']} escaped, crashed, or were slow or large"
    )
    sys.exit(bool(totals["escaped"]))


if __name__ == "__main__":
    main()
