"""Keys, and queries of them that were never asked, by kind: slips, known words, made up words.

No text comes twice in a process, whatever the dict: what a word means is remembered beyond a dict.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import product, repeat
from string import ascii_lowercase
from typing import TypeVar

from rapidfuzz import process
from rapidfuzz.distance import OSA

from fuzzydict import Brown
from fuzzydict.embedding.word_vectors import English

T = TypeVar("T")
Kind = Callable[[Sequence[str]], Iterator[str]]  # of keys; gives queries

_FREQUENT = 20_000  # a word with such a count, or a larger one: twenty in a million
_SHORTEST = 4  # letters of a word that slips are made in
_SINGLE = 20_000  # so many keys or fewer are single words, more are two words each

_ONSETS = [*"bdfghjklmnprstvwz", "bl", "br", "ch", "pl", "qu", "sh", "st", "tr"]
_VOWELS = [*"aeiou", "ai", "ea", "oo", "ou"]
_CODAS = [*"bdgmnprtx", "ck", "ft", "ld", "nd", "rn", "sh"]

_asked: set[str] = set()  # all texts that came in this process


def key_texts(count: int, seed: int = 0, most: int = 2) -> list[str]:
    """Return different keys of two to ``most`` words."""
    chance, words = random.Random(seed), [word for word in Brown().words if word.isalpha()]
    keys: dict[str, None] = {}
    while len(keys) < count:
        size = 2 if most == 2 else chance.randint(2, most)
        keys[" ".join(chance.choice(words) for _ in range(size))] = None
    return list(keys)


def keys_of(count: int, seed: int = 0) -> list[str]:
    """Return different keys: words, or where these are too few, two words each."""
    if count > _SINGLE:
        return key_texts(count, seed)
    return random.Random(seed).sample(_words(), count)


#: The four slips of a finger: each gives all words that one makes of a word.
SLIPS: Mapping[str, Callable[[str], Iterator[str]]] = {
    "letter put in": lambda word: (
        word[:i] + letter + word[i:] for i, letter in product(range(len(word) + 1), ascii_lowercase)
    ),
    "letter left out": lambda word: (word[:i] + word[i + 1 :] for i in range(len(word))),
    "letter replaced": lambda word: (
        word[:i] + letter + word[i + 1 :]
        for i, letter in product(range(len(word)), ascii_lowercase)
    ),
    "two letters swapped": lambda word: (
        word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in range(len(word) - 1)
    ),
}


def slips(keys: Sequence[str], slip: str, *, frequent: bool) -> Iterator[str]:
    """Yield new keys with a slip, which is no known word, in a frequent word or in a rare one."""
    chance = random.Random(f"{slip} {frequent}")

    def of_key(key: str) -> Iterator[str]:
        words, counts, known = key.split(), _counts(), _known()
        found = [
            " ".join([*words[:i], wrong, *words[i + 1 :]])
            for i, word in enumerate(words)
            if len(word) >= _SHORTEST and (counts.get(word, 0) >= _FREQUENT) == frequent
            for wrong in dict.fromkeys(SLIPS[slip](word))
            if wrong not in known
        ]
        return iter(chance.sample(found, len(found)))

    return _fresh(in_turns(map(of_key, chance.sample(keys, len(keys)))), keys)


def any_slips(keys: Sequence[str], which: Iterable[str] = tuple(SLIPS)) -> Iterator[str]:
    """Yield slips of some kinds, or of all four, in frequent and in rare words by turns."""
    kinds = product(which, (True, False))
    return in_turns(slips(keys, slip, frequent=frequent) for slip, frequent in kinds)


def changed(word: str, chance: random.Random) -> str:
    """Return a word with a letter left out, added or changed, or two swapped."""
    place, letter = chance.randrange(len(word) - 1), chance.choice(ascii_lowercase)
    before, at, after = word[:place], word[place], word[place + 1 :]
    swapped = before + after[0] + at + after[1:]
    return chance.choice(
        [before + after, before + letter + at + after, before + letter + after, swapped]
    )


def known(keys: Sequence[str], count: int) -> Iterator[str]:
    """Yield texts of ``count`` words of the table that are no keys, as long as there are."""
    chance, words = random.Random(f"known {count}"), _words()
    if count == 1:
        return _fresh(chance.sample(words, len(words)), keys)
    return _fresh((" ".join(chance.choices(words, k=count)) for _ in repeat(None)), keys)


def made_up(keys: Sequence[str]) -> Iterator[str]:
    """Yield without end words of two to four syllables that nobody knows, no slips of keys."""
    chance, words = random.Random("made up"), list({word for key in keys for word in key.split()})

    def of_syllables() -> Iterator[str]:
        while True:
            starts = (
                chance.choice(_ONSETS) + chance.choice(_VOWELS) for _ in range(chance.randint(2, 4))
            )
            yield "".join(starts) + chance.choice(_CODAS)

    for query in _fresh(of_syllables(), keys):
        near = process.extractOne(query, words, scorer=OSA.distance, score_cutoff=1)
        if query not in _known() and near is None:
            yield query


def sharing_a_word(keys: Sequence[str], seed: int) -> Iterator[str]:
    """Yield without end the first word of a key beside another word, which are no key."""
    barred, chance = set(keys), random.Random(seed)
    words = [word for word in Brown().words if word.isalpha()]
    while True:
        query = f"{chance.choice(keys).split()[0]} {chance.choice(words)}"
        if query not in barred:
            barred.add(query)
            yield query


#: What is asked of a dict of some keys, by the name of its kind.
KINDS: Mapping[str, Kind] = {
    **{
        f"{slip}, {name} word": partial(slips, slip=slip, frequent=frequent)
        for name, frequent in (("frequent", True), ("rare", False))
        for slip in SLIPS
    },
    "a known word": partial(known, count=1),
    "two known words": partial(known, count=2),
    "a word never seen": made_up,
    "five known words": partial(known, count=5),
}


def cells(keys: Sequence[str]) -> Iterator[str]:
    """Yield what a column holds in place of keys of two words, a third each.

    A slip in one of the words; a form (endings, capitals, "_", the words the other way round); one
    of the words beside a word that no key has.
    """
    chance, other, words = random.Random("forms"), random.Random("other words"), _words()
    endings = ("", "s", "ed", "ing", "er", "ly", "'s")

    def forms(key: str) -> Iterator[str]:
        found = list[str]()
        for a, b in product(endings, repeat=2):
            first, second = (word + end for word, end in zip(key.split(), (a, b), strict=True))
            for text in (f"{first} {second}", f"{second} {first}"):
                one, two = text.split()
                large = one.capitalize(), two.capitalize()
                found += [text, " ".join(large), text.upper(), f"{one}_{two}", one + large[1]]
        return iter(chance.sample(found, len(found)))

    def beside() -> Iterator[str]:
        while True:
            pair = [other.choice(other.choice(keys).split()), other.choice(words)]
            yield " ".join(other.sample(pair, 2))

    made = _fresh(in_turns(map(forms, keys)), keys)
    return in_turns([any_slips(keys), made, _fresh(beside(), keys)])


def in_turns(sources: Iterable[Iterator[T]]) -> Iterator[T]:
    """Yield one of each source, by turns, until all are at their end."""
    while True:
        left = []
        for source in sources:
            for one in source:
                left.append(source)
                yield one
                break
        if not left:
            return
        sources = left


def _fresh(texts: Iterable[str], keys: Sequence[str]) -> Iterator[str]:
    """Yield those texts that are no keys, and never came before."""
    barred = set(keys)
    for text in texts:
        if text not in barred and text not in _asked:
            _asked.add(text)
            yield text


@cache
def _words() -> list[str]:
    return [word for word in Brown().words if word.isalpha() and word.islower()]


@cache
def _counts() -> dict[str, int]:
    return dict(zip(Brown().words, Brown().counts.tolist(), strict=True))


@cache
def _known() -> frozenset[str]:
    return frozenset(Brown().words).union(English().words)
