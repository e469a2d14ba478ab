"""The Brown corpus and the vectors that ship: the words and counts are those of the corpus."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import nltk
import numpy as np
import pytest

from fuzzydict import Brown, MissingCorpusError, WordVectors
from fuzzydict.embedding.word_vectors import brown_sentences
from fuzzydict.text.words import words

SLOW = "FUZZYDICT_SLOW"


def test_the_vectors_are_opened_once(brown: WordVectors) -> None:
    assert Brown() is brown


def test_the_vectors_are_whole(brown: WordVectors) -> None:
    assert len(brown) == len(set(brown.words)) == len(brown.counts) == len(brown.vectors)
    assert (np.diff(brown.counts) <= 0).all()
    assert brown.counts.min() == 2
    np.testing.assert_allclose(np.linalg.norm(brown.vectors, axis=1), 1, atol=0.01)


@pytest.mark.parametrize(
    ("query", "near", "far"),
    [
        ("car", "truck", "church"),
        ("red", "blue", "government"),
        ("king", "queen", "engine"),
        ("monday", "tuesday", "water"),
        ("river", "lake", "theory"),
    ],
)
def test_words_of_a_kind_are_nearer(brown: WordVectors, query: str, near: str, far: str) -> None:
    one, two, three = brown.encode([query, near, far])
    assert one @ two > one @ three + 0.1


def test_the_corpus_has_its_sentences(brown_corpus: list[list[str]]) -> None:
    assert len(brown_corpus) == 57_340
    assert sum(map(len, brown_corpus)) == 1_161_192
    assert brown_corpus[0][:5] == ["The", "Fulton", "County", "Grand", "Jury"]


def test_the_words_that_ship_are_those_of_the_corpus(
    brown: WordVectors, brown_corpus: list[list[str]]
) -> None:
    occurrences = Counter(
        word for sentence in brown_corpus for word in words(" ".join(sentence).lower())
    )
    expected = {word: count for word, count in occurrences.items() if count >= 2}
    assert dict(zip(brown.words, brown.counts.tolist(), strict=True)) == expected


@pytest.mark.skipif(SLOW not in os.environ, reason=f"it trains for minutes; set {SLOW}=1 to run it")
def test_training_again_gives_what_ships(brown: WordVectors, brown_corpus: list[list[str]]) -> None:
    """Byte for byte on the same processor; another one rounds otherwise, and training amplifies."""
    trained = WordVectors.train(brown_corpus)
    assert trained.words == brown.words
    assert trained.counts.tolist() == brown.counts.tolist()
    a, b = (v / np.linalg.norm(v, axis=1)[:, None] for v in (trained.vectors, brown.vectors))
    assert (a * b).sum(axis=1).min() > 0.99


# ---- a machine without the corpus ---------------------------------------------------------


def run_without_corpus(program: str, folder: Path) -> str:
    """Return what a new process prints in which nltk looks for data only in ``folder``."""
    start = "import sys, nltk; nltk.data.path[:] = [sys.argv[1]]\n"
    command = [sys.executable, "-c", start + program, str(folder)]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout


def test_a_missing_corpus_says_where_it_was_sought_and_how_to_get_it(tmp_path: Path) -> None:
    message = run_without_corpus(
        "from fuzzydict.embedding.word_vectors import brown_sentences\n"
        "try: brown_sentences()\n"
        "except LookupError as error: print(type(error).__name__, error)\n",
        tmp_path,
    )
    assert message.startswith("MissingCorpusError the Brown corpus is not on this machine")
    assert str(tmp_path) in message
    assert message.endswith("fetch it with: python -m nltk.downloader brown\n")


@pytest.mark.parametrize("fetched", [False, True])
def test_a_download_that_brings_nothing_ends_with_the_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fetched: bool
) -> None:
    asked: list[str] = []

    def download(name: str, **_: object) -> bool:
        asked.append(name)
        return fetched

    lazy = nltk.corpus.util.LazyCorpusLoader("brown", nltk.corpus.CategorizedTaggedCorpusReader)
    monkeypatch.setattr(nltk.corpus, "brown", lazy)
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    monkeypatch.setattr(nltk, "download", download)
    with pytest.raises(MissingCorpusError, match=r"python -m nltk\.downloader brown$"):
        brown_sentences(download=True)
    assert asked == ["brown"]


@pytest.mark.usefixtures("brown_corpus")
def test_a_corpus_that_is_there_is_not_downloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nltk, "download", lambda *_, **__: pytest.fail("it was downloaded"))
    assert len(brown_sentences(download=True)) == 57_340
