"""Q, K and V: the linear maps that queries, keys and values pass before they are compared."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, cached_property, lru_cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fuzzydict._arrays import Array, as_floats, require_finite, units
from fuzzydict._files import array_of, as_format_errors, read_arrays, texts_of, write_arrays
from fuzzydict.embedding.base import (
    Background,
    WordCache,
    WordFeatures,
    background_of,
    background_of_cosines,
)
from fuzzydict.embedding.calibration import OF_BROWN_AND_ENGLISH, OF_WORDNET, Calibration
from fuzzydict.embedding.subwords import Subwords
from fuzzydict.embedding.word_vectors import (
    English,
    JoinedVectors,
    WordEmbedding,
    WordVectors,
    is_brown,
)
from fuzzydict.errors import (
    ArgumentTypeError,
    FileFormatError,
    OptionError,
    ReadOnlyError,
    ShapeError,
    quoted,
)

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from fuzzydict.embedding.base import Embedding
    from fuzzydict.embedding.encoder import Unprojected
    from fuzzydict.embedding.vocabulary import Vocabulary


# ---- one linear map -------------------------------------------------------------------------


class Factors(NamedTuple):
    """The matrix ``I + left right'`` (E, E), kept as two thin ones, both (E, r)."""

    left: Array
    right: Array

    @property
    def whole(self) -> Array:
        """The matrix itself, (E, E)."""
        return np.eye(len(self.left), dtype=self.left.dtype) + self.left @ self.right.T


#: A matrix (E, r), its factors, or a map that also reads texts; None is the identity.
Projection = Array | Factors | Subwords | None


def project(
    vectors: ArrayLike,
    projection: Projection,
    role: str = "query",
    texts: Sequence[str] | None = None,
) -> Array:
    """Return vectors (..., E) multiplied with a projection, (..., r).

    Raises:
        ShapeError: the vectors are not of the size that the projection takes.
        ArgumentTypeError: the projection reads texts, and there are none.
    """
    if isinstance(projection, Subwords):
        return projection.project(vectors, texts)
    return project_forward(as_floats(vectors=vectors)[0], projection, role)[0]


def project_forward(
    x: Array, projection: Array | Factors | None, role: str = "query"
) -> tuple[Array, Callable[[Array], Array | Factors | None]]:
    """Return projected vectors, and the backward function.

    Args:
        x: vectors (..., E).
        projection: the matrix (E, r) or its factors.
        role: what the vectors are, for the error message.

    Returns:
        The projected vectors (..., r), and a function from the gradient for them to the gradient
        for the projection, which has the shape of the projection.

    Raises:
        ShapeError: the vectors are not of the size that the projection takes.
    """
    if projection is None:
        return x, lambda _: None
    expected = len(projection.left if isinstance(projection, Factors) else projection)
    if x.ndim < 1 or x.shape[-1] != expected:
        raise ShapeError(
            f"the projection of {role} vectors takes vectors of {expected} numbers, "
            f"got shape {x.shape}"
        )
    if not isinstance(projection, Factors):
        whole = projection.astype(x.dtype, copy=False)
        return x @ whole, lambda d_y: _outer(x, d_y)
    left, right = (part.astype(x.dtype, copy=False) for part in projection)
    inner = x @ left  # (..., r)
    return x + inner @ right.T, lambda d_y: Factors(_outer(x, d_y @ right), _outer(d_y, inner))


def _outer(a: Array, b: Array) -> Array:
    """Return the sum of the outer products of the rows of a (..., I) and b (..., J), (I, J)."""
    total: Array = a.reshape(-1, a.shape[-1]).T @ b.reshape(-1, b.shape[-1])
    return total


