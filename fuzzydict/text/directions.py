"""What tells texts of much the same words apart: sides of directions, aspects, persons."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rapidfuzz.distance import OSA

from fuzzydict.text.lexicon import given_names, look_up, spelled_out, table_of

# But "A/C" is one word.
_SIDES = re.compile(
    r"[^\W\d_](?:\s*>\s*|\s[-\u2013]\s)[^\W\d_]"
    r"|[^\W\d_]{2}\s*/\s*[^\W\d_]|[^\W\d_]\s*/\s*[^\W\d_]{2}"
)
_ASPECTS = dict.fromkeys(("at", "on", "in", "into"), "at")  # "created_on", "log in"
_ASPECTS |= dict.fromkeys(("to", "until", "till"), "to")
_ASPECTS |= {word: word for word in ("by", "for", "from", "of", "with")}
_WHETHER = ("is", "are", "was", "were", "has", "have", "had")
_MOST_BEHIND = 3  # words behind the given name of a person
_SLIP = 0.75  # how alike a surname and a slip of it are, at least; short ones are one edit apart


def is_directed(text: str, words: str) -> bool:
    """Tell whether the order of the words of a text matters, as in "USD/EUR", "miles per hour".

    Given is the text as written, and its words.

    >>> [is_directed(one, one.lower()) for one in ("usd to eur", "Bonn - Ulm", "from home")]
    [True, True, False]
    """
    kinds = table_of("kinds")
    inside = [word for word in words.split(" ")[1:-1] if "direction" in kinds.get(word, ())]
    return bool(inside or (_SIDES.search(text) and _SIDES.search(spelled_out(text))))


def sides_in(words: str) -> list[str]:
    """Return the word of direction that each word of a plain text stands behind, or is.

    What stands before "to", where there is no "from", is from there, and the other way round.

    >>> sides_in("train from bonn to ulm"), sides_in("usd to eur"), sides_in("ulm from bonn")
    (['', 'from', 'from', 'to', 'to'], ['from', 'to', 'to'], ['to', 'from', 'from'])
    """
    kinds, side, sides = table_of("kinds"), "", list[str]()
    for word in words.split(" "):
        if "direction" in kinds.get(word, ()):
            side = "to" if word in ("into", "onto") else word
        sides.append(side)
    for one, other in (("to", "from"), ("from", "to")):
        if one in sides and other not in sides:
            sides = [side or other for side in sides]
    return sides


def aspect_of(words: str) -> str:
    """Return what a plain text tells of a thing: the preposition at its end, or "is" for whether.

    Prepositions that may be exchanged have one name; it is "" if there is neither.

    >>> aspect_of("created on"), aspect_of("created by"), aspect_of("is created"), aspect_of("name")
    ('at', 'by', 'is', '')
    """
    first, _, last = words.rpartition(" ")
    whether = "is" if first.split(" ")[0] in _WHETHER else ""
    return _ASPECTS.get(last, whether)


def are_turned(
    places: Sequence[tuple[int, int]], ours: Sequence[str], theirs: Sequence[str]
) -> bool:
    """Tell whether words, at these places of a query and a key, change sides of a direction.

    Given are the sides of the words of both, as of `sides_in`. Words change sides if one comes from
    the side of another, which takes its place; or, if no side is in both, if their order changes.

    >>> are_turned([(0, 2), (2, 0)], sides_in("usd to eur"), sides_in("eur to usd"))
    True
    >>> are_turned([(1, 4), (3, 2)], sides_in("to ulm from bonn"), sides_in("bus from bonn to ulm"))
    False
    """
    if {*ours} & {*theirs} <= {""}:
        order = [key for _, key in places]
        return order != sorted(order)
    moves = {(ours[m], theirs[k]) for m, k in places}
    return any(one != other and (other, one) in moves for one, other in moves)


def are_other_persons(text: str, key: str, written: str) -> bool:
    """Tell whether a query and a key begin with given names and share no word behind them.

    Given are both as plain texts, and the key as written: the name of a person has capitals. Slips
    are shared, and initials tell nothing. Common words, as "mark", are no given names here.

    >>> are_other_persons("david cost", "david price", "David Price")
    True
    >>> are_other_persons("david prise", "david price", "David Price")
    False
    >>> are_other_persons("julia package", "julia library", "Julia library")
    False
    """
    (first, *ours), (their_first, *theirs) = text.split(" "), key.split(" ")
    if not (ours and theirs) or max(len(ours), len(theirs)) > _MOST_BEHIND:
        return False
    if min(map(len, [*ours, *theirs])) == 1 or not all(w[0].isupper() for w in written.split()):
        return False
    firsts = [look_up(first), look_up(their_first)]
    if not all(one.group == given_names() and not one.is_common for one in firsts):
        return False
    return all(
        OSA.normalized_similarity(one, another) < _SLIP and OSA.distance(one, another) > 1
        for one in ours
        for another in theirs
    )
