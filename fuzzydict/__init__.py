"""A dict that answers queries that are not its keys, by attention over embedded keys.

>>> from fuzzydict import FuzzyDict
>>> d = FuzzyDict({"brand": "Porsche", "model": "Taycan", "color": "black"})
>>> d["colour"]
'black'
"""

from typing import TYPE_CHECKING, Any

from fuzzydict.frames.accessors import register_accessors

if TYPE_CHECKING:
    # By name those that are imported late, for the pages of the documentation.
    from fuzzydict._public import *  # noqa: F403
    from fuzzydict._public import FuzzyKeyEncoder as FuzzyKeyEncoder
    from fuzzydict._public import pool_shards as pool_shards

__version__ = "0.2.0"

register_accessors()


def __getattr__(name: str) -> Any:  # an import in full takes a moment, and is often not needed
    if name == "__all__" or not name.startswith("_"):
        from fuzzydict import _public

        if name in _public.NAMES:
            globals()[name] = getattr(_public, name)
        if name in globals():  # a module of the package is there now, too
            return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    from fuzzydict import _public

    return sorted({*globals(), *_public.__all__})
