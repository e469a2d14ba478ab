"""Amounts: numbers with their units, as texts as written have them."""

from __future__ import annotations

import re
from collections import defaultdict
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from fuzzydict.text.lexicon import PREFIXES, look_up, unit_of
from fuzzydict.text.words import LONGEST, compatible
from fuzzydict.text.writings import HAS_NUMBERS, with_plain_numbers, with_points

AMOUNT = re.compile(
    r"(?<![^\W_])(?<![.,/])([0-9]{1,18}(?:\.[0-9]{1,18})?)(?:-|[\s_]{0,3})([^\W\d_]+)(?![^\W_]|[\^²³])"
    r"(?=(?:(?:/| per )([^\W\d_]+)(?![^\W_]))?)"
)
#: Units without a prefix that are multiples of another.
_MULTIPLES: dict[str, tuple[int | Fraction, str]]
_MULTIPLES = {"minute": (60, "second"), "hour": (3600, "second"), "day": (86_400, "second")}
_MULTIPLES |= {"week": (604_800, "second"), "year": (12, "month"), "tonne": (10**6, "gram")}
_MULTIPLES |= {"pound": (16, "ounce"), "foot": (12, "inch"), "gallon": (8, "pint")}
_MULTIPLES |= {"cubicmeter": (1000, "liter"), "cubicdecimeter": (1, "liter")}
_MULTIPLES |= {"cubiccentimeter": (Fraction(1, 1000), "liter")}
_MULTIPLES |= {"squarecentimeter": (Fraction(1, 10**4), "squaremeter")}
_MULTIPLES |= {"squaremillimeter": (Fraction(1, 10**6), "squaremeter")}
_MULTIPLES |= {"squarekilometer": (10**6, "squaremeter")}
_CURRENCIES = {"dollar", "eur", "jpy", "chf", "cad", "aud", "cny"}
_MAY_BE_THOUSANDS = re.compile(r"[0-9]{1,3}\.[0-9]{3}")  # "1.500 EUR", but "1.500 kg" are 1.5 kg
#: What rates are often of; and what may tell of a rate otherwise.
_RATED = {"second", "minute", "hour", "day", "week", "month", "year"}
_RATED |= {"liter", "milliliter", "deciliter", "kilogram", "meter"}
_MAY_BE_RATE = re.compile(r"(?i)/|\b(?:per|an?|each|every|daily|hourly|weekly|monthly|yearly)\b")


class Amount(NamedTuple):
    """A number with its unit, and its value in units without a prefix."""

    written: str
    number: str
    unit: str
    value: tuple[Fraction, str]


def _amount(found: re.Match[str]) -> Amount | None:
    """Return what an `AMOUNT` is, if its second part is a unit, and the value is sure."""
    number, unit = found[1], unit_of(found[2])
    if unit in _CURRENCIES and _MAY_BE_THOUSANDS.fullmatch(number):
        return None
    prefix = next((one for one in PREFIXES if unit.startswith(one)), "")
    times, base = _MULTIPLES.get(unit, (1, unit.removeprefix(prefix)))
    value = Fraction(number) * times * Fraction(10) ** PREFIXES.get(prefix, 0)
    if not any(look_up(name.split(" ")[0]).unit for name in (unit, base)):
        return None
    per = unit_of(found[3]) if found[3] else ""
    if per in _RATED and not {unit, per} <= _MULTIPLES.keys():  # "10 mg/h", not "7 day/week"
        unit, base = f"{unit}/{per}", f"{base}/{per}"
    return Amount(found[0], number, unit, (value, base))


@lru_cache(maxsize=1 << 12)
def amounts_of(text: str) -> list[Amount]:
    """Return the amounts in a text as written.

    >>> amounts_of("Ruler 30cm")
    [Amount(written='30cm', number='30', unit='centimeter', value=(Fraction(3, 10), 'meter'))]
    """
    if text.isascii() and not HAS_NUMBERS.search(text):
        return []
    return [one for one in map(_amount, AMOUNT.finditer(in_plain_numbers(text))) if one]


def in_plain_numbers(text: str) -> str:
    """Return a text as written, in which amounts are sought."""
    return with_plain_numbers(text if text.isascii() else compatible(with_points(text)))


