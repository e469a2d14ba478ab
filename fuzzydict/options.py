"""The options of a `FuzzyDict`: declared once, and checked wherever they are set."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from operator import is_
from types import FunctionType
from typing import Any

from fuzzydict._arrays import positive, real_number
from fuzzydict.embedding.encoder import Embedding, as_embedding
from fuzzydict.embedding.projections import Projections, as_projections, require_learned_for
from fuzzydict.errors import (
    ArgumentTypeError,
    OptionError,
    ReadOnlyError,
    UnknownOptionError,
    quoted,
)
from fuzzydict.search.neighbours import EXACT, GRAPH
from fuzzydict.search.score import Meaning, as_score, is_probability, is_spelling
from fuzzydict.search.taught import SynonymRules, Synonyms

MODES = ("nearest", "pool")


def _require_one_of(option: str, names: Sequence[str], value: Any) -> None:
    if not isinstance(value, str) or value not in names:
        expected = ", ".join(map(repr, names))
        raise OptionError(f"{option}: expected one of {expected}, got {quoted(value)}")


def as_temperature(temperature: Any) -> float | None:
    """Return a temperature as a float, or None; raise if it is no finite number above 0."""
    return None if temperature is None else positive("temperature", temperature)


def as_cutoff(cutoff: Any) -> float | None:
    """Return a cutoff as a float, or None; raise if it is no number.

    >>> from fractions import Fraction
    >>> as_cutoff(Fraction(9, 10))
    0.9
    """
    if cutoff is None:
        return None
    return real_number("score_cutoff", cutoff, "a number, None, or inf, which no score reaches")


def check_reachable(cutoff: float, scorer: Any) -> None:
    """Refuse a cutoff that all scores are below, unless it is inf, which says so."""
    if 1 < cutoff < math.inf and is_probability(scorer):
        raise OptionError(
            f"score_cutoff: {cutoff:g} is above all scores, which are probabilities; expected a "
            f"number from 0 to 1, or inf, which no score reaches"
        )


#: The options by name, and what checks each: it raises, or returns what a value stands for, as the
#: float of a number. The constructor, attributes, copies, pickles and files all go by this table.
OPTIONS: Mapping[str, Callable[[Any], Any]] = {
    "mode": partial(_require_one_of, "mode", MODES),
    "embedding": as_embedding,
    "scorer": as_score,
    "temperature": as_temperature,
    "score_cutoff": as_cutoff,
    "projections": as_projections,
    "index": partial(_require_one_of, "index", (EXACT, GRAPH)),
}
#: The options that `fit` sets.
LEARNED = ("scorer", "temperature", "score_cutoff", "projections")
_UNSET: Any = object()


class Configured:
    """The options of a dict: attributes, class attributes of a subclass, and arguments alike.

    They are no descriptors, which ``FuzzyDict.embedding = "english"`` would replace.
    """

    # None means the documented default.
    mode: str = "nearest"
    embedding: Any = None
    scorer: Any = None
    temperature: float | None = None
    score_cutoff: float | None = None
    projections: Any = None
    index: str = EXACT

    _lock: Any  # reentrant, since the __eq__ of a key may read the dict that is being written
    _adapted: tuple[Any, Any] = _UNSET, None  # an embedding as given, and what it stands for
    _meaning: tuple[Any, Any, Any, Meaning] | None = None  # and what it was made of
    _synonyms: SynonymRules | None = None
    # What was before what `fit` set, as long as nobody sets it; None before the first fit.
    _before_fit: dict[str, Any] | None = None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        synonyms: Any = cls.synonyms
        if not isinstance(synonyms, property):  # of this class, or of another that it derives from
            rules = SynonymRules({} if synonyms is None else synonyms)
            cls._synonyms = rules if rules.given else None
            type.__setattr__(cls, "synonyms", Configured.synonyms)  # which they hide
        for name in OPTIONS.keys() & cls.__dict__.keys():
            value = cls.__dict__[name]
            if isinstance(checked := OPTIONS[name](value), float):
                setattr(cls, name, checked)
            if isinstance(value, FunctionType):  # an option, not a method of the dict
                setattr(cls, name, staticmethod(value))

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "mode":
            raise ReadOnlyError(
                f"mode: fixed once the dict is made, got {quoted(value)}; make another one, "
                f"{type(self).__name__}(d, mode={quoted(value)})"
            )
        if name not in OPTIONS:
            super().__setattr__(name, value)
            return
        checked = OPTIONS[name](value)
        with self._lock:
            super().__setattr__(name, checked if isinstance(checked, float) else value)
            if name in ("embedding", "projections"):  # the same object may have changed, too
                super().__setattr__("_meaning", None)
            if name == "embedding":
                super().__setattr__("_adapted", (value, checked))
            if self._before_fit:
                left = {one: was for one, was in self._before_fit.items() if one != name}
                super().__setattr__("_before_fit", left)

    def _adapted_embedding(self) -> Embedding:
        """Return the embedding that the option stands for; it is made once."""
        with self._lock:  # of several threads one makes it for all
            given = self.embedding
            if self._adapted[0] is not given:
                super().__setattr__("_adapted", (given, as_embedding(given)))
            return self._adapted[1]  # type: ignore[no-any-return]

    def _current_meaning(self) -> Meaning:
        """Return what compares keys and queries; an OptionError if Q and K are of another one."""
        with self._lock:
            by_letters = is_spelling(self.scorer)
            adapted = None if by_letters else self._adapted_embedding()
            projections = None if by_letters else self.projections
            basis = adapted, projections, self._synonyms
            made = self._meaning
            if made is None or not all(map(is_, made, basis)):
                learned = as_projections(projections)
                if adapted is not None:
                    require_learned_for(adapted, learned)
                if learned is not None and learned.is_identity:
                    learned = None
                made = *basis, Meaning(adapted, learned, self._synonyms)
                super().__setattr__("_meaning", made)
        return made[-1]

    @property
    def synonyms(self) -> Synonyms:
        """Words and phrases, and the text that stands for each in keys and queries; "" for none.

        >>> from fuzzydict import FuzzyDict
        >>> d = FuzzyDict({"cost center": 4711, "supplier": "Acme"})
        >>> d.synonyms = {"KST": "cost center", "no": ""}
        >>> d["KST no."], "KST" in d
        (4711, False)
        """
        return Synonyms(self)

    @synonyms.setter
    def synonyms(self, synonyms: Mapping[str, str] | Iterable[tuple[str, str]]) -> None:
        self.synonyms.replace(synonyms)

    def _use_synonyms(self, rules: SynonymRules | None) -> None:
        with self._lock:
            super().__setattr__("_synonyms", rules)
            super().__setattr__("_meaning", None)

    def _options_before_fit(self) -> dict[str, Any]:
        """Return the options as they were before `fit`, but for those that were set since then."""
        options, before = {name: getattr(self, name) for name in LEARNED}, self._before_fit
        now = options["projections"]
        # A file does not record a fit, but projections that name an embedding were learned.
        if before is None and isinstance(now, Projections) and now.embedding:
            before = {"projections": None}
        return options | (before or {})

    def _set_learned(self, options: Mapping[str, Any]) -> None:
        """Set options, and remember what they were; the caller holds the lock."""
        before = self._options_before_fit()
        for name, value in options.items():
            OPTIONS[name](value)  # all of them, before one is set
        for name, value in options.items():
            if value is not getattr(self, name):  # otherwise the keys would be encoded again
                setattr(self, name, value)
        changed = {name: was for name, was in before.items() if was is not getattr(self, name)}
        super().__setattr__("_before_fit", changed)


#: The options where none are given.
DEFAULTS = {name: getattr(Configured, name) for name in OPTIONS}


def declared_class(cls: Any) -> Any:
    """Return the class that was declared, of which ``cls`` may be the other mode's."""
    return cls.__dict__.get("_declared", cls)


