"""The exceptions of this package. Each is also the built-in exception that one expects."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from reprlib import Repr
from typing import Any

#: What a terminal obeys and does not show: control characters, ends of lines, and marks that
#: reorder text; and lone surrogates, which cannot be encoded.
OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class FuzzyDictError(Exception):
    """The base class of all errors of this package.

    Its text is one line that is safe to print, whatever a file or its name holds.
    """

    def __str__(self) -> str:
        text = super().__str__()
        return text if text.isprintable() else printable(" ".join(text.splitlines()))


class NoMatchError(FuzzyDictError, KeyError):
    """No key is near enough to the query; the message names the best key and its score.

    ``args`` holds only the query, as the KeyError of a plain dict holds the key. ``key``, ``score``
    and ``cutoff`` are the best key, its score, and the cutoff that the score is below; None if
    there was no key to compare with.
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
    """An option has an invalid value; the message lists the valid ones."""


class ArgumentTypeError(FuzzyDictError, TypeError):
    """An argument has the wrong type."""


class UnknownOptionError(FuzzyDictError, TypeError, AttributeError):
    """A keyword or an attribute is not an option; the message lists the options."""


class ReadOnlyError(FuzzyDictError, AttributeError):
    """An option cannot be changed once the dict is made."""


class ShapeError(FuzzyDictError, ValueError):
    """The shapes of arrays do not fit together, or an array holds NaN or infinity."""


class PoolingError(FuzzyDictError, TypeError, ValueError):
    """Values cannot be pooled; the message names the first such key."""


class FileFormatError(FuzzyDictError, ValueError):
    """A file is damaged, of another kind, or of a version that this release cannot read."""


class StoreError(FuzzyDictError, ConnectionError):
    """A store of keys cannot be reached or refuses; the message holds no password."""


class WorkerError(FuzzyDictError, RuntimeError):
    """A process that looks texts up ended before it answered, or cannot be reached."""


class MissingCorpusError(FuzzyDictError, LookupError):
    """A corpus is not on this machine; the message says how to get it."""


class MissingExtraError(FuzzyDictError, ImportError):
    """A package of an optional part is not installed; the message names it."""


class NotFittedError(FuzzyDictError, ValueError, AttributeError):
    """An estimator was used before it was fitted; call its ``fit`` first."""


class EmptyRowWarning(RuntimeWarning):
    """The mask or kernel left a query no key to attend to: its weights and output are 0."""


class DoubtfulPoolWarning(UserWarning):
    """A query was pooled for which probably no key is right, so that its pool means little."""


class StoreWarning(UserWarning):
    """A store holds a row that is left out, or has no index and so is slow."""


_PACKAGE = (str(Path(__file__).parent),)


def warn(message: str, category: type[Warning], stacklevel: int) -> None:
    """Warn of the line that called the package, or before Python 3.12 of a level of the stack."""
    if sys.version_info >= (3, 12):
        warnings.warn(message, category, skip_file_prefixes=_PACKAGE)
    else:
        warnings.warn(message, category, stacklevel=stacklevel + 1)


@contextmanager
def needing(what: str, package: str) -> Iterator[None]:
    """Raise MissingExtraError if an import below fails: ``what`` needs it, and pip installs it."""
    try:
        yield
    except ImportError as error:
        raise MissingExtraError(
            f"{what}, which is not installed; install it with: pip install {package}"
        ) from error


def printable(text: str, *, keep: str = "") -> str:
    r"""Return text with escapes for what a terminal obeys, except for the characters in ``keep``.

    >>> print(printable("black\x1b[2J\n\u202eetihw"))
    black\x1b[2J\n\u202eetihw
    """
    if text.isprintable():  # as most is
        return text
    return OBEYED.sub(lambda one: one[0] if one[0] in keep else repr(one[0])[1:-1], text)


def quoted(value: object, width: int = 80) -> str:
    """Return the ``repr`` of any value for a message, on one line, shortened if it is long.

    It never raises, even if ``repr`` does. What a terminal would obey is escaped.

    >>> quoted("colour"), quoted("x" * 100, 20), quoted(10**5000)
    ("'colour'", "'xxxxxxx...xxxxxxxx'", 'int of 16610 bits')
    """
    if type(value) is str and len(value) <= width >= len(shown := repr(value)):  # as most are
        return shown
    shortening = _Shortening()
    shortening.maxstring = shortening.maxother = shortening.maxlong = width
    try:
        return printable(" ".join(map(str.strip, shortening.repr(value).splitlines())))
    except Exception:  # whatever its methods raise
        return f"an object of {_name_of_type(value)}"


_LARGE = 1000  # items of a container from which on the others are not looked at


class _Shortening(Repr):
    """Shortened ``repr``, of every value inside a list, too; of large containers at once."""

    def repr1(self, x: Any, level: int) -> str:
        """Return what is shown of any value; of a subclass as of the container that it is."""
        for kind in (dict, list, tuple, set, frozenset):
            if isinstance(x, kind) and type(x).__repr__ is kind.__repr__:
                # Not all of it, which would be sorted.
                x = kind(islice(dict.items(x) if isinstance(x, dict) else x, _LARGE))
                break
        if isinstance(x, bytes | bytearray) and len(x) > _LARGE:
            return f"{_name_of_type(x)} of length {len(x)}"
        return super().repr1(x, level)

    def repr_int(self, x: int, level: int) -> str:
        """Return the digits of a number, or how long it is if Python refuses to write them."""
        try:
            return super().repr_int(x, level)
        except ValueError:
            return f"{_name_of_type(x)} of {x.bit_length()} bits"

    def repr_instance(self, x: object, level: int) -> str:  # noqa: ARG002
        """Return what the object says of itself, or else its class."""
        try:
            shown = repr(x)
        except Exception:  # whatever its methods raise
            return f"an object of {_name_of_type(x)}"
        if len(shown) <= self.maxother:
            return shown
        left = (self.maxother - 3) // 2
        return f"{shown[:left]}...{shown[left + 3 - self.maxother :]}"


def _name_of_type(value: object) -> str:
    name: str = type.__dict__["__name__"].__get__(type(value))  # whatever its metaclass says
    return name
