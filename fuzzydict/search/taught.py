"""What a dict was taught: other names of its keys, and words that stand for others."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import (
    Callable,
    Collection,
    Container,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
)
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter
from hashlib import blake2b
from typing import Any, Self

from fuzzydict.errors import ArgumentTypeError, OptionError, quoted
from fuzzydict.text.lexicon import look_up
from fuzzydict.text.words import plain, same_text
from fuzzydict.text.writings import MOST_READ, words_of

Phrase = tuple[str, ...]  # plain words in their first spellings
Given = Mapping[str, Any] | Iterable[tuple[str, Any]]


class _Taught(MutableMapping[str, Any]):
    """A mapping whose names are found however they are written, and are listed as at first."""

    _words: staticmethod[[str], Any]  # what names are equal by
    _entries: Mapping[Any, tuple[str, Any]]  # by the words of each name: as it is listed, its value

    def __init__(self, owner: Any) -> None:
        self._owner = owner  # the dict, which has the lock: another one after a fork

    @abstractmethod
    def replace(self, taught: Given) -> None:
        """Forget all for these, or raise and forget none."""

    def __getitem__(self, name: str) -> Any:
        entry = self._entries.get(self._words(name)) if isinstance(name, str) else None
        if entry is None or not self._holds(entry[1]):
            raise KeyError(name)
        return entry[1]

    def _holds(self, value: Any) -> bool:  # noqa: ARG002
        """Tell whether what has this value still holds."""
        return True

    def __iter__(self) -> Iterator[str]:
        return (name for name, value in list(self._entries.values()) if self._holds(value))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __setitem__(self, name: str, value: Any) -> None:
        self.update({name: value})

    def pop(self, name: str, /, *default: Any) -> Any:
        """Remove a name and return its value, or ``default`` if there is none."""
        with self._owner._lock:  # of threads that pop one name, one alone has its value
            return super().pop(name, *default)

    def clear(self) -> None:
        """Forget all."""
        self.replace({})

    def copy(self) -> dict[str, Any]:
        """Return a plain dict, which is that of no other dict."""
        return dict(self)

    __copy__ = copy

    def __ior__(self, other: Any) -> Self:
        self.update(other)
        return self

    def __or__(self, other: Any) -> dict[str, Any]:
        return dict(self) | dict(other) if isinstance(other, Mapping) else NotImplemented

    def __ror__(self, other: Any) -> dict[str, Any]:
        return dict(other) | dict(self) if isinstance(other, Mapping) else NotImplemented

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict(self)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


# ---- other names of keys ------------------------------------------------------------------------


class Aliases(_Taught):
    """The aliases of a dict: texts, and the key that each stands for, or None.

    A query that is an alias is read as its key. An alias of None matches nothing. A key of the
    dict is never read as another.

    Texts of equal words and signs are one alias, however they are written: "Postal-Code" is
    "postal code", but "C#" is not "C++". It is listed as it was written first. The aliases of a
    key go when the key is deleted; those of None stay.

    Raises:
        OptionError: an alias is of no key of the dict, is another key itself, or has no letters or
            digits; or two that are one, written differently, are given two keys.
        ArgumentTypeError: an alias is no text, or aliases are no mapping.

    >>> from fuzzydict import FuzzyDict
    >>> d = FuzzyDict({"zip": "10115", "city": "Berlin"})
    >>> d.aliases["Postal-Code"] = "zip"
    >>> d["postal code"], d.aliases
    ('10115', Aliases({'Postal-Code': 'zip'}))
    """

    _words = staticmethod(same_text)

    def __init__(self, owner: Any) -> None:
        super().__init__(owner)
        self._entries: dict[str, tuple[str, Any]] = {}

    def _holds(self, value: Any) -> bool:
        """Tell whether an alias is of None, or of a key that no method of `dict` removed."""
        return value is None or dict.__contains__(self._owner, value)

    def __bool__(self) -> bool:
        return bool(self._entries)  # at once, however many there are

    def __delitem__(self, alias: str) -> None:
        with self._owner._lock:
            self[alias]  # or KeyError
            del self._entries[same_text(alias)]

    def update(self, /, *args: Any, **kwargs: Any) -> None:
        """Add what ``dict.update`` would, or nothing if one of the aliases is wrong."""
        with self._owner._lock:
            self._entries.update(self._checked(self._entries, self._require_new, *args, **kwargs))

    def replace(self, aliases: Given) -> None:
        """Forget all aliases for these, or raise and forget none; ``d.aliases = ...`` does so."""
        with self._owner._lock:
            self._entries = self._checked({}, self._require_new, aliases)

    def take_over(self, aliases: Given) -> None:
        """Add those of another dict or of a file, also texts that are keys here, or none."""
        with self._owner._lock:
            self._entries.update(self._checked(self._entries, self._require_key, aliases))

    def forget_gone(self) -> None:
        """Forget the aliases of all keys that are gone."""
        entries = list(self._entries.items())
        self._entries = {words: entry for words, entry in entries if self._holds(entry[1])}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        if not all(isinstance(alias, str) for alias in other):
            return False
        mine, theirs = ({same_text(a): key for a, key in one.items()} for one in (self, other))
        return mine == theirs

    def _require_key(self, alias: str, key: Any) -> None:
        with suppress(TypeError):  # it cannot be hashed
            if self._holds(key):
                return
        raise no_such_key(alias, key)

    def _require_new(self, alias: str, key: Any) -> None:
        """Refuse a text that is another key, unless it was taught before it became one."""
        self._require_key(alias, key)
        taught = self._entries.get(same_text(alias))
        if taught is None or taught[1] != key:
            refuse_key(f"aliases: {quoted(key)} for", alias, (key,), dict.keys(self._owner))

    def _checked(
        self,
        before: dict[str, Any],
        require: Callable[[str, Any], None],
        /,
        *args: Any,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Return new entries, or raise; an alias that was there is listed as it was."""
        new: dict[str, Any] = {}
        for alias, key in checked_aliases(require, *args, **kwargs).items():
            words = same_text(alias)
            listed, of = new.get(words) or before.get(words) or (alias, None)
            new[words] = listed if self._holds(of) else alias, key
        return new


