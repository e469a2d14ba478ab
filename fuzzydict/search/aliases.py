"""`Aliases`: what a dict was taught, texts that are other names of its keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from contextlib import AbstractContextManager
from typing import Any, Self

from fuzzydict.errors import ArgumentTypeError, OptionError, quoted
from fuzzydict.text.words import plain

_ABSENT: Any = object()


class Aliases(MutableMapping[str, Any]):
    """The aliases of a dict: texts that are other names of its keys, or of none of them (None).

    A query that is an alias is read as the key of which it is another name. An alias of None
    matches nothing. A key of the dict is never read as another.

    An alias is held as its plain words, which is how it is listed: "Postal-Code" and "postal code"
    are one. This is a view: a change is one of the dict. The aliases of a key go when the key is
    deleted; those of None stay.

    Args:
        held: the aliases by their plain words.
        keys: the dict.
        lock: held while aliases change.

    Raises:
        OptionError: an alias is of no key of the dict, or has no letters or digits; or two that
            are one, written differently, are given two keys.
        ArgumentTypeError: an alias is no text, or aliases are no mapping.

    >>> from fuzzydict import FuzzyDict
    >>> d = FuzzyDict({"zip": "10115", "city": "Berlin"})
    >>> d.aliases["Postal-Code"] = "zip"
    >>> d["postal code"], d.aliases
    ('10115', Aliases({'postal code': 'zip'}))
    """

    __hash__ = None  # type: ignore[assignment]  # as that of a dict

    def __init__(
        self,
        held: dict[str, Any],
        keys: dict[Any, Any],
        lock: AbstractContextManager[Any],
    ) -> None:
        self._held, self._keys, self._lock = held, keys, lock

    def __getitem__(self, alias: str) -> Any:
        key = self._held.get(_words(alias), _ABSENT)
        if key is _ABSENT or not self._is_of(key):
            raise KeyError(alias)
        return key

    def __iter__(self) -> Iterator[str]:
        return (alias for alias, key in self._held.copy().items() if self._is_of(key))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __setitem__(self, alias: str, key: Any) -> None:
        self.update({alias: key})

    def __delitem__(self, alias: str) -> None:
        with self._lock:
            if alias not in self:
                raise KeyError(alias)
            del self._held[_words(alias)]

    def update(self, /, *args: Any, **kwargs: Any) -> None:
        """Add what ``dict.update`` would, or nothing if one of the aliases is wrong."""
        with self._lock:
            self._held.update(self._checked(*args, **kwargs))

    def replace(self, aliases: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> None:
        """Forget all aliases for these, or raise and forget none; ``d.aliases = ...`` does so."""
        with self._lock:
            new = self._checked(aliases)
            self._held.clear()
            self._held.update(new)

    def __ior__(self, other: Any) -> Self:
        self.update(other)
        return self

    def __or__(self, other: Any) -> dict[str, Any]:
        return dict(self) | dict(other) if isinstance(other, Mapping) else NotImplemented

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        return dict(self) == {_words(alias): key for alias, key in other.items()}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict(self)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)  # a copy is of no dict

    def _is_of(self, key: Any) -> bool:
        """Tell whether an alias is of None, or of a key that no method of `dict` removed."""
        return key is None or dict.__contains__(self._keys, key)

    def _checked(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Return aliases by their plain words, each of a key of the dict or of None."""
        try:
            given = dict(*args, **kwargs)
        except (TypeError, ValueError):
            got = ", ".join(map(quoted, args))
            raise ArgumentTypeError(
                f"aliases: expected a mapping from texts to keys, got {got}"
            ) from None
        checked: dict[str, Any] = {}
        for alias, key in given.items():
            words = _require_words(alias)
            self._require_key(alias, key)
            if words in checked and checked[words] != key:
                raise OptionError(
                    f"aliases: {quoted(alias)} and another of the same words are one alias, given "
                    f"{quoted(checked[words])} and {quoted(key)}; give one of them"
                )
            checked[words] = key
        return checked

    def _require_key(self, alias: str, key: Any) -> None:
        try:
            is_key = self._is_of(key)
        except TypeError:  # it cannot be hashed
            is_key = False
        if not is_key:
            raise OptionError(
                f"aliases: {quoted(alias)} is given {quoted(key)}, which is no key of the dict; "
                f"add that key first, or give None if the text has no key"
            )


def _words(alias: Any) -> Any:
    return plain(alias) if isinstance(alias, str) else alias


def _require_words(alias: Any) -> str:
    if not isinstance(alias, str):
        raise ArgumentTypeError(
            f"aliases: expected texts, got {type(alias).__name__} {quoted(alias)}"
        )
    words = plain(alias)
    if not words:
        raise OptionError(
            f"aliases: {quoted(alias)} has no letters or digits, which are all that is compared; "
            f"make it a key: d[{quoted(alias)}] = ..."
        )
    return words
