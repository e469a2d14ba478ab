"""A dict in one file: its items, aliases and options, and what is known of its keys. No pickle.

The file holds JSON for the options and the embedding's fingerprint, and these arrays, for a dict
of K items, S of whose keys have vectors:

    keys, values    JSON: lists of K, as `ValueWriter` writes them
    values 0, ...   the numpy arrays among the values
    aliases         JSON: pairs of an alias and the place of its key, or null; if there are any
    vectors         (S, E)
    split ...       the words and n-grams of the keys, see `Split`; if there are many
    graph ...       the index of an engine, if there is one
    projections ... learned projections, if there are any
"""

from __future__ import annotations

import os
from contextlib import nullcontext
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fuzzydict._arrays import inverse_lengths
from fuzzydict._files import (
    array_of,
    as_format_errors,
    header_digest,
    json_of,
    read_arrays,
    require_finite_array,
    texts_of,
    write_arrays,
)
from fuzzydict._values import ValueReader, ValueWriter, as_json
from fuzzydict.embedding.encoder import as_embedding, name_of, require_same
from fuzzydict.embedding.projections import Projections
from fuzzydict.errors import ArgumentTypeError, FileFormatError, ShapeError, quoted
from fuzzydict.nn import scorers
from fuzzydict.nn.scorers import Scorer
from fuzzydict.options import OPTIONS
from fuzzydict.search.aliases import Aliases
from fuzzydict.search.backends import EXACT
from fuzzydict.search.key_index import Split
from fuzzydict.search.neighbours import Neighbours
from fuzzydict.search.score import COSINE, DOT
from fuzzydict.text.words import plain

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from fuzzydict._files import Unchecked
    from fuzzydict.search.key_index import KeyIndex
    from fuzzydict.search.keys import Keys
    from fuzzydict.search.meaning import Meaning


_KIND = "fuzzy dict"
_GRAPHS = {COSINE: "graph by cosine", DOT: "graph by dot"}  # names of arrays, by measure
_LABELS, _ALIASES, _SPLIT, _LEARNED = "graph labels", "aliases", "split ", "projections "
_EMBEDDING = "embedding option"  # a name, or null for an embedding that has none
_LARGE = ("vectors", *_GRAPHS.values())  # arrays that are checked when they are needed
_MANY = 1 << 14  # keys whose words are kept: few are quickly split again
_LITTLE = 1 << 26  # bytes of vectors that are read at once, which takes milliseconds
_LITTLE_IF_MAPPED = 1 << 20  # of those that are mapped to be shared, which is no gain below
_LONGEST = 1e30  # vector of a key
_MOST = 1 << 53  # labels that an engine can ever give out


# ---- the file -------------------------------------------------------------------------------


class Saved(NamedTuple):
    """What the file of a dict holds."""

    items: dict[Any, Any]
    aliases: dict[str, Any]
    options: dict[str, Any]
    keys: SavedKeys


def write_saved(
    path: str | os.PathLike[str],
    items: Mapping[Any, Any],
    aliases: Mapping[str, Any],
    options: Mapping[str, Any],
    meaning: Meaning,
    keys: Keys,
    neighbours: Neighbours | None,
) -> None:
    """Write a dict to a file, atomically.

    Raises:
        ArgumentTypeError: a key or a value is of a type that cannot be saved, and the message
            names the key; or the scorer is a function.
    """
    if _are_too_long(keys.inverse_lengths[keys.alive]):
        raise ArgumentTypeError(
            f"vectors of keys that are longer than {_LONGEST:.0e} cannot be saved, for their "
            f"products overflow; scale the embedding down"
        )
    writer, projections = ValueWriter(), options["projections"]
    names, values = (writer.all(parts, items) for parts in (items, items.values()))
    meta = {
        "options": _encoded_options(writer, options),
        "embedding": meaning.fingerprint(),
        _EMBEDDING: name_of(options["embedding"]),
    }
    learned = projections.arrays() if isinstance(projections, Projections) else {}
    arrays: dict[str, NDArray[Any]] = {
        "keys": names,
        "values": values,
        "vectors": keys.vectors[keys.alive] if len(keys.dead) else keys.vectors,
        **(_split_arrays(Split.of(keys)) if keys.count >= _MANY else {}),
        **_graph_arrays(keys, neighbours, options["index"]),
        **({_ALIASES: _encoded_aliases(aliases, items)} if aliases else {}),
        **{f"values {number}": group for number, group in enumerate(writer.groups)},
        **{f"{_LEARNED}{name}": array for name, array in learned.items()},
    }
    write_arrays(path, _KIND, meta, arrays)


