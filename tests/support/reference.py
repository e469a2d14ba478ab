"""The default score, slow and obvious: from texts to probabilities, one number after the other."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from rapidfuzz.distance import OSA, Indel, JaroWinkler

from fuzzydict import FuzzyDict
from fuzzydict.search.align import CONTEXT, FEATURES, PAIR
from fuzzydict.search.judge import LEAD, WHICH, Net
from fuzzydict.search.keys import SHORT, Word, compared_words
from fuzzydict.text.lexicon import (
    Part,
    abbreviates,
    is_directed,
    is_numeronym,
    is_one_text,
    look_up,
    numbers_of,
    other_code,
    other_number,
    part_of,
    same_terms,
)
from fuzzydict.text.ngrams import ngrams

_CONTRARY = ("opposites", "other members of a class")


def cosine_of(a: Any, b: Any) -> float:
    """Return the cosine of two vectors, 0 for the zero vector."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    lengths = math.sqrt(a @ a) * math.sqrt(b @ b)
    return float(a @ b) / lengths if lengths else 0.0


def expit(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x > -700 else 0.0


def initials_of(words: list[Word]) -> str:
    return "".join(word.text[0] for word in words)


def evidence_of(a: Word, b: Word) -> dict[str, float]:
    """Return what is compared of a word of a query and another of a key."""
    edits, are_sure = OSA.normalized_similarity(a.text, b.text), a.trust == b.trust == 1
    cosine, ours, theirs = max(cosine_of(a.unit, b.unit), 0), a.entry, b.entry
    is_of_class, is_member = ours.group == theirs.group >= 0, ours.member == theirs.member
    may = a.text[0] == b.text[0] and len(a.text) != len(b.text)
    kind = abbreviates(a.text, b.text) if may else 0
    kind = 1 if is_of_class and is_member and a.text != b.text else kind
    are_known, are_common = a.is_known and b.is_known, ours.is_common and theirs.is_common
    is_short = min(len(a.text), len(b.text)) <= SHORT and not (are_known or are_common)
    found = dict.fromkeys(PAIR, 0.0) | {
        "bias": 1,
        "edits": edits,
        "edits squared": edits**2,
        "edits squared, both known": edits**2 * are_known,
        "edits squared, both common": edits**2 * are_common,
        "edits squared, short, one is no word": edits**2 * is_short,
        "one stem": ours.stem == theirs.stem,
        "cosine": cosine * are_sure,
        "cosine squared": (cosine * are_sure) ** 2,
        "cosine by a slip": cosine * (not are_sure),
        "opposites": not ours.opposites.isdisjoint({b.text, theirs.stem}),
        "other members of a class": is_of_class and not is_member,
        "other digits": ours.has_digit and theirs.has_digit and a.text != b.text,
    }
    if all(word.trust == 1 or word.entry.is_common for word in (a, b)):
        part = part_of(b.text, a.text)
        found["other thing that holds the other"] = part == Part.OF_ANOTHER
        found["kind of the other"] = part == Part.OF_ITS_KIND
    if kind:
        found[PAIR[6 + kind]] = 1
        found["share of the letters"] = (kind > 1) * _ratio(len(a.text), len(b.text))
    return found


def _ratio(a: int, b: int) -> float:
    return min(a, b) / max(a, b)


def terms_in(ours: list[Word], theirs: list[Word]) -> Iterator[tuple[slice, slice]]:
    """Yield which words of both name one thing, by the lexicon."""
    stems = tuple(word.entry.stem for word in theirs)
    for start, size, others in same_terms([word.entry.stem for word in ours]):
        for other in others:
            for first in range(len(stems)):
                if stems[first : first + len(other)] == other:
                    yield slice(start, start + size), slice(first, first + len(other))


class Reference:
    """The default score of a dict's keys, all of which have words; at most 24 of them."""

    def __init__(self, d: FuzzyDict[Any]) -> None:
        self.keys: list[str] = list(d)
        self.meaning = d._current_meaning()
        self.judge, self.table = self.meaning.judge, self.meaning.table
        self.vectors = dict(zip(self.keys, self.meaning.of_keys(self.keys), strict=True))
        self.background = d._current_reader().lookup.keys.background
        split = {key: compared_words(key) for key in self.keys}
        self.stems = Counter(look_up(word).stem for words in split.values() for word in words)
        self.grams = Counter(one for words in split.values() for one in ngrams(" ".join(words)))

    def words(self, text: str) -> list[Word]:
        return self.table.of_each([compared_words(text)])[0]

    def weight(self, word: Word) -> float:
        """Return the weight of a word: rare in English, and among the keys."""
        count, total = self.stems[word.entry.stem], len(self.keys)
        return word.weight * math.log1p(total / (count + 0.5)) / math.log1p(2 * total)

    def shares(self, words: list[Word]) -> list[float]:
        weights = list(map(self.weight, words))
        return [weight / sum(weights) for weight in weights]

    def likeness(self, query: str, key: str) -> float:
        """Return the cosine of the n-grams, of which the rare ones weigh more."""
        ours, theirs = (set(ngrams(" ".join(compared_words(text)))) for text in (query, key))
        weight = {
            one: math.log1p(len(self.keys) / max(self.grams[one], 1)) for one in ours | theirs
        }
        product, a, b = (
            sum(weight[one] ** 2 for one in some) for some in (ours & theirs, ours, theirs)
        )
        return product / math.sqrt(a * b)

    # ---- features -----------------------------------------------------------------------------

    def features(self, query: str, key: str) -> dict[str, float]:
        ours, theirs = self.words(query), self.words(key)
        sure = sum(s for s, word in zip(self.shares(ours), ours, strict=True) if word.trust == 1)
        vector = sum(word.unit * np.float32(word.length * self.weight(word)) for word in ours)
        near = cosine_of(vector, self.vectors[key])
        above = float(self.background.above(np.array([near], np.float32))[0])
        found = dict.fromkeys((feature.name for feature in FEATURES), 0.0) | {
            "nearness": near * sure,
            "nearness above the usual": above / 10 * sure,
            "n-grams": self.likeness(query, key),
            "words of the query": min(len(ours), 6) / 6,
            "words of the key": min(len(theirs), 6) / 6,
            "share of known words": sure,
            "number of keys": math.log(len(self.keys)) / 10,
            "length of the query": min(len(" ".join(word.text for word in ours)), 20) / 20,
        }
        table = self.tables(ours, theirs)
        found |= self.of_strings(query, key) | self.of_words(ours, theirs, table)
        found |= self.of_phrases(query, key, table["spelled"])
        found |= self.against(ours, theirs, table) | self.of_numbers(query, key)
        found |= self.left_over(ours, theirs, table)
        return {name: float(number) for name, number in found.items()}

    def of_strings(self, query: str, key: str) -> dict[str, float]:
        ours, theirs = (" ".join(compared_words(text)) for text in (query, key))
        a, b = ours.replace(" ", ""), theirs.replace(" ", "")
        return {
            "letters": Indel.normalized_similarity(a, b),
            "edits": OSA.normalized_similarity(a, b),
            "edits from the beginning": JaroWinkler.normalized_similarity(ours, theirs),
            "as written": Indel.normalized_similarity(query.lower(), key.lower()),
        }

    def tables(self, ours: list[Word], theirs: list[Word]) -> dict[str, Any]:
        """Return how each word of a query and each of a key compare, (w, W)."""
        weights = dict(zip(PAIR, self.judge.pair.tolist(), strict=True))
        table = {
            name: np.zeros((len(ours), len(theirs)))
            for name in ("matched", "spelled", "meant", "unlike", *_CONTRARY)
        }
        for i, a in enumerate(ours):
            for j, b in enumerate(theirs):
                seen, same = evidence_of(a, b), a.text == b.text
                odds = {name: number * weights[name] for name, number in seen.items()}
                by_meaning = sum(number for name, number in odds.items() if "cosine" in name)
                table["matched"][i, j] = same or expit(sum(odds.values()))
                table["spelled"][i, j] = same or expit(sum(odds.values()) - by_meaning)
                table["meant"][i, j] = same or seen["cosine"]
                is_one = same or seen["one stem"] or seen["conventional abbreviation"]
                alike = max(seen[f"edits squared, both {kind}"] for kind in ("known", "common"))
                alike = max(alike, seen["kind of the other"]) * (1 - seen["cosine"])
                alike = max(alike, seen["other thing that holds the other"])
                table["unlike"][i, j] = 0 if is_one else alike
                for name in _CONTRARY:
                    table[name][i, j] = seen[name]
        by_convention = expit(weights["bias"] + weights["conventional abbreviation"])
        for rows, columns in terms_in(ours, theirs) if self.table.size else ():
            for name in ("matched", "spelled"):
                part = table[name][rows, columns]
                table[name][rows, columns] = np.maximum(part, by_convention)
        for rows, columns, strength in self.several(ours, theirs, by_convention):
            for name in ("matched", "spelled"):
                part = table[name][rows, columns]
                table[name][rows, columns] = np.maximum(part, strength)
        return table

    def several(self, ours: list[Word], theirs: list[Word], by_convention: float) -> Any:
        """Yield where one word stands for several of the other: initials, and words in one."""
        if is_one_text(*(" ".join(word.text for word in words) for words in (ours, theirs))):
            yield slice(None), slice(None), 1
        for i, word in enumerate(ours):
            first = initials_of(theirs).find(word.text)
            if 2 <= len(word.text) <= 5 and first >= 0:
                yield i, slice(first, first + len(word.text)), by_convention
            for j, (a, b) in enumerate(pairwise(theirs)):
                if (
                    len(word.text) >= 5
                    and word.text == a.text + b.text
                    and len(a.text) > 1 < len(b.text)
                ):
                    yield i, slice(j, j + 2), 1
        for j, word in enumerate(theirs):
            first = initials_of(ours).find(word.text)
            if 2 <= len(word.text) <= 5 and first >= 0:
                yield slice(first, first + len(word.text)), j, by_convention
            for i, (a, b) in enumerate(pairwise(ours)):
                if look_up(a.text + b.text).stem == word.entry.stem:
                    yield slice(i, i + 2), j, 1

    def of_words(self, ours: list[Word], theirs: list[Word], table: Any) -> dict[str, float]:
        """Return how far the words of each are matched by those of the other."""
        found = {}
        for of, words, axis in (("query", ours, 1), ("key", theirs, 0)):
            shares, matched = np.array(self.shares(words)), table["matched"].max(axis)
            tell = shares * [not word.entry.is_filler for word in words]
            tell = tell if tell.any() else shares
            for name in ("spelled", "meant", "matched"):
                found[f"{name}, of the {of}"] = float(table[name].max(axis) @ shares)
            found[f"worst word of the {of}"] = float(matched.min())
            found[f"matched but for fillers, of the {of}"] = float(matched @ tell / tell.sum())
        return found

    def of_phrases(self, query: str, key: str, spelled: Any) -> dict[str, float]:
        ours, theirs = self.words(query), self.words(key)
        a, b = ("".join(word.text for word in words) for words in (ours, theirs))
        if len(ours) == len(theirs) == 1:
            name = "conventional abbreviation"
            return {name: evidence_of(ours[0], theirs[0])[name]}
        may = a[0] == b[0] and a != b and 1 in (len(ours), len(theirs))
        kind = abbreviates(a, b) if may else 0
        whole = slice(0, len(ours)), slice(0, len(theirs))
        is_short = kind == 1 or (self.table.size > 0 and whole in terms_in(ours, theirs))
        found: dict[str, float] = {"conventional abbreviation": is_short, "abbreviation": kind > 1}
        if len(ours) == 1 or len(theirs) == 1:
            short, words = (a, theirs) if len(ours) == 1 else (b, ours)
            telling = [word for word in words if not word.entry.is_filler]
            found["initials"] = short in {initials_of(words), initials_of(telling)}
            found["three initials or more"] = found["initials"] and len(short) > 2
        elif is_directed(query) and is_directed(key):
            places = [int(row.argmax()) for row in spelled if row.max() > 0.8]
            found["turned round"] = places != sorted(places)
        return found

    def against(self, ours: list[Word], theirs: list[Word], table: Any) -> dict[str, float]:
        found = {}
        for name in _CONTRARY:
            free = [
                (1 - max([0, *np.delete(table["matched"][i], j)]))
                * (1 - max([0, *np.delete(table["matched"][:, j], i)]))
                for i, j in zip(*np.nonzero(table[name]), strict=True)
            ]
            found[name] = max([0.0, *free])
        found["denied"] = sum(word.entry.denies for word in [*ours, *theirs]) % 2
        small = [
            any(
                word.entry.is_function and strength < 0.8
                for word, strength in zip(words, table["spelled"].max(axis), strict=True)
            )
            for words, axis in ((ours, 1), (theirs, 0))
        ]
        unlike = float(table["unlike"].max(1) @ self.shares(ours))
        found |= {"other small words": all(small), "another word of like letters": unlike}
        return found

    def of_numbers(self, query: str, key: str) -> dict[str, float]:
        ours, theirs = self.words(query), self.words(key)
        texts = [" ".join(word.text for word in words) for words in (ours, theirs)]
        a, b = map(numbers_of, texts)
        if not a and not b:
            return {}
        counts = [(x.text, y.text) for x in ours for y in theirs]
        if not (a and b) and any(
            is_numeronym(x) != is_numeronym(y) and abbreviates(x, y) == 1 for x, y in counts
        ):
            return {}
        if other_code(*texts) or other_number(query, key):
            return {"other numbers": 1}
        is_date = sorted(a) == sorted(b) and len(a) == 3 and "4" in {str(len(one)) for one in a}
        if a == b or is_one_text(*texts) or is_date:
            return {"the same numbers": 1}
        more, less = Counter(a) - Counter(b), Counter(b) - Counter(a)
        return {
            "other numbers": bool(more) == bool(less),
            "numbers left out": bool(more) != bool(less),
        }

    def left_over(self, ours: list[Word], theirs: list[Word], table: Any) -> dict[str, float]:
        """Return how much of each nothing of the other matches, and how near this is."""
        left, vectors = [], []
        for words, axis in ((ours, 1), (theirs, 0)):
            is_left = table["matched"].max(axis) < 0.5
            shares = np.array(self.shares(words))
            part = shares * is_left * [not word.entry.is_filler for word in words]
            left.append(float(part.sum()))
            units = np.array([word.unit for word in words], np.float64)
            vectors += [part @ units, shares @ units]
        ours_left, _, theirs_left, whole = vectors
        return {
            "left over, of the query": left[0],
            "left over, of the key": left[1],
            "what is left over is near": max(cosine_of(ours_left, theirs_left), 0),
            "what is left over of the query is near the key": max(cosine_of(ours_left, whole), 0),
        }

    # ---- probabilities --------------------------------------------------------------------------

    def probabilities(self, query: str) -> dict[str, float]:
        rows = {key: np.array([*self.features(query, key).values()]) for key in self.keys}
        scaled = {key: (row - self.judge.center) / self.judge.scale for key, row in rows.items()}
        context = slice(CONTEXT, None)
        odds = {
            key: net_of(self.judge.which, row[WHICH], row[context]) for key, row in scaled.items()
        }
        best = max(odds, key=lambda key: odds[key])
        others = [number for key, number in odds.items() if key != best]
        lead = min(odds[best] - max(others, default=-math.inf), LEAD)
        share = 1 / sum(math.exp(number - odds[best]) for number in odds.values())
        told = np.append(scaled[best][:CONTEXT], [odds[best] / 5, lead / 5, share])
        right = expit(net_of(self.judge.whether, told, scaled[best][context]))
        tied = [key for key, number in odds.items() if number > odds[best] - 1e-4]
        right = min(right, 1 / len(tied))
        rest = {key: math.exp(odds[key] - odds[best]) for key in odds if key not in tied}
        left = max(1 - len(tied) * right, 1e-300)
        scale = min(right, left / sum(rest.values())) if rest else 0
        return dict.fromkeys(tied, right) | {key: scale * number for key, number in rest.items()}


def net_of(net: Net, x: Any, context: Any) -> float:
    inner = [
        float(x @ a + context @ b + start)
        for a, b, start in zip(net.A.T, net.B.T, net.b, strict=True)
    ]
    hidden = [*map(math.tanh, inner[: net.bounded])]
    hidden += [math.log1p(math.exp(one)) for one in inner[net.bounded :]]
    return float(np.array(hidden) @ net.c + x @ net.l + net.bias)


def assert_probabilities(d: FuzzyDict[Any], query: str) -> None:
    """Assert that the scores of all keys are those of the slow reference."""
    expected = Reference(d).probabilities(query)
    if query in d:
        expected[query] = 1.0
    found = {match.key: match.score for match in d.most_similar(query, None)}
    for key, score in expected.items():
        assert abs(found[key] - score) < 5e-3 * max(score, 0.02), (query, key, found[key], score)
