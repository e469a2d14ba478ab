"""What a terminal obeys rather than shows."""

from __future__ import annotations

import unicodedata

#: A text that sets the title, clears the screen, writes backwards, and begins a line of its own.
HOSTILE = "\x1b]0;title\x07 \x9b2J \u202egnp\u2066\u200f \x7f\x08 \ud800\r\nFAKE: saved"
_REORDER = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
_MARKS = "\u061c\u200e\u200f"  # of direction, which reorder what is beside them


def obeyed(text: str) -> list[str]:
    """Return the characters of a text that a terminal would obey, and the lone surrogates."""
    return [
        character
        for character in text
        if unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")
        or unicodedata.bidirectional(character) in _REORDER
        or character in _MARKS
    ]


def is_only_shown(text: str) -> bool:
    """Tell whether lines with tabs have nothing else that is obeyed, and no line is FAKE."""
    lines = text.split("\n")
    return not obeyed("".join(lines).replace("\t", "")) and not any(
        line.startswith("FAKE") for line in lines
    )
