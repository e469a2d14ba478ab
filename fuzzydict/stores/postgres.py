"""`PostgresStore`: keys in PostgreSQL, found by pgvector and pg_trgm (extra ``postgres``)."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from queue import LifoQueue
from threading import Event, Thread
from time import sleep
from typing import Any, TypeAlias
from urllib.parse import unquote
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct, idct

from fuzzydict.errors import OptionError, StoreError, needing, quoted
from fuzzydict.stores import base
from fuzzydict.stores.base import SAMPLE, Alias, Counts, Hits, Known, Row, Sample, Search, id_of
from fuzzydict.stores.values import Condition

with needing("PostgreSQL needs psycopg", "'psycopg[binary]'"):
    import psycopg
    from psycopg import Connection, errors
    from psycopg.adapt import Dumper
    from psycopg.conninfo import conninfo_to_dict
    from psycopg.pq import Format
    from psycopg.sql import SQL, Identifier, Literal

Session: TypeAlias = "Connection[tuple[Any, ...]]"

#: A search without an index compares with all keys, which is quick as long as they are fewer.
UNINDEXED = 10_000
_MOST_DIMENSIONS = 4000  # of a halfvec that an index of pgvector takes
_CONNECTIONS = 8  # of a store: so many threads are answered at once
_PATIENCE = 10  # seconds for a server to accept a connection, unless the URL says otherwise
_WAITS = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)  # seconds between tries while a server recovers
_TOLD_EACH = 0.2  # seconds between looks at how far an index is
_ALIASES = 4096  # aliases read at a time
_LONGEST_NAME = 63 - len("_aliases")  # bytes that PostgreSQL keeps of a table's name
_BY_SIGNS = 128  # from so many dimensions on, a graph has the signs of a vector's numbers alone
_TIMES = 3  # so many times the keys that are wanted are found by signs, and the nearest are taken
_OWN = re.compile(r"(?<=[?&])(table|partitions)=([^&]*)&?")  # parameters that libpq does not know

# ---- SQL -----------------------------------------------------------------------------------------

_CREATE = """
CREATE TABLE {keys} (id uuid PRIMARY KEY, key text NOT NULL, words text NOT NULL,
    value json NOT NULL, vector halfvec({size}), replaced boolean NOT NULL DEFAULT false) {how};
{partitions}
CREATE INDEX ON {keys} USING gin (words gin_trgm_ops) WITH (fastupdate = off);
CREATE TABLE {aliases} (id uuid PRIMARY KEY, words text NOT NULL, written text NOT NULL, key text,
    key_id uuid);
CREATE INDEX ON {aliases} (key_id);
CREATE TABLE {meta} (meta json NOT NULL, count bigint NOT NULL, version bigint NOT NULL,
    counts json, counted bigint NOT NULL DEFAULT 0);
-- Not 0, so that who knew a table of this name reads its sample anew.
INSERT INTO {meta} SELECT {content}::json, 0, (random() * (1::bigint << 40))::bigint
"""
_PARTITION = """
CREATE TABLE {part} PARTITION OF {keys} FOR VALUES WITH (MODULUS {of}, REMAINDER {number}) {room};
"""
_ROOM = SQL("WITH (fillfactor = 90)")
#: The tables that hold the keys, which is the table itself or its partitions, with their graphs
#: and the dimensions of their vectors.
_GRAPHS = SQL("""
SELECT leaf.oid::regclass::text, graph.oid::regclass::text, indisvalid, atttypmod
FROM pg_class AS leaf JOIN pg_attribute ON attrelid = leaf.oid AND attname = 'vector'
LEFT JOIN (pg_index JOIN pg_class AS graph ON graph.oid = indexrelid
    JOIN pg_am ON pg_am.oid = graph.relam AND amname = 'hnsw') ON indrelid = leaf.oid
WHERE leaf.relkind = 'r' AND (leaf.oid = %(table)s::regclass OR leaf.oid IN
    (SELECT inhrelid FROM pg_inherits WHERE inhparent = %(table)s::regclass))
