"""`PostgresStore` and its server: what fails, what is lost, and several at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Barrier, Event
from typing import Any

import pytest

from fuzzydict import Brown, FuzzyDict, RemoteDict, StoreError, StoreWarning, connect
from fuzzydict.stores.base import Alias, Counts, Store, id_of
from fuzzydict.stores.values import conditions_of
from tests.support.frames import until
from tests.support.interrupting import at_line
from tests.support.postgres import Server, server
from tests.support.proxy import proxy
from tests.support.stores import (
    CALLS,
    META,
    E,
    all_rows,
    check_found,
    nearness,
    row,
    rows_of,
    search,
)

pytest.importorskip("psycopg", reason="psycopg is not installed (extra postgres)")
import psycopg

from fuzzydict.stores.postgres import PostgresStore

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
    store.close()


def refused(store: Store) -> str:
    with pytest.raises(StoreError) as error:
        store.count()
    assert str(error.value).startswith(store.place)
    assert "Geheim" not in str(error.value)
    return str(error.value)


# ---- a server that refuses ----------------------------------------------------------------------


def test_what_is_not_there_is_said(postgres: Server) -> None:
    store = PostgresStore("postgresql://me:Geheim@127.0.0.1:1/db?table=keys")
    assert "refused" in refused(store)
    assert store.place == "postgresql://127.0.0.1:1/db?table=keys"
    with proxy(postgres.sockets) as running:  # to a server that speaks no TLS
        address = f"postgresql://me:Geheim@127.0.0.1:{running.port}/db?sslmode=require"
        assert "does not support SSL, but SSL was required" in refused(PostgresStore(address))
    nowhere = PostgresStore(postgres.url(dbname="nowhere"))
    assert 'database "nowhere" does not exist' in refused(nowhere)
    assert "nothing was created" in refused(PostgresStore(postgres.url(table="nowhere")))
    store = PostgresStore(postgres.url(table="a shop.keys"))
    for dimensions, said in ((E, "schema"), (4001, "4000")):  # the most that an index takes
        with pytest.raises(StoreError, match=said):
            store.create(dimensions, META)
        assert store.meta() is None
    postgres.run('CREATE SCHEMA "a shop"')
    store.create(E, META)
    store.write([row("red", 1)])
    assert store.rows(["red"]).values == {"red": 1}


def test_a_wrong_password_is_not_shown(postgres: Server) -> None:
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


def test_a_table_that_holds_something_else_stays(postgres: Server, table: str) -> None:
    for suffix in ("", "_aliases", "_meta"):
        postgres.run(f'CREATE TABLE "{table}{suffix}" (mine text)')
        store = PostgresStore(postgres.url(table=table))
        with pytest.raises(StoreError, match="holds something else"):
            store.create(E, META)
        store.close()
        names = f"relname LIKE '{table}%' AND relkind = 'r'"
        assert postgres.run(f"SELECT relname FROM pg_class WHERE {names}") == [(table + suffix,)]
        postgres.run(f'DROP TABLE "{table}{suffix}"')


def test_a_user_who_may_not_create(postgres: Server) -> None:
    postgres.run("CREATE DATABASE bare")
    postgres.run("CREATE ROLE reader LOGIN")
    with pytest.raises(StoreError, match="CREATE EXTENSION vector"):
        PostgresStore(postgres.url("reader", dbname="bare")).create(E, META)
    PostgresStore(postgres.url(dbname="bare")).create(E, META)
    with pytest.raises(StoreError, match="permission denied"):
        PostgresStore(postgres.url("reader", dbname="bare", table="own")).create(E, META)


@pytest.fixture(scope="module")
def indexes() -> None:
    """Skip where pgvector of the wheel has instructions that the processor lacks."""
    rows = "CREATE TEMP TABLE probe AS SELECT '[1,2,3]'::halfvec(3) AS v FROM generate_series(1, 3)"
    try:
        server().run(f"{rows}; CREATE INDEX ON probe USING hnsw (v halfvec_cosine_ops)")
    except psycopg.OperationalError:
        pytest.skip("an index of vectors ends the server: it was built for another processor")


@pytest.mark.usefixtures("indexes")
def test_a_user_who_may_only_read_reads(postgres: Server, store: PostgresStore, table: str) -> None:
    store.write(rows_of(5))
    postgres.run("CREATE ROLE onlooker LOGIN")
    for suffix in ("", "_aliases", "_meta"):
        postgres.run(f'GRANT SELECT ON "{table}{suffix}" TO onlooker')
    onlooker = PostgresStore(postgres.url("onlooker", table=table))
    assert onlooker.meta() == META
    onlooker.create(E, {"another": 1})
    assert onlooker.count() == 5
    assert len(all_rows(onlooker)) == 5
    assert onlooker.search([search("amber 0", 1)])[0].near[0].key == "amber 0"
    for call in (
        onlooker.build_index,
        lambda: onlooker.write([row("red")]),
        lambda: onlooker.remove(["amber 0"]),
        lambda: onlooker.teach([Alias("a", "a", None)]),
        onlooker.clear,
    ):
        with pytest.raises(StoreError, match=r"permission denied|must be owner"):
            call()
    assert (store.count(), store.meta()) == (5, META)
    store.build_index()
    with pytest.warns(StoreWarning, match="permission denied.*; build one by"):
        assert not RemoteDict(onlooker).build_index()


def test_a_server_that_recovers_is_waited_for_ever_longer(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect, waits, failures = psycopg.connect, list[float](), 3

    def recovering(*args: Any, **given: Any) -> Any:
        if len(waits) < failures:
            raise psycopg.OperationalError("FATAL:  the database system is starting up")
        return connect(*args, **given)

    monkeypatch.setattr(psycopg, "connect", recovering)
    monkeypatch.setattr("fuzzydict.stores.postgres.sleep", waits.append)
    store.close()
    assert store.count() == 0
    assert waits == [0.1, 0.2, 0.4]
    store.close()
    failures = 100
    assert "starting up" in refused(store)
    assert len(waits) < 13
    assert sum(waits) > 5


# ---- round trips --------------------------------------------------------------------------------


def test_a_read_takes_two_round_trips_or_three_and_all_else_one(
    postgres: Server, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fuzzydict.stores.sampling.SAMPLE", 500)
    direct = PostgresStore(postgres.url(table=table))
    with proxy(postgres.sockets) as between:
        d = connect(between.url(table=table.replace(" ", "%20")), create=True)
        d.update({"color": 1, "brand": 2, "price": 3})
        d["colour"]
        asked = ["colour", "brnd", "zzzz"]
        calls: list[tuple[int, Callable[[], Any]]] = [
            (2, lambda: d.nearest(asked, default=None)),  # few keys are all at hand
            (1, lambda: d["color"]),
            (1, lambda: d.update({f"new {i}": i for i in range(1000)})),
            (3, lambda: d["colour"]),  # the sample is read anew, once
            (2, lambda: d.explain(asked)),
            (0, lambda: direct.keep_counts(Counts(1003, {"color": 1}))),
            (3, lambda: d["colour"]),  # with what was counted
            (2, lambda: d.pool(["colour", "brnd"])),
            (1, lambda: d.update({"color": "long" * 1000})),
            (3, lambda: d["colour"]),  # the last for the value
            (1, lambda: d.__delitem__("color")),
        ]
        for expected, call in calls:
            before = between.trips
            call()
            assert between.trips - before == expected
        assert between.connections == 1
        d.close()


def test_threads_ask_at_once(postgres: Server, store: PostgresStore, table: str) -> None:
    store.write([row("red", 1)])
    with proxy(postgres.sockets) as between, ThreadPoolExecutor(4) as pool:
        other = PostgresStore(between.url(table=table.replace(" ", "%20")))
        all_ask = Barrier(4, timeout=60)  # no connection is answered before four ask
        between.before = all_ask.wait
        found = list(pool.map(lambda _: other.rows(["red"]).values, range(4)))
        assert found == [{"red": 1}] * 4
        assert between.connections == 4
        between.before = lambda: None
        other.close()


# ---- rows that others wrote ---------------------------------------------------------------------

_ID = id_of("car")
_HALVES = "[" + ",".join(["0.5"] * E) + "]"
#: The columns id, key, words, value and vector of rows, and what is said of them.
ODD_ROWS = {
    "another id": (id_of("bus"), "car", "car", "1", _HALVES, "its id is not that of its key"),
    "a zero vector": (_ID, "car", "car", "1", _HALVES.replace("0.5", "0"), "its vector is zero"),
    "deep": (_ID, "car", "car", "[" * 1500 + "]" * 1500, None, "recursion|nested"),
    "digits": (_ID, "car", "car", "1" * 5000, None, "digits"),
    "long words": (id_of("bus"), "car", "car " * 100_000, "1", None, "its id is not"),
}


@pytest.mark.parametrize("case", ODD_ROWS)
def test_a_row_that_others_wrote_is_left_out_and_can_be_removed(
    postgres: Server, store: PostgresStore, table: str, case: str
) -> None:
    *columns, said = ODD_ROWS[case]
    good = rows_of(5)
    store.write(good)
    with psycopg.connect(postgres.url(), autocommit=True) as other:
        insert = f"""INSERT INTO "{table}" VALUES (%s, %s, %s, %s, %s)"""
        other.execute(insert, columns)
        other.execute(f'UPDATE "{table}_meta" SET version = version + 1')
    number, key = columns[:2]
    named = f"the key '{key}' .id {number}. is left out, for something else wrote it: .*{said}"
    with pytest.warns(StoreWarning, match=named):
        assert all_rows(store).keys() == {one.key for one in good}
    if case not in ("deep", "digits"):  # as far as a read has what is wrong
        with pytest.warns(StoreWarning, match=named):
            assert len(store.sample([]).hits) == 5
        with pytest.warns(StoreWarning, match=named):
            (hits,) = store.search([search("car", 9, 9)])
        assert key not in {hit.key for hit in (*hits.near, *hits.spelled)}
    if case != "a zero vector":
        with pytest.warns(StoreWarning, match=named):
            assert store.rows(["car", "bus", "!!", "amber 0"]).values.keys() == {"amber 0"}
    store.remove(["car", "bus", "!!"])
    assert all_rows(store).keys() == {one.key for one in good}
    store.clear()
    assert (store.count(), all_rows(store)) == (0, {})


def test_a_meta_that_others_wrote_is_an_error_that_says_what_to_do(
    postgres: Server, store: PostgresStore, table: str
) -> None:
    for number in (-5, 1 << 62):
        postgres.run(f'UPDATE "{table}_meta" SET count = {number}')
        with pytest.raises(StoreError, match="damaged"):
            list(RemoteDict(store).items())
    postgres.run(f'ALTER TABLE "{table}_meta" ALTER meta TYPE text')
    changes = [f"""UPDATE "{table}_meta" SET meta = '{meta}'""" for meta in ("[]", "3", "{" * 3000)]
    for change in [*changes, f'DELETE FROM "{table}_meta"']:
        postgres.run(change)
        with pytest.raises(StoreError, match="damaged; push the keys again into another place"):
            store.meta()


# ---- a connection that is lost ------------------------------------------------------------------


def end_connections(postgres: Server) -> None:
    postgres.run(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
        " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
    )


def test_a_call_after_the_server_ended_the_connection_makes_another(
    postgres: Server, store: PostgresStore
) -> None:
    for call in CALLS[2:]:
        end_connections(postgres)
        call(store)
    store.clear()
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

    def is_ours(path: str) -> bool:
        return path.endswith("stores/postgres.py")

    # Not at lines of the client: a tracer may raise there while a lock is held, as no signal does.
    lines = at_line(read, 0, kind, is_ours)
    for place in range(1, lines + 1):
        at_line(read, place, kind, is_ours)
        read()
    store.write([row("blue", 2)])
    assert store.count() == 2


def test_a_connection_that_ends_amid_a_write_writes_all_once(
    postgres: Server, store: PostgresStore, table: str
) -> None:
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
    acknowledged, begun = list[int](), Event()

    def push() -> None:
        other = PostgresStore(postgres.url(table=table))
        for block in range(10_000):
            other.write([row(f"{block} {i}", block) for i in range(50)])
            acknowledged.append(block)
            if block == 3:
                begun.set()

    with ThreadPoolExecutor(1) as pool:
        pushing = pool.submit(push)
        begun.wait(60)
        postgres.kill()
        with pytest.raises(StoreError):
            pushing.result(60)
    assert refused(store)
    postgres.start()
    found = all_rows(store)
    blocks = {one.value for one in found.values()}
    assert set(acknowledged) <= blocks
    assert store.count() == len(found) == 50 * len(blocks)  # each as a whole or not at all
    for block in range(len(acknowledged) + 2):
        store.write([row(f"{block} {i}", block) for i in range(50)])
    assert store.count() == len(all_rows(store)) == 50 * (len(acknowledged) + 2)
    assert store.search([search("3 7", 1, 1)])[0].near[0].key == "3 7"


# ---- the index ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("indexes")
def test_many_keys_without_an_index_are_said_once(
    postgres: Server, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fuzzydict.stores.postgres.UNINDEXED", 5)
    store = PostgresStore(postgres.url(table=table))
    d = RemoteDict(store).open(create=True)
    d.update({one.key: one.value for one in rows_of(5)})
    with pytest.warns(StoreWarning, match=r"it has 5 keys and no index.*push --index"):
        d.most_similar("amber")
    d["another"] = 1
    d.most_similar("amber")
    assert d.build_index()
    RemoteDict(store).open().most_similar("amber")


@pytest.mark.usefixtures("indexes")
def test_an_index_is_built_with_the_memory_that_there_is(
    postgres: Server, store: PostgresStore, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server with little shared memory, as in a container, builds it in memory of its own."""
    execute = psycopg.Connection.execute

    def short_of_memory(connection: Any, query: Any, *args: Any, **given: Any) -> Any:
        text = query if isinstance(query, str) else query.as_string(connection)
        workers = execute(connection, "SHOW max_parallel_maintenance_workers").fetchone()
        if text.startswith("CREATE INDEX CONCURRENTLY") and workers not in allowed:
            raise psycopg.errors.DiskFull("could not resize shared memory segment")
        return execute(connection, query, *args, **given)

    store.write(rows_of(20))
    monkeypatch.setattr(psycopg.Connection, "execute", short_of_memory)
    allowed: list[Any] = []
    with pytest.raises(StoreError, match="could not resize shared memory"):
        store.build_index()
    store.write(rows_of(25))  # which an index that is missing does not hinder
    allowed = [("0",)]
    store.build_index()
    monkeypatch.undo()
    graph = f"indexrelid::regclass::text ~ 'vector' AND indrelid = '\"{table}\"'::regclass"
    assert postgres.run(f"SELECT indisvalid FROM pg_index WHERE {graph}") == [(True,)]
    postgres.run(f"UPDATE pg_index SET indisvalid = false WHERE {graph}")  # left unfinished
    store.build_index()
    assert postgres.run(f"SELECT indisvalid FROM pg_index WHERE {graph}") == [(True,)]


