"""Why a query finds a key, in sentences for the page of ``fuzzydict explore``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzydict.errors import quoted
from fuzzydict.text.words import shortened

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fuzzydict.results.explanation import Explanation, Word
    from fuzzydict.search.score import Parts

_MOST = 6  # words
_STAND_INS = 3  # of a word
_WIDE = 40  # characters of a key or word
_LEAST = 0.0005  # probability that is told
_BECAUSE = {
    "spelling": "it is spelled alike",
    "meaning": "it means much the same",
    "words": "its words match one by one",
}


def reasons(explanation: Explanation) -> list[str]:
    """Return sentences that say why a query finds its key, or none.

    >>> from fuzzydict import FuzzyDict
    >>> for line in reasons(FuzzyDict({"price": 1, "brand": 2}).explain("cost")):
    ...     print(line)
    Known words: cost.
    'price' has 0.992, because it means much the same.
    The next key, 'brand', has 0.000.
    The probability that no key is right is 0.008.
    """
    if explanation.taught:  # then the key is compared with itself
        return ["What was taught comes before all that is only similar."]
    return [*_of_words(explanation), *_of_keys(explanation)]


def _of_words(explanation: Explanation) -> Iterator[str]:
    words = explanation.words[:_MOST]
    if words and not explanation.tells_words:
        yield "The encoder does not tell which words it knows."
        return
    known = [shortened(word.text, _WIDE) for word in words if word.known]
    if known:
        yield f"Known words: {', '.join(known)}."
    for word in words:
        if not word.known:
            yield _unknown(word)
    if len(explanation.words) > _MOST:
        yield f"It has {len(explanation.words) - _MOST} more words."


def _unknown(word: Word) -> str:
    name = quoted(word.text, _WIDE)
    if not word.stand_ins:
        return f"{name} is not known, and no known word is like it."
    similar = [shortened(text, _WIDE) for text, _ in word.stand_ins[:_STAND_INS]]
    verb = "stands" if len(similar) == 1 else "stand"
    return f"{name} is not known; {_joined(similar)} {verb} in for it."


def _of_keys(explanation: Explanation) -> Iterator[str]:
    if explanation.equal:
        yield "An equal key always comes first."
        return
    best, next_best = explanation.best, explanation.runner_up
    if best.score == -np.inf:
        return
    yield f"{_named(best.key)} has {best.score:.3f}{_because(explanation.best_parts)}."
    if next_best is not None and next_best.score > -np.inf:
        yield f"The next key, {_named(next_best.key)}, has {next_best.score:.3f}."
    if explanation.none is not None:
        yield f"The probability that no key is right is {explanation.none:.3f}."


def _because(parts: Parts | None) -> str:
    """Return the parts of a probability, the largest first; nothing of other scores."""
    if parts is None:
        return ""
    shares = {reason: getattr(parts, part) for part, reason in _BECAUSE.items()}
    ranked = sorted(shares.items(), key=lambda item: -item[1])
    told = [(reason, share) for reason, share in ranked if share >= _LEAST]
    if len(told) == 1:
        return f", because {told[0][0]}"
    several = ", ".join(f"{share:.3f} because {reason}" for reason, share in told)
    return f": {several}" if told else ""


def _named(key: Any) -> str:
    return quoted(key, _WIDE)


def _joined(names: Sequence[str]) -> str:
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)
