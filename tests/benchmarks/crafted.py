"""Saved dicts, vectors and projections with right checksums, in which something is wrong.

Each file is an honest one of which something was changed: the header, a shape, a dtype, numbers,
names, JSON, the links of a graph; then the checksums are made right. It is opened, read, written
and saved in a child process. Anything but success and errors of this package is wrong: another
exception, a warning, the end of the process, more than a second of the processor, more than 200 MB.
``python -m tests.benchmarks.campaigns crafted`` does this with twenty files at a time.
"""

from __future__ import annotations

import atexit
import gc
import json
import math
import random
import resource
import shutil
import struct
import tempfile
import time
import warnings
import zlib
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from itertools import product
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
from fuzzydict.embedding.projections import Factors, Projections
from fuzzydict.search import neighbours

from .measuring import in_child, resident

_MEGABYTES = 200.0
_ROOM = 4 << 30  # bytes of addresses that a child may use beyond those of its parent
_WORDS = ["color", "brand", "model", "speed", "price", "weight", "red", "blue", "sky", "sea"]
_QUERIES = ["colour", "topSpeed", "brandt", "key 1x", "?!", "the deep blue sea"]
_EMBEDDING = WordVectors(_WORDS, np.random.default_rng(0).standard_normal((10, 6)))


# ---- honest files --------------------------------------------------------------------------


