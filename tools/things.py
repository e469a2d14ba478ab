"""Things that dicts are made of, composed of small lists: codes, firms, titles, options, opposites.

Each function makes the things of one dict: the name of each, other ways to say the same, and
what looks alike and is another. Things that one dict might hold are siblings: a dict holds some,
and is asked for others, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from itertools import product
from random import Random
from typing import NamedTuple

from .rewriting import kebab, listed, snake
from .terms import terms

__all__ = [
    "Thing",
    "firms",
    "negated",
    "nesting",
    "options",
    "sharing_words",
    "short_place",
    "titles",
]


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


def table_of(lines: str) -> dict[str, list[str]]:
    """Return the first word of each part as a key of the words that follow it."""
    rows = [listed(line) for line in lines.split("|")]
    return {first: others for first, *others in rows}


# ---- names that nest -----------------------------------------------------------------------------

_STARTS = listed(
    "Ash Bram Cor Dun El Far Gar Hal Ing Kel Lam Mar Nor Ost Pen Rad Sel Tor Ul Ver Win Yar Bel "
    "Cal Dor Fen Gren Har Kir Lor Mel Nev Pol Ros Sal Tam Van Wes Zel Brin Crom Drey Fal Thorn "
    "Quin"
)
_ENDS = listed(
    "ford ley ton wick ham by dale field mouth stead worth bury combe minster more ano ia eda ora "
    "ara ona illo burg stadt ville mont bach au owe ice ett er en ingen ako una ego ane"
)
_BEFORE = listed(
    "New West North South East Upper Lower Great Little Old Port Saint Mount Lake San Central "
    "Fort Greater Inner Outer Royal Northern Southern Western Eastern Bad Santa Cape Isle_of "
    "Republic_of"
)
_AFTER = listed(
    "Street Road Avenue Park Hill City Junction Airport Station University Bay Valley Lane Square "
    "Beach Island Heights Springs Falls Harbour Castle Bridge Market Cross Green Court Central "
    "Pro Max Mini Lite Plus Air Ultra XL Classic Sport & Sons Group Bank Hotel School Hospital"
)
_SHORT_PLACES = table_of(
    "Street St St. Str|Road Rd Rd.|Avenue Ave Av|Saint St St.|Mount Mt Mt.|Fort Ft|North N N.|"
    "South S S.|East E E.|West W W.|Square Sq|Lane Ln|Heights Hts|Station Stn Sta|University Univ "
    "Uni|Hospital Hosp|Junction Jct|Island Isl|Park Pk|Court Ct|Northern N|Group Grp|Harbour "
    "Harbor"
)


def short_place(name: str, rng: Random) -> str:
    """Return "Arden St." of "Arden Street"."""
    return " ".join(rng.choice(_SHORT_PLACES.get(word, [word])) for word in name.split())


def invented(rng: Random) -> str:
    """Return a name of a place or a family that is likely none."""
    return rng.choice(_STARTS) + rng.choice(_ENDS)


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
        longer = [f"{before} {base}" for before in rng.sample(_BEFORE, 2)]
        longer += [f"{base} {after}" for after in rng.sample(_AFTER, 2)]
        if rng.random() < 0.2:
            longer.append(base + rng.choice(["er", "ia", "ton", "shire", "burgh", "land", "ina"]))
        if rng.random() < 0.2:
            longer.append(f"{rng.choice(_BEFORE)} {base} {rng.choice(_AFTER)}")
        groups.append([base, *rng.sample(longer, rng.randint(1, 3))])
    return groups


# ---- names that share words ----------------------------------------------------------------------

_ENTITIES = listed(
    "user account session invoice ticket comment project team device sensor payment vendor "
    "employee patient student course booking flight vehicle driver branch campaign lead asset "
    "contract claim policy tenant article author recipe ingredient player match warehouse batch "
    "machine event venue"
)
_ATTRIBUTES = listed(
    "id name email phone status type code number date time title count total amount url path size "
    "owner group level score rating language country city region note version token hash key "
    "label priority category balance limit start end length width height weight"
)
_ACTIONS = listed(
    "created updated deleted approved archived published verified cancelled submitted assigned "
    "closed opened locked viewed imported exported signed scanned picked packed"
)
_ACTION_ENDS = listed("at by on from in count reason date")
_SAME = table_of(
    "id identifier number|phone telephone|email e-mail mail|amount sum|country nation|url link "
    "address|size dimensions|type kind sort|total sum|title heading|note remark comment|start "
    "begin beginning|end finish|picture image photo|created made|deleted removed|updated modified "
    "changed|cancelled canceled|mobile cell|employee worker staff_member|vendor supplier seller|"
    "car automobile|client customer|picked collected|holiday vacation|begin start|weight mass|"
    "rating stars|assigned allocated|closed shut|vehicle car|author writer|home house|office work|"
    "sofa couch|trousers pants|large big|small little|cable lead cord|bag sack|box carton|spanner "
    "wrench|jacket coat|grey gray|rug carpet|lamp light|bin trash_can|tap faucet|torch flashlight"
)
_CONTACT = (
    listed("home office mobile emergency billing delivery private fax parent next_of_kin second"),
    listed("phone email address number postcode contact city name street country"),
)
_MEASURES = (
    listed("air water soil engine room oil tyre inlet outlet battery exhaust surface cabin brake"),
    listed("temperature pressure level flow humidity speed density quality sensor alarm"),
)
ARTICLES = listed(
    "cable bolt screw hose pipe shirt jacket rug lamp bag box folder envelope marker brush roller "
    "tap torch bin shelf bracket hinge handle filter bulb adapter charger case strap towel blanket"
)
_TRAITS = (
    listed("black white red blue green grey yellow brown silver navy beige orange"),
    listed("small medium large XL mini slim wide long short double heavy light"),
    listed("steel cotton plastic leather wool wooden brass rubber glass paper nylon linen"),
    listed("2_m 5_m 10_mm 12_mm 250_ml 1_l 60_W 9_W A4 A5 3-pack 6-pack 2.5_kg 500_g 30_cm 40x60"),
    listed("indoor outdoor kids men's women's universal waterproof adjustable folding refill"),
)


def sharing_words(rng: Random) -> list[Thing]:
    """Return names of several words, each of them in several names."""
    make = rng.choice([_identifiers, _identifiers, _contacts, _articles, _articles, _compounds])
    return some_of(rng, make(rng), 5, 80)


def _combined(parts: Sequence[str]) -> Thing:
    return Thing(" ".join(parts), tuple(exchanged(parts, _SAME)))


def _identifiers(rng: Random) -> list[Thing]:
    entities = rng.sample(_ENTITIES, rng.randint(2, 7))
    attributes = rng.sample(_ATTRIBUTES, rng.randint(2, 9))
    actions = rng.sample(_ACTIONS, rng.randint(1, 5))
    ends = rng.sample(_ACTION_ENDS, rng.randint(2, 4))
    parts: list[tuple[str, ...]] = [*product(entities, attributes), *product(actions, ends)]
    parts += [(entity,) for entity in rng.sample(entities, rng.randint(0, 2))]
    return [_combined(some) for some in parts]


def _contacts(rng: Random) -> list[Thing]:
    firsts, seconds = rng.choice([_CONTACT, _MEASURES])
    some = rng.sample(firsts, rng.randint(2, 7)), rng.sample(seconds, rng.randint(2, 6))
    return [_combined(pair) for pair in product(*some)]


def _articles(rng: Random) -> list[Thing]:
    """Return articles of a shop, with their sizes and colours."""
    kinds = rng.sample(_TRAITS, rng.randint(1, 3))
    traits = [rng.sample(kind, rng.randint(2, 3)) for kind in kinds]
    articles = rng.sample(ARTICLES, rng.randint(1, 5))
    comes_first = rng.random() < 0.5
    made = []
    for article, *some in product(articles, *traits):
        parts = [article, *some] if comes_first else [*some, article]
        ways = [*exchanged(parts, _SAME), " ".join(rng.sample(parts, len(parts)))]
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


# ---- what is opposed -----------------------------------------------------------------------------

_ADDED = listed(
    "sauce breakfast parking balcony battery charger case lid wheels handles pockets sleeves hood "
    "zip onions cheese nuts ice milk shipping postage insurance discount deposit interest fees "
    "commission installation support frame stand remote sound subtitles captions audio pictures "
    "index header footer border shadow comments errors attachments bonus overtime holidays "
    "weekends"
)
_PREFIXED = (
    "read known signed stable verified sorted lit used locked finished assigned published sold "
    "opened answered married employed insured available safe able limited licensed heated "
    "furnished shaven |valid visible complete correct dependent direct active accurate efficient "
    "secure |possible mature perfect proper |regular responsible reversible relevant |legal "
    "logical legible |connected approved allowed honest satisfied qualified |fiction returnable "
    "residential refundable profit toxic stick woven fat volatile"
)
_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non-")
_OPPOSED = (
    "min minimum lowest|max maximum highest;start begin beginning|end finish stop;first initial|"
    "last final;before pre|after post;open opened|closed shut;on enabled active|off disabled "
    "inactive;internal inside|external outside;upper top|lower bottom;left lhs|right rhs;old "
    "previous former|new current;buy purchase|sell sale;import incoming|export outgoing;credit|"
    "debit;sender from|recipient to;public|private;fixed|variable;hot warm|cold cool;front|rear "
    "back;day daytime|night nighttime;male men|female women;gross|net;early morning|late "
    "evening;fast quick|slow;positive plus|negative minus;parent|child;primary main|"
    "secondary;arrival|departure;upload|download;single|multiple several;domestic national|"
    "foreign abroad;cheap low-cost|expensive dear;deposit|withdrawal;rising increasing|falling "
    "decreasing;heavy|light;in|out;entry entrance|exit way_out"
)
_OF_OPPOSED = listed(
    "price date time value temperature level door page account rate speed pressure order limit "
    "side address mode number gear shift stock balance line track user node port gate window "
    "record"
)
_WITHOUT = listed("w/o_{} no_{} excl._{} excluding_{} without_any_{} {}_not_included sans_{}")
_WITH = listed("incl._{} including_{} {}_included w/_{} with_the_{} plus_{} has_{}")


def negated(rng: Random) -> list[Thing]:
    """Return things and their opposites."""
    makers = [_with_and_without, _prefixed, _free_of, _opposed, _opposed, _opposites_of_wordnet]
    some = [make(rng) for make in rng.sample(makers, rng.choice([1, 1, 2]))]
    return [thing for things in some for thing in things]


def _with_and_without(rng: Random) -> list[Thing]:
    made = []
    head = rng.choice(["", "", f"{rng.choice(_OF_OPPOSED)} "])
    for word in rng.sample(_ADDED, drawn_size(rng, 2, 10)):
        for link, ways in (("with", _WITH), ("without", _WITHOUT)):
            others = tuple(head + way.format(word) for way in ways)
            made.append(Thing(f"{head}{link} {word}", others, (), (2, 1, 1)))
    return made


def _prefixed(rng: Random) -> list[Thing]:
    groups = [(p, listed(g)) for p, g in zip(_PREFIXES, _PREFIXED.split("|"), strict=True)]
    pairs = [(prefix, word) for prefix, group in groups for word in group]
    head = rng.choice(["", "", f" {rng.choice(_OF_OPPOSED)}"])
    made = []
    for prefix, word in rng.sample(pairs, drawn_size(rng, 2, 10)):
        bare = prefix.removesuffix("-")
        ways = [f"not {word}", f"{bare}-{word}", f"{bare} {word}", bare + word, f"non {word}"]
        negative = tuple(way + head for way in ways if way != prefix + word)
        made.append(Thing(word + head, (), (f"not {word}{head}", f"{bare} {word}{head}")))
        made.append(Thing(prefix + word + head, negative, (f"not {prefix}{word}{head}",)))
    return made


def _free_of(rng: Random) -> list[Thing]:
    contents = listed(
        "sugar lactose dairy alcohol caffeine fragrance lead tax duty rent smoke pet fat salt egg "
        "soy latex paraben acid oil rust noise dust ad meat yeast wheat cost error risk carbon"
    )
    made = []
    for word in rng.sample(contents, drawn_size(rng, 2, 8)):
        free = (f"{word} free", f"free of {word}", f"no {word}", f"without {word}", f"non-{word}")
        made.append(Thing(f"{word}-free", free, (), (1, 0, 0)))
        having = (f"with {word}", f"has {word}", f"includes {word}")
        made.append(Thing(f"contains {word}", having, (f"{word} free", f"no {word}"), (1, 0, 0)))
    return made


def _opposed(rng: Random) -> list[Thing]:
    pairs = [[listed(side) for side in pair.split("|")] for pair in _OPPOSED.split(";")]
    made = []
    heads = rng.sample(_OF_OPPOSED, rng.randint(1, 4))
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

_LEGAL = (
    "Inc. Inc Incorporated Corp. Corporation|Ltd. Ltd Limited LTD|GmbH Gmbh gmbh|AG|LLC L.L.C. "
    "llc|S.A. SA|GmbH_&_Co._KG KG|PLC plc|B.V. BV|S.r.l. Srl|Oy|AB|Pty_Ltd Pty._Ltd.|LLP|Co. "
    "Company|S.p.A. SpA|ApS|A/S|N.V. NV|K.K. KK"
)
_TRADES = listed(
    "Consulting Logistics Systems Foods Textiles Energy Marine Motors Pharma Robotics Ceramics "
    "Printing Capital Software Timber Optics Chemicals Aviation Media Brewery Holdings Plumbing "
    "Interiors Packaging Instruments Analytics Farms Steel Paints Records Toys Security Catering "
    "Dental Legal"
)
_FIRST = listed(
    "Blue Silver Golden Northern Global United Pacific Alpine First Bright Swift Urban Green"
)
_SECOND = listed(
    "River Falcon Oak Harbor Star Stone Bridge Fox Peak Wave Light Field Arrow Crown Maple"
)


def firms(rng: Random) -> list[Thing]:
    """Return firms: each may be asked with another legal form or none, not by one word of it."""
    legal = [listed(row) for row in _LEGAL.split("|")]
    trades, families = rng.sample(_TRADES, 8), [invented(rng) for _ in range(10)]
    taken, made = set[str](), []
    for _ in range(drawn_size(rng, 4, 60)):
        chance = rng.random()
        base = (
            rng.choice(families) if chance < 0.6 else f"{rng.choice(_FIRST)} {rng.choice(_SECOND)}"
        )
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
        absent = (f"{base} {rng.choice(_TRADES)}", f"{invented(rng)} {core.split()[-1]}")
        made.append(Thing(name, tuple(ways), absent, (4, 1, 1), has_styles=False))
    cores = {thing.ways[0].lower() for thing in made}
    return [
        thing._replace(absent=tuple(one for one in thing.absent if one.lower() not in cores))
        for thing in made
    ]


_RANKS = table_of(
    "Senior Sr Sr. Snr|Junior Jr Jr.|Assistant Asst Asst.|Associate Assoc|Chief|Deputy Dep.|"
    "Head_of|Lead|Vice_President VP|Director_of Dir_of|Principal|Executive Exec|Trainee|Regional "
    "Reg.|Interim|Global|Night|Field"
)
_POSTS = table_of(
    "Manager Mgr Mngr supervisor|Engineer Eng Engr|Analyst|Officer Offr|Coordinator Coord "
    "organizer|Administrator Admin|Technician Tech|Specialist Spec expert|Consultant adviser|"
    "Accountant Acct bookkeeper|Developer Dev programmer|Designer|Representative Rep agent|Clerk|"
    "Planner|Buyer purchaser|Instructor teacher trainer|Nurse|Inspector|Operator Op|Scientist "
    "researcher|Counselor|Editor|Controller"
)
_AREAS = table_of(
    "Human_Resources HR personnel|Payroll wages|Information_Technology IT|Quality_Assurance QA|"
    "Customer_Service CS client_support|Research_and_Development R&D|Public_Relations PR|"
    "Business_Development BD|Health_and_Safety H&S|Supply_Chain logistics|Marketing Mktg|"
    "Accounts_Receivable AR|Procurement purchasing|Facilities buildings|Legal_Affairs law|"
    "Network_Security|Data_Warehousing|Corporate_Finance|Internal_Audit|Patient_Care|"
    "Field_Operations Ops|Product_Design|Retail_Sales|Training education|Environmental_Compliance|"
    "Software_Testing|Real_Estate property|Media_Production|Food_Safety|Water_Treatment|"
    "Child_Welfare|Laboratory lab|Night_Shift"
)
_ONSETS = listed(
    "Acute Chronic Recurrent Severe Congenital Bilateral Benign Malignant Secondary Mild "
    "Unspecified Traumatic Postoperative Allergic Viral Bacterial Neonatal Juvenile Idiopathic "
    "Other"
)
_TAILS = (
    "",
    "",
    ", unspecified",
    ", right side",
    ", left side",
    " without complication",
    " with complications",
    ", initial encounter",
    " in remission",
    ", not elsewhere classified",
    " due to infection",
    " following injury",
)


def titles(rng: Random) -> list[Thing]:
    """Return titles of jobs, or of diagnoses."""
    return some_of(rng, rng.choice([_jobs, _diagnoses, _diagnoses])(rng), 6, 400)


def _jobs(rng: Random) -> list[Thing]:
    made = []
    for _ in range(400):
        rank, post = rng.choice(sorted(_RANKS)), rng.choice(sorted(_POSTS))
        areas = rng.sample(sorted(_AREAS), rng.choice([1, 1, 2]))
        joined = rng.choice([" and ", " & ", ", "]).join(areas)
        name = rng.choice(
            [f"{rank} {post}, {joined}", f"{rank} {post} - {joined}", f"{rank} {joined} {post}"]
        )
        if rank.endswith("of"):
            name = f"{rank} {joined}"
        ways = [name]
        for word in [rank, post, *areas]:
            others = _RANKS.get(word) or _POSTS.get(word) or _AREAS.get(word)
            if others and word in name:
                ways += [way.replace(word, rng.choice(others)) for way in ways[-2:]]
        ways += [f"{' '.join(areas)} {rank} {post}", f"{joined} {post}"] * (not rank.endswith("of"))
        other = name.replace(areas[0], rng.choice(sorted(_AREAS)))
        absent = (other,) if other != name else ()
        made.append(Thing(name, tuple(ways[1:]), absent, (3, 2, 3), has_styles=False))
    return made


@cache
def _medical() -> tuple[list[tuple[str, ...]], list[tuple[str, tuple[str, ...]]]]:
    """Return illnesses with their names, and parts of the body with their adjectives."""
    parts = []
    (ill,) = [t for t in terms().of("illness") if t.name == "illness" and t.part == "n"][:1]
    below = [term.names for term in terms().below(ill, 6)]
    illnesses = [names for names in below if all(len(name.split()) < 4 for name in names)]
    for term in terms().frequent():
        adjectives = tuple(terms().pertaining().get(term.name.lower(), ()))
        if term.part == "n" and term.field == 8 and term.name.islower():
            parts.append((term.name, adjectives))
    return illnesses, parts


def _diagnoses(rng: Random) -> list[Thing]:
    illnesses, parts = _medical()
    made = []
    of_few = rng.sample(illnesses, 25), rng.sample(parts, 12)
    for _ in range(400):
        onset, tail = rng.choice(_ONSETS), rng.choice(_TAILS)
        ill, (part, adjectives) = rng.choice(of_few[0]), rng.choice(of_few[1])
        name = (
            f"{onset} {ill[0]} of {part}{tail}" if rng.random() < 0.6 else f"{onset} {ill[0]}{tail}"
        )
        ways = [f"{ill[0]}, {onset.lower()}", f"{onset.lower()} {ill[0]}"]
        if f" of {part}" in name:
            ways = [f"{part} {ill[0]}, {onset.lower()}", f"{onset.lower()} {ill[0]} {part}"]
            ways += [f"{onset} {adjective} {ill[0]}{tail}" for adjective in adjectives[:2]]
        ways += [name.replace(ill[0], other) for other in ill[1:]]
        ways += [f"{way} NOS" for way in ways[:1]]
        made.append(Thing(name, tuple(ways), (), (3, 2, 2), has_styles=False))
    return made


_TOPICS = listed(
    "db cache log http smtp auth queue worker search mail storage session proxy ssl api job ui"
)
_SETTINGS = listed(
    "host port user password timeout level format path size limit retries interval url enabled "
    "name token region mode encoding prefix threads backlog ttl charset locale theme workers "
    "lifetime"
)
_LIMITS = listed("max min default initial total allowed")
_LIMITED = listed(
    "connections retries size length age items requests workers depth results uploads memory "
    "attempts"
)
_OF_SETTINGS = table_of(
    "db database|host server|user username login|password passwd pwd secret|timeout time_limit|"
    "directory folder|path location|max maximum|min minimum|size length|retries attempts|interval "
    "period|enabled on active|url address|name title|level verbosity|limit cap|ttl time_to_live|"
    "http web|mail email|auth authentication login|log logging|connections conns|workers "
    "processes|initial starting|storage disk|locale language|ssl tls|job task"
)


def options(rng: Random) -> list[Thing]:
    """Return options of a configuration, all written in one style."""
    topics = rng.sample(_TOPICS, rng.randint(2, 6))
    pairs: list[tuple[str, ...]] = [*product(topics, rng.sample(_SETTINGS, rng.randint(2, 7)))]
    pairs += product(rng.sample(_LIMITS, 2), rng.sample(_LIMITED, rng.randint(1, 4)))
    pairs += [
        (t, *limit)
        for t in topics[:2]
        for limit in product(["max", "min"], rng.sample(_LIMITED, 2))
    ]
    app = rng.choice(listed("app my svc main prod srv site bot"))
    join: Callable[[str], str] = rng.choice(
        [snake, kebab, lambda text: ".".join(text.split()), snake]
    )
    made = []
    for parts in pairs:
        text = " ".join(parts)
        has_prefix = rng.random() < 0.15
        name = join(f"{app} {text}") if has_prefix else join(text)
        ways = [snake(f"{app} {text}").upper(), snake(text).upper(), kebab(text), text]
        ways += [join(f"{app} {text}"), parts[0] + "".join(map(str.title, parts[1:]))]
        ways += [f"{parts[0]}.{'_'.join(parts[1:])}", f"--{kebab(text)}"]
        ways += [join(way) for way in exchanged(parts, _OF_SETTINGS)] * 2
        made.append(Thing(name, tuple(ways), (), (3, 1, 2), has_styles=False))
    return some_of(rng, made, 5, 60)
