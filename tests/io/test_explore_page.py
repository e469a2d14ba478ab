"""The page of a dict as a file, and as people use it: queries, keys, colours, hostile texts."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from fuzzydict import Brown, FuzzyDict, WordVectors
from fuzzydict.errors import ArgumentTypeError, OptionError
from fuzzydict.io.explore import explore_page

from .javascript import browser, data_of, in_browser

CAR = {"brand": "Porsche", "color": "black", "top speed": "260 km/h", "price": 109000}
HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "<img src=x onerror='window.hacked = 1'>",
    "{{data}}{{title}}",
    'quotes " and \\u003c/script> and `${1}`',
    "]]>&lt;b>\u2028\u2029\x00\ud800",
]


class Elements(HTMLParser):
    """The elements of a page, as a browser would part them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


# ---- the file -----------------------------------------------------------------------------


def test_a_page_asks_for_nothing_from_elsewhere() -> None:
    # Not with the shipped words, one of which is "import".
    page = explore_page(FuzzyDict(CAR, embedding={"color": [1.0, 0.0]}))
    assert not re.search(r"https?:|//[a-z]|url\(|@import|fetch\(|XMLHttp|\bimport\b", page)
    elements = Elements(page)
    assert not [name for name, found in elements.elements if found.keys() & {"src", "href"}]
    (policy,) = [m["content"] for m in elements.all("meta") if "http-equiv" in m]
    assert policy is not None
    assert policy.startswith("default-src 'none';")


def test_a_page_of_the_shipped_vectors_is_below_6_mb() -> None:
    assert len(explore_page(FuzzyDict(CAR))) < 6e6


def test_a_page_has_a_title_and_labels_for_those_who_cannot_see_it() -> None:
    elements = Elements(explore_page(FuzzyDict(CAR), title="my car & co", words=50))
    assert ("html", {"lang": "en"}) in elements.elements
    labelled = {label["for"] for label in elements.all("label")}
    assert {control["id"] for control in elements.all("input")} <= labelled
    (query,) = [control for control in elements.all("input") if control.get("role") == "combobox"]
    assert "autofocus" in query
    assert query["aria-controls"] == "keys"
    (keys,) = [found for found in elements.all("ul") if found.get("role") == "listbox"]
    assert keys["id"] == "keys"
    assert keys["aria-label"]
    assert [found["id"] for found in elements.all("p") if found.get("role") == "status"]
    assert elements.all("noscript")


def test_light_and_dark_are_as_the_reader_has_them() -> None:
    page = explore_page(FuzzyDict(CAR), words=50)
    assert "color-scheme: light dark" in page
    assert "@media (prefers-color-scheme: dark)" in page


@pytest.mark.parametrize("text", HOSTILE)
def test_no_key_value_or_title_ends_its_element(text: str) -> None:
    page = explore_page(FuzzyDict({text: text, "color": text}), title=text, words=50)
    elements = Elements(page)
    plain = Elements(explore_page(FuzzyDict({"a": "b"}), words=50))
    assert [name for name, _ in elements.elements] == [name for name, _ in plain.elements]
    data = data_of(page)
    assert text in [*data["keys"], *(key for key, _ in data["exact"])]


def test_what_a_page_holds() -> None:
    d: FuzzyDict[Any] = FuzzyDict({"color": 1, "Porsche 911": 2, "?!": 3, 7: 4}, score_cutoff=0.3)
    data = data_of(explore_page(d, words=40))
    assert (data["keys"], data["values"]) == (["color", "Porsche 911"], ["1", "2"])
    assert (data["exact"], data["others"]) == ([["?!", "3"]], 1)
    assert data["pooling"] == {"shape": [], "size": 1, "numbers": [1.0, 2.0]}
    assert (data["cutoff"], data["temperature"]) == (0.3, 1.0)
    assert data["vocabulary"]["words"] == [*Brown().words[:40], "color"]
    assert len(data["vocabulary"]["omitted"]) == len(Brown()) - 41
    assert [word for word, _ in data["strangers"]] == ["911", "porsche"]
    assert data["vectors"]["shape"] == [43, Brown().size]


