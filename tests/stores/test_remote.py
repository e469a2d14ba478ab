"""`RemoteDict`: the reads of a FuzzyDict, over keys in any store."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import fuzzydict
from fuzzydict import (
    ArgumentTypeError,
    FuzzyDict,
    MissingExtraError,
    NoMatchError,
    OptionError,
    ReadOnlyError,
    RemoteDict,
    StoreError,
    connect,
)
from fuzzydict.stores.base import Alias, Known
from tests.stores.conftest import Connect, maker_of
from tests.support.memory_store import MemoryStore
from tests.support.postgres import server

CAR: dict[str, Any] = {"brand": "Porsche", "model": "Taycan", "color": "black", "top speed": 260}
CAR |= {"C": 1, "C++": 2, "C#": 3, "???": 4, "price": {"eur": 109000, "taxed": True}}
#: What is to be asked of few keys, too, as if they were many.
as_many = pytest.mark.parametrize("size", [0, 4096], ids=["searched", "whole"])
QUERIES = ["colour", "maximum speed", "prcie", "cost", "c++", "C#", "brnd", "brand", "???"]


@pytest.fixture
def remote(connect: Connect) -> Iterator[RemoteDict]:
    d = RemoteDict(connect()).open(create=True)
    d.update(CAR)
    yield d
    d.close()


def filled(items: dict[str, Any]) -> RemoteDict:
    d = RemoteDict(MemoryStore()).open(create=True)
    d.update(items)
    return d


def test_of_very_many_keys_twice_as_many_are_sought(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzzydict.stores.sampling.SAMPLE", 30)
    d, sought = filled({f"key {i}": i for i in range(80)}), list[Any]()
    search = d._store.search

    def noted(searches: Any, where: Any = ()) -> Any:
        sought.extend(searches)
        return search(searches, where)

    monkeypatch.setattr(d._store, "search", noted)
    d.nearest("key 7x", default=None)
    monkeypatch.setattr("fuzzydict.stores.sampling._MANY", 50)
    d.nearest("key 8x", default=None)
    assert [(one.near, one.spelled) for one in sought] == [(24, 24), (48, 24)]


# ---- reads -------------------------------------------------------------------------------------


@as_many
def test_reads_are_those_of_a_dict_with_the_same_items(
    remote: RemoteDict, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fuzzydict.stores.sampling.SAMPLE", size)
    d = FuzzyDict(CAR)
    for mine, its in zip(d.nearest(QUERIES), remote.nearest(QUERIES), strict=True):
        assert (its.key, its.value) == (mine.key, mine.value)
        assert its.score == pytest.approx(mine.score, abs=0.01)
    asked = [*QUERIES, None, "qwzzt"]
    assert remote.get_many(asked, "?") == d.get_many(asked, "?")
    for query in QUERIES:
        assert remote[query] == d[query]
        why, same = d.explain(query), remote.explain(query)
        assert (same.best.key, same.matches, same.equal) == (why.best.key, why.matches, why.equal)
        assert same.words == why.words
        ranked = [match.key for match in remote.most_similar(query, 3)]
        assert ranked[0] == d.most_similar(query, 1)[0].key


def test_a_query_without_a_key_is_refused_and_names_the_nearest(remote: RemoteDict) -> None:
    with pytest.raises(NoMatchError, match="no key matches 'qwzzt': the nearest is") as error:
        remote["qwzzt"]
    assert error.value.key in CAR
    assert remote.get("qwzzt") is None
    assert remote.get("qwzzt", 7) == 7
    assert remote.get("qwzzt", score_cutoff=0) == CAR[remote.most_similar("qwzzt", 1)[0].key]
    for query in (3, None, "", "!!", "a\x00b"):
        assert remote.get(query, "none") == "none", query
        with pytest.raises(NoMatchError):
            remote[query]
    with pytest.raises(TypeError, match="unhashable"):
        remote[["brand"]]


def test_weights_are_those_of_the_best_keys_and_values_are_pooled(connect: Connect) -> None:
    colors = {"red": [255, 0, 0], "navy": [0, 0, 128], "white": [255, 255, 255]}
    remote = RemoteDict(connect()).open(create=True)
    remote.update(colors)
    attention = remote.attend("redd", topn=2)
    assert attention.top(1)[0][0] == "red"
    assert len(attention.names) == 2
    assert attention.weights.sum() == pytest.approx(1)
    assert 0 <= attention.left_out < 0.01
    both = remote.attend(["redd", "navi"], topn=2)
    assert [one.top(1)[0][0] for one in both] == ["red", "navy"]
    assert remote.pool("redd") == pytest.approx(FuzzyDict(colors).pool("redd"), abs=1)
    remote.update({"red": 1, "navy": 2, "white": 3})
    assert remote.pool(["red", "navy"]).round().tolist() == [1, 2]


def test_options_are_attributes(remote: RemoteDict) -> None:
    remote.score_cutoff = 0.9999999
    assert remote.get("maximum speed") is None
    remote.score_cutoff = None
    assert remote["maximum speed"] == 260
    for name in ("embedding", "index", "projections", "mode"):
        with pytest.raises(ReadOnlyError, match=f"{name}: fixed"):
            setattr(remote, name, None)
    with pytest.raises(TypeError, match="no option 'cutoff'"):
        remote.cutoff = 1


def test_where_leaves_keys_out(connect: Connect) -> None:
    d = RemoteDict(connect()).open(create=True)
    d["Paris"] = {"country": "FR", "people": 2_100_000}
    d["Paris, Texas"] = {"country": "US", "people": 24_000}
    d["London"] = {"country": "GB", "people": 8_900_000}
    keys = [match.key for match in d.most_similar("Pariss", where={"country": ["US", "GB"]})]
    assert keys == ["Paris, Texas", "London"]
    (large,) = d.most_similar("Paris", where={"people": {"gt": 5_000_000}})
    assert large.key == "London"
    assert d.most_similar("Paris", where={"country": "XX"}) == []
    assert d.most_similar(["Paris", "London"], where={"country": "XX"}) == [[], []]
    assert d.most_similar("Paris")[0].key == "Paris"  # the filter was of one read
    d["???"] = {"country": "FR"}
    d.aliases["somewhere"] = "???"
    assert [one.key for one in d.most_similar("somewhere", where={"country": "FR"})] == ["???"]
    with pytest.raises(NoMatchError, match="no letters or digits"):
        d.most_similar("somewhere", where={"country": "US"})


def test_what_needs_every_key_is_refused(remote: RemoteDict) -> None:
    for read in (remote.attend, remote.most_similar):
        for topn in (None, 2000):
            with pytest.raises(OptionError, match="topn: a store lists at most 1024 keys"):
                read("colour", topn=topn)
    with pytest.raises(ArgumentTypeError, match="topn must be a whole number"):
        remote.most_similar("colour", "3")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="attn_mask"):
        remote.pool("colour", attn_mask=[True])
    for scorer in ("gaussian", "dot", "spelling"):
        with pytest.raises(OptionError, match="needs every key"):
            remote.scorer = scorer
    assert remote["colour"] == "black"


# ---- a dict --------------------------------------------------------------------------------------


def test_it_is_a_mapping_with_exact_membership_and_writes(remote: RemoteDict) -> None:
    assert len(remote) == len(CAR)
    assert dict(remote.items()) == CAR
    assert remote == CAR
    assert sorted(remote) == sorted(CAR)
    assert "colour" not in remote
    assert "color" in remote
    assert not remote.__contains__(3)
    remote["colour"] = "noir"
    assert (remote["color"], remote["colour"]) == ("black", "noir")
    assert remote.setdefault("colour", "x") == "noir"
    assert remote.setdefault("seats", 4) == 4
    assert remote.pop("seats") == 4
    assert remote.pop("seat", None) is None
    with pytest.raises(KeyError):
        remote.pop("colr")
    with pytest.raises(KeyError):
        del remote["colr"]
    del remote["colour"]
    assert remote == CAR
    assert ("model", "Taycan") in remote.items()
    assert ("modell", "Taycan") not in remote.items()
    key, value = remote.popitem()
    assert (CAR[key], len(remote)) == (value, len(CAR) - 1)
    remote.clear()
    assert (len(remote), list(remote), remote.get("colour")) == (0, [], None)
    with pytest.raises(NoMatchError, match="the dict is empty"):
        remote["colour"]
    with pytest.raises(KeyError):
        remote.popitem()


def test_what_a_store_can_hold_is_written_and_else_nothing(remote: RemoteDict) -> None:
    for items in ({3: 1}, {"a\x00b": 1}, {"a": {1, 2}}, {"a": float("nan")}, {"a": {3: 4}}):
        with pytest.raises(TypeError):
            remote.update(items)
    assert remote == CAR
    remote.clear()
    remote.update({"red": np.array([255, 0, 0]), "navy": (0, 0, 128), "n": np.float32(0.5)})
    assert dict(remote.items()) == {"red": [255, 0, 0], "navy": [0, 0, 128], "n": 0.5}


def test_many_items_are_written_in_blocks_with_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzzydict.stores.remote._TOGETHER", 100)
    told: list[tuple[int, int]] = []
    d = RemoteDict(MemoryStore()).open(create=True)
    d.update(((f"key {i}", i) for i in range(250)), progress=lambda *done: told.append(done))
    d.update({f"key {i}": -i for i in range(150)}, progress=lambda *done: told.append(done))
    assert told == [(100, 0), (200, 0), (250, 0), (100, 150), (150, 150)]
    assert (len(d), d["key 120"], d["key 200"]) == (250, -120, 200)
    with pytest.raises(ArgumentTypeError):
        d.update({f"color {i}": i if i < 150 else {i} for i in range(200)})
    assert (d["colour 99"], len(d)) == (99, 350)  # what was written before is there


# ---- what was taught -----------------------------------------------------------------------------


def test_aliases_are_those_of_the_store(remote: RemoteDict, connect: Connect) -> None:
    remote.aliases.update({"Hue": "color", "warranty": None})
    other = RemoteDict(connect()).open()
    assert other["hue"] == "black"
    assert other.nearest("HUE").score == 1
    assert other.get("warranty") is None
    with pytest.raises(NoMatchError, match="this was taught"):
        other["Warranty"]
    assert dict(other.aliases) == {"Hue": "color", "warranty": None}
    assert other.explain("hue").taught
    with pytest.raises(OptionError, match="no key of the dict"):
        remote.aliases["price tag"] = "prize"
    with pytest.raises(OptionError, match="no letters or digits"):
        remote.aliases["?!"] = "price"
    with pytest.raises(OptionError, match="'price' for 'color': 'color' is a key"):
        remote.aliases["color"] = "price"
    remote["warranty"] = 2
    remote.aliases.update(warranty=None)  # it was taught before it was a key
    remote.update(remote.copy())
    assert (remote["warranty"], remote.get("Warranty")) == (2, None)
    del other.aliases["warranty"]
    del remote["color"]
    assert dict(remote.aliases) == {}
    with pytest.raises(KeyError):
        del remote.aliases["hue"]


# ---- several clients -----------------------------------------------------------------------------


def test_a_client_that_is_connected_sees_that_another_wrote_the_first_keys() -> None:
    store = MemoryStore()
    first, other = (RemoteDict(store).open(create=True) for _ in range(2))
    assert first.get("colour") is None
    other.update({"???": 1, "!!!": 2, "...": 3})  # which have no words
    assert (first.get("colour"), other.get("colour")) == (None, None)
    other["color"] = "black"
    assert (first["colour"], other["colour"]) == ("black", "black")
    assert first["colour"] == RemoteDict(store)["colour"] == "black"


def test_clients_and_threads_may_read_and_write(remote: RemoteDict, connect: Connect) -> None:
    other = RemoteDict(connect()).open()
    for query in QUERIES:
        mine, its = (d.most_similar(query, 5) for d in (remote, other))
        assert [tuple(one) for one in mine] == [tuple(one) for one in its]
    other["seats"] = 4
    assert remote["seat"] == 4  # the next read sees it

    def write_and_read(i: int) -> Any:
        remote[f"number {i}"] = i
        return remote[f"number {i}"], remote["colour"]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(write_and_read, range(12))) == [(i, "black") for i in range(12)]
    assert len(remote) == len(CAR) + 13


# ---- many keys -----------------------------------------------------------------------------------


def test_scores_of_many_keys_are_nearer_to_those_of_a_dict_once_the_words_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in ("tests.support.memory_store", "fuzzydict.stores.sampling"):
        monkeypatch.setattr(f"{module}.SAMPLE", 200)
    words = fuzzydict.Brown().words[200:]
    names = [f"{words[i % 3]} {words[3 + i]}" for i in range(800)]  # a rare word in each
    names.append("toronto pearson")
    d: FuzzyDict[Any] = FuzzyDict(dict.fromkeys(names))
    remote = filled(dict.fromkeys(names))
    queries = [f"{name[1:]}s" for name in names[::40]]
    queries += [f"{name.split()[-1]} thing" for name in names[::30]]

    def apart() -> Any:
        both = zip(d.most_similar(queries, 1), remote.most_similar(queries, 1), strict=True)
        pairs = [(mine[0], its[0]) for mine, its in both]
        same = [abs(mine.score - its.score) for mine, its in pairs if mine.key == its.key]
        assert len(same) > 0.9 * len(pairs)  # where two are as good, the other may be the best
        return np.mean(same)

    estimated = apart()
    assert remote.build_index()
    assert apart() < estimated / 3 < 0.03
    assert remote.nearest("yyz").key == "toronto pearson"  # by another name


def test_each_change_is_seen_by_all_and_gives_the_scores_of_a_dict_with_the_same_keys() -> None:
    store = MemoryStore()
    clients = [RemoteDict(store).open(create=True) for _ in range(2)]
    d: FuzzyDict[Any] = FuzzyDict()
    chance = np.random.default_rng(0)
    words = fuzzydict.Brown().words[200:]
    names = [f"{one} {other}" for one in words[:10] for other in words[10:20]]
    for turn in range(12):
        for name in chance.choice(names, 8):
            key, writer = str(name), clients[turn % 2]
            if key in d and turn > 3:
                del d[key], writer[key]
            else:
                d[key] = writer[key] = turn
        query = f"{str(chance.choice(names))[1:]}s"
        expected = d.most_similar(query, 3)
        mine, its = (client.most_similar(query, 3) for client in clients)
        assert [tuple(one) for one in mine] == [tuple(one) for one in its]
        assert mine[0].score == pytest.approx(expected[0].score, abs=0.01)


_FORKED = """
import os, sys
from threading import Event, Thread
from fuzzydict import connect

