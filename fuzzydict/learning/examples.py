"""The examples that `fit` is given: checked, merged, and what of them is remembered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzydict._arrays import as_floats
from fuzzydict.errors import ArgumentTypeError, OptionError, ShapeError, quoted
from fuzzydict.text.words import plain, same_text

if TYPE_CHECKING:
    from collections.abc import Container

    from numpy.typing import NDArray


class KeyExample(NamedTuple):
    """A query, and the places of its right keys, maybe none."""

    query: str
    right: frozenset[int]


class ValueExamples(NamedTuple):
    """L queries, and what each should pool, (L, *shape)."""

    queries: list[str]
    values: NDArray[np.float64]


def checked_examples(
    queries: Iterable[str] | Mapping[str, Any],
    targets: Iterable[Any] | None,
    places: Mapping[str, int],
    keys: Container[Any],
) -> list[KeyExample] | ValueExamples:
    """Return the examples, or raise what is wrong with them.

    A query without letters or digits that should find no key is left out: it finds none anyway.

    Args:
        queries: texts, or a mapping of texts to their targets.
        targets: for each query a key, several keys, or None; or for each a number or an array.
            None if the queries are a mapping.
        places: the keys that can be attended to, with their places.
        keys: all keys, to tell a missing key from one without letters.

    Raises:
        ArgumentTypeError: a query is not a text, or targets are missing or of several kinds.
        OptionError: there are no examples, a key is missing or has no letters, a query has no
            letters but a key, or a query is a key and its target is not.
        ShapeError: queries and targets differ in number, or numbers are not finite or of several
            shapes.

    >>> checked_examples(["hue", "x"], ["color", None], {"brand": 0, "color": 1}, {"color"})
    [KeyExample(query='hue', right=frozenset({1})), KeyExample(query='x', right=frozenset())]
    """
    asked, wanted = _as_lists(queries, targets)
    for place, (query, target) in enumerate(zip(asked, wanted, strict=True)):
        if not isinstance(query, str):
            raise ArgumentTypeError(
                f"queries: expected texts, got {type(query).__name__} {quoted(query)} at {place}"
            )
        if target is not None and not plain(query):
            raise OptionError(
                f"queries: {quoted(query)} at {place} has no letters or digits to compare; "
                f"leave it out"
            )
    kinds = [_names_keys(place, target) for place, target in enumerate(wanted)]
    if False not in kinds:
        pairs = [pair for pair in zip(asked, wanted, strict=True) if plain(pair[0])]
        if not pairs:
            raise OptionError(
                "queries: none has letters or digits, so that none finds a key; leave them out"
            )
        return [_key_example(query, target, places, keys) for query, target in pairs]
    if kinds.count(False) < len(kinds):
        a, b = kinds.index(False), next(i for i, kind in enumerate(kinds) if kind is not False)
        raise ArgumentTypeError(
            f"targets: expected keys (or None) for all queries, or numbers for all, got "
            f"{quoted(wanted[a])} for {quoted(asked[a])} and {quoted(wanted[b])} for "
            f"{quoted(asked[b])}"
        )
    return ValueExamples(asked, _numbers(asked, wanted))


def _as_lists(queries: Any, targets: Any) -> tuple[list[Any], list[Any]]:
    """Return the queries and their targets, as many of each."""
    if isinstance(queries, Mapping):
        if targets is not None:
            raise ArgumentTypeError(
                "targets: leave targets out, because the mapping of queries has them, or give "
                "list(queries)"
            )
        queries, targets = list(queries), [queries[query] for query in queries]
    for name, given in (("queries", queries), ("targets", targets)):
        if name == "targets" and given is None:
            raise ArgumentTypeError(
                "targets: missing; give one for each query, or queries as a mapping {query: target}"
            )
        if isinstance(given, str | bytes) or not isinstance(given, Iterable):
            raise ArgumentTypeError(
                f"{name}: expected a list, one for each query, got {quoted(given)}"
            )
    asked, wanted = list(queries), list(targets)
    if len(asked) != len(wanted):
        raise ShapeError(
            f"queries and targets: expected a target for each query, got {len(asked)} queries and "
            f"{len(wanted)} targets"
        )
    if not asked:
        raise OptionError("queries: there are no examples; expected one or more")
    return asked, wanted


def _names_keys(place: int, target: Any) -> bool | None:
    """Return whether a target is a key or several keys (True) or numbers (False); None for None."""
    if target is None:
        return None
    if not isinstance(target, list | tuple | set | frozenset):
        return isinstance(target, str)
    if not target:
        raise OptionError(
            f"targets: number {place} is empty; give the right keys, or None if none is right"
        )
    others = [item for item in target if not isinstance(item, str)]
    if 0 < len(others) < len(target):
        raise ArgumentTypeError(
            f"targets: number {place} has keys and {quoted(others[0])}; expected one or the other"
        )
    return not others


def _key_example(
    query: str, target: Any, places: Mapping[str, int], keys: Container[Any]
) -> KeyExample:
    wanted = () if target is None else (target,) if isinstance(target, str) else target
    for key in wanted:
        if key in places:
            continue
        if key in keys:
            raise OptionError(
                f"targets: the key {quoted(key)} of {quoted(query)} has no letters or digits, and "
                f"only an equal query finds it; leave the example out"
            )
        raise OptionError(
            f"targets: {quoted(key)}, for the query {quoted(query)}, is not a key of the dict; "
            f"add it or correct it (keys are exact here)"
        )
    right = frozenset(places[key] for key in wanted)
    if query in places and places[query] not in right:
        raise OptionError(
            f"targets: got {quoted(target)} for {quoted(query)}, but it is a key and always finds "
            f"itself; leave the example out"
        )
    return KeyExample(query, right)


def _numbers(queries: Sequence[str], targets: Sequence[Any]) -> NDArray[np.float64]:
    rows: list[NDArray[np.float64]] = []
    for query, target in zip(queries, targets, strict=True):
        name = f"target of {quoted(query)}"
        row = as_floats(**{name: target})[0].astype(np.float64)
        if not np.isfinite(row).all():
            raise ShapeError(f"{name}: expected finite numbers, got NaN or infinity")
        if rows and row.shape != rows[0].shape:
            raise ShapeError(
                f"{name} has shape {row.shape}, but that of {quoted(queries[0])} is "
                f"{rows[0].shape}; expected targets of one shape"
            )
        rows.append(row)
    return np.stack(rows)


def merged(examples: Sequence[KeyExample]) -> dict[str, NDArray[np.intp]]:
    """Return each query once, with the keys that any of its examples has.

    Raises:
        OptionError: a query has a key in one example, and none in another.
    """
    right: dict[str, frozenset[int]] = {}
    for query, keys in examples:
        before = right.get(query, keys)
        if bool(before) != bool(keys):
            raise OptionError(
                f"targets: {quoted(query)} has a key in one example and None in another; keep one"
            )
        right[query] = before | keys
    return {query: np.array(sorted(keys), np.intp) for query, keys in right.items()}


def to_remember(
    examples: Sequence[KeyExample], names: Sequence[str]
) -> dict[str, NDArray[np.intp]]:
    """Return for each text, as `same_text` has it, its first query, and its keys in all examples.

    A query that is a key is left out: it finds itself.

    Raises:
        OptionError: two examples of one text have no key in common.

    >>> same = [KeyExample("Hue", frozenset({0, 1})), KeyExample("hue", frozenset({1}))]
    >>> to_remember(same, ["brand", "color"])
    {'Hue': array([1])}
    """
    found: dict[str, tuple[str, frozenset[int]]] = {}
    for query, right in examples:
        first, before = found.get(same_text(query), (query, right))
        if bool(before) != bool(right) or (before and not before & right):
            one, other = (
                " or ".join(quoted(names[i]) for i in sorted(keys)) or "None"
                for keys in (before, right)
            )
            raise OptionError(
                f"targets: {quoted(first)} is to find {one}, but {quoted(query)} is to find "
                f"{other}, and they are the same text; keep one, or give a list of right keys"
            )
        found[same_text(query)] = first, before & right
    own = set(names)
    texts = {query: right for query, right in found.values() if query not in own}
    return {query: np.array(sorted(right), np.intp) for query, right in texts.items()}
