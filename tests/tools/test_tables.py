"""The sorted tables say what the lists say, and terms are read as they are written."""

from __future__ import annotations

from importlib import resources

import pytest

from fuzzydict.text.words import word_list
from fuzzydict.text.writings import words_of
from tools.tables import tables


@pytest.mark.slow("it reads all lists, for five seconds")
def test_the_sorted_tables_are_made_of_the_lists() -> None:
    for name, text in tables().items():
        shipped = resources.files("fuzzydict.data") / f"{name}.sorted"
        assert shipped.read_text("utf-8") == text, "run: python -m tools.tables"


@pytest.mark.slow("it reads all terms, for ten seconds")
def test_each_term_is_read_as_it_is_written() -> None:
    terms = {term for line in word_list("terms", " = ") for term in line}
    assert [term for term in terms if " ".join(words_of(term)) != term] == []
