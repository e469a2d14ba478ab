"""Single word2vec models on a corpus, each trained once, and joined as a recipe would."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fuzzydict import WordVectors
from fuzzydict.embedding.word2vec import POWER, Model, Trained, brown_sentences, combine, train
from fuzzydict.text.words import words

__all__ = ["Corpus", "Part", "Timed", "Trainer", "brown_corpus", "join"]


@dataclass(frozen=True)
class Part:
    """One model, and what it is trained on.

    ``text`` is "tokens" (as the corpus has them), "sentences" (of words in lower case, as
    `WordVectors.train` makes them), or "documents" (those words, each document one context).
    """

    model: Model
    text: str = "sentences"
    min_count: int = 2
    seed: int = 1


class Corpus(NamedTuple):
    """The same text in three forms, each a list of lists of words; see `Part`."""

    tokens: list[list[str]]
    sentences: list[list[str]]
    documents: list[list[str]]


class Timed(NamedTuple):
    """What was trained, and the seconds of one core that it took."""

    trained: Trained
    seconds: float


def brown_corpus() -> Corpus:
    """Return the Brown corpus as nltk finds it.

    Raises:
        MissingCorpusError: it is not on this machine.
    """
    tokens = brown_sentences()
    from nltk.corpus import brown

    documents = [_words(brown.words(file)) for file in brown.fileids()]
    return Corpus(tokens, [_words(sentence) for sentence in tokens], documents)


def _words(tokens: Sequence[str]) -> list[str]:
    return words(" ".join(tokens).lower())


@dataclass
class Trainer:
    """Trains a part when it is first asked for; with a ``folder`` it keeps it there as well."""

    corpus: Corpus
    folder: Path | None = None
    tell: Callable[[str], None] = print
    _known: dict[Part, Timed] = field(default_factory=dict)

    def __call__(self, part: Part) -> Timed:
        """Return the vectors of ``part``, of length one each."""
        if part not in self._known:
            file = None if self.folder is None else self.folder / f"{self._name(part)}.npz"
            if file is not None and file.exists():
                self._known[part] = _read(file)
            else:
                self._known[part] = self._train(part)
                if file is not None:
                    _write(file, self._known[part])
        return self._known[part]

    def _train(self, part: Part) -> Timed:
        self.tell(f"training {part}")
        texts: list[list[str]] = getattr(self.corpus, part.text)
        start = time.process_time()  # of this process alone, whatever else the machine does
        models = [part.model]
        trained = train(texts, models, size=None, min_count=part.min_count, seed=part.seed)
        return Timed(trained, time.process_time() - start)

    def _name(self, part: Part) -> str:
        """Return a name that changes with all that the vectors depend on."""
        text = hashlib.sha256()
        for line in getattr(self.corpus, part.text):
            text.update("\t".join(line).encode() + b"\n")
        everything = (part, version("gensim"), version("numpy"), text.hexdigest())
        return hashlib.sha256(repr(everything).encode()).hexdigest()[:20]


def join(
    parts: Sequence[Trained],
    *,
    size: int | None = None,
    power: float = POWER,
    centred: float = 0.0,
) -> WordVectors:
    """Put the vectors of parts with the same words side by side; all have the same say.

    ``centred`` is the share of the mean vector that is subtracted from each. With a ``size`` they
    are combined to so many numbers, as training does.
    """
    first = parts[0]
    if any(part.words != first.words for part in parts):
        raise ValueError("the parts do not have the same words in the same order")
    vectors = np.hstack([part.vectors for part in parts]) / np.float32(len(parts) ** 0.5)
    vectors -= np.float32(centred) * vectors.mean(axis=0)
    if size is not None:
        vectors = combine(vectors, size, power=power)
    return WordVectors(first.words, vectors, first.counts)


def _write(file: Path, timed: Timed) -> None:
    """Write to a file beside it first, so that an interruption leaves no half of one."""
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_suffix(".partial")
    names, counts, vectors = timed.trained
    text = np.frombuffer(json.dumps(names).encode("ascii"), np.uint8)
    with partial.open("wb") as stream:
        np.savez(stream, words=text, counts=counts, vectors=vectors, seconds=timed.seconds)
    partial.replace(file)


def _read(file: Path) -> Timed:
    with np.load(file, allow_pickle=False) as arrays:
        names = json.loads(arrays["words"].tobytes())
        trained = Trained(names, arrays["counts"], arrays["vectors"])
        return Timed(trained, float(arrays["seconds"]))