def checked_aliases(
    require_key: Callable[[str, Any], None], /, *args: Any, **kwargs: Any
) -> dict[str, Any]:
    """Return aliases, or raise as `Aliases` says, or as ``require_key`` does of an alias's key."""
    given, keys = _as_mapping("aliases", "keys", *args, **kwargs), dict[str, Any]()
    for alias, key in given.items():
        _require_words("aliases", alias, plain, f"make it a key: d[{quoted(alias)}] = ...")
        require_key(alias, key)
        other = keys.setdefault(same_text(alias), key)
        if other != key:
            raise OptionError(
                f"aliases: {quoted(alias)} and another of the same words are one alias, given "
                f"{quoted(other)} and {quoted(key)}; give one of them"
            )
    return given


def _as_mapping(what: str, values: str, /, *args: Any, **kwargs: Any) -> dict[Any, Any]:
    """Return what is given as a dict, or raise ArgumentTypeError."""
    try:
        return dict(*args, **kwargs)
    except (TypeError, ValueError):
        raise ArgumentTypeError(
            f"{what}: expected a mapping from texts to {values}, got {', '.join(map(quoted, args))}"
        ) from None


def _require_words(what: str, text: Any, split: Callable[[str], Any], advice: str) -> None:
    """Raise unless something is a text that is split into words."""
    if not isinstance(text, str):
        raise ArgumentTypeError(f"{what}: expected texts, got {type(text).__name__} {quoted(text)}")
    if not split(text):
        raise OptionError(
            f"{what}: {quoted(text)} has no letters or digits, which are all that is compared; "
            f"{advice}"
        )


def no_such_key(alias: str, key: Any) -> OptionError:
    """Return the error for an alias of what is no key."""
    return OptionError(
        f"aliases: {quoted(alias)} is given {quoted(key)}, which is no key of the dict; add that "
        f"key first, or give None if the text has no key"
    )


def refuse_key(what: str, text: str, wanted: Collection[Any], keys: Container[Any]) -> None:
    """Raise if a text is a key and is to find others."""
    if text in keys and text not in wanted:
        name = quoted(text)
        raise OptionError(f"{what} {name}: {name} is a key and always finds itself; leave it out")


# ---- words that stand for others -----------------------------------------------------------------


def phrase_of(text: str) -> Phrase:
    """Return what texts are equal by in which the same words stand."""
    return tuple(look_up(word).form for word in words_of(text))


