"""Questions with known answers, from which the judge of the default score is learned.

Each dict of questions is of one kind of `KINDS`: terms of WordNet, the everyday questions that
were written for this project, or things made of small lists. None of them asks
a pair that a retrieval set asks.
"""

from __future__ import annotations

import json
import string
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from pathlib import Path
from random import Random
from typing import NamedTuple

from rapidfuzz.distance import OSA
from rapidfuzz.process import extract

from fuzzydict.text.lexicon import part_of, stem_of
from fuzzydict.text.words import plain

from . import codes, things
from .rewriting import FILLERS, STYLES, abbreviation, form, listed, plural, respelled, slip
from .terms import Term, terms

__all__ = ["KINDS", "Asked", "Questions", "questions"]


class Asked(NamedTuple):
    """A query, and the keys that are right; none where ``right`` is empty."""

    query: str
    right: frozenset[str]
    kind: str


class Questions(NamedTuple):
    """A dict, and what is asked of it; everyday ones have the number of their field."""

    keys: list[str]
    asked: list[Asked]
    kind: str
    field: int | None = None


def questions(
    count: int, seed: int = 0, *, exclude: Collection[frozenset[str]] = ()
) -> Iterator[Questions]:
    """Yield so many dicts of all kinds, each with its questions.

    Args:
        count: How many dicts.
        seed: The same seed gives the same questions; a dict does not depend on those before it.
        exclude: Pairs of plain texts, as `pairs_in` gives them, that are not asked.
    """
    barred = defaultdict[str, set[str]](set)
    for pair in exclude:
        for text in pair:
            barred[text] |= pair - {text} or {text}
    made = 0
    for i in range(20 * count):
        rng = Random(f"{seed} {i}")
        (kind,) = rng.choices(list(KINDS), [share for share, _ in KINDS.values()])
        make = KINDS[kind][1]
        field = rng.randrange(len(_fields())) if make is _everyday else None
        keys, asked = make(rng) if field is None else _everyday(rng, field)
        one = _checked(keys, asked, kind, barred, rng)._replace(field=field)
        if one.asked and len(one.keys) > 1:
            yield one
            made += 1
        if made == count:
            return


def _checked(
    keys: Sequence[str],
    asked: Sequence[Asked],
    kind: str,
    barred: Mapping[str, Collection[str]],
    rng: Random,
) -> Questions:
    """Return the questions that can be asked: no key is the query, no pair is barred.

    Of two keys of the same words, the first one stays. Few queries have the words of their key.
    """
    by_text = dict[str, str]()
    for key in keys:
        if text := plain(key):
            by_text.setdefault(text, key)
    kept = set(by_text.values())
    lower = {plain(key.lower()) for key in kept}
    found = dict[str, Asked]()
    for one in asked:
        text, right = plain(one.query), one.right & kept
        if not text or one.query in kept or (one.right and not right):
            continue
        if text in by_text and (by_text[text] not in right or rng.random() < 0.6):
            continue
        if lower.isdisjoint(barred.get(plain(one.query.lower()), ())):
            found.setdefault(text, Asked(one.query, right, one.kind))
    order = list(by_text.values())
    rng.shuffle(order)
    return Questions(order, list(found.values()), kind)


# ---- parts of all kinds --------------------------------------------------------------------------

_Made = tuple[Sequence[str], Sequence[Asked]]


def _style(rng: Random) -> Callable[[str], str]:
    """Return how the keys of a dict are written; half of the time as they are."""
    return str if rng.random() < 0.5 else rng.choice(STYLES)


def _rewritten(text: str, rng: Random, ways: Sequence[float] = (3, 3, 3)) -> tuple[str, str]:
    """Return a text with a slip, in another form, or abbreviated; and which of these."""
    choices = [("slip", slip), ("form", form), ("abbreviation", abbreviation)]
    kind, way = rng.choices(choices, ways)[0]
    if way is slip and " " in text and rng.random() < 0.2:  # a slip that makes another word
        words = text.split()
        for place in rng.sample(range(len(words)), len(words)):
            near = _alike(words[place].lower(), False) if words[place].isalpha() else []
            if near:
                other = rng.choice(near[:3])
                words[place] = other.title() if words[place].istitle() else other
                return " ".join(words), kind
    return way(text, rng), kind


