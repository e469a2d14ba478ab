"""Fits the weights of ``scorer="spelling"``, and shows what its probabilities are worth.

The keys are identifiers of one to three words, which share words as those of a configuration do.
A query is a key with a slip, another form, an abbreviation, or its words in another order; or it
is another identifier, which no key is right for: with another word, one more, or one less. Half of
the dicts are fitted on, and the other half is measured.

    python -m tests.benchmarks.identifiers [--exclude FILE...]
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fuzzydict import Brown, FuzzyDictError
from fuzzydict.embedding.calibration import OF_SPELLING, Calibration
from fuzzydict.embedding.no_vectors import NO_VECTORS
from fuzzydict.evaluation.datasets import read_sets
from fuzzydict.evaluation.evaluate import expected_calibration_error, shown_command
from fuzzydict.search.features import Query
from fuzzydict.search.key_index import Keys
from fuzzydict.search.score import SpellingScore, log_odds, log_probabilities
from fuzzydict.text.similarity import likenesses

from .development import pairs_of
from .likelihood import Question, calibrate
from .report import print_report
from .spellings import Answers, abbreviated, codespell, inflections, slip

__all__ = ["main"]

_COMMAND = "python -m tests.benchmarks.identifiers"
_FREQUENT = 5  # occurrences of a word of the keys
_SIZES = {4: 80, 12: 80, 40: 40, 300: 8, 1000: 4}  # keys of a dict, and how many dicts
_ASKED = 4  # queries of each kind, to a small dict; more to a large one
_SEED = 11
_NEAR = 2000  # words among which the one most like another is sought

#: From the words of a key to those of a query; None if that is not possible.
Change = Callable[[list[str]], "list[str] | None"]


class Kind(NamedTuple):
    """A kind of queries: what is done to the words of a key, and whether it is still the key."""

    change: Change
    is_same: bool
    weight: float


class Asked(NamedTuple):
    """A question, and what it was made from."""

    question: Question
    kind: str
    is_fitted: bool


def main(argv: Sequence[str] | None = None) -> None:
    """Fit, and print the weights and what they are worth."""
    parser = argparse.ArgumentParser(
        prog=_COMMAND, description="Fit the weights of the score by spelling."
    )
    parser.add_argument(
        "--exclude",
        metavar="FILE",
        nargs="+",
        type=Path,
        default=[],
        help="retrieval sets (or folders of them) whose pairs are not asked, in either direction",
    )
    given = parser.parse_args(argv)
    try:
        asked = list(_asked({text for pair in pairs_of(read_sets(given.exclude)) for text in pair}))
    except (FuzzyDictError, OSError) as error:
        parser.error(str(error))
    fitted = [a.question for a in asked if a.is_fitted]
    calibration = calibrate(fitted, OF_SPELLING, with_growth=True)
    for name in ("spelling", "meaning", "words"):
        weights = getattr(calibration.unknown, name)
        print(f"{name}={tuple(round(weight, 2) for weight in weights)},")
    print(f"growth={calibration.growth:.2f}")
    command = shown_command(
        *_COMMAND.split(), *(["--exclude", *given.exclude] * bool(given.exclude))
    )
    held_out = [a for a in asked if not a.is_fitted]
    kinds = dict.fromkeys(a.kind for a in held_out)
    print_report(
        f"Queries of the other half of the dicts. Made by `{command}`",
        ("queries", "number", "right", "wrong", "refused", "calibration error"),
        [_worth(kind, [a for a in held_out if a.kind == kind], calibration) for kind in kinds]
        + [_worth("all", held_out, calibration)],
    )


# ---- queries --------------------------------------------------------------------------------


def _asked(barred: set[str]) -> Iterator[Asked]:
    """Yield questions, every second dict's to be fitted on; ``barred`` words are left out."""
    counts = dict(zip(Brown().words, Brown().counts.tolist(), strict=True))
    words = [w for w, n in counts.items() if n >= _FREQUENT and w.isalpha() and w not in barred]
    rng, families = random.Random(_SEED), inflections(words)
    kinds = _kinds(words, counts, families, barred, rng)
    number = 0
    for size, times in _SIZES.items():
        for _ in range(times):
            number += 1
            keys = _identifiers(words, size, rng)
            for name, kind in kinds.items():
                for question in _questions(keys, kind, families, max(_ASKED, size // 10), rng):
                    weight = kind.weight / (len(_SIZES) * times * max(_ASKED, size // 10))
                    yield Asked(question._replace(weight=weight), name, number % 2 == 0)


def _kinds(
    words: Sequence[str],
    counts: Mapping[str, int],
    families: Answers,
    barred: set[str],
    rng: random.Random,
) -> dict[str, Kind]:
    slips, short = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for found, by_word in (
        (codespell("dictionary.txt", set(words), barred), slips),
        (abbreviated(words, counts, random.Random(_SEED)), short),
    ):
        for query, right in found.items():
            for word in right:
                by_word[word].append(query)

    def one(change: Callable[[str], str | None]) -> Change:
        """Change one word."""

        def changed(parts: list[str]) -> list[str] | None:
            for place in rng.sample(range(len(parts)), len(parts)):
                new = change(parts[place])
                if new is not None:
                    return [*parts[:place], new, *parts[place + 1 :]]
            return None

        return changed

    def of(found: Mapping[str, Sequence[str]]) -> Callable[[str], str | None]:
        return lambda word: rng.choice(sorted(found[word])) if found.get(word) else None

    def slipped(word: str) -> str | None:
        return slip(word, rng) if len(word) > 3 else None

    def like(word: str) -> str | None:
        """Return another word that is spelled much like this one."""
        some = [o for o in rng.sample(words, _NEAR) if o not in families[word] and o != word]
        near = some[int(likenesses([word], some).argmax())]
        return near if abs(len(near) - len(word)) < 3 else None

    return {
        "slip": Kind(one(slipped), True, 1.0),
        "misspelling": Kind(one(of(slips)), True, 1.0),
        "form": Kind(one(of({w: sorted(f) for w, f in families.items()})), True, 0.5),
        "abbreviation": Kind(one(of(short)), True, 1.0),
        "order": Kind(lambda parts: parts[::-1] if len(parts) > 1 else None, True, 0.5),
        "together": Kind(lambda parts: ["".join(parts)] if len(parts) > 1 else None, True, 0.25),
        "another word": Kind(one(lambda _: rng.choice(words)), False, 2.0),
        "a word spelled like it": Kind(one(like), False, 1.0),
        "a word less": Kind(
            lambda parts: rng.sample(parts, len(parts) - 1) if len(parts) > 1 else None, False, 1.0
        ),
        "a word more": Kind(lambda parts: [*parts, rng.choice(words)], False, 1.0),
        "other words": Kind(lambda parts: [rng.choice(words) for _ in parts], False, 1.0),
    }


def _identifiers(words: Sequence[str], size: int, rng: random.Random) -> list[list[str]]:
    """Return the words of so many different identifiers, of which many share one."""
    shared = rng.sample(words, 1 + size // 5)
    found: dict[tuple[str, ...], None] = {}
    while len(found) < size:
        parts = [rng.choice(words) for _ in range(rng.choice((1, 1, 2, 2, 3)))]
        if len(parts) > 1:
            parts[rng.randrange(len(parts))] = rng.choice(shared)
        if len(set(parts)) == len(parts):
            found[tuple(parts)] = None
    return [list(parts) for parts in found]


def _questions(
    identifiers: Sequence[list[str]], kind: Kind, families: Answers, count: int, rng: random.Random
) -> Iterator[Question]:
    names = ["_".join(parts) for parts in identifiers]
    keys = Keys.of(NO_VECTORS, names, *NO_VECTORS.encode_with_trust(names))
    there = {_stems(parts, families) for parts in identifiers}
    for parts in rng.sample(identifiers, min(count, len(identifiers))):
        changed = kind.change(parts)
        if changed is None or "_".join(changed) in names:
            continue
        if not kind.is_same and _stems(changed, families) in there:
            continue
        query = Query.of("_".join(changed), NO_VECTORS)
        right = [keys.slots["_".join(parts)]] if kind.is_same else []
        features = SpellingScore().features([query], keys)
        yield Question(features, 0.0, np.array(right, np.intp), 1.0, absent=kind.is_same)


def _stems(parts: Sequence[str], families: Answers) -> frozenset[str]:
    """Return one word of the family of each word."""
    return frozenset(min([word, *families.get(word, ())]) for word in parts)


# ---- what the score is worth ------------------------------------------------------------------


def _worth(kind: str, asked: Sequence[Asked], calibration: Calibration) -> list[object]:
    """Return how many answers are right and wrong at the default cutoff."""
    scores, rights = list[float](), list[bool]()
    for question in (a.question for a in asked):
        (odds,) = log_odds(question.features, [question.known], calibration)
        logs = log_probabilities(odds, calibration.growth)
        scores.append(float(np.exp(logs.max())))
        rights.append(int(logs.argmax()) in question.right)
    given = np.array(scores) >= SpellingScore.score_cutoff
    right = int((given & np.array(rights)).sum())
    error = expected_calibration_error(scores, rights)
    return [kind, len(asked), right, int(given.sum()) - right, len(asked) - int(given.sum()), error]


if __name__ == "__main__":
    main()
