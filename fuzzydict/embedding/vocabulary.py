"""The words that an embedding knows, and the known words that stand in for unknown ones."""

from __future__ import annotations

import json
import zlib
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzydict._arrays import as_array, slices
from fuzzydict._files import array_of, texts_of
from fuzzydict.errors import ArgumentTypeError, ShapeError, quoted
from fuzzydict.text.ngrams import NgramSearch
from fuzzydict.text.similarity import likeness_of_pairs, sounds
from fuzzydict.text.words import LONGEST, plain
from fuzzydict.text.words import words as words_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


_SMOOTHING = 1e-3  # a word of this relative frequency weighs half as much as a rare one
_FULL_TRUST = 0.25  # relative weight from which on a vector is fully trusted
_FREQUENT = 30_000  # the most frequent words, among which stand-ins are looked for
_MOST_COUNTED = 1 << 62  # in all, so that sums of counts are exact
_UNSEEN = 8  # words never seen of one text that are embedded one by one
_REMEMBERED = 4096  # words never seen whose stand-ins are kept


# ---- lists of words ------------------------------------------------------------------------------


class Listed:
    """V words in memory, found as they are spelled or in their plain form.

    Raises:
        ArgumentTypeError: a word is not a text.
        ShapeError: a word comes twice.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.words = list(words)
        if not set(map(type, self.words)) <= {str}:
            for word in self.words:
                if not isinstance(word, str):
                    raise ArgumentTypeError(f"words: expected texts, got {quoted(word)}")
        self._rows = dict(zip(self.words, range(len(self.words)), strict=True))
        if len(self._rows) < len(self.words):
            (twice, _), *_ = Counter(self.words).most_common(1)
            raise ShapeError(f"words: {quoted(twice)} comes twice; keep one of its vectors")
        together = "".join(self.words)
        self.has_phrases = " " in together or "_" in together
        if not together.isascii() or together != together.lower():  # else all are plain already
            for row, word in enumerate(self.words):
                if not (word.isascii() and word.islower()):
                    self._rows.setdefault(word.lower() if word.isascii() else _plain(word), row)

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, row: int) -> str:
        return self.words[row]

    def first(self, count: int) -> list[str]:
        """Return the first words, at most ``count``."""
        return self.words[:count]

    def row(self, word: str) -> int | None:
        """Return the row of a word; None if it has none."""
        return self._rows.get(word)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return arrays for a file: those that `Mapped` takes if all words are plain, else JSON."""
        if len(self._rows) == len(self.words) and "\n" not in "".join(self.words):
            return mapped_arrays(self.words)
        return {"words": np.frombuffer(json.dumps(self.words).encode("ascii"), np.uint8)}


_MANY = 4096  # different words that are looked up one by one, before all are read