def read():  # and not yet done, when the process is forked
    with d._store.lock:
        began.set()
        end.wait()

d = connect(sys.argv[1], create=True)
d["color"] = 1
assert d["colour"] == 1
began, end = Event(), Event()
Thread(target=read).start()
began.wait()
if not (child := os.fork()):
    d["brand"] = 2
    assert (d["colour"], d["brnd"]) == (1, 2)
    d.close()
    del d
    sys.exit(0)
end.set()
assert os.waitpid(child, 0)[1] == 0
print(d["colour"], d["brnd"])
d.close()
"""


@pytest.mark.more
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.parametrize("kind", ["postgres", "qdrant"])
def test_a_forked_process_makes_connections_of_its_own(
    kind: str, request: pytest.FixtureRequest
) -> None:
    if kind == "postgres":
        url = server().url(table="forked")
    else:
        maker_of("qdrant-server", request)  # which drops the collection in the end
        url = f"qdrant://127.0.0.1:{request.getfixturevalue('qdrant_port')}/test"
    command = [sys.executable, "-W", "ignore", "-c", _FORKED, url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert (done.stdout, done.stderr) == ("1 2\n", "")


def vectors_of_few(texts: list[str]) -> Any:
    """Return zeros for texts that it does not know, as an encoder may."""
    return np.array([[float("color" in text), float("brand" in text)] for text in texts])


@as_many
@pytest.mark.parametrize("keys", [["color", "brand", "price"], ["price", "year"]])
def test_an_encoder_may_know_none_of_the_words(
    connect: Connect, keys: list[str], size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fuzzydict.stores.sampling.SAMPLE", size)
    d = RemoteDict(connect(), embedding=vectors_of_few).open(create=True)
    d.update(dict.fromkeys(keys, 1))
    same = FuzzyDict(dict.fromkeys(keys, 1), embedding=vectors_of_few)
    for query in ("prices", "qwzzt"):
        mine, its = d.most_similar(query, 1), same.most_similar(query, 1)
        assert mine[0].key == its[0].key or its[0].score < 0.5
        assert mine[0].score == pytest.approx(its[0].score, abs=0.01 if size else 0.1)


class Removing(MemoryStore):
    """A store of which another client removes what was found, so many times."""

    times = 1

    def rows(self, keys: Sequence[str], words: Sequence[str] = ()) -> Known:
        if self.times and keys == ["color"]:
            self.times -= 1
            if self.times == 0:
                self.remove(["color"])
            return Known({}, {}, self._version)
        return super().rows(keys, words)


def test_an_encoder_may_wait_for_a_thread_that_reads_the_same_keys() -> None:
    asked = list[list[str]]()

    def waiting(texts: list[str]) -> Any:
        if "colour" in texts and ["brnd"] not in asked:
            assert pool.submit(d.get, "brnd", "?").result(60) == 2
        asked.append(texts)
        return vectors_of_few(texts) + 0.1

    with ThreadPoolExecutor(1) as pool:
        d = RemoteDict(MemoryStore(), embedding=waiting).open(create=True)
        d.update({"color": 1, "brand": 2})
        asked.clear()
        assert d["colour"] == 1
    assert asked == [["brnd"], ["colour"]]  # a query each, and nothing else


def test_a_key_that_is_removed_meanwhile_is_not_found_by_itself_or_an_alias() -> None:
    d = RemoteDict(Removing()).open(create=True)
    d.update(CAR)
    assert d.get("colour") != "black"
    store = Removing()
    store.times = 100
    d = RemoteDict(store).open(create=True)
    d.update(CAR)
    with pytest.raises(StoreError, match="again and again"):
        d["colour"]
    d = filled(CAR)
    d._store.teach([Alias("qwzzt", "qwzzt", "tint")])  # as if its key were removed at that moment
    assert d.get("qwzzt") is None
    assert d.get_many(["qwzzt", "brand"]) == [None, "Porsche"]
    assert not d.explain("qwzzt").matches


# ---- opening -------------------------------------------------------------------------------------


def test_what_is_not_there_or_was_written_otherwise_is_said(connect: Connect) -> None:
    with pytest.raises(StoreError, match=r"no keys were written there; connect\(url, create=True"):
        RemoteDict(connect()).open()
    RemoteDict(connect()).open(create=True)
    with pytest.raises(OptionError, match=r"the store was saved with .* loaded with .*english"):
        RemoteDict(connect(), embedding="english").open()
    for change in ({"format": 1}, {"ngrams": [1]}, {"format": "x" * 100}):
        d = filled(CAR)
        d._store.__dict__["_meta"] |= change
        with pytest.raises(StoreError, match="another version of fuzzydict wrote it"):
            RemoteDict(d._store).open()


#: What is wrong in addresses of each kind; S3cr3t is the password, or a part of it.
WRONG = {
    "postgresql://": """me:S3cr3t@host/db?table= me:S3cr3t@host/db?table=a.b.c
        me:S3cr3t@host/db?table=a. me:S3cr3t@host/db?table=a%00b me:S3cr3t@host/db?partitions=-1
        me:S3cr3t@host/db?partitions=many me:S3cr3t@host/db?partitions=%C2%B2
        me:S3cr3t@host/db?partitions=9999999 me:S3cr3t@host/db?tabel=keys me:S3cr3t%zz@host/db
        me:one@S3cr3t@host/db me:1/S3cr3t@host/db me:S3cr3t@host/db?table=100%25
        me@host:S3cr3t/db me@host/db;password=S3cr3t me@host/?dbname=db%20password%3DS3cr3t
        me:S3cr3t@host/db?table="""
    + "a" * 60,
    "qdrant://": """localhost:x/words?api_key=S3cr3t localhost:99999/words?api_key=S3cr3t
        /words?api_key=S3cr3t S3cr3t@localhost/words :S3cr3t@localhost/words
        localhost?api_key=S3cr3t localhost/?api_key=S3cr3t localhost/a/b?api_key=S3cr3t
        localhost/..?api_key=S3cr3t localhost/words?apikey=1&api_key=S3cr3t
        localhost/words?api_key=S3cr3t&api_key=S3cr3t h/words?api_key=S3cr3t%0A
        h/words?api_key=S3cr3té localhost/words?https=yes&api_key=S3cr3t
        localhost/words?shards=0&api_key=S3cr3t localhost/words?replicas=-1&api_key=S3cr3t
        localhost/words?api_key= localhost/words?shards=many&api_key=S3cr3t""",
}


@pytest.mark.parametrize(
    ("scheme", "package"), [("postgresql://", "psycopg"), ("qdrant://", "qdrant_client")]
)
def test_a_wrong_address_is_refused_without_its_password(
    scheme: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(package)
    for rest in WRONG[scheme].split():
        with pytest.raises(OptionError) as error:
            connect(scheme + rest)
        assert "S3c" not in str(error.value), rest
    monkeypatch.setitem(sys.modules, package, None)
    for name in ("postgres", "qdrant"):
        monkeypatch.delitem(sys.modules, f"fuzzydict.stores.{name}", raising=False)
    with pytest.raises(MissingExtraError, match="pip install"):
        connect(f"{scheme}host/keys")


def test_an_address_of_another_kind_is_refused_without_its_password() -> None:
    urls: list[Any] = ["", "keys.json", 3, "mysql://me:secret@host/db", "me:secret@host/db"]
    for url in urls:
        with pytest.raises(OptionError, match="url: expected postgresql://") as error:
            fuzzydict.connect(url)
        assert "secret" not in str(error.value)
    with pytest.raises(TypeError, match="has no address"):
        pickle.dumps(filled({}))


class Racing(MemoryStore):
    """A store where another client is the first to remove a key, so many times."""

    first = 1

    def remove(self, keys: Sequence[str]) -> int:
        removed = super().remove(keys)
        self.first -= 1
        return 0 if self.first >= 0 else removed


def test_what_two_clients_pop_one_of_them_gets() -> None:
    d = RemoteDict(Racing()).open(create=True)
    d.update(CAR)
    assert d.pop("color", "?") == "?"
    assert d.pop("model", "?") == "Taycan"
    d._store.__dict__["first"] = 1
    key, value = d.popitem()
    assert (CAR[key], len(d)) == (value, len(CAR) - 4)
