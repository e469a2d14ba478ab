"""Codes beside names: "2500 Loan", "Room 12 Foyer", "Germany - DE"; and codes alone.

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

#: What several names have if there may be codes beside them.
MAY_BE_CODES = re.compile(r"[0-9]|[A-Z]{2}(?:[]):]| [\u2013-])|[\u2013-] [A-Z]{2}")
# A code with digits, which a word may stand before; and with the name behind it, or before it.
_CODE = r"(?:([^\W\d_]+)\.?[ _])?([A-Za-z]*-?[0-9]+[A-Za-z]?(?:[.-][0-9]+[A-Za-z]?)*)"
_NUMBERED = re.compile(rf"\W*{_CODE}(?:[.):]?[\s_]+|\s*[\u2013-]\s*)(?=([^\W\d_]{{2,}}))")
_NUMBERED_BEHIND = re.compile(
    rf"(?<=[^\W\d_]{{2}})(?:\s*[,/:#\u2013-]\s*#?|\s+[(\[#]|[\s_]+){_CODE}[)\]]?\Z"
)
# Letters, which a sign must part from the name.
_LETTERED = re.compile(r"\W*([A-Z]{2,4})(?:[]):]|\s[\u2013-])\s(?=\w)")
_LETTERED_BEHIND = re.compile(r"(?<=\w)\s[\u2013-]\s([A-Z]{2,4})\Z")
# What a short number has if it is a code: "2 eggs" are no "2. Eggs".
_SIGN = re.compile(r"[\xa7#]|[.):]\s|\s[\u2013-]\s")
_SIGNS_BESIDE = " _,/:#()[]-\u2013"
_SIGN_BEHIND = re.compile(r"[#(\[/]|\s[\u2013-]\s")
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
    """What a text has before a name, as "Room 12" in "Room 12 Foyer", or behind it.

    Attributes:
        words: how many words it is.
        border: where it ends in the text as written, or begins if it is behind the name.
        is_behind: whether it is behind the name.
        has_digit: whether there is a number in it.
        is_year: whether it is nothing but a year.
        is_long: whether it is a number of three digits or more, or letters and two.
        denies: whether it may deny the name, as in "NO: parking".
    """

    words: int
    border: int
    is_behind: bool
    has_digit: bool
    is_year: bool = False
    is_long: bool = False
    denies: bool = False

    def parted(self, text: str) -> tuple[str, str]:
        """Return the code and the name of the text as written."""
        first, last = text[: self.border], text[self.border :]
        return (last.strip(_SIGNS_BESIDE), first) if self.is_behind else (first, last)

    def place(self, count: int) -> slice:
        """Return the place of the code among the words of the text, given how many these are."""
        return slice(count - self.words, count) if self.is_behind else slice(self.words)


@lru_cache(maxsize=1 << 14)  # of keys, for each query
def code_of(text: str) -> Code | None:
    """Return the code that a text as written has before words, or behind; None if it has none.

    >>> [code_of(text) for text in ("12 eggs", "500 ml milk", "S3_BUCKET", "Gate 12")]
    [None, None, None, None]
    >>> [code_of(text).words for text in ("2.02 Guild hall", "Hall 3: Coins", "FR - France")]
    [2, 2, 1]
    >>> code_of("Guild hall (2.02)").parted("Guild hall (2.02)")
    ('2.02', 'Guild hall')
    """
    text = text.rstrip()
    if found := _LETTERED.match(text):
        word = found[1].lower()
        denies = word == "no" or look_up(word).denies != 0
        count = len(words_of(word))
        return Code(count, found.end(), is_behind=False, has_digit=False, denies=denies)
    if found := _LETTERED_BEHIND.search(text):
        return Code(len(words_of(found[1])), found.start(), is_behind=True, has_digit=False)
    found, code = _NUMBERED.match(text), None
    if found and not look_up(found[3].lower()).unit:
        code = _numbered(found, found.end(), _SIGN)
    if code is None and (found := _NUMBERED_BEHIND.search(text)):
        code = _numbered(found, found.start(), _SIGN_BEHIND)
    return code


def _numbered(found: re.Match[str], border: int, sign: re.Pattern[str]) -> Code | None:
    """Return the code with digits that was found, if it is one."""
    before, code = found[1] or "", found[2]
    if "_" in found[0] and not code.isdecimal():  # "S3_BUCKET" is an identifier
        return None
    is_whole = not before and _WHOLE_CODE.fullmatch(code)
    if not (is_whole or _is_counted(before.lower()) or sign.search(found[0])):
        return None
    is_year, is_long = (not before and one.fullmatch(code) is not None for one in (_YEAR, _LONG))
    is_behind = sign is _SIGN_BEHIND
    return Code(len(words_of(found[0])), border, is_behind, True, is_year, is_long)


def words_left_out(
    queries: Sequence[Query],
    keys: Keys,
    slots: NDArray[np.intp],
    theirs: NDArray[np.integer[Any]],
) -> NDArray[np.bool_] | None:
    """Return which words of candidates tell nothing, (L, C, W); None if all tell.

    Most of the candidates begin or end with a code. A query that is the code of one candidate
    leaves out its other words. One that has nothing of any code leaves the codes out, as far as the
    names tell the candidates apart; but it may not have more words than the name beside a short
    code, as "public housing" has of "Section 8 Housing". Years alone are no codes.
    """
    different = dict.fromkeys(slots.ravel().tolist())
    names = [exact_text(keys.names[slot])[:LONGEST] for slot in different]
    if not MAY_BE_CODES.search("\n".join(names)):
        return None
    found = dict(zip(different, map(code_of, keys.table.written(names)), strict=True))
    left_out, alive = np.zeros(theirs.shape, np.bool_), keys.alive[slots]
    for i, row in enumerate(slots.tolist()):
        places = alive[i].nonzero()[0].tolist()
        coded = [(j, code) for j in places if (code := found[row[j]])]
        denials = sum(code.denies for _, code in coded)  # but "NO - Norway" is one of many
        are_years = all(code.is_year for _, code in coded)
        if not _are_most(coded, places) or are_years or denials > len(coded) / 4:
            continue
        text = queries[i].text
        parted = [_parted(keys.texts[row[j]], code) for j, code in coded]
        of_codes, of_names = map(Counter, zip(*parted, strict=True))
        has_code = code_of(queries[i].asked[:LONGEST]) is not None or any(
            not _is_apart(text, one, code)
            for (_, code), (one, _) in zip(coded, parted, strict=True)
        )
        are_long = _are_most([j for j, code in coded if code.is_long], places)
        for (j, code), (one, name) in zip(coded, parted, strict=True):
            may_be = (are_long and code.is_long) or _telling(text) <= _telling(name)
            is_out = of_names[name] == 1 and (name == text or (may_be and not has_code))
            if is_out or (of_codes[one] == 1 and _is_code(text, one)):
                left_out[i, j] = not is_out
                left_out[i, j, code.place(int(keys.counts[row[j]]))] = is_out
    return left_out if left_out.any() else None


def _parted(text: str, code: Code) -> tuple[str, str]:
    """Return the words of a plain text that are its code, and the others."""
    words = text.split(" ")
    place = code.place(len(words))
    own = words[place]
    del words[place]
    return " ".join(own), " ".join(words)


def _is_apart(text: str, own: str, code: Code) -> bool:
    """Tell whether a plain text has nothing of a code, given its words: no number, or no letters.

    A text that is as short as a code of letters may be a slip of it.
    """
    if code.has_digit:
        return not any(map(str.isdigit, text))
    asked = {word for word in text.split(" ") if not look_up(word).is_function}
    return own not in asked and len(text) > len(own) + 1


def _is_counted(word: str) -> bool:
    """Tell whether a word is one that numbers stand behind, as "room"."""
    return "counted" in table_of("kinds").get(word, ())


def _is_code(text: str, own: str) -> bool:
    """Tell whether a plain text is a code, given its words: "room 12", and "item 3" for "3"."""
    words = text.split(" ")
    while len(words) > 1 and _is_counted(words[0]) and words[0] not in own.split(" "):
        del words[0]
    return is_one_text(" ".join(words), own)


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