""")
_INDEX = "CREATE INDEX CONCURRENTLY ON {table} USING hnsw ({compared}) WITH (ef_construction = 128)"
#: How far the graph of a table is: its rows come first, and then those that were written meanwhile.
_PROGRESS = """
SELECT relid::regclass::text, blocks_done, blocks_total FROM pg_stat_progress_create_index
WHERE pid = %s AND blocks_total > 0 AND phase LIKE '%%: loading tuples'
"""
_SAMPLE = """
WITH first AS MATERIALIZED (SELECT id FROM {keys} ORDER BY id LIMIT {size}),
new AS MATERIALIZED (SELECT id FROM first EXCEPT SELECT unnest(%(known)s::uuid[]))
SELECT NULL AS id, CASE WHEN counted <> %(counted)s THEN counts::text END, NULL, version, count,
    EXISTS (SELECT FROM ({graphs}) AS graphs WHERE indisvalid IS NOT TRUE), counted FROM {meta}
UNION ALL SELECT first.id, key, vector, 0, 0, false, 0
FROM first LEFT JOIN (new JOIN {keys} USING (id)) USING (id) ORDER BY id NULLS FIRST
"""
_COUNTS = "UPDATE {meta} SET counts = %s, counted = version + 1, version = version + 1"
#: The numbers of the vector with a place, of which each has ``size``.
_NUMBERS = SQL("""
(%(numbers)s::real[])[(place - 1) * %(size)s + 1 : place * %(size)s]::halfvec AS vector
""")
#: Whether one of the changed keys may be in the sample, of which others may go meanwhile.
_VERSION = """
version = version + coalesce((SELECT id FROM changed ORDER BY id LIMIT 1)
    <= (SELECT id FROM {keys} ORDER BY id OFFSET {twice} LIMIT 1), true)::int
WHERE EXISTS (SELECT FROM changed)
"""
#: In one order, so that of two writers none waits for the other.
_WRITE = """
WITH given AS (SELECT id, key, words, value::json, {vector} FROM unnest(%(ids)s::uuid[],
    %(keys)s::text[], %(words)s::text[], %(values)s::text[], %(places)s::int[])
    AS _(id, key, words, value, place)),
written AS (INSERT INTO {keys} AS held (id, key, words, value, vector)
    SELECT * FROM given ORDER BY id ON CONFLICT (id) DO UPDATE SET key = excluded.key,
    words = excluded.words, value = excluded.value, replaced = true,
    vector = CASE WHEN held.vector = excluded.vector THEN held.vector ELSE excluded.vector END
    RETURNING id, replaced),
changed AS (SELECT id FROM written WHERE NOT replaced)
UPDATE {meta} SET count = count + (SELECT count(*) FROM changed), {version}
"""
_REMOVE = """
WITH found AS (SELECT id FROM {keys} WHERE id = ANY(%(ids)s) ORDER BY id FOR UPDATE),
changed AS (DELETE FROM {keys} WHERE id IN (SELECT id FROM found) RETURNING id),
forgotten AS (DELETE FROM {aliases} WHERE key_id = ANY(%(ids)s)),
counted AS (UPDATE {meta} SET count = count - (SELECT count(*) FROM changed), {version})
SELECT count(*) FROM changed
"""
_CLEAR = """
WITH gone AS (DELETE FROM {keys} RETURNING id),
forgotten AS (DELETE FROM {aliases} WHERE key IS NOT NULL OR key_id IS NOT NULL)
UPDATE {meta} SET count = greatest(0, count - (SELECT count(*) FROM gone)), version = version + 1,
    counts = NULL, counted = version + 1
"""
_ROWS = """
SELECT 0, id, key, value::text FROM {keys} WHERE id = ANY(%s)
UNION ALL SELECT 1, id, words, key FROM {aliases} WHERE id = ANY(%s)
UNION ALL SELECT version, NULL, NULL, NULL FROM {meta}
"""
_TEACH = """
INSERT INTO {aliases} (id, words, written, key, key_id)
SELECT * FROM unnest(%s::uuid[], %s::text[], %s::text[], %s::text[], %s::uuid[])
ON CONFLICT (id) DO UPDATE SET written = excluded.written, key = excluded.key,
    key_id = excluded.key_id
"""
#: The settings are said in each search, since a pooler may give each statement another session;
#: see https://github.com/pgvector/pgvector#iterative-index-scans. A larger ef_search finds more,
#: and takes longer. A value of at most 256 bytes is read with the key that is found: it is kept
#: with 4 more that tell how many; a long one may be compressed to fewer.
_SEARCH = """
WITH settings AS MATERIALIZED (SELECT set_config('hnsw.ef_search', '400', true)
    || set_config('hnsw.iterative_scan', 'strict_order', true)
    || set_config('pg_trgm.word_similarity_threshold', '0.45', true) AS said),
