"""Small dicts as people have them, each of one field, and what people ask of them.

The keys are words that WordNet puts below one more general word, or names made of a few words, such
as the columns of a table. So they are siblings, which are harder to tell apart than words drawn at
random. What is asked has a right key, or is about a sibling that is not among the keys.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from fuzzydict import Brown, MissingCorpusError
from fuzzydict.evaluation.datasets import Dictionary, Query, RetrievalSet
from fuzzydict.text.words import plain

from .spellings import shortened, slip

__all__ = ["FIELD_KINDS", "field_sets"]

#: How much each kind counts. People ask for a key in other words about as often as they write it
#: otherwise, and every fifth time for something that is not there.
FIELD_KINDS: Mapping[str, float] = {
    "field: typo": 0.5,
    "field: form": 0.5,
    "field: abbreviation": 0.5,
    "field: synonym": 0.5,
    "field: synonym not learned": 0.5,
    "field: description": 0.5,
    "field: part": 0.25,
    "field: absent": 0.8,
}
_SIZES = (1, 2, 3, 5, 8, 12, 20, 30, 40, 40)
_ASKED = 6  # queries of a dictionary at most
_MIXED = 0.6  # share of dictionaries with keys of two fields
_LEFT = 3  # siblings that are left out of a dictionary, to be asked for
_COMPOUNDS = 240  # dictionaries of names of several words
_WRITTEN_OTHERWISE = 0.4  # share of the queries for absent siblings that are not their names
_WITH_JARGON = 0.4  # share of the dictionaries of names whose words are abbreviated alike
_FEWEST, _MOST = 6, 50  # words of a field
_FREQUENT = 30  # occurrences of a word in names
_LONGEST = 6  # words of a description
_ARTICLES = {"a", "an", "the", "any", "of", "some"}
_SEED = 11


class Entry(NamedTuple):
    """A thing that a key may stand for: its name, and what else people may call it."""

    name: str
    forms: tuple[str, ...] = ()
    synonyms: tuple[str, ...] = ()
    descriptions: tuple[str, ...] = ()
    opposites: tuple[str, ...] = ()


def field_sets(
    excluded: Collection[frozenset[str]], synonyms: Collection[frozenset[str]]
) -> Iterator[RetrievalSet]:
    """Yield a set for each of `FIELD_KINDS`; the fields are the same, in the same order.

    Args:
        excluded: pairs that are not asked, in either direction.
        synonyms: pairs that the projections were not learned from.

    Raises:
        MissingCorpusError: WordNet is not on this machine.
    """
    rng, barred = random.Random(_SEED), {frozenset(map(plain, pair)) for pair in excluded}
    made: dict[str, list[Dictionary]] = {kind: [] for kind in FIELD_KINDS}
    fields = [*_fields(), *_names_of_fields()]
    for field in fields:
        others = rng.choice(fields) if rng.random() < _MIXED else []
        keys, asked = _asked(field, others, rng)
        queries = defaultdict[str, list[Query]](list)
        for kind, query in asked:
            if not any(frozenset((plain(query.text), plain(key))) in barred for key in keys):
                queries[kind].append(query)
        for kind, some in queries.items():
            made[f"field: {kind}"].append(Dictionary(keys, some))
    made["field: synonym not learned"] = list(_beside_siblings(synonyms, rng))
    yield from (RetrievalSet(kind, made[kind]) for kind in FIELD_KINDS)


# ---- what is asked -------------------------------------------------------------------------


def _asked(
    field: Sequence[Entry], others: Sequence[Entry], rng: random.Random
) -> tuple[list[str], list[tuple[str, Query]]]:
    """Return the keys of a dictionary, and queries with their kinds.

    The keys are of a field, less some siblings that are asked for, and of another field.
    """
    some, most = rng.sample(field, len(field)), rng.choice(_SIZES)
    size = max(1, min(most, len(some) * 3 // 4))
    here, gone = some[:size], some[size : size + _LEFT]
    siblings = {entry.name for entry in some}
    here += [entry for entry in others if entry.name not in siblings][: most - size]
    style, is_short = rng.choice(_STYLES), rng.random() < 0.15
    names = {e.name: (is_short and shortened(e.name, rng)) or e.name for e in here}
    keys = {e.name: style(names[e.name]) for e in here}
    listed = set(keys.values())
    barred = {text for e in here for text in (e.name, *e.synonyms)}
    kinds = ["typo", "form", "abbreviation", "synonym", "description", "part"]
    asked: list[tuple[str, Query]] = []
    for entry in (rng.sample(here, min(len(here), _ASKED)) * 2)[:_ASKED]:
        kind = rng.choice([*kinds, "synonym"])
        if is_short:
            kind, text = "abbreviation", entry.name
        else:
            text = _other_text(kind, entry, here, rng)
        if text and text not in listed and text not in barred - {entry.name, *entry.synonyms}:
            asked.append((kind, Query(rng.choice(_STYLES)(text), frozenset([keys[entry.name]]))))
    for entry in gone:
        kind = rng.choice(kinds) if rng.random() < _WRITTEN_OTHERWISE else "itself"
        text = entry.name if kind == "itself" else _other_text(kind, entry, here + gone, rng)
        if text and text not in listed | barred:
            asked.append(("absent", Query(rng.choice(_STYLES)(text), frozenset())))
    opposites = [word for e in here for word in e.opposites if word not in listed | barred]
    if opposites:
        asked.append(("absent", Query(rng.choice(opposites), frozenset())))
    return list(dict.fromkeys(keys.values())), asked


def _other_text(kind: str, entry: Entry, all_entries: Sequence[Entry], rng: random.Random) -> str:
    """Return what people may write for an entry, maybe nothing."""
    if kind == "typo":
        return _with_slip(entry.name, rng)
    if kind == "form":
        return rng.choice([*entry.forms, *_rearranged(entry.name)] or [""])
    if kind == "abbreviation":
        return shortened(entry.name, rng)
    if kind == "synonym":
        return rng.choice(entry.synonyms or [""])
    if kind == "description":
        return rng.choice(entry.descriptions or [""])
    telling = [word for word in entry.name.split() if _is_telling(word, all_entries)]
    return rng.choice(telling) if telling and " " in entry.name else ""


def _is_telling(word: str, entries: Sequence[Entry]) -> bool:
    return len(word) > 2 and sum(word in entry.name.split() for entry in entries) == 1


def _with_slip(name: str, rng: random.Random) -> str:
    parts = name.split()
    places = [i for i, part in enumerate(parts) if len(part) > 3]
    if not places:
        return ""
    place = rng.choice(places)
    parts[place] = slip(parts[place], rng)
    if len(parts[place]) > 6 and rng.random() < 0.3:
        parts[place] = slip(parts[place], rng)
    return " ".join(parts)


def _rearranged(name: str) -> list[str]:
    parts = name.split()
    if len(parts) == 1:
        return []
    turned = " ".join(parts[::-1])
    return ["".join(parts), turned, f"{parts[-1]} of the {' '.join(parts[:-1])}"]


def _snake(text: str) -> str:
    return text.replace(" ", "_")


def _camel(text: str) -> str:
    first, *others = text.split()
    return first + "".join(map(str.capitalize, others))


_STYLES: Sequence[Callable[[str], str]] = (str, str, str.title, _snake, str.upper, _camel)


# ---- fields of WordNet -----------------------------------------------------------------------


def _fields() -> Iterator[list[Entry]]:
    """Yield the words below each synset that has many, most of them known words."""
    from nltk.corpus import wordnet

    known = set(Brown().words)
    try:
        synsets = list(wordnet.all_synsets())
    except LookupError as error:
        raise MissingCorpusError(
            "WordNet is not on this machine; fetch it with: python -m nltk.downloader wordnet"
        ) from error
    rng, used = random.Random(_SEED), set[str]()
    rng.shuffle(synsets)
    for synset in synsets:
        entries = dict[str, Entry]()
        for below in rng.sample(sorted(_below(synset)), min(len(_below(synset)), 2 * _MOST)):
            entry = _entry(below)
            if entry is not None and entry.name not in used:
                entries[entry.name] = entry
        some = [entry for entry in entries.values() if _is_known(entry.name, known)][:_MOST]
        rare = [entry for entry in entries.values() if not _is_known(entry.name, known)]
        some += rare[: len(some) // 4]
        if len(some) >= _FEWEST:
            used.update(entry.name for entry in some)
            yield some


def _beside_siblings(
    synonyms: Collection[frozenset[str]], rng: random.Random
) -> Iterator[Dictionary]:
    """Yield for each pair a dictionary of one of them, what is beside it in WordNet, and others."""
    from nltk.corpus import wordnet

    others = sorted({text for pair in synonyms for text in pair})
    for pair in sorted(map(sorted, synonyms)):
        query, key = rng.sample(pair, 2) if len(pair) == 2 else (pair[0], pair[0])
        found = wordnet.synsets(key.replace(" ", "_"))
        common = [one for one in found if query.replace(" ", "_") in one.lemma_names()]
        if not common:
            continue
        near = [_text(b.lemmas()[0]) for one in common[0].hypernyms() for b in one.hyponyms()]
        size = rng.choice(_SIZES)
        some = rng.sample(near, min(len(near), size // 2 + 1)) + rng.sample(others, size)
        alike = {name.replace("_", " ").lower() for one in found for name in one.lemma_names()}
        asked = wordnet.synsets(query.replace(" ", "_"))
        alike |= {name.replace("_", " ").lower() for one in asked for name in one.lemma_names()}
        keys = [key, *dict.fromkeys(text for text in some if text and text not in alike)][:size]
        rng.shuffle(keys)
        yield Dictionary(keys, [Query(query, frozenset([key]))])


def _below(synset: Any) -> set[Any]:
    """Return the synsets two steps below a synset, and those one step below that have none."""
    found = set[Any]()
    for child in synset.hyponyms():
        found.update(child.hyponyms() or [child])
    return found


def _is_known(name: str, known: Collection[str]) -> bool:
    return all(word in known for word in name.split())


def _entry(synset: Any) -> Entry | None:
    names = [_text(lemma) for lemma in synset.lemmas()]
    names = [name for name in names if name]
    if not names or len(names[0].split()) > 3 or len(names[0]) < 3:
        return None
    derived = {
        _text(other)
        for lemma in synset.lemmas()[:1]
        for other in lemma.derivationally_related_forms()
    }
    name = names[0]
    return Entry(
        name,
        tuple(sorted({*_inflected(name, synset.pos()), *derived} - {"", name})),
        tuple(other for other in names[1:] if other[:4] != name[:4]),
        tuple(text for text in [_short(synset.definition())] if text and text != name),
        tuple(_text(other) for other in synset.lemmas()[0].antonyms() if _text(other)),
    )


def _text(lemma: Any) -> str:
    """Return the words of a lemma; nothing if it is a name or has other signs than letters."""
    text = str(lemma.name()).replace("_", " ")
    return text if text.islower() and text.replace(" ", "").isalpha() else ""


def _short(definition: str) -> str:
    """Return the beginning of a definition, as short as people are."""
    words = definition.partition(";")[0].partition("(")[0].replace(",", " ").split()
    while words and words[0] in _ARTICLES:
        words = words[1:]
    return " ".join(words) if 0 < len(words) <= _LONGEST else " ".join(words[:_LONGEST])


def _inflected(name: str, pos: str) -> list[str]:
    stem, last = name[:-1], name[-1]
    plural = f"{stem}ies" if last == "y" and name[-2] not in "aeiou" else f"{name}s"
    if last in "sxz" or name.endswith(("ch", "sh")):
        plural = f"{name}es"
    if pos == "n":
        return [plural]
    bare = stem if last == "e" else name
    return [plural, f"{bare}ing", f"{bare}ed"] if pos == "v" else [f"{name}ly"]


# ---- names of several words --------------------------------------------------------------------


def _names_of_fields() -> Iterator[list[Entry]]:
    """Yield names such as the columns of a table: few heads, each with several modifiers."""
    rng = random.Random(_SEED)
    for _ in range(_COMPOUNDS):
        nouns = rng.sample(_common_nouns(), rng.randint(5, 16))
        if rng.random() < _WITH_JARGON:  # "db", which is in many names and in no vocabulary
            nouns = [n if rng.random() < 0.6 else shortened(n, rng) or n for n in nouns]
        some = rng.randint(2, len(nouns) // 2)
        heads, modifiers = nouns[:some], nouns[some:]
        names = {f"{m} {h}" for m in modifiers for h in rng.sample(heads, rng.randint(1, some))}
        entries = [_compound(name, rng) for name in sorted(names)]
        yield [*entries, *(_compound(word, rng) for word in rng.sample(nouns, 1))]


def _compound(name: str, rng: random.Random) -> Entry:
    parts = name.split()
    place = rng.randrange(len(parts))

    def changed(other: str) -> str:
        return " ".join([*parts[:place], other, *parts[place + 1 :]])

    word = parts[place]
    return Entry(
        name,
        tuple(map(changed, _inflected(word, "n"))),
        tuple(map(changed, _synonyms_of(word))),
        tuple(map(changed, _descriptions_of(word))),
        tuple(map(changed, _opposites_of(word))),
    )


@cache
def _common_nouns() -> list[str]:
    """Return the frequent words of Brown that are nouns or adjectives more often than verbs."""
    from nltk.corpus import wordnet

    counts = zip(Brown().words, Brown().counts.tolist(), strict=True)
    frequent = [word for word, n in counts if n >= _FREQUENT and word.isalpha() and len(word) > 2]
    found = []
    for word in frequent:
        senses = wordnet.synsets(word)
        if senses and senses[0].pos() in "na" and word in senses[0].lemma_names():
            found.append(word)
    return found


@cache
def _first_senses(word: str) -> list[Any]:
    """Return the most frequent sense of a word; none of what is no word."""
    from nltk.corpus import wordnet

    return wordnet.synsets(word)[:1] if word in _common_nouns() else []


def _synonyms_of(word: str) -> list[str]:
    names = [_text(lemma) for sense in _first_senses(word) for lemma in sense.lemmas()]
    return [name for name in names if name and name[:4] != word[:4]]


def _descriptions_of(word: str) -> list[str]:
    return [_short(sense.definition()) for sense in _first_senses(word)]


def _opposites_of(word: str) -> list[str]:
    lemmas = [one for sense in _first_senses(word) for one in sense.lemmas()]
    lemmas = [lemma for lemma in lemmas if _text(lemma) == word]
    return [_text(other) for lemma in lemmas for other in lemma.antonyms() if _text(other)]
