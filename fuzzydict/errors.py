"""The exception tree: every error of this package, each also the built-in kind one expects.

FuzzyDictError
├── NoMatchError          KeyError      no key is near enough to the query
├── OptionError           ValueError    an option with a value that it does not take
├── ArgumentTypeError     TypeError     an argument of the wrong type
├── UnknownOptionError    TypeError     a keyword or attribute that is no option
│                         AttributeError
├── ReadOnlyError         AttributeError  an option that is fixed once the dict is made
├── ShapeError            ValueError    arrays whose shapes do not fit, or that are not finite
├── PoolingError          TypeError     values that cannot be pooled (of no number, or of
│                         ValueError    shapes that differ)
├── FileFormatError       ValueError    a file that is damaged, or of another kind or version
├── MissingCorpusError    LookupError   a corpus that is not on this machine
├── MissingExtraError     ImportError   a package that an optional part needs
└── NotFittedError        ValueError    an estimator asked before it has learned anything
                          AttributeError

EmptyRowWarning           RuntimeWarning    a query that had nothing to attend to
"""

from __future__ import annotations

from reprlib import Repr

__all__ = [
    "ArgumentTypeError",
    "EmptyRowWarning",
    "FileFormatError",
    "FuzzyDictError",
    "MissingCorpusError",
    "MissingExtraError",
    "NoMatchError",
    "NotFittedError",
    "OptionError",
    "PoolingError",
    "ReadOnlyError",
    "ShapeError",
    "UnknownOptionError",
    "quoted",
]


class FuzzyDictError(Exception):
    """The root of the tree: ``except FuzzyDictError`` catches all that this package raises."""


class NoMatchError(FuzzyDictError, KeyError):
    """No key is near enough to the query; the message names the best key and its score.

    ``args`` is the query alone, as that of the KeyError of a plain dict is the key.

    Attributes:
        message: what is printed.
        key, score, cutoff: the best key, its score, and what it fell short of; None where there
            was no key to compare the query with.
    """

    def __init__(
        self,
        query: object,
        message: str,
        *,
        key: str | None = None,
        score: float | None = None,
        cutoff: float | None = None,
    ) -> None:
        super().__init__(query)
        self.message = message
        self.key, self.score, self.cutoff = key, score, cutoff

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.args[0], self.message), self.__dict__


class OptionError(FuzzyDictError, ValueError):
    """An option with a value that it does not take; the message lists the valid ones."""


class ArgumentTypeError(FuzzyDictError, TypeError):
    """An argument of the wrong type."""


class UnknownOptionError(FuzzyDictError, TypeError, AttributeError):
    """A keyword or an attribute that is no option; the message lists those that are."""


class ReadOnlyError(FuzzyDictError, AttributeError):
    """An option that cannot be changed once the dict is made."""


class ShapeError(FuzzyDictError, ValueError):
    """Arrays whose shapes do not fit together, or that hold NaN or infinity."""


class PoolingError(FuzzyDictError, TypeError, ValueError):
    """Values that cannot be pooled; the message names the first such key."""


class FileFormatError(FuzzyDictError, ValueError):
    """A file that is damaged, of another kind, or of a version that this release cannot read."""


class MissingCorpusError(FuzzyDictError, LookupError):
    """A corpus that is not on this machine; the message says how to get it."""


class MissingExtraError(FuzzyDictError, ImportError):
    """An optional part whose package is not installed; the message names the extra."""


class NotFittedError(FuzzyDictError, ValueError, AttributeError):
    """An estimator that is asked before it has learned anything; call its ``fit`` first."""


class EmptyRowWarning(RuntimeWarning):
    """A query whose mask or kernel left no key to attend to: its weights and output are zero."""


def quoted(value: object, width: int = 80) -> str:
    """Return the ``repr`` of a value for a message, its middle left out if it is long.

    >>> quoted("colour"), quoted("x" * 100, 20)
    ("'colour'", "'xxxxxxx...xxxxxxxx'")
    """
    shortening = Repr()
    shortening.maxstring = shortening.maxother = shortening.maxlong = width
    return shortening.repr(value)
