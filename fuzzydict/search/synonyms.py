"""`Synonyms`: words and phrases that stand for others in all texts of a dict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from contextlib import AbstractContextManager
from graphlib import CycleError, TopologicalSorter
from hashlib import blake2b
from typing import Any, Self

from fuzzydict.errors import ArgumentTypeError, OptionError, quoted
from fuzzydict.text.lexicon import MOST_WORDS, look_up, words_of

Phrase = tuple[str, ...]  # plain words in their first spellings


def phrase_of(text: str) -> Phrase:
    """Return what texts are equal by in which the same words stand."""
    return tuple(look_up(word).form for word in words_of(text))


class SynonymRules:
    """What words and phrases of a text are replaced by before it is compared. They never change.

    Where several phrases begin at one word, the longest is replaced. What is put in was read by the
    other rules before. A text of which no word would be left stays as it is.

    Args:
        given: texts, and the text that each stands for; ``""`` leaves it out.

    Raises:
        OptionError: a text has no letters or digits, two that are one are given two texts, or some
            stand for each other in a circle of more than two.
        ArgumentTypeError: they are no mapping from texts to texts.

    >>> rules = SynonymRules({"KST": "cost center", "Ltd": ""})
    >>> rules.replaced(["kst", "name"]), rules.replaced(["acme", "ltd"]), rules.replaced(["ltd"])
    (['cost', 'center', 'name'], ['acme'], ['ltd'])
    """

    def __init__(self, given: Mapping[str, str] | Iterable[tuple[str, str]]) -> None:
        self.given = _checked(given)
        self._names: dict[Phrase, str] = {}
        self._texts: dict[Phrase, list[str]] = {}
        self._longest: dict[str, int] = {}
        for name, text in self.given.items():
            self._add(phrase_of(name), name, text)
        self._replace_in_texts()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.given,)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    @property
    def digest(self) -> str:
        """What tells these rules from others."""
        rules = repr(sorted(self._texts.items()))
        return blake2b(rules.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()

    def replaced(self, words: list[str]) -> list[str]:
        """Return plain words with what stands for them; the very list if nothing does."""
        parts = self._parts(words)
        return words if not any(phrase for phrase, _ in parts) else self._joined(parts) or words

    def text(self, text: str) -> str:
        """Return a text as it is compared; the very text if nothing is replaced."""
        words = words_of(text)
        new = self.replaced(words)
        return text if new is words else " ".join(new)

    def applied(self, text: str) -> dict[str, str]:
        """Return the synonyms that are applied to a text, as they were given.

        >>> SynonymRules({"KST": "cost center", "Ltd": ""}).applied("kst name")
        {'KST': 'cost center'}
        """
        words = words_of(text)
        if self.replaced(words) is words:
            return {}
        names = [self._names[phrase] for phrase, _ in self._parts(words) if phrase]
        return {name: self.given[name] for name in names}

    def _add(self, phrase: Phrase, name: str, text: str) -> None:
        """Add a rule; if its other way was named before, that is the way that is taken."""
        words = words_of(text)
        there = self._texts.get(tuple(look_up(word).form for word in words))
        if there is not None and phrase_of(" ".join(there)) == phrase and list(phrase) != words:
            return
        self._names[phrase], self._texts[phrase] = name, words
        self._longest[phrase[0]] = max(len(phrase), self._longest.get(phrase[0], 0))

    def _replace_in_texts(self) -> None:
        """Let what is put in be read by the other rules, too.

        Raises:
            OptionError: they go in a circle.
        """
        parts = {phrase: self._parts(list(text)) for phrase, text in self._texts.items()}
        read = {phrase: [one for one, _ in some] for phrase, some in parts.items()}
        needed = {  # what is the phrase itself, in whichever spelling, stays as it is
            phrase: [] if some == [phrase] else [one for one in some if one]
            for phrase, some in read.items()
        }
        try:
            for phrase in list(TopologicalSorter(needed).static_order()):
                if needed[phrase]:
                    self._texts[phrase] = self._joined(parts[phrase])
        except CycleError as error:
            raise _in_a_circle([self._names[one] for one in reversed(error.args[1])]) from None

    def _parts(self, words: list[str]) -> list[tuple[Phrase | None, str]]:
        """Return the phrases among words, and each word that is in none."""
        forms, parts, place = [look_up(word).form for word in words], [], 0
        while place < len(forms):
            sizes = range(self._longest.get(forms[place], 0), 0, -1)
            phrases = (tuple(forms[place : place + size]) for size in sizes)
            phrase = next((phrase for phrase in phrases if phrase in self._texts), None)
            parts.append((phrase, words[place]))
            place += 1 if phrase is None else len(phrase)
        return parts

    def _joined(self, parts: list[tuple[Phrase | None, str]]) -> list[str]:
        texts = ([word] if phrase is None else self._texts[phrase] for phrase, word in parts)
        return [word for text in texts for word in text][:MOST_WORDS]


def _checked(given: Any) -> dict[str, str]:
    """Return synonyms as a dict, if they are texts with words, each given one text."""
    try:
        found = dict(given)
    except (TypeError, ValueError):
        raise ArgumentTypeError(
            f"synonyms: expected a mapping from texts to texts, got {quoted(given)}"
        ) from None
    names: dict[Phrase, str] = {}
    for name, text in found.items():
        for one in (name, text):
            if not isinstance(one, str):
                advice = '; give "" to leave the word out' if one is None and one is text else ""
                raise ArgumentTypeError(
                    f"synonyms: expected texts, got {type(one).__name__} {quoted(one)}{advice}"
                )
        for one in (name, *([text] if text.strip() else [])):
            if not words_of(one):
                raise OptionError(
                    f"synonyms: {quoted(one)} has no letters or digits, which are all that is "
                    f'compared; name a word, or give "" for one that is left out'
                )
        if phrase_of(name) in names and found[names[phrase_of(name)]] != text:
            raise OptionError(
                f"synonyms: {quoted(names[phrase_of(name)])} and {quoted(name)} are one text, "
                f"given {quoted(found[names[phrase_of(name)]])} and {quoted(text)}; give one of "
                f"them"
            )
        names.setdefault(phrase_of(name), name)
    return {name: found[name] for name in names.values()}


def _in_a_circle(names: list[str]) -> OptionError:
    """Return the error for synonyms whose texts have each other, the first also at the end."""
    if len(names) == 2:
        told = f"{quoted(names[0])} is in the text that it stands for"
    else:
        told = f"{' stands for '.join(map(quoted, names))}, in a circle"
    return OptionError(
        f"synonyms: {told}; keys and queries are replaced alike, so give the longer text as the "
        f"one to be replaced, or leave one out"
    )


class Synonyms(MutableMapping[str, str]):
    """The synonyms of a dict: words and phrases, and the text that stands for each, "" for none.

    Texts of equal words are one, however they are written. What is changed holds from the next
    read of the dict on, which encodes its keys again.

    Args:
        rules: returns the rules of the dict, None for none.
        use: gives it others.
        lock: returns what is held while they change, which is another in a forked process.

    >>> from fuzzydict import FuzzyDict
    >>> d = FuzzyDict({"cost center": 4711, "supplier": "Acme Ltd"})
    >>> d.synonyms = {"KST": "cost center"}
    >>> d["kst"], d.synonyms
    (4711, Synonyms({'KST': 'cost center'}))
    """

    def __init__(
        self,
        rules: Callable[[], SynonymRules | None],
        use: Callable[[SynonymRules | None], None],
        lock: Callable[[], AbstractContextManager[Any]],
    ) -> None:
        self._rules, self._use, self._lock = rules, use, lock

    @property
    def _given(self) -> dict[str, str]:
        rules = self._rules()
        return {} if rules is None else rules.given

    def _listed(self, name: Any) -> str | None:
        """Return a name as it is listed, None if it is not."""
        if not isinstance(name, str):
            return None
        given = self._given
        if name in given:  # as each is that was listed
            return name
        phrase = phrase_of(name)
        return next((one for one in given if phrase_of(one) == phrase), None)

    def __getitem__(self, name: str) -> str:
        listed = self._listed(name)
        if listed is None:
            raise KeyError(name)
        return self._given[listed]

    def __setitem__(self, name: str, text: str) -> None:
        self.update({name: text})

    def __delitem__(self, name: str) -> None:
        with self._lock():
            listed = self._listed(name)
            if listed is None:
                raise KeyError(name)
            self.replace({one: text for one, text in self._given.items() if one != listed})

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)

    def update(self, /, *args: Any, **kwargs: Any) -> None:
        """Add what ``dict.update`` would, or nothing if one of the synonyms is wrong."""
        new = SynonymRules(dict(*args, **kwargs) if kwargs or not args else args[0]).given
        phrases = set(map(phrase_of, new))
        with self._lock():
            given = self._given.items()
            self.replace({one: to for one, to in given if phrase_of(one) not in phrases} | new)

    def clear(self) -> None:
        """Forget all synonyms."""
        self.replace({})

    def replace(self, synonyms: Mapping[str, str] | Iterable[tuple[str, str]]) -> None:
        """Forget all synonyms for these, or raise; ``d.synonyms = ...`` does so."""
        rules = SynonymRules(synonyms)
        self._use(rules if rules.given else None)

    def copy(self) -> dict[str, str]:
        """Return a plain dict, which is that of no other dict."""
        return dict(self._given)

    __copy__ = copy

    def __ior__(self, other: Any) -> Self:
        self.update(other)
        return self

    def __or__(self, other: Any) -> dict[str, str]:
        return dict(self) | dict(other) if isinstance(other, Mapping) else NotImplemented

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._given!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (self._given,)
