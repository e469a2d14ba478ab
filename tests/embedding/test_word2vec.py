"""Sentences from text files, and word2vec trained on a text of two themes."""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuzzydict import ArgumentTypeError, FileFormatError, OptionError, ShapeError, WordVectors
from fuzzydict.embedding.word2vec import Model, combine, read_sentences
from fuzzydict.text.words import words

Recipe = tuple[Model, ...]


def test_sentences_end_with_their_mark_and_files_follow_each_other(tmp_path: Path) -> None:
    for text, sentences in {
        " \n\n \n": [],
        "Did it rain? Nobody came!": ["Did it rain?", "Nobody came!"],
        "A title\r\n \t\r\nIt rained": ["A title", "It rained"],
        '"It rained." "All day."': ['"It rained.', '"All day."'],
        "It cost 3.5\nmarks. All of it.": ["It cost 3.5\nmarks.", "All of it."],
        "red shoes\nBlue hats\n": ["red shoes", "Blue hats"],
    }.items():
        (tmp_path / "text").write_bytes(text.encode())
        assert read_sentences([tmp_path / "text"]) == sentences
    (tmp_path / "a").write_text("One. Two.", encoding="utf-8")
    (tmp_path / "b").write_text("\ufeffDrei. Üb", encoding="utf-8")
    (tmp_path / "e").touch()
    assert read_sentences([tmp_path / one for one in "bea"]) == ["Drei.", "Üb", "One.", "Two."]
    (tmp_path / "latin").write_bytes("caf\xe9 noir".encode("latin-1"))
    with pytest.raises(FileFormatError, match="latin: byte 3 is not UTF-8"):
        read_sentences([tmp_path / "latin"])
    for path, kind in ((tmp_path / "nowhere", FileNotFoundError), (tmp_path, IsADirectoryError)):
        with pytest.raises(kind, match=path.name):
            read_sentences([path])


@pytest.fixture(scope="module")
def sentences(themes: Path) -> list[str]:
    return read_sentences([themes])


@pytest.fixture(scope="module")
def trained(sentences: list[str], light: Recipe) -> WordVectors:
    return WordVectors.train(sentences, recipe=light)


def test_words_have_their_counts(trained: WordVectors, sentences: list[str], light: Recipe) -> None:
    occurrences = Counter(word for sentence in sentences for word in words(sentence.lower()))
    expected = {word: count for word, count in occurrences.items() if count >= 2}
    assert dict(zip(trained.words, trained.counts.tolist(), strict=True)) == expected
    assert (np.diff(trained.counts) <= 0).all()
    lists = (sentence.upper().split() for sentence in sentences)
    assert WordVectors.train(lists, recipe=light).vectors.tobytes() == trained.vectors.tobytes()


WORDS = np.random.default_rng(0).normal(size=(40, 12)).astype(np.float32) + np.float32(0.3)


def test_combining_scales_the_strongest_singular_axes() -> None:
    left, singular, _ = np.linalg.svd(WORDS.astype(np.float64), full_matrices=False)
    for size, power in ((1, 0.5), (5, 0.75), (12, 1.0)):
        expected = left[:, :size] * singular[:size] ** power
        expected /= np.linalg.norm(expected, axis=1, keepdims=True)
        found = combine(WORDS, size, power=power)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-5)
    np.testing.assert_array_equal(combine(np.hstack([WORDS[:3], WORDS[:3]]), 20)[:, 3:], 0)


def test_a_seed_gives_the_same_bits(
    trained: WordVectors, sentences: list[str], light: Recipe
) -> None:
    told: list[tuple[int, int]] = []
    again = WordVectors.train(sentences, recipe=light, progress=lambda *step: told.append(step))
    assert told == [(done, 120) for done in range(1, 121)]
    other = WordVectors.train(sentences, recipe=light, seed=2)
    assert again.vectors.tobytes() == trained.vectors.tobytes()
    assert other.words == trained.words
    assert not np.allclose(other.vectors, trained.vectors)


@pytest.mark.skipif(os.name != "posix", reason="a signal can be sent to one thread on POSIX only")
def test_an_interrupt_ends_the_training(sentences: list[str], light: Recipe) -> None:
    told: list[int] = []
    main = threading.main_thread().ident
    assert main is not None

    def progress(done: int, _: int) -> None:
        told.append(done)
        if done == 3:
            signal.pthread_kill(main, signal.SIGINT)

    # A process started in the background ignores interrupts, and its children inherit that.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            WordVectors.train(sentences, recipe=[replace(light[0], epochs=3000)], progress=progress)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(told) < 2000


@pytest.mark.parametrize(
    ("text", "options", "kind", "message"),
    [
        ([], {}, ShapeError, "none of their 0 different words occurs 2 times"),
        (["?!", "..."], {}, ShapeError, "none of their 0 different words occurs 2 times"),
        (["each word comes once"], {}, ShapeError, "none of their 4 different words"),
        ("The ship left.", {}, ArgumentTypeError, "expected a list of sentences"),
        (["red red"], {"size": 0}, OptionError, "size=0"),
        (["red red"], {"recipe": ()}, OptionError, "got 0 models"),
    ],
)
def test_what_cannot_be_trained_on(
    text: Any, options: dict[str, Any], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        WordVectors.train(text, **options)
