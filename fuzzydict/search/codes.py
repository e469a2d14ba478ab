"""Codes before names: "2500 Loan", "Room 12 Foyer", "DE - Germany".

L queries, C candidates of each, W words of a candidate
"""

from __future__ import annotations

import re
from collections import Counter
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
_YEAR = re.compile("(?:1[5-9]|20)[0-9]{2}")
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
        words: how many words it is.
        end: where it ends in the text as written.
        is_year: whether it is nothing but a year.
        has_digit: if not, it is letters, as in "DE - Germany".
    """

    words: int
    end: int
    is_year: bool
    has_digit: bool


@lru_cache(maxsize=1 << 14)  # of keys, for each query
def code_before(text: str) -> Code | None:
    """Return the code that a text as written begins with, before words; None if it has none.

    >>> code_before("2.02 Guild hall"), code_before("12 eggs"), code_before("500 ml milk")
    (Code(words=2, end=5, is_year=False, has_digit=True), None, None)
    >>> code_before("Showcase 3: Coins").words, code_before("FUL - Full application").words
    (2, 1)
    """
    if found := _LETTERS_BEFORE.match(text):
        return Code(len(words_of(found[1])), found.end(), False, False)
    if not (found := _CODE_BEFORE.match(text)) or look_up(found[3].lower()).unit:
        return None
    before, code, _ = found.groups(default="")
    if "_" in found[0] and not code.isdecimal():  # "S3_BUCKET" is an identifier
        return None
    kinds = table_of("kinds").get(before.lower(), ())
    is_counted = "numbered" in kinds or "counted" in kinds
    if is_counted or _SIGN.search(found[0]) or (not before and _WHOLE_CODE.fullmatch(code)):
        is_year = not before and bool(_YEAR.fullmatch(code))
        return Code(len(words_of(found[0])), found.end(), is_year, True)
    return None


def _parted(text: str, count: int) -> tuple[str, str]:
    """Return the first words of a plain text, and the others."""
    words = text.split(" ")
    return " ".join(words[:count]), " ".join(words[count:])


def _is_apart(text: str, before: str, code: Code) -> bool:
    """Tell whether a plain text has nothing of a code, given its words."""
    if not {*text.split(" ")}.isdisjoint(before.split(" ")):
        return False
    return not any(map(str.isdigit, text)) if code.has_digit else len(text) > len(before) + 1


def codes_in(
    queries: Sequence[Query],
    keys: Keys,
    slots: NDArray[np.intp],
    theirs: NDArray[np.integer[Any]],
) -> NDArray[np.bool_] | None:
    """Return which words of candidates tell nothing, (L, C, W); None if all tell.

    Most of the candidates begin with a code. A query that is the code of a candidate leaves out the
    words behind it. One that has nothing of such codes leaves out all of them, and one that is the
    words behind a code leaves out that; but not where only codes tell candidates apart. Years alone
    are no codes.
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
        if are_few or all(code.is_year for _, code in coded):
            continue
        text = queries[i].text
        parted = [_parted(keys.texts[row[j]], code.words) for j, code in coded]
        times = Counter(name for _, name in parted)
        is_apart = all(
            _is_apart(text, before, code)
            for (_, code), (before, _) in zip(coded, parted, strict=True)
        )
        for (j, code), (before, name) in zip(coded, parted, strict=True):
            if times[name] == 1 and (is_apart or name == text):
                left_out[i, j, : code.words] = True
            elif is_one_text(text, before):
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
