"""Why a query matches a key: its words, the parts of the best two scores, and the cutoff."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzydict.errors import quoted
from fuzzydict.results.tables import (
    MOST_ROWS,
    Cell,
    Number,
    Results,
    and_more,
    html_table,
    paragraph,
)
from fuzzydict.text.words import label, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fuzzydict.embedding.base import Embedding
    from fuzzydict.results.answers import Match
    from fuzzydict.search.score import Parts


_WORDS = 6  # lines of words
_LABEL = 24  # characters of a key or word
_WIDE = 40  # characters of a query or key in the first line
_PARTS = ("probability", "spelling", "meaning", "words", "likeness", "nearness", "coverage")
_PROBABILITIES = _PARTS[:4]
_OF_VECTORS = ("meaning", "nearness")  # parts that are not shown where there are no vectors
_LEAST = 0.005  # weight of a stand-in that is shown


class Word(NamedTuple):
    """A word of a query, as an embedding sees it.

    Attributes:
        text: the word.
        known: whether the vocabulary has it.
        stand_ins: the similar known words whose vectors replace an unknown word's, as (word,
            weight), best first; the weights sum to 1. Empty for a known word, if no word is
            similar enough, and for embeddings that do not tell which words they know.
        likeness: the spelling similarity to the best stand-in, from 0 to 1; 1 for a known word.
        trust: the share of the stand-ins in the word's vector, from 0 to 1, which rises with the
            likeness; the rest is the vector of its n-grams. For a known word, how far its vector
            is trusted; 1 for embeddings that do not tell which words they know.
    """

    text: str
    known: bool
    stand_ins: tuple[tuple[str, float], ...]
    likeness: float
    trust: float


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a query matches this key, or no key. The numbers are those of the lookup itself.

    ``str`` of it is a short text, and notebooks show a table. With a named scorer there are
    scores, but neither parts nor ``none``. If ``equal``, that key is the answer, and its default
    score is 1; parts and ``none`` then show what the comparison alone gives. A key without letters
    and digits, or that is not a text, is only found exactly: then only ``best`` is given.

    Attributes:
        query: the query.
        words: the words of the query, each a `Word`.
        tells_words: whether the embedding tells which words it knows. Other people's encoders do
            not: then a word is known if `English` has it, and there are no stand-ins.
        best: the `Match` of the best key, whether it reaches the cutoff or not.
        best_parts: the parts of its score. ``spelling``, ``meaning`` and ``words`` are the
            probabilities that the key is right for this reason, and sum to the score. They are
            computed from ``likeness``, ``nearness`` (in standard deviations) and ``coverage``.
            See `search.score.Parts`.
        runner_up: the `Match` of the second best key; None if there is no other.
        runner_up_parts: the parts of its score.
        none: the probability that no key is right.
        cutoff: the least score of a match; -inf if there is none.
        matches: whether the best key is the answer: it reaches the cutoff, or equals the query.
        equal: whether a key equals the query.
        taught: whether the query is an alias: of the best key, which is then compared with itself,
            or of none if it does not match.
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
    taught: bool = False

    @property
    def margin(self) -> float | None:
        """The score of the best key minus that of the runner-up; None if there is none.

        It is below 0 if a named scorer prefers another key to an equal one.
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
        header, *rows = self._key_rows()
        cells: list[list[Cell]] = []
        for name, *numbers in rows:  # with bars for probabilities
            shares = (
                float(number) if number and part in _PROBABILITIES else 0.0
                for part, number in zip(header[1:], numbers, strict=True)
            )
            cells.append([name, *map(Number, numbers, shares)])
        words = html_table(self._word_rows(), notes=self._notes()) if self.words else ""
        keys = html_table(cells, header=[header[0], *map(Number, header[1:])])
        return f"<div>{paragraph(self._verdict())}{words}{keys}</div>"

    def _what_it_finds(self) -> str:
        if self.equal:
            return "equal key"
        return ("taught: " if self.taught else "") + ("match" if self.matches else "no match")

    def _verdict(self) -> str:
        """Return the line that says what matches, and why."""
        query, key = quoted(self.query, _WIDE), quoted(self.best.key, _WIDE)
        score, cutoff = f"{self.best.score:.3f}", f"{self.cutoff:.3f}"
        if self.equal:
            return f"{query} is a key, and an equal key decides"
        if self.taught:
            return f"{query} was taught: {f'another name of {key}' if self.matches else 'no key'}"
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
        """Return a header, a row for each key, and rows for ``none`` and the margin."""
        without = _OF_VECTORS if self.best_parts and self.best_parts.nearness is None else ()
        names = [name for name in _PARTS if name not in without]
        pairs = [(self.best, self.best_parts), (self.runner_up, self.runner_up_parts)]
        rows = [["", *names]] if self.best_parts else [["", "score"]]
        for match, parts in pairs:
            if match:
                of_parts = [getattr(parts, name) for name in names] if parts else []
                numbers = of_parts or [match.score]
                rows.append([label(match.key), *map(_number, numbers)])
        if self.none is not None:
            rows.append(["none of the keys", _number(self.none)])
        if self.margin is not None and not (self.equal or (self.taught and self.matches)):
            rows.append(["margin", _number(self.margin)])
        return [[*row, *[""] * (len(rows[0]) - len(row))] for row in rows]


class Explanations(Results[Explanation]):
    """The explanations of several queries, which notebooks show as a table."""

    def _repr_html_(self) -> str:
        shown, score, none = self[:MOST_ROWS], Number("score"), Number("none of the keys")
        rows = [
            [
                *(
                    label(one.query),
                    one._what_it_finds(),
                    *_scored(one.best),
                    *_scored(one.runner_up),
                ),
                Number(_number(one.none), one.none or 0.0),
            ]
            for one in shown
        ]
        header: list[Cell] = ["query", "", "best key", score, "runner-up", score, none]
        return html_table(rows, header=header, notes=and_more(len(self) - len(shown), "queries"))


def _scored(match: Match | None) -> list[Cell]:
    return ["", Number("")] if match is None else [label(match.key), Number(_number(match.score))]


def words_of(query: str, embedding: Embedding) -> tuple[Word, ...]:
    """Return the words of a query, as an embedding sees them.

    >>> from fuzzydict.embedding.word_vectors import Brown
    >>> the, colour = words_of("the colour", Brown())
    >>> the.known, colour.known, colour.stand_ins[0][0]
    (True, False, 'color')
    """
    vocabulary = embedding.vocabulary
    if not len(vocabulary):  # it tells nothing about any word
        return ()
    words, embedded = [], vocabulary.embedded(query)
    for token in vocabulary.tokens(query):
        known = vocabulary.knows(token)
        if known or not embedding.tells_words:
            trust = vocabulary.trust(token) if embedding.tells_words else 1.0
            words.append(Word(token, known, (), float(known), trust))
            continue
        found = vocabulary.stand_ins(token if token in embedded else query)
        names = list(map(vocabulary.word, found.rows.tolist()))
        used = tuple(zip(names, found.weights.tolist(), strict=True)) if found.trust else ()
        words.append(Word(token, known, used, found.likeness, found.trust))
    return tuple(words)


def _what_is_known(word: Word, *, tells_words: bool) -> str:
    if not tells_words:
        return "an English word" if word.known else "no English word that is known"
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


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _aligned(rows: Sequence[Sequence[str]], *, texts: int) -> list[str]:
    """Return rows as lines, with the first ``texts`` columns aligned left, the others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if i < texts else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
