"""Things that are numbers, codes, dates, directions and members of closed classes.

What looks alike is another thing here: one digit off, turned round, the next day of the week.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from itertools import product
from random import Random
from string import ascii_uppercase

from fuzzydict.text.words import plain

from .rewriting import listed
from .things import ARTICLES, Thing, drawn_size, invented, places, some_of, table_of

__all__ = ["closed", "codes", "ordered"]

# ---- numbers and dates ---------------------------------------------------------------------------

_SMALL = listed(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
)
_TENS = listed("twenty thirty forty fifty sixty seventy eighty ninety")
_ORDINALS = listed(
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
)
MONTHS = listed(
    "January February March April May June July August September October November December"
)


def in_words(number: int) -> str:
    """Return a number below 100 in words.

    >>> in_words(7), in_words(42)
    ('seven', 'forty-two')
    """
    if number < len(_SMALL):
        return _SMALL[number]
    tens, ones = divmod(number, 10)
    return _TENS[tens - 2] + (f"-{_SMALL[ones]}" if ones else "")


def ordinal_forms(number: int) -> list[str]:
    """Return how a place from 1 to 12 may be written.

    >>> ordinal_forms(3)
    ['third', '3rd']
    """
    end = {1: "st", 2: "nd", 3: "rd"}.get(number, "th")
    return [_ORDINALS[number], f"{number}{end}"]


def date_forms(day: date, *, ambiguous: bool = False) -> list[str]:
    """Return how a day may be written; without month and day as numbers in either order.

    >>> date_forms(date(2023, 1, 5))[:3]
    ['2023-01-05', '5 January 2023', '5 Jan 2023']
    """
    month, d, year = MONTHS[day.month - 1], day.day, day.year
    end = {1: "st", 2: "nd", 3: "rd"}.get(d % 10 if d // 10 != 1 else 0, "th")
    forms = [
        day.isoformat(),
        f"{d} {month} {year}",
        f"{d} {month[:3]} {year}",
        f"{month} {d}, {year}",
        f"{month[:3]} {d} {year}",
        f"{d:02}-{month[:3]}-{year}",
        f"{d}{end} {month} {year}",
        f"{month} {d}{end}, {year}",
        f"{year}/{day.month:02}/{d:02}",
        f"{year}{day.month:02}{d:02}",
    ]
    if ambiguous or d > 12:
        forms += [f"{d:02}.{day.month:02}.{year}", f"{d:02}/{day.month:02}/{year}"]
    return forms


# ---- numbers, codes, dates -----------------------------------------------------------------------

_UNITS = table_of(
    "kg kilograms kilogram kilos|g grams gram|m metres meters|cm centimetres centimeters|mm "
    "millimetres millimeters|km kilometres kilometers|l litres liters|ml millilitres milliliters|"
    "W watts watt|V volts volt|h hours hrs|min minutes mins|s seconds sec|GB gigabytes|MB "
    "megabytes|lb pounds lbs|oz ounces|ft feet|in inches inch|°C degrees_Celsius|% percent|A amps "
    "amperes|Hz hertz|mph miles_per_hour|days d|weeks wks|years yrs"
)
_COUNTED = listed(
    "rooms beds doors seats wheels floors people adults guests pieces pages players lanes burners "
    "drawers shelves bottles slices points stars shelves nights courses storeys lessons tickets"
)
_CODED = listed(
    "room gate bay section type model part lot order ref zone unit slot block row flight"
)
_PROGRAMS = listed("firmware driver library release kernel schema client server plugin runtime api")
_NO_SLIPS = (0, 0, 0)  # no slip can be made in digits


def codes(rng: Random) -> list[Thing]:
    """Return numbers, codes, dates, versions or amounts: one digit off is another one."""
    make = rng.choice([_amounts, _counted, _letters, _dates, _versions, _places_in_order, _times])
    return some_of(rng, _distinct(make(rng)), 4, 60)


def _distinct(things: Sequence[Thing]) -> list[Thing]:
    """Return the things that have no way in common with one before."""
    kept, taken = [], set[str]()
    for thing in things:
        ways = {plain(way) for way in (thing.name, *thing.ways)}
        if taken.isdisjoint(ways):
            taken |= ways
            kept.append(thing)
    return kept


def _other_digit(text: str, rng: Random) -> str:
    places = [i for i, c in enumerate(text) if c.isdigit()]
    i = rng.choice(places)
    return text[:i] + rng.choice([d for d in "123456789" if d != text[i]]) + text[i + 1 :]


def _amounts(rng: Random) -> list[Thing]:
    """Return "10 kg", "10kg", "10 kilograms"."""
    units = rng.sample(sorted(_UNITS), rng.randint(1, 3))
    head = rng.choice(["", "", "", f"{rng.choice(ARTICLES)} "])
    numbers = rng.sample([*range(1, 20), 25, 30, 40, 45, 50, 75, 100, 120, 150, 200, 250, 500], 12)
    made = []
    for number, unit in product(numbers, units):
        written = [f"{number} {unit}", f"{number}{unit}", f"{number}-{unit}"]
        written += [f"{number} {other}" for other in _UNITS[unit]]
        if number < 13:
            written.append(f"{in_words(number)} {_UNITS[unit][0]}")
        first, *ways = [head + way for way in written]
        if rng.random() < 0.3:
            first, *ways = rng.sample([first, *ways], len(written))
        absent = (head + _other_digit(str(number), rng) + " " + unit,)
        made.append(Thing(first, tuple(ways), absent, _NO_SLIPS, has_styles=False))
    return made


def _counted(rng: Random) -> list[Thing]:
    """Return "two rooms", "2 rooms"."""
    made = []
    for number, word in product(range(2, 13), rng.sample(_COUNTED, rng.randint(1, 4))):
        one = word.removesuffix("s")
        forms = [
            f"{in_words(number)} {word}",
            f"{number} {word}",
            f"{number}-{one}",
            f"{word}: {number}",
        ]
        first, *ways = rng.sample(forms, 4)
        absent = (f"{number + rng.randint(1, 3)} {word}", f"{in_words(number + 1)} {word}")
        made.append(Thing(first, tuple(ways), absent, (1, 0, 0), has_styles=False))
    return made


def _letters(rng: Random) -> list[Thing]:
    """Return codes such as "A-5", "A5"."""
    size, digits = rng.randint(1, 3), rng.randint(1, 5)
    letters = ["".join(rng.choices(ascii_uppercase, k=size)) for _ in range(rng.randint(1, 4))]
    head = rng.choice(["", "", rng.choice(_CODED)])
    made = []
    for _ in range(70):
        letter, number = rng.choice(letters), str(rng.randrange(1, 10**digits))
        forms = [letter + mark + number for mark in ("", "-", " ", "/", "_")]
        forms += [f"{letter.lower()}{number}", f"{letter.lower()}-{number}"]
        first, *ways = [f"{head} {one}".strip() for one in rng.sample(forms, len(forms))]
        other = first.replace(letter, rng.choice(ascii_uppercase) + letter[1:])
        absent = (_other_digit(first, rng), other)
        if head:
            ways.append(f"{letter}{number}")
        made.append(Thing(first, tuple(ways), absent, _NO_SLIPS, has_styles=False))
    return made


def _dates(rng: Random) -> list[Thing]:
    start = date(rng.randint(1950, 2035), 1, 1)
    span, kind = rng.choice([40, 400, 4000]), rng.randrange(12)
    made = []
    for _ in range(50):
        day = start + timedelta(days=rng.randrange(span))
        forms = date_forms(day)
        ways = [form for form in forms if form != forms[kind % len(forms)]]
        other = date_forms(day + timedelta(days=rng.choice([-1, 1, 2, 10, 30, 31, 365])))
        first = forms[kind % len(forms)]
        made.append(Thing(first, tuple(ways), (rng.choice(other),), (1, 0, 0), has_styles=False))
    return made


def _versions(rng: Random) -> list[Thing]:
    head = rng.choice(["", *_PROGRAMS])
    made = []
    for _ in range(40):
        number = ".".join(str(rng.randrange(12)) for _ in range(rng.choice([2, 2, 3])))
        forms = [f"{head} {number}", f"{head} v{number}", f"{head} version {number}"]
        forms += [f"{head}-{number}", f"{head} ver. {number}"]
        first, *ways = [one.strip(" -") for one in rng.sample(forms, len(forms))]
        made.append(Thing(first, tuple(ways), (_other_digit(first, rng),), _NO_SLIPS, False))
    return made


def _places_in_order(rng: Random) -> list[Thing]:
    """Return "third quarter", "Q3", "3rd quarter"."""
    what, short = rng.choice(
        [
            ("quarter", "Q"),
            ("grade", ""),
            ("floor", ""),
            ("semester", "S"),
            ("half", "H"),
            ("week", "W"),
            ("chapter", "Ch."),
            ("round", "R"),
            ("class", ""),
            ("period", "P"),
            ("stage", ""),
            ("lap", "L"),
        ]
    )
    most = {"quarter": 4, "half": 2}.get(what, 12)
    made, year = [], rng.choice(["", "", f" {rng.randint(1990, 2030)}"])
    for n in range(1, most + 1):
        forms = [f"{one} {what}" for one in ordinal_forms(n)]
        forms += [f"{what} {n}", f"{what} {in_words(n)}"] + ([f"{short}{n}"] * 2 if short else [])
        first, *ways = [one + year for one in rng.sample(forms, len(forms))]
        made.append(Thing(first, tuple(ways), (), (1, 0, 0), has_styles=False))
    return made


def _times(rng: Random) -> list[Thing]:
    made, kind = [], rng.randrange(4)
    for hour, minute in product(range(1, 12), rng.sample([0, 5, 10, 15, 30, 45], 2)):
        for is_late in (False, True):
            of_day, half = hour + 12 * is_late, "pm" if is_late else "am"
            forms = [
                f"{of_day:02}:{minute:02}",
                f"{hour}:{minute:02} {half}",
                f"{hour}.{minute:02}{half}",
            ]
            forms.append(f"{hour} {half}" if minute == 0 else f"{of_day}h{minute:02}")
            first = forms.pop(kind)
            absent = (
                f"{hour}:{minute:02} {'am' if is_late else 'pm'}",
                f"{of_day:02}:{minute + 1:02}",
            )
            made.append(Thing(first, tuple(forms), absent, _NO_SLIPS, has_styles=False))
    return made


# ---- order, closed classes -----------------------------------------------------------------------

_RATIOS = listed(
    "price cost revenue calls tickets pages clicks errors visitors students births meals litres "
    "trips views sales defects points goals miles steps words seats wins jobs"
)
_PER = listed(
    "unit hour day visit employee household customer page acre game night person square_metre"
)
_CURRENCIES = listed(
    "NOK PLN CZK HUF TRY ILS ZAR THB IDR CLP ARS PEN MAD RON ISK DKK VND KES NGN EGP"
)
_LINKS = (" to ", "/", " → ", " - ", "->", " vs ", ">", "_to_", "2")
_ROLES = listed(
    "teacher pupil doctor nurse seller buyer parent child manager clerk host guest cat dog"
)


def ordered(rng: Random) -> list[Thing]:
    """Return directions, exchanges and rates: turned round they are others."""
    make = rng.choice([_directed, _directed, _rates])
    return make(rng)


def _directed(rng: Random) -> list[Thing]:
    makers = [
        lambda: _CURRENCIES,
        lambda: [invented(rng) for _ in range(8)],
        lambda: places(),
        lambda: _UNIT_NAMES,
        lambda: _ROLES,
        lambda: ["".join(rng.choices(ascii_uppercase, k=3)) for _ in range(8)],
        lambda: listed(
            "source target raw clean draft final text audio json csv png pdf decimal hex"
        ),
    ]
    ends = rng.choice(makers)()
    ends = rng.sample(ends, min(len(ends), rng.randint(3, 7)))
    link = rng.choice(_LINKS)
    pairs = [(a, b) for a in ends for b in ends if a != b]
    made = []
    for a, b in rng.sample(pairs, min(len(pairs), drawn_size(rng, 3, 20))):
        others = [other for other in _LINKS if other not in (link, "2")]
        ways = [f"{a}{other}{b}" for other in others]
        ways += [f"from {a} to {b}", f"{a.lower()}{link}{b.lower()}"]
        if len(a) == 3 and a.isupper():
            ways.append(a + b)
        absent = (f"{b}{rng.choice(others)}{a}",) if rng.random() < 0.5 else (f"{b}{link}{a}",)
        made.append(Thing(f"{a}{link}{b}", tuple(ways), absent, (2, 0, 0), has_styles=False))
    return [_without_turned(thing, made) for thing in made]


_UNIT_NAMES = listed(
    "inches feet yards metres miles pounds kilos ounces grams acres hectares pints"
)


def _without_turned(thing: Thing, things: Sequence[Thing]) -> Thing:
    """Return a thing without the absent queries that are right for others."""
    there = {way for other in things for way in (other.name, *other.ways)}
    return thing._replace(absent=tuple(one for one in thing.absent if one not in there))


def _rates(rng: Random) -> list[Thing]:
    made = []
    for a, b in product(
        rng.sample(_RATIOS, rng.randint(2, 5)), rng.sample(_PER, rng.randint(1, 3))
    ):
        ways = (f"{a}/{b}", f"{a} for each {b}", f"{a} a {b}", f"{a} by {b}", f"{a} pr {b}")
        absent = (f"{b} per {a}", f"{b}/{a}", f"{b}s per {a.removesuffix('s')}")
        made.append(Thing(f"{a} per {b}", ways, absent))
    return made


_CLASSES = (
    "Monday Mon Mo|Tuesday Tue Tues Tu|Wednesday Wed We|Thursday Thu Thur Thurs|Friday Fri Fr|"
    "Saturday Sat Sa|Sunday Sun Su",
    "|".join(f"{month} {month[:3]} {month[:3]}. {i:02}" for i, month in enumerate(MONTHS, 1)),
    "yes y yeah yep|no n nope nah|maybe perhaps possibly|unknown don't_know unsure n/a",
    "true t 1|false f 0",
    "yes y true 1|no n false 0",
    "extra_small XS|small S|medium M med|large L|extra_large XL x-large|double_extra_large XXL 2XL",
    "north N northern|south S southern|east E eastern|west W western|northeast NE north-east|"
    "northwest NW north-west|southeast SE south-east|southwest SW south-west",
    "first_quarter Q1 1st_quarter 1Q|second_quarter Q2 2nd_quarter 2Q|third_quarter Q3 "
    "3rd_quarter 3Q|fourth_quarter Q4 4th_quarter 4Q",
    "male m man|female f woman|other diverse x",
    "single unmarried|married wed|divorced div|widowed widow widower|separated sep",
    "spring spr|summer sum|autumn fall aut|winter win",
    "low lo|medium med mid moderate|high hi|critical crit urgent",
    "debug dbg|info information|warning warn|error err|fatal critical",
    "morning a.m. AM|afternoon p.m. PM|evening eve|night nighttime|noon midday",
    "hearts ♥|spades ♠|clubs ♣|diamonds ♦",
    "never none|rarely seldom|sometimes occasionally|often frequently|always every_time",
    "daily every_day|weekly every_week|fortnightly every_two_weeks biweekly|monthly every_month|"
    "quarterly every_quarter|yearly annually every_year|hourly every_hour",
    "Mr mister|Mrs missus|Ms miss|Dr doctor|Prof professor|Rev reverend|Sir|Lord|Lady",
    "one 1 I|two 2 II|three 3 III|four 4 IV|five 5 V|six 6 VI|seven 7 VII|eight 8 VIII",
    "up ↑ upward|down ↓ downward|left ← leftward|right → rightward",
    "begun started|pending waiting|finished done complete|failed error|cancelled canceled aborted",
    "A excellent|B good|C fair average|D poor|F fail failed",
    "bachelor BSc BA undergraduate|master MSc MA|doctorate PhD|diploma dipl",
    "kilo k|mega M|giga G|tera T|milli m|micro µ u|nano n|pico p",
    "breakfast brekkie|lunch luncheon midday_meal|dinner evening_meal supper|snack bite",
    "rare bloody|medium_rare|medium pink|well_done",
    "economy coach|premium_economy|business|first_class first",
    "infant baby|toddler|child kid|teenager teen adolescent|adult grown-up|senior pensioner "
    "elderly",
    "sunrise dawn|sunset dusk|midnight|noon midday twelve_o'clock",
    "GET fetch read|POST create|PUT replace|PATCH modify|DELETE remove|HEAD|OPTIONS",
    "gas|liquid fluid|solid|plasma",
    "soprano S|alto A|tenor T|bass B",
    "agree|strongly_agree|neutral neither|disagree|strongly_disagree",
    "beginner novice|intermediate|advanced|expert professional",
    "full-time FT full_time|part-time PT half-time|temporary temp|freelance freelancer|intern "
    "trainee",
)


def closed(rng: Random) -> list[Thing]:
    """Return the members of a closed class: days, months, yes and no, sizes."""
    rows = [listed(row) for row in rng.choice(_CLASSES).split("|")]
    if rng.random() < 0.2:
        rows += [listed(row) for row in rng.choice(_CLASSES).split("|")]
    is_short = rng.random() < 0.35
    made = []
    taken = set[str]()
    for row in rows:
        if taken.isdisjoint(map(str.lower, row)):
            taken.update(map(str.lower, row))
            first, *ways = row[1:2] + row[:1] + row[2:] if is_short else row
            made.append(Thing(first, tuple(ways), (), (2, 0.4, 0.3), has_styles=not is_short))
    return made
