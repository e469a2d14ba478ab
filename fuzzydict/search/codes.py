"""Codes before names: "2500 Loan", "Room 12 Foyer", "DE - Germany".

L queries, C candidates of each, W words of a candidate
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fuzzydict.search.keys import Keys, Query, exact_text
from fuzzydict.text.lexicon import look_up, table_of
from fuzzydict.text.numbers import is_one_text
from fuzzydict.text.words import LONGEST
from fuzzydict.text.writings import words_of

_FEW_CODES = 3  # candidates with a code; if fewer have one, it may be part of a name
_YEARS = re.compile("(?:1[5-9]|20)[0-9]{2}")
# A code, which a word may stand before, and the name behind it.
_CODE_BEFORE = re.compile(
    r"\W*(?:([^\W\d_]+)[ _])?([A-Za-z]*-?[0-9]+[A-Za-z]?(?:[.-][0-9]+[A-Za-z]?)*)"
    r"(?:[.):]?[\s_]+|\s*[\u2013-]\s*)(?=([^\W\d_]{2,}))"
)
_LETTERS_BEFORE = re.compile(r"\W*(?=[A-Z])([A-Z]{2,4}[0-9]{0,2})(?:\)|:|\s[\u2013-])\s(?=\w)")
#: What several names have if there may be codes before them.
MAY_BE_CODES = re.compile(r"[0-9]|[A-Z]{2}(?:[):]| [\u2013-])")
# What a short number has if it is a code: "2 eggs" are no "2. Eggs".
_SIGN = re.compile(r"\xa7|[.):]\s|\s[\u2013-]\s")
_WHOLE_CODE = re.compile(
    "[A-Z]+-?[0-9]+[A-Za-z]?|[A-Za-z]+-?[0-9]{2,}[A-Za-z]?|[0-9]{3,}|[0-9]+[.-].+"
)


class Code(NamedTuple):
    """What a text begins with before a name, as "Room 12" in "Room 12 Foyer".

    Attributes:
        kind: the word before its number; "" for none, or "letters".
        text: the code, in lower case.
        words: how many words it is.
        end: where it ends in the text as written.
    """

    kind: str
    text: str
    words: int
    end: int

    def is_apart_from(self, words: Sequence[str]) -> bool:
        """Tell whether the plain words of a text have nothing of such a code."""
        if self.kind == "letters":
            return self.text not in words and sum(map(len, words)) > len(self.text) + 1
        return self.kind not in words and not any(map(str.isdigit, "".join(words)))


@lru_cache(maxsize=1 << 14)  # of keys, for each query
def code_before(text: str) -> Code | None:
    """Return the code that a text as written begins with, before words; None if it has none.

    >>> code_before("2.02 Guild hall"), code_before("12 eggs"), code_before("500 ml milk")
    (Code(kind='', text='2.02', words=2, end=5), None, None)
    >>> code_before("Showcase 3: Coins").kind, code_before("FUL - Full application").kind
    ('showcase', 'letters')
    """
    if letters := _LETTERS_BEFORE.match(text):
        code = letters[1].lower()
        return Code("letters", code, len(words_of(code)), letters.end())
    if not (found := _CODE_BEFORE.match(text)) or look_up(found[3].lower()).unit:
        return None
    before, code, _ = found.groups()
    kind = (before or "").lower()
    is_counted = not {"numbered", "counted"}.isdisjoint(table_of("kinds").get(kind, ()))
    if is_counted or _SIGN.search(found[0]) or (not kind and _WHOLE_CODE.fullmatch(code)):
        return Code(kind, code.lower(), len(words_of(found[0])), found.end())
    return None


def codes_in(
    queries: Sequence[Query],
    keys: Keys,
    slots: NDArray[np.intp],
    theirs: NDArray[np.integer[Any]],
) -> NDArray[np.bool_] | None:
    """Return which words of candidates tell nothing, (L, C, W); None if all tell.

    Most of the candidates begin with a code. A query that is the code of a candidate leaves out the
    words behind it. One that has nothing of such codes leaves out all of them, and one that is the
    words behind a code leaves out that. Years alone are no codes.
    """
    different = dict.fromkeys(slots.ravel().tolist())
    names = [exact_text(keys.names[slot])[:LONGEST] for slot in different]
    if not MAY_BE_CODES.search("\n".join(names)):
        return None
    found = dict(zip(different, map(code_before, keys.table.written(names)), strict=True))
    left_out, alive = np.zeros(theirs.shape, np.bool_), keys.alive[slots]
    for i, row in enumerate(slots.tolist()):
        of_row = [(j, found[row[j]]) for j in alive[i].nonzero()[0].tolist()]
        coded = [(j, code) for j, code in of_row if code]
        are_few = len(coded) < max(_FEW_CODES, len(of_row) / 2)
        if are_few or all(_YEARS.fullmatch(code.text) for _, code in coded):
            continue
        asked = queries[i].text.split(" ")
        for j, code in coded:
            words = keys.texts[row[j]].split(" ")
            if code.is_apart_from(asked) or words[code.words :] == asked:
                left_out[i, j, : code.words] = True
            elif is_one_text(queries[i].text, " ".join(words[: code.words])):
                left_out[i, j, code.words :] = True
    return left_out if left_out.any() else None


_CAPITALS = re.compile("[A-Z]{2,4}")


def other_codes(query: Query, keys: Keys, slots: NDArray[np.intp]) -> list[int]:
    """Return the places of the candidates of one query, (C,), that are other codes than it.

    Most of the candidates are capitals that are no common word, as "LHR" and "THR" are. A letter
    that differs makes another code, as a digit does, in codes of one length.
    """
    text = query.text
    if not _CAPITALS.fullmatch(query.asked.strip().upper()):
        return []
    alive = keys.alive[slots].nonzero()[0].tolist()
    codes = [
        j
        for j in alive
        if _CAPITALS.fullmatch(exact_text(keys.names[slots[j]]))
        and not look_up(keys.texts[slots[j]]).is_common
    ]
    if len(codes) < max(_FEW_CODES, len(alive) / 2):
        return []
    return [j for j in codes if text != (one := keys.texts[slots[j]]) and len(one) == len(text)]


def rest_of(text: str, left_out: NDArray[np.bool_]) -> str:
    """Return a plain text without the words that are left out, (W,)."""
    if not left_out.any():
        return text
    return " ".join(
        word for word, is_out in zip(text.split(" "), left_out, strict=False) if not is_out
    )