asked AS MATERIALIZED (SELECT number, words, near, spelled, {vector} FROM settings,
    unnest(%(words)s::text[], %(near)s::int[], %(spelled)s::int[], %(places)s::int[])
    WITH ORDINALITY AS _(words, near, spelled, place, number) WHERE said <> '')
SELECT number, kind, id, key, vector, CASE WHEN pg_column_size(value) <= 260
    AND octet_length(value::text) <= 256 THEN value::text END, far FROM
(SELECT number, 0 AS kind, hit.* FROM asked, LATERAL (SELECT * FROM
    (SELECT id, key, held.vector, value, held.vector <=> asked.vector AS far FROM {keys} AS held
    WHERE held.vector IS NOT NULL AND asked.vector IS NOT NULL {condition}
    ORDER BY {order} LIMIT near * %(times)s) AS like_it ORDER BY far LIMIT near) AS hit
UNION ALL SELECT number, 1, hit.* FROM asked, LATERAL
    (SELECT id, key, held.vector, value, held.words <-> asked.words AS far FROM {keys} AS held
    WHERE held.words %%> asked.words {condition} ORDER BY far LIMIT spelled) AS hit) AS found
"""


class PostgresStore(base.Store):
    """A `Store` of three tables: ``keys``, ``keys_aliases`` and ``keys_meta``.

    Vectors are halfvec, found through an HNSW index, which `build_index` builds; see `_compared`.
    Spellings are found through a GIN index of the trigrams of the words. Values are json, which
    keeps every number and the order of fields; no index has them, and each page of the table has
    some room, so that a value that is written anew changes no index.

    Args:
        url: ``postgresql://user:password@host:port/database?table=keys``. The table may be
            ``schema.keys``. ``&partitions=16`` divides a table that is created; all other
            parameters are libpq's.

    Raises:
        OptionError: the URL is not valid.
    """

    def __init__(self, url: str) -> None:
        self._begin()
        self._server, self._table, self._partitions, self.place = _parsed(url)
        *schema, name = self._table
        tables = {"keys": name, "aliases": f"{name}_aliases", "meta": f"{name}_meta"}
        #: What stands in braces in statements.
        self._parts: dict[str, Any] = {one: Identifier(*schema, t) for one, t in tables.items()}
        version = SQL(_VERSION).format(twice=2 * SAMPLE, **self._parts)
        self._parts |= {"version": version, "graphs": _GRAPHS, "vector": _NUMBERS, "room": _ROOM}

    def _begin(self) -> None:
        super()._begin()
        self._has_graphs = True  # as far as the last sample told
        #: A place for each connection that may be open; the one that was used last comes first.
        self._places = LifoQueue["Session | None"]()
        for _ in range(_CONNECTIONS):
            self._places.put(None)

    # ---- connections --------------------------------------------------------------------------

    def _run(
        self, text: str, values: Any = (), *, binary: bool = True, **parts: Any
    ) -> list[tuple[Any, ...]]:
        """Return the rows of one statement, a transaction of its own.

        Without ``binary`` and values the text may be several statements, then in one transaction.
        """
        query, places, sound = SQL(text).format(**self._parts, **parts), self._places, None
        try:
            kept = places.get()  # an interrupt amid it may add a place, but never takes any away
            while True:
                connection = kept or self._connect()
                try:
                    cursor = connection.cursor(binary=binary).execute(query, values or None)
                    rows = cursor.fetchall() if cursor.description else []
                    sound = connection
                    return rows
                except BaseException as error:  # or an interrupt, amid any line of psycopg
                    is_lost = kept and kept.closed and isinstance(error, psycopg.Error)
                    connection.close()
                    if not is_lost:
                        raise
                    kept = None
        except psycopg.Error as error:
            raise self._refused(error) from None
        finally:
            places.put(sound)

    def _connect(self) -> Session:
        given = {"connect_timeout": _PATIENCE, **self._server, "client_encoding": "utf8"}
        for wait in (*_WAITS, None):
            try:
                # Nothing is prepared, since a plan for any query would not use the index.
                made = psycopg.connect(autocommit=True, prepare_threshold=None, **given)
                break
            except psycopg.OperationalError as error:
                if wait is None or "the database system is" not in str(error):
                    raise
                sleep(wait)
        made.adapters.register_dumper(np.ndarray, _RealsDumper)
        return made

    def _refused(self, error: psycopg.Error) -> StoreError:
        """Return what an error of psycopg means, in the words of the server."""
        said = " ".join((error.diag.message_primary or str(error)).split())
        if password := self._server.get("password"):
            said = said.replace(str(password), "***")
        if isinstance(error, errors.UndefinedTable | errors.InvalidSchemaName):
            said = f"nothing was created there; check the name of the table, or create it ({said})"
        if isinstance(
            error, errors.UndefinedColumn | errors.WrongObjectType | errors.DuplicateTable
        ):
            said = f"a table of this name holds something else; name another by table= ({said})"
        return StoreError(f"{self.place}: {said}")

    def close(self) -> None:
        for kept in list(self._places.queue):
            if kept is not None:
                kept.close()  # and who takes it connects again

    __del__ = close

    # ---- what is created ----------------------------------------------------------------------

    def create(self, dimensions: int, meta: Mapping[str, Any]) -> None:
        if not 0 < dimensions <= _MOST_DIMENSIONS:
            raise StoreError(
                f"{self.place}: pgvector indexes vectors of up to {_MOST_DIMENSIONS} numbers, not "
                f"{dimensions}"
            )
        for name, told in {"vector": "pgvector, 0.8 or later", "pg_trgm": "pg_trgm"}.items():
            try:
                self._run(f"CREATE EXTENSION IF NOT EXISTS {name}")
            except StoreError as error:
                if not self._run("SELECT 1 FROM pg_extension WHERE extname = %s", [name]):
                    raise StoreError(
                        f"{error}; install {told} on the server, and let an administrator run in "
                        f"this database: CREATE EXTENSION {name}"
                    ) from None
        *schema, name = self._table
        partitions = []
        for i in range(self._partitions):
            of_part = {"part": Identifier(*schema, f"{name}_{i}"), "number": i}
            partitions.append(SQL(_PARTITION).format(of=self._partitions, **of_part, **self._parts))
        given = {
            "size": Literal(dimensions),
            "content": Literal(_dumped(meta)),
            "how": SQL("PARTITION BY HASH (id)") if partitions else _ROOM,
            "partitions": SQL("").join(partitions),
        }
        try:
            self._run(_CREATE, binary=False, **given)
        except StoreError:
            if self.meta() is None:  # nor did another client create it meanwhile
                raise

    def meta(self) -> dict[str, Any] | None:
        name = self._parts["meta"].as_string(None)
        if self._run("SELECT to_regclass(%s)", [name]) == [(None,)]:
            return None
        found = self._run("SELECT meta::text, count, version FROM {meta}")
        return self.meta_of(found[0][0] if found else None)

    def count(self) -> int:
        ((count,),) = self._run("SELECT count FROM {meta}") or [(-1,)]
        if not 0 <= count < base.MOST_KEYS:
            self.meta_of(None)
        return int(count)

    # ---- the index ------------------------------------------------------------------------------

    def build_index(self, progress: base.Progress = base.untold) -> None:
        """Build what is missing of each partition; only the owner of the tables can."""
        name = ".".join(self._table)
        try:
            with self._connect() as connection:
                lock = "SELECT pg_try_advisory_lock(hashtextextended(%s, 1))"
                if connection.execute(lock, [name]).fetchone() == (False,):
                    raise StoreError(f"{self.place}: another client is building the index")
                try:
                    tables = self._unindexed(connection)
                    with self._telling(connection, list(tables), progress):
                        for table, size in tables.items():
                            self._build(connection, table, size)
                finally:  # or else the server unlocks it a little after it is closed
                    unlock = "SELECT pg_advisory_unlock(hashtextextended(%s, 1))"
                    with suppress(psycopg.Error):  # of a connection that is lost
                        connection.execute(unlock, [name])
        except psycopg.Error as error:
            raise self._refused(error) from None

    def _build(self, connection: Session, table: str, size: int) -> None:
        create = SQL(_INDEX.format(table=table, compared=_compared(size)[0]))
        try:
            connection.execute(create)
        except (errors.DiskFull, errors.OutOfMemory):  # shared, as in a container
            self._unindexed(connection)
            connection.execute("SET max_parallel_maintenance_workers = 0")
            connection.execute(create)
        connection.execute(SQL(f"ANALYZE {table}"))

    def _unindexed(self, connection: Session) -> dict[str, int]:
        """Drop unfinished graphs; return the tables without one, in SQL, and their dimensions."""
        table, missing = {"table": self._parts["keys"].as_string(connection)}, dict[str, int]()
        for leaf, graph, is_valid, size in connection.execute(_GRAPHS, table).fetchall():
            if is_valid is False:
                connection.execute(SQL(f"DROP INDEX CONCURRENTLY {graph}"))
            if not is_valid:
                missing[leaf] = size
        return missing

    @contextmanager
    def _telling(self, builder: Session, tables: list[str], tell: base.Progress) -> Iterator[None]:
        """Tell meanwhile how far the graphs of some tables are, in thousandths of each."""
        end, number, total = Event(), builder.info.backend_pid, 1000 * len(tables)

        def look() -> None:
            with suppress(StoreError, psycopg.Error), self._connect() as other:
                while not end.wait(_TOLD_EACH):
                    for table, done, of in other.execute(_PROGRESS, [number]):
                        if table in tables:
                            tell(int(1000 * (tables.index(table) + done / of)), total)

        thread = Thread(target=look, daemon=True)
        thread.start()
        try:
            yield
        finally:
            end.set()
            thread.join()
        if tables:
            tell(total, total)

    # ---- rows ---------------------------------------------------------------------------------

    def sample(self, known: Collection[UUID], counted: int = 0) -> Sample:
        table = self._parts["keys"].as_string(None)
        values = {"known": list(known), "counted": counted, "table": table}
        found = self._run(_SAMPLE, values, size=SAMPLE)
        if not found or found[0][0] is not None:
            self.meta_of(None)
        (_, text, _, version, count, lacks_graph, kept), *rows = found
        self._has_graphs = not lacks_graph
        told = zip(rows, _received([row[2] for row in rows]), strict=True)
        new = [self.row_of(i, key, vector) for (i, key, *_), vector in told if key is not None]
        ids, hits = [row[0] for row in rows], [row for row in new if row]
        counts = None if kept == counted else self.counts_of(text)
        scans = lacks_graph and count >= UNINDEXED
        return Sample(version, count, ids, hits, scans, kept, counts)

    def keep_counts(self, counts: Counts) -> None:
        self._run(_COUNTS, [_dumped(counts)])

    def write(self, rows: Sequence[Row]) -> None:
        values = _sent([row.vector for row in rows]) | {
            "ids": [id_of(row.key) for row in rows],
            "keys": [row.key for row in rows],
            "words": [_in_ascii(row.words) for row in rows],
            "values": [_dumped(row.value) for row in rows],
        }
        self._run(_WRITE, values)

    def remove(self, keys: Sequence[str]) -> int:
        return int(self._run(_REMOVE, {"ids": [id_of(key) for key in keys]})[0][0])

    def clear(self) -> None:
        self._run(_CLEAR)

    def rows(self, keys: Sequence[str], words: Sequence[str] = ()) -> Known:
        values, taught, version = dict[str, Any](), dict[str, str | None](), 0
        found = self._run(_ROWS, [[id_of(text) for text in texts] for texts in (keys, words)])
        for number, i, text, held in found:
            if i is None:
                version = number
            elif number == 0 and (row := self.row_of(i, text, None, text=held)):
                values[row.key] = row.value
            elif number == 1 and (alias := self.alias_of(i, text, text, held)):
                taught[alias.words] = alias.key
        return Known(values, taught, version)

    def pages(self, size: int, *, vectors: bool = False) -> Iterator[list[Row]]:
        column = "vector" if vectors else "NULL"
        for page in self._paged(f"SELECT id, key, value::text, {column} FROM {{keys}}", size):  # noqa: S608
            told = zip(page, _received([each for *_, each in page]), strict=True)
            rows = (self.row_of(i, key, own, text=text) for (i, key, text, _), own in told)
            yield [row for row in rows if row]

    def _paged(self, query: str, size: int) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows of a query in the order of their ids, so many at a time."""
        after, last = "", list[UUID]()
        while page := self._run(f"{query} {after} ORDER BY id LIMIT {{size}}", last, size=size):
            yield page
            if len(page) < size:
                return
            after, last = "WHERE id > %s", [page[-1][0]]

    # ---- aliases ------------------------------------------------------------------------------

    def teach(self, aliases: Sequence[Alias]) -> None:
        last = {a.words: a for a in aliases}.values()  # of those with equal words
        rows = sorted((id_of(a.words), *a, None if a.key is None else id_of(a.key)) for a in last)
        self._run(_TEACH, [list(column) for column in zip(*rows, strict=True)] or [[]] * 5)

    def forget(self, words: Sequence[str]) -> int:
        ids = [id_of(text) for text in words]
        return len(self._run("DELETE FROM {aliases} WHERE id = ANY(%s) RETURNING 1", [ids]))

    def aliases(self) -> Iterator[Alias]:
        pages = self._paged("SELECT id, words, written, key FROM {aliases}", _ALIASES)
        return (one for row in chain.from_iterable(pages) if (one := self.alias_of(*row)))

    # ---- search -------------------------------------------------------------------------------

    def search(self, searches: Sequence[Search], where: Sequence[Condition] = ()) -> list[Hits]:
        scans = not self._has_graphs
        found = self._found(searches, where, scans=scans)
        if where and not scans:
            # The index gives up before it has found those few that satisfy the conditions.
            wanted = [0 if one.vector is None else one.near for one in searches]
            few = [i for i, hits in enumerate(found) if len(hits.near) < wanted[i]]
            again = self._found([searches[i] for i in few], where, scans=True) if few else []
            for i, hits in zip(few, again, strict=True):
                found[i] = hits
        return found

    def _found(
        self, searches: Sequence[Search], where: Sequence[Condition], *, scans: bool
    ) -> list[Hits]:
        """Return what is found for each search, by the index or as one ``scans`` all keys."""
        values = _sent([one.vector for one in searches]) | {
            "path": _path(where),
            "words": [_in_ascii(one.words) for one in searches],
            "near": [one.near for one in searches],
            "spelled": [one.spelled for one in searches],
        }
        _, order, values["times"] = _compared(values["size"])
        if scans:  # by no index; to compute all signs would take long
            order, values["times"] = "(held.vector <=> asked.vector) + 0", 1
        condition = SQL("AND value::jsonb @? %(path)s::jsonpath" if where else "")
        rows = self._run(_SEARCH, values, condition=condition, order=SQL(order))
        rows.sort(key=lambda row: row[-1])
        results = [Hits([], [], {}) for _ in searches]
        vectors = _received([row[4] for row in rows])
        for (number, kind, i, key, _, text, _), own in zip(rows, vectors, strict=True):
            hits = results[number - 1]
            if row := self.row_of(i, key, own, text=text or "null"):
                hits[kind].append(row._replace(value=None))
                if text is not None:
                    hits.values[key] = row.value
        return results


