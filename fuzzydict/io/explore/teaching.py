"""What the page of ``fuzzydict explore`` teaches a dict, and where that is saved."""

from __future__ import annotations

import csv
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any

from fuzzydict._files import replacing
from fuzzydict.errors import ArgumentTypeError, FuzzyDictError, OptionError, quoted
from fuzzydict.io.explore.answers import check_query
from fuzzydict.io.review import DecidedFile, decided_keys, review_of
from fuzzydict.io.text_tables import DELIMITERS, ROW_FORMATS, format_by_ending
from fuzzydict.mapping import FuzzyDict, suggestion
from fuzzydict.text.words import plain, same_text

_NAMED = 40  # characters of a query that a refusal names
_ABSENT: Any = object()


def saved_as(output: Path) -> str:
    """Return the format in which a file holds what is taught; `OptionError` for another one."""
    form = format_by_ending(output, ("fuzzydict", *ROW_FORMATS))
    if form is None:
        raise OptionError(
            f"{output}: expected a file that ends in .fuzzydict, to save the dict, or in .csv, "
            f".tsv or .jsonl, to save decisions"
        )
    return form


class NotSavedError(FuzzyDictError, OSError):
    """What was taught holds, and is not in the file."""


class Teaching:
    """Teaches a dict aliases, and saves each at once; one thread at a time does.

    It saves the dict, or decisions as ``fuzzydict map --decisions`` reads them: what is decided in
    such a file is taught first, and stays in it, unless the page decides otherwise. ``changing`` is
    held while the aliases change, and not while they are saved.
    """

    def __init__(self, d: FuzzyDict[Any], output: Path | None = None) -> None:
        self.dict, self.output, self.changing = d, output, Lock()
        self.saves_to = None if output is None else output.name
        self._lock, self._is_closed = Lock(), False
        # By the words of a query: it, its key or None for none, and its alias before.
        self._taught: dict[str, tuple[str, str | None, Any]] = {}
        self._before: DecidedFile | None = None
        self._form = "" if output is None else saved_as(output)
        self._state = self._found()  # before it is read: what is written then is not replaced
        if output is None or self._form == "fuzzydict" or self._state is None:
            return
        self._before = DecidedFile(output, d)
        decided_keys(d, [self._before])  # or raise
        for one in self._before.decisions:
            if plain(one.query) and not dict.__contains__(d, one.query):
                d.aliases[one.query] = one.target

    def __len__(self) -> int:
        return len(self._taught)

    def taught(self) -> dict[str, Any]:
        """Return what was taught since the start, in its order."""
        taught = list(self._taught.values())  # at once: others may teach meanwhile
        return {"taught": [{"query": query, "key": key} for query, key, _ in taught]}

    def taught_as(self, query: str) -> str | None:
        """Return a query as it was taught since the start, or None."""
        taught = self._taught.get(same_text(query))
        return taught and taught[0]

    def teach(self, query: str, key: str | None) -> dict[str, Any]:
        """Teach that a query means a key, or that no key matches it (None), and save that.

        After a `NotSavedError` it is taught all the same.
        """
        with self._lock:
            self._teach(query, key)
            return self._save()

    def learn(self, decisions: list[Any]) -> dict[str, Any]:
        """Teach all decisions, and save them together; tell of those that cannot be taught."""
        refused, unsaved = list[str](), None
        with self._lock:
            checked = checked_decisions(self.dict, decisions)
            for query, key in checked.items():
                try:
                    self._teach(query, key)
                except FuzzyDictError as error:
                    refused.append(f"{quoted(query, _NAMED)}: {error}")
            try:
                self._save()
            except NotSavedError as error:
                unsaved = str(error)
        return {"taught": len(checked) - len(refused), "refused": refused, "unsaved": unsaved}

    def forget(self, query: str) -> dict[str, Any]:
        """Make a query what it was before it was taught here, and save that."""
        with self._lock:
            self._check_open()
            taught = self._taught.pop(same_text(query), None)
            if taught is None:
                raise OptionError(f"query: {quoted(query)} was not taught on this page")
            with self.changing:
                if taught[2] is _ABSENT:
                    self.dict.aliases.pop(taught[0], None)
                else:
                    self.dict.aliases[taught[0]] = taught[2]
            return self._save()

    def _teach(self, query: str, key: str | None) -> None:
        self._check_open()
        check_query(query)
        told = f"query: {quoted(query)}"
        if not plain(query):
            raise OptionError(f"{told} has no letters or digits to be taught")
        if dict.__contains__(self.dict, query):
            raise OptionError(f"{told} is a key of the dict, and always finds itself")
        if key is not None and not dict.__contains__(self.dict, key):
            names = [name for name in dict.keys(self.dict) if isinstance(name, str)]
            raise OptionError(
                f"key: {quoted(key)} is no key of the dict{suggestion(key, names)}; choose one of "
                f"its keys, or none"
            )
        if self._form in DELIMITERS:
            _check_cells(query, key)
        if self._before is not None:
            self._before.dialect.encoded(f"{query}{key or ''}", self.saves_to)
        text = same_text(query)
        known = self._taught.get(text)
        before = self.dict.aliases.get(query, _ABSENT) if known is None else known[2]
        with self.changing:
            self.dict.aliases[query] = key
        self._taught[text] = (query, key, before)

    def _check_open(self) -> None:
        if self._is_closed:
            raise OptionError("fuzzydict has ended, and teaches no more")

    def close(self) -> None:
        """Wait until what is being saved is saved; then teach no more."""
        with self._lock:
            self._is_closed = True

    # ---- the file -------------------------------------------------------------------------

    def _save(self) -> dict[str, Any]:
        """Save what was taught, and return how much that is."""
        try:
            if self._found() != self._state:
                raise OptionError("it has changed meanwhile; start again to read it")
            if self.output is not None and self._form == "fuzzydict":
                self.dict.save(self.output)
            elif self.output is not None:
                decisions = {query: key for query, key, _ in self._taught.values()}
                with replacing(self.output) as file:
                    file.write(review_of(self._form, decisions, self._before))
            self._state = self._found()
        except (FuzzyDictError, OSError) as error:
            why = getattr(error, "strerror", None) or error
            raise NotSavedError(
                f"{self.saves_to} was not saved ({why}); what was taught holds until fuzzydict "
                f"ends, and is saved with what is taught next, if that can be"
            ) from error
        return {"taught": len(self), "saved": self.saves_to}

    def _found(self) -> tuple[int, ...] | None:
        """Return what tells one state of the file from another; None if there is no file."""
        with suppress(FileNotFoundError):
            if self.output is not None:
                state = self.output.stat()
                return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns
        return None


