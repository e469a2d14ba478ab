"""A dict in one file: its items, options, what it was taught, what is known of its keys; no pickle.

Of K items, the keys of S have vectors. Options and the fingerprint of the embedding are the meta;
the arrays are "keys" and "values", JSON of K; "values 0" ..., the numpy arrays among these and in
the scorer; "vectors" (S, E); and if there are any "aliases", JSON of pairs of a text and the place
of its key, or null; "synonyms", JSON of pairs; "graph", "graph labels" (S,); "projections ...".
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fuzzydict._arrays import inverse_lengths
from fuzzydict._files import (
    DTYPES,
    Unchecked,
    array_of,
    as_format_errors,
    header_digest,
    json_of,
    read_arrays,
    require_finite_array,
    write_arrays,
)
from fuzzydict.embedding.encoder import as_embedding, name_of, require_same
from fuzzydict.embedding.projections import Projections
from fuzzydict.errors import ArgumentTypeError, FileFormatError, ShapeError, quoted
from fuzzydict.nn import scorers
from fuzzydict.options import OPTIONS
from fuzzydict.search.keys import Keys, has_words
from fuzzydict.search.neighbours import EXACT, Neighbours
from fuzzydict.search.score import Meaning
from fuzzydict.search.taught import SynonymRules, checked_aliases

_KIND = "fuzzy dict"
_LEARNED = "projections "  # how the names of their arrays begin
_EMBEDDING = "embedding option"  # a name, or null for an embedding that has none
_LITTLE = 1 << 26  # bytes of vectors that are read at once, which takes milliseconds
_LITTLE_IF_MAPPED = 1 << 20  # of those that are mapped to be shared, which is no gain below
_LONGEST = 1e30  # vector of a key
_ALIAS_LOOKUPS = 4  # of the key of an alias, until the dict has it
_SCORERS: dict[str, Any] = {  # those that a file may name
    kind.__name__: kind
    for kind in (*scorers.SCORERS.values(), scorers.Bilinear, scorers.Concat)
    if isinstance(kind, type)
}


def write_saved(
    path: str | os.PathLike[str],
    d: Any,
    meaning: Meaning,
    keys: Keys,
    neighbours: Neighbours | None,
) -> None:
    """Do what `FuzzyDict.save` says; these are the keys as they are compared."""
    if _are_too_long(keys.inverse_lengths[keys.alive]):
        raise ArgumentTypeError(
            f"vectors of keys that are longer than {_LONGEST:.0e} cannot be saved, for their "
            f"products overflow; scale the embedding down"
        )
    options, writer = {name: getattr(d, name) for name in OPTIONS}, _Writer()
    arrays: dict[str, NDArray[Any]] = {
        "keys": writer.all(d, d),  # of K, likewise the values
        "values": writer.all(d.values(), d),
        "vectors": keys.vectors[keys.alive] if len(keys.dead) else keys.vectors,
    }
    if isinstance(projections := options["projections"], Projections):
        arrays |= {f"{_LEARNED}{name}": array for name, array in projections.arrays().items()}
        options["projections"] = [projections.embedding]
    if not isinstance(scorer := options["scorer"], str | None):
        kind = type(scorer).__name__
        if _SCORERS.get(kind) is not type(scorer):
            raise ArgumentTypeError(
                f"scorer: {quoted(scorer)} cannot be saved, for a file holds no functions; "
                f"set d.scorer = None before saving, and again after loading"
            )
        arguments: dict[str, Any] = dict(scorer.parameters)
        if isinstance(scorer, scorers.ScaledDot):
            arguments["scale"] = scorer.scale
        options["scorer"] = [kind, writer.encode(arguments)]
    embedding = name_of(options.pop("embedding"))
    meta = {"embedding": meaning.fingerprint(), _EMBEDDING: embedding, "options": options}
    if neighbours is not None and options["index"] != EXACT:
        graph, labels = neighbours.save(keys)
        if len(graph):
            arrays |= {"graph": graph, "graph labels": labels}
    if d.aliases:
        place_of = {key: place for place, key in enumerate(d)} | {None: None}  # of no key
        arrays["aliases"] = _as_json([(text, place_of[key]) for text, key in d.aliases.items()])
    if d.synonyms:
        arrays["synonyms"] = _as_json(list(d.synonyms.items()))
    arrays |= {f"values {number}": group for number, group in enumerate(writer.groups)}
    write_arrays(path, _KIND, meta, arrays)


def read_saved(
    path: str | os.PathLike[str], *, mapped: bool, trust: bool
) -> tuple[dict[Any, Any], dict[str, Any], dict[str, dict[str, Any]], SavedKeys]:
    """Return the items, the options, what was taught by its name, and the keys; or raise."""
    meta, arrays, unchecked = read_arrays(path, _KIND, later=("vectors", "graph"))
    with as_format_errors(path):
        names, values = arrays.pop("keys"), arrays.pop("values")
        pairs, synonyms = arrays.pop("aliases", None), arrays.pop("synonyms", None)
        graph, labels = unchecked.get("graph"), arrays.pop("graph labels", None)
        of_learned = [name for name in arrays if name.startswith(_LEARNED)]
        learned = {name.removeprefix(_LEARNED): arrays.pop(name) for name in of_learned}
        reader = _Reader([arrays[f"values {n}"] for n in range(len(arrays))], path, trust=trust)
        items = reader.filled(reader.all(names), reader.all(values))
        aliases = {} if pairs is None else _decoded_aliases(pairs, list(items), reader)
        rules = {} if synonyms is None else SynonymRules(json_of(synonyms)).given
        options = _decoded_options(reader, meta["options"], learned)
        reader.require_end()
        if (name := meta.get(_EMBEDDING)) is not None:
            as_embedding(name)  # or raise
            options["embedding"] = name
        vectors, fingerprint = unchecked["vectors"], meta["embedding"]
        array_of({"vectors": vectors.array[:0]}, "vectors", "f4", None, None)
        if graph is not None or labels is not None:
            _check_graph(graph, labels, len(vectors.array), options["index"])
        probes = np.asarray(fingerprint.get("probes", [[]]), np.float64)
        is_named = isinstance(fingerprint["name"], str) and fingerprint.keys() <= {"name", "probes"}
        if not is_named or probes.ndim != 2:
            raise TypeError("the fingerprint of its embedding is not one")
        little = _LITTLE_IF_MAPPED if mapped else _LITTLE
        # Windows replaces no file that is mapped.
        at_once = vectors.array.nbytes <= little or os.name == "nt"
        keys = SavedKeys(path, list(items), fingerprint, vectors, graph, labels, object(), at_once)
    return items, options, {"aliases": aliases, "synonyms": rules}, keys


def digest_of(path: str | os.PathLike[str]) -> str:
    """Return what tells the file of a dict from others, without reading it."""
    return header_digest(path, _KIND)


def check_items(items: Mapping[Any, Any]) -> None:
    """Raise, as `write_saved` would, unless these keys and values can be saved."""
    for parts in (items, items.values()):
        _Writer().all(parts, items)


def _decoded_aliases(array: NDArray[Any], keys: list[Any], reader: _Reader) -> dict[str, Any]:
    """Return the aliases that `write_saved` wrote."""
    pairs = json_of(array)
    aliases = dict(pairs)
    places = [place for place in aliases.values() if place is not None]
    if len(aliases) < len(pairs) or not all(type(one) is int and one >= 0 for one in places):
        raise ValueError("it holds an alias twice, or one of no key")
    reader.count([keys[place] for place in places] * _ALIAS_LOOKUPS, among=keys)
    of_keys = {text: None if place is None else keys[place] for text, place in aliases.items()}
    return checked_aliases(lambda _alias, _key: None, of_keys)


def _decoded_options(
    reader: _Reader, saved: dict[str, Any], learned: dict[str, NDArray[Any]]
) -> dict[str, Any]:
    """Return all options but the embedding, as `write_saved` was given them."""
    projections = saved["projections"]
    if isinstance(projections, list):
        (embedding,) = projections
        if not isinstance(embedding, str | None):
            raise TypeError("its projections name no embedding")
        # Copies, since what is mapped from a file may change or go.
        copies = {name: np.array(array) for name, array in learned.items()}
        projections = Projections.from_arrays(copies, embedding=embedding)
    elif learned:
        raise ValueError("it holds projections that are not its dict's")
    scorer = saved["scorer"]
    if scorer is not None and not isinstance(scorer, str):
        kind, arguments = scorer
        scorer = _SCORERS[kind](**reader.decode(arguments))
    options = {**saved, "scorer": scorer, "projections": projections}
    if options.keys() != OPTIONS.keys() - {"embedding"}:
        raise ValueError("its options are not those of a dict")
    for name, value in options.items():
        OPTIONS[name](value)
    return options


# ---- what is known of keys ------------------------------------------------------------------


class SavedKeys(NamedTuple):
    """The S keys of a dict that have vectors, in a file that is mapped."""

    path: str | os.PathLike[str]  # of the file
    keys: Sequence[Any]  # all of the dict, in order
    embedding: dict[str, Any]  # its fingerprint
    vectors: Unchecked  # (S, E)
    graph: Unchecked | None  # see `Neighbours.save`; None if there is none
    labels: NDArray[np.int64] | None  # likewise, (S,)
    generation: object  # tells the slots of its keys from those of others
    at_once: bool  # whether the vectors are read at once; otherwise they stay in the file

    def open(self, meaning: Meaning) -> Neighbours | None:
        """Return the engine with its graph, if the file has one; raise if vectors are others."""
        require_same(self.embedding, meaning)  # or OptionError; other lengths: FileFormatError
        first = list(islice(filter(has_words, self.keys), 1))
        found = self.vectors.array.shape[1]
        try:
            size = meaning.of_keys(first).shape[1] if first else found
        except ShapeError as error:
            if meaning.projections is None:  # an embedding of yours failed
                raise
            raise FileFormatError(f"{self.path}: {error}; restore it from a copy") from error
        if found != size:
            raise FileFormatError(
                f"{self.path} is damaged: it has vectors of {found}, and its embedding gives "
                f"vectors of {size}; restore it from a copy"
            )
        if (graph := self.graph) is None:
            return None
        whole, neighbours = np.array(graph.checked()) if self.at_once else None, Neighbours()
        neighbours.restore(
            self.generation,
            lambda: np.array(graph.checked()) if whole is None else whole,
            np.array(self.labels),
        )
        return neighbours

    def restored(self, meaning: Meaning) -> Keys:
        """Return the keys; a FileFormatError if vectors that were left in the file are damaged."""
        with as_format_errors(self.path):
            try:
                vectors: NDArray[np.float32] = self.vectors.checked()
            except FileFormatError as error:
                if self.at_once:
                    raise
                raise FileFormatError(
                    f"{error}: its items are whole, so that FuzzyDict(dict(d)) can be saved"
                ) from error
            require_finite_array("vectors", vectors)
            if _are_too_long(inverse_lengths(vectors)):
                raise ValueError("its vectors are too long, so that products overflow")
            # A copy, since what is mapped from a file may change or go.
            kept = np.array(vectors) if self.at_once else vectors
            count = sum(map(has_words, self.keys))
            if count != len(kept):
                raise ValueError(f"it has {len(kept)} vectors for {count} keys with words")
            keys = Keys(meaning.table)
            keys.generation = self.generation
            return keys.updated(self.keys, lambda _: kept)


def _are_too_long(inverse_lengths: NDArray[np.float32]) -> bool:
    return bool(((inverse_lengths > 0) & (inverse_lengths < 1 / _LONGEST)).any())


def _check_graph(graph: Unchecked | None, labels: Any, count: int, index: str) -> None:
    """Raise ValueError unless a graph may be that of S = ``count`` keys."""
    if index == EXACT:
        raise ValueError("it has a graph, and its dict does without")
    if graph is None or labels is None or graph.array.dtype != np.uint8 or graph.array.ndim != 1:
        raise ValueError("its graph is not of bytes")
    array_of({"labels": labels}, "labels", "i8", count)
    if (labels[1:] <= labels[:-1]).any() or labels.min(initial=0) < 0:
        raise ValueError("the labels of its graph do not rise")


# ---- keys and values: JSON, with the numpy arrays among them stacked beside it ---------------

_PLAIN = (str, int, float, bool, type(None))  # types that JSON writes as they are
_DEEPEST = 100  # nested containers: few enough to be read under any recursion limit
_MOST_AXES = 31  # of an array: numpy before 2.0 stacks no more
_LONG = 1 << 64  # an integer that may have more digits than Python writes
_JSON = json.JSONEncoder(ensure_ascii=False)


def _as_json(content: Any) -> NDArray[np.uint8]:
    """Return JSON as an array of a file; `json_of` reads it."""
    # Lone surrogates pass; written as escapes, two of them would become one character.
    return np.frombuffer(_JSON.encode(content).encode("utf-8", "surrogatepass"), np.uint8)


class _Writer:
    """Writes values as JSON; the arrays among them are stacked in ``groups``."""

    def __init__(self) -> None:
        # The number of each dtype and shape, and its arrays.
        self._groups: dict[tuple[str, tuple[int, ...]], tuple[int, list[NDArray[Any]]]] = {}

    def all(self, parts: Iterable[Any], keys: Iterable[Any]) -> NDArray[np.uint8]:
        """Return keys or values as an array of JSON; an error names the key."""
        encoded: list[Any] = []
        try:
            encoded.extend(map(self.encode, parts))
        except (ArgumentTypeError, RecursionError, ValueError) as error:
            key = next(islice(keys, len(encoded), None))
            raise ArgumentTypeError(
                f"the item of key {quoted(key)} cannot be saved: {error}; keys and values may be "
                f"of JSON's types, tuples and numpy arrays: convert it, or leave it out"
            ) from error
        return _as_json(encoded)

    def encode(self, value: Any, depth: int = 0) -> Any:
        """Return a value as JSON; its types are taken exactly, not those derived from them."""
        if depth > _DEEPEST:
            raise ArgumentTypeError(f"its containers are nested more than {_DEEPEST} deep")
        kind = type(value)
        if kind is int and not -_LONG < value < _LONG:
            str(value)  # or raise
        if kind in _PLAIN:
            return value
        if kind in (list, tuple):
            return [kind.__name__, *(self.encode(part, depth + 1) for part in value)]
        if kind is dict:
            parts = (part for item in value.items() for part in item)
            return ["dict", *(self.encode(part, depth + 1) for part in parts)]
        if isinstance(value, np.generic) or kind is np.ndarray:
            return self._array("array" if kind is np.ndarray else "scalar", np.asarray(value))
        raise ArgumentTypeError(f"{kind.__name__} is none of the types that can be saved")

    def _array(self, kind: str, array: NDArray[Any]) -> list[Any]:
        dtype = array.dtype.newbyteorder("<").str
        if dtype not in DTYPES:
            raise ArgumentTypeError(f"an array of dtype {array.dtype} cannot be saved")
        if array.ndim > _MOST_AXES:
            raise ArgumentTypeError(f"an array of more than {_MOST_AXES} axes cannot be saved")
        number, rows = self._groups.setdefault((dtype, array.shape), (len(self._groups), []))
        rows.append(array)
        return [kind, number, len(rows) - 1]

    @property
    def groups(self) -> list[NDArray[Any]]:
        """The arrays of each dtype and shape, stacked, (rows, *shape)."""
        groups = self._groups.items()
        return [np.stack(rows).astype(dtype, copy=False) for (dtype, _), (_, rows) in groups]


_MOST_COMPARED = 5_000**2  # comparisons of numbers, which take some tenths of a second
_CHARACTERS = 50  # of a long integer or text, which take as long to compare as a number
_OF_NUMPY = 100  # numbers of Python are compared while one of numpy is with one of another type


class _Reader:
    """Reads what a `_Writer` with these groups wrote, in the order of writing.

    Each row is taken once, so that a small file cannot ask for a large array many times.
    """

    def __init__(
        self, groups: list[NDArray[Any]], path: str | os.PathLike[str], *, trust: bool
    ) -> None:
        self._groups, self._path, self._trust = groups, path, trust
        self._taken, self._compared = [0] * len(groups), 0

    def require_end(self) -> None:
        """Raise ValueError unless every row was taken."""
        if self._taken != [len(group) for group in self._groups]:
            raise ValueError("it holds arrays that are no value's")

    def all(self, array: NDArray[Any]) -> list[Any]:
        """Return what `_Writer.all` wrote."""
        content = json_of(array)
        if set(map(type, content)) <= set(_PLAIN):  # as most do
            return content
        return [self.decode(part) for part in content]

    def decode(self, value: Any, depth: int = 0) -> Any:
        """Return the value that was written."""
        if type(value) in _PLAIN:
            return value
        if depth > _DEEPEST:
            raise FileFormatError(f"its containers are nested more than {_DEEPEST} deep")
        match value:
            case ["list", *items]:
                return [self.decode(item, depth + 1) for item in items]
            case ["tuple", *items]:
                return tuple(self.decode(item, depth + 1) for item in items)
            case ["dict", *parts] if len(parts) % 2 == 0:
                decoded = [self.decode(part, depth + 1) for part in parts]
                return self.filled(decoded[::2], decoded[1::2])
            case ["array", int(group), int(row)]:
                return np.array(self._row(group, row))
            case ["scalar", int(group), int(row)] if self._groups[group].ndim == 1:
                return self._row(group, row)
        raise FileFormatError("it holds a value of no known kind")

    def _row(self, group: int, row: int) -> Any:
        if group < 0 or row != self._taken[group]:
            raise FileFormatError("its arrays do not stand in the order of its values")
        self._taken[group] += 1
        return self._groups[group][row]

    def filled(self, keys: list[Any], values: list[Any]) -> dict[Any, Any]:
        """Return a dict of these keys and values, once their comparisons are counted."""
        self.count(keys, keys)
        items = dict(zip(keys, values, strict=True))
        if len(items) != len(keys):
            raise ValueError("a key comes twice")
        return items

    def count(self, keys: list[Any], among: list[Any]) -> None:
        """Count what it takes to look up keys among some; raise FileFormatError if it is much."""
        # Each as if it were compared with all others: whoever writes a file can choose numbers or
        # tuples of one hash (S. Crosby and D. Wallach, 2003, "Denial of service via algorithmic
        # complexity attacks"). The hash of a text is another in each process.
        if self._trust or set(map(type, keys)) <= {str}:
            return
        others = sum(type(key) is not str for key in among)
        for key in keys:
            if type(key) is not str:
                self._compared += others * _numbers_in(key)
            if self._compared > _MOST_COMPARED:
                raise FileFormatError(
                    f"{self._path} has many keys that are no texts: to compare each with all of "
                    f"its dict takes over {_MOST_COMPARED:,} comparisons, which a stranger can "
                    f"cause; if you trust who wrote it, use FuzzyDict.load(path, trust=True)"
                )


def _numbers_in(key: Any) -> int:
    """Return how many numbers take about as long to compare as a key."""
    if isinstance(key, tuple):
        return 1 + sum(_OF_NUMPY if isinstance(p, np.generic) else _numbers_in(p) for p in key)
    if isinstance(key, int | str):
        return 1 + len(repr(key)) // _CHARACTERS
    return 1  # also of numpy, for few of those have one hash
