"""Things that dicts are made of, composed of small lists: codes, firms, titles, options, opposites.

Each function makes the things of one dict: the name of each, other ways to say the same, and
what looks alike and is another. Things that one dict might hold are siblings: a dict holds some,
and is asked for others, too.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import chain, product
from random import Random
from typing import NamedTuple

from rapidfuzz.process import extract

from fuzzydict.text.words import plain, word_list

from .rewriting import FILLERS, LISTS, kebab, listed, rows_of, snake, table_of
from .terms import terms

__all__ = ["Thing", "firms", "negated", "nesting", "opposed_to", "options"]
__all__ += ["persons", "phrases", "sharing_words", "short_place", "titles", "varieties"]


class Thing(NamedTuple):
    """What a key stands for: its name, other ways to say it, and what it is not.

    ``rewritten`` says how often it may have a slip, another form, an abbreviation.
    """

    name: str
    ways: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    rewritten: tuple[float, float, float] = (3, 3, 2)
    has_styles: bool = True


def drawn_size(rng: Random, least: int, most: int) -> int:
    """Return a number of things: as many dicts have 10 to 20 as have 100 to 200."""
    return round(math.exp(rng.uniform(math.log(least), math.log(most))))


def some_of(rng: Random, things: Sequence[Thing], least: int = 4, most: int = 60) -> list[Thing]:
    different = {thing.name.lower(): thing for thing in reversed(things)}
    some = list(different.values())
    return rng.sample(some, min(len(some), drawn_size(rng, least, most)))


def exchanged(parts: Sequence[str], others: dict[str, list[str]]) -> list[str]:
    """Return the text with each one of its words in other words."""
    return [
        " ".join([*parts[:i], other, *parts[i + 1 :]])
        for i, part in enumerate(parts)
        for other in others.get(part, ())
    ]


# ---- names that nest -----------------------------------------------------------------------------


def short_place(name: str, rng: Random) -> str:
    """Return "Arden St." of "Arden Street"."""
    short = table_of("short_places")
    return " ".join(rng.choice(short.get(word, [word])) for word in name.split())


def invented(rng: Random) -> str:
    """Return a name of a place or a family that is likely none."""
    return rng.choice(listed("starts")) + rng.choice(listed("ends"))


@cache
def places() -> list[str]:
    """Return the places that WordNet has, of one word each."""
    found = set[str]()
    for term in terms().by_id.values():
        if term.field == 15 and any(kind == "@i" for kind, *_ in term.pointers):
            found.update(name for name in term.names if name.isalpha() and len(name) > 3)
    return sorted(found)


def nesting(rng: Random) -> list[list[str]]:
    """Return groups of names that hold one another."""
    groups = []
    for _ in range(drawn_size(rng, 2, 25)):
        base = rng.choice(places()) if rng.random() < 0.4 else invented(rng)
        longer = [f"{before} {base}" for before in rng.sample(listed("before"), 2)]
        longer += [f"{base} {after}" for after in rng.sample(listed("after"), 2)]
        if rng.random() < 0.2:
            longer.append(base + rng.choice(["er", "ia", "ton", "shire", "burgh", "land", "ina"]))
        if rng.random() < 0.2:
            longer.append(f"{rng.choice(listed('before'))} {base} {rng.choice(listed('after'))}")
        groups.append([base, *rng.sample(longer, rng.randint(1, 3))])
    return groups


# ---- names that share words ----------------------------------------------------------------------


def sharing_words(rng: Random) -> list[Thing]:
    """Return names of several words, each of them in several names."""
    makers = [_identifiers, _identifiers, _contacts, _articles, _articles, _compounds]
    make = rng.choice([*makers, _measured, _requests, _requests, _kinds, _kinds])
    return some_of(rng, make(rng), 5, 80)


def _combined(parts: Sequence[str]) -> Thing:
    return Thing(" ".join(parts), tuple(exchanged(parts, table_of("same"))))


def _identifiers(rng: Random) -> list[Thing]:
    entities = rng.sample(listed("entities"), rng.randint(2, 7))
    attributes = rng.sample(listed("attributes"), rng.randint(2, 9))
    actions = rng.sample(listed("actions"), rng.randint(1, 5))
    ends = rng.sample(listed("action_ends"), rng.randint(2, 4))
    parts: list[tuple[str, ...]] = [*product(entities, attributes), *product(actions, ends)]
    parts += [(entity,) for entity in rng.sample(entities, rng.randint(0, 2))]
    before = rng.sample(listed("before_attributes"), rng.choice([0, 2, 3]))
    parts += product(before, attributes[:3])
    return [_combined(some) for some in parts]


def _contacts(rng: Random) -> list[Thing]:
    firsts, seconds = rng.choice([("contacts", "contact_fields"), ("measured", "measures")])
    some = rng.sample(listed(firsts), rng.randint(2, 7))
    return [_combined(p) for p in product(some, rng.sample(listed(seconds), rng.randint(2, 6)))]


def _measured(rng: Random) -> list[Thing]:
    """Return quantities with units: "weight_kg" is not "weight_lb"."""
    owners = rng.sample([*listed("entities"), *listed("topics")], rng.randint(1, 4))
    styles: Sequence[Callable[[str], str]] = (snake, snake, kebab, str)
    join = rng.choice(styles)
    made = []
    for owner, (quantities, kind) in product(owners, rng.sample(LISTS["measured_in"], 4)):
        quantity = rng.choice(quantities.split())
        units = {unit: others for unit, *others in rows_of(kind)}
        unit = rng.choice(sorted(units))
        name = f"{owner} {quantity}" if rng.random() < 0.7 else quantity
        ways = [name, *(f"{name} {other}" for other in units[unit])]
        written = (*map(join, ways), f"{name} {unit}", f"{name} ({unit})", f"{name} in {unit}")
        others = {one: names for one, names in units.items() if one != unit}
        absent = [join(f"{name} {one}") for one in chain(others, *others.values())]
        absent = rng.sample(absent, min(len(absent), 3))
        made.append(Thing(join(f"{name} {unit}"), written, tuple(absent), (3, 1, 2), False))
    return made


def _requests(rng: Random) -> list[Thing]:
    """Return what somebody wants to do: "delete a file" is not "restore a deleted file"."""
    verbs, objects, participles = map(table_of, ("verbs", "things_done_to", "participles"))
    frames, article = listed("asked_for"), rng.choice(["my", "the", "this"])
    frame, said = rng.choice(frames), list[tuple[str, str, str]]()
    objects_of_dict = rng.sample(sorted(objects), rng.randint(1, 4))
    for verb, thing in product(rng.sample(sorted(verbs), rng.randint(3, 9)), objects_of_dict):
        what, chance = f"{article} {thing}", rng.random()
        absent = f"{rng.choice(sorted(verbs))} {what}"
        if chance < 0.3:
            participle = rng.choice([one for one, (of,) in participles.items() if of != verb])
            what = f"{article} {participle} {thing}"
            absent = f"{participles[participle][0]} {article} {thing}"
        elif chance < 0.5:
            detail, other = rng.sample(listed("details"), 2)
            absent, what = f"{verb} {what} {other}", f"{what} {detail}"
        said.append((verb, what, absent))
    there, made = {f"{verb} {what}" for verb, what, _ in said}, []
    for verb, what, absent in said:
        ways = [f"{one} {what}" for one in (verb, *verbs[verb])]
        ways += [f"{verb} {one}" for one in exchanged(what.split(), objects)]
        asked = [rng.choice(frames).format(way) for way in ways * 2]
        asked += [way.replace(f"{article} ", "") for way in ways]
        others = (rng.choice(frames).format(absent), absent.replace(f"{article} ", ""))
        not_asked = () if absent in there else others
        name = frame.format(f"{verb} {what}")
        made.append(Thing(name, tuple(asked), not_asked, (4, 2, 1), has_styles=False))
    return made


def _articles(rng: Random) -> list[Thing]:
    """Return articles of a shop, with their sizes and colours."""
    kinds = rng.sample(LISTS["traits"], rng.randint(1, 3))
    traits = [rng.sample(rows_of(kind)[0], rng.randint(2, 3)) for kind in kinds]
    articles = rng.sample(listed("articles"), rng.randint(1, 5))
    comes_first = rng.random() < 0.5
    made = []
    for article, *some in product(articles, *traits):
        parts = [article, *some] if comes_first else [*some, article]
        ways = [*exchanged(parts, table_of("same")), " ".join(rng.sample(parts, len(parts)))]
        ways += [f"{article}, {', '.join(some)}", f"{' '.join(some)} {article}"]
        if any(" " in one for one in some):
            ways.append(" ".join(parts).replace(" m", "m").replace(" k", "k").replace(" W", "W"))
        made.append(Thing(" ".join(parts), tuple(ways), (), (4, 2, 2)))
    return made


def _compounds(rng: Random) -> list[Thing]:
    """Return compounds of WordNet that share a word."""
    compounds = terms().compounds()
    many = [word for word, some in compounds.items() if len(some) > 7]
    words = rng.sample(many, rng.randint(1, 3))
    return [Thing(name) for word in words for name in (word, *compounds[word])]


def _kinds(rng: Random) -> list[Thing]:
    """Return what is named by kinds of one thing: "oak table", and not "elm table"."""
    pools = [[t for t in pool if t.name.isalpha()] for _, pool in rng.sample(terms().pools(), 8)]
    kinds = max(pools, key=len) if rng.random() < 0.3 else next(p for p in pools if len(p) > 3)
    some = rng.sample(kinds, min(len(kinds), rng.randint(4, 20)))
    heads = rng.sample([*listed("articles"), *listed("entities")], rng.randint(1, 2))
    made = []
    for kind, head in product(some, heads):
        ways = tuple(f"{other} {head}" for other in kind.others)
        made.append(Thing(f"{kind.name} {head}", ways, (), (3, 2, 1)))
    return made


# ---- what is opposed -----------------------------------------------------------------------------


def negated(rng: Random) -> list[Thing]:
    """Return things and their opposites."""
    makers = [_with_and_without, _prefixed, _free_of, _opposed, _opposed, _opposites_of_wordnet]
    makers += [_denied, _denied, _sentences, _sentences, _sentences]
    some = [make(rng) for make in rng.sample(makers, rng.choice([1, 1, 2]))]
    return [thing for things in some for thing in things]


def _with_and_without(rng: Random) -> list[Thing]:
    made = []
    head = rng.choice(["", "", f"{rng.choice(listed('of_opposed'))} "])
    for word in rng.sample(listed("added"), drawn_size(rng, 2, 10)):
        for link in ("with", "without"):
            others = tuple(head + way.format(word) for way in listed(link))
            made.append(Thing(f"{head}{link} {word}", others, (), (2, 1, 1)))
    return made


def _prefixed(rng: Random) -> list[Thing]:
    pairs = [(prefix, word) for prefix, words in table_of("prefixed").items() for word in words]
    head = rng.choice(["", "", f" {rng.choice(listed('of_opposed'))}"])
    made = []
    for prefix, word in rng.sample(pairs, drawn_size(rng, 2, 10)):
        bare = prefix.removesuffix("-")
        ways = [f"not {word}", f"{bare}-{word}", f"{bare} {word}", bare + word, f"non {word}"]
        negative = tuple(way + head for way in ways if way != prefix + word)
        made.append(Thing(word + head, (), (f"not {word}{head}", f"{bare} {word}{head}")))
        made.append(Thing(prefix + word + head, negative, (f"not {prefix}{word}{head}",)))
    return made


def _denied(rng: Random) -> list[Thing]:
    """Return statements, which are told from their denials: "refunds are not possible"."""
    of = rng.sample(listed("stated_of"), rng.randint(2, 6)) if rng.random() < 0.6 else [""]
    pairs = list(product(of, rng.sample(listed("stated"), rng.randint(2, 6))))
    are_denied, made = rng.random() < 0.5, []
    for what, stated in rng.sample(pairs, min(len(pairs), 12)):
        said = [f"{what} {stated}", f"{what} {stated}", f"{what} is {stated}", f"{stated} {what}"]
        denied = [f"{what} not {stated}", f"{what} isn't {stated}", f"{what} never {stated}"]
        denied += [f"no {what} {stated}"] if what else [f"un-{stated}", f"non-{stated}"]
        said, denied = ([" ".join(one.split()) for one in some] for some in (said, denied))
        first, *others = dict.fromkeys(denied)
        if are_denied and rng.random() < 0.5:
            made.append(Thing(first, tuple(others), tuple(said[1:])))
        if not are_denied or not made or rng.random() < 0.5:
            made.append(Thing(said[0], tuple(said[1:]), (first, rng.choice(others))))
    return made


_AUXILIARY = re.compile(r"\b(is|are|was|were|can|could|will|would|should|must|has|had|does|did) ")
_SHORTENED = {"can": "can't", "will": "won't"}  # and "isn't"
_DENIED = re.compile(
    r"\b(not|no|never|nothing|none|nobody|without|cannot|nor|neither|hardly)\b|n't"
)
_A = re.compile(r"\b(has|have|had|is|are|was|were|with) an? ")


@cache
def _examples() -> list[str]:
    """Return example sentences of WordNet that can be denied."""
    every = {example.lower() for term in terms().frequent() for example in term.examples}
    return sorted(
        text
        for text in every
        if _AUXILIARY.search(text) and not _DENIED.search(text) and 3 < len(text.split()) < 13
    )


@cache
def _opposites() -> dict[str, list[str]]:
    found = defaultdict[str, list[str]](list)
    for one, other in terms().opposites():
        found[one].append(other)
        found[other].append(one)
    return dict(found)


def opposed_to(text: str) -> list[str]:
    """Return a text with the opposite of one of its words in place of this."""
    return exchanged(text.split(), _opposites())


@cache
def varieties() -> list[str]:
    """Return words that make a name that of another thing: "pro", "junior"."""
    return [word for word, *kinds in word_list("kinds") if "variety" in kinds]


def _sentences(rng: Random) -> list[Thing]:
    """Return sentences, which are told from their denials, and from those with an opposite."""
    made = []
    for said in rng.sample(_examples(), drawn_size(rng, 4, 24)):
        verb = _AUXILIARY.findall(said)[0]
        denials = [f"{verb} not ", _SHORTENED.get(verb, f"{verb}n't") + " ", f"{verb} never "]
        ways = [_AUXILIARY.sub(one, said, count=1) for one in denials]
        ways += [_A.sub(r"\1 no ", said, count=1)] if _A.search(said) else []
        words = said.split()
        shorter = {" ".join(word for word in words if word not in FILLERS), " ".join(words[1:])}
        others = [*exchanged(words, _opposites()), *ways]
        denied, *denials = rng.sample(ways, len(ways))
        if rng.random() < 0.4:
            made.append(Thing(denied, tuple(denials), (said, *sorted(shorter)), (3, 2, 2), False))
        else:
            others = rng.sample(others, min(len(others), 3))
            made.append(
                Thing(said, tuple(sorted(shorter - {said})), tuple(others), (3, 2, 2), False)
            )
    return made


# ---- phrases -------------------------------------------------------------------------------------


@cache
def _phrases() -> list[str]:
    """Return short example sentences of WordNet."""
    every = {example.lower() for term in terms().frequent() for example in term.examples}
    return sorted(text for text in every if 2 < len(text.split()) < 10)


@cache
def _in_use(word: str) -> list[str]:
    """Return other names of the first meanings of a word that are in use."""
    names = [
        name
        for term in terms().of(word)[:2]
        for name, count in zip(term.names, term.counts, strict=True)
        if count and name.lower() != word
    ]
    return sorted({*names})


@cache
def _kindred(word: str) -> list[str]:
    """Return words in use of one kind with a word, which do not mean the same."""
    first, means = terms().of(word)[:1], terms().means(word)
    kinds = [kind for term in first for kind in (terms().broader(term) or first)]
    below = [term for kind in kinds for term in terms().below(kind, 1) if any(term.counts)]
    names = {name.lower() for term in below for name in term.names[:1]}
    return sorted(name for name in names - means - {word} if name.isalpha())


def phrases(rng: Random) -> list[Thing]:
    """Return phrases; with another word of a kind in place of one word each is another phrase."""
    made = []
    for said in rng.sample(_phrases(), drawn_size(rng, 3, 16)):
        words = said.split()
        places = [i for i, word in enumerate(words) if word not in FILLERS and _kindred(word)]
        if not places:
            continue
        place = rng.choice(places)
        others = rng.sample(_kindred(words[place]), min(len(_kindred(words[place])), 5))
        alike = exchanged(words, {words[place]: others})
        count = rng.choice([0, 0, 1, 2, 3])
        for text in [said, *alike[:count]]:
            ways = exchanged(text.split(), {word: _in_use(word) for word in text.split()})
            ways = [way for way in (*ways, *map(_telling, [text, *ways])) if way != text]
            absent = [way for other in alike[count:] for way in (other, _telling(other))]
            absent = rng.sample(absent, min(len(absent), 2))
            made.append(Thing(text, tuple(ways), tuple(absent), (3, 2, 2), False))
    return made


def _telling(text: str) -> str:
    """Return a text without its small words."""
    return " ".join(word for word in text.split() if word not in FILLERS)


def _free_of(rng: Random) -> list[Thing]:
    made = []
    for word in rng.sample(listed("contents"), drawn_size(rng, 2, 8)):
        free = (f"{word} free", f"free of {word}", f"no {word}", f"without {word}", f"non-{word}")
        made.append(Thing(f"{word}-free", free, (), (1, 0, 0)))
        having = (f"with {word}", f"has {word}", f"includes {word}")
        made.append(Thing(f"contains {word}", having, (f"{word} free", f"no {word}"), (1, 0, 0)))
    return made


def _opposed(rng: Random) -> list[Thing]:
    pairs, made = [rows_of(pair) for pair in LISTS["opposed"]], []
    heads = rng.sample(listed("of_opposed"), rng.randint(1, 4))
    for head, pair in product(heads, rng.sample(pairs, drawn_size(rng, 1, 6))):
        for first, *others in pair:
            ways = [f"{other} {head}" for other in others]
            made.append(Thing(f"{first} {head}", (*ways, f"{head} {first}", f"{head} ({first})")))
    return made


def _opposites_of_wordnet(rng: Random) -> list[Thing]:
    made = []
    for pair in rng.sample(terms().opposites(), drawn_size(rng, 2, 10)):
        for one, other in (pair, pair[::-1]):
            absent = (f"not {one}",) if rng.random() < 0.3 else ()
            made.append(Thing(one, (f"not {other}",) if rng.random() < 0.2 else (), absent))
    return made


# ---- firms, titles, options ----------------------------------------------------------------------


def firms(rng: Random) -> list[Thing]:
    """Return firms: each may be asked with another legal form or none, not by one word of it."""
    legal = rows_of(LISTS["legal"])
    trades, families = rng.sample(listed("trades"), 8), [invented(rng) for _ in range(10)]
    taken, made = set[str](), []
    for _ in range(drawn_size(rng, 4, 60)):
        chance = rng.random()
        if chance < 0.6:
            base = rng.choice(families)
        else:
            base = f"{rng.choice(listed('firm_first'))} {rng.choice(listed('firm_second'))}"
        if chance > 0.8:
            base = f"{rng.choice(families)} & {rng.choice(['Sons', 'Partners', 'Co', *families])}"
        core = f"{base} {rng.choice(trades)}" if rng.random() < 0.75 else base
        if core in taken:
            continue
        taken.add(core)
        forms = rng.choice(legal)
        others = [other for row in rng.sample(legal, 3) for other in row[:2]]
        name = f"{core} {rng.choice(forms)}" if rng.random() < 0.8 else core
        ways = [core, core.lower(), core.replace("&", "and"), core.upper()]
        ways += [f"{core} {one}" for one in [*forms, *others]]
        absent = (f"{base} {rng.choice(listed('trades'))}", f"{invented(rng)} {core.split()[-1]}")
        made.append(Thing(name, tuple(ways), absent, (4, 1, 1), has_styles=False))
    cores = {thing.ways[0].lower() for thing in made}
    return [
        thing._replace(absent=tuple(one for one in thing.absent if one.lower() not in cores))
        for thing in made
    ]


@cache
def _names_of(kind: str) -> dict[str, list[str]]:
    """Return the members of a closed class with their other writings."""
    lines = [names for of, *names in word_list("classes") if of == kind]
    return {name.title(): [other.title() for other in others] for name, *others in lines}


def _like(name: str, names: Iterable[str], rng: Random) -> str:
    """Return another of some names, which may be spelled much like it."""
    others = sorted({*names} - {name})
    return str(
        rng.choice(extract(name, others, limit=4))[0] if rng.random() < 0.7 else rng.choice(others)
    )


def persons(rng: Random) -> list[Thing]:
    """Return names of persons: neither "Roberta Fox" nor "Robert Cox" is "Robert Fox"."""
    forenames, surnames = _names_of("forename"), _names_of("surname")
    families, comes_last = rng.sample(sorted(surnames), 20), rng.random() < 0.3
    made = []
    for _ in range(drawn_size(rng, 4, 60)):
        first, last = rng.choice(sorted(forenames)), rng.choice(families)
        other, family = _like(first, forenames, rng), _like(last, surnames, rng)
        turned, initial = f"{last}, {first}", rng.choice("ABCDEFGHJKLMNPRSTW")
        short = [f"{one} {last}" for one in forenames[first]]
        ways = [f"{first} {last}", turned, f"{first[0]}. {last}", f"{first} {initial}. {last}"]
        name = turned if comes_last else f"{first} {last}"
        absent = (f"{other} {last}", f"{last}, {other}", f"{first} {family}")
        made.append(Thing(name, (*ways, *short * 2), absent, (4, 0, 0), has_styles=False))
    names = {plain(way) for thing in made for way in (thing.name, *thing.ways)}
    return [
        thing._replace(absent=tuple(one for one in thing.absent if plain(one) not in names))
        for thing in made
    ]


def titles(rng: Random) -> list[Thing]:
    """Return titles of jobs, or of diagnoses."""
    return some_of(rng, rng.choice([_jobs, _diagnoses, _diagnoses])(rng), 6, 400)


def _jobs(rng: Random) -> list[Thing]:
    ranks, posts, all_areas = table_of("ranks"), table_of("posts"), table_of("areas")
    made = []
    for _ in range(400):
        rank, post = rng.choice(sorted(ranks)), rng.choice(sorted(posts))
        areas = rng.sample(sorted(all_areas), rng.choice([1, 1, 2]))
        joined = rng.choice([" and ", " & ", ", "]).join(areas)
        name = rng.choice(
            [f"{rank} {post}, {joined}", f"{rank} {post} - {joined}", f"{rank} {joined} {post}"]
        )
        if rank.endswith("of"):
            name = f"{rank} {joined}"
        ways = [name]
        for word in [rank, post, *areas]:
            others = ranks.get(word) or posts.get(word) or all_areas.get(word)
            if others and word in name:
                ways += [way.replace(word, rng.choice(others)) for way in ways[-2:]]
        ways += [f"{' '.join(areas)} {rank} {post}", f"{joined} {post}"] * (not rank.endswith("of"))
        other = name.replace(areas[0], rng.choice(sorted(all_areas)))
        absent = (other,) if other != name else ()
        made.append(Thing(name, tuple(ways[1:]), absent, (3, 2, 3), has_styles=False))
    return made


@cache
def _medical() -> tuple[list[tuple[str, ...]], list[tuple[str, list[str]]]]:
    """Return illnesses with their names, and parts of the body with their adjectives."""
    (ill,) = [t for t in terms().of("illness") if t.name == "illness" and t.part == "n"][:1]
    below, adjectives = terms().below(ill, 6), terms().pertaining()
    parts = [
        (term.name, adjectives.get(term.name.lower(), []))
        for term in terms().frequent()
        if term.part == "n" and term.field == 8 and term.name.islower()
    ]
    return [t.names for t in below if all(len(name.split()) < 4 for name in t.names)], parts


def _diagnoses(rng: Random) -> list[Thing]:
    illnesses, parts = _medical()
    made = []
    of_few = rng.sample(illnesses, 25), rng.sample(parts, 12)
    for _ in range(400):
        onset, tail = rng.choice(listed("onsets")), rng.choice(LISTS["tails"])
        ill, (part, adjectives) = rng.choice(of_few[0]), rng.choice(of_few[1])
        name = f"{onset} {ill[0]}{tail}"
        ways = [f"{ill[0]}, {onset.lower()}", f"{onset.lower()} {ill[0]}"]
        if rng.random() < 0.6:
            name = f"{onset} {ill[0]} of {part}{tail}"
        if f" of {part}" in name:
            ways = [f"{part} {ill[0]}, {onset.lower()}", f"{onset.lower()} {ill[0]} {part}"]
            ways += [f"{onset} {adjective} {ill[0]}{tail}" for adjective in adjectives[:2]]
        ways += [name.replace(ill[0], other) for other in ill[1:]]
        made.append(Thing(name, (*ways, f"{ways[0]} NOS"), (), (3, 2, 2), has_styles=False))
    return made


def options(rng: Random) -> list[Thing]:
    """Return options of a configuration, all written in one style."""
    topics = rng.sample(listed("topics"), rng.randint(2, 6))
    pairs: list[tuple[str, ...]] = []
    pairs += product(topics, rng.sample(listed("settings"), rng.randint(2, 7)))
    pairs += product(
        rng.sample(listed("limits"), 2), rng.sample(listed("limited"), rng.randint(1, 4))
    )
    for topic in topics[:2]:
        limited = rng.sample(listed("limited"), 2)
        pairs += [(topic, *limit) for limit in product(["max", "min"], limited)]
    app = rng.choice(["app", "my", "svc", "main", "prod", "srv", "site", "bot"])
    join = rng.choice([snake, kebab, lambda text: ".".join(text.split()), snake])
    made = []
    for parts in pairs:
        text = " ".join(parts)
        has_prefix = rng.random() < 0.15
        name = join(f"{app} {text}") if has_prefix else join(text)
        ways = [snake(f"{app} {text}").upper(), snake(text).upper(), kebab(text), text]
        ways += [join(f"{app} {text}"), parts[0] + "".join(map(str.title, parts[1:]))]
        ways += [f"{parts[0]}.{'_'.join(parts[1:])}", f"--{kebab(text)}"]
        ways += [join(way) for way in exchanged(parts, table_of("same_settings"))] * 2
        made.append(Thing(name, tuple(ways), (), (3, 1, 2), has_styles=False))
    return some_of(rng, made, 5, 60)