class Mapped:
    """V plain words in the arrays of a file, which are read only as far as words are asked for.

    A word is found by its CRC-32. All words are read once many have been asked for.

    Args:
        text: the words in UTF-8, separated by newlines.
        checksums: the CRC-32 of each word, rising, (V,).
        rows: the row of each checksum, (V,).

    Raises:
        ValueError: these are not the arrays of V words.

    >>> words = Mapped(**mapped_arrays(["the", "color"]))
    >>> words.row("color"), words.row("colour"), words[0]
    (1, None, 'the')
    """

    def __init__(
        self, text: NDArray[np.uint8], checksums: NDArray[np.uint32], rows: NDArray[np.uint32]
    ) -> None:
        self._text, self._checksums, self._places = text, checksums, rows
        if text.ndim != 1 or text.dtype != np.uint8:
            raise ValueError(f"its words are of dtype {text.dtype} and shape {text.shape}")
        text.tobytes().decode("utf-8", "surrogatepass")
        self._ends = np.append(np.flatnonzero(text == ord("\n")), len(text))
        for each in (checksums, rows):
            if each.shape != self._ends.shape or each.dtype != np.uint32:
                raise ValueError(f"it has {each.shape} checksums or rows for {len(self)} words")
        if rows.max() >= len(self):
            raise ValueError("its rows are not those of its words")
        self.has_phrases = bool((text == ord(" ")).any() or (text == ord("_")).any())
        self._asked = 0
        self._recent = lru_cache(maxsize=_MANY)(self._look_up)

    def check(self) -> None:
        """Raise ValueError unless each word comes once, and is found by its checksum."""
        words, arrays = self.first(len(self)), self.arrays()
        if len(set(words)) < len(words):
            raise ValueError("a word comes twice")
        if any(not np.array_equal(arrays[n], a) for n, a in mapped_arrays(words).items()):
            raise ValueError("its checksums are not those of its words, rising")

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays."""
        return {"text": self._text, "checksums": self._checksums, "rows": self._places}

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, row: int) -> str:
        return self._code(row).decode("utf-8", "surrogatepass")

    def _code(self, row: int) -> bytes:
        start = int(self._ends[row - 1]) + 1 if row else 0
        return self._text[start : self._ends[row]].tobytes()

    @cached_property
    def words(self) -> list[str]:
        """All words."""
        return self.first(len(self))

    def first(self, count: int) -> list[str]:
        """Return the first words, at most ``count``."""
        end = self._ends[min(count, len(self)) - 1]
        return self._text[:end].tobytes().decode("utf-8", "surrogatepass").split("\n")

    def row(self, word: str) -> int | None:
        """Return the row of a word; None if it has none."""
        return self._recent(word) if self._asked < _MANY else self._rows.get(word)

    def _look_up(self, word: str) -> int | None:
        self._asked += 1  # threads may step past it
        code = word.encode("utf-8", "surrogatepass")
        checksum = np.uint32(zlib.crc32(code))
        place = int(self._checksums.searchsorted(checksum))
        while place < len(self) and self._checksums[place] == checksum:
            row = int(self._places[place])
            if self._code(row) == code:
                return row
            place += 1
        return None

    @cached_property
    def _rows(self) -> dict[str, int]:
        return dict(zip(self.words, range(len(self)), strict=True))


def mapped_arrays(words: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Return the arrays from which `Mapped` finds these words, none of which has a newline."""
    codes = [word.encode("utf-8", "surrogatepass") for word in words]
    checksums = np.array(list(map(zlib.crc32, codes)), np.uint32)
    rows = np.argsort(checksums, kind="stable").astype(np.uint32)
    text = np.frombuffer(b"\n".join(codes), np.uint8)
    return {"text": text, "checksums": checksums[rows], "rows": rows}


# ---- known words ---------------------------------------------------------------------------------


