"""A dict in one file: its items, aliases and options, and the vectors of its keys. No pickle.

The file holds JSON for the options and the embedding's fingerprint, and these arrays, for a dict
of K items, S of whose keys have vectors:

    keys, values    JSON: lists of K, as `ValueWriter` writes them
    values 0, ...   the numpy arrays among the values
    aliases         JSON: pairs of an alias and the place of its key, or null; if there are any
    vectors, trust  (S, E), (S,)
    key texts ...   what reads need of many keys, as `_KeyTexts` has it
    graph ...       the index of an engine, if there is one
    projections ... learned projections, if there are any
"""

from __future__ import annotations

import json
import os
from contextlib import nullcontext
from itertools import compress, islice
from time import thread_time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fuzzydict._arrays import inverse_lengths
from fuzzydict._files import (
    DTYPES,
    array_of,
    as_format_errors,
    header_digest,
    json_of,
    read_arrays,
    require_finite_array,
    write_arrays,
)
from fuzzydict.embedding.encoder import as_embedding, name_of, require_same
from fuzzydict.embedding.projections import (
    DEFAULT,
    PROJECTED,
    Projections,
    as_projections,
    has_query_heads,
)
from fuzzydict.errors import ArgumentTypeError, FileFormatError, ShapeError, quoted
from fuzzydict.nn import scorers
from fuzzydict.nn.base import Scorer
from fuzzydict.options import OPTIONS
from fuzzydict.search.aliases import Aliases
from fuzzydict.search.backends import EXACT
from fuzzydict.search.key_index import Found
from fuzzydict.search.neighbours import Neighbours
from fuzzydict.search.score import COSINE, DOT
from fuzzydict.text.saved_ngrams import ngram_array_names, packed_ngrams, unpacked_ngrams
from fuzzydict.text.words import LONGEST, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from fuzzydict._files import Unchecked
    from fuzzydict.embedding.base import Embedding
    from fuzzydict.search.key_index import KeyIndex, Keys


_KIND = "fuzzy dict"
_GRAPHS = {COSINE: "graph by cosine", DOT: "graph by dot"}  # names of arrays, by measure
_LABELS = "graph labels"
_LONGEST = 1e30  # vector of a key
_MOST = 1 << 53  # labels that an engine can ever give out
_ALIASES = "aliases"
_LEARNED = "projections "  # the names of the arrays of projections begin with it
_DEFAULT = "default projections"  # those of the Brown vectors when the file was written
_FIRST_DEFAULT = "wordnet"  # in files that do not name them
_EMBEDDING = "embedding option"  # a name, or null for an embedding that has none
_LARGE = ("vectors", *_GRAPHS.values())  # arrays that are checked when they are needed
_LITTLE = 1 << 26  # bytes of vectors that are read at once, which takes milliseconds
_LITTLE_IF_MAPPED = 1 << 20  # of those that are mapped to be shared, which is no gain below
_JSON = json.JSONEncoder(ensure_ascii=False)


# ---- the file -------------------------------------------------------------------------------


class Saved(NamedTuple):
    """What the file of a dict holds; ``keys`` is None if they must be encoded again."""

    path: str | os.PathLike[str]
    items: dict[Any, Any]
    aliases: dict[str, Any]
    options: dict[str, Any]
    keys: SavedKeys | None