@cache
def _honest() -> list[Path]:
    """Write honest files of all kinds, and return their paths."""
    folder = Path(tempfile.mkdtemp(prefix="fuzzydict-honest-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    matrix = np.linspace(-1, 1, 36, dtype=np.float32).reshape(6, 6)
    learned = Projections(matrix, Factors(matrix[:, :2], matrix[:, 2:4]), np.eye(2))
    values = [1, "x", None, (1, [2.5]), {"a": {2: 3}}, np.arange(6.0).reshape(2, 3), np.int64(3)]
    items: dict[Any, Any] = dict(zip(_WORDS, values * 2, strict=False))
    items |= {5: np.zeros((2, 0)), (1, "a"): True}
    numbers = {key: np.arange(2.0) + i for i, key in enumerate(_WORDS)}
    many = {f"{a} {b}": i for i, (a, b) in enumerate(product(_WORDS, _WORDS[:5]))}
    own: dict[str, Any] = {"embedding": _EMBEDDING}
    graph = own | {"index": "usearch"}
    dicts: dict[str, Any] = {
        "brown": FuzzyDict(items),
        "items": FuzzyDict(items, **own, scorer=Gaussian(0.5)),
        "learned": FuzzyDict(numbers, **own, projections=learned),
        "texts": FuzzyDict({**many, "?!": 1, "topSpeed": 2}, **own),
        "graph": FuzzyDict(many, **graph, scorer="cosine"),
        "bilinear": FuzzyDict(numbers, **own, scorer=Bilinear(matrix), mode="pool"),
    }
    dicts["items"].aliases = {"tint": "color", "number one": None, "Five-Five": 5}
    for name, d in dicts.items():
        d.get("colour")
        if name == "graph":
            del d["red color"]
        d.save(folder / f"{name}.fuzzydict")
    _EMBEDDING.save(folder / "plain.vectors")
    WordVectors([*_WORDS, "New York", "Ä"], np.ones((12, 3))).save(folder / "listed.vectors")
    _EMBEDDING.save(folder / "rounded.vectors", dtype="int8")
    paths = sorted(folder.iterdir())
    for path in paths:  # which also opens what all children share
        _used(path, path)
    (folder / "again").unlink()
    gc.freeze()  # so that no child copies all of it by a collection
    return paths


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


def _change(header: dict[str, Any], arrays: dict[str, bytes], chance: random.Random) -> None:
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
        case 7:  # links, levels, counts, places, numbers of vectors
            changed, odd = bytearray(data), [0, 1, 15, 16, 17, 31, 32, 33, 48, 50, 2**31, 2**32 - 1]
            for _ in range(chance.choice([1, 1, 3, 20])):
                size = chance.choice([1, 2, 4, 4, 4, 8])
                place = chance.randrange(max(len(data) // size, 1)) * size
                number = (chance.choice(odd) % 2 ** (8 * size)).to_bytes(size, "little")
                if chance.random() < 0.3:
                    real = chance.choice([-0.0, 1e-40, 3e38, math.nan, -math.inf])
                    number = struct.pack("<f", real)
                changed[place : place + len(number)] = number
            arrays[name] = bytes(changed[: len(data)])
        case _ if data[:1] in (b"[", b"{") and data[:200] != b"[" * 200:  # changed before
            text = json.dumps(_changed_tree(json.loads(data), chance)).encode()
            deep = b"[" * 90_000 + b"]" * 90_000
            texts = [text] * 20 + [deep, text[:-1], text + b"]", b"\xff"]
            arrays[name] = chance.choice(texts)
            entry["shape"] = [len(arrays[name])]
        case _:  # rows in another order, fewer of them, or some twice
            count = entry["shape"][0] if entry["shape"] else 1
            size = len(data) // max(count, 1)
            rows = [data[i * size : (i + 1) * size] for i in range(count)]
            cut = chance.randrange(count + 1)
            orders = [rows[::-1], rows[cut:] + rows[:cut], rows[:1] * count, rows[:cut], rows[cut:]]
            rows = chance.choice([*orders, rows + rows[:1], rows * 2])
            if entry["shape"]:
                entry["shape"][0] = len(rows)
            arrays[name] = b"".join(rows)


def _crafted(path: Path, chance: random.Random) -> bytes:
    """Return what an honest file holds, with some changes and right checksums."""
    data = path.read_bytes()
    place = 24 + int.from_bytes(data[16:24], "little")
    header, arrays = json.loads(data[24:place]), dict[str, bytes]()
    for name, entry in header["arrays"].items():
        place += -place % 64
        size = math.prod(entry["shape"]) * np.dtype(entry["dtype"]).itemsize
        arrays[name] = data[place : place + size]
        place += size
    for _ in range(chance.choice([1, 1, 1, 2, 4])):
        with suppress(IndexError, TypeError, ValueError):  # what was changed cannot be once more
            _change(header, arrays, chance)
    for name, part in arrays.items():
        header["arrays"][name].pop("sum64", None)
        header["arrays"][name]["crc32"] = zlib.crc32(part)
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


def _use_vectors(path: Path) -> None:
    vectors = WordVectors.load(path)
    d = FuzzyDict({"color": 1.0, "top speed": 2.0, "zzz": 3.0}, embedding=vectors)
    for query in _QUERIES:
        _tried(d.get, query)
    _tried(d.most_similar, _QUERIES * 2)
    _tried(d.pool, "colour")
    again = path.with_name("again")
    vectors.save(again, dtype="int8")
    assert len(WordVectors.load(again).words) == len(vectors)


def _used(path: Path, source: Path) -> str:
    """Use a file that was made from another, and tell whether it was opened or refused."""
    try:
        if source.suffix == ".vectors":
            _use_vectors(path)
        else:
            _use_dict(path, None if source.stem == "brown" else _EMBEDDING)
    except (FileFormatError, OptionError) as error:
        others = ("embedding:", "projections:")  # it is of another embedding
        if not isinstance(error, FileFormatError) and not str(error).startswith(others):
            raise
        return "refused"
    return "opened"


def opened(chance: random.Random, folder: Path, seconds: float = 1.0) -> str:
    """Craft and use twenty files in a child process; return whether some were opened."""
    sources = _honest()

    def use() -> str:
        room = int(resident("VmSize") * 1e6) + _ROOM
        resource.setrlimit(resource.RLIMIT_AS, (room, room))
        neighbours._FEW = 0  # so that graphs are walked, however few vectors they have
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DoubtfulPoolWarning)  # which any values may deserve
        found = [_use_crafted(chance.choice(sources), chance, folder, seconds) for _ in range(20)]
        return "some opened" if "opened" in found else "all refused"

    ended = in_child(use)
    assert ended in ("some opened", "all refused"), ended
    return ended


def _use_crafted(source: Path, chance: random.Random, folder: Path, seconds: float) -> str:
    path = folder / f"crafted{source.suffix}"
    path.write_bytes(_crafted(source, chance))
    path.with_name("again").unlink(missing_ok=True)
    saving._LITTLE = chance.choice([0, 1 << 26])  # whether vectors stay in the file
    Path("/proc/self/clear_refs").write_text("5", "ascii")  # forget the peak of memory
    before, begun = resident(), time.process_time()
    found = _used(path, source)
    taken, megabytes = time.process_time() - begun, resident("VmHWM") - before
    assert taken <= seconds, f"{source.stem}: {found} in {taken:.1f} s"
    assert megabytes <= _MEGABYTES, f"{source.stem}: {found} with {megabytes:.0f} MB"
    return found
