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
    return (
        struct.pack("<8sIIQ", b"fuzzydct", 2, zlib.crc32(text), len(text))
        + text
        + b"\0" * (-start % 64)
        + body
    )


def entry(name: str, **values: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda header: header["arrays"][name].update(values)


def put(*path: str, value: Any) -> Callable[[dict[str, Any]], Any]:
    def change(header: Any) -> None:
        for name in path[:-1]:
            header = header[name]
        header[path[-1]] = value

    return change


def drop(*path: str) -> Callable[[dict[str, Any]], Any]:
    def change(header: Any) -> None:
        for name in path[:-1]:
            header = header[name]
        del header[path[-1]]

    return change


HEADERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "no JSON": lambda _: b"{",
    "no object": lambda _: b"[]",
    "a number": lambda _: b"1",
    "no UTF-8": lambda _: b'{"kind": "\xff"}',
    "deep": lambda _: b"[" * 200_000 + b"]" * 200_000,
    "deep objects": lambda _: b'{"kind":' * 50_000 + b"1" + b"}" * 50_000,
    "long number": lambda _: b'{"kind": ' + b"9" * 10_000 + b"}",
    "empty": lambda header: header.clear(),
    "another kind": put("kind", value="word vectors"),
    "no kind": drop("kind"),
    "no arrays": drop("arrays"),
    "arrays no object": put("arrays", value=[1]),
    "an entry no object": put("arrays", "keys", value="keys"),
    "no meta": drop("meta"),
    "meta no object": put("meta", value=[["options", {}]]),
    "objects as dtype": entry("keys", dtype="|O"),
    "texts as dtype": entry("keys", dtype="<U1"),
    "structured dtype": entry("keys", dtype=[["a", "<i4"]]),
    "no dtype": drop("arrays", "keys", "dtype"),
    "huge": entry("vectors", shape=[2**40, 5]),
    "huge and empty": entry("vectors", shape=[2**47, 2**47, 2**47, 0]),
    "overflowing": entry("vectors", shape=[2**32, 2**32]),
    "negative": entry("vectors", shape=[-1, 5]),
    "fractional": entry("vectors", shape=[20.0, 5]),
    "many axes": entry("vectors", shape=[1] * 60),
    "boolean side": entry("vectors", shape=[True, 5]),
    "no shape": entry("vectors", shape=None),
    "too many sides and empty": entry("vectors", shape=[0] + [1] * 100),
    "a side below 0, and empty": entry("vectors", shape=[0, -1]),
    "an entry that is null": put("arrays", "keys", value=None),
    "a dtype that is a number": entry("keys", dtype=2),
    "a checksum of another type": entry("vectors", crc32=None),
    "a text as shape": entry("vectors", shape="ab"),
    "no checksum": drop("arrays", "vectors", "crc32"),
    "checksum a text": entry("vectors", crc32="1"),
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


def value(saved: Any) -> Callable[[Parts], None]:
    """Put what a file says of a value in the place of the last one."""
    return last(5, saved)


def array(name: str, value: Any) -> Callable[[Parts], None]:
    return lambda parts: parts[1].update({name: value})


def meta(*path: str, value: Any) -> Callable[[Parts], None]:
    return lambda parts: put(*path, value=value)(parts[0])


def dropped(name: str) -> Callable[[Parts], None]:
    return lambda parts: parts[1].pop(name)


VECTORS = np.ones((20, 5), np.float32)
MEANINGS: dict[str, Callable[[Parts], None]] = {
    "a key twice": last("key 0", 1),
    "a key that is not hashable": last(["list"], 1),
    "a text key without a vector": last("another", 1),
    "an object as value": value({"__class__": "os.system"}),
    "a pickle as value": value(["pickle", "gASVAAAAAA=="]),
    "a list of no kind": value([]),
    "a kind that is not hashable": value([["list"]]),
    "an odd dict": value(["dict", 1]),
    "a dict with a key not hashable": value(["dict", ["list"], 1]),
    "an array that is not there": value(["array", 7, 0]),
    "an array before the first": value(["array", -1, 0]),
    "a row that is not there": value(["array", 0, 999]),
    "a row before the first": value(["array", 0, -1]),
    "a row again": value(["array", 0, 0]),
    "a scalar of an array": value(["scalar", 0, 20]),
    "a row that is a text": value(["array", "0", 0]),
    "too deep": value(json.loads('["list",' * 900 + "1" + "]" * 900)),
    "keys too few": array("keys", text([f"key {i}" for i in range(20)])),
    "keys too many": array("keys", text([*(f"key {i}" for i in range(20)), 5, 6])),
    "keys of other words": array("keys", text([*(f"key {i}" for i in range(19)), "?!", 5])),
    "keys that are no JSON": array("keys", text(b"[")),
    "keys that are no text": array("keys", np.ones(3)),
    "keys too deep": array("keys", text(b"[" * 300_000 + b"]" * 300_000)),
    "keys that are an object": array("keys", text({f"key {i}": 1 for i in range(21)})),
    "keys of a long number": array("keys", text(b"[" + b"9" * 9999 + b"]")),
    "no keys": dropped("keys"),
    "values that are no JSON": array("values", text(b"[")),
    "values that are a text": array("values", text("a" * 21)),
    "values that are an object": array("values", text({f"key {i}": 1 for i in range(21)})),
    "values that are numbers of no kind": array("values", text(b"[1, 2")),
    "no values as JSON": dropped("values"),
    "items of an earlier fuzzydict": array("items", text([["key 0", 1]])),
    "vectors too few": array("vectors", VECTORS[1:]),
    "vectors of another length": array("vectors", np.ones((20, 7), np.float32)),
    "vectors of length 0": array("vectors", np.ones((20, 0), np.float32)),
    "one vector": array("vectors", VECTORS.ravel()),
    "vectors of another dtype": array("vectors", VECTORS.astype(np.int64)),
    "vectors with NaN": array("vectors", np.where(np.eye(20, 5) > 0, np.nan, VECTORS)),
    "vectors without end": array("vectors", VECTORS * np.float32(np.inf)),
    "no vectors": dropped("vectors"),
    "an array too many": array("values 1", np.ones(3)),
    "an array of another name": array("more", np.ones(3)),
    "an array of no axes": array("values 0", np.ones(())),
    "values too few": array("values 0", np.ones((3, 3))),
    "no values": dropped("values 0"),
    "another option": meta("options", "_index", value=None),
    "a method as option": meta("options", "get", value=5),
    "a class as option": meta("options", "__class__", value="dict"),
    "an option too few": lambda parts: parts[0]["options"].pop("mode"),
    "options that are a list": meta("options", value=["mode"]),
    "no options": lambda parts: parts[0].pop("options"),
    "another mode": meta("options", "mode", value="eval"),
    "a mode that is a list": meta("options", "mode", value=["nearest"]),
    "no mode": meta("options", "mode", value=None),
    "a temperature of 0": meta("options", "temperature", value=0),
    "a temperature that is a text": meta("options", "temperature", value="hot"),
    "a cutoff that is NaN": meta("options", "score_cutoff", value=float("nan")),
    "a cutoff that is a list": meta("options", "score_cutoff", value=[1]),
    "projections": meta("options", "projections", value=1),
    "a scorer that is not known": meta("options", "scorer", value="eval"),
    "a scorer of no class": meta("options", "scorer", value=["KERNELS", ["dict"]]),
    "a function as scorer": meta(
        "options", "scorer", value=["FunctionScorer", ["dict", "function", 1]]
    ),
    "an abstract scorer": meta("options", "scorer", value=["Scorer", ["dict"]]),
    "another module's class": meta("options", "scorer", value=["os.system", ["dict", "c", "ls"]]),
    "a scorer without arguments": meta("options", "scorer", value=["Gaussian"]),
    "a scorer with others": meta("options", "scorer", value=["Gaussian", ["dict", "x", 1]]),
    "a scorer of width 0": meta("options", "scorer", value=["Gaussian", ["dict", "width", 0]]),
    "a scorer of endless width": meta(
        "options", "scorer", value=["Gaussian", ["dict", "width", 10**400]]
    ),
    "a scorer that is a number": meta("options", "scorer", value=5),
    **{
        f"aliases that are {name}": array("aliases", np.frombuffer(content.encode(), np.uint8))
        for name, content in {
            "no JSON": "[[",
            "a number": "5",
            "an object": '{"number one": 1}',
            "no pairs": '[["number one"]]',
            "numbers": "[[1, 1]]",
            "without words": '[["?!", 1]]',
            "there twice": '[["number one", 1], ["Number-One", 2]]',
            "of no key": '[["number one", 99]]',
            "before all keys": '[["number one", -1]]',
            "of a text": '[["number one", "key 1"]]',
            "of true": '[["number one", true]]',
        }.items()
    },
    "no fingerprint": lambda parts: parts[0].pop("embedding"),
    "a fingerprint that is a text": meta("embedding", value="brown"),
    "a fingerprint without a name": meta("embedding", value={}),
    "a fingerprint of a number": meta("embedding", "name", value=5),
    "probes that are texts": meta("embedding", "probes", value=[["a"]]),
    "probes of two lengths": meta("embedding", "probes", value=[[1.0], [1.0, 2.0]]),
    "a probe too long for a float": meta("embedding", "probes", value=[[10**400]]),
}