@cache
def _frequent_words() -> list[str]:
    """Return the words of WordNet's frequent terms, in lower case."""
    names = {name.lower() for term in terms().frequent() for name in term.names}
    return sorted(name for name in names if name.isalpha() and len(name) > 2)


@cache
def _alike(word: str, is_place: bool) -> list[str]:
    """Return other words of most of the same letters that are no forms of a word."""
    pool = things.places() if is_place else _frequent_words()
    found = extract(word, pool, scorer=OSA.normalized_similarity, score_cutoff=0.6, limit=12)
    return [one for one, *_ in found if stem_of(one.lower()) != stem_of(word.lower())]


def _absent(queries: Iterable[str], kind: str = "absent") -> list[Asked]:
    return [Asked(query, frozenset(), kind) for query in queries]


def _is_another(text: str, keys: AbstractSet[str]) -> bool:
    """Whether a text means none of some keys, in lower case, as far as WordNet knows."""
    return not terms().means(text) & keys and all(text.lower() not in key for key in keys)


def _of_things(rng: Random, all_things: Sequence[things.Thing], most: int = 40) -> _Made:
    """Return a dict of some of the things, what is asked of them, and of some that are left out."""
    some = rng.sample(all_things, len(all_things))
    share = rng.choice([0.4, 0.6, 0.8, 0.95])
    size = max(2, min(round(share * len(some)), most))
    here, gone = some[:size], some[size:]
    style = _style(rng) if some[0].has_styles else str
    meant = defaultdict[str, set[str]](set)  # the keys that a text may mean
    for thing in here:
        for way in (thing.name, *thing.ways):
            meant[plain(way)].add(style(thing.name))
    asked = []
    for thing in (here * 3)[: rng.randint(6, 14)]:
        query, kind = _way_of(thing, rng)
        asked.append(Asked(query, frozenset({style(thing.name)} | meant[plain(query)]), kind))
    absent = [_way_of(t, rng)[0] if rng.random() < 0.5 else t.name for t in gone[:5]]
    absent = absent[: rng.randint(2, 5)]
    misleading = sorted({query for thing in here[:12] for query in thing.absent})
    misleading = [query for query in misleading if rng.random() < 0.3]
    for queries, kind in ((absent, "absent"), (misleading, "contradicting")):
        asked += _absent((query for query in queries if not meant[plain(query)]), kind)
    return [style(thing.name) for thing in here], asked


def _way_of(thing: things.Thing, rng: Random) -> tuple[str, str]:
    if thing.ways and rng.random() < 0.6:
        way = rng.choice(thing.ways)
        return (slip(way, rng), "way with a slip") if rng.random() < 0.07 else (way, "way")
    if not any(thing.rewritten):
        return rng.choice(thing.ways or (thing.name,)), "way"
    return _rewritten(thing.name, rng, thing.rewritten)


# ---- terms of WordNet ----------------------------------------------------------------------------


def _terms(rng: Random) -> _Made:
    """Make a dict of terms below one more general term, partly mixed with others."""
    size = things.drawn_size(rng, 5, 400)
    pool = _pool(rng, size)
    some = rng.sample(pool, min(len(pool), size + 4))
    under, gone = some[:size][: max(5, len(some) - 4)], some[-4:]
    if rng.random() < 0.5:
        under += rng.sample(terms().frequent(), rng.randrange(max(size - len(under), len(under))))
    by_name = {term.name: term for term in reversed(under)}
    style = _style(rng)
    keys, asked = {name: style(name) for name in by_name}, []
    for term in rng.sample(sorted(by_name.values()), min(len(by_name), rng.randint(8, 14))):
        query, kind = _other_words(term, rng)
        asked.append(Asked(query, frozenset([keys[term.name]]), kind))
    lower = {name.lower() for name in keys}
    for term in [*gone[: rng.randint(1, 4)], *rng.sample(terms().frequent(), rng.randint(0, 2))]:
        query = term.name if rng.random() < 0.6 else _other_words(term, rng)[0]
        if _is_another(term.name, lower) and _is_another(query, lower):
            asked += _absent([query])
    # Siblings of keys, compounds of them, siblings of compounds, and denials: no key is right.
    misleading = list[str]()
    for name in rng.sample(sorted(by_name), min(len(by_name), 8)):
        parts = name.lower().split()
        near = [one for part in parts for one in terms().compounds().get(part, ())]
        near = [one for one in near if one.lower() not in lower]
        beside = [t for b in terms().broader(by_name[name]) for t in terms().below(b, 1)]
        if beside and rng.random() < 0.15:
            misleading.append(rng.choice(beside).name)
        if near and len(parts) < 3 and rng.random() < 0.07:
            misleading.append(rng.choice(near))
        if rng.random() < 0.01:
            denials = ["not ", "non ", "no ", "without ", "w/o ", "un"]
            misleading.append(rng.choice(denials) + name)
    asked += _absent((query for query in misleading if _is_another(query, lower)), "misleading")
    return list(keys.values()), asked


