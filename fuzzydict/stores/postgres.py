"""`PostgresStore`: keys in PostgreSQL, searched by pgvector (extra ``postgres``)."""

from __future__ import annotations

import json
import os
import re
import struct
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar
from urllib.parse import unquote

import numpy as np

from fuzzydict.errors import MissingExtraError, OptionError, StoreError, quoted
from fuzzydict.stores.base import Alias, Hit, Hits, Known, Row, Search, Store, id_of

try:
    import psycopg
    from psycopg import errors
    from psycopg.conninfo import conninfo_to_dict
    from psycopg.pq import PipelineStatus, TransactionStatus
    from psycopg.sql import SQL, Identifier
except ImportError as error:
    raise MissingExtraError(
        "PostgreSQL needs psycopg, which is not installed; install it with: "
        "pip install 'psycopg[binary]'"
    ) from error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray
    from psycopg import Connection, Cursor
    from psycopg.sql import Composed

    from fuzzydict.stores.values import Condition

    Session: TypeAlias = Connection[tuple[Any, ...]]
    #: A statement, and its parameters.
    Query: TypeAlias = tuple[Composed, Sequence[Any]]

T = TypeVar("T")

#: A search compares with all keys as long as they are fewer.
UNINDEXED = 10_000
_MOST_DIMENSIONS = 4000  # of a halfvec in an index of pgvector
_BITS = 1024  # into which the 65,536 n-grams are folded
_EFFORT = 200  # keys that a search of an index keeps: more find more, and take longer
_MEMORY = 1 << 30  # bytes that a server may take at least while it builds an index
_PATIENCE = 10  # seconds for a server to accept a connection, unless the URL says otherwise
_ALIASES = 4096  # aliases read at a time
_LONGEST_NAME = 63 - len("_aliases")  # bytes that PostgreSQL keeps of a table's name
#: For all statements of a connection: see https://github.com/pgvector/pgvector#iterative-index-scans
_SETTINGS = {
    "hnsw.ef_search": str(_EFFORT),
    "hnsw.iterative_scan": "strict_order",
    "plan_cache_mode": "force_custom_plan",  # a plan for any query would not use the index
    "jit": "off",
}
_OWN = re.compile(r"(?<=[?&])(table|partitions)=([^&]*)&?")  # parameters that libpq does not know


class Address(NamedTuple):
    """What a URL of a table says."""

    server: dict[str, Any]  # what libpq connects by
    table: list[str]  # its name, perhaps after a schema's
    partitions: int  # into how many a new table is divided; 0 if into none
    place: str  # the URL without a password

    @classmethod
    def of(cls, url: str) -> Address:
        """Return what a URL says.

        Raises:
            OptionError: it is not valid; the message has no password.
        """
        own = {name: unquote(value) for name, value in _OWN.findall(url)}
        table = own.get("table", "keys").split(".")
        lengths = [len(name.encode()) for name in table]
        if (
            len(table) > 2
            or not 0 < min(lengths) <= max(lengths) <= _LONGEST_NAME
            or not {"\0", "%"}.isdisjoint("".join(table))
        ):
            raise OptionError(
                f"expected table=NAME or table=SCHEMA.NAME of at most {_LONGEST_NAME} bytes each, "
                f"without %, got {quoted(own['table'])}"
            )
        partitions = own.get("partitions", "0")
        if not (partitions.isdecimal() and partitions.isascii() and int(partitions) <= 1024):
            raise OptionError(f"expected partitions=N up to 1024, got {quoted(partitions)}")
        try:
            server: dict[str, Any] = conninfo_to_dict(_OWN.sub("", url))
            host = str(server.get("host") or server.get("hostaddr") or "localhost")
            database = server.get("dbname") or server.get("user") or ""
            if "@" in host[1:] or "@" in database:
                raise ValueError("a part of the password would be taken for something else")
        except (psycopg.Error, ValueError):
            raise OptionError(
                "expected postgresql://USER:PASSWORD@HOST:PORT/DATABASE?table=NAME with parameters "
                "that libpq knows; write characters such as @ and / in a password as %40 and %2F"
            ) from None  # which may tell the password
        place, folder = f"{host}:{server['port']}" if server.get("port") else host, ""
        if host.startswith("/"):  # a socket in a folder
            place, folder = f"{server.get('user', '')}@", f"host={place}&"
        place = f"postgresql://{place}/{database}?{folder}table={'.'.join(table)}"
        return cls(server, table, int(partitions), place)