def composed(first: Array | Factors | None, second: Array | Factors | None) -> Any:
    """Return the one linear map that applies ``first`` and then ``second``.

    >>> composed(np.array([[2.0]]), Factors(np.array([[1.0]]), np.array([[3.0]]))).tolist()
    [[8.0]]
    """
    if first is None or second is None:
        return second if first is None else first
    if isinstance(first, Factors) and isinstance(second, Factors):
        # (I + A B') (I + C D') = I + A (B + D C' B)' + C D'
        turned = first.right + second.right @ (second.left.T @ first.right)
        return Factors(
            np.concatenate([first.left, second.left], axis=1),
            np.concatenate([turned, second.right], axis=1),
        )
    return project_forward(first.whole if isinstance(first, Factors) else first, second)[0]


def _checked(role: str, projection: Any) -> Any:
    """Return a read-only copy of a projection."""
    if projection is None:
        return None
    if isinstance(projection, Subwords):
        if role == "value":
            raise ArgumentTypeError("value: expected a matrix or factors, for values are no texts")
        return projection
    if not isinstance(projection, Factors):
        return _checked_matrix(role, projection)
    checked = Factors(*(_checked_matrix(f"{role}.{n}", p) for n, p in projection._asdict().items()))
    if checked.left.shape != checked.right.shape:
        raise ShapeError(
            f"the factors of {role} must be of one shape (E, r), "
            f"got {checked.left.shape} and {checked.right.shape}"
        )
    return checked


def _checked_matrix(name: str, matrix: ArrayLike) -> Array:
    checked = np.array(as_floats(**{name: matrix})[0])
    if checked.ndim != 2 or not checked.size:
        raise ShapeError(f"{name} must be a matrix (E, r), got shape {checked.shape}")
    require_finite(checked, **{name: checked})
    checked.flags.writeable = False
    return checked


def _gain(projection: Projection) -> float:
    """Return how many times as long a vector may become, or more."""
    if projection is None:
        return 1.0
    if isinstance(projection, Factors):
        return 1 + _norm(projection.left) * _norm(projection.right)
    if isinstance(projection, Subwords):
        return 1 + _norm(projection.matrix) + float(np.abs(projection.table).max())
    return _norm(projection)


def _norm(matrix: Array) -> float:
    with np.errstate(over="ignore"):
        return float(np.linalg.norm(matrix.astype(np.float64, copy=False)))


def _size_after(projection: Projection) -> int | None:
    """Return the size of projected vectors; None for the identity."""
    if projection is None:
        return None
    return len(projection.left) if isinstance(projection, Factors) else projection.shape[1]


def _shown(projection: Array | Factors | Subwords) -> str:
    if isinstance(projection, Factors):
        size, rank = projection.left.shape
        return f"<identity and rank {rank} ({size}, {size})>"
    return repr(projection) if isinstance(projection, Subwords) else f"<array {projection.shape}>"


# ---- Q, K and V -----------------------------------------------------------------------------

ROLES = ("query", "key", "value")
_LARGEST_GAIN = 1e12  # times as long as a vector: the square of its length is far below 3e38
_MOST_BASES = 100  # projections on top of each other
_SHIPPED = ("english", "wordnet")
#: The projections of the Brown vectors, where none are given.
DEFAULT = "english"
_BESIDE_WEIGHT = 2.0  # length of the vectors beside projected ones, which have length one
#: The values of ``projections=`` that are names: the projections that ship, and none at all.
NAMES = (*_SHIPPED, "identity")

# Names in a file.
_KIND = "projections"
_BOTH = "both"  # one projection for queries and keys
_BASE = "base."  # the prefix of the arrays of the base
_BESIDE = "beside."  # the prefix of the arrays of the vectors beside
_NAME = "shipped"  # the name and the digest of projections that ship, as JSON
_WORDS = "words"  # the learned words, as JSON
_CALIBRATION = "calibration"
#: What the names of projected embeddings have, before the digest of the projections.
PROJECTED = ", projected "


