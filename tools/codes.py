"""Things that are numbers, codes, dates, directions and members of closed classes.

What looks alike is another thing here: one digit off, turned round, the next day of the week.
"""

from __future__ import annotations

from datetime import date, timedelta
from functools import cache
from itertools import permutations, product
from random import Random
from string import ascii_uppercase

from fuzzydict.text.words import plain, word_list

from .rewriting import LISTS, listed, rows_of, table_of
from .things import Thing, drawn_size, invented, places, some_of

__all__ = ["closed", "codes", "ordered", "other_digit"]

_NO_SLIPS = (0, 0, 0)  # no slip can be made in digits

# ---- numbers, codes, dates -----------------------------------------------------------------------


def codes(rng: Random) -> list[Thing]:
    """Return numbers, codes, dates, versions or amounts: one digit off is another one."""
    makers = [_amounts, _counted, _letters, _dates, _versions, _places_in_order, _times, _acronyms]
    make = rng.choice(makers)
    kept, taken = [], set[str]()
    for thing in make(rng):  # those that have no way in common with one before
        ways = {plain(way) for way in (thing.name, *thing.ways)}
        if taken.isdisjoint(ways):
            taken |= ways
            kept.append(thing)
    return some_of(rng, kept, 4, 60)


def _thing(
    forms: list[str],
    absent: tuple[str, ...] = (),
    rewritten: tuple[float, float, float] = _NO_SLIPS,
) -> Thing:
    """Return a thing of which the first form is the name, as it is written."""
    return Thing(forms[0], tuple(forms[1:]), absent, rewritten, has_styles=False)


def other_digit(text: str, rng: Random) -> str:
    """Return a text that has a digit, with another one in its place."""
    places = [i for i, c in enumerate(text) if c.isdigit()]
    i = rng.choice(places)
    return text[:i] + rng.choice([d for d in "123456789" if d != text[i]]) + text[i + 1 :]


def _in_words(number: int) -> str:
    """Return a number below 20 in words."""
    return listed("small_numbers")[number]


def _amounts(rng: Random) -> list[Thing]:
    """Return "10 kg", "10kg", "10 kilograms"."""
    names = table_of("units")
    units = rng.sample(sorted(names), rng.randint(1, 3))
    head = rng.choice(["", "", "", f"{rng.choice(listed('articles'))} "])
    numbers = rng.sample([*range(1, 20), 25, 30, 40, 45, 50, 75, 100, 120, 150, 200, 250, 500], 12)
    made = []
    for number, unit in product(numbers, units):
        written = [f"{number} {unit}", f"{number}{unit}", f"{number}-{unit}"]
        written += [f"{number} {other}" for other in names[unit]]
        if number < 13:
            written.append(f"{_in_words(number)} {names[unit][0]}")
        forms = [head + way for way in written]
        if rng.random() < 0.3:
            forms = rng.sample(forms, len(forms))
        made.append(_thing(forms, (head + other_digit(str(number), rng) + " " + unit,)))
    return made


def _counted(rng: Random) -> list[Thing]:
    """Return "two rooms", "2 rooms"."""
    made = []
    for number, word in product(range(2, 13), rng.sample(listed("counted"), rng.randint(1, 4))):
        forms = [f"{_in_words(number)} {word}", f"{number} {word}"]
        forms = rng.sample([*forms, f"{number}-{word.removesuffix('s')}", f"{word}: {number}"], 4)
        absent = (f"{number + rng.randint(1, 3)} {word}", f"{_in_words(number + 1)} {word}")
        made.append(_thing(forms, absent, (1, 0, 0)))
    return made


def _letters(rng: Random) -> list[Thing]:
    """Return codes such as "A-5", "A5"."""
    size, digits = rng.randint(1, 3), rng.randint(1, 5)
    letters = ["".join(rng.choices(ascii_uppercase, k=size)) for _ in range(rng.randint(1, 4))]
    head = rng.choice(["", "", rng.choice(listed("coded"))])
    made = []
    for _ in range(70):
        letter, number = rng.choice(letters), str(rng.randrange(1, 10**digits))
        forms = [letter + mark + number for mark in ("", "-", " ", "/", "_")]
        forms += [f"{letter.lower()}{number}", f"{letter.lower()}-{number}"]
        forms = [f"{head} {one}".strip() for one in rng.sample(forms, len(forms))]
        other = forms[0].replace(letter, rng.choice(ascii_uppercase) + letter[1:])
        absent = (other_digit(forms[0], rng), other)
        made.append(_thing(forms + ([f"{letter}{number}"] if head else []), absent))
    return made


