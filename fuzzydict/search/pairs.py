"""How the words of queries and those of candidates compare: each different pair once.

L queries, C candidates of each, w words of a query, W words of a key, P different pairs of words
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import OSA
from rapidfuzz.process import cpdist

from fuzzydict._arrays import slices
from fuzzydict.search.keys import FACTS, SHORT, Asked, Keys
from fuzzydict.text.lexicon import (
    BOTH_KINDS,
    BROADER,
    NONE_IN_COMMON,
    ONE,
    Part,
    abbreviates,
    other_units,
    part_of,
    relations_of,
)

#: What is compared of two words; the judge weighs it. Kinds of abbreviations follow "one stem" as
#: `abbreviates` numbers them.
PAIR = (
    *("bias", "edits", "edits squared", "edits squared, both known"),
    *("edits squared, both common", "edits squared, short, one is no word"),
    *("one stem", "conventional abbreviation", "beginning", "without vowels", "letters in order"),
    *("share of the letters", "cosine", "cosine squared", "cosine by a slip"),
    *("one meaning", "one is broader", "other kinds of one thing", "no meaning in common"),
    *("opposites", "other members of a class", "other digits"),
    *("other thing that holds the other", "kind of the other"),
)
BIAS, OF_EDITS, SQUARED, BOTH_KNOWN, BOTH_COMMON, SHORT_WORD, ONE_STEM, CONVENTION = range(8)
OF_LETTERS, COSINE, COSINE_SQUARED, BY_SLIP, ONE_MEANING = range(11, 16)
KINDRED, UNRELATED, OPPOSITES, OTHER_MEMBERS, OTHER_DIGITS, HOLDS, IS_KIND = range(17, 24)
_OF_MEANING = slice(COSINE, UNRELATED + 1)
#: Which of `PAIR` tells of a word of a key that is part of a word of a query.
HELD = {Part.OF_ANOTHER: HOLDS, Part.OF_ITS_KIND: IS_KIND}
_PAIRS = 1 << 13  # of words whose meanings are compared at a time


# ---- pairs of words ---------------------------------------------------------------------------


def pairs_of(
    asked: Asked, keys: Keys, a: NDArray[np.intp], b: NDArray[np.intp], cosines: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return what `PAIR` names of words of queries and of keys, (24, P).

    Given are their numbers, and the cosines of their vectors, (P,).
    """
    words = asked.words
    names = [name for name in FACTS.names or () if name != "meanings"]
    x = {name: asked.facts[name][a] for name in names}
    y = {name: keys.facts[name][b] for name in names}
    strings = ["", *[word.text for word in words]]
    left, right = [strings[i] for i in a.tolist()], [keys.strings[j] for j in b.tolist()]
    phi = np.zeros((len(PAIR), len(a)), np.float32)
    phi[BIAS] = 1
    edits = cpdist(left, right, scorer=OSA.normalized_similarity, dtype=np.float32)
    phi[OF_EDITS] = edits = edits * ((a > 0) & (b > 0))
    phi[SQUARED] = square = edits * edits
    both_known, both_common = x["known"] & y["known"], x["common"] & y["common"]
    phi[BOTH_KNOWN], phi[BOTH_COMMON] = square * both_known, square * both_common
    is_short = np.minimum(x["length"], y["length"]) <= SHORT
    phi[SHORT_WORD] = square * (is_short & ~(both_known | both_common))
    phi[ONE_STEM] = x["stem"] == y["stem"]
    near = np.maximum(cosines, 0)
    phi[COSINE] = sure = near * (x["sure"] & y["sure"])
    phi[COSINE_SQUARED], phi[BY_SLIP] = sure * sure, near - sure
    differ = edits < 1
    if any(word.entry.group >= 0 or word.entry.unit for word in words):
        of_one_group = (x["group"] == y["group"]) & (y["member"] > 0)
        are_same = x["member"] == y["member"]
        phi[CONVENTION] = of_one_group & are_same & differ
        phi[OTHER_MEMBERS] = of_one_group & ~are_same | other_units()[x["unit"], y["unit"]]
    for number, word in enumerate(words, 1):
        for place, texts in ((OPPOSITES, word.entry.opposites), (CONVENTION, word.entry.names)):
            are = keys.are_of(b, texts) if texts else None
            if are is not None:
                phi[place, are & (a == number) & differ] = 1
    phi[OTHER_MEMBERS] *= phi[CONVENTION] == 0
    phi[OTHER_DIGITS] = x["digit"] & y["digit"] & differ
    of_stem = y["letters of the stem"]
    may = (of_stem & x["letters of the stem"] == of_stem) & x["word"] & y["word"]
    for i in may.nonzero()[0].tolist():  # not the key the query, which may be an abbreviation
        if part := part_of(right[i], left[i]):
            phi[HELD[part], i] = 1
    some = ((x["first"] == y["first"]) & (x["length"] != y["length"])).nonzero()[0]
    own, letters = x["letters"][some], y["letters"][some]
    both = own & letters
    may = (both == own) | (both == letters) | (x["abbreviation"] | y["abbreviation"])[some]
    for i in some[may & (phi[CONVENTION, some] == 0)].tolist():
        if kind := abbreviates(left[i], right[i]):
            phi[ONE_STEM + kind, i] = 1
            if kind > 1:
                lengths = len(left[i]), len(right[i])
                phi[OF_LETTERS, i] = min(lengths) / max(lengths)
    are_forms = (phi[ONE_STEM] > 0) | (phi[CONVENTION] > 0)
    for some in slices(len(a), _PAIRS):  # as many as fit in a cache, in rows
        of_both = asked.facts["meanings"][a[some]], keys.facts["meanings"][b[some]]
        related = relations_of(*[np.ascontiguousarray(one.T) for one in of_both])
        related *= ~are_forms[some]
        for place, one in enumerate((ONE, BROADER, BOTH_KINDS, NONE_IN_COMMON), ONE_MEANING):
            phi[place, some] = related == one
    return phi