class PostgresStore(Store):
    """A `Store` of three tables: ``keys``, ``keys_aliases`` and ``keys_meta``.

    Vectors are halfvec, compared through an HNSW index of their cosine. The n-grams of a key are
    folded into bits, compared through an HNSW index of their Jaccard similarity; of what it finds,
    the cosine of the n-grams themselves decides. Values are json, which keeps every number and the
    order of fields.

    It connects when it is first asked.

    Args:
        url: ``postgresql://user:password@host:port/database?table=keys``. The table may be
            ``schema.keys``. ``&partitions=16`` divides a table that is created; all other
            parameters are libpq's.

    Raises:
        OptionError: the URL is not valid.
    """

    def __init__(self, url: str) -> None:
        self._address = Address.of(url)
        self.place = self._address.place
        *schema, name = self._address.table
        self._names = {
            "keys": Identifier(*schema, name),
            "aliases": Identifier(*schema, f"{name}_aliases"),
            "meta": Identifier(*schema, f"{name}_meta"),
        }
        self._lock, self._process = RLock(), os.getpid()
        self._connection: Session | None = None
        self._inherited: list[Session | None] = []

    # ---- the connection -----------------------------------------------------------------------

    def _call(self, work: Callable[[Session], T]) -> T:
        """Return what ``work`` returns of a connection, in a transaction.

        If the connection turns out to be lost, all is done again by another one.
        """
        with self._own_lock():
            while True:
                is_old = self._connection is not None
                try:
                    return self._once(work)
                except psycopg.Error as error:
                    is_lost = self._connection is None
                    if not (is_old and is_lost):
                        raise self._refused(error) from None

    def _once(self, work: Callable[[Session], T]) -> T:
        """Do as `_call`; keep the connection only if it is ready for the next call."""
        connection, self._connection = self._connection or self._connect(), None
        try:
            with connection.transaction():
                return work(connection)
        except psycopg.Error:
            raise
        except BaseException:  # which may come amid any line of psycopg, as KeyboardInterrupt does
            connection.close()
            raise
        finally:
            if _is_idle(connection):
                self._connection = connection
            else:
                connection.close()

    def _own_lock(self) -> RLock:
        """Return the lock of this process; a process that was forked has a connection of its own.

        What it inherited stays open: its parent goes on to use it.
        """
        if self._process != os.getpid():
            self._inherited.append(self._connection)
            self._lock, self._process, self._connection = RLock(), os.getpid(), None
        return self._lock

    def _connect(self) -> Session:
        given = {"connect_timeout": _PATIENCE, **self._address.server, "client_encoding": "utf8"}
        connection = psycopg.connect(autocommit=True, **given)
        settings = ", ".join(["set_config(%s, %s, false)"] * len(_SETTINGS))
        texts = [text for pair in _SETTINGS.items() for text in pair]
        connection.execute(f"SELECT {settings}", texts)
        return connection

    def _refused(self, error: psycopg.Error) -> StoreError:
        """Return what an error of psycopg means, in the words of the server."""
        said = " ".join((error.diag.message_primary or str(error)).split())
        if password := self._address.server.get("password"):
            said = said.replace(str(password), "***")
        if isinstance(error, errors.UndefinedTable | errors.InvalidSchemaName):
            advice = "nothing was created there; check the name of the table, or create it"
        elif isinstance(
            error, errors.UndefinedColumn | errors.WrongObjectType | errors.DuplicateTable
        ):
            advice = _OF_OTHERS
        else:
            return StoreError(f"{self.place}: {said}")
        return StoreError(f"{self.place}: {advice} ({said})")

    def close(self) -> None:
        with self._own_lock():
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def __del__(self) -> None:
        if getattr(self, "_process", None) == os.getpid():
            self.close()

    def _sql(self, text: str, **parts: Any) -> Composed:
        return SQL(text).format(**self._names, **parts)

    def _run(self, text: str, values: Sequence[Any] = ()) -> Cursor[tuple[Any, ...]]:
        """Return the cursor of one statement, as a call of its own."""
        query = self._sql(text)
        return self._call(lambda connection: connection.execute(query, values))

    def _read(self, *queries: Query) -> list[list[tuple[Any, ...]]]:
        """Return the rows of each query, all of them by one round trip."""

        def read(connection: Session) -> list[list[tuple[Any, ...]]]:
            with connection.pipeline():
                cursors = [connection.cursor(binary=True).execute(*query) for query in queries]
                return [cursor.fetchall() for cursor in cursors]

        return self._call(read)

    # ---- what is created ----------------------------------------------------------------------

    def create(self, dimensions: int, meta: Mapping[str, Any]) -> None:
        if not 0 < dimensions <= _MOST_DIMENSIONS:
            raise StoreError(
                f"{self.place}: pgvector indexes vectors of up to {_MOST_DIMENSIONS} numbers, not "
                f"{dimensions}"
            )
        parts = self._address.partitions
        *schema, name = self._address.table

        def created(connection: Session) -> None:
            def run(text: str, **parts: Any) -> None:
                connection.execute(self._sql(text, **parts))

            self._lock_table(connection)
            if self._exists(connection):
                return
            self._check_extension(connection)
            run(
                "CREATE TABLE {keys} (id uuid PRIMARY KEY, key text NOT NULL, value json NOT NULL,"
                " vector halfvec({size}), ngrams bytea NOT NULL, folded bit({bits}),"
                " replaced boolean NOT NULL DEFAULT false)"
                + (" PARTITION BY HASH (id)" if parts else ""),
                size=dimensions,
                bits=_BITS,
            )
            for i in range(parts):
                run(
                    "CREATE TABLE {part} PARTITION OF {keys}"
                    " FOR VALUES WITH (MODULUS {parts}, REMAINDER {i})",
                    part=Identifier(*schema, f"{name}_{i}"),
                    parts=parts,
                    i=i,
                )
            run(
                "CREATE TABLE {aliases} (id uuid PRIMARY KEY, words text NOT NULL,"
                " written text NOT NULL, key text, key_id uuid)"
            )
            run("CREATE INDEX ON {aliases} (key_id)")
            run("CREATE TABLE {meta} (meta json NOT NULL, count bigint NOT NULL)")
            connection.execute(self._sql("INSERT INTO {meta} VALUES (%s, 0)"), [_dumped(meta)])

        self._call(created)

    def _lock_table(self, connection: Session) -> None:
        """Let one client at a time create tables or indexes."""
        connection.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [".".join(self._address.table)]
        )

    def _check_extension(self, connection: Session) -> None:
        try:
            with connection.transaction():
                connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        except (errors.FeatureNotSupported, errors.UndefinedFile, errors.InsufficientPrivilege):
            raise StoreError(
                f"{self.place}: the database has not the extension pgvector; install its package "
                f"on the server, 0.8 or later, and let an administrator run in this database: "
                f"CREATE EXTENSION vector"
            ) from None

    def _exists(self, connection: Session) -> bool:
        names = [self._names[one].as_string(connection) for one in ("meta", "keys")]
        found = connection.execute("SELECT to_regclass(%s), to_regclass(%s)", names).fetchall()
        meta, keys = found[0]
        if meta is not None:
            connection.execute(self._sql("SELECT meta, count FROM {meta} LIMIT 0"))
        elif keys is not None:
            raise StoreError(f"{self.place}: {_OF_OTHERS}")
        return meta is not None

    def meta(self) -> dict[str, Any] | None:
        def read(connection: Session) -> dict[str, Any] | None:
            if not self._exists(connection):
                return None
            rows = connection.execute(self._sql("SELECT meta FROM {meta}")).fetchall()
            return dict(rows[0][0])

        return self._call(read)

    def set_meta(self, meta: Mapping[str, Any]) -> None:
        self._run("UPDATE {meta} SET meta = %s", [_dumped(meta)])

    def count(self) -> int:
        return int(self._run("SELECT count FROM {meta}").fetchall()[0][0])

    def drop(self) -> None:
        def dropped(connection: Session) -> None:
            if self._exists(connection):
                connection.execute(self._sql("DROP TABLE {keys}, {aliases}, {meta}"))

        self._call(dropped)

    # ---- rows ---------------------------------------------------------------------------------

    def write(self, rows: Sequence[Row]) -> None:
        columns = "id, key, value, vector, ngrams, folded"
        changes = ", ".join(f"{name} = excluded.{name}" for name in columns.split(", ")[1:])

        def written(connection: Session) -> None:
            cursor = connection.execute(
                self._sql(
                    "CREATE TEMPORARY TABLE written (LIKE {keys} INCLUDING DEFAULTS) ON COMMIT DROP"
                )
            )
            with cursor.copy(
                f"COPY pg_temp.written ({columns}) FROM STDIN (FORMAT BINARY)"
            ) as copy:
                for block in _binary(rows):
                    copy.write(block)
            # In one order, so that of two writers none waits for the other. RETURNING tells those
            # that are new.
            cursor.execute(
                self._sql(
                    f"INSERT INTO {{keys}} AS held ({columns}) SELECT {columns} FROM"  # noqa: S608
                    f" pg_temp.written ORDER BY id ON CONFLICT (id) DO UPDATE SET {changes},"
                    f" replaced = true RETURNING NOT held.replaced"
                )
            )
            self._add(cursor, sum(is_new for (is_new,) in cursor))

        self._call(written)

    def _add(self, cursor: Cursor[tuple[Any, ...]], change: int) -> None:
        """Count keys, as the last thing of a transaction: no other can count until it ends."""
        if change:
            cursor.execute(self._sql("UPDATE {meta} SET count = count + %s"), [change])

    def settle(self) -> None:
        """Build the indexes of a table of many keys, if it has none; others cannot write meanwhile.

        Only the owner of the table does. Keys that are written later are added to them, which
        takes longer for each.
        """

        def settled(connection: Session) -> None:
            if not self._wants_indexes(connection):
                return
            self._lock_table(connection)  # so that of two clients one builds them
            if not self._wants_indexes(connection):
                return
            connection.execute(
                "SELECT set_config('maintenance_work_mem', greatest(%s::bigint,"
                " pg_size_bytes(current_setting('maintenance_work_mem'))) / 1024 || 'kB', true)",
                [_MEMORY],
            )
            for statement in (
                "CREATE INDEX ON {keys} USING hnsw (vector halfvec_cosine_ops)",
                "CREATE INDEX ON {keys} USING hnsw (folded bit_jaccard_ops)",
                "ANALYZE {keys}",
            ):
                connection.execute(self._sql(statement))

        self._call(settled)

    def _wants_indexes(self, connection: Session) -> bool:
        query = (
            "SELECT count >= {few} AND NOT EXISTS (SELECT FROM pg_index"
            " JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_am ON pg_am.oid = relam"
            " WHERE indrelid = %s::regclass AND amname = 'hnsw')"
            " AND (SELECT pg_has_role(relowner, 'USAGE') FROM pg_class"
            " WHERE oid = %s::regclass) FROM {meta}"  # for only the owner may build them
        )
        name = self._names["keys"].as_string(connection)
        rows = connection.execute(self._sql(query, few=UNINDEXED), [name, name]).fetchall()
        return bool(rows[0][0])

    def remove(self, keys: Sequence[str]) -> int:
        ids = [id_of(key) for key in keys]

        def removed(connection: Session) -> int:
            cursor = connection.execute(
                self._sql(
                    "WITH found AS (SELECT id FROM {keys} WHERE id = ANY(%s) ORDER BY id"
                    " FOR UPDATE) DELETE FROM {keys} WHERE id IN (SELECT id FROM found)"
                ),
                [ids],
            )
            count = int(cursor.rowcount)
            cursor.execute(self._sql("DELETE FROM {aliases} WHERE key_id = ANY(%s)"), [ids])
            self._add(cursor, -count)
            return count

        return self._call(removed)

    def rows(self, keys: Sequence[str], words: Sequence[str] = ()) -> Known:
        texts, taught = ({id_of(text): text for text in some} for some in (keys, words))
        values, aliases = self._read(
            (self._sql("SELECT id, value FROM {keys} WHERE id = ANY(%s)"), [list(texts)]),
            (self._sql("SELECT id, key FROM {aliases} WHERE id = ANY(%s)"), [list(taught)]),
        )
        return Known({texts[i]: v for i, v in values}, {taught[i]: key for i, key in aliases})

    def pages(self, size: int, *, vectors: bool = False) -> Iterator[list[Row]]:
        column = "vector" if vectors else "NULL"
        query = f"SELECT id, key, value, {column}, ngrams FROM {{keys}}"  # noqa: S608
        for page in self._paged(query, size):
            yield [
                Row(key, value, _vector(vector), np.frombuffer(ngrams, "<u2").astype(np.int64))
                for _, key, value, vector, ngrams in page
            ]

    def _paged(self, query: str, size: int) -> Iterator[list[tuple[Any, ...]]]:
        after: list[Any] = []
        while True:
            where = " WHERE id > %s" if after else ""
            (page,) = self._read(
                (self._sql(f"{query}{where} ORDER BY id LIMIT {{n}}", n=size), after)
            )
            if page:
                yield page
            if len(page) < size:
                return
            after = [page[-1][0]]

    # ---- aliases ------------------------------------------------------------------------------

    def teach(self, aliases: Sequence[Alias]) -> None:
        rows = sorted(
            (id_of(a.words), *a, None if a.key is None else id_of(a.key))
            for a in {a.words: a for a in aliases}.values()
        )
        columns = [list(column) for column in zip(*rows, strict=True)] or [[]] * 5
        self._run(
            "INSERT INTO {aliases} (id, words, written, key, key_id)"
            " SELECT * FROM unnest(%s::uuid[], %s::text[], %s::text[], %s::text[], %s::uuid[])"
            " ON CONFLICT (id) DO UPDATE SET written = excluded.written, key = excluded.key,"
            " key_id = excluded.key_id",
            columns,
        )

    def forget(self, words: Sequence[str]) -> int:
        ids = [id_of(text) for text in words]
        return int(self._run("DELETE FROM {aliases} WHERE id = ANY(%s)", [ids]).rowcount)

    def aliases(self) -> Iterator[Alias]:
        for page in self._paged("SELECT id, words, written, key FROM {aliases}", _ALIASES):
            for _, *alias in page:
                yield Alias(*alias)

    # ---- search -------------------------------------------------------------------------------

    def search(self, searches: Sequence[Search], where: Sequence[Condition] = ()) -> list[Hits]:
        condition, values = _condition(where)
        queries = [
            query
            for search in searches
            for query in (
                self._near(search, condition, values),
                self._spelled(search, condition, values),
            )
        ]
        found = self._read(*queries) if queries else []
        if where:  # the index gives up before it has found those few that satisfy it
            wanted = [n for search in searches for n in (search.near, search.spelled)]
            few = [i for i, rows in enumerate(found) if len(rows) < wanted[i]]
            off = self._sql("SELECT set_config('enable_indexscan', 'off', true)"), list[Any]()
            again = self._read(off, *(queries[i] for i in few))[1:] if few else []
            for i, rows in zip(few, again, strict=True):
                found[i] = rows
        return [
            Hits(_hits(near), _alike(spelled, search))
            for search, near, spelled in zip(searches, found[::2], found[1::2], strict=True)
        ]

    def _near(self, search: Search, condition: SQL, values: list[Any]) -> Query:
        vector = search.vector
        text = None if vector is None else f"[{','.join(map(repr, vector.tolist()))}]"
        query = (
            "SELECT key, vector FROM {keys} WHERE vector IS NOT NULL"
            " AND %s::halfvec IS NOT NULL {condition} ORDER BY vector <=> %s::halfvec LIMIT {n}"
        )
        return self._sql(query, condition=condition, n=search.near), [text, *values, text]

    def _spelled(self, search: Search, condition: SQL, values: list[Any]) -> Query:
        folded = _folded(search.ngrams)
        bits = "".join(map(str, np.unpackbits(np.frombuffer(folded, np.uint8)))) if folded else None
        query = (
            "SELECT key, vector, ngrams FROM (SELECT * FROM {keys} WHERE folded IS NOT NULL"
            " AND %s::bit({bits}) IS NOT NULL {condition} ORDER BY folded <%%> %s::bit({bits})"
            " LIMIT {most}) AS alike"
            " ORDER BY bit_count(folded & %s::bit({bits})) / sqrt(length(ngrams)) DESC LIMIT {n}"
        )
        most = max(_EFFORT, 2 * search.spelled) if search.spelled else 0
        parts = {"condition": condition, "bits": _BITS, "most": most, "n": search.spelled * 3 // 2}
        return self._sql(query, **parts), [bits, *values, bits, bits]


_OF_OTHERS = "a table of this name holds something else; name another by table="


def _is_idle(connection: Session) -> bool:
    """Tell whether a connection is in no transaction and no pipeline, and open."""
    state = connection.pgconn.transaction_status, connection.pgconn.pipeline_status
    return bool(state == (TransactionStatus.IDLE, PipelineStatus.OFF))


# ---- what is sent -----------------------------------------------------------------------------


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _folded(ngrams: NDArray[np.int64]) -> bytes | None:
    """Return n-grams as a set of bits; None if there are none."""
    if not len(ngrams):
        return None
    bits = np.zeros(_BITS, np.uint8)
    bits[ngrams % _BITS] = 1
    return np.packbits(bits).tobytes()


def _binary(rows: Sequence[Row]) -> Iterator[bytes]:
    """Yield rows in the binary format of COPY."""
    yield b"PGCOPY\n\xff\r\n\0" + bytes(8)
    for row in rows:
        vector, folded = row.vector, _folded(row.ngrams)
        fields = (
            id_of(row.key).bytes,
            row.key.encode(),
            _dumped(row.value).encode(),
            None
            if vector is None
            else struct.pack("!HH", len(vector), 0) + vector.astype(">f2").tobytes(),
            row.ngrams.astype("<u2").tobytes(),
            None if folded is None else struct.pack("!i", _BITS) + folded,
        )
        yield struct.pack("!h", len(fields)) + b"".join(
            struct.pack("!i", -1) if field is None else struct.pack("!i", len(field)) + field
            for field in fields
        )
    yield struct.pack("!h", -1)


def _condition(where: Sequence[Condition]) -> tuple[SQL, list[Any]]:
    """Return conditions in SQL, each after AND, and their parameters."""
    texts, values = list[str](), list[Any]()
    for one in where:
        field = "value::jsonb" + " -> %s::text" * len(one.field)
        if one.one_of:
            texts.append(f" AND {field} = ANY(%s::jsonb[])")
            values += [*one.field, [_dumped(scalar) for scalar in one.one_of]]
            continue
        bounds = {">": one.gt, ">=": one.gte, "<": one.lt, "<=": one.lte}
        for sign, bound in bounds.items():
            if bound is not None:
                texts.append(
                    f" AND CASE WHEN jsonb_typeof({field}) = 'number'"
                    f" THEN ({field})::numeric {sign} %s::numeric ELSE false END"
                )
                values += [*one.field, *one.field, repr(bound)]
    return SQL("".join(texts)), values


# ---- what is received -------------------------------------------------------------------------


def _vector(halfvec: bytes | None) -> NDArray[np.float32] | None:
    return None if halfvec is None else np.frombuffer(halfvec, ">f2", offset=4).astype(np.float32)


def _hits(rows: Sequence[Sequence[Any]]) -> list[Hit]:
    return [Hit(key, _vector(vector)) for key, vector in rows]


def _alike(rows: Sequence[tuple[Any, ...]], search: Search) -> list[Hit]:
    """Return those that share the most n-grams with a query, best first."""
    of_query = set(search.ngrams.tolist())
    found = [(np.frombuffer(ngrams, "<u2").tolist(), row) for *row, ngrams in rows]
    cosines = [len(of_query.intersection(of_key)) / len(of_key) ** 0.5 for of_key, _ in found]
    best = sorted(range(len(found)), key=cosines.__getitem__, reverse=True)[: search.spelled]
    return _hits([found[i][1] for i in best if cosines[i]])