def _pool(rng: Random, size: int) -> list[Term]:
    """Return the terms below a more general one, as many as are wanted if a few tries find them."""
    tried = [rng.choice(terms().pools())[1] for _ in range(8)]
    return next((pool for pool in tried if len(pool) >= size), max(tried, key=len))


def _other_words(term: Term, rng: Random) -> tuple[str, str]:
    """Return what else somebody may ask for a term, and the kind of it."""
    chance = rng.random()
    if chance < 0.25 or (chance < 0.65 and not term.others):
        return _rewritten(term.name, rng, (20, 18, 15))
    if chance < 0.65:
        known = [name for name, n in zip(term.names[1:], term.counts[1:], strict=True) if n]
        other = rng.choice(known if known and rng.random() < 0.6 else term.others)
        return (slip(other, rng) if rng.random() < 0.15 else other), "synonym"
    # Or parts of the definition, as short as people are.
    gloss = term.gloss.partition(";")[0].partition("(")[0].strip() or term.gloss
    words = gloss.replace(",", " ").split()
    telling = [word for word in words if word.lower() not in FILLERS]
    broader, chance = terms().broader(term), rng.random()
    if chance < 0.25:
        some = words[: rng.randint(4, 10)]
    elif chance < 0.4 and broader and telling:
        some = [*rng.sample(telling, min(len(telling), rng.randint(1, 2))), broader[0].name]
    elif chance < 0.7:
        some = telling[: rng.randint(2, 6)]
    else:
        start = rng.randrange(max(1, len(telling) - 3))
        some = telling[start : start + rng.randint(2, 4)]
    return " ".join(some), "paraphrase"


def _singles(rng: Random) -> _Made:
    """Make a dict of 200 to 1,000 words that have nothing to do with each other."""
    count = things.drawn_size(rng, 200, 1000)
    frequent = terms().frequent() if rng.random() < 0.6 else terms().all()
    keys, asked = dict[str, Term](), []
    for term in rng.sample(frequent, count):
        keys.setdefault(rng.choice(term.names).lower(), term)
    texts = set(keys)
    shuffled = rng.sample(sorted(keys), len(keys))
    for key in shuffled[:24]:
        others = [name.lower() for name in keys[key].names if name.lower() != key]
        if others and (query := rng.choice(others)) not in texts:
            right = {key, *(_named(query) & texts)}
            asked.append(Asked(query, frozenset(right), "synonym"))
    for key in shuffled[-16:]:
        query, kind = _rewritten(key, rng, (4, 1, 0))
        asked.append(Asked(query, frozenset([key]), kind))
    names = [term.name.lower() for term in rng.sample(frequent, 6)]
    return list(keys), asked + _absent(name for name in names if _is_another(name, texts))


def _named(text: str) -> set[str]:
    """Return the names of all terms that a text names, in lower case."""
    return {name.lower() for term in terms().of(text) for name in term.names}


