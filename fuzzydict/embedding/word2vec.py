"""Training of word vectors: sentences are read, and several word2vec models are combined."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from fuzzydict._arrays import units
from fuzzydict._files import bytes_of, decoded
from fuzzydict.errors import ArgumentTypeError, MissingCorpusError, OptionError, ShapeError, quoted
from fuzzydict.text.words import words

# A sentence ends at its full stop, question or exclamation mark, or with its paragraph.
_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+|\n\s*\n")
_LINES = 5  # on which at least one sentence ends inside a line, where lines are wrapped


def read_sentences(paths: Iterable[Path]) -> list[str]:
    """Return the sentences of text files in UTF-8, by their punctuation and blank lines.

    Each line of a file ends a sentence if few lines, less than a fifth, have an end inside.
    """
    texts = (decoded(bytes_of(path), path).removeprefix("\ufeff") for path in paths)
    parts = (part for text in texts for whole in _wholes(text) for part in _END.split(whole))
    return [one for part in parts if (one := part.strip())]


def _wholes(text: str) -> list[str]:
    """Return the lines of a text if a sentence is on each, or all of it if lines are wrapped."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    wrapped = sum(bool(_END.search(line)) for line in lines)
    return [text] if _LINES * wrapped >= len(lines) else lines


@dataclass(frozen=True)
class Model:
    """A word2vec model of a recipe; the first attributes are as in gensim."""

    sg: bool
    window: int
    vector_size: int
    epochs: int
    sample: float
    negative: int = 10
    #: Whether to train on stems (Snowball), so that a word's inflections have one vector.
    stems: bool = False
    #: How often to train it, each time from the next seed; combined, their noise is reduced.
    copies: int = 1


# Chosen by measurement; the table is in data/README.md.
RECIPE = (
    Model(sg=True, window=5, vector_size=100, epochs=20, sample=1e-4, copies=2),
    Model(sg=True, window=10, vector_size=150, epochs=20, sample=1e-4, stems=True, copies=2),
    Model(sg=False, window=2, vector_size=100, epochs=60, sample=1e-4, stems=True, copies=2),
    Model(sg=False, window=2, vector_size=100, epochs=60, sample=1e-4),
)
#: The length E of the combined vectors.
SIZE = 350
#: The axes of the combined vectors are scaled by this power of their singular values.
POWER = 0.75


def train(
    sentences: Sequence[Sequence[str]],
    recipe: Sequence[Model],
    size: int | None,
    min_count: int,
    seed: int,
    progress: Callable[[int, int], None] | None,
) -> tuple[list[str], NDArray[np.float32], NDArray[np.int64]]:
    """Return V words, their vectors by `combine`, (V, E), and counts; see `WordVectors.train`."""
    runs = [(model, (seed + copy) % 2**32) for model in recipe for copy in range(model.copies)]
    if not runs or min_count < 1 or not 0 <= seed < 2**32 or (size is not None and size < 1):
        got = f"{len(runs)} models, {size=}, {min_count=}, {seed=}"
        raise OptionError(
            f"expected a recipe of one Model or more, size and min_count of 1 or more, seed from "
            f"0 to 2**32 - 1; got {got}"
        )
    occurrences = Counter(word for sentence in sentences for word in sentence)
    words = [word for word, times in occurrences.most_common() if times >= min_count]
    if not words:
        what = f"none of their {len(occurrences)} different words occurs {min_count} times or more"
        raise ShapeError(f"sentences: {what}; give more text, or a smaller min_count")
    texts = [(sentences, words)]  # and as stems, if a model is trained on these
    if any(model.stems for model in recipe):
        from nltk.stem.snowball import SnowballStemmer

        stem = SnowballStemmer("english").stem
        stems = {word: stem(word) for word in occurrences}
        stemmed = [[stems[word] for word in sentence] for sentence in sentences]
        texts.append((stemmed, [stems[word] for word in words]))
    parts = _of_models(
        [(model, seed, *texts[model.stems]) for model, seed in runs], min_count, progress
    )
    side_by_side = np.hstack(parts) / np.float32(len(parts) ** 0.5)
    counts = np.array([occurrences[word] for word in words], np.int64)
    return words, side_by_side if size is None else combine(side_by_side, size), counts


