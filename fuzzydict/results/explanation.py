"""Why a query finds a key: its words, the best two keys and what speaks for each, the cutoff."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzydict.errors import quoted
from fuzzydict.text.words import shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fuzzydict.embedding.base import Embedding
    from fuzzydict.results.answers import Match
    from fuzzydict.search.score import Parts

__all__ = ["Explanation", "Word", "words_of"]

_WORDS = 6  # lines of words
_LABEL = 24  # characters of a key or word
_WIDE = 40  # characters of a query or key in the first line
_PARTS = ("probability", "spelling", "meaning", "words", "likeness", "nearness", "coverage")
_SHARES = _PARTS[:4]
_LEAST = 0.005  # weight of a stand-in that is shown
_NOTHING = "-"


class Word(NamedTuple):
    """A word of a query, as an embedding sees it.

    Attributes:
        text: the word.
        known: whether the vocabulary has it.
        stand_ins: of a word never seen, the words whose vectors it was given, each with its
            weight, best first; the weights sum to 1. None where nothing is enough like it, and
            of embeddings that do not tell which words they know.
        likeness: how alike the word and the best of them look, from 0 to 1; 1 of a known word.
        trust: how far they are taken for the word, from 0 to 1, which rises with the likeness; the
            rest of its vector is that of its own n-grams. 1 of a known word, and of embeddings
            that do not tell.
    """

    text: str
    known: bool
    stand_ins: tuple[tuple[str, float], ...]
    likeness: float
    trust: float


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a query finds this key, or none. The numbers are those of the lookup itself.

    ``str`` of it is a short text, and notebooks show a table. With a named scorer there are
    scores, but neither parts nor ``none``. Where ``equal``, that key decides, and scores 1 by the
    default score; parts and ``none`` are then what the comparison gives. An equal key that can
    only be found exactly is compared with nothing, and ``best`` is all there is.

    Attributes:
        query: the query as asked.
        words: the words that it was split into, each a `Word`.
        tells_words: whether the embedding tells which words it knows. An encoder of other people
            does not: known are then the words of the Brown corpus, and nothing stands in.
        best: the `Match` of the best key, whether it reaches the cutoff or not.
        best_parts: what makes its probability: ``spelling``, ``meaning`` and ``words`` are the
            probabilities that the key is right for this reason, and add up to its score;
            ``likeness``, ``nearness`` (in standard deviations) and ``coverage`` are what they
            were told from. See `search.score.Parts`.
        runner_up: the `Match` of the next best key; None if there is no other.
        runner_up_parts: what makes its probability.
        none: the probability that no key is right.
        cutoff: the least score of a match; -inf if there is none.
        matches: whether the best key is the answer: it reaches the cutoff, or equals the query.
        equal: whether a key equals the query.
    """

    query: Any
    words: tuple[Word, ...]
    tells_words: bool
    best: Match
    best_parts: Parts | None
    runner_up: Match | None
    runner_up_parts: Parts | None
    none: float | None
    cutoff: float
    matches: bool
    equal: bool

    @property
    def margin(self) -> float | None:
        """By how much the best key outscores the runner-up; None if there is none.

        It is below 0 where a named scorer prefers another key to an equal one.
        """
        if self.runner_up is None:
            return None
        best, other = self.best.score, self.runner_up.score
        return 0.0 if best == other else best - other  # both may be -inf

    def __str__(self) -> str:
        words = [f"  {line}" for line in _aligned(self._word_rows(), texts=2)]
        keys = [f"  {line}" for line in _aligned(self._key_rows(), texts=1)]
        return "\n".join([self._verdict(), *words, *self._notes(), *keys])

    def __repr__(self) -> str:
        return f"<Explanation of {quoted(self.query)}: best {quoted(self.best.key)}>"

    def _repr_html_(self) -> str:
        from html import escape

        from fuzzydict.results.tables import Cell, Number, html_table

        header, *rows = self._key_rows()
        cells: list[list[Cell]] = []
        for name, *numbers in rows:
            shares = map(_share, header[1:], numbers)
            cells.append([name, *map(Number, numbers, shares)])
        words = html_table(self._word_rows(), notes=self._notes()) if self.words else ""
        keys = html_table(cells, header=[header[0], *map(Number, header[1:])])
        return f"<div><p>{escape(self._verdict())}</p>{words}{keys}</div>"

    def _verdict(self) -> str:
        """Say in a line what is found, and why."""
        query, key = quoted(self.query, _WIDE), quoted(self.best.key, _WIDE)
        score, cutoff = f"{self.best.score:.3f}", f"{self.cutoff:.3f}"
        if self.equal:
            return f"{query} is a key, and an equal key decides"
        if self.best.score == -np.inf:
            return f"{query} finds nothing: every key is farther than the scorer's width"
        if not self.matches:
            return f"{query} finds nothing: the best, {key}, has {score}, below the cutoff {cutoff}"
        if self.cutoff == -np.inf:
            return f"{query} finds {key} with {score}; there is no cutoff"
        return f"{query} finds {key} with {score}; the cutoff is {cutoff}"

    def _word_rows(self) -> list[list[str]]:
        shown = self.words if len(self.words) <= _WORDS else self.words[: _WORDS - 1]
        rows = [
            [shortened(word.text, _LABEL), _what_is_known(word, tells_words=self.tells_words)]
            for word in shown
        ]
        rest = len(self.words) - len(shown)
        return [*rows, ["…", f"and {rest} more words"]] if rest else rows

    def _notes(self) -> list[str]:
        if self.tells_words or not self.words:
            return []
        return ["  (the encoder does not tell which words it knows)"]

    def _key_rows(self) -> list[list[str]]:
        """Return a table with a header: a key a row, then what both of them compare with."""
        pairs = [(self.best, self.best_parts), (self.runner_up, self.runner_up_parts)]
        of_parts = [(match.key, parts) for match, parts in pairs if match and parts]
        of_scores = [(match.key, match.score) for match, parts in pairs if match and not parts]
        rows = [["", *_PARTS]] if of_parts else [["", "score"]]
        rows += [
            [_label(key), *map(_number, (parts.probability, *parts))] for key, parts in of_parts
        ]
        rows += [[_label(key), _number(score)] for key, score in of_scores]
        if self.none is not None:
            rows.append(["none of the keys", _number(self.none)])
        if self.margin is not None and not self.equal:
            rows.append(["margin", _number(self.margin)])
        return [[*row, *[""] * (len(rows[0]) - len(row))] for row in rows]


