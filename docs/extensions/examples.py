"""Shows the examples of docstrings as code: mkdocstrings takes them for quotations."""

from __future__ import annotations

import re
from typing import Any

import griffe

# An example begins with a prompt and ends with a blank line.
_EXAMPLE = re.compile(r"^( *)>>> .*?(?=\n *\n|\Z)", re.M | re.S)


class Examples(griffe.Extension):
    """Puts each example of a docstring into a fenced block."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of an object that was read."""
        if obj.docstring:
            fenced = _EXAMPLE.sub(r"\1```pycon\n\g<0>\n\1```", obj.docstring.value)
            obj.docstring.value = fenced
