"""What is found of each of n strings once: which rules may apply to it, how it sounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray


_BITS = 63
_NONE = 2**64 - 1  # for a sketch not made yet: it passes every filter, and then is made


def bits_of(items: Iterable[str], count: int = _BITS) -> int:
    """Return a set of strings as one of ``count`` bits for each; sets that meet share a bit."""
    found = 0
    for item in items:
        found |= 1 << hash(item) % count
    return found


class Sketches:
    """The sketches of n strings: 63 bits each, of what a rule asks of a string.

    A sketch tells which strings a rule may apply to, never too few (as a filter of B. H. Bloom,
    1970, "Space/time trade-offs in hash coding with allowable errors"), and the rule itself is
    asked of these few. A sketch is made when its string is first compared. Threads may share
    sketches: what two of them make is the same.

    Args:
        strings: n strings; more may be appended to the list.
        sketch: returns the bits of a string, the last 63 of an integer.
    """

    def __init__(self, strings: Sequence[str], sketch: Callable[[str], int]) -> None:
        self._strings, self._sketch = strings, sketch
        self._bits = np.full(len(strings), _NONE, np.uint64)

    def sharing(
        self,
        bits: Sequence[int],
        places: NDArray[np.intp],
        owners: NDArray[np.intp] | None = None,
    ) -> list[tuple[int, int, int]]:
        """Return which strings share a bit with which of L sketches.

        Args:
            bits: the L sketches.
            places: the places of the c strings to compare with each, (L, c), or with all, (c,); or
                of the string of each pair, (P,).
            owners: the number of the sketch of each pair, (P,), if pairs are compared.

        Returns:
            For each of those found, its row and column, as in (L, c), and the place of the string.
            The column of a pair is its number.

        >>> sketches = Sketches(["red", "green", "blue"], lambda word: 1 << len(word))
        >>> sketches.sharing([1 << 3 | 1 << 4, 1 << 5], np.array([2, 1, 0]))
        [(0, 0, 2), (0, 2, 0), (1, 1, 1)]
        """
        return self._found(_share, bits, places, owners)

    def nested(
        self,
        bits: Sequence[int],
        places: NDArray[np.intp],
        owners: NDArray[np.intp] | None = None,
    ) -> list[tuple[int, int, int]]:
        """Return which strings have all bits of which of L sketches, or no others; see `sharing`.

        >>> sketches = Sketches(["111", "001", "110"], lambda digits: int(digits, 2))
        >>> sketches.nested([0b011], np.arange(3))
        [(0, 0, 0), (0, 1, 1)]
        """
        return self._found(_are_nested, bits, places, owners)

    def _found(
        self,
        test: Callable[[NDArray[np.uint64], NDArray[np.uint64]], NDArray[Any]],
        bits: Sequence[int],
        places: NDArray[np.intp],
        owners: NDArray[np.intp] | None,
    ) -> list[tuple[int, int, int]]:
        """Return those of which a test is true, given sketches and those of the strings."""
        asked, made = np.array(bits, np.uint64), self._with_room()
        asked = asked[:, None] if owners is None else asked[owners]
        while True:
            found = test(asked, made[places]).ravel().nonzero()[0]
            if not len(found):
                return []
            at = places.ravel()[found % places.size]
            if not self._make(made, at):
                break
        if owners is not None:
            return list(zip(owners[found].tolist(), found.tolist(), at.tolist(), strict=True))
        width = places.shape[-1]
        pairs = zip(found.tolist(), at.tolist(), strict=True)
        return [(*divmod(i, width), place) for i, place in pairs]

    def _with_room(self) -> NDArray[np.uint64]:
        """Return the sketches of all strings, some of which may be missing."""
        made = self._bits
        if (more := len(self._strings) - len(made)) > 0:
            made = self._bits = np.append(made, np.full(more, _NONE, np.uint64))
        return made

    def _make(self, made: NDArray[np.uint64], places: NDArray[np.intp]) -> bool:
        """Make the sketches that are missing of c strings, (c,); return whether any was."""
        bits = made[places]
        if _NONE not in bits.tolist():
            return False
        missing = list(dict.fromkeys(places[bits == _NONE].tolist()))
        made[missing] = np.array([self._sketch(self._strings[i]) for i in missing], np.uint64)
        return True


def _share(asked: NDArray[np.uint64], theirs: NDArray[np.uint64]) -> NDArray[Any]:
    return asked & theirs


def _are_nested(asked: NDArray[np.uint64], theirs: NDArray[np.uint64]) -> NDArray[Any]:
    both = theirs & asked
    return np.asarray((both == asked) | (both == theirs))


class Derived:
    """What is derived of each of n strings, such as its sound, when it is first asked for.

    Args:
        strings: n strings; more may be appended to the list.
        derive: returns what is derived of each of some strings.
    """

    def __init__(
        self, strings: Sequence[str], derive: Callable[[Sequence[str]], Sequence[str]]
    ) -> None:
        self._strings, self._derive = strings, derive
        self._known: list[str | None] = []

    def of(self, places: Sequence[int]) -> list[str]:
        """Return what is derived of c strings.

        >>> Derived(["Red", "Blue"], lambda strings: [s.lower() for s in strings]).of([1])
        ['blue']
        """
        known = self._known
        if len(known) < len(self._strings):
            known += [None] * (len(self._strings) - len(known))
        found = [known[place] for place in places]
        if None in found:
            missing = [i for i, one in enumerate(found) if one is None]
            derived = self._derive([self._strings[places[i]] for i in missing])
            for i, one in zip(missing, derived, strict=True):
                found[i] = known[places[i]] = one
        return cast("list[str]", found)
