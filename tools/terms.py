"""The terms of WordNet, read straight from its files: names, meanings, and what is below what."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations
from typing import NamedTuple

from fuzzydict import MissingCorpusError

from .rewriting import respelled

__all__ = ["Term", "Terms", "terms"]

_FILES = {"noun": "n", "verb": "v", "adj": "a"}
_BELOW = {"~"}  # narrower terms
_BESIDE = {"&", "^"}  # similar adjectives, and what to see also
_INSTANCE = "~i"
_PERTAINS = "\\"
_OPPOSED = "!"


class Term(NamedTuple):
    """A meaning: the texts that name it, how often each is used, and what it says of itself."""

    names: tuple[str, ...]
    counts: tuple[int, ...]
    part: str  # of speech
    field: int  # the number of the file of WordNet's lexicographers
    gloss: str
    pointers: tuple[tuple[str, str, int, int], ...]  # kind, the other's id, which of the names

    @property
    def name(self) -> str:
        """The first of the names."""
        return self.names[0]

    @property
    def is_frequent(self) -> bool:
        """Whether any of the names was met in texts."""
        return any(self.counts)

    @property
    def others(self) -> list[str]:
        """The names other than the first, those in use first."""
        order = sorted(range(1, len(self.names)), key=lambda i: -self.counts[i])
        return [self.names[i] for i in order]


class Terms:
    """All terms of WordNet, and ways from one to others."""

    def __init__(self, by_id: dict[str, Term]) -> None:
        self.by_id = by_id
        self._of = defaultdict[str, list[str]](list)
        for key, term in by_id.items():
            for name in term.names:
                self._of[name.lower()].append(key)

    def of(self, text: str) -> list[Term]:
        """Return the terms that a text names, the most frequent ones first."""
        found = [self.by_id[key] for key in self._of.get(text.lower(), ())]
        return sorted(found, key=lambda term: -max(term.counts))

    def means(self, text: str) -> set[str]:
        """Return what else a text may be called, in lower case: synonyms, and what is broader."""
        found = set[str]()
        for term in self.of(text):
            found.update(name.lower() for name in term.names)
            for kind, other, *_ in term.pointers:
                if kind in ("@", "@i", _PERTAINS, "+"):
                    found.update(name.lower() for name in self.by_id[other].names)
        return found

    def near(self, term: Term, kinds: Sequence[str] = ("@",)) -> list[Term]:
        """Return the terms that one points to by some kind of pointer."""
        return [self.by_id[other] for kind, other, *_ in term.pointers if kind in kinds]

    def below(self, term: Term, depth: int = 3) -> list[Term]:
        """Return the terms below one, or beside an adjective, each once."""
        kinds = _BESIDE if term.part in "as" else _BELOW | {_INSTANCE}
        found, last = dict[str, Term](), [term]
        for _ in range(1 if term.part in "as" else depth):
            ids = [o for one in last for kind, o, *_ in one.pointers if kind in kinds]
            last = [self.by_id[one] for one in dict.fromkeys(ids) if one not in found]
            found.update((one, self.by_id[one]) for one in ids)
        return list(found.values())

    @cache  # noqa: B019, there is one
    def pools(self) -> list[tuple[Term, list[Term]]]:
        """Return each term that has at least six others below it, with them."""
        found = []
        for _, term in sorted(self.by_id.items()):
            under = [
                one for i, one in enumerate(self.below(term)) if one.is_frequent or i % 10 == 0
            ]
            if len(under) >= 6:
                found.append((term, under[:3000]))
        return found

    @cache  # noqa: B019, there is one
    def all(self) -> list[Term]:
        """Return all terms, in a fixed order."""
        return [term for _, term in sorted(self.by_id.items())]

    @cache  # noqa: B019, there is one
    def frequent(self) -> list[Term]:
        """Return the terms that were met in texts."""
        return [term for term in self.all() if term.is_frequent]

    @cache  # noqa: B019, there is one
    def compounds(self) -> dict[str, list[str]]:
        """Return for each word the nouns of two words that begin or end with it."""
        found = defaultdict[str, list[str]](list)
        names = {name for term in self.by_id.values() if term.part == "n" for name in term.names}
        for name in sorted(names):
            parts = name.split()
            if len(parts) == 2 and all(part.isalpha() and len(part) > 2 for part in parts):
                for part in {part.lower(): part for part in parts}:
                    found[part].append(name)
        return dict(found)

    @cache  # noqa: B019, there is one
    def spellings(self) -> list[tuple[str, str]]:
        """Return pairs of names of one term that rules of British and American spelling join."""
        found = set[tuple[str, str]]()
        for term in self.by_id.values():
            if len(term.names) > 1:
                rules = [respelled(name.lower()) for name in term.names]
                for i, j in combinations(range(len(rules)), 2):
                    a, b = term.names[i].lower(), term.names[j].lower()
                    if rules[i] == rules[j] and a != b:
                        found.add((a, b))
        return sorted(found)

    @cache  # noqa: B019, there is one
    def opposites(self) -> list[tuple[str, str]]:
        """Return the pairs of names that WordNet opposes, either way round."""
        return sorted(
            {
                (term.names[i], self.by_id[other].names[j])
                for term in self.by_id.values()
                for kind, other, i, j in term.pointers
                if kind == _OPPOSED
            }
        )

    @cache  # noqa: B019, there is one
    def pertaining(self) -> dict[str, list[str]]:
        """Return the adjectives of each noun: "renal" of "kidney"."""
        found = defaultdict[str, list[str]](list)
        for _, term in sorted(self.by_id.items()):
            for kind, other, i, _ in term.pointers:
                if kind == _PERTAINS and term.part == "a":
                    for noun in self.by_id[other].names:
                        found[noun.lower()].append(term.names[i])
        return dict(found)


@cache
def terms() -> Terms:
    """Return the nouns, verbs and adjectives of WordNet.

    Raises:
        MissingCorpusError: WordNet is not on this machine.
    """
    from nltk.corpus import wordnet

    try:
        counts = _counts(wordnet.open("index.sense").read())
        found = {}
        for file, part in _FILES.items():
            for line in wordnet.open(f"data.{file}").read().splitlines():
                if not line.startswith("  "):
                    key, term = _term(line, part, counts)
                    found[key] = term
    except LookupError as error:
        raise MissingCorpusError(
            "WordNet is not on this machine; fetch it with: python -m nltk.downloader wordnet"
        ) from error
    kept = {
        key: term._replace(pointers=tuple(p for p in term.pointers if p[1] in found))
        for key, term in found.items()
    }
    return Terms(kept)


def _counts(index: str) -> dict[tuple[str, str, str], int]:
    """Return how often each name has each meaning, from ``name%pos:...  offset  sense  count``."""
    found = {}
    for line in index.splitlines():
        sense, offset, _, count = line.split()
        name, _, rest = sense.partition("%")
        if count != "0":
            found[name, offset, "nvara"[int(rest[0]) - 1]] = int(count)
    return found


def _term(line: str, part: str, counts: dict[tuple[str, str, str], int]) -> tuple[str, Term]:
    """Return a term of a line of WordNet's data files, and its id."""
    data, _, gloss = line.partition(" | ")
    offset, field, _, number, *fields = data.split()
    names = [re.sub(r"\(.*\)", "", name) for name in fields[: 2 * int(number, 16) : 2]]
    pointers = _pointers(fields[2 * int(number, 16) :], len(names))
    texts = tuple(name.replace("_", " ").replace("'s", "s") for name in names)
    times = tuple(counts.get((name.lower(), offset, part), 0) for name in names)
    gloss = re.split('; "', gloss)[0].strip()
    return part + offset, Term(texts, times, part, int(field), gloss, tuple(pointers))


def _pointers(fields: Sequence[str], names: int) -> Iterator[tuple[str, str, int, int]]:
    for i in range(int(fields[0])):
        kind, offset, part, ends = fields[1 + 4 * i : 5 + 4 * i]
        source, target = max(int(ends[:2], 16) - 1, 0), max(int(ends[2:], 16) - 1, 0)
        yield kind, part.replace("s", "a") + offset, min(source, names - 1), target
