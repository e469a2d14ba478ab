"""`PostgresStore` and its server: what fails, what is lost, and several at once."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Event, Thread
from time import sleep
from typing import Any

import numpy as np
import pytest

from fuzzydict import MissingExtraError, OptionError, StoreError, connect
from fuzzydict.stores.base import Alias, Store
from fuzzydict.stores.values import conditions_of
from tests.support.interrupting import at_line
from tests.support.postgres import Server, server
from tests.support.stores import META, E, all_rows, check_found, nearness, row, rows_of, search

pytest.importorskip("psycopg", reason="psycopg is not installed (extra postgres)")
from fuzzydict.stores.postgres import Address, PostgresStore

pytestmark = pytest.mark.more

_NUMBERS = count()


@pytest.fixture
def postgres() -> Server:
    return server()


@pytest.fixture
def table() -> str:
    """Return a name that no other test uses."""
    return f"faults {next(_NUMBERS)}"


@pytest.fixture
def store(postgres: Server, table: str) -> Iterator[PostgresStore]:
    store = PostgresStore(postgres.url(table=table))
    store.create(E, META)
    yield store
    store.drop()
    store.close()


def refused(store: Store) -> str:
    with pytest.raises(StoreError) as error:
        store.count()
    assert str(error.value).startswith(store.place)
    return str(error.value)


# ---- the address --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "query",
    [
        "application_name=b%20c&partitions=4&table=x.y&sslmode=disable",
        "table=x.y&application_name=b%20c&sslmode=disable&partitions=4",
    ],
)
def test_all_but_our_own_parameters_go_to_libpq(query: str) -> None:
    address = Address.of(f"postgresql://me@host:99/db?{query}")
    known = {"application_name": "b c", "sslmode": "disable"}
    expected = {"user": "me", "host": "host", "port": "99", "dbname": "db", **known}
    place = "postgresql://host:99/db?table=x.y"
    assert address == (expected, ["x", "y"], 4, place)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:Geheim@host/db?table=",
        "postgresql://me:Geheim@host/db?table=a.b.c",
        "postgresql://me:Geheim@host/db?table=a.",
        "postgresql://me:Geheim@host/db?table=" + "a" * 60,
        "postgresql://me:Geheim@host/db?table=a%00b",
        "postgresql://me:Geheim@host/db?partitions=-1",
        "postgresql://me:Geheim@host/db?partitions=many",
        "postgresql://me:Geheim@host/db?partitions=%C2%B2",
        "postgresql://me:Geheim@host/db?partitions=9999999",
        "postgresql://me:Geheim@host/db?tabel=keys",
        "postgresql://me:Geheim%zz@host/db",
        "postgresql://me:one@Geheim@host/db",
        "postgresql://me:1/Geheim@host/db",
        "postgresql://me:Geheim@host/db?table=100%25",
    ],
)
def test_a_url_that_is_not_valid_is_refused_without_its_password(url: str) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(OptionError) as error:
        PostgresStore(url)
    assert "Gehe" not in str(error.value)


def test_the_extra_is_named_if_psycopg_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.delitem(sys.modules, "fuzzydict.stores.postgres", raising=False)
    with pytest.raises(MissingExtraError, match=r"fuzzydict\[postgres\]"):
        connect("postgresql://host/db")


# ---- a server that refuses ----------------------------------------------------------------------


def test_no_server() -> None:
    pytest.importorskip("psycopg")
    store = PostgresStore("postgresql://me:Geheim@127.0.0.1:1/db?table=keys")
    said = refused(store)
    assert store.place == "postgresql://127.0.0.1:1/db?table=keys"
    assert "refused" in said
    assert "Geheim" not in said


def test_a_wrong_password_is_not_shown(postgres: Server) -> None:
    postgres.run("DROP ROLE IF EXISTS guarded")
    postgres.run("CREATE ROLE guarded LOGIN PASSWORD 'right'")
    rules = postgres.folder / "data" / "pg_hba.conf"
    rules.write_text("local all guarded scram-sha-256\n" + rules.read_text())
    postgres.run("SELECT pg_reload_conf()")
    assert PostgresStore(postgres.url("guarded:right")).meta() is None
    for user in ("guarded:Geheim", "guarded"):
        with pytest.raises(StoreError) as error:
            PostgresStore(postgres.url(user)).meta()
        assert "password" in str(error.value)
        assert "Geheim" not in str(error.value)
        assert error.value.__suppress_context__


def test_a_database_that_is_not_there(postgres: Server) -> None:
    store = PostgresStore(postgres.url(dbname="nowhere"))
    assert 'database "nowhere" does not exist' in refused(store)


def test_a_table_or_schema_that_is_not_there(postgres: Server) -> None:
    assert "nothing was created" in refused(PostgresStore(postgres.url(table="nowhere")))
    store = PostgresStore(postgres.url(table="nowhere.keys"))
    assert store.meta() is None
    with pytest.raises(StoreError, match="schema"):
        store.create(E, META)


def test_a_table_in_a_schema(postgres: Server) -> None:
    postgres.run('CREATE SCHEMA IF NOT EXISTS "a shop"')
    store = PostgresStore(postgres.url(table="a shop.keys"))
    store.create(E, META)
    store.write([row("red", 1)])
    assert store.rows(["red"]).values == {"red": 1}
    store.drop()


@pytest.mark.parametrize("suffix", ["", "_aliases", "_meta"])
def test_a_table_that_holds_something_else_stays(postgres: Server, table: str, suffix: str) -> None:
    postgres.run(f'CREATE TABLE "{table}{suffix}" (mine text)')
    store = PostgresStore(postgres.url(table=table))
    with pytest.raises(StoreError, match="holds something else"):
        store.create(E, META)
    if suffix != "_aliases":
        with pytest.raises(StoreError, match="holds something else"):
            store.drop()
    else:
        store.drop()
    postgres.run(f'INSERT INTO "{table}{suffix}" VALUES (1)')
    names = f"relname LIKE '{table}%' AND relkind = 'r'"
    assert postgres.run(f"SELECT relname FROM pg_class WHERE {names}") == [(table + suffix,)]


def test_a_user_who_may_not_create(postgres: Server) -> None:
    postgres.run("DROP DATABASE IF EXISTS bare")
    postgres.run("CREATE DATABASE bare")
    postgres.run("DROP ROLE IF EXISTS reader")
    postgres.run("CREATE ROLE reader LOGIN")
    with pytest.raises(StoreError, match="CREATE EXTENSION vector"):
        PostgresStore(postgres.url("reader", dbname="bare")).create(E, META)
    PostgresStore(postgres.url(dbname="bare")).create(E, META)
    with pytest.raises(StoreError, match="permission denied"):
        PostgresStore(postgres.url("reader", dbname="bare", table="own")).create(E, META)


def test_a_user_who_may_only_read_reads(postgres: Server, store: PostgresStore, table: str) -> None:
    store.write(rows_of(5))
    postgres.run("DROP ROLE IF EXISTS onlooker")
    postgres.run("CREATE ROLE onlooker LOGIN")
    for suffix in ("", "_aliases", "_meta"):
        postgres.run(f'GRANT SELECT ON "{table}{suffix}" TO onlooker')
    onlooker = PostgresStore(postgres.url("onlooker", table=table))
    assert onlooker.meta() == META
    onlooker.create(E, {"another": 1})
    assert onlooker.count() == 5
    assert len(all_rows(onlooker)) == 5
    assert onlooker.search([search("amber 0", 1)])[0].near[0].key == "amber 0"
    assert "must be owner" in str(onlooker.build_index())
    for call in (
        lambda: onlooker.write([row("red")]),
        lambda: onlooker.remove(["amber 0"]),
        lambda: onlooker.teach([Alias("a", "a", None)]),
        onlooker.clear,
        onlooker.drop,
    ):
        with pytest.raises(StoreError, match=r"permission denied|must be owner"):
            call()
    assert (store.count(), store.meta()) == (5, META)
    postgres.run("DROP OWNED BY onlooker")


def test_vectors_too_long_for_an_index(postgres: Server, table: str) -> None:
    store = PostgresStore(postgres.url(table=table))
    with pytest.raises(StoreError, match="4000"):
        store.create(4001, META)
    assert store.meta() is None
    store.create(4000, META)
    long = np.ones(4000, np.float32) / np.float32(4000**0.5)
    store.write([row("long")._replace(vector=long)])
    (page,) = store.pages(10, vectors=True)
    assert page[0].vector is not None
    assert np.allclose(page[0].vector, long, rtol=1e-3)
    store.drop()


# ---- a connection that is lost ------------------------------------------------------------------


def end_connections(postgres: Server) -> None:
    postgres.run(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
        " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
    )


def test_a_call_after_the_server_ended_the_connection_makes_another(
    postgres: Server, store: PostgresStore
) -> None:
    for call in (
        lambda: store.write([row("red", 1)]),
        lambda: store.teach([Alias("crimson", "crimson", "red")]),
        store.count,
        lambda: store.search([search("red")]),
        lambda: all_rows(store),
        lambda: store.sample([]),
        store.meta,
        lambda: store.remove(["red"]),
    ):
        end_connections(postgres)
        call()
    assert (store.count(), list(store.aliases())) == (0, [])


# A connection that is dropped before it is closed is closed as it goes, with a warning.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("kind", [KeyboardInterrupt, ValueError])
def test_an_exception_at_any_line_of_a_read_leaves_no_connection_amid_something(
    store: PostgresStore, kind: type[BaseException]
) -> None:
    store.write([row("red", 1)])

    def read() -> None:
        assert store.rows(["red"], ["crimson"]).values == {"red": 1}

    # Not at lines of the client: a tracer may raise there while a lock is held, as no signal does.
    lines = at_line(read, 0, kind, _is_ours)
    for place in range(1, lines + 1):
        at_line(read, place, kind, _is_ours)
        read()
    store.write([row("blue", 2)])
    assert store.count() == 2


def _is_ours(path: str) -> bool:
    return path.endswith("stores/postgres.py")


def test_a_connection_that_ends_amid_reads_is_made_again(
    postgres: Server, store: PostgresStore
) -> None:
    """Whatever a read is doing when the server ends it, this read or the next one answers."""
    store.write([row("red", 1)])
    stop = Event()

    def end_some() -> None:
        while not stop.wait(0.02):
            end_connections(postgres)

    ender = Thread(target=end_some)
    ender.start()
    failed = 0
    for _ in range(200):
        try:
            assert store.rows(["red"]).values == {"red": 1}
        except StoreError:  # ended twice
            failed += 1
    stop.set()
    ender.join()
    assert failed < 200
    assert store.rows(["red"]).values == {"red": 1}


def test_a_connection_that_ends_amid_a_write_writes_all_once(
    postgres: Server, store: PostgresStore, table: str
) -> None:
    import psycopg

    store.write([row("red", 1)])
    with psycopg.connect(postgres.url()) as other:
        other.execute(f'LOCK TABLE "{table}_meta"')
        with ThreadPoolExecutor(1) as pool:
            done = pool.submit(store.write, rows_of(10))
            waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            while not (found := postgres.run(waiting)):
                pass
            postgres.run(f"SELECT pg_terminate_backend({found[0][0]}, 5000)")
            other.rollback()
            done.result()
    assert store.count() == len(all_rows(store)) == 11


def test_what_was_written_before_the_server_is_killed_is_there(
    postgres: Server, store: PostgresStore, table: str
) -> None:
    acknowledged: list[int] = []
    begun, failures = Event(), list[StoreError]()

    def push() -> None:
        other = PostgresStore(postgres.url(table=table))
        try:
            for block in range(10_000):
                other.write([row(f"{block} {i}", block) for i in range(50)])
                acknowledged.append(block)
                if block == 3:
                    begun.set()
        except StoreError as error:
            failures.append(error)

    pusher = Thread(target=push)
    pusher.start()
    begun.wait(60)
    postgres.kill()
    pusher.join(60)
    assert not pusher.is_alive()
    assert refused(store)
    postgres.start()
    found = all_rows(store)
    blocks = {one.value for one in found.values()}
    assert len(failures) == 1
    assert set(acknowledged) <= blocks
    assert store.count() == len(found) == 50 * len(blocks)  # each as a whole or not at all
    for block in range(len(acknowledged) + 2):
        store.write([row(f"{block} {i}", block) for i in range(50)])
    assert store.count() == len(all_rows(store)) == 50 * (len(acknowledged) + 2)
    assert store.search([search("3 7", 1, 1)])[0].near[0].key == "3 7"


# ---- several at once ----------------------------------------------------------------------------


def test_the_count_is_that_of_all_writers(postgres: Server, table: str) -> None:
    stores = [PostgresStore(postgres.url(table=table)) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda one: one.create(E, META), stores))

        def work(number: int) -> None:
            chance = np.random.default_rng(number)
            for _ in range(15):
                names = [f"key {i}" for i in chance.choice(60, 20, replace=False)]
                if chance.random() < 0.4:
                    stores[number].remove(names)
                else:
                    stores[number].write([row(name, number) for name in names])

        list(pool.map(work, range(4)))
    assert stores[0].count() == len(all_rows(stores[0]))
    for one in stores:
        one.close()
    stores[0].drop()


_FORKED = """
import os, sys
from fuzzydict.stores.postgres import PostgresStore
from fuzzydict.stores.base import Row
import numpy as np
store = PostgresStore(sys.argv[1])
assert store.count() == 1
if not (child := os.fork()):
    store.write([Row("blue", 2, None, np.zeros(0, np.int64))])
    store.close()
    del store
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
print(store.rows(["red", "blue"]).values)
"""


def test_a_forked_process_makes_a_connection_of_its_own(
    postgres: Server, store: PostgresStore, table: str
) -> None:
    store.write([row("red", 1)])
    command = [sys.executable, "-c", _FORKED, postgres.url(table=table)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("{'red': 1, 'blue': 2}\n", "")


# ---- what could be taken for SQL ----------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ['x"; DROP TABLE "precious"; --', "x'); DROP TABLE precious; --", "$1 {keys}", "SELECT"]
)
def test_no_name_and_no_text_is_taken_for_sql(postgres: Server, name: str) -> None:
    postgres.run("DROP TABLE IF EXISTS precious")
    postgres.run("CREATE TABLE precious ()")
    store = PostgresStore(postgres.url(table=name))
    store.create(E, {name: name})
    store.write([row(name, {name: name}), row("other", {"a": name})])
    store.teach([Alias(name, name, name)])
    assert store.meta() == {name: name}
    assert store.rows([name], [name])[:2] == ({name: {name: name}}, {name: name})
    for where in ({name.replace(".", " "): name}, {"a": name}):
        (hits,) = store.search([search(name)], conditions_of(where))
        assert [hit.key for hit in hits.near] == [name if name in where else "other"]
    assert store.forget([name]) == store.remove([name]) == 1
    assert [one.key for one in all_rows(store).values()] == ["other"]
    store.drop()
    assert postgres.run("SELECT count(*) FROM precious") == [(0,)]


# ---- the search ---------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["", "4"], ids=["one table", "partitions"])
def large(request: pytest.FixtureRequest) -> Iterator[PostgresStore]:
    """Return a store with indexes, which the server takes though comparing all is as quick."""
    partitions = {"partitions": request.param} if request.param else {}
    partitions["options"] = "-c enable_seqscan=off"
    store = PostgresStore(server().url(table=f"large {next(_NUMBERS)}", **partitions))
    store.create(E, META)
    store.write(rows_of(2800))
    assert [store.build_index() for _ in range(2)] == [None, None]
    store.write(rows_of(3000)[2800:] + rows_of(10))
    yield store
    store.drop()
    store.close()


def test_the_index_finds_what_comparing_all_finds(large: PostgresStore) -> None:
    rows = rows_of(3000)
    assert large.count() == 3000
    asked = [search(text, 10, 0) for text in ("amber 3", "blak 44", "qwzzt", "olive 2222")]
    for one, hits in zip(asked, large.search(asked), strict=True):
        check_found(hits.near, rows, one, nearness, 10)
    for key in [one.key for one in rows[::500]]:
        (hits,) = large.search([search(key, 1, 1)])
        assert (hits.near[0].key, hits.spelled[0].key) == (key, key)


def test_the_index_is_built_once_and_used(large: PostgresStore) -> None:
    table = large.place.rpartition("=")[2]
    built = "SELECT count(*) FROM pg_indexes WHERE indexdef ~ 'hnsw' AND tablename ~"
    assert server().run(f"{built} '^{table}(_[0-9])?$'") in ([(1,)], [(4,)])  # of each partition
    used = f"SELECT sum(idx_scan) FROM pg_stat_user_indexes WHERE relname ~ '^{table}(_[0-9])?$'"
    (before,) = server().run(used)
    large.search([search("amber 3")])
    large.close()  # after which the server counts, in its own time
    waited = 0
    while server().run(used) <= [before] and waited < 100:
        sleep(0.1)
        waited += 1
    assert server().run(used) > [before]


@pytest.mark.parametrize("where", [{"name": "amber"}, {"number": 2999}, {"number": {"gte": 2990}}])
def test_a_filter_that_few_satisfy_still_finds_them(large: PostgresStore, where: Any) -> None:
    asked, name, number = search("amber 3", 20, 0), where.get("name"), where.get("number")
    rows = (
        [one for one in rows_of(3000) if one.value["name"] == name]
        if name
        else rows_of(3000)[number if isinstance(number, int) else 2990 :]
    )
    (hits,) = large.search([asked], conditions_of(where))
    check_found(hits.near, rows, asked, nearness, 20)


def test_values_keep_the_order_of_fields_and_every_number(store: PostgresStore) -> None:
    value = {"b": 1e22, "a": -0.0, "aa": [10**400, 0.1 + 0.2, 5e-324, 1.0], "": {"z": 1, "y": 2}}
    store.write([row("red", value)])
    assert repr(store.rows(["red"]).values) == repr({"red": value})
    (hits,) = store.search([search("red")], conditions_of({"b": 1e22}))
    assert [hit.key for hit in hits.near] == ["red"]
