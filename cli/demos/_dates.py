"""Dates, written in the many ways in which people write them."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np

__all__ = ["date_examples"]

_MONTHS = [
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
]
_WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_ONES = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"]
_TEENS = [
    *("tenth", "eleventh", "twelfth", "thirteenth", "fourteenth"),
    *("fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth"),
]
_DAYS = [
    *(*_ONES, *_TEENS, "twentieth", *(f"twenty-{one}" for one in _ONES)),
    *("thirtieth", "thirty-first"),
]
_FORMS = [
    "{day} {month} {year}",
    "{month} {day} {year}",
    "{month} {day}, {year}",
    "{weekday} {day} {month} {year}",
    "{weekday}, {month} {day}, {year}",
    "the {nth} of {month}, {year}",
    "{month} the {nth}, {year}",
    "{weekday} the {nth} of {month} {year}",
    "{year} {month} {day}",
    "{day}-{short}-{year}",
    "{day:02}.{number:02}.{year}",  # the day comes first beside a full stop,
    "{number}/{day}/{year}",  # the month beside a slash
]


def date_examples(
    learn: int, ask: int, seed: int = 0
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return pairs of a text and its ISO date, to learn from and to ask; they share no date."""
    random = np.random.default_rng(seed)
    first, end = date(1900, 1, 1), date(2100, 1, 1)
    dates = [first + timedelta(days=int(i)) for i in random.permutation((end - first).days)]
    asked, others = dates[:ask], dates[ask:]
    learned = [others[i] for i in random.integers(len(others), size=learn)]
    return _pairs(learned, random), _pairs(asked, random)


def _pairs(dates: list[date], random: np.random.Generator) -> list[tuple[str, str]]:
    return [(_written(day, random), day.isoformat()) for day in dates]


def _written(day: date, random: np.random.Generator) -> str:
    """Write a date in one of many ways."""
    month, weekday = _MONTHS[day.month - 1], _WEEKDAYS[day.weekday()]
    if random.random() < 0.5:
        month, weekday = month[:3], weekday[:3]
    nth = _DAYS[day.day - 1] if random.random() < 0.5 else f"{day.day}{_ending(day.day)}"
    text = str(random.choice(_FORMS)).format(
        day=day.day,
        nth=nth,
        number=day.month,
        month=month,
        short=month[:3],
        weekday=weekday,
        year=day.year,
    )
    return str(random.choice([text, text, text.lower(), text.upper()]))


def _ending(number: int) -> str:
    """Return the ending of 1st, 2nd, 3rd, 4th, but 11th, 12th, 13th."""
    return "th" if number in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
