"""Texts as numbers, a symbol for each character."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from fuzzydict.errors import ArgumentTypeError, OptionError
from fuzzydict.recurrent import Integers

__all__ = ["END", "Alphabet"]

#: The symbol 0, which is no character: it ends a text, pads it, and stands before its first.
END = 0


class Alphabet:
    """The characters that occur in some texts, each with its number from 1; 0 is the ``END``.

    Example:
        >>> letters = Alphabet(["abba", "cab"])
        >>> symbols, lengths = letters.encode(["cab", "a"])
        >>> symbols
        array([[3, 1, 2, 0],
               [1, 0, 0, 0]])
        >>> lengths, letters.decode([3, 1, 2, 0, 1])
        (array([3, 1]), 'cab')
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self.characters = sorted(set().union(*texts))
        self._numbers = {character: i for i, character in enumerate(self.characters, 1)}

    def __len__(self) -> int:
        return len(self.characters) + 1

    def encode(self, texts: Sequence[str]) -> tuple[Integers, Integers]:
        """Return the symbols (B, T) of the texts, each with one ``END`` or more, and lengths (B,).

        Raises:
            OptionError: A text has a character that is not in the alphabet.
        """
        lengths = np.array([len(text) for text in texts], np.intp)
        symbols = np.full((len(texts), int(lengths.max(initial=0)) + 1), END)
        for row, text in zip(symbols, texts, strict=True):
            try:
                row[: len(text)] = [self._numbers[character] for character in text]
            except KeyError as error:
                raise OptionError(
                    f"{text!r} has the character {error.args[0]!r}, which no text had that this "
                    f"alphabet was made of; it has {''.join(self.characters)!r}"
                ) from None
        return symbols, lengths

    def decode(self, symbols: Iterable[int]) -> str:
        """Return the text that symbols spell up to the first ``END``."""
        text = ""
        for symbol in symbols:
            if symbol == END:
                break
            text += self.characters[symbol - 1]
        return text


def check_texts(name: str, texts: Sequence[str]) -> list[str]:
    """Return the texts as a list, if that is what they are.

    Raises:
        ArgumentTypeError: It is a single text, or one of them is no text.
    """
    if isinstance(texts, str):
        raise ArgumentTypeError(f"{name} must be a list of texts, got the text {texts!r}")
    listed = list(texts)
    for i, text in enumerate(listed):
        if not isinstance(text, str):
            raise ArgumentTypeError(f"{name}[{i}] must be a text, got {type(text).__name__}")
    return listed