class Projections:
    """The matrices that attention learns: ``query Q`` meets ``key K``, and ``value V`` is pooled.

    (Vaswani et al. 2017, section 3.2.2.) Projections are immutable.

    Args:
        query: Q (E, r), or `Factors`, which hold ``I + left right'`` in 2 E r numbers, or
            `Subwords`, which also read the texts. None is the identity.
        key: K, likewise.
        value: V (Ev, Ev'), a matrix or factors.
        embedding: name (from ``fingerprint``) of the embedding they were learned for; None if any
            of that size will do.
        base: projections applied before these.
        calibration: calibration for projected vectors; None for the embedding's own.
        words: words unknown to the embedding whose meaning was learned.
        beside: word vectors (V, Eb) whose vector of each text is put beside the projected one,
            which has length one; this one has length two. What is projected is then (n, E + Eb), as
            `JoinedVectors` gives.

    Raises:
        ShapeError: a matrix does not have two axes, or holds NaN or infinity, or Q and K lead to
            vectors of different sizes.
        ArgumentTypeError: a matrix does not hold numbers, or V reads texts.

    Example:
        >>> projections = Projections(query=[[0.0, 1.0], [1.0, 0.0]])
        >>> projections.project_queries([[3.0, 4.0]]), projections.project_keys([[3.0, 4.0]])
        (array([[4., 3.]]), array([[3., 4.]]))
    """

    query: Projection
    key: Projection
    value: Array | Factors | None
    embedding: str | None
    base: Projections | None
    calibration: Calibration | None
    words: frozenset[str]
    beside: WordVectors | None
    name: str | None  # of projections that ship

    def __init__(
        self,
        query: ArrayLike | Factors | Subwords | None = None,
        key: ArrayLike | Factors | Subwords | None = None,
        value: ArrayLike | Factors | None = None,
        *,
        embedding: str | None = None,
        base: Projections | None = None,
        calibration: Calibration | None = None,
        words: Collection[str] = (),
        beside: WordVectors | None = None,
    ) -> None:
        checked = _checked("query", query)
        self.__dict__.update(
            query=checked,
            key=checked if key is query else _checked("key", key),
            value=_checked("value", value),
            embedding=embedding,
            base=base,
            calibration=calibration,
            words=frozenset(words),
            beside=beside,
            name=None,
        )
        sizes = [_size_after(projection) for projection in (self.query, self.key)]
        if len({*sizes} - {None}) > 1:
            raise ShapeError(
                f"query and key must lead to vectors of one size to be compared, "
                f"got {sizes[0]} and {sizes[1]}"
            )
        for role, gain in self._gains().items():
            if gain > _LARGEST_GAIN:
                raise ShapeError(
                    f"{role}: these projections, with those they are on top of, make a vector "
                    f"{gain:.0e} times as long, so that products overflow; scale them down"
                )
        if self._bases() > _MOST_BASES:
            raise ShapeError(f"base: expected at most {_MOST_BASES} projections below each other")

    def __setattr__(self, name: str, value: object) -> None:
        raise ReadOnlyError(f"projections do not change ({name!r}); make new ones")

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)

    @property
    def is_identity(self) -> bool:
        """Whether nothing is changed."""
        given = (self.query, self.key, self.value, self.beside)
        return all(one is None for one in given) and (self.base is None or self.base.is_identity)

    def _gains(self) -> dict[str, float]:
        """Return how many times as long vectors may become, for each of `ROLES`."""
        below = {} if self.base is None else self.base._gains()
        return {role: _gain(getattr(self, role)) * below.get(role, 1.0) for role in ROLES}

    def _bases(self) -> int:
        """Return the number of projections below each other, these included."""
        return 1 if self.base is None else 1 + self.base._bases()

    @property
    def are_alike(self) -> bool:
        """Whether queries and keys are projected in the same way."""
        return self.query is self.key and (self.base is None or self.base.are_alike)

    @property
    def reads_texts(self) -> bool:
        """Whether queries or keys are projected by their texts as well."""
        own = isinstance(self.query, Subwords) or isinstance(self.key, Subwords)
        return own or (self.base is not None and self.base.reads_texts)

    def project_queries(self, vectors: ArrayLike, texts: Sequence[str] | None = None) -> Array:
        """Return ``vectors Q`` for vectors (..., E): (..., r).

        Raises:
            ShapeError: the vectors are not of the size that Q takes.
            ArgumentTypeError: Q reads texts, and there are none.
        """
        if self.base is not None:
            vectors = self.base.project_queries(vectors, texts)
        return self._project(vectors, self.query, "query", texts)

    def project_keys(self, vectors: ArrayLike, texts: Sequence[str] | None = None) -> Array:
        """Return ``vectors K`` for vectors (..., E): (..., r).

        The errors are those of `project_queries`.
        """
        if self.base is not None:
            vectors = self.base.project_keys(vectors, texts)
        return self._project(vectors, self.key, "key", texts)

    def _project(
        self,
        vectors: ArrayLike,
        projection: Projection,
        role: str,
        texts: Sequence[str] | None,
    ) -> Array:
        """Return projected vectors, and those beside them."""
        if self.beside is None:
            return project(vectors, projection, role, texts)
        x = as_floats(vectors=vectors)[0]
        own, beside = x[..., : -self.beside.size], x[..., -self.beside.size :]
        projected, beside = units(project(own, projection, role, texts)), units(beside)
        beside *= _BESIDE_WEIGHT
        return np.concatenate([projected, beside], axis=-1)

    def joined(self, embedding: Unprojected) -> Unprojected | JoinedVectors:
        """Return the embedding whose vectors these projections take: joined with those beside.

        Raises:
            OptionError: there are vectors beside, and the embedding is no word vectors.
        """
        if self.beside is None:
            return embedding if self.base is None else self.base.joined(embedding)
        if not isinstance(embedding, WordVectors):
            raise OptionError(
                f"projections: these have word vectors beside them and take word vectors, and the "
                f"embedding is {embedding!r}; give word vectors, or other projections"
            )
        return _joined(embedding, self.beside)

    def project_values(self, values: ArrayLike) -> Array:
        """Return ``values V`` for values (..., Ev): (..., Ev').

        Raises:
            ShapeError: the values are not of the size that V takes.
        """
        if self.base is not None:
            values = self.base.project_values(values)
        return project(values, self.value, "value")

    # ---- files ----------------------------------------------------------------------------

    @classmethod
    @cache
    def shipped(cls, name: str) -> Projections:
        """Return projections that ship with the package, for the Brown vectors.

        "wordnet" was learned from WordNet 3.0. "english" is the same with the table `English`
        beside it. ``data/README.md`` describes how they were made, and the licences.

        Raises:
            OptionError: there are none of this name.

        Example:
            >>> Projections.shipped("wordnet").reads_texts
            True
        """
        if name not in _SHIPPED:
            raise OptionError(f"projections must be one of {', '.join(_SHIPPED)}, got {name!r}")
        (folder,) = import_module("fuzzydict.data").__path__
        new = cls.load(f"{folder}/wordnet.projections")
        new.__dict__.update(name=name, calibration=OF_WORDNET)
        if name == "english":
            new.__dict__.update(beside=English(), calibration=OF_BROWN_AND_ENGLISH)
        return new

    def calibrated(self, calibration: Calibration | None) -> Projections:
        """Return the same projections with another calibration."""
        if calibration == self.calibration:
            return self
        new = type(self)()
        new.__dict__.update(self.__dict__, calibration=calibration)
        return new

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Projections:
        """Open a file that `save` wrote.

        Raises:
            FileNotFoundError: there is no such file.
            FileFormatError: the file is damaged, of another kind, or of another version.
        """
        meta, arrays, _ = read_arrays(path, _KIND)
        embedding = meta.get("embedding")
        if embedding is not None and not isinstance(embedding, str):
            raise FileFormatError(f"{path} names no embedding, but {embedding!r}")
        with as_format_errors(path):
            return cls.from_arrays(arrays, embedding=embedding)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the projections to one file, atomically; no pickle."""
        write_arrays(path, _KIND, {"embedding": self.embedding}, self.arrays())

    def arrays(self) -> dict[str, Array]:
        """Return the arrays that a file holds, by name; none for the identity.

        Projections that ship are named, not copied.
        """
        if self.name is not None:
            return {_NAME: _as_json([self.name, self.digest]), **self._calibration_array()}
        return self._all_arrays()

    @cached_property
    def digest(self) -> str:
        """A hash of everything but the calibration, with which the vectors are the same."""
        from hashlib import blake2b

        state = blake2b(digest_size=8)
        for name, array in sorted(self._all_arrays().items()):
            if name.endswith(_CALIBRATION):
                continue
            state.update(name.encode("ascii"))
            state.update(np.ascontiguousarray(array).data)
        return state.hexdigest()

    def _all_arrays(self) -> dict[str, Array]:
        """Return the arrays of these projections, wherever they are from."""
        parts: dict[str, Projection] = {role: getattr(self, role) for role in ROLES}
        if self.query is self.key:
            parts = {_BOTH: self.query, "value": self.value}
        found: dict[str, Array] = {}
        for role, projection in parts.items():
            if isinstance(projection, Factors):
                found |= _named(f"{role}.", projection._asdict())
            elif isinstance(projection, Subwords):
                found |= _named(f"{role}.", projection.arrays())
            elif projection is not None:
                found[role] = projection
        if self.base is not None:
            # An identity is recorded too, since `fit` replaces what is on top of a base.
            base = self.base.arrays() or {"identity": np.zeros(0, np.float32)}
            found |= _named(_BASE, base)
        if self.beside is not None:
            found |= _named(_BESIDE, self.beside.arrays())
        if self.words:
            found[_WORDS] = _as_json(sorted(self.words))
        return found | self._calibration_array()

    def _calibration_array(self) -> dict[str, Array]:
        return {} if self.calibration is None else {_CALIBRATION: self.calibration.as_array()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any], *, embedding: str | None = None) -> Projections:
        """Return the projections that `arrays` gave; other names are ignored.

        Query heads, an older format, are dropped with a UserWarning.

        Raises:
            FileFormatError: the arrays are not those of projections.
        """
        if any(name.startswith(_BASE * _MOST_BASES) for name in arrays):
            raise FileFormatError(f"these are projections on top of {_MOST_BASES} others, or more")
        if has_query_heads(arrays):
            arrays = _without_query_heads(arrays)
        try:
            calibration = None
            if _CALIBRATION in arrays:
                calibration = Calibration.from_array(array_of(arrays, _CALIBRATION, "f8", None))
            if _NAME in arrays:
                return _shipped(*texts_of(arrays[_NAME])).calibrated(calibration)
            made = {role: _from_arrays(role, arrays) for role in (*ROLES, _BOTH)}
            both = made.pop(_BOTH)
            made |= {} if both is None else {"query": both, "key": both}
            of_base = _after(_BASE, arrays)
            base = cls.from_arrays(of_base) if of_base else None
            words = texts_of(arrays[_WORDS]) if _WORDS in arrays else ()
            table = _after(_BESIDE, arrays)
            return cls(
                **made,
                embedding=embedding,
                base=base,
                calibration=calibration,
                words=words,
                beside=WordVectors.from_arrays(table) if table else None,
            )
        except (KeyError, TypeError, ValueError) as error:
            raise FileFormatError(f"these are no whole projections: {error}") from error

    # ---- as a value -----------------------------------------------------------------------

    def __reduce__(self) -> tuple[Callable[..., Projections], tuple[object, ...]]:
        return partial(type(self).from_arrays, embedding=self.embedding), (self.arrays(),)

    def __copy__(self) -> Projections:
        return self

    def __deepcopy__(self, memo: object) -> Projections:
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Projections):
            return NotImplemented
        mine, theirs = self.arrays(), other.arrays()
        same = mine.keys() == theirs.keys() and self.embedding == other.embedding
        return same and all(np.array_equal(mine[name], theirs[name]) for name in mine)

    def __hash__(self) -> int:
        return hash(tuple((name, array.tobytes()) for name, array in self.arrays().items()))

    def __repr__(self) -> str:
        given = {role: getattr(self, role) for role in ROLES}
        roles = (f"{role}={_shown(one)}" for role, one in given.items() if one is not None)
        return f"{type(self).__name__}({', '.join(roles)})"


def _as_json(value: object) -> Any:
    return np.frombuffer(json.dumps(value).encode("ascii"), np.uint8)


def _shipped(name: str, digest: str) -> Projections:
    """Return projections that ship, by what a file tells of them.

    Raises:
        ValueError: there are none of this name, or they have changed since.
    """
    if name not in _SHIPPED or Projections.shipped(name).digest != digest:
        raise ValueError(
            f"they are on top of the projections {quoted(name)} of another release; "
            f"open them there, or fit the dict again"
        )
    return Projections.shipped(name)


@lru_cache(maxsize=2)
def _joined(embedding: WordVectors, beside: WordVectors) -> JoinedVectors:
    return JoinedVectors(embedding, beside)


def _named(prefix: str, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arrays with the prefix before their names."""
    return {f"{prefix}{name}": array for name, array in arrays.items()}


