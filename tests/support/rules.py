"""The rules of words, asked of one text after the other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.typing import NDArray

from fuzzydict.text.sketches import Sketches

__all__ = ["PHRASES", "TELLING_WORDS", "asked_of_each", "shuffled"]

_FORMS = "colour color colors organised organize irrigated irrigator children child kerb curb"
_SHORT = "temp temperature govt government spd speed car carpet qty quantity lbs pound no number"
_INITIALS = "hr human resources vat value added tax e mail email rd research and development"
_OPPOSED = "max min maximum paid unpaid not without free no less wireless wire isn't or of mon tue"
_COUNTED = "1 2 2023 12b 12c b5 a5 5m kg gram km h hour hourly per cent extra large xl small a s"
#: Words to which the rules apply, and phrases of them.
TELLING_WORDS = st.sampled_from(f"{_FORMS} {_SHORT} {_INITIALS} {_OPPOSED} {_COUNTED}".split())
PHRASES = st.lists(TELLING_WORDS, min_size=1, max_size=4).map(" ".join)


@contextmanager
def asked_of_each() -> Iterator[None]:
    """Let sketches find every string, so that the rules are asked of each."""

    def every(_: Sketches, __: int, places: NDArray[np.intp]) -> list[int]:
        return list(range(len(places)))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Sketches, "sharing", every)
        patch.setattr(Sketches, "nested", every)
        yield


def shuffled(count: int) -> NDArray[np.intp]:
    """Return some of the places of strings, in no order."""
    places = list(range(count))
    Random(count).shuffle(places)
    return np.array(places[: (count + 1) // 2], np.intp)
