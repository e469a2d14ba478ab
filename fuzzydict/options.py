"""The options of a `FuzzyDict`: what each takes, checked wherever it is set."""

from __future__ import annotations

import math
from collections.abc import Callable
from threading import Lock
from types import FunctionType
from typing import TYPE_CHECKING, Any, cast

from fuzzydict._arrays import positive
from fuzzydict.embedding.encoder import as_embedding
from fuzzydict.embedding.projections import as_projections, seen_through
from fuzzydict.errors import (
    ArgumentTypeError,
    OptionError,
    ReadOnlyError,
    UnknownOptionError,
    quoted,
)
from fuzzydict.nn.scorers import as_scorer
from fuzzydict.search.backends.base import EXACT, check_engine

if TYPE_CHECKING:
    from fuzzydict.embedding.encoder import Embedding

__all__ = [
    "MODES",
    "OPTIONS",
    "Configured",
    "check_option",
    "class_of_mode",
    "declared_class",
    "empty_of",
    "unknown_option",
]

MODES = ("nearest", "pool")
_making_classes = Lock()


class Configured:
    """A dict's options: attributes, class attributes of a subclass, and arguments alike.

    ``mode`` alone is fixed once the dict is made, for it decides what ``d[query]`` runs: in
    nearest mode it must be the plain dict's own lookup. So a dict of the other mode than its
    class is of a class of its own, derived from it.
    """

    mode: str = "nearest"
    embedding: Any = None
    scorer: Any = None
    temperature: float | None = None
    score_cutoff: float | None = None
    projections: Any = None
    index: str = EXACT

    #: What ``d[query]`` runs in pool mode.
    _pooled_item: Any
    _lock: Any  # a reentrant lock: a key's __eq__ may read the dict that is being written

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name in _CHECKS.keys() & cls.__dict__.keys():
            value = cls.__dict__[name]
            check_option(name, value)
            if isinstance(value, FunctionType):  # an option, not a method of the dict
                setattr(cls, name, staticmethod(value))
        if "mode" in cls.__dict__ and "__getitem__" not in cls.__dict__:
            reader: Any = dict.__getitem__ if cls.mode == "nearest" else cls._pooled_item
            type.__setattr__(cls, "__getitem__", reader)

    def _configure(self, *, mode: str | None, **options: Any) -> None:
        """Set the options that are given, which is those that are not None."""
        if mode is not None:
            _check_mode(mode)
            cls: Any = type(self)
            object.__setattr__(self, "__class__", class_of_mode(cls, mode))
        for name, value in options.items():
            if value is not None:
                setattr(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "mode":
            raise ReadOnlyError(
                f"mode: fixed once the dict is made, got {value!r}; make another one, "
                f"{type(self).__name__}(d, mode={value!r})"
            )
        checked = check_option(name, value) if name in _CHECKS else None
        with self._lock:
            super().__setattr__(name, value)
            if name in ("embedding", "projections"):  # anew: the same object, too, may have changed
                self.__dict__.pop("_seen", None)
            if name == "embedding":
                self.__dict__["_adapted"] = (value, checked)
            self.__dict__["_recall"] = None

    def _adapted_embedding(self) -> Embedding:
        """Return the embedding as one kind of thing; whatever was given is converted once."""
        given, adapted = self.__dict__.get("_adapted", (None, None))
        if adapted is None or given is not self.embedding:
            given, adapted = self.embedding, as_embedding(self.embedding)
            self.__dict__["_adapted"] = (given, adapted)
        return cast("Embedding", adapted)

    def _projected_embedding(self) -> Embedding:
        """Return the embedding seen through the projections; both are put together once."""
        adapted, projections = self._adapted_embedding(), self.projections
        of, by, seen = self.__dict__.get("_seen", (None, None, None))
        if seen is None or of is not adapted or by is not projections:
            seen = seen_through(adapted, as_projections(projections))
            self.__dict__["_seen"] = (adapted, projections, seen)
        return cast("Embedding", seen)


def unknown_option(cls: type, name: str) -> UnknownOptionError:
    """Return the error that tells which options there are, where one was misspelled."""
    return UnknownOptionError(
        f"{cls.__name__} has no option {name!r}; the options are {', '.join(_CHECKS)}, "
        f"and items come as a dict: {cls.__name__}({{{name!r}: ...}})"
    )


def declared_class(cls: Any) -> Any:
    """Return the class that was written down, of which ``cls`` may be the other mode's."""
    return cls.__dict__.get("_declared", cls)


def class_of_mode(cls: Any, mode: str) -> Any:
    """Return the class that was written down, or the one like it whose dicts are of ``mode``."""
    declared = declared_class(cls)
    if declared.mode == mode:
        return declared
    with _making_classes:  # one class, whichever threads ask for it first
        if "_of_other_mode" not in declared.__dict__:
            names = ("__doc__", "__module__", "__qualname__")
            namespace = {name: getattr(declared, name) for name in names}
            namespace |= {"mode": mode, "_declared": declared}
            declared._of_other_mode = type(declared.__name__, (declared,), namespace)
    return declared._of_other_mode


def empty_of(declared: Any, mode: str) -> Any:
    """Return an empty dict of the class that was written down, in this mode."""
    cls = class_of_mode(declared, mode)
    return cls.__new__(cls)


def check_option(name: str, value: Any) -> object:
    """Raise OptionError or ArgumentTypeError unless the option ``name`` takes ``value``.

    Return what was made of it, as the embedding that an ``embedding`` means.
    """
    return _CHECKS[name](value)


def _check_mode(mode: Any) -> None:
    if mode not in MODES:
        raise OptionError(f"mode: expected one of {', '.join(map(repr, MODES))}, got {mode!r}")


def _check_scorer(scorer: Any) -> None:
    if scorer is not None:
        as_scorer(scorer)


def _check_temperature(temperature: Any) -> None:
    if temperature is not None:
        positive("temperature", temperature)


def _check_cutoff(cutoff: Any) -> None:
    if cutoff is None:
        return
    try:
        if isinstance(cutoff, str | bytes):
            raise TypeError
        number = float(cutoff)
    except OverflowError:  # a whole number that is larger than any score
        return
    except (TypeError, ValueError):
        raise ArgumentTypeError(
            f"score_cutoff: expected a number or None, got {quoted(cutoff)}"
        ) from None
    if math.isnan(number):
        raise OptionError("score_cutoff: expected a number or None, got NaN; no score reaches it")


_CHECKS: dict[str, Callable[[Any], object]] = {
    "mode": _check_mode,
    "embedding": as_embedding,
    "scorer": _check_scorer,
    "temperature": _check_temperature,
    "score_cutoff": _check_cutoff,
    "projections": as_projections,
    "index": check_engine,
}

OPTIONS = frozenset(_CHECKS)