def _after(prefix: str, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arrays whose names have the prefix, without it."""
    return {n.removeprefix(prefix): a for n, a in arrays.items() if n.startswith(prefix)}


def _from_arrays(role: str, arrays: Mapping[str, Any]) -> Any:
    """Return the projection of a role from the arrays of a file."""
    parts = _after(f"{role}.", arrays)
    if "matrix" in parts:
        return Subwords.from_arrays(parts)
    return Factors(parts["left"], parts["right"]) if parts else arrays.get(role)


def has_query_heads(arrays: Iterable[str]) -> bool:
    """Tell whether any of these names is that of query heads, which are no longer supported."""
    return any(name.endswith("query.heads") for name in arrays)


def _without_query_heads(arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arrays of the base below query heads, and warn."""
    warnings.warn(
        "projections: query heads are no longer supported, so that Q, K and V learned with them "
        "are left out; call fit again",
        stacklevel=2,
    )
    while has_query_heads(arrays):
        arrays = _after(_BASE, arrays)
    return arrays


# ---- an embedding with projections ----------------------------------------------------------


class Projected:
    """An embedding of which queries are multiplied with Q and keys with K.

    Args:
        embedding: the embedding.
        projections: Q and K.

    >>> from fuzzydict.embedding.encoder import as_embedding
    >>> swapped = Projections(query=[[0.0, 1.0], [1.0, 0.0]])
    >>> projected = Projected(as_embedding({"ask": [0.0, 1.0], "key": [1.0, 0.0]}), swapped)
    >>> queries, trust = projected.encode_with_trust(["ask"], of_queries=True)
    >>> queries.tolist(), projected.encode(["key"]).tolist()
    ([[1.0, 0.0]], [[1.0, 0.0]])
    """

    def __init__(self, embedding: Unprojected, projections: Projections) -> None:
        words, joined = projections.words, projections.joined(embedding)
        self.embedding = joined.with_learned(words) if words else joined
        self.projections = projections

    @property
    def calibration(self) -> Calibration:
        """The calibration of the projections, of those they are on top of, or of the embedding."""
        projections: Projections | None = self.projections
        while projections is not None:
            if projections.calibration is not None:
                return projections.calibration
            projections = projections.base
        return self.embedding.calibration

    @property
    def tells_words(self) -> bool:
        """Whether the vectors are made from the words of `vocabulary`."""
        return self.embedding.tells_words

    @property
    def vocabulary(self) -> Vocabulary:
        """The words that the embedding knows, and those that were learned."""
        return self.embedding.vocabulary

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a vector for each key, (n, r)."""
        return self._keys(self.embedding.encode(texts), texts)

    def encode_with_trust(
        self, texts: Sequence[str], *, of_queries: bool = False
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return a vector for each key or query, (n, r), and how far to trust it, (n,)."""
        vectors, trust = self.embedding.encode_with_trust(texts)
        return (self._queries if of_queries else self._keys)(vectors, texts), trust

    def trust(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return how far to trust the vector of each text, (n,)."""
        return self.embedding.trust(texts)

    def word_features(self, words: Sequence[str], *, of_query: bool) -> WordFeatures:
        """Return what is needed to compare n words of queries, or of keys, with others."""
        return (self._query_words if of_query else self._key_words)(words)

    def background(self, keys: NDArray[np.float32]) -> Background:
        """Return the cosines to expect of unrelated texts."""
        return self._background_of_words or background_of(keys)

    def fingerprint(self) -> dict[str, Any]:
        """Return what identifies the embedding and the projections."""
        found = self.embedding.fingerprint()
        return {**found, "name": f"{found['name']}{PROJECTED}{self.projections.digest}"}

    @cached_property
    def _background_of_words(self) -> Background | None:
        if not isinstance(self.embedding, WordEmbedding):
            return None
        words = self.embedding.some_words()
        queries = keys = units(self.encode(words))
        if not self.projections.are_alike:
            queries = units(self.encode_with_trust(words, of_queries=True)[0])
        return background_of_cosines(queries @ keys.T)

    @cached_property
    def _key_words(self) -> WordCache:
        return WordCache(partial(self.embedding.projected_features, project=self._keys))

    @cached_property
    def _query_words(self) -> WordCache:
        if self.projections.are_alike:
            return self._key_words
        return WordCache(partial(self.embedding.projected_features, project=self._queries))

    def _queries(self, vectors: NDArray[np.float32], texts: Sequence[str]) -> NDArray[np.float32]:
        return self.projections.project_queries(vectors, texts).astype(np.float32, copy=False)

    def _keys(self, vectors: NDArray[np.float32], texts: Sequence[str]) -> NDArray[np.float32]:
        return self.projections.project_keys(vectors, texts).astype(np.float32, copy=False)


def as_projections(projections: Any) -> Projections | None:
    """Return the projections that a ``projections=`` argument means; None for the default.

    Raises:
        OptionError: it is not a name, nor projections.
    """
    if projections is None or isinstance(projections, Projections):
        return projections
    if not isinstance(projections, str) or projections not in NAMES:
        raise OptionError(
            f"projections: expected None, one of {', '.join(map(repr, NAMES))}, or Projections, "
            f"got {quoted(projections)}"
        )
    return Projections() if projections == "identity" else Projections.shipped(projections)


def with_projections(embedding: Unprojected, projections: Projections | None) -> Embedding:
    """Return an embedding with projections, by default those that ship for it.

    Raises:
        OptionError: the projections were learned for another embedding; the message names both.
    """
    if projections is None:
        if not is_brown(embedding):
            return embedding
        projections = Projections.shipped(DEFAULT)
    # The name of an embedding is a hash of its vectors, which takes a while to compute.
    if projections.embedding and not (is_brown(embedding) and projections.name):
        name = embedding.fingerprint()["name"]
        if name != projections.embedding:
            raise OptionError(
                f"projections: these are for {projections.embedding}, and the embedding is "
                f"{name}; give that embedding, or other projections"
            )
    return embedding if projections.is_identity else Projected(embedding, projections)
