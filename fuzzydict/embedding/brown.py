"""The Brown corpus, and the vectors trained on it that ship with the package."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from fuzzydict.embedding.word_vectors import WordVectors
from fuzzydict.errors import MissingCorpusError

__all__ = ["Brown", "brown_sentences"]

_SHIPPED = "brown.vectors"


@cache
def Brown() -> WordVectors:  # noqa: N802 - it names the thing that one gets, as a class would
    """Return the word vectors that ship with the package, memory-mapped and opened once.

    They are word2vec trained on the Brown corpus (W. N. Francis and H. Kučera, 1964), which is
    licensed for non-commercial use; ``data/README.md`` tells how they were made.

    >>> vectors = Brown()
    >>> vectors.words[:3]
    ['the', 'of', 'and']
    >>> vectors.encode(["color", "colour"]).shape == (2, vectors.size)
    True
    """
    (folder,) = import_module("fuzzydict.data").__path__
    return WordVectors.load(f"{folder}/{_SHIPPED}")


def brown_sentences(*, download: bool = False) -> list[list[str]]:
    """Return the 57,340 sentences of the Brown corpus, each a list of its tokens.

    Args:
        download: fetch the corpus with nltk first, where it is not on this machine.

    Raises:
        MissingCorpusError: the corpus is not there, or could not be fetched.
    """
    import nltk
    from nltk.corpus import brown

    try:
        return [list(sentence) for sentence in brown.sents()]
    except LookupError as error:
        if not download:
            raise MissingCorpusError(
                "the Brown corpus is not on this machine (nltk looked for corpora/brown in "
                f"{', '.join(nltk.data.path)}); fetch it with: python -m nltk.downloader brown"
            ) from error
    if not nltk.download("brown", quiet=True):
        raise MissingCorpusError(
            "nltk could not fetch the Brown corpus; check the connection and try again with: "
            "python -m nltk.downloader brown"
        )
    return brown_sentences()
