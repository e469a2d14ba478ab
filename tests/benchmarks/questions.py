"""Retrieval sets to choose by, of several kinds: none of them asks what is excluded.

python -m tests.benchmarks.questions [--exclude FILE...] -o FOLDER
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from string import ascii_lowercase

from fuzzydict import Brown, FuzzyDictError, MissingCorpusError
from fuzzydict.retrieval import Dictionary, Query, RetrievalSet, read_sets

from .development import pairs_of

__all__ = ["KINDS", "question_sets"]

#: How much each kind counts: slips, synonyms and phrases alike; what is made of words, little.
KINDS: Mapping[str, float] = {
    "typos": 1.0,
    "variants": 0.25,
    "synonyms": 1.0,
    "phrases": 1.0,
    "phrases with a word in common": 0.1,
    "phrases with a slip": 0.05,
    "inflections": 0.05,
    "random slips": 0.05,
    "a word of a phrase": 0.1,
    "a word of a phrase with a slip": 0.1,
    "random slips beside phrases": 0.2,
}
# Dictionaries of each kind: how many, of how many keys, asked how many queries.
_SIZES = ((2, 1000, 190), (3, 300, 60), (8, 100, 20), (16, 30, 6), (40, 8, 2))
_FREQUENT = 5  # occurrences of a word that is a key
_SLIPS = 6000
_FEW = 8  # phrases of a word that is asked for alone
_SEED = 7

Answers = Mapping[str, Collection[str]]


def question_sets(excluded: Collection[frozenset[str]]) -> Iterator[RetrievalSet]:
    """Yield a set for each of `KINDS`.

    Args:
        excluded: pairs that are not asked, in either direction. A query or correction of a slip
            in one of them is left out altogether.

    Raises:
        FuzzyDictError: WordNet or codespell is not on this machine.
    """
    rng = random.Random(_SEED)
    counts = dict(zip(Brown().words, Brown().counts.tolist(), strict=True))
    words = [word for word, n in counts.items() if n >= _FREQUENT and word.isalpha()]
    synonyms = _synonyms(counts)
    phrases = sorted(text for text in synonyms if " " in text)
    mixed = [*rng.sample(phrases, len(words) // 3), *words]  # keys are words more often
    single = {a: {b for b in bs if " " not in b} & set(words) for a, bs in synonyms.items()}
    apart, shared = _of_phrases(synonyms, common=False), _of_phrases(synonyms, common=True)
    barred = {text for pair in excluded for text in pair}
    of_names, of_slips, names = _words_of_names(counts, words)
    beside = {word: phrase for phrase in phrases for word in phrase.split()}
    beside = {word: beside[word] for word in words if word in beside}
    made: dict[str, tuple[Answers, Sequence[str]]] = {
        "typos": (_codespell("dictionary.txt", set(words), barred), words),
        "variants": (_variants(counts, barred), words),
        "synonyms": ({a: bs for a, bs in single.items() if " " not in a}, words),
        "phrases": (apart, mixed),
        "phrases with a word in common": (shared, mixed),
        "phrases with a slip": (_changed(phrases, words, rng), mixed),
        "inflections": (_inflections(words), words),
        "random slips": (_misspelled(words, counts, rng), words),
        "a word of a phrase": (of_names, names),
        "a word of a phrase with a slip": (of_slips, names),
        "random slips beside phrases": (
            _misspelled(sorted(beside), counts, random.Random(_SEED)),
            words,
        ),
    }
    for kind in KINDS:
        companions = beside if "beside" in kind else {}
        yield _set(kind, *made[kind], synonyms, excluded, rng, companions)


def _set(
    kind: str,
    answers: Answers,
    others: Sequence[str],
    synonyms: Answers,
    excluded: Collection[frozenset[str]],
    rng: random.Random,
    beside: Mapping[str, str],
) -> RetrievalSet:
    """Return dictionaries of keys, each wanted one with the key that is to be beside it."""
    waiting = sorted(query for query in answers if answers[query])
    rng.shuffle(waiting)
    most = len(waiting) // 6 + 1  # so that small sets, too, make several dictionaries

    def right(query: str) -> set[str]:
        return {key for key in answers[query] if frozenset((query, key)) not in excluded}

    dictionaries = []
    for count, size, asked in _SIZES:
        for _ in range(count):
            wanted = _wanted(waiting, right, min(asked, most), rng)
            also = [beside[key] for key in wanted.values() if key in beside]
            keys = _filled([*wanted.values(), *also], wanted, others, size, rng)
            queries = []
            for query in wanted:
                alike = (*answers[query], *synonyms.get(query, ()))
                pairs = {frozenset((query, key)) for key in set(alike) & set(keys)}
                if pairs.isdisjoint(excluded):
                    queries.append(Query(query, frozenset(right(query) & set(keys))))
            if queries:
                dictionaries.append(Dictionary(keys, queries))
    return RetrievalSet(kind, dictionaries)


def _wanted(
    waiting: list[str], right: Callable[[str], set[str]], count: int, rng: random.Random
) -> dict[str, str]:
    """Take queries from those waiting, each with the key that it is to find."""
    wanted: dict[str, str] = {}
    while waiting and len(wanted) < count:
        query = waiting.pop()
        keys = sorted(right(query) - wanted.keys())
        if keys and query not in wanted.values():
            wanted[query] = rng.choice(keys)
    return wanted


def _filled(
    some: Sequence[str],
    queries: Collection[str],
    others: Sequence[str],
    size: int,
    rng: random.Random,
) -> list[str]:
    keys = dict.fromkeys(some)
    while len(keys) < size:
        other = rng.choice(others)
        if other not in queries:
            keys[other] = None
    shuffled = list(keys)
    rng.shuffle(shuffled)
    return shuffled


# ---- slips --------------------------------------------------------------------------------


def _codespell(name: str, words: Collection[str], barred: Collection[str]) -> Answers:
    """Return the misspellings of codespell's list that have one correction, which is a word."""
    found = defaultdict[str, set[str]](set)
    for line in _codespell_file(name).read_text(encoding="utf-8").splitlines():
        wrong, arrow, corrections = line.lower().partition("->")
        options = [option.strip() for option in corrections.split(",") if option.strip()]
        if not arrow or len(options) != 1 or options[0] not in words or not wrong.isalpha():
            continue
        if wrong not in barred and options[0] not in barred and wrong != options[0]:
            found[wrong].add(options[0])
    return found


