"""Write the lists of words that ship with the package: opposites, irregular forms, common words.

    python -m tests.benchmarks.wordlists -o data

Opposites are the antonyms of WordNet 3.0, but not the indirect ones, which an adjective has by
being similar to another. Irregular forms are WordNet's exceptions for nouns, verbs and
adjectives, as far as no rule of `fuzzydict.text.forms` finds the base and the table of English
words has it. Common words are short ones that are frequent in WordNet's tagged texts.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from fuzzydict import MissingCorpusError
from fuzzydict.embedding.word_vectors import English
from fuzzydict.text.forms import regular_bases

__all__ = ["common_words", "irregular_forms", "main", "opposite_pairs"]

_OFTEN = 3  # times in the texts in which WordNet's authors have tagged the senses of words


def opposite_pairs() -> list[str]:
    """Return the pairs of single words that WordNet calls antonyms, in order."""
    from nltk.corpus import wordnet

    pairs = set()
    for synset in wordnet.all_synsets():
        for lemma in synset.lemmas():
            for other in lemma.antonyms():
                a, b = sorted((lemma.name().lower(), other.name().lower()))
                if a != b and a.isalpha() and b.isalpha():
                    pairs.add(f"{a} {b}")
    return sorted(pairs)


def irregular_forms(known: Collection[str]) -> Iterator[str]:
    """Yield each irregular form of a known word, and its bases."""
    from nltk.corpus import wordnet

    found = defaultdict[str, set[str]](set)
    for exceptions in wordnet._exception_map.values():
        for form, of in exceptions.items():
            found[form].update(base for base in of if base in known)
    for form, of in sorted(found.items()):
        new = sorted(of - {form} - regular_bases(form))
        if form.isalpha() and new:
            yield " ".join((form, *new))


def common_words() -> list[str]:
    """Return the words of three to seven letters that WordNet's tagged texts have often."""
    from nltk.corpus import wordnet

    counts = Counter[str]()
    for synset in wordnet.all_synsets():
        for lemma in synset.lemmas():
            counts[lemma.name().lower()] += lemma.count()
    return sorted(
        word for word, n in counts.items() if n >= _OFTEN and word.isalpha() and 3 <= len(word) <= 7
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Write the lists to a folder."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.wordlists", description="Write the lists of words."
    )
    parser.add_argument("-o", "--output", metavar="FOLDER", type=Path, default=Path("data"))
    options = parser.parse_args(argv)
    try:
        lists = {
            "opposites.txt": opposite_pairs(),
            "irregular.txt": irregular_forms(set(English().words)),
            "common.txt": common_words(),
        }
    except LookupError as error:
        raise MissingCorpusError(
            "WordNet is not on this machine; fetch it with: python -m nltk.downloader wordnet"
        ) from error
    for name, lines in lists.items():
        (options.output / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
