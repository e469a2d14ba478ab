"""Why a query matches a key: its words, the parts of the best two scores, and the cutoff."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from fuzzydict.errors import quoted
from fuzzydict.results.answers import Match, below
from fuzzydict.results.tables import Cell, Number, Results, aligned, html_table, paragraph
from fuzzydict.search.keys import exact_text
from fuzzydict.search.score import Meaning, Parts
from fuzzydict.text.words import label, shortened

_WORDS, _LABEL = 6, 24  # lines of words, and characters of a key or word
_WIDE = 40  # characters of a query or key in the first line
_PARTS = ("spelling", "meaning", "words", "against", "rivals", "base")


class Word(NamedTuple):
    """A word of a query, as it is compared.

    Attributes:
        text: the word, in its first spelling: "color" for "colour".
        known: whether the table of words has it.
        stand_in: the known word of which it is a form or a slip, if there is one.
        trust: how far its vector is trusted, from 0 to 1; below 1 for a stand-in.
    """

    text: str
    known: bool
    stand_in: str | None
    trust: float


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a query matches this key, or no key. The numbers are those of the lookup itself.

    With a named scorer there are scores, but neither parts nor ``none``. If ``equal``, parts and
    ``none`` show what the comparison alone gives. A key that is only found exactly has neither. In
    a list of queries, one that has nothing to compare has no ``best``.

    Attributes:
        query: the query.
        words: the words of the query, each a `Word`.
        tells_words: whether the vectors of texts are made of those of words. Other people's
            encoders take whole texts: then the words are those of `English`, compared beside.
        best: the `Match` of the best key, at the cutoff or below; None if nothing was compared.
        best_parts: what speaks for it and against it, in log-odds that add up to those of its
            score, see `search.score.Parts`.
        runner_up: the `Match` of the second best key; None if there is no other.
        runner_up_parts: the parts of its score.
        none: the probability that no key is right.
        cutoff: the least score of a match; -inf if there is none.
        matches: whether the best key is the answer: it reaches the cutoff, or equals the query.
        equal: whether a key equals the query.
        taught: whether the query is an alias: of the best key, which is then compared with itself,
            or of none if it does not match.
        pools: whether the dict answers with the pooled value, whose cutoff is lower.
        synonyms: those of `FuzzyDict.synonyms` that were applied, to the query or the best key.
    """

    query: Any
    words: tuple[Word, ...]
    tells_words: bool
    best: Match | None
    best_parts: Parts | None
    runner_up: Match | None
    runner_up_parts: Parts | None
    none: float | None
    cutoff: float
    matches: bool
    equal: bool
    taught: bool = False
    pools: bool = False
    synonyms: Mapping[str, str] = field(default_factory=dict)

    @property
    def margin(self) -> float | None:
        """The score of the best key minus that of the runner-up; None if there is none.

        It is below 0 if a named scorer prefers another key to an equal one.
        """
        if self.best is None or self.runner_up is None:
            return None
        best, other = self.best.score, self.runner_up.score
        return 0.0 if best == other else best - other  # both may be -inf

    def __str__(self) -> str:
        words = [f"  {line}" for line in aligned(self._word_rows(), texts=2)]
        keys = [f"  {line}" for line in aligned(self._key_rows(), texts=1)] if self.best else []
        return "\n".join([self._verdict(), *words, *self._notes(), *keys])

    def __repr__(self) -> str:
        best = "no key" if self.best is None else f"best {quoted(self.best.key)}"
        return f"<Explanation of {quoted(self.query)}: {best}>"

    def _repr_html_(self) -> str:
        header, *rows = self._key_rows()
        cells: list[list[Cell]] = []
        for name, score, *numbers in rows:  # with a bar for the score, if it is a probability
            share = float(score) if self.best_parts and score else 0.0
            cells.append([name, Number(score, share), *map(Number, numbers)])
        keys = html_table(cells, header=[header[0], *map(Number, header[1:])])
        has_words = self.words or self.synonyms
        words = html_table(self._word_rows(), notes=self._notes()) if has_words else ""
        return f"<div>{paragraph(self._verdict())}{words}{keys}</div>"

    def _verdict(self) -> str:
        """Return the line that says what matches, and why."""
        query = quoted(self.query, _WIDE)
        if self.best is None:
            if self.taught:
                return f"{query} was taught: no key"
            return f"{query} finds nothing: it has no letters or digits to compare"
        key = quoted(self.best.key, _WIDE)
        score, cutoff = f"{self.best.score:.3f}", f"{self.cutoff:.3f}"
        if self.equal and (self.none is not None or not self.pools):
            return f"{query} is a key, and an equal key decides"
        if self.taught:
            return f"{query} was taught: {f'another name of {key}' if self.matches else 'no key'}"
        if self.best.score == -np.inf:
            return f"{query} finds nothing: every key is farther than the scorer's width"
        if not self.matches:
            told = below(self.best.score, self.cutoff)
            return f"{query} finds nothing: the best, {key}, has {told}"
        end = "there is no cutoff" if self.cutoff == -np.inf else f"the cutoff is {cutoff}"
        if self.pools:
            return f"{query} gives the pooled value; {key} weighs most, with score {score}; {end}"
        return f"{query} finds {key} with {score}; {end}"

    def _word_rows(self) -> list[list[str]]:
        count = len(self.words) if len(self.words) <= _WORDS else _WORDS - 1
        rows = []
        for text, known, stand_in, trust in self.words[:count]:
            if stand_in is not None:
                what = f"never seen; for it {shortened(stand_in, _LABEL)}"
            elif text.isdecimal():
                what = "a number, which has no meaning of its own"
            else:
                what = "known" if known else "never seen; no known word is like it"
            if stand_in is not None or (known and trust != 1):
                what += f" (trust {trust:.2f})"
            rows.append([shortened(text, _LABEL), what])
        rest = len(self.words) - count
        return [*rows, ["…", f"and {rest} more words"]] if rest else rows

    def _notes(self) -> list[str]:
        notes = []
        for name, text in self.synonyms.items():
            what = f"read as {shortened(text, _LABEL)}" if text.strip() else "left out"
            notes.append(f"  synonym: {shortened(name, _LABEL)} is {what}")
        if self.words and not self.tells_words:
            notes.append("  (the encoder compares whole texts; these words are compared beside it)")
        return notes

    def _key_rows(self) -> list[list[str]]:
        """Return a header, a row for each key, and rows for ``none`` and the margin."""
        names = _PARTS if self.best_parts else ()
        rows = [["", "score", *names]]
        for match, parts in ((self.best, self.best_parts), (self.runner_up, self.runner_up_parts)):
            if match:
                told = [_number(getattr(parts, name, None), "+z.2f") for name in names]
                rows.append([label(match.key), _number(match.score), *told])
        rest = [""] * len(names)
        if self.none is not None:
            rows.append(["none of the keys", _number(self.none), *rest])
        if self.margin is not None and not (self.equal or (self.taught and self.matches)):
            rows.append(["margin", _number(self.margin), *rest])
        return rows