class Vocabulary:
    """The V words of an embedding, most frequent first, and their counts, (V,).

    >>> vocabulary = Vocabulary(["the", "color", "Paris"], [70000, 140, 60])
    >>> vocabulary.row("color"), vocabulary.row("paris"), vocabulary.row("colour")
    (1, 2, None)
    >>> vocabulary.stand_ins("colour").rows.tolist()
    [1]
    """

    def __init__(
        self, words: Sequence[str] | Listed | Mapped, counts: Sequence[int] | NDArray[Any]
    ) -> None:
        self._words = words if isinstance(words, Listed | Mapped) else Listed(words)
        self._learned: frozenset[str] = frozenset()
        self.counts = _checked_counts(counts, len(self._words))
        # A long-lived process meets any number of misspellings, so that few are remembered.
        self._remembered: dict[str, StandIns] = {}

    def __len__(self) -> int:
        return len(self.counts)

    def __reduce__(self) -> tuple[Any, ...]:
        # Derived attributes are left out, and so are learned words, which projections hold.
        return Vocabulary, (self.words, self.counts)

    @property
    def words(self) -> list[str]:
        """The words, most frequent first."""
        return self._words.words

    @property
    def has_phrases(self) -> bool:
        """Whether a word may be several, written with blanks or underscores."""
        return self._words.has_phrases

    def word(self, row: int) -> str:
        """Return the word of a row."""
        return self._words[row]

    def row(self, word: str) -> int | None:
        """Return the row of ``word``, spelled as in the vocabulary or in its plain form."""
        return self._words.row(word)

    def rows(self, words: Sequence[str]) -> NDArray[np.intp]:
        """Return the row of each of U words, (U,); -1 for words that have none."""
        rows = map(self.row, words)
        return np.array([-1 if row is None else row for row in rows], np.intp)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that a file holds, by name; `from_arrays` reads them."""
        is_small = self.counts.max(initial=0) < 1 << 32
        counts = self.counts.astype(np.uint32 if is_small else np.int64)
        return {**self._words.arrays(), "counts": counts}

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], *, is_ours: bool = False
    ) -> Vocabulary:
        """Return the vocabulary of which `arrays` returned the arrays.

        Args:
            arrays: by their names.
            is_ours: whether they ship with the package, so that words are read as they are needed.

        Raises:
            KeyError, TypeError, ValueError: they are not those of a vocabulary.
        """
        counts = array_of(arrays, "counts", "i1 u1 i2 u2 i4 u4 i8 u8", None)
        if "text" not in arrays:
            return cls(texts_of(arrays["words"]), counts)
        words = Mapped(*(arrays[name] for name in ("text", "checksums", "rows")))
        if not is_ours:
            words.check()
        return cls(words, counts)

    def tokens(self, text: str) -> list[str]:
        """Return ``text`` as tokens of the vocabulary: the text itself if it is one, or its words.

        Phrases that the vocabulary writes with underscores ("new_york") are one token. Only the
        beginning of a long text is read.
        """
        text = text[:LONGEST]
        if " " in text and not self.has_phrases:
            return plain(text).split()
        row = self.row
        if row(text) is not None:
            return [text]
        lower = text.lower()
        if lower != text and row(lower) is not None:
            return [lower]
        words = plain(text).split()
        if len(words) > 1 and row(joined := "_".join(words)) is not None:
            return [joined]
        return words

    def embedded(self, text: str) -> list[str]:
        """Return the `tokens` of which the vector of a text is made.

        A text of more than 8 different words never seen is in no language of the embedding, and
        what stands in for them says nothing. They are embedded together, by their letters: each
        of these tokens is all of them.

        >>> Vocabulary(["der"], [9]).embedded("der Baum")
        ['der', 'baum']
        >>> sorted(set(Vocabulary(["the"], [9]).embedded("the b c d e f g h i j")))
        ['b c d e f g h i j', 'the']
        """
        tokens = self.tokens(text)
        if len(tokens) <= _UNSEEN:
            return tokens
        unseen = dict.fromkeys(token for token in tokens if not self.knows(token))
        if len(unseen) <= _UNSEEN:
            return tokens
        together = " ".join(unseen)
        return [together if token in unseen else token for token in tokens]

    def knows(self, token: str) -> bool:
        """Tell whether a word is in the vocabulary, or its meaning was learned."""
        return self.row(token) is not None or token in self._learned

    def known_share(self, text: str) -> float:
        """Return the share of the words of ``text`` that are known; 0 if it has no words."""
        tokens = self.tokens(text)
        return sum(map(self.knows, tokens)) / max(len(tokens), 1)

    def weight(self, word: str) -> float:
        """Return the weight of ``word`` in a phrase: near 1 if it is rare, 0.03 for "of".

        A word never seen weighs as much as the rarest one.

        The weight is ``a / (a + p)``, with the relative frequency ``p`` of the word (Arora, Liang
        and Ma, 2017, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings", equation 1).
        """
        return float(self.weights(self.rows([word]))[0])

    def trust(self, word: str) -> float:
        """Return how far the vector of ``word`` can be trusted, from 0 to 1.

        Known words are trusted, except words that occur everywhere ("the"), and numbers: all
        numbers occur in the same places, but 1961 does not mean 1962. A word never seen is
        trusted as far as its stand-ins.
        """
        if word in self._learned:
            return 1.0
        rows = self.rows([word])
        if rows[0] < 0:
            return float(self.stand_ins(word).trust)
        return 0.0 if word.isdecimal() else float(self.trusts(rows)[0])

    def with_learned(self, words: Collection[str]) -> Vocabulary:
        """Return a vocabulary that also knows these words, though it has no vectors for them.

        >>> vocabulary = Vocabulary(["color"], [140]).with_learned(["hue"])
        >>> vocabulary.known_share("hue color"), vocabulary.trust("hue"), vocabulary.row("hue")
        (1.0, 1.0, None)
        """
        new = type(self).__new__(type(self))
        new.__dict__.update(self.__dict__)  # with derived attributes, since the words are the same
        new._learned = frozenset(words)
        return new

    def stand_ins(self, word: str) -> StandIns:
        """Return the words that stand in for a word never seen."""
        return self._remembered.get(word) or self.stand_ins_of_each([word]).one(0)

    def stand_ins_of_each(self, words: Sequence[str]) -> StandIns:
        """Return the `stand_ins` of U words as rows (U, 4), weights (U, 4) and likeness (U,)."""
        remembered, found = self._remembered, StandIns.none(len(words))
        new = list[int]()
        for i, word in enumerate(words):
            if (one := remembered.get(word)) is None:
                new.append(i)
            else:
                found.put(i, one)
        if new:
            of_new = self._spellings.stand_ins([words[i] for i in new])
            found.put(new, of_new)
            if len(new) <= _REMEMBERED:
                if len(remembered) + len(new) > _REMEMBERED:
                    remembered.clear()
                remembered.update((words[i], of_new.one(row)) for row, i in enumerate(new))
        return found

    def weights(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the `weight` of the words of these rows, (n,); -1 is a word never seen."""
        return np.asarray(self._weights[rows], np.float64)

    def trusts(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the `trust` in words but numbers, (n,), by their rows; -1 is trusted."""
        table = self._weights
        return np.asarray(np.minimum(table[rows] / (_FULL_TRUST * table[-1]), 1), np.float64)

    @cached_property
    def _weights(self) -> NDArray[np.float64]:
        """The weight of each word, and at last that of a word never seen, (V + 1,)."""
        if not len(self):
            return np.ones(1)
        shares = np.append(self.counts, self.counts.min()) / max(self.counts.sum(), 1)
        return np.asarray(_SMOOTHING / (_SMOOTHING + shares), np.float64)

    @cached_property
    def _spellings(self) -> _Spellings:
        words = self._words.first(_FREQUENT)
        return _Spellings(list(map(_plain, words)), self.counts[: len(words)])


class JoinedVocabulary(Vocabulary):
    """The words of two vocabularies: the rows of the second follow those of the first.

    A word of both has the row of the first. Words of the first alone stand in for others.

    >>> one, two = Vocabulary(["the", "mobile"], [3, 1]), Vocabulary(["the", "jury"], [60, 20])
    >>> both = JoinedVocabulary(one, two)
    >>> both.rows(["the", "mobile", "jury", "phone"]).tolist(), both.word(3)
    ([0, 1, 3, -1], 'jury')
    >>> both.weight("the") == one.weight("the"), both.weight("jury") == two.weight("jury")
    (True, True)
    """

    def __init__(self, first: Vocabulary, second: Vocabulary) -> None:
        self._first, self._second = first, second
        self._learned = frozenset()

    def __len__(self) -> int:
        return len(self._first) + len(self._second)

    def __reduce__(self) -> tuple[Any, ...]:
        return JoinedVocabulary, (self._first, self._second)

    @property
    def words(self) -> list[str]:
        """The words of the first, and those of the second; what both have comes twice."""
        return self._first.words + self._second.words

    @property
    def has_phrases(self) -> bool:
        """Whether a word may be several, written with blanks or underscores."""
        return self._first.has_phrases or self._second.has_phrases

    def word(self, row: int) -> str:
        """Return the word of a row."""
        before = len(self._first)
        return self._first.word(row) if row < before else self._second.word(row - before)

    def row(self, word: str) -> int | None:
        """Return the row of ``word``."""
        row = self._first.row(word)
        if row is None and (row := self._second.row(word)) is not None:
            row += len(self._first)
        return row

    def stand_ins(self, word: str) -> StandIns:
        """Return the words of the first that stand in for a word that neither has."""
        return self._first.stand_ins(word)

    def stand_ins_of_each(self, words: Sequence[str]) -> StandIns:
        """Return the `stand_ins` of U words as rows (U, 4), weights (U, 4) and likeness (U,)."""
        return self._first.stand_ins_of_each(words)

    @cached_property
    def _weights(self) -> NDArray[np.float64]:
        first, second = self._first._weights, self._second._weights
        return np.concatenate([first[:-1], second[:-1], first[-1:]])


def _plain(word: str) -> str:
    return word if word.isascii() and word.islower() else " ".join(words_of(word))


class FoundWords:
    """U words looked up in a vocabulary, all of them at once.

    Attributes:
        words: the words.
        rows: their rows, (U,); -1 for words never seen.
        places: the places of the words never seen.
        unseen: these words.

    >>> found = FoundWords(Vocabulary(["the", "color"], [70000, 140]), ["color", "colour"])
    >>> found.rows.tolist(), found.unseen, found.stand_ins.rows[:, 0].tolist()
    ([1, -1], ['colour'], [1])
    """

    def __init__(self, vocabulary: Vocabulary, words: Sequence[str]) -> None:
        self._vocabulary, self.words = vocabulary, words
        rows = [-1 if row is None else row for row in map(vocabulary.row, words)]
        self.rows = np.array(rows, np.intp)
        self.places = [place for place, row in enumerate(rows) if row < 0]
        self.unseen = [words[place] for place in self.places]

    @property
    def weights(self) -> NDArray[np.float32]:
        """The weight of each word in a phrase, (U,)."""
        return self._vocabulary.weights(self.rows).astype(np.float32)

    @property
    def trust(self) -> NDArray[np.float32]:
        """The trust in the vector of each word, (U,)."""
        learned, trust = self._vocabulary._learned, self._vocabulary.trusts(self.rows)
        if numbers := [place for place, word in enumerate(self.words) if word.isdecimal()]:
            trust[numbers] = 0
        if self.unseen:
            trust[self.places] = self.stand_ins.trust
        if learned:
            trust[[word in learned for word in self.words]] = 1
        return trust.astype(np.float32)

    @property
    def known(self) -> NDArray[np.bool_]:
        """Whether each word is known, (U,)."""
        known = self.rows >= 0
        if self.unseen and (learned := self._vocabulary._learned):
            known[self.places] = [word in learned for word in self.unseen]
        return known

    @cached_property
    def stand_ins(self) -> StandIns:
        """The stand-ins for the words never seen."""
        return self._vocabulary.stand_ins_of_each(self.unseen)


def _checked_counts(counts: Sequence[int] | NDArray[Any], size: int) -> NDArray[np.int64]:
    given = as_array("counts", counts)
    if given.shape != (size,):
        raise ShapeError(f"counts: expected {size}, one a word, got {given.size} ({given.shape})")
    if given.dtype.kind not in "biuf":
        raise ArgumentTypeError(f"counts: expected numbers, got dtype {given.dtype}")
    if not (np.isfinite(given) & (given >= 0) & (given < 2.0**63)).all():
        raise ShapeError(
            "counts: expected numbers from 0 to 2**63 - 1, got one outside, NaN or infinity"
        )
    if given.sum(dtype=np.float64) > _MOST_COUNTED:
        raise ShapeError(f"counts: expected {_MOST_COUNTED} words in all at most; scale them down")
    return given.astype(np.int64, copy=False)


# ---- stand-ins for words never seen -----------------------------------------------------------

_CANDIDATES = 64  # known words that share most n-grams with the unseen one, to be compared exactly
_SHARED = 0.2  # the least cosine of n-grams of a candidate
_KEPT = 4  # words that stand in
_BLOCK = 256  # words never seen that are compared at a time, to save memory
_TEMPERATURE = 0.03  # in units of likeness: how far the best stand-in outweighs the others
_PRIOR = 0.015  # likeness added for each power of ten of a known word's frequency
_NO_TRUST, _TRUSTED = 0.5, 0.9  # likeness at which stand-ins are not, and are fully, trusted


class StandIns(NamedTuple):
    """The known words that stand in for a word never seen, or for each of U.

    Attributes:
        rows: the rows of the known words, best first, (n,) or (U, 4).
        weights: their weights, which sum to 1, of the same shape; 0 where there are fewer.
        likeness: how alike the best one and the unseen word are spelled; 0 if there is none.
    """

    rows: NDArray[np.intp]
    weights: NDArray[np.float32]
    likeness: Any

    @classmethod
    def none(cls, count: int) -> StandIns:
        """Return the stand-ins of ``count`` words that have none."""
        shape = (count, _KEPT)
        return cls(np.zeros(shape, np.intp), np.zeros(shape, np.float32), np.zeros(count))

    def put(self, words: int | Sequence[int], others: StandIns) -> None:
        """Set the stand-ins of one of U words, or of some."""
        few = others.rows.shape[-1]
        self.rows[words, :few], self.weights[words, :few] = others.rows, others.weights
        self.likeness[words] = others.likeness

    def one(self, word: int) -> StandIns:
        """Return the stand-ins of one of U words."""
        used = int(np.count_nonzero(self.weights[word]))
        return StandIns(
            self.rows[word, :used], self.weights[word, :used], float(self.likeness[word])
        )

    def some(self, words: slice) -> StandIns:
        """Return the stand-ins of some of U words."""
        return StandIns(self.rows[words], self.weights[words], self.likeness[words])

    @property
    def trust(self) -> Any:
        """How far the stand-ins are trusted: rises from 0 to 1 with the likeness."""
        trust = (self.likeness - _NO_TRUST) / (_TRUSTED - _NO_TRUST)
        if isinstance(trust, float):
            return min(max(trust, 0.0), 1.0)
        return np.minimum(np.maximum(trust, 0), 1)


class _Spellings:
    """The spellings of the first n known words, and how often each occurs, (n,).

    Nothing stands in for a code or a number: 1961 is not nearly 1962. Nor for several words.
    """

    def __init__(self, strings: list[str], counts: NDArray[np.int64]) -> None:
        self._search = NgramSearch(strings, _SHARED)
        self._prior = _PRIOR * np.log10(np.maximum(counts, 1)).astype(np.float32)
        self._sounds = [""] * len(strings)  # of those that were candidates before

    def stand_ins(self, words: Sequence[str]) -> StandIns:
        """Attend by spelling to the known words that share the most n-grams with each of U."""
        found = StandIns.none(len(words))
        spelled = [i for i, word in enumerate(words) if not (" " in word or _is_code(word))]
        for some in slices(len(spelled), _BLOCK):
            each = ((i, self._search.most_alike(words[i], _CANDIDATES)) for i in spelled[some])
            near = {i: places for i, places in each if len(places)}
            if near:
                asked = [words[i] for i in near]
                found.put(list(near), self._attend(asked, list(near.values())))
        return found

    def _attend(self, words: list[str], near: list[NDArray[np.intp]]) -> StandIns:
        """Return the stand-ins of U words, from the places of the candidates of each."""
        lengths = list(map(len, near))
        flat = np.concatenate(near)
        places = flat.tolist()
        strings = list(map(self._search.strings.__getitem__, places))
        asked, heard = (
            [one for one, length in zip(each, lengths, strict=True) for _ in range(length)]
            for each in (words, sounds(words))
        )
        is_one = np.arange(max(lengths)) < np.array(lengths)[:, None]
        alike, scores = np.zeros(is_one.shape, np.float32), np.full(is_one.shape, -np.inf)
        alike[is_one] = likeness_of_pairs(asked, strings, (heard, self._heard(places)))
        scores[is_one] = alike[is_one] + self._prior[flat]
        rows = np.zeros(is_one.shape, np.intp)
        rows[is_one] = flat
        best = np.argsort(-scores, axis=1, kind="stable")[:, :_KEPT]
        rows, scores = np.take_along_axis(rows, best, 1), np.take_along_axis(scores, best, 1)
        odds = np.exp((scores - scores[:, :1]) / _TEMPERATURE)
        weights = odds.astype(np.float32) / odds.sum(axis=1, keepdims=True).astype(np.float32)
        return StandIns(rows, weights, alike[np.arange(len(best)), best[:, 0]].astype(np.float64))

    def _heard(self, places: list[int]) -> list[str]:
        """Return how the known words of these rows sound."""
        known, strings = self._sounds, self._search.strings
        if new := [place for place in places if not known[place]]:
            for place, sound in zip(new, sounds([strings[i] for i in new]), strict=True):
                known[place] = sound
        return list(map(known.__getitem__, places))


def _is_code(word: str) -> bool:
    return any(map(str.isdigit, word))


# ---- texts as lists of words --------------------------------------------------------------------

_DIFFERENT = 1 << 15  # different words of the texts that are read at a time, to save memory
_MANY_PLACES = 1 << 15  # summed by a product of matrices, for which scipy is worth importing
_LISTS = 512  # lists summed at a time, so that their sums stay in the processor's cache


class Phrases:
    """The words of n texts, with each of the U different words kept once.

    Args:
        split: the words of each text. An iterator is advanced only past the texts that are held.
        most: the number of different words after which no further text is taken; default all.

    >>> phrases = Phrases([["top", "speed"], [], ["speed"]])
    >>> phrases.words
    ['top', 'speed']
    >>> phrases.means(np.eye(2, dtype=np.float32), np.array([3, 1], np.float32)).tolist()
    [[0.75, 0.25], [0.0, 0.0], [0.0, 1.0]]
    """

    def __init__(self, split: Iterable[Sequence[str]], most: int | None = None) -> None:
        numbers: dict[str, int] = {}
        flat, lengths = array("q"), array("q")
        for words in split:
            found = [numbers.setdefault(word, len(numbers)) for word in words]
            # The first word is added last, so that means equal those in older files exactly.
            flat.extend(found if len(found) < 3 else (*found[1:], found[0]))
            lengths.append(len(found))
            if most is not None and len(numbers) > most:
                break
        self.words = list(numbers)
        self._flat, self._lengths = np.array(flat, np.intp), np.array(lengths, np.intp)

    def __len__(self) -> int:
        """Return the number of texts n."""
        return len(self._lengths)

    def means(self, rows: NDArray[np.float32], weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the weighted mean of the rows of each text's words, (n, E); 0 if it has none.

        Args:
            rows: of the different words, in their order, (U, E).
            weights: theirs, (U,), above 0.
        """
        found = sums(rows * weights[:, None], self._flat, self._lengths)
        total = sums(weights[:, None], self._flat, self._lengths)
        return np.divide(found, total, out=found, where=total > 0)


def phrases_of(split: Iterable[Sequence[str]]) -> Iterator[tuple[slice, Phrases]]:
    """Yield texts some at a time, with their places, so that memory stays bounded.

    >>> [(where, phrases.words) for where, phrases in phrases_of([["top", "speed"], ["speed"]])]
    [(slice(0, 2, None), ['top', 'speed'])]
    """
    left, start = iter(split), 0
    while len(phrases := Phrases(left, _DIFFERENT)):
        yield slice(start, start + len(phrases)), phrases
        if len(phrases.words) <= _DIFFERENT:  # so no text is left
            return
        start += len(phrases)


def sums(
    rows: NDArray[np.float32], places: NDArray[np.intp], lengths: NDArray[np.intp]
) -> NDArray[np.float32]:
    """For each of n lists of row numbers return the sum of those rows, (n, E).

    Each sum is made in the order of its list, so that it is the same whatever stands beside it.

    Args:
        rows: what is summed, (U, E).
        places: the lists one after the other, whole numbers below U.
        lengths: their lengths, (n,).

    >>> sums(np.eye(2, dtype=np.float32), np.array([0, 1, 1]), np.array([3, 0])).tolist()
    [[1.0, 2.0], [0.0, 0.0]]
    """
    found = np.zeros((len(lengths), rows.shape[1]), np.float32)
    if len(lengths) == 1:  # a query
        for place in places.tolist():
            found += rows[place]
        return found
    starts = np.cumsum(lengths) - lengths
    if len(places) >= _MANY_PLACES:
        from scipy.sparse import csr_array

        ones, ends = np.ones(len(places), np.float32), np.append(starts, len(places))
        shape = len(lengths), len(rows)
        return np.asarray(csr_array((ones, places, ends), shape=shape) @ rows, np.float32)
    for some in slices(len(lengths), _LISTS):  # place by place
        part, first, length = found[some], starts[some], lengths[some]
        for i in range(length.max(initial=0)):
            if i < length.min():
                part += rows[places[first + i]]
            else:
                longer = np.flatnonzero(length > i)
                part[longer] += rows[places[first[longer] + i]]
    return found