def read_saved(path: str | os.PathLike[str], *, mapped: bool, trust: bool) -> Saved:
    """Read what `write_saved` wrote.

    Args:
        path: of the file.
        mapped: whether vectors of over 1 MB stay in the file, not only those of over 64 MB.
        trust: whether keys that are no texts are read however long that may take.

    Raises:
        FileNotFoundError: there is no such file.
        FileFormatError: the file is damaged, of another kind or version, or refused untrusted.
    """
    meta, arrays, unchecked = read_arrays(path, _KIND, later=_LARGE)
    with as_format_errors(path):
        graph = _graph_of(arrays, unchecked, meta["options"])
        names, values = (arrays.pop(name) for name in ("keys", "values"))
        pairs = arrays.pop(_ALIASES, None)
        split, learned = (_taken(arrays, beginning) for beginning in (_SPLIT, _LEARNED))
        groups = [arrays[f"values {number}"] for number in range(len(arrays))]
        reader = ValueReader(groups, path, is_trusted=trust)
        items = reader.filled(reader.all(names), reader.all(values))
        aliases = {} if pairs is None else _decoded_aliases(pairs, items, reader)
        options = _decoded_options(reader, meta["options"], learned)
        if not reader.finished:
            raise ValueError("it holds arrays that are no value's")
        if (name := meta.get(_EMBEDDING)) is not None:
            as_embedding(name)  # or raise
            options["embedding"] = name
        vectors = unchecked["vectors"]
        known = _split_of(split, len(vectors.array)) if split else None
        little = _LITTLE_IF_MAPPED if mapped else _LITTLE
        fingerprint = _checked_fingerprint(meta["embedding"])
        saved = SavedKeys(path, list(items), fingerprint, vectors, known, graph, little)
    return Saved(items, aliases, options, saved)


def digest_of(path: str | os.PathLike[str]) -> str:
    """Return what tells the file of a dict from others, without reading it.

    Raises:
        FileNotFoundError: there is no such file.
        FileFormatError: the file is of another kind, or of another version.
    """
    return header_digest(path, _KIND)


def check_items(items: Mapping[Any, Any]) -> None:
    """Raise, as `write_saved` would, unless these keys and values can be saved."""
    writer = ValueWriter()
    for parts in (items, items.values()):
        writer.all(parts, items)


def _taken(arrays: dict[str, NDArray[Any]], beginning: str) -> dict[str, NDArray[Any]]:
    """Take the arrays out whose names begin so; return them by the rest of their names."""
    names = [name for name in arrays if name.startswith(beginning)]
    return {name.removeprefix(beginning): arrays.pop(name) for name in names}


