"""The words of texts in a table, filled as the texts are compared."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzydict._arrays import different
from fuzzydict.embedding.base import WordFeatures
from fuzzydict.text.abbreviations import Abbreviations, Runs
from fuzzydict.text.contradictions import Contradictions
from fuzzydict.text.forms import Forms
from fuzzydict.text.similarity import Spellings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from fuzzydict.embedding.base import Embedding

#: The first words of a text are compared one by one.
WORDS = 32
_RARE = 0.97  # weight of a word from which on it may be an abbreviation: "prod", not "car"
_UNSURE = 0.9  # the factor for the likeness of forms of a word never seen
_GROWTH = 9 / 8  # room made at a time for features of words
_WHOLE = 4096  # texts that are kept as one table; of more, a table of a few is made for each query


class Strings:
    """n strings, prepared to be compared by their spelling.

    Args:
        strings: n plain words or texts; more may be appended to the list.
    """

    def __init__(self, strings: list[str]) -> None:
        self.strings = strings
        self.spellings = Spellings(strings)
        self.forms, self.abbreviations = Forms(strings), Abbreviations(strings)

    def of(self, places: NDArray[np.intp]) -> list[str]:
        """Return c of the strings."""
        strings = self.strings
        return [strings[place] for place in places.tolist()]

    def raise_derived(
        self,
        asked: Sequence[str],
        are_known: Sequence[bool],
        places: NDArray[np.intp],
        weight: Callable[[str], float],
        alike: NDArray[np.float32],
        owners: NDArray[np.intp] | None = None,
    ) -> None:
        """Raise how alike L texts and c strings are, (L, c), if they are forms or abbreviations.

        A word never seen may be misspelled: the rules say less of it, and none makes another word
        an abbreviation of it.

        Args:
            asked: L words or phrases.
            are_known: whether each is a known word.
            places: the places of the c strings of each, (L, c), or of all, (c,); or of the string
                of each pair, (P,).
            weight: returns the weight of a word in a phrase.
            alike: what is raised, (L, c), or (P,).
            owners: the number of the text of each pair, (P,), if pairs are compared.
        """

        def may_abbreviate(row: int, word: str) -> bool:
            return (are_known[row] or word == asked[row]) and weight(word) >= _RARE

        for row, column, likeness in self.forms.found(asked, places, owners):
            raised = likeness if are_known[row] else likeness * _UNSURE
            at = (row, column) if owners is None else column
            alike[at] = max(alike[at], raised)
        derived = self.abbreviations.found(asked, places, may_abbreviate, owners)
        for row, column, likeness in derived:
            at = (row, column) if owners is None else column
            alike[at] = max(alike[at], likeness)


class Columns(NamedTuple):
    """The words of c texts as columns of a table of U words.

    Attributes:
        places: the places of the different words among all words, (U,).
        columns: the words of each text, (c, longest): numbers below U, then U, which is no word.
        lengths: how many words each text has, (c,).
    """

    places: NDArray[np.intp]
    columns: NDArray[np.intp]
    lengths: NDArray[np.intp]


class Texts:
    """The first words of n texts, and the features of these words, each found once.

    Threads that share a table may use it at once; one of them at a time may `read` more texts.

    Args:
        embedding: what gives words their features.
        plain: the texts, as plain words. They are read when needed, those appended later by `read`.

    >>> from fuzzydict.embedding.encoder import as_embedding
    >>> texts = Texts(as_embedding({"top": [1.0], "speed": [2.0]}), ["top speed", "speed"])
    >>> places, columns, lengths = texts.columns(np.array([0, 1]))
    >>> texts.words.of(places), columns.tolist(), lengths.tolist()
    (['top', 'speed'], [[0, 1], [1, 2]], [2, 1])
    """

    def __init__(self, embedding: Embedding, plain: list[str]) -> None:
        self._embedding, self.plain = embedding, plain
        self.whole, self.words = Strings(plain), Strings([])
        self.contradictions, self.runs = Contradictions(plain), Runs(plain, WORDS)
        self._numbers: dict[str, int] = {}
        self._columns = np.zeros((0, 1), np.intp)  # the words of each text, then -1
        self._lengths = np.zeros(0, np.intp)
        self._features = _Features(np.zeros(0, np.bool_), ())

    def among(self, places: NDArray[np.intp]) -> tuple[Texts, NDArray[np.intp]]:
        """Return a table that holds some of the texts, (L, c), and their places in it, (L, c)."""
        if len(self.plain) <= _WHOLE:
            return self, places
        if len(places) == 1:
            return Texts(self._embedding, self.whole.of(places[0])), np.arange(places.size)[None]
        some = different(places.ravel())
        return Texts(self._embedding, self.whole.of(some)), np.searchsorted(some, places)

    def with_several_words(self, places: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return whether each of some texts has several words, of the shape of ``places``."""
        if not len(self._lengths):
            self.read()
        return np.asarray(self._lengths[places] > 1)

    def columns(self, places: NDArray[np.intp]) -> Columns:
        """Return the words of c texts."""
        if not len(self._lengths):
            self.read()
        lengths = self._lengths[places]
        found = self._columns[places, : lengths.max()]
        if len(self.plain) == len(places):
            distinct = np.arange(len(self.words.strings))
            found = np.where(found < 0, len(distinct), found)
        else:
            is_used = np.zeros(len(self.words.strings) + 1, np.bool_)
            is_used[found] = True
            is_used[-1] = False  # no word
            distinct = np.flatnonzero(is_used)
            of_table = np.full(len(is_used), len(distinct))
            of_table[distinct] = np.arange(len(distinct))
            found = of_table[found]
        return Columns(distinct, found, lengths)

    def copied(self, plain: list[str]) -> Texts:
        """Return an independent table of the same texts, given as another list."""
        new = Texts(self._embedding, plain)
        new._numbers = self._numbers.copy()
        new.words.strings.extend(self.words.strings)
        new._columns, new._lengths = self._columns, self._lengths
        return new

    def read_few(self) -> None:
        """Read the texts that were appended, if they are so few that this table is used."""
        if len(self.plain) <= _WHOLE:
            self.read()

    def read(self) -> None:
        """Read the texts that were appended. What is read before this ends is as it was."""
        read = len(self._lengths)
        split = [text.split(" ", WORDS)[:WORDS] for text in self.plain[read:]]
        numbers = self._numbers
        flat = [numbers.setdefault(word, len(numbers)) for words in split for word in words]
        lengths = np.concatenate([self._lengths, np.fromiter(map(len, split), np.intp, len(split))])
        columns = np.full((len(lengths), lengths.max(initial=1)), -1)
        columns[:read, : self._columns.shape[1]] = self._columns
        is_word = np.arange(columns.shape[1]) < lengths[read:, None]
        columns[read:][is_word] = flat
        words = self.words.strings
        words.extend(islice(numbers, len(words), None))
        self._columns = columns  # of more texts than lengths: who has a length finds the words
        self._lengths = lengths

    def features(self, places: NDArray[np.intp]) -> WordFeatures:
        """Return what is needed to compare U words of the table with those of a query."""
        features = self._features
        if len(features.is_filled) < len(self.words.strings):
            features = self._features = self._with_room(features)
        new = places[~features.is_filled[places]]
        if len(new):
            found = self._embedding.word_features(self.words.of(new), of_query=False)
            for column, rows in zip(features.columns, found, strict=True):
                column[new] = rows
            features.is_filled[new] = True
        return WordFeatures(*[column[places] for column in features.columns])

    def _with_room(self, features: _Features) -> _Features:
        """Return features with room for new words, and some more."""
        used, room = len(features.is_filled), int(len(self.words.strings) * _GROWTH) + 8
        columns = []
        for i, rows in enumerate(self._embedding.word_features([], of_query=False)):
            column = np.empty((room, *rows.shape[1:]), rows.dtype)
            if used:
                column[:used] = features.columns[i]
            columns.append(column)
        return _Features(np.append(features.is_filled, np.zeros(room - used, np.bool_)), columns)


class _Features(NamedTuple):
    """The features of n words, as far as they were asked for.

    Attributes:
        is_filled: of which words they are known, (n,).
        columns: as `WordFeatures` has them, with n rows.
    """

    is_filled: NDArray[np.bool_]
    columns: Sequence[NDArray[Any]]