def words_of(query: str, embedding: Embedding) -> tuple[Word, ...]:
    """Return the words of a query, and what an embedding makes of each.

    >>> from fuzzydict.embedding.word_vectors import Brown
    >>> the, colour = words_of("the colour", Brown())
    >>> the.known, colour.known, colour.stand_ins[0][0]
    (True, False, 'color')
    """
    vocabulary = embedding.vocabulary
    words = []
    for token in vocabulary.tokens(query):
        known = vocabulary.knows(token)
        if known or not embedding.tells_words:
            trust = vocabulary.trust(token) if embedding.tells_words else 1.0
            words.append(Word(token, known, (), float(known), trust))
            continue
        found = vocabulary.stand_ins(token)
        names = [vocabulary.words[row] for row in found.rows.tolist()]
        used = tuple(zip(names, found.weights.tolist(), strict=True)) if found.trust else ()
        words.append(Word(token, known, used, found.likeness, found.trust))
    return tuple(words)


def _what_is_known(word: Word, *, tells_words: bool) -> str:
    if not tells_words:
        return "in the Brown corpus" if word.known else "not in the Brown corpus"
    if word.known:
        return "known" if word.trust == 1 else f"known (trust {word.trust:.2f})"
    if not word.stand_ins:
        return "never seen; no known word is like it"
    shares = ", ".join(
        f"{shortened(name, _LABEL)} {weight:.2f}"
        for name, weight in word.stand_ins
        if weight >= _LEAST
    )
    return f"never seen; for it {shares} (likeness {word.likeness:.2f}, trust {word.trust:.2f})"


def _label(key: Any) -> str:
    return shortened(key if isinstance(key, str) else quoted(key), _LABEL)


def _number(value: float | None) -> str:
    return _NOTHING if value is None else f"{value:.3f}"


def _aligned(rows: Sequence[Sequence[str]], *, texts: int) -> list[str]:
    """Return lines with the first columns at the left, which are ``texts``, the others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if i < texts else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _share(column: str, cell: str) -> float:
    """Return how long a bar a cell has: none but for probabilities, and those that are there."""
    return float(cell) if column in _SHARES and cell else 0.0