# ---- what is sent and received -----------------------------------------------------------------


def _parsed(url: str) -> tuple[dict[str, Any], list[str], int, str]:
    """Return what libpq connects by, the parts of the table name, the partitions and the place."""
    own = {name: unquote(value) for name, value in _OWN.findall(url)}
    table, partitions = own.get("table", "keys").split("."), own.get("partitions", "0")
    is_short = all(0 < len(name.encode()) <= _LONGEST_NAME for name in table)
    if len(table) > 2 or not is_short or not {"\0", "%"}.isdisjoint("".join(table)):
        raise OptionError(
            f"expected table=NAME or table=SCHEMA.NAME of at most {_LONGEST_NAME} bytes each, "
            f"without %, got {quoted(own['table'])}"
        )
    if not (partitions.isdecimal() and partitions.isascii() and int(partitions) <= 1024):
        raise OptionError(f"expected partitions=N up to 1024, got {quoted(partitions)}")
    try:
        server: dict[str, Any] = conninfo_to_dict(_OWN.sub("", url))
        host = str(server.get("host") or server.get("hostaddr") or "localhost")
        port, database = str(server.get("port", "")), server.get("dbname") or ""
        # What is shown must be no part of a password that was not escaped.
        if "@" in host[1:] or not re.fullmatch("[0-9,]*", port) or re.search("[@;=]", database):
            raise ValueError
    except (psycopg.Error, ValueError):
        raise OptionError(
            "expected postgresql://USER:PASSWORD@HOST:PORT/DATABASE?table=NAME with parameters "
            "that libpq knows; write characters such as @ and / in a password as %40 and %2F"
        ) from None  # which may tell the password
    database = database or server.get("user") or ""
    place, folder = f"{host}:{port}" if port else host, ""
    if host.startswith("/"):  # a socket in a folder
        place, folder = f"{server.get('user', '')}@", f"host={place}&"
    place = f"postgresql://{place}/{database}?{folder}table={'.'.join(table)}"
    return server, table, int(partitions), place


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _in_ascii(words: str) -> str:
    """Return words of which a server has the trigrams in any locale: letters and digits of ASCII.

    >>> _in_ascii("naïve c++")
    'nauefve cu2bu2b'
    """
    return re.sub("[^ 0-9A-Za-z]", lambda found: f"u{ord(found[0]):x}", words)


