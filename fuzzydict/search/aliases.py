"""`Aliases`: what a dict was taught, texts that are other names of its keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from contextlib import AbstractContextManager
from typing import Any, Self

from fuzzydict.errors import ArgumentTypeError, OptionError, quoted
from fuzzydict.text.words import plain, same_text

_ABSENT: Any = object()


class Aliases(dict[str, Any]):
    """The aliases of a dict: texts, and the key that each stands for, or None.

    A query that is an alias is read as its key. An alias of None matches nothing. A key of the
    dict is never read as another.

    Texts of equal words and signs are one alias, however they are written: "Postal-Code" is
    "postal code", but "C#" is not "C++". It is listed as it was written first. The aliases of a
    key go when the key is deleted; those of None stay.

    Args:
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
    ('10115', Aliases({'Postal-Code': 'zip'}))
    """

    __hash__ = None  # as that of a dict
    # By the methods below; those of dict would look for the very text.
    __contains__, get = Mapping.__contains__, Mapping.get  # type: ignore[assignment]
    keys, items, values = Mapping.keys, Mapping.items, Mapping.values  # type: ignore[assignment]
    clear, popitem = MutableMapping.clear, MutableMapping.popitem
    setdefault = MutableMapping.setdefault

    def __init__(self, keys: dict[Any, Any], lock: AbstractContextManager[Any]) -> None:
        super().__init__()
        self._keys, self._lock = keys, lock
        self._written: dict[str, str] = {}  # each alias as it is listed, by its words

    def use(self, lock: AbstractContextManager[Any]) -> None:
        """Use another lock, in a forked process."""
        self._lock = lock

    def find(self, query: str, default: Any = None) -> Any:
        """Return the key of which a query is another name, None if it has none, or a default."""
        alias = self._written.get(same_text(query))
        key = default if alias is None else dict.get(self, alias, default)
        return key if self._is_of(key) else default

    def __getitem__(self, alias: str) -> Any:
        key = self.find(alias, _ABSENT) if isinstance(alias, str) else _ABSENT
        if key is _ABSENT:
            raise KeyError(alias)
        return key

    def __iter__(self) -> Iterator[str]:
        return (alias for alias, key in list(dict.items(self)) if self._is_of(key))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        return dict.__len__(self) > 0  # at once, however many there are

    def __setitem__(self, alias: str, key: Any) -> None:
        self.update({alias: key})

    def __delitem__(self, alias: str) -> None:
        with self._lock:
            if alias not in self:
                raise KeyError(alias)
            self._remove(self._written[same_text(alias)])

    def pop(self, alias: str, /, *default: Any) -> Any:
        """Remove an alias and return its key, or ``default`` if there is none."""
        with self._lock:
            if default and alias not in self:
                return default[0]
            key = self[alias]
            del self[alias]
        return key

    def update(self, /, *args: Any, **kwargs: Any) -> None:
        """Add what ``dict.update`` would, or nothing if one of the aliases is wrong."""
        with self._lock:
            self._add(checked_aliases(self._require_key, *args, **kwargs))

    def replace(self, aliases: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> None:
        """Forget all aliases for these, or raise and forget none; ``d.aliases = ...`` does so."""
        with self._lock:
            new, before = checked_aliases(self._require_key, aliases), dict(dict.items(self))
            try:
                dict.clear(self)
                self._add(new)
            except BaseException:  # an interrupt
                dict.clear(self)
                self._add(before)
                raise

    def forget_gone(self) -> None:
        """Forget the aliases of all keys that are gone."""
        for alias in [alias for alias, of in list(dict.items(self)) if not self._is_of(of)]:
            self._remove(alias)

    def _remove(self, alias: str) -> None:
        dict.pop(self, alias, None)
        self._written.pop(same_text(alias), None)  # then, so that each that is listed is found

    def check(self) -> None:
        """Assert that each alias is listed once, and found by its words."""
        assert set(self._written.values()) >= set(dict.keys(self))
        assert all(words == same_text(alias) for words, alias in self._written.items())

    def copy(self) -> dict[str, Any]:
        """Return a plain dict, which is that of no other dict."""
        return dict(self)

    __copy__ = copy

    def __ior__(self, other: Any) -> Self:  # type: ignore[override]
        self.update(other)
        return self

    def __or__(self, other: Any) -> dict[str, Any]:  # type: ignore[override]
        return dict(self) | dict(other) if isinstance(other, Mapping) else NotImplemented

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        if not all(isinstance(alias, str) for alias in other):
            return False
        mine, theirs = ({same_text(a): key for a, key in one.items()} for one in (self, other))
        return mine == theirs

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict(self)!r})"

    def __reduce_ex__(self, _: Any) -> tuple[Any, ...]:
        return dict, (dict(self),)

    def _is_of(self, key: Any) -> bool:
        """Tell whether an alias is of None, or of a key that no method of `dict` removed."""
        return key is None or dict.__contains__(self._keys, key)

    def _add(self, aliases: Mapping[str, Any]) -> None:
        new: dict[str, Any] = {}
        for alias, key in aliases.items():
            words = same_text(alias)
            listed = self._written.get(words)
            if listed is None or not (listed in new or dict.__contains__(self, listed)):
                listed = self._written[words] = alias
            new[listed] = key
        dict.update(self, new)

    def _require_key(self, alias: str, key: Any) -> None:
        try:
            is_key = self._is_of(key)
        except TypeError:  # it cannot be hashed
            is_key = False
        if not is_key:
            raise no_such_key(alias, key)


def checked_aliases(
    require_key: Callable[[str, Any], None], /, *args: Any, **kwargs: Any
) -> dict[str, Any]:
    """Return what aliases are made of: texts with words, each given one key.

    Args:
        require_key: raises OptionError unless an alias may be given this key.
        *args: what ``dict`` takes.
        **kwargs: the same.

    Raises:
        OptionError: a text has no letters or digits, or two that are one are given two keys.
        ArgumentTypeError: an alias is no text, or aliases are no mapping.
    """
    try:
        given = dict(*args, **kwargs)
    except (TypeError, ValueError):
        got = ", ".join(map(quoted, args))
        raise ArgumentTypeError(
            f"aliases: expected a mapping from texts to keys, got {got}"
        ) from None
    keys: dict[str, Any] = {}
    for alias, key in given.items():
        if not isinstance(alias, str):
            raise ArgumentTypeError(
                f"aliases: expected texts, got {type(alias).__name__} {quoted(alias)}"
            )
        if not plain(alias):
            raise OptionError(
                f"aliases: {quoted(alias)} has no letters or digits, which are all that is "
                f"compared; make it a key: d[{quoted(alias)}] = ..."
            )
        require_key(alias, key)
        if keys.setdefault(same_text(alias), key) != key:
            raise OptionError(
                f"aliases: {quoted(alias)} and another of the same words are one alias, given "
                f"{quoted(keys[same_text(alias)])} and {quoted(key)}; give one of them"
            )
    return given


def no_such_key(alias: str, key: Any) -> OptionError:
    """Return the error for an alias of what is no key."""
    return OptionError(
        f"aliases: {quoted(alias)} is given {quoted(key)}, which is no key of the dict; add that "
        f"key first, or give None if the text has no key"
    )
