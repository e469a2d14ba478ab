"""Ways to damage the file of a dict, with the checksums made right: headers, and whole files."""

from __future__ import annotations

import json
import struct
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuzzydict import FileFormatError, FuzzyDict, FuzzyDictError
from fuzzydict._files import read_arrays, write_arrays

KIND = "fuzzy dict"


def refused(path: Path, most: float, kind: type[Exception] = FileFormatError, **how: Any) -> str:
    """Return what loading a dict raises, once it took no more bytes of memory."""
    tracemalloc.start()
    try:
        with pytest.raises(FuzzyDictError) as told:
            FuzzyDict.load(path, **how)
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()
    assert isinstance(told.value, kind), repr(told.value)
    return str(told.value)


def with_arrays(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Write the file of a dict again with other arrays, all checksums right."""
    stored = read_arrays(path, KIND)
    arrays = {name: np.array(array) for name, array in stored.arrays.items()}
    change(arrays)
    write_arrays(path, KIND, stored.meta, arrays)


def flip(path: Path, name: str) -> None:
    """Change a bit of an array in the file of a dict."""
    data, array = bytearray(path.read_bytes()), read_arrays(path, KIND).arrays[name].tobytes()
    data[data.index(array) + len(array) // 2] ^= 1
    path.write_bytes(data)


def with_header(data: bytes, change: Callable[[dict[str, Any]], Any]) -> bytes:
    """Return the file with another header, its checksum made right."""
    length = struct.unpack_from("<Q", data, 16)[0]
    header = json.loads(data[24 : 24 + length])
    changed = change(header)
    text = changed if isinstance(changed, bytes) else json.dumps(header).encode()
    start, old = 24 + len(text), 24 + length
    body = data[old + -old % 64 :]
    begin = struct.pack("<8sIIQ", b"fuzzydct", 2, zlib.crc32(text), len(text))
    return begin + text + b"\0" * (-start % 64) + body


Change = Callable[[dict[str, Any]], Any]


def put(*path: str, value: Any) -> Change:
    def change(header: Any) -> None:
        for name in path[:-1]:
            header = header[name]
        header[path[-1]] = value

    return change


def drop(*path: str) -> Change:
    def change(header: Any) -> None:
        for name in path[:-1]:
            header = header[name]
        del header[path[-1]]

    return change


def entry(name: str, **values: Any) -> Change:
    return lambda header: header["arrays"][name].update(values)


#: What the header is replaced by, or what is changed in it.
HEADERS: dict[str, Change] = {
    "no JSON": lambda _: b"{",
    "no object": lambda _: b"[]",
    "no UTF-8": lambda _: b'{"kind": "\xff"}',
    "deep": lambda _: b"[" * 200_000 + b"]" * 200_000,
    "deep objects": lambda _: b'{"kind":' * 50_000 + b"1" + b"}" * 50_000,
    "long number": lambda _: b'{"kind": ' + b"9" * 10_000 + b"}",
    "empty": lambda header: header.clear(),
    "another kind": put("kind", value="word vectors"),
    **{f"no {name}": drop(name) for name in ("kind", "arrays", "meta")},
    "arrays no object": put("arrays", value=[1]),
    "meta no object": put("meta", value=[["options", {}]]),
    "an entry no object": put("arrays", "keys", value="keys"),
    "an entry that is null": put("arrays", "keys", value=None),
    "no dtype": drop("arrays", "keys", "dtype"),
    **{f"dtype {dtype}": entry("keys", dtype=dtype) for dtype in ("|O", "<U1", 2, [["a", "<i4"]])},
    **{
        f"a shape {name}": entry("vectors", shape=shape)
        for name, shape in {
            "that is huge": [2**40, 5],
            "huge and empty": [2**47, 2**47, 2**47, 0],
            "that overflows": [2**32, 2**32],
            "below 0": [-1, 5],
            "below 0, and empty": [0, -1],
            "that is fractional": [20.0, 5],
            "of many axes": [1] * 60,
            "of too many axes, and empty": [0] + [1] * 100,
            "with a bool": [True, 5],
            "that is none": None,
            "that is a text": "ab",
        }.items()
    },
    "no checksum": drop("arrays", "vectors", "crc32"),
    "a checksum that is none": entry("vectors", crc32=None),
    "a checksum that is a text": entry("vectors", crc32="1"),
    "another array's name": lambda h: h["arrays"].update({"vector": h["arrays"].pop("vectors")}),
}


# ---- whole files of wrong meaning ----------------------------------------------------------

Parts = tuple[dict[str, Any], dict[str, Any]]


def text(value: Any) -> Any:
    content = value if isinstance(value, bytes) else json.dumps(value).encode()
    return np.frombuffer(content, np.uint8)


def last(key: Any, value: Any) -> Callable[[Parts], None]:
    """Put an item in the place of the last one."""

    def change(parts: Parts) -> None:
        for name, part in (("keys", key), ("values", value)):
            kept = json.loads(parts[1][name].tobytes())[:-1]
            parts[1][name] = text([*kept, part])

    return change


def array(name: str, value: Any) -> Callable[[Parts], None]:
    return lambda parts: parts[1].update({name: value})


def meta(*path: str, value: Any) -> Callable[[Parts], None]:
    return lambda parts: put(*path, value=value)(parts[0])


def dropped(name: str) -> Callable[[Parts], None]:
    return lambda parts: parts[1].pop(name)


_NAMES = [f"key {i}" for i in range(20)]
_VECTORS = np.ones((20, 5), np.float32)
#: What a file says of a value, of a scorer, of its keys, and so on.
_VALUES = {
    "an object": {"__class__": "os.system"},
    "a pickle": ["pickle", "gASVAAAAAA=="],
    "a list of no kind": [],
    "a kind that is not hashable": [["list"]],
    "an odd dict": ["dict", 1],
    "a dict with a key not hashable": ["dict", ["list"], 1],
    "an array that is not there": ["array", 7, 0],
    "an array before the first": ["array", -1, 0],
    "a row that is not there": ["array", 0, 999],
    "a row before the first": ["array", 0, -1],
    "a row again": ["array", 0, 0],
    "a scalar of an array": ["scalar", 0, 20],
    "a row that is a text": ["array", "0", 0],
    "too deep": json.loads('["list",' * 900 + "1" + "]" * 900),
}
_ARRAYS = {
    "keys too few": ("keys", text(_NAMES)),
    "keys too many": ("keys", text([*_NAMES, 5, 6])),
    "keys of other words": ("keys", text([*_NAMES[:-1], "?!", 5])),
    "keys that are no JSON": ("keys", text(b"[")),
    "keys that are no text": ("keys", np.ones(3)),
    "keys too deep": ("keys", text(b"[" * 300_000 + b"]" * 300_000)),
    "keys that are an object": ("keys", text(dict.fromkeys([*_NAMES, 5], 1))),
    "keys of a long number": ("keys", text(b"[" + b"9" * 9999 + b"]")),
    "values that are no JSON": ("values", text(b"[1, 2")),
    "values that are a text": ("values", text("a" * 21)),
    "values that are an object": ("values", text(dict.fromkeys([*_NAMES, 5], 1))),
    "items of an earlier fuzzydict": ("items", text([["key 0", 1]])),
    "vectors too few": ("vectors", _VECTORS[1:]),
    "vectors of another length": ("vectors", np.ones((20, 7), np.float32)),
    "vectors of length 0": ("vectors", np.ones((20, 0), np.float32)),
    "one vector": ("vectors", _VECTORS.ravel()),
    "vectors of another dtype": ("vectors", _VECTORS.astype(np.int64)),
    "vectors with NaN": ("vectors", np.where(np.eye(20, 5) > 0, np.nan, _VECTORS)),
    "vectors without end": ("vectors", _VECTORS * np.float32(np.inf)),
    "an array too many": ("values 1", np.ones(3)),
    "an array of another name": ("more", np.ones(3)),
    "an array of no axes": ("values 0", np.ones(())),
    "values too few": ("values 0", np.ones((3, 3))),
}
_OPTIONS: dict[str, tuple[str, Any]] = {
    "another option": ("_index", None),
    "a method as option": ("get", 5),
    "a class as option": ("__class__", "dict"),
    "another mode": ("mode", "eval"),
    "a mode that is a list": ("mode", ["nearest"]),
    "no mode": ("mode", None),
    "a temperature of 0": ("temperature", 0),
    "a temperature that is a text": ("temperature", "hot"),
    "a cutoff that is NaN": ("score_cutoff", float("nan")),
    "a cutoff that is a list": ("score_cutoff", [1]),
    "projections": ("projections", 1),
    "a scorer that is not known": ("scorer", "eval"),
    "a scorer that is a number": ("scorer", 5),
    "a scorer of no class": ("scorer", ["KERNELS", ["dict"]]),
    "a function as scorer": ("scorer", ["FunctionScorer", ["dict", "function", 1]]),
    "an abstract scorer": ("scorer", ["Scorer", ["dict"]]),
    "another module's class": ("scorer", ["os.system", ["dict", "c", "ls"]]),
    "a scorer without arguments": ("scorer", ["Gaussian"]),
    "a scorer with others": ("scorer", ["Gaussian", ["dict", "x", 1]]),
    "a scorer of width 0": ("scorer", ["Gaussian", ["dict", "width", 0]]),
    "a scorer of endless width": ("scorer", ["Gaussian", ["dict", "width", 10**400]]),
}
_ALIASES = ["[[", "5", '{"number one": 1}', '[["number one"]]', "[[1, 1]]", '[["?!", 1]]']
_ALIASES += ['[["number one", 1], ["Number-One", 2]]', '[["number one", 99]]']
_ALIASES += ['[["number one", -1]]', '[["number one", "key 1"]]', '[["number one", true]]']

#: Changes of the header's meta and of the arrays.
MEANINGS: dict[str, Callable[[Parts], None]] = {
    "a key twice": last("key 0", 1),
    "a key that is not hashable": last(["list"], 1),
    "a text key without a vector": last("another", 1),
    **{f"a value: {name}": last(5, value) for name, value in _VALUES.items()},
    **{name: array(*change) for name, change in _ARRAYS.items()},
    **{f"no array {name}": dropped(name) for name in ("keys", "values", "vectors", "values 0")},
    **{name: meta("options", option, value=v) for name, (option, v) in _OPTIONS.items()},
    "an option too few": lambda parts: parts[0]["options"].pop("mode"),
    "options that are a list": meta("options", value=["mode"]),
    "no options": lambda parts: parts[0].pop("options"),
    **{f"aliases {content}": array("aliases", text(content.encode())) for content in _ALIASES},
    "no fingerprint": lambda parts: parts[0].pop("embedding"),
    "a fingerprint that is a text": meta("embedding", value="brown"),
    "a fingerprint without a name": meta("embedding", value={}),
    "a fingerprint of a number": meta("embedding", "name", value=5),
    "probes that are texts": meta("embedding", "probes", value=[["a"]]),
    "probes of two lengths": meta("embedding", "probes", value=[[1.0], [1.0, 2.0]]),
    "a probe too long for a float": meta("embedding", "probes", value=[[10**400]]),
}
