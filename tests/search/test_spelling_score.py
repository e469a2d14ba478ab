"""`scorer="spelling"`: what is written alike, whatever it means."""

from __future__ import annotations

import pickle
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzydict import FuzzyDict, NoMatchError, OptionError, WordVectors
from fuzzydict.text.words import plain

SETTINGS = {"DB_PASSWORD": "secret", "DB_HOST": "localhost", "timeout": 3, "ssl_enabled": False}


def hard(*values: str) -> Any:
    """Return what the judge refuses or not, as it learned: one word or number more or less."""
    return pytest.param(*values, marks=pytest.mark.xfail(strict=False, reason="all but one word"))


@pytest.fixture
def settings() -> FuzzyDict[Any]:
    return FuzzyDict(SETTINGS, scorer="spelling")


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("db_passwd", "DB_PASSWORD"),  # an abbreviation
        ("db_pass", "DB_PASSWORD"),
        ("dbPassword", "DB_PASSWORD"),  # another style
        ("DB-HOST", "DB_HOST"),
        ("dbhost", "DB_HOST"),
        ("host_db", "DB_HOST"),  # another order
        ("the host of the db", "DB_HOST"),
        ("db_hosts", "DB_HOST"),  # another form
        ("enable_ssl", "ssl_enabled"),
        ("tmeout", "timeout"),  # a slip
        ("time_out", "timeout"),
        ("ssl_enabeld", "ssl_enabled"),
    ],
)
def test_what_is_the_key_written_otherwise(settings: FuzzyDict[Any], query: str, key: str) -> None:
    assert settings.nearest(query).key == key
    assert settings.get(query, "default") == SETTINGS[key]


@pytest.mark.parametrize(
    "query",
    [
        *("DB_PORT", "verify_ssl", "DB_USER", "SSH_HOST"),  # another word
        *map(hard, ("db", "host", "DB_PASSWORD_FILE", "read_timeout")),  # a word less, or one more
        *map(hard, ("timeout2", "DB_HOST_1")),  # another number
        *("deadline", "server", "credential", "DB_SERVER"),  # a synonym
        *("tls_enabled", "xqzzt", "9"),
    ],
)
def test_what_is_another_key(settings: FuzzyDict[Any], query: str) -> None:
    assert settings.get(query, "default") == "default"
    with pytest.raises(NoMatchError, match="below the cutoff"):
        settings.nearest(query)


def test_a_synonym_never_matches_though_it_is_near_in_meaning() -> None:
    d = FuzzyDict({"car": 1, "movie": 2, "price": 3})
    assert [d.nearest(query).key for query in ("automobile", "film")] == ["car", "movie"]
    d.scorer = "spelling"
    assert [d.get(query) for query in ("automobile", "film", "cost")] == [None, None, None]


def test_scores_are_probabilities(settings: FuzzyDict[Any]) -> None:
    for query in ("tmeout", "db", "xqzzt", "DB_HOST"):
        scores = [match.score for match in settings.most_similar(query, topn=None)]
        assert scores == sorted(scores, reverse=True)
        assert min(scores) >= 0
        assert sum(scores) <= 1 + 1e-3
    assert settings.nearest("DB_HOST").score == 1


def test_a_key_shared_by_two_is_doubtful() -> None:
    d = FuzzyDict({"temporal": 1, "template": 2}, scorer="spelling")
    first, second = [match.score for match in d.most_similar("temp")]
    assert 0.02 < second < first
    assert first + second <= 1


# ---- no embedding ---------------------------------------------------------------------------


