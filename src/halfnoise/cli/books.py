"""The ledger on the command line: made, shown, verified, and told about by every release."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from halfnoise.checks import number, refuse
from halfnoise.cli.options import INIT, OPTIONS, Once, with_options
from halfnoise.errors import InvalidParameterError
from halfnoise.ledger import booking
from halfnoise.ledger.booking import NO_LEDGER, Booking
from halfnoise.ledger.entries import History
from halfnoise.ledger.ledger import Ledger
from halfnoise.ledger.sqlite_file import ENDING
from halfnoise.ledger.words import left, table, to_dict
from halfnoise.privacy.definitions import ApproxDP, Neighbors, Privacy
from halfnoise.privacy.words import amounts
from halfnoise.request import Request
from halfnoise.spec.lists import ANYWHERE
from halfnoise.spec.queries import Words
from halfnoise.spec.words import BUDGET, privacy

FILE = typer.Argument(metavar="LEDGER", help="Its file, or postgresql://host/database#name.")
AS_JSON = typer.Option("--json", metavar="", help="Print JSON.")
HEAD = typer.Option("--head", metavar="HASH", help="A head that was printed: it must be in it.")
app = typer.Typer(
    no_args_is_help=True,
    help="Keep account of what releases cost: a limit that cannot be overspent by accident.",
)


@app.command("init", cls=Once)
@with_options(INIT)
def init_command(words: Words, ledger: Annotated[str, FILE]) -> None:
    """Make a ledger. What is said here holds for good.

    Example: halfnoise ledger init survey.ledger --epsilon 3 --delta 1e-6 --unit person_id
    """
    if ("unit" in words) == ("row-is-person" in words):
        said = "say who one person is: --unit person_id, or --row-is-person"
        raise InvalidParameterError(f"{said}; amounts about others do not add up")
    limit, kept = privacy(words), ("laplace", "discover-delta")
    if limit is None and "delta" in words:
        raise InvalidParameterError("--delta goes with --epsilon; alone it is no limit: say both")
    pure, delta = (number(f"--{n}", words[n]) if n in words else None for n in kept)
    rule = words.get("neighbors", "add-remove")
    if rule not in {each.value for each in Neighbors}:
        raise refuse("--neighbors", "add-remove or replace", rule)
    made = Ledger.create(
        ledger,
        limit=limit,
        unit=[name for text in words.get("unit", ()) for name in ANYWHERE.split(text)],
        neighbors=Neighbors(rule),
        data_set=words.get("data-set"),
        laplace=pure,
        discover_delta=delta,
        i_know="i-know" in words,
    )
    typer.echo(table(made.history()))


@app.command("show", cls=Once)
def show_command(
    ledger: Annotated[str, FILE], *, as_json: Annotated[bool, AS_JSON] = False
) -> None:
    """Show what was spent on what, and what is left."""
    found = Ledger(ledger).history()
    typer.echo(json.dumps(to_dict(found), indent=2) if as_json else table(found))


@app.command("verify", cls=Once)
def verify_command(ledger: Annotated[str, FILE], head: Annotated[str | None, HEAD] = None) -> None:
    """Check every entry and every result that is kept; with a head, that no old copy was put back.

    An old copy cannot be told from inside: keep the head that each release prints.
    """
    found = Ledger(ledger).verify(head)
    entries = 0 if found.last is None else found.last.entry + 1
    typer.echo(f"{entries:,} entries, each follows from those before it. {left(found)}.")
    typer.echo(f"Head: {found.head}")
    if head is None:
        typer.echo("Say --head with one that a release printed: an old copy cannot tell its age.")


def booked(words: Words, data: Sequence[str], *, needed: bool = True) -> Booking:
    """Return where a release is charged, as the words say; ``needed``: it must be somewhere."""
    if "ledger" in words and "no-ledger" in words:
        raise InvalidParameterError("give --ledger or --no-ledger, not both")
    if "name" in words and "resume" in words:
        raise InvalidParameterError("give --name or --resume, not both: both name a charge")
    # A plan for many releases tells how to make the ledger that it names.
    later = "releases" in words
    ledger = Ledger(words["ledger"], new=later) if "ledger" in words else None
    if not {"ledger", "no-ledger"} & words.keys():
        ledger = booking.beside(data, needed=needed)
    name = words.get("resume", words.get("name"))
    return Booking(ledger, name=name, resume="resume" in words)


def told(books: Booking, history: History | None, *, again: bool) -> None:
    """Say what was charged, what all of it comes to, and the head to keep."""
    if history is None or books.charge is None or books.ledger is None:
        typer.echo(NO_LEDGER, err=True)
        return
    place, day = books.ledger.store.name, books.charge.time[:10]
    drawn = f"Returned as it was drawn for the charge of {day}; nothing was charged"
    how = drawn if again else "Charged"
    if books.made:
        typer.echo(books.made, err=True)
    typer.echo(f"{how}: {books.charge.name!r} in {place}. {left(history)}.", err=True)
    typer.echo(f"Head of the ledger: {history.head}", err=True)


def one_of_them(
    words: Words, data: Sequence[str], request: Request, budget: Privacy, releases: int
) -> list[str]:
    """Return the commands for one of so many releases: the ledger, once, and each of them."""
    one = len(data) == 1 and Path(data[0]).exists()
    place = words.get("ledger", f"{data[0] if one else 'DATA'}{ENDING}")
    who = [f"--unit={name}" for name in request.unit] or ["--unit=COLUMN"]
    who = ["--row-is-person"] if request.row_is_person else who
    limit = [f"--{name}={amount!r}" for name, amount in amounts(budget).items()]
    delta = request.workload.discover_delta
    if delta is not None and not isinstance(budget, ApproxDP):  # else the first release decides
        limit.append(f"--discover-delta={delta!r}")
    if "rdp" in words:
        limit = [f"--rdp={words['rdp']}"]
    rule = request.workload.neighbors
    terms = [] if rule is Neighbors.ADD_REMOVE else [f"--neighbors={rule.value}"]
    terms += ["--i-know"] if request.i_know else []
    init = ["halfnoise", "ledger", "init", place, *limit, *who, *terms]
    said = list[str]()
    for option in OPTIONS:
        if option.word in words and option.word not in (*BUDGET, "ledger", "save-spec"):
            value = words[option.word]
            values = value if isinstance(value, list) else [value]
            said += [f"--{option.word}" + ("" if x is True else f"={x}") for x in values]
    said += [] if {"unit", "row-is-person"} & words.keys() else who
    each = ["halfnoise", "release", *(data or ["DATA"]), *said, f"--ledger={place}"]
    return [shlex.join(init), shlex.join([*each, f"--one-of={releases}", "--name=1"])]
