"""A dict -> one file, and back: its items, options, and the vectors of its keys."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzydict import scorers, storage
from fuzzydict.codec import ValueReader, ValueWriter
from fuzzydict.errors import ArgumentTypeError, FileFormatError
from fuzzydict.text import quoted

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fuzzydict.index import KeyIndex

__all__ = ["Saved", "read_dict", "write_dict"]

_KIND = "fuzzy dict"


class Saved(NamedTuple):
    """What the file of a dict holds."""

    items: list[tuple[Any, Any]]
    options: dict[str, Any]
    embedding: dict[str, Any]  # its fingerprint
    names: list[str]  # of the keys that have vectors, S of them, in the dict's order
    vectors: NDArray[np.float32]  # (S, E), memory-mapped
    trust: NDArray[np.float32]  # (S,)


def write_dict(
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
    written = ",".join(_encoded(writer, key, value) for key, value in items.items())
    meta = {
        "options": {**options, "scorer": _encoded_scorer(writer, options["scorer"])},
        "embedding": index.embedding.fingerprint(),
    }
    alive = index.alive
    arrays: dict[str, NDArray[Any]] = {
        "items": _as_bytes(f"[{written}]"),
        "names": _as_bytes(json.dumps(index.living())),
        "vectors": index.vectors if alive.all() else index.vectors[alive],
        "trust": index.trust[alive],
    }
    arrays |= {f"values {number}": group for number, group in enumerate(writer.groups)}
    storage.write(path, _KIND, meta, arrays)


def read_dict(path: str | os.PathLike[str]) -> Saved:
    """Read what `write_dict` wrote.

    Raises:
        FileNotFoundError: there is no such file.
        FileFormatError: the file is damaged, of another kind, or of another version.
    """
    meta, arrays = storage.read(path, _KIND)
    try:
        reader = ValueReader([arrays[f"values {i}"] for i in range(len(arrays) - 4)])
        pairs = json.loads(arrays["items"].tobytes())
        saved = Saved(
            items=[(reader.decode(key), reader.decode(value)) for key, value in pairs],
            options={**meta["options"], "scorer": _scorer(reader, meta["options"]["scorer"])},
            embedding=meta["embedding"],
            names=json.loads(arrays["names"].tobytes()),
            vectors=arrays["vectors"],
            trust=arrays["trust"],
        )
        _check(saved)
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise FileFormatError(
            f"{path} is damaged, or was not written by fuzzydict: {error}; restore it from a copy"
        ) from error
    return saved


def _as_bytes(content: str) -> NDArray[np.uint8]:
    return np.frombuffer(content.encode("ascii"), np.uint8)


def _encoded(writer: ValueWriter, key: Any, value: Any) -> str:
    try:
        return json.dumps([writer.encode(key), writer.encode(value)])
    except (ArgumentTypeError, RecursionError, ValueError) as error:
        raise ArgumentTypeError(
            f"the item of key {quoted(key)} cannot be saved: {error}; keys and values may be of "
            f"JSON's types, tuples and numpy arrays: convert it, or leave it out"
        ) from error


def _encoded_scorer(writer: ValueWriter, scorer: Any) -> Any:
    """Return a scorer as its name, or as the name of its class and its arguments."""
    if scorer is None or isinstance(scorer, str):
        return scorer
    kind = type(scorer).__name__
    if getattr(scorers, kind, None) is not type(scorer) or kind == "FunctionScorer":
        raise ArgumentTypeError(
            f"scorer: {quoted(scorer)} cannot be saved, for a file holds no functions; "
            f"set d.scorer = None before saving, and again after loading"
        )
    arguments = dict(scorer.parameters)
    if isinstance(scorer, scorers.ScaledDot):
        arguments["scale"] = scorer.scale
    return [kind, writer.encode(arguments)]


def _scorer(reader: ValueReader, saved: Any) -> Any:
    if saved is None or isinstance(saved, str):
        return saved
    kind, arguments = saved
    if kind not in scorers.__all__ or not issubclass(getattr(scorers, kind), scorers.Scorer):
        raise ValueError(f"it names a scorer {kind!r}, which is none of this package's")
    return getattr(scorers, kind)(**reader.decode(arguments))


def _check(saved: Saved) -> None:
    """Raise ValueError where what was read cannot be one dict."""
    keys = dict.fromkeys(key for key, _ in saved.items)
    if len(keys) != len(saved.items):
        raise ValueError("a key comes twice")
    shape = saved.vectors.shape
    if len(shape) != 2 or shape[0] != len(saved.names) or saved.trust.shape != shape[:1]:
        raise ValueError(f"it has {len(saved.names)} names for vectors of shape {shape}")
    ordered = iter(keys)
    if not all(isinstance(name, str) and name in ordered for name in saved.names):
        raise ValueError("its vectors are not those of its keys, in their order")
    for name, array in (("vectors", saved.vectors), ("trust", saved.trust)):
        if array.dtype != np.float32 or not np.isfinite(array.sum()):
            raise ValueError(f"its {name} are not finite numbers of 32 bits")
