"""Write the tables of words that are made from WordNet and by rules of spelling.

    python -m tools.lists -o data [--exclude FILE...]

The other tables of words are written by hand. Words are known if the table of English words,
which has the most frequent ones first, has them.
"""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from rapidfuzz.distance import Prefix

from fuzzydict import MissingCorpusError
from fuzzydict.embedding.word_vectors import English
from fuzzydict.text.lexicon import MEANINGS, without_ending
from fuzzydict.text.words import word_list

from .rewriting import LISTS, listed
from .wordnet import pairs_in

__all__ = ["main", "tables"]

Ranks = Mapping[str, int]  # how many words are more frequent than each known one


@cache
def _lemmas() -> dict[str, list[Any]]:
    """Return WordNet's lemmas of each single word."""
    from nltk.corpus import wordnet

    found = defaultdict[str, list[Any]](list)
    for synset in wordnet.all_synsets():
        for lemma in synset.lemmas():
            if lemma.name().isalpha():
                found[lemma.name().lower()].append(lemma)
    return dict(found)


def _parts(word: str) -> set[str]:
    """Return the parts of speech that a word may be: "n", "v", "a", "s" and "r"."""
    return {lemma.synset().pos() for lemma in _lemmas().get(word, ())}


def _antonyms(word: str) -> set[str]:
    found = {other.name() for lemma in _lemmas().get(word, ()) for other in lemma.antonyms()}
    return {name.lower() for name in found if name.isalpha()} - {word}


# ---- opposites ----------------------------------------------------------------------------------

_NEGATIVE = ("un", "non", "in", "im", "il", "ir", "dis")
_DENIES = re.compile(r"(?:not|no|without|lacking|having no|free from|un\w+ed|devoid)\b")


def opposite_pairs(known: Ranks) -> list[str]:
    """Return the pairs of single words that WordNet calls antonyms, and their known comparatives.

    Indirect antonyms, which an adjective has by being similar to another, are left out.
    """
    pairs = {(min(a, b), max(a, b)) for a in _lemmas() for b in _antonyms(a)}
    for a, b in tuple(pairs):
        for ending in ("er", "est"):
            one, other = sorted(_graded(word, ending) for word in (a, b))
            are_known = one in known and other in known
            if one != other and are_known and "n" not in _parts(one) | _parts(other):
                pairs.add((one, other))
    by_hand = {frozenset((a, b)) for a, *others in word_list("opposite_terms") for b in others}
    return [f"{a} {b}" for a, b in sorted(pairs) if {a, b} not in by_hand]


def _graded(word: str, ending: str) -> str:
    if not _parts(word) & {"a", "s", "r"}:
        return ""
    if word.endswith("y"):
        word = f"{word[:-1]}i"
    elif _SHORT.fullmatch(word):
        word += word[-1]
    return word.removesuffix("e") + ending


def negated_words(known: Ranks) -> Iterator[str]:
    """Yield each known word and another that denies it: "paid unpaid", "cord cordless".

    The other is no noun alone, and WordNet has it as an antonym, or defines it by a denial.
    """
    for word in sorted(known):
        others = [f"{prefix}{word}" for prefix in _NEGATIVE] + [f"{word}less"]
        for other in others:
            lemmas = _lemmas().get(other, ())
            denies = any(_DENIES.match(lemma.synset().definition()) for lemma in lemmas)
            is_one = word in _antonyms(other) or (denies and bool(_parts(other) - {"n"}))
            if other in known and len(word) > 2 and _parts(without_ending(word)) and is_one:
                yield f"{word} {other}"


# ---- forms --------------------------------------------------------------------------------------

