"""The face of the library: a release asked for in Python."""

import logging
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypedDict, Unpack, overload

from halfnoise.checks import known_keywords, refuse
from halfnoise.data.sources import Room, open_source
from halfnoise.data.sources.source import TextFormat
from halfnoise.errors import InvalidParameterError
from halfnoise.files import paths_in
from halfnoise.ledger import booking
from halfnoise.ledger.booking import NO_LEDGER, Booking
from halfnoise.ledger.ledger import Ledger
from halfnoise.mechanism import Step, carry_out
from halfnoise.privacy.definitions import Privacy
from halfnoise.request import Request
from halfnoise.results.release import GroupedRelease, Release
from halfnoise.results.sampling import Sampling
from halfnoise.spec.header import Header
from halfnoise.spec.toml import beside, read_spec, said_in_python
from halfnoise.spec.words import read, text_format
from halfnoise.workload.by import By
from halfnoise.workload.listing import Columns
from halfnoise.workload.queries import Asked
from halfnoise.workload.rules import Rules
from halfnoise.workload.workload import Workload

_log = logging.getLogger("halfnoise")
Named: TypeAlias = str | By | Sequence[str | By]  # the columns that name groups
Books: TypeAlias = Ledger | str | Path | Literal[True] | None


class Options(TypedDict, total=False):
    """What ``release`` takes beside queries and the rules for them."""

    privacy: Privacy | None
    unit: str | Sequence[str] | None
    row_is_person: bool
    known_size: float | None
    level: float | None
    sampling: str | Sampling | None
    design_effect: float | None
    noise: str | None
    i_know: bool
    ledger: Books
    name: str | None
    resume: bool
    one_of: int | None
    text: TextFormat | None
    memory: str | int | None
    scratch: str | Path | None
    parameters: Mapping[str, str] | None
    step: Step


class OptionsAndRules(Options, Rules, total=False):
    """The same where the queries are a list."""


