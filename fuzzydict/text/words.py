"""From text to words: the one place that says what a word is."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib import resources

from fuzzydict.errors import printable, quoted

#: Characters of a key or query that are compared, as it is given and in its plain form; what
#: follows them makes no difference. (One character, such as U+FDFA, may be 18 in the plain form.)
LONGEST = 1024

# "topSpeed" -> "top Speed", "HTTPStatus" -> "HTTP Status"
_HUMP = re.compile(r"(?<=[a-zß-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])|(?<=[A-Z])(?=[A-Z][a-z])")
_PLURAL = r"(?<=[A-Z]{2})(?<!HTTP)s(?![^\W_])"  # "CPUs" -> "CPU"
_S = re.compile(_PLURAL)
# But "PwC", "VoIP", "SaaS" and "BSc" are one word; "MyID" is two.
_ACRONYM = re.compile(
    r"(?<![^\W_])(?:(?!An|As|At|By|He|If|In|Is|It|Me|My|On|Or|Up|We)[A-Z](?:[a-z][A-Z]{1,2}|aaS)"
    r"|[BDM](?:Ed|Eng|Phil|Sc))(?![^\W_])"
)
# And so are "KMnO4" and "NaCl": the symbols of elements that texts have most, and of methyl.
_FORMULA = re.compile(
    r"(?<![^\W_])(?:(?:A[glru]|B[ar]?|C[adloru]?|F[e]?|H[eg]?|I|K|Li|M[egn]|N[ai]?|O|P[bt]?|S[inr]?|Ti|Zn)"
    r"[0-9]{0,2}){2,}(?![^\W_])"
)
_PLAIN = re.compile(r"[a-z0-9]+(?: [a-z0-9]+)*")  # most keys are: they are their own words
# "U.K." -> "UK", "R&D" -> "RD"
_INITIALS = re.compile(r"(?<![^\W_])[^\W\d_](?:[.&][^\W\d_](?![^\W_]))+\.?")
_SLASHED = re.compile(r"(?<![^\W_]|/)([A-Z])/([A-Z])(?![^\W_]|/)")  # "A/C"
_NOT_A_WORD = re.compile(r"[^a-z0-9']+")
# Letters that are no others with an accent, as they are written where they are missing.
_SPELLED_OUT = str.maketrans(
    dict(zip("æœøłđðþħ\u0131", ["ae", "oe", "o", "l", "d", "d", "th", "h", "i"], strict=True))
)
_MARKS = re.compile(r"([^\w\s]{30})([^\w\s]+)")  # marks, and signs
# C++ and C#, $ 5 and 5 %, A+ and A-, -5, GP and GPs
_NAME_SIGN = re.compile(rf"[+#%$€£¥]|(?<=\w)-(?!\w)|(?<![^\s(])[-\u2212](?=[0-9])|{_PLURAL}")
_APOSTROPHES = "'\u2018\u2019\u02bc\uff07"


def words(text: str) -> list[str]:
    """Return the words of ``text``: its letters and digits, in lower case, without accents.

    Punctuation, blanks, underscores and the humps of camel case part words; an apostrophe inside
    a word belongs to it. Single letters joined by dots or "&", or capitals by "/", are one word,
    and so are "PwC", "NaCl", and "CPUs", of which the s is left out. Text without a letter or a
    digit has no words. Compatible Unicode forms of a text (full width, composed or decomposed) have
    the same words.

    >>> words("topSpeed"), words("top_speed"), words("Top speed")
    (['top', 'speed'], ['top', 'speed'], ['top', 'speed'])
    >>> words("Don't panic, Zoë!")
    ["don't", 'panic', 'zoe']
    >>> words("the U.K.'s R&D, A/C")
    ['the', "uk's", 'rd', 'ac']
    >>> words("?!")
    []
    """
    if _PLAIN.fullmatch(text):
        return text.split(" ")
    if not text.isascii():
        text = compatible(text)  # before humps are sought: "É" may be "E\u0301"
    if "." in text or "&" in text:
        text = _INITIALS.sub(lambda initials: re.sub("[.&]", "", initials[0]), text)
    if "/" in text:
        text = _SLASHED.sub(r"\1\2", text)
    for one_word in (_ACRONYM, _FORMULA):
        text = one_word.sub(lambda found: found[0].upper(), text)
    text = _HUMP.sub(" ", _S.sub("", text))
    if text.isascii():
        text = _NOT_A_WORD.sub(" ", text.lower())
    else:
        decomposed = caseless(unicodedata.normalize("NFKD", text))
        parts = "".join(map(_plain, decomposed)).split()
        # A vowel sign with no letter to carry it is not a word.
        kept = " ".join(part for part in parts if any(map(str.isalnum, part)))
        text = unicodedata.normalize("NFC", kept)
    return [word for part in text.split() if (word := part.strip("'"))]


def plain(text: str) -> str:
    """Return the words of a key or query joined by blanks, which is what is compared.

    >>> plain("topSpeed"), plain("?!")
    ('top speed', '')
    """
    text = text[:LONGEST]
    return text if _PLAIN.fullmatch(text) else _plain_words(text)


@lru_cache(maxsize=1024)  # a text is read for its words, its spelling and its vector
def _plain_words(text: str) -> str:
    written = text if text.isascii() else compatible(text)[:LONGEST]
    return " ".join(words(written))[:LONGEST].rstrip()


def same_text(text: str) -> str:
    """Return what is equal for texts that are one, however they are written.

    That is their plain words, with the signs that names differ by; or the text without words.

    >>> same_text("Shipping"), same_text(" shipping? "), same_text("C#"), same_text(" ?! ")
    ('shipping', 'shipping', 'c #', '?!')
    """
    signs = _NAME_SIGN.findall(text[:LONGEST])
    words = plain(text)
    return f"{words} {''.join(signs)}" if words and signs else words or text.strip()


def caseless(text: str) -> str:
    """Return a text without case, and without letters that many spell out.

    >>> caseless("Straße"), caseless("Œuvre")
    ('strasse', 'oeuvre')
    """
    return text.casefold().translate(_SPELLED_OUT)


def shortened(text: str, width: int) -> str:
    r"""Return a text for a chart: on one line, its end left out if it is long.

    >>> shortened("top speed", 5), shortened("a\x1b", 5)
    ('top …', 'a\\x1b')
    """
    line = "".join(c if c.isprintable() else " " for c in printable(text[: width + 1]))
    return line if len(line) <= width else line[: width - 1] + "…"


def label(value: object, width: int = 24) -> str:
    """Return a key or value for a chart or table: a text as it is, all else as its ``repr``.

    >>> label("top speed"), label(260), label(list(range(1000)))
    ('top speed', '260', '[0, 1, 2, 3, 4, 5, ...]')
    """
    return shortened(value if isinstance(value, str) else quoted(value), width)


def word_list(name: str, separator: str | None = None) -> Iterator[list[str]]:
    """Return the words of each line of a list that ships with the package, in order.

    A separator other than blanks parts texts of several words, as " = " in "terms".

    >>> next(word_list("irregular"))
    ['aardwolves', 'aardwolf']
    """
    text = (resources.files("fuzzydict.data") / f"{name}.txt").read_text("utf-8")
    return (line.split(separator) for line in text.splitlines())


def line_of(name: str, key: str) -> list[str]:
    """Return what a sorted table says of a key, or nothing; it is searched, not parsed.

    >>> line_of("terms", "zip")[:3], line_of("terms", "zebra crossing sign")
    (['4', 'postal code', 'zip code'], [])
    """
    lines, sought = _sorted_lines(name), f"{key}\t".encode()
    line = lines[bisect_left(lines, sought)]
    return line[len(sought) :].decode().split("\t") if line.startswith(sought) else []


@cache
def _sorted_lines(name: str) -> list[bytes]:
    lines = (resources.files("fuzzydict.data") / f"{name}.sorted").read_bytes().split(b"\n")
    lines[-1] = b"\xff"  # the end, behind all keys
    return lines


def compatible(text: str) -> str:
    """Return a text in the form NFKC, with no more than 30 marks on a letter.

    No language has more (Unicode Standard Annex 15, "Stream-Safe Text Format"), and the time to
    put them in order grows with their square.
    """

    def without_marks(run: re.Match[str]) -> str:
        return run[1] + "".join([one for one in run[2] if not unicodedata.combining(one)])

    return unicodedata.normalize("NFKC", _MARKS.sub(without_marks, text))


@lru_cache(maxsize=4096)
def _plain(character: str) -> str:
    """Return the character, nothing for what only adorns its neighbour, a blank for the rest."""
    if character in _APOSTROPHES:
        return "'"
    if character.isalnum():
        return character
    category = unicodedata.category(character)
    is_selector = "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"
    # Accents and points (classes from 10 up) go; vowel signs, viramas and voicing marks stay.
    if category == "Cf" or unicodedata.combining(character) >= 10 or is_selector:
        return ""
    return character if category.startswith("M") else " "