def _dates(rng: Random) -> list[Thing]:
    start = date(rng.randint(1950, 2035), 1, 1)
    span, kind = rng.choice([40, 400, 4000]), rng.randrange(12)
    made = []
    for _ in range(50):
        day = start + timedelta(days=rng.randrange(span))
        forms = _date_forms(day)
        name = forms[kind % len(forms)]
        other = _date_forms(day + timedelta(days=rng.choice([-1, 1, 2, 10, 30, 31, 365])))
        ways = [form for form in forms if form != name]
        made.append(_thing([name, *ways], (rng.choice(other),), (1, 0, 0)))
    return made


def _date_forms(day: date) -> list[str]:
    """Return how a day may be written; without month and day as numbers in either order."""
    month, d, year = listed("months")[day.month - 1], day.day, day.year
    end = {1: "st", 2: "nd", 3: "rd"}.get(d % 10 if d // 10 != 1 else 0, "th")
    forms = [day.isoformat(), f"{d} {month} {year}", f"{d} {month[:3]} {year}"]
    forms += [f"{month} {d}, {year}", f"{month[:3]} {d} {year}", f"{d:02}-{month[:3]}-{year}"]
    forms += [f"{d}{end} {month} {year}", f"{month} {d}{end}, {year}"]
    forms += [f"{year}/{day.month:02}/{d:02}", f"{year}{day.month:02}{d:02}"]
    if d > 12:
        forms += [f"{d:02}.{day.month:02}.{year}", f"{d:02}/{day.month:02}/{year}"]
    return forms


def _versions(rng: Random) -> list[Thing]:
    head = rng.choice(["", *listed("programs")])
    made = []
    for _ in range(40):
        number = ".".join(str(rng.randrange(12)) for _ in range(rng.choice([2, 2, 3])))
        forms = [f"{head} {number}", f"{head} v{number}", f"{head} version {number}"]
        forms += [f"{head}-{number}", f"{head} ver. {number}"]
        forms = [one.strip(" -") for one in rng.sample(forms, len(forms))]
        longer = f"{forms[0]}.{rng.randrange(12)}"
        made.append(_thing(forms, (other_digit(forms[0], rng), longer)))
    return made


def _places_in_order(rng: Random) -> list[Thing]:
    """Return "third quarter", "Q3", "3rd quarter"."""
    what, *short = rng.choice(rows_of(LISTS["places_in_order"]))
    most = {"quarter": 4, "half": 2}.get(what, 12)
    made, year = [], rng.choice(["", "", f" {rng.randint(1990, 2030)}"])
    for n in range(1, most + 1):
        end = {1: "st", 2: "nd", 3: "rd"}.get(n, "th")
        forms = [f"{listed('ordinals')[n]} {what}", f"{n}{end} {what}", f"{what} {n}"]
        forms += [f"{what} {_in_words(n)}", *(f"{letter}{n}" for letter in short * 2)]
        forms = [one + year for one in rng.sample(forms, len(forms))]
        made.append(_thing(forms, (), (1, 0, 0)))
    return made


def _times(rng: Random) -> list[Thing]:
    made, kind = [], rng.randrange(4)
    minutes = rng.sample([0, 5, 10, 15, 30, 45], 2)
    for hour, minute, half in product(range(1, 12), minutes, ("am", "pm")):
        of_day = hour + 12 * (half == "pm")
        forms = [f"{of_day:02}:{minute:02}", f"{hour}:{minute:02} {half}"]
        forms += [f"{hour}.{minute:02}{half}"]
        forms.append(f"{hour} {half}" if minute == 0 else f"{of_day}h{minute:02}")
        other = "am" if half == "pm" else "pm"
        absent = (f"{hour}:{minute:02} {other}", f"{of_day:02}:{minute + 1:02}")
        made.append(_thing([forms.pop(kind), *forms], absent))
    return made


@cache
def _short_and_long() -> list[tuple[str, str]]:
    """Return acronyms, and what each is short for."""
    lines = list(word_list("terms", " = "))
    return [
        (one.upper(), other)
        for names in lines
        for one, other in permutations(names, 2)
        if one == "".join(word[0] for word in other.split()) and len(one) > 2
    ]


def _acronyms(rng: Random) -> list[Thing]:
    """Return "DNS", "dns", "domain name system": a letter more, less or else is another one."""
    made, is_long = [], rng.random() < 0.3
    for short, long in rng.sample(_short_and_long(), 50):
        i, letter = rng.randrange(len(short)), rng.choice(ascii_uppercase)
        other = short[:i] + rng.choice([letter, letter + short[i], ""]) + short[i + 1 :]
        forms = [long, short] if is_long else [short, long]
        absent = () if other == short else (other, other.lower())
        made.append(_thing([*forms, short.lower()], absent))
    return made


# ---- order, closed classes -----------------------------------------------------------------------

_LINKS = (" to ", "/", " → ", " - ", "->", " vs ", ">", "_to_", "2")


def ordered(rng: Random) -> list[Thing]:
    """Return directions, exchanges and rates: turned round they are others."""
    make = rng.choice([_directed, _directed, _rates])
    return make(rng)


def _directed(rng: Random) -> list[Thing]:
    kind = rng.choice(
        ["currencies", "invented", "places", "unit_names", "roles", "letters", "ends"]
    )
    if kind == "invented":
        ends = [invented(rng) for _ in range(8)]
    elif kind == "letters":
        ends = ["".join(rng.choices(ascii_uppercase, k=3)) for _ in range(8)]
    else:
        ends = places() if kind == "places" else listed("of_files" if kind == "ends" else kind)
    ends = rng.sample(ends, min(len(ends), rng.randint(3, 7)))
    link = rng.choice(_LINKS)
    others = [other for other in _LINKS if other not in (link, "2")]
    pairs = [(a, b) for a in ends for b in ends if a != b]
    made = []
    for a, b in rng.sample(pairs, min(len(pairs), drawn_size(rng, 3, 20))):
        ways = [f"{a}{other}{b}" for other in others]
        ways += [f"from {a} to {b}", f"{a.lower()}{link}{b.lower()}"]
        if len(a) == 3 and a.isupper():
            ways.append(a + b)
        absent = f"{b}{rng.choice(others)}{a}" if rng.random() < 0.5 else f"{b}{link}{a}"
        made.append(_thing([f"{a}{link}{b}", *ways], (absent,), (2, 0, 0)))
    there = {way for thing in made for way in (thing.name, *thing.ways)}
    return [t._replace(absent=tuple(one for one in t.absent if one not in there)) for t in made]


def _rates(rng: Random) -> list[Thing]:
    made = []
    counted = rng.sample(listed("ratios"), rng.randint(2, 5))
    for a, b in product(counted, rng.sample(listed("per"), rng.randint(1, 3))):
        ways = (f"{a}/{b}", f"{a} for each {b}", f"{a} a {b}", f"{a} by {b}", f"{a} pr {b}")
        absent = (f"{b} per {a}", f"{b}/{a}", f"{b}s per {a.removesuffix('s')}")
        made.append(Thing(f"{a} per {b}", ways, absent))
    return made


def closed(rng: Random) -> list[Thing]:
    """Return the members of a closed class: days, months, yes and no, sizes."""
    rows = rows_of(rng.choice(LISTS["classes"]))
    if rng.random() < 0.2:
        rows += rows_of(rng.choice(LISTS["classes"]))
    is_short = rng.random() < 0.35
    made, taken = [], set[str]()
    for row in rows:
        if taken.isdisjoint(map(str.lower, row)):
            taken.update(map(str.lower, row))
            first, *ways = row[1:2] + row[:1] + row[2:] if is_short else row
            made.append(Thing(first, tuple(ways), (), (2, 0.4, 0.3), has_styles=not is_short))
    return made
