"""What `fit` has set in a dict: remembered, so that it is put back before it learns afresh."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

from fuzzydict.embedding.projections import Projections
from fuzzydict.options import Configured, check_option

__all__ = ["Learnt", "set_learned", "unlearned"]

_LEARNED = ("projections", "scorer", "temperature", "score_cutoff")
_NAME = "_learnt"  # of the attribute of a dict, which goes where its options go, but to no file


class Learnt(NamedTuple):
    """Options by name, as they were before a dict was fitted, and as `fit` left them."""

    before: dict[str, Any]
    after: dict[str, Any]

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # options are not copied either


def unlearned(d: Configured) -> dict[str, Any]:
    """Return the options as they would be if the dict had not been fitted.

    What was set since then stays. Of a dict from a file, which remembers nothing, no more is
    known than on what its projections were learned.

    >>> from fuzzydict import FuzzyDict
    >>> d = FuzzyDict()
    >>> set_learned(d, {"score_cutoff": 0.5, "temperature": 2.0})
    >>> d.temperature = 3.0  # not by fit
    >>> unlearned(d)
    {'projections': None, 'scorer': None, 'temperature': 3.0, 'score_cutoff': None}
    """
    options = {name: getattr(d, name) for name in _LEARNED}
    learnt: Learnt | None = d.__dict__.get(_NAME)
    if learnt is not None:
        for name, value in options.items():
            if _same(value, learnt.after[name]):
                options[name] = learnt.before[name]
    projections = options["projections"]
    if isinstance(projections, Projections) and projections.base is not None:
        options["projections"] = projections.base
    return options


def set_learned(d: Configured, options: Mapping[str, Any]) -> None:
    """Set options, and remember what they were; hold the dict's lock, so that none reads amid."""
    before = unlearned(d)
    for name, value in options.items():
        check_option(name, value)  # all of them, before one is set
    for name, value in options.items():
        if value is not getattr(d, name):  # for the keys would be encoded again
            setattr(d, name, value)
    d.__dict__[_NAME] = Learnt(before, {name: getattr(d, name) for name in _LEARNED})


def _same(a: Any, b: Any) -> bool:
    return a is b or (type(a) is type(b) and isinstance(a, str | float | int) and a == b)
