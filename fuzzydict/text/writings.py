"""How texts are written: numbers, signs and words, sides of "to", notes in brackets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import combinations

from fuzzydict.text.lexicon import are_measures, look_up, table_of, unit_of
from fuzzydict.text.words import LONGEST, compatible, plain, word_list

#: Words of a text that are read; what follows them makes no difference.
MOST_READ = 32


# ---- numbers -------------------------------------------------------------------------------------

_THOUSANDS = re.compile(r"(?<![\d.,])[1-9][0-9]{0,2}(?:,[0-9]{3})+(?![\d,])")
_DECIMAL_COMMA = re.compile(r"(?<![\d.,])([0-9]+),([0-9]{1,2})(?![\d,]|\.[0-9])")
# "1.500,00", "1'200"
_OTHER_THOUSANDS = re.compile(
    r"(?<![\d.,'])[1-9][0-9]{0,2}(?:(?:\.[0-9]{3})+(?=,[0-9]{1,2}(?![\d,]))|(?:['\u2019][0-9]{3})+(?!\d))"
)
_BARE_POINT = re.compile(r"(?<![\w.,])\.(?=[0-9])")
#: What a text has if `with_plain_numbers` may change it.
HAS_NUMBERS = re.compile(r"(?i)[0-9]|\b(?:half|quarters?)\b")
# "6x330ml", "24X33CL", "600X1200"; but "SKU1X2" is a code.
_TIMES = re.compile(
    r"(?<=[0-9])(?: ?[x\u00d7] ?| X |X(?=[0-9.,]+ ?[A-Za-z]{1,2}(?![A-Za-z])))(?=\.?[0-9])"
    r"|(?<=[0-9]{3})X(?=[0-9]{3})"
)
_TIMES_BEHIND = re.compile(
    r"(?i)(?<![\d.,])([0-9]+(?:\.[0-9]+)? ?(?:ml|cl|l|m?g|kg|oz)) ?x ?([0-9]+)\b(?! ?[a-z])"
)
_MEASURE = r"(?:[lL]|kg|g|lbs?|oz|cups?|tsp|tbsp|pounds?|pints?|gallons?|lit(?:er|re)s?)\b"
_INCHES = r"in(?:ch(?:es)?)?\b|[\"\u2033]"
_FRACTION_OF = re.compile(
    rf"(?<![\d/.])(?:([1-9][0-9]*)[ -])?([1-3])/([248])(?=[ -]?(?:{_MEASURE}|{_INCHES}))"
)
# "half a litre", but not "Grade A half gallon", nor "the second half pounds on".
_HALF_OF = re.compile(
    r"(?i)(?<!first )(?<!second )(?<!third )(?<!fourth )(?<!last )"
    r"\b(?:(?-i:a) )?(half|quarter|three[ -]quarters)(?: of)?(?: an?)?[ -]"
    r"(?=(?:kg|lb|oz|cup|tsp|tbsp|teaspoon|tablespoon|pound|pint|gallon|lit(?:er|re)|met(?:er|re)"
    r"|kilogram|gram|kilo|ounce|ton|inch|mile|hour)\b)"
)
_POWER = re.compile(r"(?<=[0-9]) ?((?:[cdkm])?m)\^?([23\u00b2\u00b3])(?![^\W_])")
_PARTS = {"half": "0.5 ", "quarter": "0.25 ", "three quarters": "0.75 "}
_AND_A_HALF = re.compile(
    r"(?i)(?<![\w-])(?<!ty )(one|two|three|four|five|six|seven|eight|nine|ten|[1-9][0-9]?)"
    r"( hours?)? and a half\b"
)


@lru_cache(maxsize=1 << 12)  # of a query, for each of its candidates
def with_plain_numbers(text: str) -> str:
    """Return a text as written with blanks around "x" between numbers, whose thousands are joined.

    There is a digit before each point. How often an amount is there stands before it, and halves,
    quarters and eighths of an amount are decimals. Prices and years: see below.

    >>> with_plain_numbers("1,000.50 EUR, or 2,5"), with_plain_numbers("May 5,2024: 2x.5 mg")
    ('1000.5 EUR, or 2.5', 'May 5,2024: 2 x 0.5 mg')
    >>> with_plain_numbers("cola 0,33l x 6"), with_plain_numbers("milk 1 1/2 l")
    ('cola 6 x 0.33l', 'milk 1.5 l')
    >>> with_plain_numbers("half a litre"), with_plain_numbers("one and a half cups")
    ('0.5 litre', '1.5 cups')
    >>> with_plain_numbers("2.5mm\u00b2")
    '2.5 squaremillimeter'
    """

    def decimal(found: re.Match[str]) -> str:
        return str(int(found[1] or 0) + int(found[2]) / int(found[3]))

    def more(found: re.Match[str]) -> str:
        return f"{table_of('numbers').get(found[1].lower(), [found[1]])[0]}.5{found[2] or ''}"

    def part(found: re.Match[str]) -> str:
        return _PARTS[found[1].lower().replace("-", " ")]

    def power(found: re.Match[str]) -> str:
        symbol = found[1] + compatible(found[2])
        return f" {_written().get(symbol, symbol)}"

    text = _HALF_OF.sub(part, _AND_A_HALF.sub(more, text))
    text = _TIMES.sub(" x ", _FRACTION_OF.sub(decimal, text))
    text = _THOUSANDS.sub(lambda number: number[0].replace(",", ""), text)
    text = _OTHER_THOUSANDS.sub(lambda number: re.sub("\\D", "", number[0]), text)
    text = _BARE_POINT.sub("0.", _DECIMAL_COMMA.sub(r"\1.\2", text))
    text = _POWER.sub(power, _TIMES_BEHIND.sub(r"\2 x \1", text))
    return _with_years(_with_prices(text))


_MONEY = re.compile(
    r"(?:(?<![\w-])(?<!- )(USD|EUR|GBP|CHF|JPY)|(?<![\w-])(?<!- )(?:US)?([$€£¥])) ?"
    r"([0-9]+(?:\.[0-9]+)?)(?![\w.]| ?[-\u2013] ?[$€£¥0-9])"
)
_DOLLARS = re.compile(r"(?<=[0-9]) (?i:(?:us )?dollars?|bucks)\b")
_LAST_ZEROS = re.compile(r"(?:(\.[1-9])0|\.00?)(?=[$€£¥]| (?:USD|EUR|GBP|CHF|JPY)\b)")


def _with_prices(text: str) -> str:
    """Return a text with currencies behind the amounts, of which the last zeros say nothing.

    Ranges stay as they are, and three digits behind a point, which may be thousands.

    >>> _with_prices("US$ 5.50, EUR 9.00"), _with_prices("$5-$10"), _with_prices("EUR 1.500")
    ('5.5$, 9 EUR', '$5-$10', '1.500 EUR')
    """

    def behind(money: re.Match[str]) -> str:
        code, sign, number = money.groups()
        return f"{number} {code}" if code else number + sign

    return _LAST_ZEROS.sub(r"\1", _MONEY.sub(behind, _DOLLARS.sub(" USD", text)))


_QUARTER = re.compile(r"(?i)\b([1-4])(q(?= ?(?:20)?[0-9]{2}\b)|h(?= ?20[0-9]{2}\b))")
_PART_OF_YEAR = re.compile(
    r"(?i)\b(first|1st|second|2nd|third|3rd|fourth|4th)[ -]([qh])(?:uarter|alf)(?: of)?,?"
    r"(?= (?:19|20)[0-9]{2}\b)"
)
_PLACES = {"first": "1", "second": "2", "third": "3", "fourth": "4"}
_SEASON = re.compile(
    r"(?i)\b(19|20|(?:fy|season) ?|(?=[0-9]{2}/[0-9]{2} season))"
    r"([0-9]{2})([/\u2013-])(1[3-9]|[2-9][0-9])\b(?![/\u2013-])"
)


def _with_years(text: str) -> str:
    """Return a text with quarters as "Q1", and both years of a season whole.

    "2011/12" may be a month.

    >>> _with_years("1Q23"), _with_years("second half of 2024"), _with_years("FY22/23, 2011/12")
    ('Q1 23', 'h2 2024', 'FY 2022/2023, 2011/12')
    """

    def season(found: re.Match[str]) -> str:
        before, first, sign, second = found.groups()
        century = before if before.isdigit() else f"{before.strip()} 20"
        years = f"{century}{first}{sign}{century[-2:]}{second}"
        return years if int(first) + 1 == int(second) else found[0]

    def part(found: re.Match[str]) -> str:
        return found[2].lower() + _PLACES.get(found[1].lower(), found[1][0])

    return _QUARTER.sub(r"\2\1 ", _PART_OF_YEAR.sub(part, _SEASON.sub(season, text)))


_FRACTIONS = {"½": ".5", "¼": ".25", "¾": ".75"}
_FRACTION = re.compile("(?:([0-9]) ?)?([½¼¾])")


def with_points(text: str) -> str:
    """Return a text with points in numbers for halves and quarters.

    >>> with_points("4½ in, 1 ½ l, ¼ l")
    '4.5 in, 1.5 l, .25 l'
    """
    return _FRACTION.sub(lambda found: (found[1] or "") + _FRACTIONS[found[2]], text)


# ---- signs ---------------------------------------------------------------------------------------

_SIGN = re.compile("[/&%$€£¥°]")
_SIGNS = re.compile(
    r"(?<![^\W_])([^\W\d_]+)/([^\W\d_]*)(?![^\W_])| & |%(?![^\W\d_])|[€£¥]|°[CFcf](?![^\W_])"
    r"|(?<![A-Za-z])\$(?= ?[0-9])|(?<=[0-9])\$(?!\w)"
)
# Behind a number, where nothing is quoted: 15".
_INCH_SIGN = re.compile(r"(?<=[0-9]) ?(?:[\"\u2033]|'')(?!\w)")
_QUOTED = re.compile(r"(?<![0-9])(?<![0-9] )\"")
# "123 N Main St", where it is no unit.
_COMPASS = re.compile(
    r"(?<=[0-9] )([NESW])\b\.?(?= (?:[A-Z][\w']*\.? ){1,3}(?:Ave|Avenue|Blvd"
    r"|Boulevard|Highway|Hwy|Lane|Ln|Parkway|Pkwy|Rd|Road|St|Street)\b)"
)
_DIRECTIONS = {"N": "North", "E": "East", "S": "South", "W": "West"}
_SPLIT_OFF = re.compile(r"(?i)\b(in|out|on|off|up|down|pre|post|(?-i:a))-([a-z]+)")
# "100.00", "$9.00", but "1.000" may be a thousand, and "9.00" a time.
_ZERO_FRACTION = re.compile(
    r"(?i)(?<![\w.,-])(?!(?<![$€£¥])(?:[01]?[0-9]|2[0-4])\.00)(v?[0-9]+)\.0{1,2}(?![\d.]|[a-z]+[0-9])"
)
_PLUS = re.compile(r"(?<=[0-9])\+(?![\w+])")  # "S24+"; but "A+" and "Disney+"
_CODE_HYPHEN = re.compile(r"(?<=[0-9])-(?=[A-Z](?![^\W_]))")  # "SKU 88-B" as "SKU 88B"
_ARROW = re.compile(r"(?<=\w)\s*(?:-+>|=+>|→|⇒)\s*(?=\w)")
# A symbol of a unit behind a number, as "5 A"; or alone, if its case or brackets tell it: "(MV)".
_SYMBOL = re.compile(
    r"(?:(?<=[0-9])[\s_-]?|(?<![^\W_])(?=[a-zμΩ]|[A-Z]{2}[a-z])|(?<=[(\[])(?=M[JVW]|Nm))"
    r"([a-zA-Z]{0,2}[A-ZμΩ][a-zA-ZΩ]{0,2})(?![^\W_])"
)


def _named(symbol: re.Match[str]) -> str:
    """Return the unit that a symbol with capitals or Greek letters stands for: "mA", "MHz"."""
    written, units = symbol[1], table_of("units")
    ways = [written, "μ" + written[1:] if written[0] == "u" else written]
    # It would be two words, as "MBit"; but "mM" is molar.
    if written not in (written.upper(), written.title()) and written[-1] != "M":
        ways.append(written.lower())
    unit = next((units[way] for way in ways if way in units), None)
    return f" {' '.join(unit)}" if unit else symbol[0]


# A letter that is a unit behind the name of what is measured: "voltage (V)".
_LAST_UNIT = re.compile(
    r"(?i)(?<![^\W_])(current|voltage|mass|weight|volume)[ _]?[(\[_]([avgl])[)\]]?$"
)


# "Phase IIb" as "Phase 2b"; in letters of one case behind a word, since "IIA" is a name.
_NUMERAL_AND_LETTER = re.compile(
    r"(?<![^\W_])((?:IV|IX|VIII?|III?)(?=[a-e])|(?<=\w[ _-])(?i:VIII?|III?))([a-eA-E])(?![^\W_])"
)
_SHARP = re.compile(r"\b([CcFf])[ -]?[Ss]harp\b")
_PLUS_PLUS = re.compile(r"\b(?:cpp|[Cc] plus plus)\b")


@lru_cache(maxsize=1 << 12)  # of a query, for each of its candidates
def with_signs(text: str) -> str:
    """Return a text as written with signs for "C sharp" and "cpp"; but "CPP" is something else."""
    return _PLUS_PLUS.sub("c++", _SHARP.sub(r"\1#", text))


def spelled_out(text: str) -> str:
    """Return a text, and no more of it than is compared, with words for signs such as "w/o"."""
    text = text[:LONGEST]
    if not text.isascii():
        text = compatible(with_points(text))
    if HAS_NUMBERS.search(text):
        if not _QUOTED.search(text):
            text = _INCH_SIGN.sub(" inch", text)
        text = _COMPASS.sub(lambda found: _DIRECTIONS[found[1]], text)
        text = _ZERO_FRACTION.sub(r"\1", with_plain_numbers(text))
    if "-" in text:
        text = _SPLIT_OFF.sub(_joined, text)
        text = _CODE_HYPHEN.sub("", text)
    text = _NUMERAL_AND_LETTER.sub(_in_digits, text)
    text = _ARROW.sub(" to ", _PLUS.sub(" plus", with_signs(text)))
    text = _LAST_UNIT.sub(lambda found: f"{found[1]} {unit_of(found[2])}", text)
    text = _SYMBOL.sub(_named, text)
    return _SIGNS.sub(_worded, text) if _SIGN.search(text) else text


def _in_digits(numeral: re.Match[str]) -> str:
    return table_of("numbers")[numeral[1].lower()][0] + numeral[2].lower()


def _joined(split: re.Match[str]) -> str:
    """Return "inactive" of "in-active" and "outdoor" of "out-door"; but "in-house", "on-call"."""
    whole = split[1] + split[2]
    entry = look_up(whole.lower())
    denies = split[2].lower() in entry.opposites
    is_word = entry.is_common or any(entry.meanings)
    return whole if denies or (is_word and len(split[1]) > 1) else split[0]


def _worded(sign: re.Match[str]) -> str:
    """Return what a sign is in words: "price/kg" is "price per kg", "w/o" is "without"."""
    one, other = (look_up((part or "").lower()).unit for part in sign.groups())
    is_rate = are_measures()[other] and not one and min(map(len, sign.groups())) > 1
    parted = " per ".join(sign.groups()) if is_rate else sign[0]
    return f" {_written().get(sign[0].strip().lower(), parted)} "


# ---- words ---------------------------------------------------------------------------------------

_NUMBER_AND_UNIT = re.compile(r"\b([0-9]+)([a-z]{2,}|(?<=[0-9]{2})[a-z])\b")  # but not "5g"
_POSSESSIVE = re.compile(r"(?<=[^\W\d_]{2})_s(?=_)")  # "patient_s_age", not "timeout_s"


@cache
def _written() -> dict[str, str]:
    """Return how signs and words are written: "in active" as "inactive"."""
    written = {
        f"{first} {word}": other
        for word, other in word_list("negated")
        if other.endswith(word)
        for first in ("not", "non", other.removesuffix(word))
        if first not in ("in", "a")  # which are words: "in active use", "a typical day"
    }
    return written | dict(word_list("written", " = "))


@cache
def _last_written() -> frozenset[str]:
    """Return the last words of what is written in another way; few texts have one."""
    return frozenset(left.split()[-1] for left in _written())


def words_of(text: str) -> list[str]:
    """Return the words of a text as the tables write them, at most 32.

    They are those of `plain`, but what may be written in several ways is written in one.

    >>> words_of("price w/o tax"), words_of("In-active users"), words_of("10kg"), words_of("5 g")
    (['price', 'without', 'tax'], ['inactive', 'users'], ['10', 'kg'], ['5', 'gram'])
    """
    units, written, last, found = table_of("units"), _written(), _last_written(), list[str]()

    def parted(stuck: re.Match[str]) -> str:  # a number and a unit; but codes stay as they are
        unit = stuck[2]
        is_unit = unit in units or "unit" in table_of("kinds").get(unit, ())
        is_unit |= len(unit) > 1 and look_up(unit).unit > 0  # "250mcg", but not "10x"
        return " ".join(stuck.groups()) if is_unit and look_up(stuck[0]).group < 0 else stuck[0]

    text = plain(spelled_out(_POSSESSIVE.sub("s", text)))
    for word in _NUMBER_AND_UNIT.sub(parted, text).split():
        is_unit = len(word) == 1 and word in units and found[-1:] and found[-1].isdigit()
        found.append(units[word][0] if is_unit else word)  # "5 g", where "g" alone is a letter
        while found[-1] in last:
            some = " ".join(found[-2:])
            if some not in written and (some := found[-1]) not in written:
                break
            found[-1 - some.count(" ") :] = written[some].split()
    return _read_in_context(_with_whole_numbers(found[:MOST_READ]))


_TENS = {"twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
_CENTURIES = (18, 19)
_MOST_DIGITS = 14
_NUMBER_WORD = re.compile("([0-9]+)((?:st|nd|rd|th)?)")


def _with_whole_numbers(words: list[str]) -> list[str]:
    """Return words with "twenty first", "two hundred and five" and "nineteen ninety" as one number.

    A number in digits may stand before "thousand", but not one with a point.
    """
    numbers, found = table_of("numbers"), list[str]()
    # The number at the end of those found, what may be added to it is less than, and its kind.
    whole, room, in_words = 0, 0, False
    for place, word in enumerate(words):
        number, ending = _number_of(numbers.get(word, [word])[0])
        scale, is_named, low = _SCALES.get(word, 0), word in numbers, 0
        if scale and found[-2:-1] != ["point"]:  # what it multiplies
            low = whole % scale if in_words else whole * (whole < scale)
        if low:
            whole, room, in_words = whole - low + low * scale, scale, True
        elif is_named and 0 < number < room:
            whole, room = whole + number, 10 if word in _TENS else 0
        elif is_named and in_words and whole in _CENTURIES and number in range(10, 100):
            whole, room = 100 * whole + number, 10 if word in _TENS else 0
        elif word == "and" and room > 10 and words[place + 1 : place + 2]:
            after = words[place + 1]  # "two hundred and five", but "two hundred and 5"
            if after not in numbers or not 0 < _number_of(numbers[after][0])[0] < room:
                found.append(word)
                whole = room = 0
            continue
        else:
            is_part = not is_named and found[-1:] and found[-1].isdecimal()
            found.append(word)
            whole, room, in_words = 0 if is_part or ending else number, 0, is_named
            room = 10 if word in _TENS else 0
            continue
        found[-1] = f"{whole}{ending}"
        whole = 0 if ending else whole
    return found


def _number_of(word: str) -> tuple[int, str]:
    """Return the number that a word is in digits, and its ending: "21st"; 0 for none."""
    told = _NUMBER_WORD.fullmatch(word)
    return (int(told[1]), told[2]) if told and len(told[1]) < _MOST_DIGITS else (0, "")


_NUMERALS = {"i": "1", "v": "5", "x": "10", "xi": "11"}


def _read_in_context(words: list[str]) -> list[str]:
    """Return words with "no" as "without" before what is denied, and "i", "v", "x" as numbers.

    So are "no tax" and "has no tax", but not "order no" and "no 5"; "type I", "chapter V" and
    "algebra I", but not "do I" and "I am".
    """
    kinds = table_of("kinds")
    for i, word in enumerate(words):
        if word == "no" or word in _NUMERALS:
            before = kinds.get(words[i - 1], ()) if i else ("states",)
            after = look_up(words[i + 1]) if i + 1 < len(words) else None
            is_last = after is None or after.is_function
            if word != "no":
                is_noun = not before or "counted" in before
                if i and ("numbered" in before or (word == "i" and is_last and is_noun)):
                    words[i] = _NUMERALS[word]
            elif after and not (after.has_digit or after.form[0].isdigit() or after.is_filler):
                words[i] = "without" if "states" in before or not before else "no"
    return words


@cache
def first_writings() -> dict[str, str]:
    """Return how single words that may be written in several ways are: "1st" for "first"."""
    numbers = {word: digits for word, (digits,) in table_of("numbers").items()}
    return numbers | {a: b for a, b in _written().items() if f"{a}{b}".isalpha()}


@cache
def other_writings() -> dict[str, list[str]]:
    """Return which words `first_writings` rewrites to each: "one" for "1"."""
    found = dict[str, list[str]]()
    for word, first in first_writings().items():
        found.setdefault(first, []).append(word)
    return found


# ---- sides of directions, and aspects ------------------------------------------------------------

# "A 3-1 B" and "A > B"; but "A/C" is one word.
_SIDES = re.compile(
    r"[^\W\d_](?:\s*>\s*|\s[-\u2013]\s|\s[0-9]+[-:\u2013][0-9]+\s(?=[A-Z]))[^\W\d_]"
    r"|[^\W\d_]{2}\s*/\s*[^\W\d_]|[^\W\d_]\s*/\s*[^\W\d_]{2}"
)
_ASPECTS = dict.fromkeys(("at", "on", "in", "into"), "at")  # "created_on", "log in"
_ASPECTS |= dict.fromkeys(("to", "until", "till"), "to")
_ASPECTS |= {word: word for word in ("by", "for", "from", "of", "with")}
_MOST_DIRECTED = 7  # words behind the first; in a sentence other words tell who does what
_WHETHER = ("is", "are", "was", "were", "has", "have", "had")


def is_directed(text: str, words: str) -> bool:
    """Tell whether the order of the words of a text matters, as in "USD/EUR", "miles per hour".

    Given is the text as written, and its words.

    >>> [is_directed(one, one.lower()) for one in ("usd to eur", "Bonn - Ulm", "from home")]
    [True, True, False]
    """
    kinds, (_, *others) = table_of("kinds"), words.split(" ")
    if len(others) > _MOST_DIRECTED and not ({"from", "to"} <= {*others} or "than" in others):
        return False
    inside = [word for word in others[:-1] if "direction" in kinds.get(word, ())]
    return bool(inside or (_SIDES.search(text) and _SIDES.search(spelled_out(text))))


def sides_in(words: str) -> list[str]:
    """Return the word of direction that each word of a plain text stands behind, or is.

    What stands before "to", where there is no "from", is from there, and the other way round.

    >>> sides_in("train from bonn to ulm"), sides_in("usd to eur"), sides_in("ulm from bonn")
    (['', 'from', 'from', 'to', 'to'], ['from', 'to', 'to'], ['to', 'from', 'from'])
    """
    kinds, side, sides = table_of("kinds"), "", list[str]()
    for word in words.split(" "):
        if "direction" in kinds.get(word, ()):
            side = "to" if word in ("into", "onto") else word
        sides.append(side)
    for one, other in (("to", "from"), ("from", "to")):
        if one in sides and other not in sides:
            sides = [side or other for side in sides]
    return sides


def aspect_of(words: str) -> str:
    """Return what a plain text tells of a thing: the preposition at its end, or "is" for whether.

    Prepositions that may be exchanged have one name; it is "" if there is neither.

    >>> aspect_of("created on"), aspect_of("created by"), aspect_of("is created"), aspect_of("name")
    ('at', 'by', 'is', '')
    """
    first, _, last = words.rpartition(" ")
    whether = "is" if first.split(" ")[0] in _WHETHER else ""
    return _ASPECTS.get(last, whether)


def are_turned(
    places: Sequence[tuple[int, int]], ours: Sequence[str], theirs: Sequence[str]
) -> bool:
    """Tell whether words, at these places of a query and a key, change sides of a direction.

    Given are the sides of the words of both, as of `sides_in`. Words change sides if one comes from
    the side of another, which takes its place; or, if no side is in both, if the order of two
    changes that are apart in both: not in "density of population", "population density per km2".

    >>> are_turned([(0, 2), (2, 0)], sides_in("usd to eur"), sides_in("eur to usd"))
    True
    >>> are_turned([(1, 4), (3, 2)], sides_in("to ulm from bonn"), sides_in("bus from bonn to ulm"))
    False
    """
    if {*ours} & {*theirs} <= {""}:
        return any(
            (m - n) * (k - h) < 0 and _are_apart(ours, m, n) and _are_apart(theirs, k, h)
            for (m, k), (n, h) in combinations(places, 2)
        )
    moves = {(ours[m], theirs[k]) for m, k in places}
    return any(one != other and (other, one) in moves for one, other in moves)


def _are_apart(sides: Sequence[str], one: int, other: int) -> bool:
    """Tell whether two words are on two sides; none are known of signs, as in "USD/EUR"."""
    return sides[one] != sides[other] or not any(sides)


# ---- notes ---------------------------------------------------------------------------------------

_NOTE = re.compile(r"(?<=\w)\W*[(\[][^()\[\]]+[)\]]\W*\Z")


@lru_cache(maxsize=1 << 12)  # of keys, for each query
def words_before_note(text: str) -> int:
    """Return how many words of a text are before a note in brackets at its end; 0 without a note.

    >>> words_before_note("Chief cook (interim)"), words_before_note("(old) rent")
    (2, 0)
    """
    found = _NOTE.search(text)
    return len(words_of(text[: found.start()])) if found and plain(found[0]) else 0
