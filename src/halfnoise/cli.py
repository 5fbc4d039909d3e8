"""The command ``halfnoise``: thin; every word it takes is one of the library's."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from halfnoise import flags
from halfnoise.errors import HalfnoiseError, InvalidParameterError
from halfnoise.planning import DELTA, Outlook, Plan, budget_for, plan
from halfnoise.privacy import Privacy
from halfnoise.queries import Query
from halfnoise.workload import Workload

ASK, SPEND, RULES, SHOW = "What to publish", "Privacy budget", "Rules", "Output"

app = typer.Typer(
    name="halfnoise",
    help="Publish counts and sums about people, privately, with about half the usual noise.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def option(*names: str, panel: str, metavar: str | None = None, help: str) -> Any:  # noqa: A002, ANN401
    """Declare an option in one of the panels of the help."""
    return typer.Option(
        *names, metavar=metavar, help=help, rich_help_panel=panel, show_default=False
    )


Texts = list[str]


@app.callback()
def halfnoise(
    *,
    version: Annotated[bool, typer.Option("--version", help="Show the version and stop.")] = False,
) -> None:
    """Publish counts and sums about people, privately, with about half the usual noise."""
    if version:
        from importlib.metadata import version as installed

        typer.echo(f"halfnoise {installed('halfnoise')}")
        raise typer.Exit


@app.command("plan")
def plan_command(  # noqa: PLR0913
    *,
    count: Annotated[
        Texts | None,
        option("--count", panel=ASK, metavar="COL", help="How many people say yes in a column."),
    ] = None,
    counts: Annotated[
        str | None, option("--counts", panel=ASK, metavar="N", help="N counts, to try things out.")
    ] = None,
    sum_: Annotated[
        Texts | None,
        option("--sum", panel=ASK, metavar="COL=LO:HI", help="The sum of a column; or just 0:20."),
    ] = None,
    mean: Annotated[
        Texts | None,
        option(
            "--mean",
            panel=ASK,
            metavar="COL=LO:HI",
            help="The mean among those who answered; or just 0:20.",
        ),
    ] = None,
    choice: Annotated[
        Texts | None,
        option(
            "--choice",
            panel=ASK,
            metavar="COL=A,B,C",
            help="How many people chose each; the rest is 'other'. Or just a number.",
        ),
    ] = None,
    bins: Annotated[
        Texts | None,
        option(
            "--bins",
            panel=ASK,
            metavar="COL=0,18,65",
            help="How many people are in each band of a number; each edge starts one.",
        ),
    ] = None,
    items: Annotated[
        Texts | None,
        option(
            "--items",
            panel=ASK,
            metavar="COL=a,b,c",
            help="How many people have each item; see --at-most. Or just a number.",
        ),
    ] = None,
    at_most: Annotated[
        str | None,
        option(
            "--at-most",
            panel=ASK,
            metavar="K",
            help="One person has at most K of the items (without items: of the counts).",
        ),
    ] = None,
    groups: Annotated[
        str | None,
        option("--groups", panel=ASK, metavar="A,B", help="The same for each group; or how many."),
    ] = None,
    epsilon: Annotated[
        str | None,
        option("--epsilon", panel=SPEND, metavar="E", help="The usual measure: smaller is safer."),
    ] = None,
    delta: Annotated[
        str | None,
        option(
            "--delta",
            panel=SPEND,
            metavar="D",
            help="Goes with epsilon: far below 1 / (number of people).",
        ),
    ] = None,
    mu: Annotated[
        str | None,
        option("--mu", panel=SPEND, metavar="MU", help="In Gaussian differential privacy."),
    ] = None,
    rho: Annotated[
        str | None,
        option("--rho", panel=SPEND, metavar="RHO", help="In zero-concentrated privacy."),
    ] = None,
    rdp: Annotated[
        str | None,
        option("--rdp", panel=SPEND, metavar="ALPHA:EPSILON", help="In Renyi privacy."),
    ] = None,
    margin: Annotated[
        str | None,
        option(
            "--margin",
            panel=SPEND,
            metavar="M",
            help="The other way round: the budget for a margin of error of M.",
        ),
    ] = None,
    releases: Annotated[
        str, option("--releases", panel=SPEND, metavar="N", help="Split over N equal releases.")
    ] = "1",
    level: Annotated[
        str, option("--level", panel=SHOW, metavar="P", help="Level of the margins: 0.95.")
    ] = "0.95",
    neighbors: Annotated[
        str,
        option(
            "--neighbors",
            panel=RULES,
            metavar="add-remove|replace",
            help="Protect whether somebody is in the data (add-remove), or what they answered.",
        ),
    ] = "add-remove",
    importance: Annotated[
        Texts | None,
        option("--importance", panel=RULES, metavar="COL=W", help="What a squared error weighs."),
    ] = None,
    size_importance: Annotated[
        str | None,
        option(
            "--size-importance",
            panel=RULES,
            metavar="W",
            help="The same for the number of people: 0 unless given.",
        ),
    ] = None,
    size_dial: Annotated[
        str | None,
        option("--size-dial", panel=RULES, metavar="C", help="The same, as the paper's C."),
    ] = None,
    known_size: Annotated[
        bool, option("--known-size", panel=RULES, help="The number of people is public.")
    ] = False,
    as_json: Annotated[bool, option("--json", panel=SHOW, help="Print JSON.")] = False,
) -> None:
    """Show how accurate a release would be, before any data is touched.

    With a budget: every way to add the noise, and the best one. Without: what each budget brings.

    Example: halfnoise plan --count smoker --sum visits=0:20 --epsilon 1 --delta 1e-6
    """
    most = None if at_most is None else flags.whole_number("--at-most", at_most)
    queries: list[Query] = [flags.count(text) for text in count or []]
    queries += [flags.counts(counts)] if counts is not None else []
    queries += [flags.sum_(text) for text in sum_ or []]
    queries += [flags.mean(text) for text in mean or []]
    queries += [flags.choice(text) for text in choice or []]
    queries += [flags.bins(text) for text in bins or []]
    queries += [flags.items(text, most) for text in items or []]
    if not queries:
        raise InvalidParameterError(
            "there is nothing to publish yet; ask for something, for example --count smoker, or"
            " --counts 100 to try things out"
        )
    workload = Workload(
        tuple(flags.distinct(queries)),
        neighbors=flags.neighbors(neighbors),
        groups=None if groups is None else flags.groups(groups),
        at_most=None if items else most,
        importance=flags.importance(importance or []),
        size_importance=_optional("--size-importance", size_importance) or 0.0,
        size_dial=_optional("--size-dial", size_dial),
    )
    budget = flags.privacy(epsilon=epsilon, delta=delta, mu=mu, rho=rho, rdp=rdp)
    shared = {
        "releases": flags.whole_number("--releases", releases),
        "level": flags.number("--level", level),
        "known_size": known_size,
    }
    found = _planned(workload, budget, margin, delta, shared)
    typer.echo(json.dumps(found.to_dict(), indent=2) if as_json else repr(found))


@app.command("figures")
def figures_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to put them.")],
) -> None:
    """Redraw the paper's figures as SVG and PNG, with the plotted numbers as CSV."""
    from halfnoise.report.figures import draw_figures

    for path in draw_figures(folder):
        typer.echo(path)


def _planned(
    workload: Workload,
    budget: Privacy | None,
    margin: str | None,
    delta: str | None,
    shared: dict[str, Any],
) -> Plan | Outlook:
    stated = DELTA if delta is None else flags.number("--delta", delta)
    if margin is not None:
        if budget is not None:
            raise InvalidParameterError(
                "give a budget or --margin, not both: one follows from the other"
            )
        asked = flags.number("--margin", margin)
        budget = budget_for(workload, margin=asked, delta=stated, **shared)
    if budget is None:
        return plan(workload, delta=stated, **shared)
    return plan(workload, privacy=budget, **shared)


def _optional(flag: str, text: str | None) -> float | None:
    return None if text is None else flags.number(flag, text)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; what goes wrong becomes one sentence and exit status 2."""
    try:
        app(args=arguments)
    except HalfnoiseError as error:
        typer.echo(f"halfnoise: {error}", err=True)
        sys.exit(2)