def _sent(vectors: Sequence[base.Vector]) -> dict[str, Any]:
    """Return the parameters that send vectors.

    Vectors of words have large numbers first, and small ones, of which the signs tell little, last.
    The discrete cosine transform mixes them, so that each sign tells as much; no cosine changes.
    """
    numbers = np.array([vector for vector in vectors if vector is not None], np.float32)
    places = iter(range(1, len(vectors) + 1))
    of_each = [None if vector is None else next(places) for vector in vectors]
    mixed = dct(numbers, norm="ortho") if len(numbers) else numbers
    return {"places": of_each, "numbers": mixed, "size": numbers.shape[-1]}


class _RealsDumper(Dumper):
    """Sends arrays of numbers in the binary format, which need not be printed and read."""

    format, oid = Format.BINARY, psycopg.adapters.types["float4"].array_oid

    def dump(self, obj: NDArray[np.float32]) -> bytes:
        """Return an array of one dimension: each number after its length in bytes."""
        parts = np.empty(obj.size, [("length", ">i4"), ("number", ">f4")])
        parts["length"], parts["number"] = 4, obj.ravel()
        element = psycopg.adapters.types["float4"].oid
        return struct.pack("!iiIii", 1, 0, element, len(parts), 1) + parts.tobytes()


def _received(halfvecs: Sequence[bytes | None]) -> list[base.Vector]:
    """Return vectors from what a server sends, and None where there is none."""
    there = [np.frombuffer(one, ">f2", offset=4) for one in halfvecs if one is not None]
    vectors = iter(idct(np.array(there, np.float32), norm="ortho") if there else ())
    return [None if one is None else next(vectors) for one in halfvecs]


