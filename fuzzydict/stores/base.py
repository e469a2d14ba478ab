"""What a store of keys does: the protocol `Store`, and what goes into it and comes out."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from uuid import UUID

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from fuzzydict.stores.values import Condition


def id_of(text: str) -> UUID:
    """Return the number by which a store knows a text, of any length; its order is like chance.

    >>> id_of("color")
    UUID('00944d9e-92e1-6e39-6ee4-875b50caa47c')
    """
    return UUID(bytes=blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest())


class Row(NamedTuple):
    """A key as a store holds it."""

    key: str
    value: Any  # of JSON's types
    vector: NDArray[np.float32] | None  # (E,), of length one; None if it has no words, or is zero
    ngrams: NDArray[np.int64]  # those of its `compared_words`: m numbers below 65536, rising


class Search(NamedTuple):
    """What is searched for a query: its vector and n-grams, as in `Row`, and how many keys.

    Keys are near by the cosine of the vectors. They are spelled alike by the cosine of the n-grams:
    the number that both have, divided by the root of the product of how many each has.
    """

    vector: NDArray[np.float32] | None
    ngrams: NDArray[np.int64]
    near: int
    spelled: int


class Hit(NamedTuple):
    """A key that was found, and its vector, (E,), None as in `Row`."""

    key: str
    vector: NDArray[np.float32] | None


class Hits(NamedTuple):
    """The keys that were found for one search, each list best first."""

    near: list[Hit]
    spelled: list[Hit]


class Known(NamedTuple):
    """What a store holds of some texts: the values of keys, and the keys of aliases."""

    values: dict[str, Any]
    keys: dict[str, str | None]  # None for an alias that was taught to have no key


class Alias(NamedTuple):
    """What was taught: a text, as `same_text` writes it and as it was written, and its key."""

    words: str
    written: str
    key: str | None


class Store(Protocol):
    """Keys and their vectors in a database. It finds candidates, and scores nothing.

    What a call writes is written as a whole or not at all, and is there for all that read after
    it. Each call of a method takes one round trip, but for `write` of many rows and `pages`. A
    connection that is lost is made again once, by the call that finds it so. Several threads may
    use a store, one at a time.

    All methods raise StoreError if the database cannot be reached, or refuses, and but for `meta`,
    `create`, `drop` and `close` if nothing was created. The message names ``place``, and never a
    password.

    Keys, words and values that are written are `is_storable`. Those that are looked up, removed or
    forgotten may be any texts.

    Attributes:
        place: the database and the table or collection, as an address without a password.
    """

    place: str

    def meta(self) -> dict[str, Any] | None:
        """Return what `create` or `set_meta` wrote last; None if nothing was created."""

    def create(self, dimensions: int, meta: Mapping[str, Any]) -> None:
        """Create what holds keys with vectors (E,), and write the meta; one that exists stays."""

    def set_meta(self, meta: Mapping[str, Any]) -> None:
        """Replace the meta: an object of JSON, of some megabytes."""

    def count(self) -> int:
        """Return the number of keys; of many millions, about."""

    def write(self, rows: Sequence[Row]) -> None:
        """Write rows, at most a few thousand with different keys; equal keys are replaced."""

    def settle(self) -> None:
        """Build what makes searches quick, once many rows were written; may take minutes.

        Before, searches find the same, and take longer the more keys there are.
        """

    def remove(self, keys: Sequence[str]) -> int:
        """Remove keys, and aliases of them, and return how many keys were there.

        An alias goes, too, whose key was not there: it was taught while another removed the key.
        """

    def rows(self, keys: Sequence[str], words: Sequence[str] = ()) -> Known:
        """Return the values of the texts that are keys, and what the texts of `Alias` stand for.

        Args:
            keys: texts, as they are.
            words: texts, as `same_text` writes them.
        """

    def search(self, searches: Sequence[Search], where: Sequence[Condition] = ()) -> list[Hits]:
        """Return the keys near each query, and those spelled like it, if they satisfy ``where``.

        Those near are of the keys with vectors; those spelled alike share an n-gram at least.
        """

    def pages(self, size: int, *, vectors: bool = False) -> Iterator[list[Row]]:
        """Yield all rows in the order of `id_of`, some at a time; without vectors, all are None.

        What others write meanwhile may be among them or not.
        """

    def teach(self, aliases: Sequence[Alias]) -> None:
        """Write aliases; those of equal words are replaced."""

    def forget(self, words: Sequence[str]) -> int:
        """Remove the aliases with these words, and return how many were there."""

    def aliases(self) -> Iterator[Alias]:
        """Yield all aliases."""

    def drop(self) -> None:
        """Remove everything that `create` made, if it did."""

    def close(self) -> None:
        """Close the connection; a later call makes another."""
