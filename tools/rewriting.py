"""Other ways to write a text: slips, forms, abbreviations, spellings.

Each function takes a text and a source of chance, and returns what somebody might write instead;
the text itself, or "", where there is no such way.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from random import Random
from string import ascii_lowercase

from fuzzydict.text.words import word_list

__all__ = [
    "STYLES",
    "abbreviation",
    "form",
    "kebab",
    "listed",
    "respelled",
    "slip",
    "snake",
    "styled",
]


def listed(text: str) -> list[str]:
    """Return the words of a list; "_" is a blank in one of them."""
    return [word.replace("_", " ") for word in text.split()]


FILLERS = frozenset(
    ["a", "an", "and", "at", "by", "for", "from", "in", "is", "of", "on", "or", "the", "to", "with"]
)
_VOWELS = frozenset("aeiouy")

# ---- slips ---------------------------------------------------------------------------------------

_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
#: What sounds alike, or is often taken for each other.
_SOUNDS = [
    pair
    for pairs in (
        "ie ei|ph f|ck k|c s|c k|ance ence|able ible|tion sion|y i|ee ea|er or|er ar|ou u|qu kw",
        "wh w|kn n|a e|e i|o u|sc s|ch sh|ch k|x cks|oo u|ey y|ant ent|ful full|gh g|ght t|mb m",
        "ai a|au o|dge ge|ous us|ary ery|ise ize|ly ley|z s|eau o|ough uff|pn n|ps s|rh r|th t",
    )
    for pair in (tuple(one.split()) for one in pairs.split("|"))
]
_SOUNDS += [(after, before) for before, after in _SOUNDS if len(before) > 1]


def slip(text: str, rng: Random) -> str:
    """Return the text with a slip in one of its words, or seldom two.

    >>> slip("address", Random(0))
    'addres'
    """
    twice = len(text) > 7 and rng.random() < 0.12
    slipped = _one_slip(text, rng)
    return _one_slip(slipped, rng) if twice else slipped


def _one_slip(text: str, rng: Random) -> str:
    places = [m.span() for m in re.finditer(r"[^\W\d_]{2,}", text)]
    if not places:
        return text
    start, end = rng.choices(places, [end - start - 1 for start, end in places])[0]
    word = text[start:end]
    for _ in range(5):
        slipped = rng.choices(_SLIPS, (5, 5, 4, 6, 4, 5))[0](word, rng)
        if slipped.lower() != word.lower():
            return text[:start] + slipped + text[end:]
    return text


def _place(word: str, rng: Random) -> int:
    """Return a place in a word; people seldom miss the first letter."""
    return rng.randrange(len(word)) if rng.random() < 0.3 else rng.randrange(1, len(word))


def _left_out(word: str, rng: Random) -> str:
    i = _place(word, rng)
    return word[:i] + word[i + 1 :]


def _swapped(word: str, rng: Random) -> str:
    i = rng.randrange(len(word) - 1)
    return word[:i] + word[i + 1] + word[i] + word[i + 2 :]


def _mistyped(word: str, rng: Random) -> str:
    i = _place(word, rng)
    return word[:i] + _beside(word[i], rng) + word[i + 1 :]


def _beside(letter: str, rng: Random) -> str:
    """Return a letter that is beside another on the keyboard, or any."""
    for row in _ROWS:
        i = row.find(letter.lower())
        if i >= 0 and rng.random() < 0.7:
            return rng.choice(row[max(i - 1, 0) : i] + row[i + 1 : i + 2])
    return rng.choice(ascii_lowercase)


def _added(word: str, rng: Random) -> str:
    i = _place(word, rng)
    return word[:i] + (word[i] if rng.random() < 0.4 else _beside(word[i], rng)) + word[i:]


def _undoubled(word: str, rng: Random) -> str:
    """Return a word with one letter of two alike, or with two in place of one."""
    doubled = [i for i in range(1, len(word)) if word[i] == word[i - 1]]
    if doubled:
        i = rng.choice(doubled)
        return word[:i] + word[i + 1 :]
    inside = [i for i in range(1, len(word) - 1) if word[i].lower() in "bcdfglmnoprst"]
    i = rng.choice(inside or [len(word) - 1])
    return word[: i + 1] + word[i:]


def _by_sound(word: str, rng: Random) -> str:
    fitting = [(a, b) for a, b in _SOUNDS if a in word]
    if not fitting:
        return word
    before, after = rng.choice(fitting)
    places = [m.start() for m in re.finditer(before, word)]
    i = rng.choice(places)
    return word[:i] + after + word[i + len(before) :]


_SLIPS: Sequence[Callable[[str, Random], str]] = (
    _left_out,
    _swapped,
    _mistyped,
    _added,
    _undoubled,
    _by_sound,
)

# ---- forms ---------------------------------------------------------------------------------------


def _parts(text: str) -> list[str]:
    """Return the words of a text as it is written: "userId" has two."""
    text = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
    return [part for part in re.split(r"[\s_,/.-]+", text) if part]


def snake(text: str) -> str:
    """Return "user_id" of "user id"."""
    return "_".join(_parts(text)).lower()


def kebab(text: str) -> str:
    """Return "user-id" of "user id"."""
    return "-".join(_parts(text)).lower()


def _camel(text: str) -> str:
    first, *others = _parts(text.lower()) or [""]
    return first + "".join(map(str.capitalize, others))


def _pascal(text: str) -> str:
    return "".join(map(str.capitalize, _parts(text.lower())))


def _constant(text: str) -> str:
    return snake(text).upper()


def _dotted(text: str) -> str:
    return ".".join(_parts(text)).lower()


def _first_large(text: str) -> str:
    return text[:1].upper() + text[1:]


#: How all keys of a dict are written. The first ones are frequent.
STYLES: Sequence[Callable[[str], str]] = (
    str,
    str,
    _first_large,
    str.title,
    snake,
    str.upper,
    _camel,
    kebab,
    _constant,
    _pascal,
    _dotted,
)


def styled(text: str, rng: Random) -> str:
    """Return the same words in any style.

    >>> styled("user id", Random(13))
    'user_id'
    """
    return rng.choice(STYLES)(text)


def form(text: str, rng: Random) -> str:
    """Return another form of the same words: joined, turned, inflected, in another style."""
    parts = _parts(text)
    if not parts:
        return text
    if len(parts) == 1 or rng.random() < 0.3:
        return _inflected(" ".join(parts), rng)
    made = rng.choices(_FORMS, (3, 2, 2, 3, 2, 1))[0](parts, rng)
    return made if rng.random() < 0.85 else slip(made, rng)


def _inflected(text: str, rng: Random) -> str:
    *before, last = text.split()
    chance = rng.random()
    if chance < 0.6:
        last = singular(last) if last.endswith("s") else plural(last)
    elif chance < 0.75:
        last = _with_end(last, "ing")
    elif chance < 0.87:
        last = _with_end(last, "ed")
    elif chance < 0.94:
        last = _with_end(last, "er")
    else:
        last = last + "'s"
    if before and rng.random() < 0.2:
        before[-1] = plural(before[-1])
    return " ".join([*before, last])


def plural(word: str) -> str:
    """Return the plural that the rules give.

    >>> plural("box"), plural("country"), plural("key")
    ('boxes', 'countries', 'keys')
    """
    if re.search("[^aeiou]y$", word):
        return word[:-1] + "ies"
    return word + ("es" if re.search("(s|x|z|ch|sh)$", word) else "s")


def singular(word: str) -> str:
    """Return a word without the end of a plural."""
    if len(word) < 4 or word.endswith("ss"):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if re.search("(ss|x|z|ch|sh)es$", word) else word.removesuffix("s")


def _with_end(word: str, end: str) -> str:
    if word.endswith("e") and not word.endswith("ee"):
        word = word[:-1]
    elif re.search("[^aeiou][aeiou][bdgmnprt]$", word) and len(word) < 5:
        word += word[-1]
    elif word.endswith("y") and end != "ing" and len(word) > 3:
        word = word[:-1] + "i"
    return word + end


def _in_style(parts: Sequence[str], rng: Random) -> str:
    return styled(" ".join(parts), rng)


def _joined(parts: Sequence[str], rng: Random) -> str:
    i = rng.randrange(len(parts) - 1)
    some = [*parts[:i], parts[i] + parts[i + 1], *parts[i + 2 :]]
    return "".join(parts) if rng.random() < 0.6 else " ".join(some)


def _turned(parts: Sequence[str], rng: Random) -> str:
    """Return "knife, bread" of "bread knife"."""
    mark = rng.choice([",", ",", "", " -"])
    return f"{parts[-1]}{mark} {' '.join(parts[:-1])}"


def _with_of(parts: Sequence[str], rng: Random) -> str:
    """Return "date of birth" of "birth date", and the reverse."""
    for link in ("of", "for", "in", "to"):
        if link in parts[1:-1]:
            i = parts.index(link, 1)
            before, after = parts[:i], [part for part in parts[i + 1 :] if part != "the"]
            return " ".join([*after, *before])
    link = rng.choice(["of", "of", "of the", "for"])
    return f"{parts[-1]} {link} {' '.join(parts[:-1])}"


def _without_fillers(parts: Sequence[str], rng: Random) -> str:
    kept = [part for part in parts if part.lower() not in FILLERS]
    if len(kept) == len(parts):
        kept.insert(rng.randrange(1, len(kept)) if len(kept) > 1 else 0, rng.choice(["the", "&"]))
    return " ".join(kept)


def _shuffled(parts: Sequence[str], rng: Random) -> str:
    kept = [part for part in parts if part.lower() not in FILLERS]
    return " ".join(rng.sample(kept, len(kept)))


_FORMS: Sequence[Callable[[Sequence[str], Random], str]] = (
    _in_style,
    _joined,
    _turned,
    _with_of,
    _without_fillers,
    _shuffled,
)

# ---- abbreviations -------------------------------------------------------------------------------


def abbreviation(text: str, rng: Random) -> str:
    """Return the text with one word or all its words shortened, or its initials.

    >>> abbreviation("delivery address", Random(3))
    'deliv addr'
    """
    parts = [part.lower() if rng.random() < 0.7 else part for part in _parts(text)]
    telling = [part for part in parts if part.lower() not in FILLERS]
    chance = rng.random()
    if len(telling) > 1 and chance < 0.25:
        return _initials(telling, rng)
    long = [i for i, part in enumerate(parts) if len(part) > 4 or part.lower() in conventional()]
    if not long:
        return _initials(telling, rng) if len(telling) > 2 else text
    some = long if len(long) > 1 and chance < 0.65 else [rng.choice(long)]
    stop = "." if rng.random() < 0.25 else ""
    for i in some:
        parts[i] = short_word(parts[i], rng) + stop
    if rng.random() < 0.4:
        parts = [part for part in parts if part.lower() not in FILLERS]
    return rng.choices([" ", "_", ""], (8, 2, 1 if not stop else 0))[0].join(parts)


def _initials(parts: Sequence[str], rng: Random) -> str:
    mark = "." if rng.random() < 0.15 else ""
    text = "".join(part[0] + mark for part in parts)
    if len(parts) > 2 and rng.random() < 0.15:  # the last word is written out
        text = "".join(part[0] for part in parts[:-1]) + " " + parts[-1]
    return text.upper() if rng.random() < 0.6 else text.lower()


@cache
def conventional() -> dict[str, list[str]]:
    """Return the usual short forms of each word that has some."""
    found = defaultdict[str, list[str]](list)
    for short, *words in word_list("abbreviations"):
        for word in words:
            found[word].append(short)
    return dict(found)


def short_word(word: str, rng: Random) -> str:
    """Return a word as people shorten it: the usual way, its beginning, some of its letters."""
    usual = conventional().get(word.lower(), [])
    if usual and rng.random() < 0.6:
        return rng.choice(usual)
    if len(word) < 4:
        return word
    bare = word[0] + "".join(letter for letter in word[1:] if letter.lower() not in _VOWELS)
    inside = bare[1:-1]
    some = sorted(rng.sample(range(len(inside)), min(len(inside), rng.randint(1, 2))))
    drawn = word[0] + "".join(inside[i] for i in some) + word[-1]
    ends = [n for n in (2, 3, 4, 5, 6) if n < len(word) - 1 and word[n - 1].lower() not in _VOWELS]
    beginning = word[: rng.choice(ends or [3])]
    made = rng.choices([beginning, bare, bare[:3], drawn], (10, 5, 3, 3))[0]
    return made if 2 <= len(made) < len(word) else word[:3]


# ---- British and American spelling ---------------------------------------------------------------

_BRITISH = [
    (re.compile(british), american)
    for british, american in (
        (r"our(?=s?$|ed$|ing$|able$|ful$|less$|ite$|ly$|er$|hood$)", "or"),
        (r"tre(?=s?$)", "ter"),
        (r"(?<=[a-z]{3})is(?=(?:e[sdr]?|ers|ing|ation|able)$)", "iz"),
        (r"ys(?=(?:e[sdr]?|ing|er)$)", "yz"),
        (r"ogue(?=s?$)", "og"),
        (r"ae|oe", "e"),
        (r"ll(?=(?:ing|ed|er|or|ist|ous)$)", "l"),
        (r"(?<=[a-z]{2})ence(?=s?$)", "ense"),
        (r"gramme(?=s?$)", "gram"),
        (r"cheque", "check"),
        (r"grey", "gray"),
        (r"mould", "mold"),
        (r"plough", "plow"),
        (r"tyre", "tire"),
        (r"ph(?=ur)", "f"),
        (r"que(?=t?$)", "k"),
        (r"ment(?<=gement)", "ment"),
        (r"dgem", "dgm"),
        (r"isation", "ization"),
        (r"(?<=[bcdfglmnprst])ilful", "illful"),
    )
]


def respelled(word: str) -> str:
    """Return a word in American spelling, by rule; what differs may be no word.

    >>> respelled("colour"), respelled("theatre"), respelled("catalogue"), respelled("organise")
    ('color', 'theater', 'catalog', 'organize')
    """
    for british, american in _BRITISH:
        word = british.sub(american, word)
    return word