class Explanations(Results[Explanation]):
    """The explanations of several queries, which notebooks show as a table."""

    def _repr_html_(self) -> str:
        (shown, notes), score = self._first("queries"), Number("score")
        rows: list[list[Cell]] = []
        for one in shown:
            finds = "match" if one.matches else "no match"
            finds = "equal key" if one.equal else f"taught: {finds}" if one.taught else finds
            row: list[Cell] = [label(one.query), finds]
            for match in (one.best, one.runner_up):
                row += [label(match.key), Number(_number(match.score))] if match else ["", ""]
            rows.append([*row, Number(_number(one.none), one.none or 0.0)])
        header: list[Cell] = ["query", "", "best key", score, "runner-up", score]
        return html_table(rows, header=[*header, Number("none of the keys")], notes=notes)


def words_of(query: str, meaning: Meaning) -> tuple[Word, ...]:
    """Return the words of a query, as it is compared; none where words have no vectors."""
    words, vectors = list[Word](), meaning.table.vectors
    if vectors is None:
        return ()
    for word in meaning.table.queries([exact_text(query)])[0].words:
        row, _, is_known, trust = vectors.find(word.text)
        stand_in = vectors.words[row] if trust and not is_known else None
        words.append(Word(word.text, is_known, stand_in, trust))
    return tuple(words)


def _number(value: float | None, form: str = ".3f") -> str:
    return "-" if value is None else f"{value:{form}}"