def _compared(size: int) -> tuple[str, str, int]:
    """Return what a graph has of vectors of so many dimensions, and how it finds rows, in SQL.

    That is by what it orders them, and how many times as many it is to find. A graph of signs has
    those of a vector's numbers, and of how its halves and its quarters add up: three bits a number
    tell more of the cosine than one.
    """
    if size < _BY_SIGNS:
        return "vector halfvec_cosine_ops", "held.vector <=> asked.vector", 1
    signs = []
    for vector in ("vector", "held.vector", "asked.vector"):
        parts, bits = [vector], size
        for count in (2, 4):
            each = size // count
            pieces = [f"subvector({vector}, {1 + i * each}, {each})" for i in range(count)]
            for a, b in zip(pieces[::2], pieces[1::2], strict=True):
                parts += [f"({a} + {b})", f"({a} - {b})"]
            bits += count * each
        signs.append(f"(binary_quantize({' || '.join(parts)})::bit({bits}))")
    return f"{signs[0]} bit_hamming_ops", f"{signs[1]} <~> {signs[2]}", _TIMES


def _path(where: Sequence[Condition]) -> str:
    """Return conditions as a path of JSON, which finds something in values that satisfy all.

    See https://www.postgresql.org/docs/current/functions-json.html#FUNCTIONS-SQLJSON-PATH. Where
    a field is missing, or of another type, a comparison is neither true nor an error.
    """
    signs, parts = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}, []
    for one in where:
        field = "@." + ".".join(map(_dumped, one.field))
        told = [f"{field} == {_dumped(scalar)}" for scalar in one.one_of]
        tests = [f"{field} {signs[name]} {bound!r}" for name, bound in one.bounds.items()]
        parts.append(f"({' || '.join(told) or ' && '.join(tests)})")
    return f"strict $ ? ({' && '.join(parts)})"