def test_a_page_says_where_what_ships_is_from() -> None:
    first, second = data_of(explore_page(FuzzyDict(CAR), words=5))["credits"]
    assert "Brown corpus, which is licensed for non-commercial use" in first
    assert "WordNet 3.0" in second
    plain = FuzzyDict(CAR, projections="identity")
    assert data_of(explore_page(plain, words=5))["credits"] == [first]
    own = FuzzyDict(CAR, embedding={"color": [1.0, 0.0]})
    assert data_of(explore_page(own))["credits"] == []


def test_the_constants_are_those_of_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    d = FuzzyDict({"color": 1})
    assert data_of(explore_page(d, words=5))["matching"]["far"] != 77.0
    monkeypatch.setattr("fuzzydict.search.features._FAR", 77.0)
    data = data_of(explore_page(d, words=5))
    assert data["matching"]["far"] == 77.0
    with d._lookup() as lookup:
        calibration = lookup.index.embedding.calibration
    assert data["calibration"] == calibration.weights().tolist()


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (["black", "white"], "texts"),
        ([1, "white"], "'white'"),
        ([[1, 2], [1, 2, 3]], "shape"),
    ],
)
def test_a_page_says_why_values_cannot_be_pooled(values: list[Any], why: str) -> None:
    d = FuzzyDict(dict(zip(["color", "price"], values, strict=True)))
    assert why in data_of(explore_page(d, words=5))["pooling"]["why_not"]


def test_a_dict_without_a_key_has_a_page() -> None:
    data = data_of(explore_page(FuzzyDict(), words=5))
    assert (data["keys"], data["pooling"]["why_not"]) == ([], "there is no value")


@pytest.mark.parametrize("words", [-1, 1.5, True, "many"])
def test_a_number_of_words_is_a_whole_one(words: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="words"):
        explore_page(FuzzyDict(CAR), words=words)


def test_other_scorers_and_models_are_refused() -> None:
    with pytest.raises(OptionError, match="'cosine'"):
        explore_page(FuzzyDict(CAR, scorer="cosine"))
    with pytest.raises(OptionError, match="WordVectors"):
        explore_page(FuzzyDict(CAR, embedding=Brown().encode))


# ---- in a browser -------------------------------------------------------------------------

TYPE = """
    const type = (text) => {
        view.query.value = text;
        view.query.dispatchEvent(new Event("input"));
    };
    const press = (key) => view.query.dispatchEvent(new KeyboardEvent("keydown", { key }));
    const shown = (id) => document.getElementById(id).textContent;
    const chosen = () => Array.from(document.querySelectorAll("[aria-selected=true]"), (row) =>
        [row.id, row.querySelector(".name").textContent]);
"""


@browser
def test_a_query_is_answered_while_it_is_typed_and_keys_are_chosen_by_the_keyboard() -> None:
    code = f"""{TYPE}
        const said = {{ focus: document.activeElement.id }};
        type("colour");
        said.answer = shown("answer");
        said.words = shown("words");
        said.first = chosen();
        press("ArrowUp");
        said.top = chosen();
        press("ArrowDown");
        said.second = chosen();
        said.active = view.query.getAttribute("aria-activedescendant");
        press("Enter");
        said.asked = view.query.value;
        said.equal = shown("answer");
        press("Escape");
        said.cleared = view.query.value;
        type("?!");
        said.nothing = shown("answer");
        type("qwzzt");
        said.refused = shown("answer");
        said.requests = performance.getEntriesByType("resource").length;
        return said;
    """
    d = FuzzyDict(CAR)
    said = in_browser(explore_page(d, words=500), code)
    assert said["focus"] == "query"
    assert said["answer"].startswith("Finds color, with a probability of ")
    assert said["answer"].endswith(": black")
    assert said["words"].startswith("colour never seen; for it color")
    assert said["first"] == said["top"] == [["key0", "color"]]
    ((place, second),) = said["second"]
    assert (place, said["active"]) == ("key1", "key1")
    assert said["asked"] == second
    assert said["equal"] == f"Finds {second}, an equal key: {CAR[second]}"
    assert said["cleared"] == ""
    assert "no letters or digits" in said["nothing"]
    assert said["refused"].startswith("No key matches: the nearest is ")
    assert said["requests"] == 0


