"""A dict as a page: one HTML file that answers queries in a browser, without a server."""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuzzydict.errors import ArgumentTypeError, quoted
from fuzzydict.explore_data import page_data

if TYPE_CHECKING:
    from fuzzydict.mapping import FuzzyDict

__all__ = ["PARTS", "WORDS", "explore_page"]

#: How many of the most frequent words a page has by default: with those that ship, below 6 MB.
WORDS = 8000
#: The scripts of a page in their order; each uses those before it. The last two show things.
PARTS = (
    *("text.js", "spelling.js", "abbreviations.js", "vectors.js"),
    *("matching.js", "telling.js", "view.js"),
)
_FOLDER = Path(__file__).with_name("explore_page")
_SLOT = re.compile(r"\{\{(\w+)\}\}")


def explore_page(d: FuzzyDict[Any], *, title: str = "a dict", words: int = WORDS) -> str:
    """Return an HTML page on which queries are typed and answered as the dict answers them.

    It holds all that it needs, and asks for nothing from elsewhere: keys, values, the score, and
    the vectors of the ``words`` most frequent words and of all words of the keys. Other words it
    takes for words never seen, and says so. It shows the probabilities of the nearest keys, and
    for a temperature the weights of attention and the pooled value.

    Args:
        d: a dict with the default score, and vectors of words as embedding.
        title: what the page is called.
        words: how many; a page has some 470 bytes for each of those that ship.

    Raises:
        ArgumentTypeError: ``words`` is not a whole number of 0 or more.
        OptionError: the dict has a named scorer, or an embedding that is no `WordVectors`.

    >>> from fuzzydict import FuzzyDict
    >>> d = FuzzyDict({"<b>": 1.0, "top speed": 2.0}, embedding={"top": [1, 0], "speed": [0, 1]})
    >>> page = explore_page(d, title="<i>")
    >>> "<title>&lt;i&gt;" in page, "<b>" in page
    (True, False)
    """
    if isinstance(words, bool) or not isinstance(words, int) or words < 0:
        raise ArgumentTypeError(f"words: expected a whole number of 0 or more, got {quoted(words)}")
    parts = {
        "title": escape(title),
        "style": _read("page.css"),
        "script": "\n".join(map(_read, PARTS)),
        "data": _inert(page_data(d, words)),
    }
    # In one pass, for a title may hold what looks like another slot.
    return _SLOT.sub(lambda slot: parts[slot[1]], _read("page.html"))


def _read(name: str) -> str:
    return (_FOLDER / name).read_text("utf-8")


def _inert(data: dict[str, Any]) -> str:
    """Return JSON that no parser of HTML takes for the end of its element, or a comment."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