def in_units_of(text: str, other: str) -> str | None:
    """Return a text with its amounts as they stand in another; None if none is to be changed.

    >>> in_units_of("Oil, 0.5 l", "oil 500 ml"), in_units_of("5 mm", "5 cm")
    ('Oil, 500 ml', None)
    >>> in_units_of("tile 60x60 cm", "tile 600 x 600 mm")
    'tile 600 x 600 mm'
    """
    text, other = text[:LONGEST], other[:LONGEST]
    theirs, their_sides, sides = amounts_of(other), _sides_of(other), _sides_of(text)
    if {*sides.values()} <= {*their_sides.values()} or sides.keys().isdisjoint(their_sides):
        with_sides = text
    else:
        with_sides = _SIDES.sub(
            lambda one: their_sides.get(_lengths(one), one[0]), in_plain_numbers(text)
        )
    there = {(one.number, one.unit) for one in theirs}
    of_values = {one.value: one.written for one in theirs}
    instead = {
        own.written: of_values[own.value]
        for own in amounts_of(with_sides)
        if own.value in of_values and (own.number, own.unit) not in there
    }
    if not instead:
        return None if with_sides == text else with_sides[:LONGEST]
    text = in_plain_numbers(with_sides)
    return AMOUNT.sub(lambda found: instead.get(found[0], found[0]), text)[:LONGEST]


# Two to four lengths with one unit.
_SIDES = re.compile(
    r"(?i)(?<![\w.])((?:[0-9]+(?:\.[0-9]+)? x ){1,3}[0-9]+(?:\.[0-9]+)?) ?(mm|cm|m)(?![^\W_])"
)
_IN_MILLIMETERS = {"mm": 1, "cm": 10, "m": 1000}


def _lengths(sides: re.Match[str]) -> tuple[Fraction, ...]:
    """Return the lengths of sides in millimeters."""
    times = _IN_MILLIMETERS[sides[2].lower()]
    return tuple(Fraction(side) * times for side in sides[1].lower().split(" x "))


@lru_cache(maxsize=1 << 12)
def _sides_of(text: str) -> dict[tuple[Fraction, ...], str]:
    """Return the lengths of the sides in a text as written, with the part that tells them."""
    if text.isascii() and not HAS_NUMBERS.search(text):
        return {}
    return {_lengths(one): one[0] for one in _SIDES.finditer(in_plain_numbers(text)[:LONGEST])}


_SEVERAL = re.compile(r"\b(?!1 x)[0-9]+ x (?=[0-9])")  # bottles, or sides
_UNITS_OF_SIDES = {"millimeter", "centimeter", "x"}  # "x" is read as one


def other_amounts(text: str, other: str) -> bool:
    """Tell whether texts as written have no amount of a quantity in common that both have.

    Nor have they if one of them alone has it several times, in a pack.

    >>> other_amounts("paint 5 l", "paint 2.5 l"), other_amounts("oil 1 l, 900 g", "oil 1000 ml")
    (True, False)
    >>> other_amounts("cola 6 x 330 ml", "cola 330 ml"), other_amounts("ply 5 x 2 cm", "ply 2 cm")
    (True, False)
    """
    of_both = _of_one_quantity(text, other)
    if not of_both or any(ours.isdisjoint(theirs) for ours, theirs in of_both):
        return bool(of_both)
    units = {one.unit for one in (*amounts_of(text), *amounts_of(other))}
    are_packs = [bool(_SEVERAL.search(one)) for one in (text, other)]
    return are_packs[0] != are_packs[1] and not units <= _UNITS_OF_SIDES


def other_rates(text: str, other: str) -> bool:
    """Tell whether an amount of a quantity is a rate in one of two texts as written.

    >>> other_rates("morphine 10 mg/h", "morphine 10 mg"), other_rates("10 km/h", "10 km per hour")
    (True, False)
    >>> other_rates("5 g per day", "5 g daily")
    False
    """
    rates = [any("/" in one.unit for one in amounts_of(one)) for one in (text, other)]
    if not any(rates) or (_MAY_BE_RATE.search(other if rates[0] else text) and not all(rates)):
        return False
    return any(
        {base for _, base in ours}.isdisjoint({base for _, base in theirs})
        for ours, theirs in _of_one_quantity(text, other)
    )


def _of_one_quantity(text: str, other: str) -> list[list[set[tuple[Fraction, str]]]]:
    """Return the values of the amounts of each quantity that both texts as written have."""
    ours, theirs = (defaultdict[str, set[tuple[Fraction, str]]](set) for _ in range(2))
    for found, amounts in ((ours, amounts_of(text)), (theirs, amounts_of(other))):
        for one in amounts:
            found[one.value[1].split("/")[0]].add(one.value)
    return [[ours[quantity], theirs[quantity]] for quantity in ours.keys() & theirs.keys()]