def class_of_mode(cls: Any, mode: str) -> Any:
    """Return the declared class, or its derived class whose dicts are of ``mode``."""
    declared = declared_class(cls)
    if declared.mode == mode:
        return declared
    if "_of_other_mode" not in declared.__dict__:
        names = ("__doc__", "__module__", "__qualname__")
        namespace = {name: getattr(declared, name) for name in names}
        namespace |= {"mode": mode, "_declared": declared}
        declared._of_other_mode = type(declared.__name__, (declared,), namespace)
    return declared._of_other_mode


def empty_of(declared: Any, mode: str) -> Any:
    """Return an empty dict of a declared class, in this mode."""
    cls = class_of_mode(declared, mode)
    return cls.__new__(cls)


def no_items(cls: type, data: Any, error: Exception) -> Exception:
    """Return the error for what a dict cannot be made of; of texts alone it says what to write."""
    if isinstance(data, str):
        expected = "expected a mapping, or pairs of a key and a value"
        return ArgumentTypeError(f"data: {expected}, got the text {quoted(data)}")
    is_list = isinstance(data, list | tuple | set | frozenset) and data
    if not is_list or not all(isinstance(one, str) for one in data):
        return error
    return ArgumentTypeError(
        f"data: expected a mapping, or pairs of a key and a value, got texts alone; "
        f"{cls.__name__}.fromkeys(texts) makes keys of them, and "
        f"{cls.__name__}({{text: text for text in texts}}) gives each itself as value"
    )


def unknown_option(cls: type, name: str, *, is_keyword: bool = False) -> UnknownOptionError:
    """Return the error that lists the options, for a name that is none."""
    similar = get_close_matches(name, OPTIONS, n=1)
    hint = f" (did you mean {similar[0]!r}?)" if similar else ""
    if name in ("aliases", "synonyms"):
        hint = f": it is an attribute, which is set afterwards, d.{name} = {{...}}"
    items = f", and items come as a dict: {cls.__name__}({{{name!r}: ...}})" if is_keyword else ""
    return UnknownOptionError(
        f"{cls.__name__} has no option {name!r}{hint}; the options are {', '.join(OPTIONS)}{items}"
    )