def _compounds(rng: Random) -> _Made:
    """Make a dict of nouns of one word, asked for compounds of them: "cheesecake" is no cheese."""
    compounds, longer, size = terms().compounds(), _longer(), things.drawn_size(rng, 3, 60)
    nouns = [t for t in _pool(rng, size) if t.part == "n" and t.name.isalpha() and t.name.islower()]
    by_name = {term.name: term for term in nouns[: rng.randint(0, size)]}
    for word in rng.sample(sorted(longer), size):
        by_name.setdefault(word, next(t for t in terms().of(word) if t.part == "n"))
    numbers: Sequence[Callable[[str], str]] = (str, str, plural)
    keys, style, number = set(by_name), _style(rng), rng.choice(numbers)
    written = {name: style(number(name)) for name in by_name}
    asked = list[Asked]()
    for name in rng.sample(sorted(keys), min(len(keys), 12)):
        query, kind = _other_words(by_name[name], rng)
        asked.append(Asked(query, frozenset([written[name]]), kind))
        if rng.random() < 0.3:
            query = f"{rng.choice(listed('adjectives'))} {name}"
            asked.append(Asked(query, frozenset([written[name]]), "narrower"))
        closed = [one for one in longer.get(name, ()) if part_of(name, one)]
        query = rng.choice(closed or compounds.get(name) or [name])
        if rng.random() < 0.3:
            query = rng.choice(compounds.get(name) or [query])
        if query == name:
            continue
        if terms().above(query) & keys == {name} and query.endswith(name):
            asked.append(Asked(query, frozenset([written[name]]), "narrower"))
        elif _is_another(query, keys) and (not query.endswith(f" {name}") or rng.random() < 0.8):
            asked += _absent([query], "misleading")
    return list(written.values()), asked


def _look_alikes(rng: Random) -> _Made:
    """Make a dict of names or words, asked for others of nearly the same letters."""
    are_places = rng.random() < 0.5
    pool = things.places() if are_places else _frequent_words()
    keys = rng.sample(pool, things.drawn_size(rng, 2, 60))
    style = _style(rng)
    lower, asked = {key.lower() for key in keys}, []
    for key in rng.sample(keys, min(len(keys), 8)):
        near = [one for one in _alike(key, are_places) if _is_another(one, lower)]
        asked += _absent(rng.sample(near, min(len(near), 2)), "another word")
        query, kind = _rewritten(key, rng, (3, 1, 0))
        if query.lower() not in _known():
            asked.append(Asked(query, frozenset([style(key)]), kind))
    return [style(key) for key in keys], asked


@cache
def _known() -> frozenset[str]:
    """Return the words and places that no slip is taken for."""
    return frozenset([*_frequent_words(), *map(str.lower, things.places())])


def _spellings(rng: Random) -> _Made:
    """Make a dict of words, asked in British spelling where they are American, and the reverse."""
    pairs = rng.sample(terms().spellings(), rng.randint(4, 20))
    texts = {text for pair in pairs for text in pair}
    keys, asked = [], []
    for a, b in pairs:
        query, key = (a, b) if rng.random() < 0.5 else (b, a)
        keys.append(key)
        query = slip(query, rng) if rng.random() < 0.1 else query
        asked.append(Asked(query, frozenset([key]), "spelling"))
    others = rng.sample(terms().frequent(), things.drawn_size(rng, 4, 400))
    names = [term.name.lower() for term in others]
    keys += [name for name in names if respelled(name) not in texts and _is_another(name, texts)]
    lower = {key.lower() for key in keys}
    absent = [a for a, _ in rng.sample(terms().spellings(), 3)]
    return keys, asked + _absent(a for a in absent if _is_another(a, lower))


# ---- everyday questions --------------------------------------------------------------------------


@cache
def _fields() -> list[tuple[list[str], list[Asked]]]:
    """Return the keys and the questions of the fields that were written for this project."""
    text = Path(__file__).with_name("everyday_questions.json").read_text("utf-8")
    found = []
    for one in json.loads(text)["dictionaries"]:
        asked = [Asked(q["query"], frozenset(q["accept"]), q["kind"]) for q in one["queries"]]
        found.append((one["keys"], asked))
    return found


