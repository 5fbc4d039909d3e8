"""A ledger in PostgreSQL, for jobs that run on several machines.

Each ledger has a schema of its own. A writer holds the row of ``head`` until its transaction ends,
so there is one at a time, and whatever it reads after that is what the one before it committed. The
lock is a row's and not an advisory one, since nobody can write an entry without changing that row.
A reader looks at one snapshot and waits for nobody.
"""

import contextlib
import re
from collections.abc import Iterator

from halfnoise.checks import refuse
from halfnoise.errors import HalfnoiseError
from halfnoise.ledger.entries import Row, damaged
from halfnoise.ledger.links import Link
from halfnoise.ledger.session import Session
from halfnoise.ledger.store import Rows, none_at
from halfnoise.values import dataclass, field

LONGEST = 40
_NAME = re.compile(rf"[a-z][a-z0-9_]{{0,{LONGEST - 1}}}", re.ASCII)  # needs no quotes
_TABLES = {
    "entries": ("entry bigint primary key", "body text not null", "hash text not null"),
    "documents": ("hash text primary key", "content bytea not null"),
    "head": ("entry bigint not null", "hash text not null"),
}
# Entries are only ever added.
_KEPT = {
    "entries": "update or delete or truncate",
    "documents": "update or delete or truncate",
    "head": "insert or delete or truncate",
}
_REFUSAL = "begin raise exception 'a ledger is only added to'; end"
_HEAD = "insert into {schema}.head (entry, hash) values (0, '')"
_HOLD = "select entry from {schema}.head for update"
# All of a ledger that could be otherwise, as the catalogue has it.
_LOOK = """
with space as (select oid from pg_namespace where nspname = %s),
  tables as (select c.* from pg_class c join space on relnamespace = space.oid
    where relname in ('entries', 'documents', 'head'))
select 'schema' as fact from space
union all select concat_ws(' ', relname, relkind, relpersistence, relrowsecurity, relhasrules)
  from tables
union all select concat_ws(' ', relname, attname, format_type(atttypid, atttypmod), attnotnull)
  from tables join pg_attribute on attrelid = tables.oid where attnum > 0 and not attisdropped
union all select concat_ws(' ', relname, pg_get_constraintdef(k.oid))
  from tables join pg_constraint k on conrelid = tables.oid where contype = 'p'
union all select concat_ws(' ', relname, tgname, tgtype, tgenabled, prosrc)
  from tables join pg_trigger on tgrelid = tables.oid join pg_proc f on f.oid = tgfoid
  where not tgisinternal
"""
_VERBS = {"insert": 4, "delete": 8, "update": 16, "truncate": 32}  # as the catalogue counts


def _made(schema: str) -> Iterator[str]:
    """Yield the statements that make a ledger."""
    yield f"create schema {schema}"
    function = f"{schema}.only_added()"
    yield f"create function {function} returns trigger language plpgsql as $${_REFUSAL}$$"
    for table, columns in _TABLES.items():
        yield f"create table {schema}.{table} ({', '.join(columns)})"
    yield _HEAD.format(schema=schema)
    for table, verbs in _KEPT.items():
        yield (
            f"create trigger kept before {verbs} on {schema}.{table}"
            f" for each statement execute function {function}"
        )
        # Else whoever says to be a replica gets past it.
        yield f"alter table {schema}.{table} enable always trigger kept"


def _facts() -> Iterator[str]:
    """Yield what the look at one that is whole finds."""
    yield "schema"
    for table, columns in _TABLES.items():
        yield f"{table} r p f f"  # a table, for good, with neither row security nor rules
        for name, kind, *rest in map(str.split, columns):
            yield f"{table} {name} {kind} t"
            if rest[0] == "primary":
                yield f"{table} PRIMARY KEY ({name})"
        before = 2 + sum(_VERBS[verb] for verb in _KEPT[table].split(" or "))
        yield f"{table} kept {before} A {_REFUSAL}"


@dataclass(frozen=True, slots=True)
class PostgresqlTables:
    """A ledger in a schema of a database; ``title``: what it is called there."""

    title: str
    link: Link = field(repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.title, str) or not _NAME.fullmatch(self.title):
            rule = f"up to {LONGEST} of a-z, 0-9 and _, a letter first"
            raise refuse("the ledger's name in PostgreSQL", rule, self.title, "for example survey")

    @property
    def name(self) -> str:
        """What it is called in messages; where it is, they do not say."""
        return f"postgresql://...#{self.title}"

    @property
    def files(self) -> tuple[str, ...]:
        """No files of this machine."""
        return ()

    @property
    def _schema(self) -> str:
        return f"halfnoise_{self.title}"

    def exists(self) -> bool:
        """Whether there is a schema of that name."""
        with self._begun(read=True) as session:
            found = "select nspname from pg_namespace where nspname = %s"
            return bool(session.run(found, self._schema))

    def create(self, first: Row) -> None:
        """Make schema, tables and first entry in one transaction."""
        try:
            with self._begun() as session:
                for statement in _made(self._schema):
                    session.run(statement)
                rows = self._rows(session)
                rows.append(first)
                self._end(session, rows)
        except HalfnoiseError:
            if self.exists():
                raise FileExistsError(self.name) from None
            raise

    @contextlib.contextmanager
    def reading(self) -> Iterator[Rows]:
        """Look at one snapshot of it."""
        with self._begun(read=True) as session:
            self._check(session)
            yield self._rows(session)

    @contextlib.contextmanager
    def writing(self) -> Iterator[Rows]:
        """Write alone; what was written was read back after the commit when this ends."""
        with self._begun() as session:
            self._check(session)
            session.run(_HOLD.format(schema=self._schema))
            rows = self._rows(session)
            yield rows
            self._end(session, rows)

    @contextlib.contextmanager
    def _begun(self, *, read: bool = False) -> Iterator[Session]:
        with self.link(self.name) as connection:
            session = Session(connection, self.name)
            try:
                session.begin(read=read)
                yield session
            finally:
                session.leave()

    def _rows(self, session: Session) -> Rows:
        return Rows(
            lambda statement, values: session.run(statement, *values), f"{self._schema}.", "%s"
        )

    def _end(self, session: Session, rows: Rows) -> None:
        """Commit, and see that it stands: a commit that failed may look like one that did not."""
        entry, hashed = rows.head()
        session.commit()
        found = rows.since(entry)[:1]
        if [(number, own) for number, _, own in found] != [(entry, hashed)]:
            raise session.lost()

    def _check(self, session: Session) -> None:
        """Refuse tables that are not made as ours are."""
        found = sorted(fact for (fact,) in session.run(_LOOK, self._schema))
        if not found:
            raise none_at(self.name)
        if found != sorted(_facts()):
            raise damaged(f"the tables of {self.name!r} are not as halfnoise made them")
