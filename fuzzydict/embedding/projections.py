"""Q, K and V: what queries, keys and values are multiplied with before attention compares them."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from fuzzydict._arrays import Array, as_floats, units
from fuzzydict._files import read_arrays, write_arrays
from fuzzydict.embedding.base import (
    Background,
    WordCache,
    WordFeatures,
    background_of,
    background_of_cosines,
)
from fuzzydict.embedding.calibration import OF_WORDNET, Calibration
from fuzzydict.embedding.maps import Factors, checked_factors, checked_matrix, project_forward
from fuzzydict.embedding.subwords import Subwords
from fuzzydict.embedding.word_vectors import Brown, WordVectors
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
    from fuzzydict.embedding.encoder import Encoder
    from fuzzydict.embedding.vocabulary import Vocabulary

__all__ = [
    "NAMES",
    "ROLES",
    "SHIPPED",
    "Factors",
    "Projected",
    "Projection",
    "Projections",
    "as_projections",
    "frozen",
    "has_query_heads",
    "made_of",
    "project",
    "with_projections",
    "shown",
    "size_after",
]


#: A matrix (E, r), its factors, or one that reads texts; None is the identity.
Projection = Array | Factors | Subwords | None


def project(
    vectors: ArrayLike,
    projection: Projection,
    role: str = "query",
    texts: Sequence[str] | None = None,
) -> Array:
    """Return ``vectors`` (..., E) times a projection, (..., r).

    Raises:
        ShapeError: The vectors are not of the size that the projection takes.
        ArgumentTypeError: It reads texts, and there are none.
    """
    if isinstance(projection, Subwords):
        return projection.project(vectors, texts)
    return project_forward(as_floats(vectors=vectors)[0], projection, role)[0]


def frozen(role: str, projection: Any) -> Projection:
    """Return a checked copy that nobody writes to."""
    if projection is None:
        return None
    if isinstance(projection, Subwords):
        if role == "value":
            raise ArgumentTypeError("value: expected a matrix or factors, for values are no texts")
        return projection
    if not isinstance(projection, Factors):
        return checked_matrix(role, projection)
    return checked_factors(role, projection)


def made_of(role: str, arrays: Mapping[str, Any]) -> Any:
    """Return what `Projections` takes for a role, from the arrays named after it."""
    parts = {
        name.removeprefix(f"{role}."): array
        for name, array in arrays.items()
        if name.startswith(f"{role}.")
    }
    if "matrix" in parts:
        return Subwords.from_arrays(parts)
    return Factors(parts["left"], parts["right"]) if parts else arrays.get(role)


def size_after(projection: Projection) -> int | None:
    """Return the size of projected vectors; None where it is that of what is projected."""
    if projection is None:
        return None
    return len(projection.left) if isinstance(projection, Factors) else projection.shape[1]


def shown(projection: Array | Factors | Subwords) -> str:
    """Return what a projection is, for people."""
    if isinstance(projection, Subwords):
        return repr(projection)
    if isinstance(projection, Factors):
        size, rank = projection.left.shape
        return f"<identity and rank {rank} ({size}, {size})>"
    return f"<array {projection.shape}>"


#: What can be projected.
ROLES = ("query", "key", "value")
#: The projections that ship with the package.
SHIPPED = ("wordnet",)
_KIND = "projections"
_BOTH = "both"  # the name of what projects queries and keys alike, kept once
_WORDS = "words"  # the name of the words that were learned, as JSON
_BASE = "base."  # before the names of what those are made of that come first


class Projections:
    """The matrices that attention learns: ``score(query Q, key K)``, and ``value V`` to be pooled.

    (Vaswani et al. 2017, section 3.2.2.) They do not change once they are made.

    Args:
        query: Q (E, r), or `Factors`, which say ``I + left right'`` in 2 E r numbers; None is the
            identity. `Subwords` read the texts as well.
        key: K, in the same ways.
        value: V (Ev, Ev'), a matrix or factors.
        embedding: The name of the embedding whose vectors these are for, as its ``fingerprint``
            says it; None if they are for any of their size.
        base: Other projections, by which vectors go first.
        calibration: What nearness says once vectors are projected; None for what it says before.
        words: Words that the embedding has never seen, and of which it was learned what they mean.

    Raises:
        ShapeError: A matrix has not two axes, holds NaN or infinity, or Q and K lead to vectors
            of different sizes.
        ArgumentTypeError: One does not hold numbers, or V reads texts.

    Example:
        >>> projections = Projections(query=[[0.0, 1.0], [1.0, 0.0]])
        >>> projections.project_queries([[3.0, 4.0]]), projections.project_keys([[3.0, 4.0]])
        (array([[4., 3.]]), array([[3., 4.]]))
    """

    __slots__ = ("base", "calibration", "embedding", "key", "query", "value", "words")

    query: Projection
    key: Projection
    value: Array | Factors | None
    embedding: str | None
    base: Projections | None
    calibration: Calibration | None
    words: frozenset[str]

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
    ) -> None:
        asked = frozen("query", query)
        object.__setattr__(self, "query", asked)
        object.__setattr__(self, "key", asked if key is query else frozen("key", key))
        object.__setattr__(self, "value", frozen("value", value))
        object.__setattr__(self, "embedding", embedding)
        object.__setattr__(self, "base", base)
        object.__setattr__(self, "calibration", calibration)
        object.__setattr__(self, "words", frozenset(words))
        sizes = {size_after(projection) for projection in (self.query, self.key)} - {None}
        if len(sizes) > 1:
            raise ShapeError(
                f"query and key must lead to vectors of one size to be compared, "
                f"got {size_after(self.query)} and {size_after(self.key)}"
            )

    def __setattr__(self, name: str, value: object) -> None:
        raise ReadOnlyError(f"projections do not change ({name!r}); make new ones")

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)

    @property
    def is_identity(self) -> bool:
        """Whether there is nothing to multiply with."""
        alone = self.query is None and self.key is None and self.value is None
        return alone and (self.base is None or self.base.is_identity)

    @property
    def are_alike(self) -> bool:
        """Whether queries and keys are projected in the same way."""
        return self.query is self.key and (self.base is None or self.base.are_alike)

    @property
    def reads_texts(self) -> bool:
        """Whether queries and keys are projected by their texts as well."""
        own = isinstance(self.query, Subwords) or isinstance(self.key, Subwords)
        return own or (self.base is not None and self.base.reads_texts)

    def project_queries(self, vectors: ArrayLike, texts: Sequence[str] | None = None) -> Array:
        """Return ``vectors Q`` for vectors (..., E): (..., r).

        Raises:
            ShapeError: The vectors are not of the size that Q takes.
            ArgumentTypeError: Q reads texts, and there are none.
        """
        if self.base is not None:
            vectors = self.base.project_queries(vectors, texts)
        return project(vectors, self.query, "query", texts)

    def project_keys(self, vectors: ArrayLike, texts: Sequence[str] | None = None) -> Array:
        """Return ``vectors K`` for vectors (..., E): (..., r).

        Raises:
            ShapeError: The vectors are not of the size that K takes.
            ArgumentTypeError: K reads texts, and there are none.
        """
        if self.base is not None:
            vectors = self.base.project_keys(vectors, texts)
        return project(vectors, self.key, "key", texts)

    def project_values(self, values: ArrayLike) -> Array:
        """Return ``values V`` for values (..., Ev): (..., Ev').

        Raises:
            ShapeError: The values are not of the size that V takes.
        """
        if self.base is not None:
            values = self.base.project_values(values)
        return project(values, self.value, "value")

    # ---- where they are kept --------------------------------------------------------------

    @classmethod
    @cache
    def shipped(cls, name: str) -> Projections:
        """Return projections that ship with the package: "wordnet", for the Brown vectors.

        They are learned from WordNet 3.0; ``data/README.md`` tells how, and under which licence.

        Raises:
            OptionError: There are none of this name.

        Example:
            >>> Projections.shipped("wordnet").reads_texts
            True
        """
        if name not in SHIPPED:
            raise OptionError(f"projections must be one of {', '.join(SHIPPED)}, got {name!r}")
        (folder,) = import_module("fuzzydict.data").__path__
        return cls.load(f"{folder}/{name}.projections").calibrated(OF_WORDNET)

    def calibrated(self, calibration: Calibration | None) -> Projections:
        """Return the same projections with another calibration."""
        return type(self)(
            self.query,
            self.key,
            self.value,
            embedding=self.embedding,
            base=self.base,
            calibration=calibration,
            words=self.words,
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Projections:
        """Open what `save` wrote.

        Raises:
            FileNotFoundError: There is no such file.
            FileFormatError: The file is damaged, of another kind, or of another version.
        """
        meta, arrays, _ = read_arrays(path, _KIND)
        embedding = meta.get("embedding")
        if embedding is not None and not isinstance(embedding, str):
            raise FileFormatError(f"{path} names no embedding, but {embedding!r}")
        return cls.from_arrays(arrays, embedding=embedding)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all to one file, atomically; no pickle."""
        write_arrays(path, _KIND, {"embedding": self.embedding}, self.arrays())

    # ---- as arrays ------------------------------------------------------------------------

    def arrays(self) -> dict[str, Array]:
        """Return what they are made of by name, as a file holds it; none of the identity."""
        parts: dict[str, Projection] = {role: getattr(self, role) for role in ROLES}
        if self.query is self.key:
            parts = {_BOTH: self.query, "value": self.value}
        found: dict[str, Array] = {}
        for role, projection in parts.items():
            if isinstance(projection, Factors):
                found |= {f"{role}.{name}": part for name, part in projection._asdict().items()}
            elif isinstance(projection, Subwords):
                found |= {f"{role}.{name}": part for name, part in projection.arrays().items()}
            elif projection is not None:
                found[role] = projection
        if self.base is not None:
            # The identity, too, leaves a trace: what has a base was learned on top of something.
            first = self.base.arrays() or {"identity": np.zeros(0, np.float32)}
            found |= {f"{_BASE}{name}": array for name, array in first.items()}
        if self.calibration is not None:
            found["calibration"] = self.calibration.as_array()
        if self.words:
            found[_WORDS] = np.frombuffer(json.dumps(sorted(self.words)).encode("ascii"), np.uint8)
        return found

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any], *, embedding: str | None = None) -> Projections:
        """Return the projections of which `arrays` told; other names are left alone.

        Of arrays with query heads, a UserWarning says that those are left out.

        Raises:
            FileFormatError: The arrays are not those of projections.
        """
        if has_query_heads(arrays):
            arrays = _without_query_heads(arrays)
        try:
            made = {role: made_of(role, arrays) for role in (*ROLES, _BOTH)}
            both = made.pop(_BOTH)
            made |= {} if both is None else {"query": both, "key": both}
            first = {n.removeprefix(_BASE): a for n, a in arrays.items() if n.startswith(_BASE)}
            base = cls.from_arrays(first) if first else None
            weights = arrays.get("calibration")
            calibration = None if weights is None else Calibration.from_array(weights)
            words = json.loads(arrays[_WORDS].tobytes()) if _WORDS in arrays else ()
            return cls(**made, embedding=embedding, base=base, calibration=calibration, words=words)
        except (KeyError, TypeError, ValueError) as error:
            raise FileFormatError(f"these are no whole projections: {error}") from error

    def __reduce__(self) -> tuple[Callable[..., Projections], tuple[object, ...]]:
        return _unpickled, (type(self), self.arrays(), self.embedding)

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
        roles = (
            f"{role}={shown(projection)}"
            for role in ROLES
            if (projection := getattr(self, role)) is not None
        )
        return f"{type(self).__name__}({', '.join(roles)})"