# ---- what could be taken for SQL ----------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ['x"; DROP TABLE "precious"; --', "x'); DROP TABLE precious; --", "$1 {keys}", "SELECT"]
)
def test_no_name_and_no_text_is_taken_for_sql(postgres: Server, name: str) -> None:
    postgres.run("DROP TABLE IF EXISTS precious")
    postgres.run("CREATE TABLE precious ()")
    store = PostgresStore(postgres.url(table=name))
    store.create(E, {name: f"{name} %s"})
    value = {name: name, "": 10**400, "b": {"z": 1e22, "y": -0.0}}
    store.write([row(name, value), row("other", {"a": name})])
    store.teach([Alias(name, name, name)])
    assert store.meta() == {name: f"{name} %s"}
    found = store.rows([name], [name])[:2]
    assert repr(found) == repr(({name: value}, {name: name}))  # with the fields in their order
    for where in ({name.replace(".", " "): name}, {"a": name}):
        (hits,) = store.search([search(name)], conditions_of(where))
        assert [hit.key for hit in hits.near] == [name if name in where else "other"]
    assert store.forget([name]) == store.remove([name]) == 1
    assert list(all_rows(store)) == ["other"]
    assert postgres.run("SELECT count(*) FROM precious") == [(0,)]


# ---- the search ---------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["", "4"], ids=["one table", "partitions"])
def large(request: pytest.FixtureRequest, indexes: None) -> Iterator[PostgresStore]:  # noqa: ARG001
    """Return a store with indexes, which the server takes though comparing all is as quick."""
    partitions = {"partitions": request.param} if request.param else {}
    partitions["options"] = "-c enable_seqscan=off"
    store = PostgresStore(server().url(table=f"large {next(_NUMBERS)}", **partitions))
    store.create(E, META)
    store.write(rows_of(2800))
    told = list[tuple[int, int]]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fuzzydict.stores.postgres._TOLD_EACH", 0.0)
        for _ in range(2):
            store.build_index(lambda *done: told.append(done))
    total = 1000 * int(request.param or 1)
    assert told[-1] == (total, total)
    assert all(0 <= done <= of == total for done, of in told)
    store.write(rows_of(3000)[2800:] + rows_of(10))
    yield store
    store.close()