_ENDING = re.compile(r".*(?:s|ed|ing|ise|isations?|izations?)")
_NO_ENDING = re.compile(r".*(?:ss|us|is|eed)")
_BASES = (("s", ""), ("ies", "y"), ("ied", "y"), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", ""))
_HISSING = re.compile(r".*(?:[sxzo]|[cs]h)es")
_DOUBLED = re.compile(r"(.*([bdgklmnprtvz]))\2(?:ed|ing)")
_SHORT = re.compile(r"[^aeiou]*[aeiou][^aeiouwxy]")  # "hop", which is doubled in "hopping"
_DERIVED = re.compile(r".*(?:ion|ment|ance|ence|al|ure|y|ness)")


def irregular_forms(known: Ranks) -> Iterator[str]:
    """Yield each irregular form of known words that its ending does not tell, and its bases."""
    # WordNet takes "men" for a regular ending.
    men = {word: {f"{word[:-3]}man"} for word in known.keys() - _lemmas() if word.endswith("men")}
    men = {form: of for form, of in men.items() if of & _lemmas().keys()}
    for form, of in sorted((men | _irregular()).items()):
        bases = sorted((of & known.keys()) - {form, without_ending(form)})
        if form.isalpha() and bases:
            yield " ".join((form, *bases))


def other_forms(known: Ranks, spelled: Mapping[str, str]) -> Iterator[str]:
    """Yield each known word whose ending does not tell what it is a form of, and what it is.

    That is another word, of which it may also be derived: "payment pay"; or the word: "news news".

    British spellings, which ``spelled`` has with the American ones, have no others.
    """
    irregular = {line.split()[0] for line in irregular_forms(known)}
    themselves = set(listed("themselves"))
    american = {word: rank for word, rank in known.items() if word not in spelled}
    for word in sorted(american):
        base = word if word in themselves else derived_from(word, american)
        if not base and _ENDING.fullmatch(word) and word not in irregular and len(word) > 2:
            base = _regular_base(word, american)
        if (base and base != without_ending(word)) or word in irregular & themselves:
            yield f"{word} {base}"


def _regular_base(word: str, known: Ranks) -> str:
    """Return the most frequent word that a word may be a form of, or it where there is none."""
    if _NO_ENDING.fullmatch(word):
        return word
    bases = {word.removesuffix(end) + base for end, base in _BASES if word.endswith(end)}
    bases |= {word[:-2]} if _HISSING.fullmatch(word) else set()
    bases |= {doubled[1]} if (doubled := _DOUBLED.fullmatch(word)) else set()
    parts = {"v"} if word.endswith(("ed", "ing")) else {"n", "v"}
    found = [b for b in bases if b in known and len(b) > 1 and _parts(b) & parts]
    if not found:
        return word if _parts(word) else without_ending(word)
    rest = re.sub("(?:ed|ing)$", "", word)
    if rest != word and _SHORT.fullmatch(rest) and f"{rest}e" in found:
        return f"{rest}e"
    return min(found, key=lambda base: known[base])


def derived_from(word: str, known: Ranks) -> str:
    """Return the known verb or adjective of which a noun or an adverb is made, or "".

    >>> derived_from("payment", {"pay": 0})
    'pay'
    """
    if not _DERIVED.fullmatch(word) or "v" in _parts(word) or _is_workplace(word):
        return ""
    found = set[str]()
    for lemma in _lemmas().get(word, ()):
        if word.endswith("ly"):
            found.update(other.name().lower() for other in lemma.pertainyms())
        elif lemma.synset().pos() == "n":
            parts = "as" if word.endswith("ness") else "v"
            related = lemma.derivationally_related_forms()
            found.update(o.name().lower() for o in related if o.synset().pos() in parts)
    shared = {one: Prefix.similarity(one, word) for one in found & known.keys()}
    near = [one for one, n in shared.items() if max(len(one) - 2, 3) <= n]
    near = [one for one in near if len(one) < len(word) and one not in _irregular()]
    return max(near, key=lambda one: (shared[one], -known[one]), default="")


def _is_workplace(word: str) -> bool:
    """Tell whether a word such as "winery" is, in the first place, where people work."""
    senses = [lemma.synset() for lemma in _lemmas().get(word, ())] if word.endswith("ery") else []
    above = {one.name() for sense in senses[:1] for path in sense.hypernym_paths() for one in path}
    return not above.isdisjoint({"structure.n.01", "workplace.n.01"})


@cache
def _irregular() -> dict[str, set[str]]:
    """Return the irregular forms of words, each with its bases."""
    from nltk.corpus import wordnet

    found = defaultdict[str, set[str]](set)
    for exceptions in wordnet._exception_map.values():
        for form, of in exceptions.items():
            found[form].update(of)
    return dict(found)


# ---- spellings ----------------------------------------------------------------------------------

_SPELLINGS = LISTS["british_and_american"].split()
_BRITISH = list(zip(_SPELLINGS[::2], _SPELLINGS[1::2], strict=True))
# These are American, too, or have a sense of their own.
_NOT_BRITISH = re.compile(r".*(?:advertis|daemon|prise$|timbre|bise$|fillet|camelli|partisan)")


def american_spellings(known: Ranks) -> dict[str, str]:
    """Return the American spelling of each British one, if both are known words of one sense."""
    from nltk.corpus import wordnet

    found = dict[str, str]()
    for word in sorted(known):
        others = [re.sub(british, american, word) for british, american in _BRITISH]
        senses = set(wordnet.synsets(word)) if any(other != word for other in others) else set()
        for other in others:
            is_known = other != word and other in known and not _NOT_BRITISH.match(word)
            if is_known and not senses.isdisjoint(wordnet.synsets(other)):
                found[word] = other
    for word in found:
        while found[word] in found:  # "colourise", "colorise", "colorize"
            found[word] = found[found[word]]
    return found


# ---- meanings -----------------------------------------------------------------------------------


def meanings(known: Ranks, excluded: frozenset[frozenset[str]]) -> Iterator[str]:
    """Return the meanings of known words as an outline: the depth of each, and its words.

    Of a word those meanings are listed that tagged texts have most often. What is a kind of
    something stands below it. Of a pair that is excluded, one word has a question mark where both
    have one meaning.
    """
    words, below = defaultdict[Any, set[str]](set), defaultdict[Any, set[Any]](set)
    for word in sorted(known.keys() & _lemmas().keys(), key=known.__getitem__):
        for lemma in sorted(_lemmas()[word], key=_sense)[:MEANINGS]:
            others = (frozenset((word, other.strip("?"))) for other in words[lemma.synset()])
            asked = not excluded.isdisjoint(others)
            words[lemma.synset()].add(f"{word}?" if asked else word)
    for meaning in words:
        while meaning is not None and meaning not in below[above := _above(meaning)]:
            below[above].add(meaning)
            meaning = above

    def outline(meaning: Any, depth: int) -> Iterator[str]:
        for one in sorted(below[meaning], key=lambda one: one.name()):
            if words[one]:
                yield " ".join((str(depth), *sorted(words[one])))
            yield from outline(one, depth + bool(words[one]))

    return outline(None, 0)


def _above(meaning: Any) -> Any:
    """Return what a meaning is a kind of, the first by name, or None; nltk has no order of them."""
    above = _all_above(meaning)
    if meaning.pos() == "s":
        above += meaning.similar_tos()
    return min(above, key=lambda one: str(one.name()), default=None)


def _sense(lemma: Any) -> tuple[int, int]:
    """Return what orders the meanings of a word: those that tagged texts have often come first."""
    return -lemma.count(), int(lemma.key().split(":")[2])


# ---- compounds ----------------------------------------------------------------------------------


def other_compounds(known: Ranks) -> Iterator[str]:
    """Yield terms of known words that are no kind of what the last one names: "sweet potato".

    It is one as well if its definition has that word, or if another name of it, of what it is a
    kind of, or of what is a kind of it ends with the word. But of one thing, as of a state, only
    the names of what it is one of tell this.
    """
    from nltk.corpus import wordnet

    for name in sorted(set(wordnet.all_lemma_names("n"))):
        *before, head = name.split("_")
        heads = set(wordnet.synsets(head, "n")) if 1 <= len(before) <= 2 else set()
        if heads and known.keys() >= {*before, head}:
            of_term = set(wordnet.synsets(name, "n"))
            above = {kind for one in of_term for kind in one.closure(_all_above)}
            kinds = [one for one in of_term if not one.instance_hypernyms()]
            told = above.union(kinds, *[one.hyponyms() for one in kinds])
            names = {lemma.lower() for kind in told for lemma in kind.lemma_names()} - {name}
            defined = " ".join(one.definition() for one in kinds).lower()
            defined = defined.replace(" ".join((*before, head)), "")
            is_kind = any(one.endswith(f"_{head}") for one in names)
            is_kind |= re.search(rf"\b{head}s?\b", defined) is not None
            if heads.isdisjoint(above | of_term) and not is_kind:
                yield " ".join((*before, head))


def _all_above(meaning: Any) -> list[Any]:
    return [*meaning.hypernyms(), *meaning.instance_hypernyms()]


# ---- all tables ---------------------------------------------------------------------------------


def tables(excluded: Collection[frozenset[str]] = ()) -> dict[str, Iterable[str]]:
    """Return the lines of each table by its name; no meaning joins a pair that is excluded."""
    known = {word: rank for rank, word in enumerate(English().words)}
    spelled = american_spellings(known)
    # How often the texts have a word in which WordNet's authors have tagged the senses of words.
    counts = {word: sum(lemma.count() for lemma in of) for word, of in _lemmas().items()}
    return {
        "opposites": opposite_pairs(known),
        "negated": negated_words(known),
        "irregular": irregular_forms(known),
        "forms": other_forms(known, spelled),
        "variants": (f"{british} {american}" for british, american in spelled.items()),
        "meanings": meanings(known, frozenset(excluded)),
        "compounds": other_compounds(known),
        "common": (f"{w} {n}" for w, n in sorted(counts.items()) if n >= 2 and len(w) >= 3),
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Write the tables to a folder."""
    parser = argparse.ArgumentParser(prog="python -m tools.lists", description="Write the lists.")
    parser.add_argument("-o", "--output", metavar="FOLDER", type=Path, default=Path("data"))
    parser.add_argument(
        "--exclude", type=Path, nargs="*", default=[], help="sets whose pairs are not joined"
    )
    options = parser.parse_args(argv)
    made = tables(pairs_in(options.exclude))
    try:
        texts = {name: "\n".join(lines) + "\n" for name, lines in made.items()}
    except LookupError as error:
        raise MissingCorpusError(
            "WordNet is not on this machine; fetch it with: python -m nltk.downloader wordnet"
        ) from error
    for name, text in texts.items():
        (options.output / f"{name}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