def _check_cells(*texts: str | None) -> None:
    """Refuse what a CSV or TSV file could hold and nobody could read."""
    for text in texts:
        if text is not None and ("\0" in text or len(text) > csv.field_size_limit()):
            why = "holds a zero byte" if "\0" in text else "is too long"
            raise OptionError(f"{quoted(text)} cannot be a cell of a table: it {why}")


def checked_decisions(d: FuzzyDict[Any], decisions: list[Any]) -> dict[str, str | None]:
    """Return the key of each query of decisions; raise if a file of them would be refused."""
    found: dict[str, tuple[str, str | None]] = {}
    for one in decisions:
        given = one if isinstance(one, dict) else {}
        query, target = given.get("query"), given.get("target")
        if not isinstance(query, str) or not query.strip() or not isinstance(target, str | None):
            raise ArgumentTypeError(
                f'decisions: expected {{"query": text, "target": key or null}}, got {quoted(one)}'
            )
        wanted = query if dict.__contains__(d, query) else target
        if target != wanted or not (target is None or dict.__contains__(d, target)):
            raise OptionError(
                f"decisions: {quoted(target)} cannot be the target of {quoted(query)}; choose a "
                f"key of the dict, or none"
            )
        _check_cells(query, target)
        other, before = found.setdefault(same_text(query), (query, target))
        if before != target:
            raise OptionError(
                f"decisions: {quoted(other)} and {quoted(query)} are one text, for case, accents "
                f"and punctuation make no difference; choose one target for both"
            )
    return dict(found.values())
