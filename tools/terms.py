"""The terms of WordNet, read straight from its files: names, meanings, and what is below what."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from itertools import combinations
from typing import NamedTuple

from fuzzydict import MissingCorpusError

from .rewriting import respelled

__all__ = ["Term", "Terms", "terms"]

_PERTAINS = "\\"


class Term(NamedTuple):
    """A meaning: the texts that name it, how often each is used, and what it says of itself."""

    names: tuple[str, ...]
    counts: tuple[int, ...]
    part: str  # of speech
    field: int  # the number of the file of WordNet's lexicographers
    gloss: str
    examples: tuple[str, ...]  # sentences in which it is used
    pointers: tuple[tuple[str, str, int, int], ...]  # kind, the other's id, which of the names

    @property
    def name(self) -> str:
        """The first of the names."""
        return self.names[0]

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

    def broader(self, term: Term) -> list[Term]:
        """Return the terms right above one."""
        return [self.by_id[other] for kind, other, *_ in term.pointers if kind == "@"]

    def above(self, text: str) -> set[str]:
        """Return a text and all that it is a kind of, in lower case: a "forename" is a "name"."""
        found, last = dict[int, Term](), self.of(text)
        while last:
            found.update((id(term), term) for term in last)
            last = [b for term in last for b in self.broader(term) if id(b) not in found]
        return {name.lower() for term in found.values() for name in term.names}

    def below(self, term: Term, depth: int = 3) -> list[Term]:
        """Return the terms below one, or beside an adjective, each once."""
        is_adjective = term.part in "as"
        kinds = ("&", "^") if is_adjective else ("~", "~i")
        found, last = dict[str, Term](), [term]
        for _ in range(1 if is_adjective else depth):
            ids = [o for one in last for kind, o, *_ in one.pointers if kind in kinds]
            last = [self.by_id[one] for one in dict.fromkeys(ids) if one not in found]
            found.update((one, self.by_id[one]) for one in ids)
        return list(found.values())

    @cache  # noqa: B019, there is one
    def pools(self) -> list[tuple[Term, list[Term]]]:
        """Return each term that has at least six others below it, with them."""
        found = []
        for term in self.all():
            below = enumerate(self.below(term))
            under = [one for i, one in below if any(one.counts) or i % 10 == 0]
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
        return [term for term in self.all() if any(term.counts)]

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
            for a, b in combinations(map(str.lower, term.names), 2):
                if a != b and respelled(a) == respelled(b):
                    found.add((a, b))
        return sorted(found)

    @cache  # noqa: B019, there is one
    def opposites(self) -> list[tuple[str, str]]:
        """Return the pairs of names that WordNet opposes, either way round."""
        pairs = {
            (term.names[i], self.by_id[other].names[j])
            for term in self.by_id.values()
            for kind, other, i, j in term.pointers
            if kind == "!"
        }
        return sorted(pairs)

    @cache  # noqa: B019, there is one
    def pertaining(self) -> dict[str, list[str]]:
        """Return the adjectives of each noun: "renal" of "kidney"."""
        found = defaultdict[str, list[str]](list)
        for term in self.all():
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
        index = wordnet.open("index.sense").read()
        files = {part: wordnet.open(f"data.{file}").read() for part, file in _FILES.items()}
    except LookupError as error:
        raise MissingCorpusError(
            "WordNet is not on this machine; fetch it with: python -m nltk.downloader wordnet"
        ) from error
    counts = {}  # how often a name has a meaning, from ``name%pos:...  offset  sense  count``
    for line in index.splitlines():
        sense, offset, _, count = line.split()
        name, _, rest = sense.partition("%")
        if count != "0":
            counts[name, offset, "nvara"[int(rest[0]) - 1]] = int(count)
    found = {}
    for part, text in files.items():
        for line in text.splitlines():
            if not line.startswith("  "):
                key, term = _term(line, part, counts)
                found[key] = term
    return Terms(
        {
            key: term._replace(pointers=tuple(p for p in term.pointers if p[1] in found))
            for key, term in found.items()
        }
    )


_FILES = {"n": "noun", "v": "verb", "a": "adj"}


def _term(line: str, part: str, counts: dict[tuple[str, str, str], int]) -> tuple[str, Term]:
    """Return a term of a line of WordNet's data files, and its id."""
    data, _, gloss = line.partition(" | ")
    offset, field, _, number, *fields = data.split()
    end = 2 * int(number, 16)
    names = [re.sub(r"\(.*\)", "", name) for name in fields[:end:2]]
    pointers = []
    for i in range(end + 1, end + 1 + 4 * int(fields[end]), 4):
        kind, other, its_part, ends = fields[i : i + 4]
        source, target = max(int(ends[:2], 16) - 1, 0), max(int(ends[2:], 16) - 1, 0)
        key = its_part.replace("s", "a") + other
        pointers.append((kind, key, min(source, len(names) - 1), target))
    texts = tuple(name.replace("_", " ").replace("'s", "s") for name in names)
    times = tuple(counts.get((name.lower(), offset, part), 0) for name in names)
    gloss, *quoted = re.split('; "', gloss)
    examples = tuple(text.strip().rstrip(';" ') for text in quoted)
    about = part, int(field), gloss.strip(), examples, tuple(pointers)
    return part + offset, Term(texts, times, *about)