def _of_models(
    runs: Sequence[tuple[Model, int, Sequence[Sequence[str]], list[str]]],
    min_count: int,
    progress: Callable[[int, int], None] | None,
) -> list[NDArray[np.float32]]:
    """Return what models make of words, (V, E) each, given their seeds, sentences and words."""
    from concurrent.futures import ThreadPoolExecutor

    from gensim.models import Word2Vec
    from gensim.models.callbacks import CallbackAny2Vec

    errors, ended, lock = list[BaseException](), count(1), Lock()
    total = sum(model.epochs for model, *_ in runs)

    class Tell(CallbackAny2Vec):  # type: ignore[misc]
        def on_epoch_end(self, model: object) -> None:  # noqa: ARG002
            with lock:
                if errors:  # of another thread, or Ctrl-C
                    raise errors[0]
                try:
                    done = next(ended)
                    if progress is not None:
                        progress(done, total)
                except BaseException as error:
                    errors.append(error)
                    raise

    def vectors(run: tuple[Model, int, Sequence[Sequence[str]], list[str]]) -> NDArray[np.float32]:
        model, seed, text, words = run
        names = ("sg", "window", "vector_size", "epochs", "sample", "negative")
        options = {name: getattr(model, name) for name in names}
        more = {"min_count": min_count, "seed": seed, "workers": 1, "callbacks": [Tell()]}
        return units(Word2Vec(text, **options, **more).wv[words])

    # At the same time, each by one worker: more would update in random order.
    with ThreadPoolExecutor() as pool:
        try:
            return list(pool.map(vectors, runs))
        except BaseException as error:  # leaving the pool waits for its threads
            errors.append(error)
            raise


def combine(
    vectors: NDArray[np.float32], size: int = SIZE, *, power: float = POWER
) -> NDArray[np.float32]:
    """Return vectors (V, E) on their ``size`` strongest axes, scaled to unit length, (V, size).

    Concatenated models agree on the strongest axes, and the noise of each is lost (Yin and
    Schütze, 2016, "Learning Word Meta-Embeddings"). An axis of singular value s is scaled to
    ``s ** power``. Below 1, the strongest axes count less (Caron, 2001, "Experiments with LSA
    Scoring: Optimal Rank and Basis"). There are E axes at most.
    """
    rows = vectors.astype(np.float64)
    # In 64 bits, so that the order of sums makes no difference after rounding to 32.
    squares, axes = np.linalg.eigh(rows.T @ rows)
    squares, axes = squares[::-1][:size], axes[:, ::-1][:, :size]
    there = squares > squares[0] * 1e-12
    scales = np.where(there, np.where(there, squares, 1.0) ** ((power - 1) / 2), 0.0)
    return units(rows @ (axes * scales)).astype(np.float32)


def words_of_sentence(sentence: str | Sequence[str]) -> list[str]:
    """Return the words of a sentence, which is a text, or a list of the tokens of a corpus."""
    try:
        text = sentence if isinstance(sentence, str) else " ".join(sentence)
    except TypeError:
        raise ArgumentTypeError(
            f"sentences: expected each to be a text or a list of words, got {quoted(sentence)}"
        ) from None
    # In prose, unlike in identifiers, "McDonald" is one word, and the U.S. is not the word "us".
    return words(text.lower().replace(".", " ").replace("&", " "))


def brown_sentences(*, download: bool = False) -> list[list[str]]:
    """Return the 57,340 sentences of the Brown corpus, each a list of its tokens.

    If it is not here, nltk fetches it, with ``download``, or this raises MissingCorpusError.
    """
    import nltk
    from nltk.corpus import brown

    try:
        return [list(sentence) for sentence in brown.sents()]
    except LookupError as error:
        if download and nltk.download("brown", quiet=True):
            return brown_sentences()
        problem = "nltk could not fetch the Brown corpus; check the connection and try again with"
        if not download:
            looked = f"nltk looked for corpora/brown in {', '.join(nltk.data.path)}"
            problem = f"the Brown corpus is not on this machine ({looked}); fetch it with"
        raise MissingCorpusError(f"{problem}: python -m nltk.downloader brown") from error