def _unpickled(
    kind: type[Projections], arrays: Mapping[str, Array], embedding: str | None
) -> Projections:
    return kind.from_arrays(arrays, embedding=embedding)


# ---- older files, with several maps Q ("query heads") ----------------------------------------


def has_query_heads(arrays: Iterable[str]) -> bool:
    """Tell whether any of these arrays, by name, are query heads, which are no longer read."""
    return any(name.endswith("query.heads") for name in arrays)


def _without_query_heads(arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arrays of what was there before query heads were learned, and warn."""
    warnings.warn(
        "projections: query heads are no longer supported, so that Q, K and V learned with them "
        "are left out; call fit again",
        stacklevel=2,
    )
    while has_query_heads(arrays):
        arrays = {n.removeprefix(_BASE): a for n, a in arrays.items() if n.startswith(_BASE)}
    return arrays


#: What ``projections=`` may name: those that ship, and none at all.
NAMES = (*SHIPPED, "identity")


class Projected:
    """An embedding of which queries are multiplied with Q and keys with K.

    Args:
        embedding: what gives texts their vectors.
        projections: what they are multiplied with.

    >>> from fuzzydict.embedding.encoder import as_embedding
    >>> from fuzzydict.embedding.projections import Projections
    >>> turned = Projections(query=[[0.0, 1.0], [1.0, 0.0]])
    >>> projected = Projected(as_embedding({"ask": [0.0, 1.0], "key": [1.0, 0.0]}), turned)
    >>> projected.encode_with_trust(["ask"], of_queries=True)[0].tolist(), projected.encode(["key"]).tolist()
    ([[1.0, 0.0]], [[1.0, 0.0]])
    """

    def __init__(self, embedding: WordVectors | Encoder, projections: Projections) -> None:
        self.embedding, self.projections = embedding, projections

    @property
    def calibration(self) -> Calibration:
        """What nearness says: as it was learned with the projections, if it was."""
        return self.projections.calibration or self.embedding.calibration

    @property
    def tells_words(self) -> bool:
        """Whether the vectors are those of the words of `vocabulary`."""
        return self.embedding.tells_words

    @property
    def vocabulary(self) -> Vocabulary:
        """The words that the embedding knows, and those that were learned."""
        return self._knowing.vocabulary

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a vector for each key, (n, r)."""
        return self._keys(self.embedding.encode(texts), texts)

    def encode_with_trust(
        self, texts: Sequence[str], *, of_queries: bool = False
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return a vector for each key or query, (n, r), and how far to trust it, (n,)."""
        vectors, trust = self._knowing.encode_with_trust(texts, of_queries=of_queries)
        return (self._queries if of_queries else self._keys)(vectors, texts), trust

    def trust(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return how far to trust the vector of each text, (n,)."""
        return self._knowing.trust(texts)

    def word_features(self, words: Sequence[str], *, of_query: bool) -> WordFeatures:
        """Return what is needed to compare n words of queries, or of keys, with others."""
        return (self._query_words if of_query else self._key_words)(words)

    @cached_property
    def _key_words(self) -> WordCache:
        return WordCache(partial(self._knowing.projected_features, project=self._keys))

    @cached_property
    def _query_words(self) -> WordCache:
        if self.projections.are_alike:
            return self._key_words
        return WordCache(partial(self._knowing.projected_features, project=self._queries))

    @cached_property
    def _knowing(self) -> WordVectors | Encoder:
        """The embedding, with the learned words."""
        words = self.projections.words
        return self.embedding.with_learned(words) if words else self.embedding

    def background(self, keys: NDArray[np.float32]) -> Background:
        """Return the cosines to expect of unrelated texts."""
        return self._of_words or background_of(keys)

    @cached_property
    def _of_words(self) -> Background | None:
        if not isinstance(self.embedding, WordVectors):
            return None
        words = self.embedding.some_words()
        keys = units(self.encode(words))
        asked, _ = self.encode_with_trust(words, of_queries=True)
        return background_of_cosines(units(asked) @ keys.T)

    def fingerprint(self) -> dict[str, Any]:
        """Return what tells the embedding from others, and these projections."""
        from hashlib import blake2b

        state = blake2b(digest_size=8)
        for name, array in sorted(self.projections.arrays().items()):
            state.update(name.encode("ascii"))
            state.update(np.ascontiguousarray(array).data)
        found = self.embedding.fingerprint()
        return {**found, "name": f"{found['name']}, projected {state.hexdigest()}"}

    def _queries(self, vectors: NDArray[np.float32], texts: Sequence[str]) -> NDArray[np.float32]:
        return self.projections.project_queries(vectors, texts).astype(np.float32, copy=False)

    def _keys(self, vectors: NDArray[np.float32], texts: Sequence[str]) -> NDArray[np.float32]:
        return self.projections.project_keys(vectors, texts).astype(np.float32, copy=False)


def as_projections(projections: Any) -> Projections | None:
    """Return the projections that a ``projections=`` argument names or is; None for its default.

    Raises:
        OptionError: it is neither.
    """
    if projections is None or isinstance(projections, Projections):
        return projections
    if not isinstance(projections, str) or projections not in NAMES:
        raise OptionError(
            f"projections: expected None, one of {', '.join(map(repr, NAMES))}, or Projections, "
            f"got {quoted(projections)}"
        )
    return Projections() if projections == "identity" else Projections.shipped(projections)


def with_projections(
    embedding: WordVectors | Encoder, projections: Projections | None
) -> Embedding:
    """Return the embedding seen through projections, by default those that ship for it.

    Raises:
        OptionError: the projections were learned for another embedding; the message names both.
    """
    if projections is None:
        if embedding is not Brown():
            return embedding
        return Projected(embedding, Projections.shipped("wordnet"))
    if projections.embedding is not None:
        name = embedding.fingerprint()["name"]
        if name != projections.embedding:
            raise OptionError(
                f"projections: these are for {projections.embedding}, and the embedding is "
                f"{name}; give that embedding, or other projections"
            )
    return embedding if projections.is_identity else Projected(embedding, projections)
