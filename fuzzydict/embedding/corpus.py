"""Text files -> sentences, for training on a corpus of one's own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fuzzydict._files import decoded

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["read_sentences", "split_sentences"]

# A sentence ends at its full stop, question or exclamation mark, or with its paragraph.
_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+|\n\s*\n")


def split_sentences(text: str) -> list[str]:
    """Return the sentences of ``text``, by its punctuation and blank lines.

    >>> split_sentences("It rained. Nobody came!")
    ['It rained.', 'Nobody came!']
    """
    return [sentence for part in _END.split(text) if (sentence := part.strip())]


def read_sentences(paths: Iterable[Path]) -> list[str]:
    """Return the sentences of text files, in UTF-8.

    Raises:
        OSError: a file cannot be read.
        FileFormatError: a file is not UTF-8.
    """
    sentences: list[str] = []
    for path in paths:
        text = decoded(path.read_bytes(), path).removeprefix("\ufeff")
        sentences += split_sentences(text)
    return sentences