class SynonymRules:
    """What words and phrases of a text are replaced by before it is compared. They never change.

    ``given`` are texts, and the text that each stands for; ``""`` leaves it out. Where several
    phrases begin at one word, the longest is replaced. What is put in was read by the other rules
    before. A text of which no word would be left stays as it is.

    What is no mapping from texts to texts raises ArgumentTypeError; a text without letters or
    digits, one that is given two texts, or a circle of more than two, OptionError.

    >>> rules = SynonymRules({"KST": "cost center", "Ltd": ""})
    >>> rules.text("kst name"), rules.text("Acme Ltd"), rules.text("Ltd")
    ('cost center name', 'acme', 'Ltd')
    """

    def __init__(self, given: Given) -> None:
        #: By the words of each text, the text as it was given, and what stands for it.
        self.entries = _checked_synonyms(given)
        self.given = dict(self.entries.values())
        self._texts: dict[Phrase, list[str]] = {}  # the words that stand for each
        self._longest: dict[str, int] = {}  # of the phrases that begin with a word
        for phrase, (_, text) in self.entries.items():
            # Of two that stand for each other, the way named first is taken.
            if phrase_of(" ".join(self._texts.get(phrase_of(text), ()))) != phrase:
                self._texts[phrase] = words_of(text)
                self._longest[phrase[0]] = max(len(phrase), self._longest.get(phrase[0], 0))
        parts = {phrase: self._parts(words) for phrase, words in self._texts.items()}
        needed = {
            phrase: [] if some == [phrase] else [one for one in some if isinstance(one, tuple)]
            for phrase, some in parts.items()  # a phrase that stands for itself stays
        }
        try:  # what is put in is read by the other rules, too
            for phrase in TopologicalSorter(needed).static_order():
                if needed[phrase]:
                    self._texts[phrase] = self._joined(parts[phrase])
        except CycleError as error:
            names = [quoted(self.entries[one][0]) for one in reversed(error.args[1])]
            told = f"{' stands for '.join(names)}, in a circle"
            if len(names) == 2:
                told = f"{names[0]} is in the text that it stands for"
            raise OptionError(
                f"synonyms: {told}; keys and queries are replaced alike, so give the longer text "
                f"as the one to be replaced, or leave one out"
            ) from None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.given,)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    @property
    def digest(self) -> str:
        """What tells these rules from others."""
        rules = repr(sorted(self._texts.items()))
        return blake2b(rules.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()

    def text(self, text: str) -> str:
        """Return a text as it is compared; the very text if nothing is replaced."""
        parts = self._parts(words_of(text))
        words = self._joined(parts) if any(isinstance(part, tuple) for part in parts) else []
        return " ".join(words) if words else text

    def applied(self, text: str) -> dict[str, str]:
        """Return the synonyms that are applied to a text, as they were given.

        >>> SynonymRules({"KST": "cost center", "Ltd": ""}).applied("kst name")
        {'KST': 'cost center'}
        """
        parts = self._parts(words_of(text))
        phrases = [part for part in parts if isinstance(part, tuple)]
        return dict(self.entries[phrase] for phrase in phrases) if self._joined(parts) else {}

    def _parts(self, words: list[str]) -> list[Phrase | str]:
        """Return the phrases among words, and each word that is in none."""
        forms, parts, place = tuple(look_up(word).form for word in words), list[Phrase | str](), 0
        while place < len(forms):
            sizes = range(self._longest.get(forms[place], 0), 0, -1)
            phrases = (forms[place : place + size] for size in sizes)
            phrase = next((phrase for phrase in phrases if phrase in self._texts), None)
            parts.append(words[place] if phrase is None else phrase)
            place += 1 if phrase is None else len(phrase)
        return parts

    def _joined(self, parts: list[Phrase | str]) -> list[str]:
        texts = ([part] if isinstance(part, str) else self._texts[part] for part in parts)
        return [word for text in texts for word in text][:MOST_READ]


def _checked_synonyms(*args: Any, **kwargs: Any) -> dict[Phrase, tuple[str, str]]:
    """Return synonyms by the words of each, if they are texts with words, each given one text."""
    entries: dict[Phrase, tuple[str, str]] = {}
    for name, text in _as_mapping("synonyms", "texts", *args, **kwargs).items():
        if text is None:
            raise ArgumentTypeError(
                'synonyms: expected texts, got NoneType None; give "" to leave the word out'
            )
        advice = 'name a word, or give "" for one that is left out'
        _require_words("synonyms", name, words_of, advice)
        if not isinstance(text, str) or text.strip():
            _require_words("synonyms", text, words_of, advice)
        for one in (name, text):
            if not {"+", "#"}.isdisjoint(one):
                raise OptionError(
                    f"synonyms: {quoted(one)} is read as {quoted(plain(one))}, which would be "
                    f"taken for it; give words, or make it an alias of a key"
                )
        first, other = entries.setdefault(phrase_of(name), (name, text))
        if other != text:
            raise OptionError(
                f"synonyms: {quoted(first)} and {quoted(name)} are one text, given "
                f"{quoted(other)} and {quoted(text)}; give one of them"
            )
    return entries


class Synonyms(_Taught):
    """The synonyms of a dict: words and phrases, and the text that stands for each, "" for none.

    Texts of equal words are one, however they are written. What is changed holds from the next
    read of the dict on, which encodes its keys again.

    >>> from fuzzydict import FuzzyDict
    >>> d = FuzzyDict({"cost center": 4711, "supplier": "Acme Ltd"})
    >>> d.synonyms = {"KST": "cost center"}
    >>> d["kst"], d.synonyms
    (4711, Synonyms({'KST': 'cost center'}))
    """

    _words = staticmethod(phrase_of)

    @property
    def _entries(self) -> dict[Phrase, tuple[str, str]]:  # type: ignore[override]
        rules: SynonymRules | None = self._owner._synonyms
        return {} if rules is None else rules.entries

    def __delitem__(self, name: str) -> None:
        with self._owner._lock:
            self[name]  # or KeyError
            gone = phrase_of(name)
            self.replace([entry for phrase, entry in self._entries.items() if phrase != gone])

    def update(self, /, *args: Any, **kwargs: Any) -> None:
        """Add what ``dict.update`` would, or nothing if one of the synonyms is wrong."""
        new = _checked_synonyms(*args, **kwargs)
        with self._owner._lock:
            stay = [entry for phrase, entry in self._entries.items() if phrase not in new]
            self.replace([*stay, *new.values()])

    def replace(self, synonyms: Given) -> None:
        """Forget all synonyms for these, or raise; ``d.synonyms = ...`` does so."""
        rules = SynonymRules(synonyms)
        self._owner._use_synonyms(rules if rules.given else None)