def _everyday(rng: Random, field: int | None = None) -> _Made:
    """Make a dict of all keys of a field or of some, with its own questions and made ones."""
    every, written = rng.choice(_fields()) if field is None else _fields()[field]
    keys = list(every)
    if rng.random() < 0.6:
        keys = rng.sample(keys, max(4, round(len(keys) * rng.uniform(0.3, 1))))
    here = set(keys)
    asked = []
    for one in rng.sample(written, min(len(written), 18)):
        if one.right & here or not one.right:
            asked.append(one._replace(right=one.right & here))
        elif rng.random() < 0.3:
            asked += _absent([one.query])
    for key in rng.sample(keys, min(len(keys), 6)):
        query, kind = _rewritten(key, rng)
        asked.append(Asked(query, frozenset([key]), kind))
    # With another number, or the opposite of a word, they are other things.
    numbered = [key for key in keys if any(map(str.isdigit, key))]
    others = [codes.other_digit(key, rng) for key in numbered]
    others += [other for key in keys for other in things.opposed_to(key.lower())]
    others = sorted({*others} - {one for key in every for one in (key, key.lower())})
    asked += _absent(rng.sample(others, min(len(others), 3)), "contradicting")
    if rng.random() < 0.2:  # as with a word that makes them another thing: "pro", "junior"
        *before, last = plain(rng.choice(keys)).split() or [""]
        other = " ".join([*before, rng.choice(things.varieties()), last])
        asked += _absent([other], "contradicting")
    gone = sorted({*every} - here)
    asked += _absent(rng.sample(gone, min(len(gone), 2)), "misleading")
    # Questions, and seldom keys, of other fields that share no word with the keys.
    lower = {key.lower() for key in keys}
    words = {word for key in keys for word in plain(key).split()} - FILLERS
    for one in rng.sample(rng.choice(_fields())[1], 3):
        texts = [one.query, *sorted(one.right)]
        if all(words.isdisjoint(plain(t).split()) and _is_another(t, lower) for t in texts):
            asked += _absent([one.query])
    # Among keys of other fields, of which there may be hundreds.
    if (chance := rng.random()) < 0.45:
        fields = rng.sample(_fields(), rng.randint(4, 25) if chance < 0.15 else 1)
        words |= {word for one in asked for word in plain(one.query).split()} - FILLERS
        some = [key for field, _ in fields for key in field if words.isdisjoint(plain(key).split())]
        keys += some if chance < 0.15 else rng.sample(some, min(len(some), rng.randint(1, 8)))
    return keys, asked


# ---- titles and names that nest ------------------------------------------------------------------


