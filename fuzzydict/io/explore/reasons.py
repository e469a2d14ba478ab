"""Why a query finds a key, in sentences for the page of ``fuzzydict explore``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzydict.errors import quoted
from fuzzydict.text.words import shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fuzzydict.results.explanation import Explanation, Word
    from fuzzydict.search.judge import Parts

_MOST = 6  # words
_WIDE = 40  # characters of a key or word
_LEAST = 0.05  # log-odds that are told
#: What each part of the log-odds says of a key: for it, and against it.
_SAY = {
    "spelling": ("it is spelled alike", "it is spelled otherwise"),
    "meaning": ("it means much the same", "it means something else"),
    "words": ("its words are matched", "its words are not matched"),
    "against": ("little sets them apart", "something sets them apart"),
    "rivals": ("no other key competes", "other keys compete"),
    "base": ("a key is often meant", "a key is seldom meant"),
}


def reasons(explanation: Explanation) -> list[str]:
    """Return sentences that say why a query finds its key, or none.

    >>> from fuzzydict import FuzzyDict
    >>> told = reasons(FuzzyDict({"price": 1, "brand": 2}).explain("cost"))
    >>> told[0], told[1][:11], told[2][:6]
    ('Known words: cost.', "'price' has", 'For it')
    """
    if explanation.taught:  # then the key is compared with itself
        return ["What was taught comes before all that is only similar."]
    return [*_of_words(explanation), *_of_keys(explanation)]


def _of_words(explanation: Explanation) -> Iterator[str]:
    words = explanation.words[:_MOST]
    known = [shortened(word.text, _WIDE) for word in words if word.known]
    if known:
        yield f"Known words: {', '.join(known)}."
    for word in words:
        if not word.known:
            yield _unknown(word)
    if len(explanation.words) > _MOST:
        yield f"It has {len(explanation.words) - _MOST} more words."
    if words and not explanation.tells_words:
        yield "The encoder compares the text as a whole, and these words are compared beside it."


def _unknown(word: Word) -> str:
    name = quoted(word.text, _WIDE)
    if word.stand_in is None:
        return f"{name} is not known, and no known word is like it."
    return f"{name} is not known; it is taken for {shortened(word.stand_in, _WIDE)}."


def _of_keys(explanation: Explanation) -> Iterator[str]:
    if explanation.equal:
        yield "An equal key always comes first."
        return
    best, next_best = explanation.best, explanation.runner_up
    if best is None or best.score == -np.inf:
        return
    yield f"{_named(best.key)} has {best.score:.3f}."
    yield from _of_parts(explanation.best_parts)
    if next_best is not None and next_best.score > -np.inf:
        yield f"The next key, {_named(next_best.key)}, has {next_best.score:.3f}."
    if explanation.none is not None:
        yield f"The probability that no key is right is {explanation.none:.3f}."


def _of_parts(parts: Parts | None) -> Iterator[str]:
    """Tell what speaks for and against a key, the largest first; nothing of other scores."""
    if parts is None:
        return
    shares = {name: getattr(parts, name) for name in _SAY}
    ranked = sorted(shares, key=lambda name: -abs(shares[name]))
    told = [name for name in ranked if abs(shares[name]) >= _LEAST]
    for title, against in (("For it", False), ("Against it", True)):
        said = [
            f"{_SAY[name][against]} ({shares[name]:+.1f})"
            for name in told
            if (shares[name] < 0) is against
        ]
        if said:
            yield f"{title}: {', '.join(said)}."


def _named(key: Any) -> str:
    return quoted(key, _WIDE)
