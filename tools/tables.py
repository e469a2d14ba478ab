"""Write what the lists of meanings, opposites and terms say, sorted: a read searches few lines.

    python -m tools.tables -o data

"words.sorted" tells of a word: its meanings, its opposites, the number and the first of the terms
that are one thing with it, which words are such terms, and stems of its other names where it is of
several classes. "terms.sorted" tells of the stems of words: how many words terms have that begin
so, and what else the term is called that they are.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from fuzzydict import OptionError
from fuzzydict.text.lexicon import (
    MEANINGS,
    TERM_CLASSES,
    classes_of_words,
    first_spellings,
    stem_of,
)
from fuzzydict.text.words import word_list
from fuzzydict.text.writings import words_of

__all__ = ["main", "tables"]


def meanings() -> dict[str, str]:
    """Return the first meanings of words, as the numbers of lines, then what each is a kind of.

    The lines are an outline: each begins with its depth. A word with a question mark may have the
    meaning, and its number is negative.
    """
    found, above, path = defaultdict[str, list[int]](list), [0], [0] * 32
    for number, (depth, *words) in enumerate(word_list("meanings"), 1):
        level = int(depth)
        above.append(path[level])
        path[level + 1] = number
        for word in words:
            found[word].append(number)
    for word in [word for word in found if word[-1] == "?"]:
        found[word[:-1]] += [-number for number in found.pop(word)]
    told = {}
    for word, own in found.items():
        rest = [0] * (MEANINGS - len(own))
        kinds = [above[abs(number)] for number in own]
        told[word] = " ".join(map(str, [*own, *rest, *kinds, *rest]))
    return told


def single_terms() -> dict[str, str]:
    """Return what is told of terms of one word: class, first term, the terms, other names."""
    forms, classes = first_spellings(), classes_of_words()
    of, also = dict[str, tuple[int, str]](), defaultdict[str, set[str]](set)
    for number, line in enumerate(word_list("terms", " = "), TERM_CLASSES):
        alone = [forms.get(term, term) for term in line if " " not in term]
        firsts = {of.setdefault(word, (number, line[0]))[0] for word in alone}
        if alone and (firsts != {number} or not classes.keys().isdisjoint(alone)):
            for word in alone:
                also[word].update(map(stem_of, alone))
    same = defaultdict[tuple[int, str], list[str]](list)
    for word, term in of.items():
        if word not in classes:
            same[term].append(word)
    return {
        word: "\t".join((*map(str, term), " ".join(same[term]), " ".join(sorted(also[word]))))
        for word, term in of.items()
    }


def opposites() -> dict[str, str]:
    """Return the opposites of words; of a short form, those of the one word it stands for."""
    forms, shorts = first_spellings(), defaultdict[str, list[str]](list)
    for short, *words in word_list("abbreviations"):
        if len(words) == 1:
            shorts[words[0]].append(short)
    found = defaultdict[str, set[str]](set)
    for line in (*word_list("opposites"), *word_list("opposite_terms"), *word_list("negated")):
        for one, *others in (line, [forms.get(word, word) for word in line]):
            for other in others:
                for a, b in ((one, other), (other, one)):
                    for name in (a, *shorts.get(a, ())):
                        found[name].add(b)
                        found[b].add(name)
    return {word: " ".join(sorted(others)) for word, others in found.items()}


def words() -> Iterator[str]:
    """Yield the lines of "words.sorted"."""
    known, opposed, terms = meanings(), opposites(), single_terms()
    for word in known.keys() | opposed.keys() | terms.keys():
        if not word.endswith("-"):  # "over-"
            rest = terms.get(word, "\t\t\t")
            yield "\t".join((word, known.get(word, ""), opposed.get(word, ""), rest))


def terms() -> Iterator[str]:
    """Yield the lines of "terms.sorted"; of two names one has several words."""
    names, longest = defaultdict[str, dict[str, None]](dict), defaultdict[str, int](int)
    for line in word_list("terms", " = "):
        stems = [" ".join(map(stem_of, term.split(" "))) for term in line]
        for one in stems:
            if others := [other for other in stems if other != one and " " in one + other]:
                names[one] |= dict.fromkeys(others)
                first, count = one.split(" ")[0], one.count(" ") + 1
                longest[first] = max(longest[first], count)
    for one in names.keys() | longest.keys():
        yield "\t".join((one, str(longest.get(one, 0)), *names.get(one, ())))


def tables() -> dict[str, str]:
    """Return the text of each sorted table by its name.

    Raises:
        OptionError: a term is written otherwise than texts are read, so that none would find it.
    """
    for term in sorted({term for line in word_list("terms", " = ") for term in line}):
        if (read := " ".join(words_of(term))) != term:
            raise OptionError(f"terms: {term!r} is read as {read!r}; write it so")
    made = {"words": words(), "terms": terms()}
    return {
        name: "".join(f"{line}\n" for line in sorted(lines, key=str.encode))
        for name, lines in made.items()
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Write the tables to a folder."""
    parser = argparse.ArgumentParser(prog="python -m tools.tables", description="Sort the lists.")
    parser.add_argument("-o", "--output", metavar="FOLDER", type=Path, default=Path("data"))
    options = parser.parse_args(argv)
    for name, text in tables().items():
        (options.output / f"{name}.sorted").write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
