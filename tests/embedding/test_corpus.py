"""Text files of one's own: sentences, encodings, and what is told of a bad file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import FileFormatError
from fuzzydict.embedding.word2vec import read_sentences, split_sentences
from fuzzydict.text.words import words


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        (" \n\n \n", []),
        ("It rained. Nobody came!", ["It rained.", "Nobody came!"]),
        ("Did it rain? Yes.", ["Did it rain?", "Yes."]),
        ("It rained\nall day.", ["It rained\nall day."]),
        ("A title\n\nIt rained", ["A title", "It rained"]),
        ("A title\r\n \t\r\nIt rained", ["A title", "It rained"]),
        ('"It rained." "All day."', ['"It rained.', '"All day."']),
        ("It cost 3.5 marks.", ["It cost 3.5 marks."]),
        ("no end", ["no end"]),
    ],
)
def test_sentences_end_with_their_mark_or_paragraph(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences


@given(st.text() | st.text("ab.!? \n\"')"))
def test_no_word_is_lost_between_sentences(text: str) -> None:
    sentences = split_sentences(text)
    assert [word for sentence in sentences for word in words(sentence)] == words(text)
    assert all(sentence == sentence.strip() != "" for sentence in sentences)


def test_files_follow_each_other(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("One. Two.", encoding="utf-8")
    (tmp_path / "b").write_text("\ufeffDrei. Übung", encoding="utf-8")
    (tmp_path / "empty").touch()
    paths = [tmp_path / "b", tmp_path / "empty", tmp_path / "a"]
    assert read_sentences(paths) == ["Drei.", "Übung", "One.", "Two."]
    assert read_sentences([]) == []


def test_a_file_that_is_not_utf_8_says_which_byte(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes("caf\xe9 noir".encode("latin-1"))
    with pytest.raises(FileFormatError, match="latin: byte 3 is not UTF-8"):
        read_sentences([tmp_path / "latin"])


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read_sentences([tmp_path / "nowhere"])
    with pytest.raises(IsADirectoryError):
        read_sentences([tmp_path])
