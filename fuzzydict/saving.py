"""A dict -> one file, and back: its items, options, and the vectors of its keys."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzydict import scorers, storage
from fuzzydict.adapters import require_same
from fuzzydict.codec import PLAIN, ValueReader, ValueWriter
from fuzzydict.engines import EXACT
from fuzzydict.errors import ArgumentTypeError, FileFormatError
from fuzzydict.graph_saving import Graph, graph_arrays, graph_of, restore_graph
from fuzzydict.options import OPTIONS, check_option
from fuzzydict.projections import Projections
from fuzzydict.text import plain, quoted

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fuzzydict.index import KeyIndex

__all__ = ["Saved", "read_saved", "restore", "write_saved"]

_KIND = "fuzzy dict"
_JSON = json.JSONEncoder(ensure_ascii=False)
_ENCODED = ("scorer", "projections")  # options that are no plain value
_LEARNED = "projections "  # before the names of the arrays that projections are made of
_NOT_SAVED = ("FunctionScorer", "Kernel", "Scorer")
_UNREADABLE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)


class Saved(NamedTuple):
    """What the file of a dict holds."""

    items: list[tuple[Any, Any]]
    options: dict[str, Any]
    embedding: dict[str, Any]  # its fingerprint
    texts: dict[str, str]  # the keys that have vectors, S of them in order, and their plain words
    vectors: NDArray[np.float32]  # (S, E), memory-mapped
    trust: NDArray[np.float32]  # (S,)
    graph: Graph | None  # what finds keys near a query, if that was made


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
    written = ",".join(_encoded(writer, key, value) for key, value in items.items())
    meta = {
        "options": {
            **{name: _as_json(value) for name, value in options.items() if name not in _ENCODED},
            "scorer": _encoded_scorer(writer, options["scorer"]),
            "projections": _encoded_projections(options["projections"]),
        },
        "embedding": index.embedding.fingerprint(),
    }
    alive = index.alive
    arrays: dict[str, NDArray[Any]] = {
        "items": _as_bytes(f"[{written}]"),
        "names": _as_bytes(_dumped(index.living())),
        "vectors": index.vectors if alive.all() else index.vectors[alive],
        "trust": index.trust[alive],
        **graph_arrays(index),
    }
    arrays |= {f"values {number}": group for number, group in enumerate(writer.groups)}
    if isinstance(options["projections"], Projections):
        learned = options["projections"].arrays()
        arrays |= {f"{_LEARNED}{name}": array for name, array in learned.items()}
    storage.write(path, _KIND, meta, arrays)


def read_saved(path: str | os.PathLike[str]) -> Saved:
    """Read what `write_saved` wrote.

    Raises:
        FileNotFoundError: there is no such file.
        FileFormatError: the file is damaged, of another kind, or of another version.
    """
    meta, arrays = storage.read(path, _KIND)
    try:
        learned = {
            n.removeprefix(_LEARNED): arrays.pop(n) for n in [*arrays] if n.startswith(_LEARNED)
        }
        graph = graph_of(arrays, {"index": EXACT, **meta["options"]})
        reader = ValueReader([arrays[f"values {i}"] for i in range(len(arrays) - 4)])
        saved = Saved(
            items=(items := [_item(reader, pair) for pair in _loaded(arrays["items"])]),
            options=_options(reader, meta["options"], learned),
            embedding=_fingerprint(meta["embedding"]),
            texts=_texts(items, _loaded(arrays["names"])),
            vectors=arrays["vectors"],
            trust=arrays["trust"],
            graph=graph,
        )
        _check(saved)
        if not reader.finished:
            raise ValueError("it holds arrays that are no value's")
    except _UNREADABLE as error:
        raise FileFormatError(
            f"{path} is damaged, or was not written by fuzzydict: {error}; restore it from a copy"
        ) from error
    return saved


def restore(index: KeyIndex, saved: Saved) -> None:
    """Fill an empty index with the vectors of a saved dict, if they are of the same embedding.

    Raises:
        OptionError: it is another embedding; the message names both.
        FileFormatError: the vectors are of another length.
    """
    require_same(saved.embedding, index.embedding)
    if not saved.texts:
        return
    size = index.embedding.encode(list(saved.texts)[:1]).shape[1]
    if saved.vectors.shape[1] != size:
        raise FileFormatError(
            f"the file is damaged: it has vectors of {saved.vectors.shape[1]}, and its embedding "
            f"gives vectors of {size}; restore it from a copy"
        )
    index.restore(saved.texts, saved.vectors, saved.trust)
    if saved.graph is not None:
        restore_graph(index, saved.options["index"], saved.graph)


def _dumped(value: Any) -> str:
    return _JSON.encode(value)


def _as_bytes(content: str) -> NDArray[np.uint8]:
    # Lone surrogates pass; as escapes two of them would become one character.
    return np.frombuffer(content.encode("utf-8", "surrogatepass"), np.uint8)


def _loaded(array: NDArray[Any]) -> list[Any]:
    # Each NaN is one of its own, as it was: they may be keys.
    content = json.loads(array.tobytes().decode("utf-8", "surrogatepass"), parse_constant=float)
    if not isinstance(content, list):
        raise TypeError("it holds no list")
    return content


def _encoded(writer: ValueWriter, key: Any, value: Any) -> str:
    try:
        return _dumped([writer.encode(key), writer.encode(value)])
    except (ArgumentTypeError, RecursionError, ValueError) as error:
        raise ArgumentTypeError(
            f"the item of key {quoted(key)} cannot be saved: {error}; keys and values may be of "
            f"JSON's types, tuples and numpy arrays: convert it, or leave it out"
        ) from error


def _item(reader: ValueReader, pair: Any) -> tuple[Any, Any]:
    if type(pair) is not list or len(pair) != 2:
        raise TypeError("it holds an item that is no pair")
    key, value = pair
    if type(key) is str and type(value) in PLAIN:  # as most are
        return key, value
    return reader.decode(key), reader.decode(value)


def _texts(items: list[tuple[Any, Any]], names: list[Any]) -> dict[str, str]:
    """Return the keys that have vectors, and their words, if these are the names in the file."""
    keys = dict.fromkeys(key for key, _ in items)
    if len(keys) != len(items):
        raise ValueError("a key comes twice")
    texts = {key: words for key in keys if isinstance(key, str) and (words := plain(key))}
    if names != list(texts):
        raise ValueError("its vectors are not those of its keys, in their order")
    return texts


def _as_json(option: Any) -> Any:
    """Return an option as JSON takes it: a number of any type as a plain one."""
    return option if option is None or type(option) in (str, int, float) else float(option)


def _options(
    reader: ValueReader, saved: dict[str, Any], learned: dict[str, NDArray[Any]]
) -> dict[str, Any]:
    options = {
        "index": EXACT,  # of files that were written before there was a choice
        **saved,
        "scorer": _scorer(reader, saved["scorer"]),
        "projections": _projections(saved["projections"], learned),
    }
    if options.keys() != OPTIONS - {"embedding"}:
        raise ValueError("its options are not those of a dict")
    for name, value in options.items():
        check_option(name, value)
    return options


def _encoded_projections(projections: Any) -> Any:
    """Return projections as their name, or as that of the embedding that they are for."""
    if isinstance(projections, Projections):
        return [projections.embedding]
    return projections


def _projections(saved: Any, learned: dict[str, NDArray[Any]]) -> Any:
    if not isinstance(saved, list):
        if learned:
            raise ValueError("it holds projections that are not its dict's")
        return saved
    (embedding,) = saved
    if not isinstance(embedding, str | None):
        raise TypeError("its projections name no embedding")
    # Copies, for what was read is mapped from a file, which may change or go.
    copies = {name: np.array(array) for name, array in learned.items()}
    return Projections.from_arrays(copies, embedding=embedding)


def _fingerprint(saved: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(saved["name"], str) or not saved.keys() <= {"name", "probes"}:
        raise TypeError("the fingerprint of its embedding is not one")
    if "probes" in saved and np.asarray(saved["probes"], np.float64).ndim != 2:
        raise TypeError("the probes of its embedding are not vectors")
    return saved


def _encoded_scorer(writer: ValueWriter, scorer: Any) -> Any:
    """Return a scorer as its name, or as the name of its class and its arguments."""
    if scorer is None or isinstance(scorer, str):
        return scorer
    kind = type(scorer).__name__
    if getattr(scorers, kind, None) is not type(scorer) or kind in _NOT_SAVED:
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
    made = getattr(scorers, kind) if kind in scorers.__all__ else None
    if not isinstance(made, type) or not issubclass(made, scorers.Scorer) or kind in _NOT_SAVED:
        raise ValueError(f"it names a scorer {quoted(kind)}, which is none of this package's")
    return made(**reader.decode(arguments))


def _check(saved: Saved) -> None:
    """Raise ValueError where what was read cannot be one dict."""
    shape = saved.vectors.shape
    if len(shape) != 2 or shape[0] != len(saved.texts) or saved.trust.shape != shape[:1]:
        raise ValueError(f"it has {len(saved.texts)} names for vectors of shape {shape}")
    for name, array in (("vectors", saved.vectors), ("trust", saved.trust)):
        # The least and the largest number are NaN where any is.
        extremes = (array.min(), array.max()) if array.size else ()
        if array.dtype != np.float32 or not np.isfinite(extremes).all():
            raise ValueError(f"its {name} are not finite numbers of 32 bits")
    if saved.graph is not None and saved.graph.labels.shape != shape[:1]:
        raise ValueError("its graph has not one label for each of its vectors")
    if saved.texts and not 0 <= saved.trust.min() <= saved.trust.max() <= 1:
        raise ValueError("its trust is not from 0 to 1")
