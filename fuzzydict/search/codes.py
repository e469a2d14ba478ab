"""Codes before names: "2500 Loan", "Room 12 Foyer", "DE - Germany"; and codes alone.

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

#: What several names have if there may be codes before them.
MAY_BE_CODES = re.compile(r"[0-9]|[A-Z]{2}(?:[]):]| [\u2013-])")
# A code with digits, which a word may stand before, and the name behind it.
_NUMBERED = re.compile(
    r"\W*(?:([^\W\d_]+)\.?[ _])?([A-Za-z]*-?[0-9]+[A-Za-z]?(?:[.-][0-9]+[A-Za-z]?)*)"
    r"(?:[.):]?[\s_]+|\s*[\u2013-]\s*)(?=([^\W\d_]{2,}))"
)
# Letters, which a sign must stand behind.
_LETTERED = re.compile(r"\W*([A-Z]{2,4})(?:[]):]|\s[\u2013-])\s(?=\w)")
# What a short number has if it is a code: "2 eggs" are no "2. Eggs".
_SIGN = re.compile(r"[\xa7#]|[.):]\s|\s[\u2013-]\s")
# What is a code without a sign.
_WHOLE_CODE = re.compile(
    r"[A-Z]-?[0-9]{1,2}|[A-Z]{2,4}-[0-9]{1,2}|[A-Za-z]+-?[0-9]{3,}[A-Za-z]?|0[0-9]+|[0-9]{3,}(?:[.-][0-9]+)*|[0-9]+\.[0-9]{2,}"
)
_LONG = re.compile("[A-Za-z]+[0-9]{2,}[A-Za-z]?|[0-9]{3,}")
_YEAR = re.compile("(?:1[5-9]|20)[0-9]{2}")
_SHORT_CODE = re.compile("[A-Z]{2,3}")


def _are_most(some: Sequence[Any], candidates: Sequence[Any]) -> bool:
    """Tell whether candidates with codes are most; if fewer have one, it may be part of a name."""
    return len(some) >= max(3, len(candidates) / 2)


class Code(NamedTuple):
    """What a text begins with before a name, as "Room 12" in "Room 12 Foyer".

    Attributes:
        words: how many words it is.
        end: where it ends in the text as written.
        has_digit: whether there is a number in it.
        is_year: whether it is nothing but a year.
        is_long: whether it is a number of three digits or more, or letters and two.
        denies: whether it may deny the name, as in "NO: parking".
    """

    words: int
    end: int
    has_digit: bool
    is_year: bool = False
    is_long: bool = False
    denies: bool = False


@lru_cache(maxsize=1 << 14)  # of keys, for each query
def code_before(text: str) -> Code | None:
    """Return the code that a text as written begins with, before words; None if it has none.

    >>> [code_before(text) for text in ("12 eggs", "500 ml milk", "S3_BUCKET")]
    [None, None, None]
    >>> [code_before(text).words for text in ("2.02 Guild hall", "Hall 3: Coins", "FR - France")]
    [2, 2, 1]
    """
    if found := _LETTERED.match(text):
        word = found[1].lower()
        denies = word == "no" or look_up(word).denies != 0
        return Code(len(words_of(word)), found.end(), has_digit=False, denies=denies)
    if not (found := _NUMBERED.match(text)) or look_up(found[3].lower()).unit:
        return None
    before, code, _ = found.groups(default="")
    if "_" in found[0] and not code.isdecimal():  # "S3_BUCKET" is an identifier
        return None
    if (
        _is_counted(before.lower())
        or _SIGN.search(found[0])
        or (not before and _WHOLE_CODE.fullmatch(code))
    ):
        is_year, is_long = (
            not before and one.fullmatch(code) is not None for one in (_YEAR, _LONG)
        )
        return Code(len(words_of(found[0])), found.end(), True, is_year, is_long)
    return None


def words_left_out(
    queries: Sequence[Query],
    keys: Keys,
    slots: NDArray[np.intp],
    theirs: NDArray[np.integer[Any]],
) -> NDArray[np.bool_] | None:
    """Return which words of candidates tell nothing, (L, C, W); None if all tell.

    Most of the candidates begin with a code. A query that is the code of one candidate leaves out
    the words behind it. One that has nothing of any code leaves the codes out, as far as the names
    tell the candidates apart; but it may not have more words than the name behind a short code, as
    "public housing" has of "Section 8 Housing". Years alone are no codes.
    """
    different = dict.fromkeys(slots.ravel().tolist())
    names = [exact_text(keys.names[slot])[:LONGEST] for slot in different]
    if not MAY_BE_CODES.search("\n".join(names)):
        return None
    found = dict(zip(different, map(code_before, keys.table.written(names)), strict=True))
    left_out, alive = np.zeros(theirs.shape, np.bool_), keys.alive[slots]
    for i, row in enumerate(slots.tolist()):
        places = alive[i].nonzero()[0].tolist()
        coded = [(j, code) for j in places if (code := found[row[j]])]
        denials = sum(code.denies for _, code in coded)  # but "NO - Norway" is one of many
        are_years = all(code.is_year for _, code in coded)
        if not _are_most(coded, places) or are_years or denials > len(coded) / 4:
            continue
        text = queries[i].text
        parted = [_parted(keys.texts[row[j]], code.words) for j, code in coded]
        befores, behinds = map(Counter, zip(*parted, strict=True))
        has_code = code_before(queries[i].asked[:LONGEST]) is not None or any(
            not _is_apart(text, before, code)
            for (_, code), (before, _) in zip(coded, parted, strict=True)
        )
        are_long = _are_most([j for j, code in coded if code.is_long], places)
        for (j, code), (before, name) in zip(coded, parted, strict=True):
            may_be = (are_long and code.is_long) or _telling(text) <= _telling(name)
            if behinds[name] == 1 and (name == text or (may_be and not has_code)):
                left_out[i, j, : code.words] = True
            elif befores[before] == 1 and _is_code(text, before):
                left_out[i, j, code.words :] = True
    return left_out if left_out.any() else None


def _parted(text: str, count: int) -> tuple[str, str]:
    """Return the first words of a plain text, and the others."""
    words = text.split(" ")
    return " ".join(words[:count]), " ".join(words[count:])


def _is_apart(text: str, before: str, code: Code) -> bool:
    """Tell whether a plain text has nothing of a code, given its words: no number, or no letters.

    A text that is as short as a code of letters may be a slip of it.
    """
    if code.has_digit:
        return not any(map(str.isdigit, text))
    asked = {word for word in text.split(" ") if not look_up(word).is_function}
    return before not in asked and len(text) > len(before) + 1


def _is_counted(word: str) -> bool:
    """Tell whether a word is one that numbers stand behind, as "room"."""
    return "counted" in table_of("kinds").get(word, ())


def _is_code(text: str, before: str) -> bool:
    """Tell whether a plain text is a code, given its words: "room 12", and "item 3" for "3"."""
    words = text.split(" ")
    while len(words) > 1 and _is_counted(words[0]) and words[0] not in before.split(" "):
        del words[0]
    return is_one_text(" ".join(words), before)


def _telling(text: str) -> int:
    """Return how many words of a plain text are no fillers."""
    return sum(not look_up(word).is_filler for word in text.split(" "))


def other_codes(query: Query, keys: Keys, slots: NDArray[np.intp]) -> list[int]:
    """Return the places of the candidates of one query, (C,), that are other codes than it.

    Most of the candidates are two or three capitals that are no common word, as "LHR" and "THR"
    are. A letter that differs makes another code, as a digit does; letters that are exchanged may
    be a slip.
    """
    text = query.text
    if not _SHORT_CODE.fullmatch(query.asked.strip().upper()):
        return []
    alive = keys.alive[slots].nonzero()[0].tolist()
    codes = [
        (j, keys.texts[slots[j]])
        for j in alive
        if _SHORT_CODE.fullmatch(exact_text(keys.names[slots[j]]))
        and not look_up(keys.texts[slots[j]]).is_common
    ]
    if not _are_most(codes, alive):
        return []
    return [j for j, one in codes if len(one) == len(text) and sorted(one) != sorted(text)]


def rest_of(text: str, left_out: NDArray[np.bool_]) -> str:
    """Return a plain text without the words that are left out, (W,)."""
    if not left_out.any():
        return text
    return " ".join(
        word for word, is_out in zip(text.split(" "), left_out, strict=False) if not is_out
    )