@overload
def release(
    data: object,
    queries: Sequence[Asked],
    *,
    spec: None = None,
    by: None = None,
    **options: Unpack[OptionsAndRules],
) -> Release: ...
@overload
def release(
    data: object,
    queries: Sequence[Asked],
    *,
    spec: str | Path | None = None,
    by: Named,
    **options: Unpack[OptionsAndRules],
) -> GroupedRelease: ...
@overload
def release(
    data: object, queries: Workload, *, spec: str | Path | None = None, **options: Unpack[Options]
) -> Release | GroupedRelease: ...
@overload
def release(
    data: object,
    queries: Sequence[Asked] | None = None,
    *,
    spec: str | Path,  # where groups may stand
    by: Columns = None,
    **options: Unpack[OptionsAndRules],
) -> Release | GroupedRelease: ...
@known_keywords
def release(  # noqa: PLR0913  # the face of the library
    data: object,
    queries: Sequence[Asked] | Workload | None = None,
    *,
    privacy: Privacy | None = None,
    unit: str | Sequence[str] | None = None,
    row_is_person: bool = False,
    by: Columns = None,
    known_size: float | None = None,
    level: float | None = None,
    sampling: str | Sampling | None = None,
    design_effect: float | None = None,
    noise: str | None = None,
    i_know: bool = False,
    ledger: Books = True,
    name: str | None = None,
    resume: bool = False,
    one_of: int | None = None,
    text: TextFormat | None = None,
    memory: str | int | None = None,
    scratch: str | Path | None = None,
    spec: str | Path | None = None,
    parameters: Mapping[str, str] | None = None,
    step: Step = nullcontext,
    **rules: Unpack[Rules],
) -> Release | GroupedRelease:
    """Release a private table of counts, sums and means.

    ``data``: a path to CSV, TSV, JSON lines, Parquet, a sheet, a folder or a database, several of
    them, an address of PostgreSQL, or a pandas, Polars, PyArrow, DuckDB, PySpark or Ibis table.
    ``unit``: the column, or columns, that say whom a row is about; or ``row_is_person=True``.
    ``by``: the column, or columns, that say which group a row is in, with ``groups`` to list the
    groups; the result then has a release for each of them.
    ``sampling``: "srs" where people are a simple random sample, so that intervals cover who was
    asked, too; ``design_effect``: by how much more it varies (``Release.with_sampling`` does the
    same afterwards).
    ``known_size``: the number of people in the table, if it is public. ``noise``: "gaussian" or
    "laplace"; ``i_know``: allow a budget that protects hardly anybody. ``ledger``: where it is
    charged, a ``Ledger`` or its file; unless given, the file beside one file with data, and nothing
    for a table in memory; None keeps no account. ``name``: the same name with the same request
    returns the result that is kept; ``resume``: go on with a charge of that name, never make one.
    ``one_of``: take that part of the ledger's limit. ``text``: what text files look like.
    ``memory``: what DuckDB may hold, such as "1GB", and ``scratch``: the folder for what does not
    fit, where temporary files are unless given.
    ``rules``: those of ``Workload`` (``where``, ``neighbors``, ``groups``, ``max_groups``,
    ``at_most``, ``importance``, ...). ``spec``: a TOML file with all this, and ``parameters`` to
    fill; what is said here too wins over it, and its other rules stay.

    **Guarantee.** The result satisfies ``result.guarantee`` with respect to adding or removing (or
    replacing) all rows of one unit: the centred design of lem:release-of-injection, its loss proved
    for the grid, on exact integers, with noise that is exactly the rounded Gaussian or Laplace
    given ideal random bits. Rows cannot raise errors, and the design depends on none.

    >>> import polars as pl, halfnoise as hn
    >>> survey = pl.DataFrame({"smoker": [True, False, True] * 1000})
    >>> table = hn.release(survey, [hn.Count("smoker")], row_is_person=True,
    ...                    privacy=hn.GaussianDP(mu=1))
    >>> 1900 < table["smoker"].estimate < 2100
    True
    >>> table = hn.release(survey, [hn.Count("smoker")], row_is_person=True,
    ...                    by="smoker", groups=[True, False], privacy=hn.GaussianDP(mu=1))
    >>> list(table), 1900 < table[True]["smoker"].estimate < 2100
    ([True, False, 'other'], True)
    """
    if not isinstance(text, TextFormat | None):
        raise refuse("text", "a TextFormat", text, "for example TextFormat(encoding='latin-1')")
    files = paths_in(data)
    books = Booking(_ledger(ledger, files), name=name, resume=resume)
    words = {} if spec is None else read_spec(spec, parameters or {}, files)
    given: dict[str, Any] = {"privacy": privacy, "known_size": known_size, "level": level}
    given |= {"noise": noise, "i_know": None if i_know is False else i_know, "one_of": one_of}
    given["sampling"] = Sampling.of(sampling, design_effect)
    given = {name: value for name, value in given.items() if value is not None}
    if not isinstance(unit, Sequence | None):
        raise refuse("unit", "a column's name, or several", unit, "for example unit='person_id'")
    if unit or row_is_person is not False:
        given["unit"] = (unit,) if isinstance(unit, str) else tuple(unit or ())
        given["row_is_person"] = row_is_person
    own: dict[str, Any] = {**rules} if by is None else {"by": by, **rules}
    room = Room.of(memory, scratch)
    with open_source(data, text=text or text_format(words), room=room) as source:
        if spec is not None:
            left = beside(words, said_in_python([*given, *own], queries=queries is not None))
            stored = read(left, Header.of(source), files, asked=queries, rules=own)
            request = replace(stored, **given)
            if words.get("known-size") == "" and request.known_size is None:
                raise InvalidParameterError("known-size of the spec needs the number of people")
        elif queries is not None:
            request = Request(workload=Workload.of(queries, **own), **given)
        else:
            raise InvalidParameterError("queries must be given, here or in a spec; got none")
        about = (source.files, source.text)
        table = carry_out(source, request, booking=books, about=about, step=step)
    books.handed_over(books.kept or b"")
    if said := books.made if books.ledger else NO_LEDGER:
        _log.warning(said)
    return table


def _ledger(given: object, files: Sequence[str]) -> Ledger | None:
    if given is True:
        return booking.beside(files)
    if isinstance(given, str | Path):
        return Ledger(given)
    if not isinstance(given, Ledger | None):
        raise refuse("ledger", "a Ledger, its file, or None", given)
    return given