def _checked_fingerprint(saved: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(saved["name"], str) or not saved.keys() <= {"name", "probes"}:
        raise TypeError("the fingerprint of its embedding is not one")
    if "probes" in saved and np.asarray(saved["probes"], np.float64).ndim != 2:
        raise TypeError("the probes of its embedding are not vectors")
    return saved


# ---- aliases and options --------------------------------------------------------------------

_ALIAS_LOOKUPS = 4  # of the key of an alias, until the dict has it
_NO_SCORERS = ("FunctionScorer", "Kernel", "Scorer")  # classes that no file names


def _encoded_aliases(aliases: Mapping[str, Any], keys: Iterable[Any]) -> NDArray[np.uint8]:
    """Return aliases as JSON, each with the place of its key."""
    places: dict[Any, int | None] = {key: place for place, key in enumerate(keys)}
    return as_json([(text, None if key is None else places[key]) for text, key in aliases.items()])


def _decoded_aliases(
    array: NDArray[Any], items: dict[Any, Any], reader: ValueReader
) -> dict[str, Any]:
    """Return the aliases that `_encoded_aliases` wrote.

    Raises:
        LookupError, TypeError, ValueError: it wrote no such thing.
        FileFormatError: it makes too many comparisons.
    """
    pairs, keys, aliases = json_of(array), list(items), Aliases(items, nullcontext())
    named = [keys[place] for _, place in pairs if place is not None]
    reader.count(named * _ALIAS_LOOKUPS, among=keys)
    for text, place in pairs:
        if text in aliases or not (place is None or (type(place) is int and place >= 0)):
            raise ValueError("it holds an alias twice, or one of no key")
        aliases[text] = None if place is None else keys[place]
    return aliases


def _encoded_options(writer: ValueWriter, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return all options but the embedding as JSON."""
    projections = options["projections"]
    is_learned = isinstance(projections, Projections)
    encoded = {
        **options,
        "scorer": _encoded_scorer(writer, options["scorer"]),
        "projections": [projections.embedding] if is_learned else projections,
    }
    del encoded["embedding"]
    # A number of any type is written as a plain one.
    plain_types = (str, int, float, list, type(None))
    return {
        name: value if type(value) in plain_types else float(value)
        for name, value in encoded.items()
    }


def _decoded_options(
    reader: ValueReader, saved: dict[str, Any], learned: dict[str, NDArray[Any]]
) -> dict[str, Any]:
    """Return the options that `_encoded_options` returned.

    Raises:
        LookupError, TypeError, ValueError: it returned no such thing.
    """
    options = {
        **saved,
        "scorer": _decoded_scorer(reader, saved["scorer"]),
        "projections": _decoded_projections(saved["projections"], learned),
    }
    if options.keys() != OPTIONS.keys() - {"embedding"}:
        raise ValueError("its options are not those of a dict")
    for name, value in options.items():
        OPTIONS[name].check(value)
    return options


def _decoded_projections(saved: Any, learned: dict[str, NDArray[Any]]) -> Any:
    if not isinstance(saved, list):
        if learned:
            raise ValueError("it holds projections that are not its dict's")
        return saved
    (embedding,) = saved
    if not isinstance(embedding, str | None):
        raise TypeError("its projections name no embedding")
    # Copies, since what is mapped from a file may change or go.
    copies = {name: np.array(array) for name, array in learned.items()}
    return Projections.from_arrays(copies, embedding=embedding)


def _encoded_scorer(writer: ValueWriter, scorer: Any) -> Any:
    """Return a scorer as its name, or as the name of its class and its arguments."""
    if scorer is None or isinstance(scorer, str):
        return scorer
    kind = type(scorer).__name__
    if getattr(scorers, kind, None) is not type(scorer) or kind in _NO_SCORERS:
        raise ArgumentTypeError(
            f"scorer: {quoted(scorer)} cannot be saved, for a file holds no functions; "
            f"set d.scorer = None before saving, and again after loading"
        )
    arguments = dict(scorer.parameters)
    if isinstance(scorer, scorers.ScaledDot):
        arguments["scale"] = scorer.scale
    return [kind, writer.encode(arguments)]


def _decoded_scorer(reader: ValueReader, saved: Any) -> Any:
    if saved is None or isinstance(saved, str):
        return saved
    kind, arguments = saved
    made = getattr(scorers, kind, None) if isinstance(kind, str) else None
    if not isinstance(made, type) or not issubclass(made, Scorer) or kind in _NO_SCORERS:
        raise ValueError(f"it names a scorer {quoted(kind)}, which is none of this package's")
    return made(**reader.decode(arguments))


# ---- what is known of keys ------------------------------------------------------------------


class SavedKeys:
    """The S keys of a dict that have vectors, in a file that is mapped.

    Args:
        path: of the file.
        keys: all keys of the dict, in order.
        embedding: the fingerprint of the embedding.
        vectors: (S, E).
        split: the words and n-grams, if they are known.
        graph: the index of an engine, if there is one.
        little: bytes of vectors that are read at once; more of them stay in the file.

    Raises:
        ValueError: these are not vectors of a dict.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        keys: Collection[Any],
        embedding: dict[str, Any],
        vectors: Unchecked,
        split: Split | None,
        graph: _Graph | None,
        little: int,
    ) -> None:
        self._path, self._keys, self._embedding = path, keys, embedding
        self._vectors, self._split, self._graph = vectors, split, graph
        # Windows replaces no file that is mapped.
        self._at_once = vectors.array.nbytes <= little or os.name == "nt"
        shape = vectors.array.shape
        if len(shape) != 2 or vectors.array.dtype != np.float32:
            raise ValueError(f"it has vectors of shape {shape} and dtype {vectors.array.dtype}")
        if graph is not None and graph.labels.shape != (shape[0] + 1,):
            raise ValueError("its graph has not one label for each of its vectors")

    def restore(self, index: KeyIndex, engine: str) -> Neighbours | None:
        """Fill an empty index: at once if the vectors are few, otherwise when they are needed.

        Vectors that are left in the file are checked when they are needed. Return the engine with
        its graph, if the file has one.

        Raises:
            OptionError: the index has another embedding; the message names both.
            FileFormatError: the vectors are of another length, or, if they are few, damaged.
        """
        require_same(self._embedding, index.meaning)
        first = list(islice((k for k in self._keys if isinstance(k, str) and plain(k)), 1))
        found = self._vectors.array.shape[1]
        try:
            size = index.meaning.of_keys(first).shape[1] if first else found
        except ShapeError as error:
            if index.meaning.projections is None:  # an embedding of yours failed
                raise
            raise FileFormatError(f"{self._path}: {error}; restore it from a copy") from error
        if found != size:
            raise FileFormatError(
                f"{self._path} is damaged: it has vectors of {found}, and its embedding gives "
                f"vectors of {size}; restore it from a copy"
            )
        index.restore_later(self._fill)
        if self._at_once:
            index.keys()
        return None if self._graph is None else self._neighbours(self._graph, index, engine)

    def _fill(self, index: KeyIndex) -> None:
        with as_format_errors(self._path):
            vectors = self._checked_vectors()
            # A copy, since what is mapped from a file may change or go.
            kept = np.array(vectors) if self._at_once else vectors
            split = self._split if self._split and self._split.is_current() else None
            index.restore(self._keys, kept, split)

    def _neighbours(self, graph: _Graph, index: KeyIndex, engine: str) -> Neighbours:
        def read_saved() -> NDArray[np.uint8]:
            with as_format_errors(self._path):
                return np.array(graph.saved.checked())

        saved = read_saved() if self._at_once else None
        neighbours = Neighbours(engine, graph.measure)
        neighbours.restore(
            index.generation,
            lambda: read_saved() if saved is None else saved,
            np.array(graph.labels),
        )
        return neighbours

    def _checked_vectors(self) -> NDArray[np.float32]:
        """Return the vectors, (S, E)."""
        vectors = self._vectors.array
        squares = np.zeros(len(vectors), np.float32)

        def look(start: int, end: int) -> None:
            """Sum the squares of the rows that begin here, while they are in the cache."""
            size = vectors.shape[1]
            rows = slice(-(-start // size), -(-end // size))
            with np.errstate(all="ignore"):
                np.einsum("se,se->s", vectors[rows], vectors[rows], out=squares[rows])

        try:
            self._vectors.checked(look if vectors.size else None)
        except FileFormatError as error:
            if self._at_once:
                raise
            raise FileFormatError(
                f"{error}: its items are whole, so that FuzzyDict(dict(d)) can be saved"
            ) from error
        if not np.isfinite(squares).all():  # or the squares are beyond 32 bits
            require_finite_array("vectors", vectors)
        if _are_too_long(inverse_lengths(vectors, squares)):
            raise ValueError("its vectors are too long, so that products overflow")
        return vectors


def _are_too_long(inverse_lengths: NDArray[np.float32]) -> bool:
    return bool(((inverse_lengths > 0) & (inverse_lengths < 1 / _LONGEST)).any())


def _split_arrays(split: Split) -> dict[str, NDArray[Any]]:
    """Return the arrays of words and n-grams."""
    small = split._replace(ngram_counts=split.ngram_counts.astype(np.uint16))
    named = {**small._asdict(), "words": as_json(split.words)}
    return {f"{_SPLIT}{name}": array for name, array in named.items()}


def _split_of(arrays: dict[str, NDArray[Any]], count: int) -> Split:
    """Return the words and n-grams of S keys, of which `_split_arrays` returned the arrays.

    Raises:
        LookupError, ValueError: it returned no such thing.
    """
    split = Split(
        texts_of(arrays["words"]),
        array_of(arrays, "numbers", "i4", None),
        array_of(arrays, "counts", "u1", count),
        np.array(array_of(arrays, "ngrams", "u2", None)),  # no longer of the file
        array_of(arrays, "ngram_counts", "u2", count).astype(np.int64),
    )
    split.check()
    return split


# ---- the index of an engine -----------------------------------------------------------------


class _Graph(NamedTuple):
    """What an engine saved of S keys: bytes, and labels, (S + 1,), see `Neighbours.save`."""

    measure: str
    saved: Unchecked
    labels: NDArray[np.int64]


def _graph_arrays(
    keys: Keys, neighbours: Neighbours | None, engine: str
) -> dict[str, NDArray[Any]]:
    """Return what an engine saves of the keys, by the names of arrays."""
    if neighbours is None or neighbours.engine != engine:
        return {}
    saved, labels = neighbours.save(keys)
    return {_GRAPHS[neighbours.measure]: saved, _LABELS: labels} if len(saved) else {}


def _graph_of(
    arrays: dict[str, NDArray[Any]], unchecked: Mapping[str, Unchecked], options: Mapping[str, Any]
) -> _Graph | None:
    """Take what `_graph_arrays` returned out of the arrays of a file, if it is there.

    Raises:
        ValueError: it has another form, or the dict has no engine.
    """
    measures = [measure for measure, name in _GRAPHS.items() if name in unchecked]
    if not measures:
        return None
    (measure,) = measures
    graph = _Graph(measure, unchecked[_GRAPHS[measure]], arrays.pop(_LABELS))
    if options["index"] == EXACT:
        raise ValueError("it has a graph, and its dict does without")
    saved, labels = graph.saved.array, array_of({_LABELS: graph.labels}, _LABELS, "i8", None)
    if saved.dtype != np.uint8 or saved.ndim != 1:
        raise ValueError("its graph is not of bytes")
    if (labels[1:] <= labels[:-1]).any() or not 0 <= labels.min(initial=0) <= labels.max() < _MOST:
        raise ValueError("the labels of its graph do not rise")
    return graph
