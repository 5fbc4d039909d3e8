"""The ledger on the command line: made, shown, verified, and told about by every release."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path

import typer

from halfnoise.checks import number, refuse
from halfnoise.cli.leaving import note
from halfnoise.cli.options import OPTIONS
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
from halfnoise.spec.vocabulary import BUDGET
from halfnoise.spec.words import privacy


def init(words: Words, ledger: str) -> None:
    """Make a ledger on the terms that were said, and show it."""
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


def show(ledger: str, *, as_json: bool) -> None:
    """Show what was spent, for people or as JSON."""
    found = Ledger(ledger).history()
    typer.echo(json.dumps(to_dict(found), indent=2) if as_json else table(found))


def verify(ledger: str, head: str | None) -> None:
    """Check a ledger, and say what it comes to."""
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
        note(NO_LEDGER)
        return
    place, day = books.ledger.store.name, books.charge.time[:10]
    drawn = f"Returned as it was drawn for the charge of {day}; nothing was charged"
    how = drawn if again else "Charged"
    if books.made:
        note(books.made)
    note(f"{how}: {books.charge.name!r} in {place}. {left(history)}.")
    note(f"Head of the ledger: {history.head}")


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