class Table(NamedTuple):
    """How the words of queries and candidates compare.

    Attributes:
        strengths: how far they are spelled alike, mean one thing, and match, (3, L, C, w, W).
        unlike: how far other words are spelled alike, (L, C, w, W).
        conventional: whether one is short for the other, (L, C, w, W); None if none are.
        opposed, siblings, kindred: whether they are opposites, other members of a class, or other
            kinds of one thing; likewise.
    """

    strengths: NDArray[np.float32]
    unlike: NDArray[np.float32]
    conventional: NDArray[np.float32] | None
    opposed: NDArray[np.float32] | None
    siblings: NDArray[np.float32] | None
    kindred: NDArray[np.float32] | None

    @classmethod
    def of(
        cls,
        asked: Asked,
        keys: Keys,
        theirs: NDArray[np.int32],
        units: NDArray[np.float32],
        weights: NDArray[np.float32],
    ) -> Table:
        """Compare each different pair of words once.

        Given are the words of the candidates, (L, C, W), and their vectors, (L, C, W, E).
        """
        size, (L, C, W) = len(keys.word_units), theirs.shape
        numbers = asked.columns[:, None, :, None].astype(np.int64) * size + theirs[:, :, None, :]
        places, first, back = np.unique(numbers.ravel(), return_index=True, return_inverse=True)
        a, b = np.divmod(places, size)
        own = asked.units[asked.columns]  # (L, w, E)
        cosines = own @ units.reshape(L, C * W, -1).swapaxes(1, 2)
        cosines = cosines.reshape(L, -1, C, W).swapaxes(1, 2).ravel()[first]
        phi = pairs_of(asked, keys, a, b, cosines)
        told = np.empty((4, len(a)), np.float32)  # spelled, meant, matched, unlike
        told[2] = np.einsum("i,ip->p", weights, phi)
        told[0] = told[2] - np.einsum("i,ip->p", weights[_OF_MEANING], phi[_OF_MEANING])
        told[:3:2] = 1 / (1 + np.exp(-told[:3:2]))
        told[1], same = phi[COSINE], phi[OF_EDITS] == 1
        told[3] = phi[[BOTH_KNOWN, BOTH_COMMON, IS_KIND]].max(axis=0) * (1 - phi[COSINE])
        np.maximum(told[3], phi[HOLDS], out=told[3])
        told[3] *= ~(same | phi[[ONE_STEM, CONVENTION]].any(axis=0))
        told[:3, same] = 1
        real = (a > 0) & (b > 0)
        told *= real
        against = [
            (phi[i] * real)[back].reshape(numbers.shape) if phi[i].any() else None
            for i in (CONVENTION, OPPOSITES, OTHER_MEMBERS, KINDRED)
        ]
        table = told.take(back, axis=1).reshape(4, *numbers.shape)
        return cls(table[:3], table[3], *against)