def _titles(rng: Random) -> _Made:
    """Make a dict of titles of many words: definitions, jobs, diagnoses."""
    if rng.random() < 0.5:
        return _of_things(rng, things.titles(rng), 400)
    pool = _pool(rng, size := things.drawn_size(rng, 5, 1000))
    pool = pool if rng.random() < 0.7 else terms().frequent()
    by_title, names = dict[str, Term](), list[str]()
    is_mixed = rng.random() < 0.5  # with short names, too
    for term in rng.sample(pool, min(len(pool), size)):
        words = term.gloss.replace(";", " ").replace("(", " ").replace(")", " ").split()
        if len(words) < 4 or (is_mixed and rng.random() < 0.5):
            names.append(term.name)
        else:
            by_title[" ".join(words[: rng.randint(6, 14)])] = term
    titles, asked = rng.sample(sorted(by_title), len(by_title)), []
    gone = set(titles[: len(titles) // 8])
    for title in [*titles[: rng.randint(1, 3)], *titles[-10:]]:
        right = frozenset() if title in gone else frozenset([title])
        by_name = rng.random() < 0.3
        query = by_title[title].name if by_name else _some_words(title, rng)
        asked.append(Asked(query, right, "name" if by_name else "some words"))
    return [*names, *(title for title in titles if title not in gone)], asked


def _some_words(title: str, rng: Random) -> str:
    """Return some words of a title: some are exchanged, and sometimes they are in another order."""
    telling = [word for word in title.split() if word.lower() not in FILLERS]
    kept = [word for word in telling if rng.random() < 0.7] or telling
    written = []
    for word in kept:
        if rng.random() < 0.35:
            terms_of = terms().of(word)[:2]
            used = [(t.names[i], n) for t in terms_of for i, n in enumerate(t.counts)]
            found = [name for name, n in used if n and name.lower() != word.lower()]
            if found and rng.random() < 0.7:
                word = rng.choice(found)
            elif len(word) > 3:
                word, _ = _rewritten(word, rng)
        written.append(word)
    if rng.random() < 0.3:
        rng.shuffle(written)
    return " ".join(written)


def _nested(rng: Random) -> _Made:
    """Make a dict of names of which some hold others: "Arden", "New Arden", "Arden Street"."""
    groups = things.nesting(rng) if rng.random() < 0.5 else _nesting_terms(rng)
    keys, asked = [], []
    for group in groups:
        here = rng.sample(group, rng.randint(1, len(group)))
        keys += here
        for name in rng.sample(here, min(2, len(here))):
            query, kind = _rewritten(name, rng, (6, 2, 1 if " " in name else 0))
            if (short := things.short_place(name, rng)) != name and rng.random() < 0.3:
                query, kind = short, "short"
            asked.append(Asked(query, frozenset([name]), f"nested {kind}"))
        gone = [name for name in group if name not in here]
        if gone and rng.random() < 0.7:
            query = rng.choice(gone)
            query = slip(query, rng) if rng.random() < 0.25 else query
            asked += _absent([query], "nested absent")
    return keys, asked


def _nesting_terms(rng: Random) -> list[list[str]]:
    """Return words of WordNet, each with compounds of it or a longer word that holds it."""
    groups = []
    for word in rng.sample(_heads(), things.drawn_size(rng, 2, 20)):
        some = [one for one in terms().compounds()[word] if not _named(one) & {word}]
        group = [word, *rng.sample(some, min(len(some), rng.randint(1, 3)))]
        longer = _longer().get(word, ())
        longer = [one for one in longer if not terms().means(one) & _named(word)]
        if longer and rng.random() < 0.4:
            group.append(rng.choice(longer))
        if not any(terms().means(one) & {word} for one in group[1:]) or rng.random() < 0.5:
            groups.append(group)
    return groups


@cache
def _heads() -> list[str]:
    """Return the words that compounds of WordNet are made of, and that are nouns themselves."""
    return [word for word in terms().compounds() if any(t.part == "n" for t in terms().of(word))]


@cache
def _longer() -> dict[str, list[str]]:
    """Return for each noun of four letters or more longer ones that begin or end with it."""
    nouns = [term for term in terms().frequent() if term.part == "n" and term.name.isalpha()]
    names, found = sorted({term.name.lower() for term in nouns}), defaultdict[str, list[str]](list)
    known = {name for name in names if len(name) > 3}
    for name in names:
        for cut in range(2, len(name) - 1):
            if name[:cut] in known and len(name) > cut + 2:
                found[name[:cut]].append(name)
            if name[cut:] in known:
                found[name[cut:]].append(name)
    return dict(found)


# ---- what is no question at all ------------------------------------------------------------------


def _noise(rng: Random) -> _Made:
    """Make a dict of another kind, and ask it random letters, foreign words and numbers alone."""
    keys, _ = rng.choice([_terms, _everyday, _singles])(rng)
    asked = _absent((_gibberish(rng) for _ in range(8)), "noise")
    some = rng.sample(list(keys), min(len(keys), 4))
    return keys, asked + [Asked(slip(key, rng), frozenset([key]), "slip") for key in some]


def _gibberish(rng: Random) -> str:
    chance = rng.random()
    if chance < 0.4:
        return "".join(rng.choices(string.ascii_lowercase, k=rng.randint(1, 12)))
    if chance < 0.7:
        parts = [rng.choice(listed("syllables")) for _ in range(rng.randint(2, 3))]
        return rng.choice(string.ascii_lowercase) + "".join(parts)
    if chance < 0.85:
        return str(rng.randrange(10 ** rng.randint(1, 8)))
    return " ".join("".join(rng.choices("aeioubcdlmnrst", k=rng.randint(2, 7))) for _ in range(2))


#: The share of the dicts that each kind has, and what makes one.
KINDS: dict[str, tuple[float, Callable[[Random], _Made]]] = {
    "terms": (30, _terms),
    "everyday": (280, _everyday),
    "singles": (40, _singles),
    "look-alikes": (9, _look_alikes),
    "compounds": (46, _compounds),
    "spellings": (2, _spellings),
    "nested": (7, _nested),
    "shared words": (13, lambda rng: _of_things(rng, things.sharing_words(rng), 60)),
    "negated": (14, lambda rng: _of_things(rng, things.negated(rng), 24)),
    "codes": (16, lambda rng: _of_things(rng, codes.codes(rng), 60)),
    "order": (10, lambda rng: _of_things(rng, codes.ordered(rng), 20)),
    "closed": (8, lambda rng: _of_things(rng, codes.closed(rng), 40)),
    "firms": (5, lambda rng: _of_things(rng, things.firms(rng), 60)),
    "titles": (16, _titles),
    "phrases": (10, lambda rng: _of_things(rng, things.phrases(rng), 40)),
    "persons": (1, lambda rng: _of_things(rng, things.persons(rng), 60)),
    "noise": (2, _noise),
    "options": (5, lambda rng: _of_things(rng, things.options(rng), 60)),
}