def _variants(words: Collection[str], barred: Collection[str]) -> Answers:
    british = _codespell("dictionary_en-GB_to_en-US.txt", words, barred)
    oxford = _codespell("dictionary_en_to_en-OX_AUTOGENERATED.txt", words, barred)
    return {**oxford, **british}


def _codespell_file(name: str) -> Path:
    spec = find_spec("codespell_lib")
    if spec is None or spec.origin is None:
        raise FuzzyDictError("codespell is not installed; install it with: pip install codespell")
    return Path(spec.origin).parent / "data" / name


def _misspelled(words: Sequence[str], known: Collection[str], rng: random.Random) -> Answers:
    """Return words with a letter left out, added, changed, or two swapped; none is a word."""
    some = rng.sample([word for word in words if len(word) > 3], min(_SLIPS, len(words) // 2))
    return {wrong: {word} for word in some if (wrong := _slip(word, rng)) not in known}


def _slip(word: str, rng: random.Random) -> str:
    place, letter = rng.randrange(len(word) - 1), rng.choice(ascii_lowercase)
    before, at, after = word[:place], word[place], word[place + 1 :]
    swapped = before + after[0] + at + after[1:]
    return rng.choice(
        [before + after, before + letter + at + after, before + letter + after, swapped]
    )


def _changed(phrases: Sequence[str], words: Sequence[str], rng: random.Random) -> Answers:
    """Return phrases with a slip, without a word, with one too many, in another order, joined."""
    found: dict[str, set[str]] = {}
    for phrase in rng.sample(phrases, min(_SLIPS, len(phrases))):
        parts = phrase.split()
        place = rng.randrange(len(parts))
        shorter = [*parts[:place], *parts[place + 1 :]] if len(parts) > 2 else parts[::-1]
        slipped = _slip(parts[place], rng) if len(parts[place]) > 3 else parts[place]
        longer = [*parts[:place], rng.choice(words), *parts[place:]]
        changes = [shorter, longer, parts[::-1], ["".join(parts)]]
        changes.append([*parts[:place], slipped, *parts[place + 1 :]])
        query = " ".join(rng.choice(changes))
        if query not in phrases:
            found[query] = {phrase}
    return found


# ---- meanings -----------------------------------------------------------------------------


def _synonyms(words: Collection[str]) -> Answers:
    """Return WordNet's synonyms of each word and phrase that is made of known words."""
    from nltk.corpus import wordnet

    try:
        synsets = list(wordnet.all_synsets())
    except LookupError as error:
        raise MissingCorpusError(
            "WordNet is not on this machine; fetch it with: python -m nltk.downloader wordnet"
        ) from error
    found = defaultdict[str, set[str]](set)
    for synset in synsets:
        names = {lemma.name().replace("_", " ").lower() for lemma in synset.lemmas()}
        names = {n for n in names if all(w in words and w.isalpha() for w in n.split())}
        for name in names:
            found[name] |= names - {name}
    return found


def _of_phrases(synonyms: Answers, *, common: bool) -> Answers:
    """Return the synonyms of which one is a phrase, and which share a word, or do not."""
    return {
        a: {
            b
            for b in bs
            if (" " in a or " " in b) and bool(set(a.split()) & set(b.split())) is common
        }
        for a, bs in synonyms.items()
    }


def _words_of_names(
    known: Collection[str], words: Sequence[str]
) -> tuple[Answers, Answers, Sequence[str]]:
    """Return words and the phrases that they are of, the same with a slip, and keys to add.

    The phrases are WordNet's, of words known or not; each word is of a few of them.
    """
    from nltk.corpus import wordnet

    rng = random.Random(_SEED)  # of its own, so that the other kinds stay what they were
    phrases = sorted({name.replace("_", " ").lower() for name in wordnet.all_lemma_names()})
    phrases = [p for p in phrases if " " in p and all(w.isalpha() for w in p.split())]
    found = defaultdict[str, set[str]](set)
    for phrase in phrases:
        for word in phrase.split():
            found[word].add(phrase)
    few = {word: of for word, of in found.items() if len(word) > 3 and len(of) <= _FEW}
    some = rng.sample(sorted(few), min(_SLIPS, len(few)))
    asked, slipped = some[::2], {_slip(word, rng): few[word] for word in some[1::2]}
    slips = {slip: of for slip, of in slipped.items() if slip not in known and slip not in found}
    return {word: few[word] for word in asked}, slips, [*rng.sample(phrases, len(words)), *words]


def _inflections(words: Sequence[str]) -> Answers:
    """Return for each word those of the same stem."""
    from nltk.stem.snowball import SnowballStemmer

    stem, families = SnowballStemmer("english").stem, defaultdict[str, set[str]](set)
    for word in words:
        families[stem(word)].add(word)
    return {word: family - {word} for family in families.values() for word in family}


def main(argv: Sequence[str] | None = None) -> None:
    """Write the sets to a folder, a file each, so that others can leave their pairs out too."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.questions", description="Write the questions as files."
    )
    parser.add_argument("--exclude", metavar="FILE", nargs="+", type=Path, default=[])
    parser.add_argument("-o", "--output", metavar="FOLDER", type=Path, required=True)
    options = parser.parse_args(argv)
    try:
        options.output.mkdir(parents=True, exist_ok=True)
        for one in question_sets(pairs_of(read_sets(options.exclude))):
            file = options.output / f"{one.name.replace(' ', '-')}.json"
            file.write_text(json.dumps(_as_json(one), indent=1), encoding="utf-8")
    except (FuzzyDictError, OSError) as error:
        parser.error(str(error))


def _as_json(one: RetrievalSet) -> dict[str, list[object]]:
    return {
        "dictionaries": [
            {
                "keys": dictionary.keys,
                "queries": [
                    {"query": query.text, "accept": sorted(query.accept)}
                    for query in dictionary.queries
                ],
            }
            for dictionary in one.dictionaries
        ]
    }


if __name__ == "__main__":
    main()