@browser
def test_the_query_is_a_part_of_the_address() -> None:
    code = f"""{TYPE}
        type("top speed é");
        const kept = location.hash;
        type("\\ud800");
        const half = shown("answer");
        history.replaceState(null, "", "#colour");
        view.recall();
        const asked = view.query.value;
        history.replaceState(null, "", "#%E0%A4%A");
        view.recall();
        return [kept, half, asked, view.query.value];
    """
    kept, half, asked, broken = in_browser(explore_page(FuzzyDict(CAR), words=50), code)
    assert (kept, asked, broken) == ("#top%20speed%20%C3%A9", "colour", "")
    assert half == "No key matches: the query has no letters or digits to compare."


@browser
def test_the_temperature_changes_weights_and_the_pooled_value_and_no_probability() -> None:
    code = f"""{TYPE}
        const read = () => [".measure", "#pooled"].map((which) =>
            Array.from(document.querySelectorAll(which), (found) => found.textContent));
        type("crimson");
        const before = read();
        view.slider.value = view.slider.max;
        view.slider.dispatchEvent(new Event("input"));
        const after = read();
        document.getElementById("reset").click();
        return [before, after, read()];
    """
    d = FuzzyDict({"red": (255, 0, 0), "navy": (0, 0, 128)})
    before, after, reset = in_browser(explore_page(d, words=8000), code)
    assert before == reset
    assert before[0][0] == after[0][0]  # the probability of the first key
    assert float(before[0][1].split()[0]) > float(after[0][1].split()[0])  # and its weight
    assert before[1] != after[1]


@browser
def test_hostile_keys_are_shown_as_texts() -> None:
    keys = json.dumps(HOSTILE[:5]).replace("<", "\\u003c")  # for this is a script in the page, too
    code = f"""{TYPE}
        const seen = {keys}.map((key) => (type(key), chosen()[0][1]));
        return [seen, document.title, window.hacked ?? null, document.images.length];
    """
    page = explore_page(FuzzyDict(dict.fromkeys(HOSTILE, "<b>")), title=HOSTILE[0], words=50)
    assert in_browser(page, code) == [HOSTILE[:5], HOSTILE[0], None, 0]


@browser
def test_dark_is_dark_and_light_is_light() -> None:
    code = """const style = getComputedStyle(document.body);
        return [style.color, style.backgroundColor].map((color) =>
            color.match(/[0-9]+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0));"""
    page = explore_page(FuzzyDict(CAR), words=50)
    letters, ground = in_browser(page, code)
    assert letters < 200 < 600 < ground
    letters, ground = in_browser(page, code, "--blink-settings=preferredColorScheme=0")
    assert ground < 200 < 600 < letters


@browser
def test_a_page_of_one_key_of_none_and_of_vectors_of_ones_own() -> None:
    code = f"""{TYPE} type("hue"); return [shown("answer"), shown("rest")];"""
    vectors = WordVectors(["hue", "color"], [[1.0, 0.0], [0.9, 0.1]])
    one = FuzzyDict({"color": "black"}, embedding=vectors)
    answer, rest = in_browser(explore_page(one), code)
    assert answer.startswith("Finds color")
    assert rest.startswith("None of the keys: probability ")
    answer, rest = in_browser(explore_page(FuzzyDict(), words=5), code)
    assert answer.startswith("No key matches")