@pytest.fixture
def no_embedding(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError("an embedding was loaded")

    monkeypatch.setattr(WordVectors, "encode", fail)
    monkeypatch.setattr(WordVectors, "load", fail)


@pytest.mark.usefixtures("no_embedding")
def test_no_embedding_is_loaded_or_called() -> None:
    def encode(texts: list[str]) -> None:
        raise AssertionError(texts)

    for embedding in (None, encode, {"db": [1.0, 0.0]}):
        d = FuzzyDict(SETTINGS, scorer="spelling", embedding=embedding)
        d["retries"] = 5
        assert d["retry"] == 5
        assert d.nearest(["tmeout", "db_hosts"])[1].key == "DB_HOST"
        assert d.attend("tmeout").top(1)[0][0] == "timeout"
        assert d.explain("tmeout").matches


def test_the_scorer_can_be_changed(settings: FuzzyDict[Any]) -> None:
    assert settings.get("DB_SERVER") is None
    settings.scorer = None
    assert settings.nearest("the db host").key == "DB_HOST"
    settings.scorer = "spelling"
    assert settings.attend("db host").keys.shape == (4, 0)


# ---- the other reads ------------------------------------------------------------------------


def test_pool_and_attend() -> None:
    d = FuzzyDict({"small": 1.0, "medium": 2.0, "large": 4.0}, scorer="spelling")
    assert d.pool("medum") == pytest.approx(2.0, abs=0.01)
    attention = d.attend("medum", attn_mask=lambda key: key != "medium")
    assert attention.weights[1] == 0
    np.testing.assert_allclose(attention.weights.sum(), 1)
    assert attention.query.shape == (0,)
    with pytest.raises(OptionError, match="map"):
        attention.plot(kind="map")


def test_explain_shows_spelling_and_words(settings: FuzzyDict[Any]) -> None:
    why = settings.explain("db_passwd")
    parts = why.best_parts
    assert why.best.key == "DB_PASSWORD"
    assert parts.spelling + parts.words > 0.5
    assert abs(parts.meaning) < 0.1


def test_an_index_makes_no_difference() -> None:
    pytest.importorskip("usearch")
    names = [f"{a}_{b}" for a in ("db", "web", "mail") for b in ("host", "port", "password")]
    exact, approximate = (
        FuzzyDict(zip(names, range(9), strict=True), scorer="spelling", index=index)
        for index in ("exact", "usearch")
    )
    for query in ("mail_prot", "passwd_web", "host"):
        assert approximate.most_similar(query) == exact.most_similar(query)


def test_copies_pickles_and_files(settings: FuzzyDict[Any], tmp_path: Path) -> None:
    settings.nearest("tmeout")
    settings.save(tmp_path / "settings.fuzzy")
    loaded: FuzzyDict[Any] = FuzzyDict.load(tmp_path / "settings.fuzzy")
    for other in (
        settings.copy(),
        settings | {"retries": 5},
        deepcopy(settings),
        pickle.loads(pickle.dumps(settings)),
        loaded,
    ):
        assert other.scorer == "spelling"
        assert other["tmeout"] == 3
        assert other.get("DB_PORT") is None


def test_deleted_keys_are_gone(settings: FuzzyDict[Any]) -> None:
    assert settings["tmeout"] == 3
    del settings["timeout"]
    assert settings.get("tmeout") is None
    settings["time_out"] = 4
    assert settings.most_similar("tmeout")[0].key == "time_out"


def test_fit_remembers_its_examples(settings: FuzzyDict[Any]) -> None:
    settings.fit({"server": "DB_HOST", "db_hosts": None})
    assert settings["server"] == "localhost"
    assert settings.get("db_hosts") is None
    assert (settings.scorer, settings["tmeout"]) == ("spelling", 3)


def test_unknown_names_of_scorers() -> None:
    with pytest.raises(OptionError, match="spelling, dot"):
        FuzzyDict(SETTINGS, scorer="speling")


texts = st.text("abcdeo _", min_size=1, max_size=12).filter(plain)


@given(st.lists(texts, min_size=1, max_size=8, unique=True), texts)
def test_scores_do_not_depend_on_the_order_of_keys(names: list[str], query: str) -> None:
    def scores(some: list[str]) -> dict[str, float]:
        d = FuzzyDict(dict.fromkeys(some), scorer="spelling")
        return {match.key: match.score for match in d.most_similar(query, topn=None)}

    ascending, descending = scores(names), scores(names[::-1])
    assert ascending == pytest.approx(descending, rel=1e-3, abs=1e-6)


@pytest.mark.parametrize(
    ("query", "other"),
    [("max_connections", "min_connections"), ("enable_ssl", "disable_ssl"), hard("http", "https")],
)
def test_opposites_and_other_initials_are_other_keys(query: str, other: str) -> None:
    assert FuzzyDict({other: 1}, scorer="spelling").get(query) is None


@pytest.mark.parametrize(
    ("query", "key"),
    [
        *(("maximum_connections", "max_conns"), ("database_host", "db_host"), ("qty", "quantity")),
        *(("dob", "date_of_birth"), ("dept", "department"), ("indices", "index")),
    ],
)
def test_abbreviations_and_forms_both_ways(query: str, key: str) -> None:
    for asked, held in ((query, key), (key, query)):
        assert FuzzyDict({held: 1, "timeout": 2}, scorer="spelling").get(asked) == 1