def write_saved(
    path: str | os.PathLike[str],
    items: Mapping[Any, Any],
    aliases: Mapping[str, Any],
    options: Mapping[str, Any],
    embedding: Embedding,
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
    writer = ValueWriter()
    names, values = (_encoded(writer, parts, items) for parts in (items, items.values()))
    meta = {
        "options": _encoded_options(writer, options),
        "embedding": embedding.fingerprint(),
        _DEFAULT: DEFAULT,
        _EMBEDDING: name_of(options["embedding"]),
    }
    projections, alive = options["projections"], keys.alive
    learned = projections.arrays() if isinstance(projections, Projections) else {}
    arrays: dict[str, NDArray[Any]] = {
        "keys": names,
        "values": values,
        "vectors": keys.vectors if alive.all() else keys.vectors[alive],
        "trust": keys.trust[alive],
        **_text_arrays(items, keys),
        **_graph_arrays(keys, neighbours, options["index"]),
        **({_ALIASES: _encoded_aliases(aliases, items)} if aliases else {}),
        **{f"values {number}": group for number, group in enumerate(writer.groups)},
        **{f"{_LEARNED}{name}": array for name, array in learned.items()},
    }
    write_arrays(path, _KIND, meta, arrays)


def read_saved(path: str | os.PathLike[str], *, mapped: bool = False) -> Saved:
    """Read what `write_saved` wrote.

    Args:
        path: of the file.
        mapped: whether vectors of over 1 MB stay in the file, not only those of over 64 MB.

    Raises:
        FileNotFoundError: there is no such file.
        FileFormatError: the file is damaged, of another kind, or of another version.
    """
    meta, arrays, unchecked = read_arrays(path, _KIND, later=_LARGE)
    if "items" in arrays:
        raise FileFormatError(
            f"{path} is of an earlier fuzzydict, which kept keys and values together; open it "
            f"there, and save its items as JSON"
        )
    with as_format_errors(path):
        graph = _graph_of(arrays, unchecked, meta["options"])
        trust = array_of(arrays, "trust", "f4", None)
        names, values, _ = (arrays.pop(name) for name in ("keys", "values", "trust"))
        texts = {name: arrays.pop(name) for name in _text_names() if name in arrays}
        pairs = arrays.pop(_ALIASES, None)
        learned = {
            name.removeprefix(_LEARNED): arrays.pop(name)
            for name in [name for name in arrays if name.startswith(_LEARNED)]
        }
        reader = ValueReader([arrays[f"values {number}"] for number in range(len(arrays))])
        items = filled(_decoded(reader, names), _decoded(reader, values))
        aliases = {} if pairs is None else _decoded_aliases(pairs, items)
        options = _decoded_options(reader, meta["options"], learned)
        if not reader.finished:
            raise ValueError("it holds arrays that are no value's")
        embedding = _checked_fingerprint(meta["embedding"])
        default = meta.get(_DEFAULT, _FIRST_DEFAULT)
        if options["projections"] is None and PROJECTED in embedding["name"] and default != DEFAULT:
            as_projections(default)  # or raise
            options["projections"] = default
        if (name := meta.get(_EMBEDDING)) is not None:
            as_embedding(name)  # or raise
            options["embedding"] = name
        if has_query_heads(learned):  # the vectors were projected by a K that is left out
            return Saved(path, items, aliases, options, None)
        vectors = unchecked["vectors"]
        little = _LITTLE_IF_MAPPED if mapped else _LITTLE
        saved = SavedKeys(path, list(items), embedding, vectors, trust, texts, graph, little)
    return Saved(path, items, aliases, options, saved)


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
        _encoded(writer, parts, items)


def _checked_fingerprint(saved: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(saved["name"], str) or not saved.keys() <= {"name", "probes"}:
        raise TypeError("the fingerprint of its embedding is not one")
    if "probes" in saved and np.asarray(saved["probes"], np.float64).ndim != 2:
        raise TypeError("the probes of its embedding are not vectors")
    return saved


# ---- keys and values ------------------------------------------------------------------------

_PLAIN = (str, int, float, bool, type(None))  # types that JSON writes as they are
_DEEPEST = 100  # nested containers: few enough to be read under any recursion limit
_MOST_AXES = 31  # of an array: numpy before 2.0 stacks no more


def _encoded(writer: ValueWriter, parts: Iterable[Any], keys: Iterable[Any]) -> NDArray[np.uint8]:
    """Return keys or values as JSON; ``keys`` are named in errors."""
    written = _each(writer.encode, parts, keys)
    try:
        content = _JSON.encode(written)
    except ValueError:  # a number of too many digits: of which key?
        content = f"[{','.join(_each(_JSON.encode, written, keys))}]"
    # Lone surrogates pass; written as escapes, two of them would become one character.
    return np.frombuffer(content.encode("utf-8", "surrogatepass"), np.uint8)


def _each(encode: Callable[[Any], Any], parts: Iterable[Any], keys: Iterable[Any]) -> list[Any]:
    """Return each part encoded; an error names the key of the first that cannot be."""
    encoded: list[Any] = []
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
    content = json_of(array)
    if set(map(type, content)) <= set(_PLAIN):  # as most do
        return content
    return [reader.decode(part) for part in content]


def _encoded_aliases(aliases: Mapping[str, Any], keys: Iterable[Any]) -> NDArray[np.uint8]:
    """Return aliases as JSON, each with the place of its key."""
    places: dict[Any, int | None] = {key: place for place, key in enumerate(keys)}
    pairs = [(text, None if key is None else places[key]) for text, key in aliases.items()]
    return np.frombuffer(_JSON.encode(pairs).encode("utf-8", "surrogatepass"), np.uint8)


def _decoded_aliases(array: NDArray[Any], items: dict[Any, Any]) -> dict[str, Any]:
    """Return the aliases that `_encoded_aliases` wrote.

    Raises:
        LookupError, TypeError, ValueError: it wrote no such thing.
    """
    keys, aliases = list(items), Aliases(items, nullcontext())
    for text, place in json_of(array):
        if text in aliases or not (place is None or (type(place) is int and place >= 0)):
            raise ValueError("it holds an alias twice, or one of no key")
        aliases[text] = None if place is None else keys[place]
    return aliases


_STEP = 64  # items put into a dict at a time
_SLOW = 2e-4  # seconds from which on a step is slow; it takes microseconds, and milliseconds where
_SLOW_STEPS, _SECONDS = 32, 0.2  # the table grows, which happens some twenty times
_TIMES_HASHED = 10  # for long tuples take long to hash


def filled(keys: list[Any], values: list[Any]) -> dict[Any, Any]:
    """Return a dict of these keys and values.

    Whoever writes a file can choose numbers or tuples as keys that Python's table of a dict puts at
    one place, so that each is compared with all others. (S. Crosby and D. Wallach, 2003, "Denial of
    service via algorithmic complexity attacks".) How long that takes is measured, for keys need not
    have one hash to meet. Texts are safe: their hash is another in each process.

    Raises:
        ValueError: a key comes twice, there are more keys than values, or fewer, or so many keys
            are at one place that to find them takes long.
        TypeError: a key cannot be hashed.
    """
    items: dict[Any, Any] = {}
    pairs = zip(keys, values, strict=True)
    if set(map(type, keys)) <= {str}:
        items.update(pairs)
    else:
        slow: list[float] = []
        for _ in range(0, max(len(keys), len(values)), _STEP):
            some, begun = list(islice(pairs, _STEP)), thread_time()
            for key, _ in some:
                hash(key)
            hashed = thread_time()
            items.update(some)
            taken = thread_time() - hashed
            if taken > _SLOW and taken > _TIMES_HASHED * (hashed - begun):
                slow.append(taken)
            if len(slow) >= _SLOW_STEPS and sum(slow) > _SECONDS:
                raise ValueError("its keys are made to meet in the table of a dict")
    if len(items) != len(keys):
        raise ValueError("a key comes twice")
    return items


class ValueWriter:
    """Writes values as JSON; the arrays among them are stacked in ``groups``."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, tuple[int, ...]], list[NDArray[Any]]] = {}
        self._numbers: dict[tuple[str, tuple[int, ...]], int] = {}

    def encode(self, value: Any, depth: int = 0) -> Any:
        """Return a value as JSON.

        Raises:
            ArgumentTypeError: the value, or one in it, is of none of JSON's types (exactly, not of
                a derived class), and no tuple, numpy array or numpy number; or it is nested too
                deeply.
        """
        if depth > _DEEPEST:
            raise ArgumentTypeError(f"its containers are nested more than {_DEEPEST} deep")
        kind = type(value)
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
        group = (dtype, array.shape)
        rows = self._groups.setdefault(group, [])
        rows.append(array)
        return [kind, self._numbers.setdefault(group, len(self._numbers)), len(rows) - 1]

    @property
    def groups(self) -> list[NDArray[Any]]:
        """The arrays of each dtype and shape, stacked, (rows, *shape)."""
        return [
            np.stack(rows).astype(dtype, copy=False) for (dtype, _), rows in self._groups.items()
        ]


class ValueReader:
    """Reads what a `ValueWriter` with these groups wrote, in the order of writing.

    Each row is taken once, so that a small file cannot ask for a large array many times.
    """

    def __init__(self, groups: list[NDArray[Any]]) -> None:
        self._groups = groups
        self._taken = [0] * len(groups)

    @property
    def finished(self) -> bool:
        """Whether every row was taken."""
        return self._taken == [len(group) for group in self._groups]

    def decode(self, value: Any, depth: int = 0) -> Any:
        """Return the value that was written.

        Raises:
            FileFormatError: no writer wrote this.
        """
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
                return filled(decoded[::2], decoded[1::2])
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


# ---- options --------------------------------------------------------------------------------

_NO_SCORERS = ("FunctionScorer", "Kernel", "Scorer")  # classes that no file names


def _encoded_options(writer: ValueWriter, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return all options but the embedding as JSON."""
    projections, scorer = options["projections"], options["scorer"]
    is_learned = isinstance(projections, Projections)
    encoded = {
        **options,
        "scorer": _encoded_scorer(writer, scorer),
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


# ---- the vectors of keys --------------------------------------------------------------------


class _Graph(NamedTuple):
    """What an engine saved of S keys: bytes, and labels, (S + 1,), see `Neighbours.save`."""

    measure: str
    saved: Unchecked
    labels: NDArray[np.int64]


class SavedKeys:
    """The S keys of a dict that have vectors, in a file that is mapped.

    Args:
        path: of the file.
        keys: all keys of the dict, in order.
        embedding: the fingerprint of the embedding.
        vectors: (S, E).
        trust: (S,).
        texts: what `_text_arrays` returned, or nothing.
        graph: the index of an engine, if there is one.
        little: bytes of vectors that are read at once; more of them stay in the file.

    Raises:
        ValueError: these are not vectors and trust of one dict.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        keys: Collection[Any],
        embedding: dict[str, Any],
        vectors: Unchecked,
        trust: NDArray[np.float32],
        texts: dict[str, NDArray[Any]],
        graph: _Graph | None,
        little: int,
    ) -> None:
        self._path, self._keys, self._embedding = path, keys, embedding
        self._vectors, self._trust, self._graph = vectors, np.array(trust), graph
        # Windows replaces no file that is mapped.
        self._at_once = vectors.array.nbytes <= little or os.name == "nt"
        shape = vectors.array.shape
        if len(shape) != 2 or trust.shape != shape[:1]:
            raise ValueError(f"it has trust of shape {trust.shape} in vectors of shape {shape}")
        if vectors.array.dtype != np.float32:
            raise ValueError("its vectors are not numbers of 32 bits")
        if graph is not None and graph.labels.shape != (shape[0] + 1,):
            raise ValueError("its graph has not one label for each of its vectors")
        if self._at_once:  # copies, since what is mapped from a file may change or go
            texts = {name: np.array(array) for name, array in texts.items()}
        self._texts = _KeyTexts(texts, self._keys, len(trust), path) if texts else None
        if len(trust) and not 0 <= trust.min() <= trust.max() <= 1:
            raise ValueError("its trust is not from 0 to 1")

    def restore(self, index: KeyIndex, engine: str) -> Neighbours | None:
        """Fill an empty index: at once if the vectors are few, otherwise when they are needed.

        Vectors that are left in the file are checked when they are needed. Return the engine with
        its graph, if the file has one.

        Raises:
            OptionError: the index has another embedding; the message names both.
            FileFormatError: the vectors are of another length, or, if they are few, damaged.
        """
        first = next((key for key in self._keys if isinstance(key, str) and plain(key)), None)
        found = self._vectors.array.shape[1]
        try:
            vector = None if first is None else index.embedding.encode([first])[0]
        except ShapeError as error:
            if PROJECTED not in self._embedding["name"]:  # an embedding of yours failed
                raise
            raise FileFormatError(f"{self._path}: {error}; restore it from a copy") from error
        size = found if vector is None else len(vector)
        # In files of version 0.1, the name of projections tells of their calibration, too.
        if vector is None or size != found or not self._is_projected_to(vector):
            require_same(self._embedding, index.embedding)
        if found != size:
            raise FileFormatError(
                f"{self._path} is damaged: it has vectors of {found}, and its embedding gives "
                f"vectors of {size}; restore it from a copy"
            )
        index.restore_later(self._fill)
        if self._at_once:
            index.keys()
        return None if self._graph is None else self._neighbours(self._graph, index, engine)

    def _is_projected_to(self, first: NDArray[np.float32]) -> bool:
        """Tell whether projections gave the first key this vector, (E,)."""
        saved = self._vectors.array[0]
        is_projected = PROJECTED in self._embedding["name"]
        return is_projected and np.allclose(saved, first, rtol=1e-3, atol=1e-3)

    def _fill(self, index: KeyIndex) -> None:
        with as_format_errors(self._path):
            vectors, lengths = self._checked_vectors()
            # A copy, since what is mapped from a file may change or go.
            kept = np.array(vectors) if self._at_once else vectors
            found = None if self._texts is None else self._texts.found(lengths)
            index.restore(self._keys, kept, self._trust, found)

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

    def _checked_vectors(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the vectors, and one by the length of each, (S,)."""
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
        lengths = inverse_lengths(vectors, squares)
        if _are_too_long(lengths):
            raise ValueError("its vectors are too long, so that products overflow")
        return vectors, lengths


def _are_too_long(inverse_lengths: NDArray[np.float32]) -> bool:
    return bool(((inverse_lengths > 0) & (inverse_lengths < 1 / _LONGEST)).any())


# ---- what reads need of many keys -----------------------------------------------------------

_MANY = 1 << 14  # keys from which on it is quicker read than found again
_KINDS = "key texts kinds"  # of each key, (K,): without words, its own plain words, with others
_WITHOUT, _OWN, _OTHER = range(3)
_PLAIN_WORDS = "key texts plain"  # the plain words of keys of the third kind, on a line each
_LENGTHS = "key texts lengths"  # one by the length of each vector, (S,), for older releases


def _text_names() -> list[str]:
    return [_KINDS, _PLAIN_WORDS, _LENGTHS, *ngram_array_names()]


def _text_arrays(items: Iterable[Any], keys: Keys) -> dict[str, NDArray[Any]]:
    """Return what reads need of many keys, by the names of arrays; nothing of few keys."""
    if keys.count < _MANY:
        return {}
    kinds, others = [], []
    for key in items:
        slot = keys.slot_of(key) if isinstance(key, str) else None
        words = None if slot is None else keys.plain[slot]
        kinds.append(_WITHOUT if words is None else _OWN if words == key else _OTHER)
        if words is not None and words != key:
            others.append(words)
    return {
        _KINDS: np.array(kinds, np.uint8),
        _PLAIN_WORDS: np.frombuffer("\n".join(others).encode("utf-8", "surrogatepass"), np.uint8),
        _LENGTHS: keys.inverse_lengths[keys.alive],
        **packed_ngrams(keys.ngrams, keys.alive),
    }


class _KeyTexts:
    """What `_text_arrays` returned of the keys of a dict.

    Args:
        arrays: by their names.
        keys: all keys, K of them.
        count: how many have words, S.
        path: of the file.

    Raises:
        LookupError, ValueError: these are not the arrays of these keys.
    """

    def __init__(
        self,
        arrays: dict[str, NDArray[Any]],
        keys: Collection[Any],
        count: int,
        path: str | os.PathLike[str],
    ) -> None:
        self._arrays, self._keys, self._path = arrays, keys, path
        kinds = array_of(arrays, _KINDS, "u1", len(keys))
        if kinds.max(initial=0) > _OTHER:
            raise ValueError("it does not say of each key whether it has words")
        if np.count_nonzero(kinds) != count:
            raise ValueError("it has other keys with words than vectors")
        array_of(arrays, _LENGTHS, "f4", count)  # not used, for the vectors tell

    def found(self, inverse_lengths: NDArray[np.float32]) -> Found:
        """Return what reads need.

        Args:
            inverse_lengths: one by the length of each vector, (S,).

        Raises:
            LookupError, ValueError: the arrays are not of these keys.
        """
        kinds = self._arrays[_KINDS]
        names = list(self._keys)
        if not kinds.all():
            names = list(compress(names, kinds.tolist()))
        strings, others = names, np.flatnonzero(kinds[kinds > 0] == _OTHER).tolist()
        text = self._arrays[_PLAIN_WORDS].tobytes().decode("utf-8", "surrogatepass")
        if others or text:
            strings = names.copy()
            for place, words in zip(others, text.split("\n"), strict=True):
                strings[place] = words
        if set(map(type, names)) != {str} or "" in strings:
            raise ValueError("it has a key without words, and its vector")
        require_plain(strings)
        ngrams = unpacked_ngrams(self._arrays, strings, self._path)
        return Found(names, ngrams, inverse_lengths)


_PLAIN_CODES = b"abcdefghijklmnopqrstuvwxyz0123456789' \n"
_NOT_BETWEEN_WORDS = ("  ", "\n\n", " \n", "\n ")


def require_plain(strings: list[str]) -> None:
    """Raise ValueError if strings cannot be plain words, each up to the length that is compared."""
    lines = "\n".join(strings)
    others = lines.encode("utf-8", "surrogatepass").translate(None, _PLAIN_CODES)
    letters = set(others.decode("utf-8", "surrogatepass"))
    if strings and (
        max(map(len, strings)) > LONGEST
        or lines.count("\n") != len(strings) - 1
        or any(one in f"\n{lines}\n" for one in _NOT_BETWEEN_WORDS)
        or any(letter.isascii() or letter.isspace() for letter in letters)
    ):
        raise ValueError("it has plain words of a key that are none")


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
