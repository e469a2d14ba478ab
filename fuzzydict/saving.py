"""A dict -> one file, and back: its items, options, and the vectors of its keys.

Arrays in the file of K items, S of whose keys have vectors:

    keys, values    JSON: lists of K, as `codec` writes them
    values 0, ...   the arrays that they hold
    vectors, trust  (S, E), (S,)
    graph ...       what finds keys near a query, if that was made
    projections ... what was learned, if anything was
"""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzydict import _files as storage
from fuzzydict.codec import PLAIN, ValueReader, ValueWriter
from fuzzydict.embedding.projections import has_query_heads
from fuzzydict.errors import ArgumentTypeError, FileFormatError, quoted
from fuzzydict.graph_saving import GRAPHS, graph_arrays, graph_of
from fuzzydict.saved_keys import SavedKeys
from fuzzydict.saved_options import read_options, take_learned, written_options

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    from fuzzydict.search.key_index import KeyIndex

__all__ = ["Saved", "check_items", "read_saved", "write_saved"]

_KIND = "fuzzy dict"
_LARGE = ("vectors", *GRAPHS.values())  # arrays that are read when they are needed
_JSON = json.JSONEncoder(ensure_ascii=False)


class Saved(NamedTuple):
    """What the file of a dict holds."""

    items: dict[Any, Any]
    options: dict[str, Any]
    keys: SavedKeys | None  # None if they are to be encoded again


def check_items(items: Mapping[Any, Any]) -> None:
    """Raise, as `write_saved` would, unless these keys and values can be saved."""
    writer = ValueWriter()
    for parts in (items, items.values()):
        _encoded(writer, parts, items)


def write_saved(
    path: str | os.PathLike[str],
    items: Mapping[Any, Any],
    options: Mapping[str, Any],
    index: KeyIndex,
) -> None:
    """Write a dict to a file, atomically, with no pickle.

    Raises:
        ArgumentTypeError: a key or a value is of a type that cannot be saved, and the message
            names the key; or the scorer is a function.
    """
    writer = ValueWriter()
    keys, values = (_encoded(writer, parts, items) for parts in (items, items.values()))
    plain_options, learned = written_options(writer, options)
    meta = {"options": plain_options, "embedding": index.embedding.fingerprint()}
    alive = index.alive
    arrays: dict[str, NDArray[Any]] = {
        "keys": keys,
        "values": values,
        "vectors": index.vectors if alive.all() else index.vectors[alive],
        "trust": index.trust[alive],
        **graph_arrays(index, options["index"]),
        **{f"values {number}": group for number, group in enumerate(writer.groups)},
        **learned,
    }
    storage.write(path, _KIND, meta, arrays)


def read_saved(path: str | os.PathLike[str]) -> Saved:
    """Read what `write_saved` wrote.

    Raises:
        FileNotFoundError: there is no such file.
        FileFormatError: the file is damaged, of another kind, or of another version.
    """
    meta, arrays, unchecked = storage.read(path, _KIND, later=_LARGE)
    if "items" in arrays:
        raise FileFormatError(
            f"{path} is of an earlier fuzzydict, which kept keys and values together; open it "
            f"there, and save its items as JSON"
        )
    with storage.refusing(path):
        graph = graph_of(arrays, unchecked, meta["options"])
        keys, values, trust = (arrays.pop(name) for name in ("keys", "values", "trust"))
        learned = take_learned(arrays)
        reader = ValueReader([arrays[f"values {number}"] for number in range(len(arrays))])
        items = _items(_decoded(reader, keys), _decoded(reader, values))
        options = read_options(reader, meta["options"], learned)
        if not reader.finished:
            raise ValueError("it holds arrays that are no value's")
        embedding = _fingerprint(meta["embedding"])
        if has_query_heads(learned):  # the keys' vectors are by a K that is left out
            return Saved(items, options, None)
        saved = SavedKeys(path, list(items), embedding, unchecked["vectors"], trust, graph)
    return Saved(items, options, saved)


def _encoded(writer: ValueWriter, parts: Iterable[Any], keys: Iterable[Any]) -> NDArray[np.uint8]:
    """Return what belongs to each key, or is the key itself, as JSON."""
    written = _each(writer.encode, parts, keys)
    try:
        content = _JSON.encode(written)
    except ValueError:  # a number of too many digits: of which key?
        content = f"[{','.join(_each(_JSON.encode, written, keys))}]"
    # Lone surrogates pass; as escapes two of them would become one character.
    return np.frombuffer(content.encode("utf-8", "surrogatepass"), np.uint8)


def _each(encode: Callable[[Any], Any], parts: Iterable[Any], keys: Iterable[Any]) -> list[Any]:
    """Return each part encoded, or say which key has one that cannot be."""
    encoded: list[Any] = []  # holds what came before, if one cannot be
    try:
        encoded.extend(map(encode, parts))
    except (ArgumentTypeError, RecursionError, ValueError) as error:
        key = next(islice(keys, len(encoded), None))
        raise ArgumentTypeError(
            f"the item of key {quoted(key)} cannot be saved: {error}; keys and values may be of "
            f"JSON's types, tuples and numpy arrays: convert it, or leave it out"
        ) from error
    return encoded


def _decoded(reader: ValueReader, array: NDArray[Any]) -> list[Any]:
    """Return what `_encoded` wrote."""
    # Each NaN is one of its own, as it was: they may be keys.
    content = json.loads(array.tobytes().decode("utf-8", "surrogatepass"), parse_constant=float)
    if not isinstance(content, list):
        raise TypeError("it holds no list")
    if set(map(type, content)) <= set(PLAIN):  # as most are
        return content
    return [reader.decode(part) for part in content]


def _items(keys: list[Any], values: list[Any]) -> dict[Any, Any]:
    items = dict(zip(keys, values, strict=True))
    if len(items) != len(keys):
        raise ValueError("a key comes twice")
    return items


def _fingerprint(saved: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(saved["name"], str) or not saved.keys() <= {"name", "probes"}:
        raise TypeError("the fingerprint of its embedding is not one")
    if "probes" in saved and np.asarray(saved["probes"], np.float64).ndim != 2:
        raise TypeError("the probes of its embedding are not vectors")
    return saved