def test_the_index_finds_what_comparing_all_finds_was_built_once_and_is_used(
    large: PostgresStore,
) -> None:
    rows = rows_of(3000)
    assert large.count() == 3000
    table = large.place.rpartition("=")[2]
    built = "SELECT count(*) FROM pg_indexes WHERE indexdef ~ 'hnsw' AND tablename ~"
    assert server().run(f"{built} '^{table}(_[0-9])?$'") in ([(1,)], [(4,)])  # of each partition
    asked = [search(text, 10, 0) for text in ("amber 3", "blak 44", "qwzzt", "olive 2222")]
    for one, hits in zip(asked, large.search(asked), strict=True):
        check_found(hits.near, rows, one, nearness, 10)
    for key in [one.key for one in rows[::500]]:
        (hits,) = large.search([search(key, 1, 1)])
        assert (hits.near[0].key, hits.spelled[0].key) == (key, key)
    used = "SELECT coalesce(sum(idx_scan), 0) FROM pg_stat_user_indexes WHERE relname ~ 'large'"
    ((before,),) = server().run(used)
    large.search(asked)
    large.close()  # after which the server counts, in its own time
    until(lambda: server().run(used) > [(before,)])


@pytest.mark.usefixtures("indexes")
def test_the_signs_of_vectors_find_what_comparing_all_finds(postgres: Server, table: str) -> None:
    exact = FuzzyDict(dict.fromkeys(Brown().words[:5000]), score_cutoff=float("-inf"))
    with connect(postgres.url(table=table, options="-c enable_seqscan=off"), create=True) as d:
        d.update(exact)
        assert d.build_index()
        asked = Brown().words[5000:5100:2]
        found = zip(d.nearest(asked, score_cutoff=float("-inf")), exact.nearest(asked), strict=True)
    assert sum(one.key == other.key for one, other in found) >= 49


def test_a_filter_that_few_satisfy_still_finds_them(large: PostgresStore) -> None:
    rows, asked = rows_of(3000), search("amber 3", 20, 0)
    for where, expected in (
        ({"name": "amber"}, [one for one in rows if one.value["name"] == "amber"]),
        ({"number": 2999}, rows[2999:]),
        ({"number": {"gte": 2990}}, rows[2990:]),
    ):
        (hits,) = large.search([asked], conditions_of(where))
        check_found(hits.near, expected, asked, nearness, 20)
