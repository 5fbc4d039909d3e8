"""The options of plan and release: a plan becomes a release by changing one word."""

import functools
import inspect
from collections.abc import Callable, Sequence
from types import MethodType
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from halfnoise.data.dialects import DIALECTS
from halfnoise.errors import InvalidParameterError
from halfnoise.spec.vocabulary import LISTS
from halfnoise.values import dataclass

ASK, PEOPLE, GROUP = "What to publish", "Who is one person", "Groups of people"
SPEND, RULES, TEXT, SHOW = "Privacy budget", "Rules", "What files look like", "Output"


@dataclass(frozen=True)
class Word:
    """One option: its word, what stands for its value, where the help shows it, what it says."""

    word: str
    metavar: str | None
    panel: str
    help: str

    @property
    def many(self) -> bool:
        """Whether it may be said several times."""
        return self.word in (*LISTS, "set")

    @functools.cached_property
    def parameter(self) -> inspect.Parameter:
        """The option as a parameter that typer understands; several commands have it."""
        shown: dict[str, Any] = {"metavar": self.metavar or "", "rich_help_panel": self.panel}
        option = typer.Option(f"--{self.word}", show_default=False, help=self.help, **shown)
        name, kind = self.word.replace("-", "_"), inspect.Parameter.KEYWORD_ONLY
        value: Any = list[str] | None if self.many else str | None
        default, value = (False, bool) if self.metavar is None else (None, value)
        return inspect.Parameter(name, kind, default=default, annotation=Annotated[value, option])


OPTIONS = (
    Word("count", "COL", ASK, "How many people say yes: smoker, old=age:at-least:65, 'q_*'."),
    Word("sum", "COL=LO:HI", ASK, "The sum of a column, each value kept in LO to HI."),
    Word(
        "mean", "COL=LO:HI", ASK, "The mean of those who answered; 0:9:variance: and how it varies."
    ),
    Word("choice", "COL=A,B,C", ASK, "How many chose each; the rest is 'other'."),
    Word("bins", "COL=0,18,65", ASK, "How many are in each band of a number."),
    Word("items", "COL=a,b,c", ASK, "How many have each item; E11.* is all that begin so."),
    Word("nested", "A,B=@FILE", ASK, "How many are in each place; state,county=@places.csv."),
    Word("table", "A,B", ASK, "How many are in each cell of a table by these choices and bands."),
    Word("margins", "W", ASK, "How much the margins of each table weigh: 0.01 unless given."),
    Word("by-cell", "NAME=A,B", ASK, "Break a count, sum or mean down by choices and bands."),
    Word("split", "MARK", ASK, "What parts the items in a cell: ; for J45;E11."),
    Word("at-most", "K", ASK, "Nobody has more than K of the items (or of the counts)."),
    Word("counts", "N", ASK, "To try things out: N counts (also --sum 0:20, --choice 5, ...)."),
    Word("unit", "COL", PEOPLE, "The column that says whom a row is about; or several: a,b."),
    Word("row-is-person", None, PEOPLE, "Each row is another person."),
    Word("by", "COL", GROUP, "The column that names the group; seen:week, age:bands:0,18; or a,b."),
    Word("groups", "A,B", GROUP, "The groups; @file lists them, discover finds them; or how many."),
    Word("missing-group", "NAME", GROUP, "Rows without a key are a group of their own, so called."),
    Word("other", "NAME", GROUP, "The group of all others: other unless given; none for none."),
    Word("max-groups", "G", GROUP, "In how many groups a person may be: 1 unless given."),
    Word("no-group-sizes", None, GROUP, "Leave out how many are in each group, if that helps."),
    Word("discover-delta", "D", GROUP, "The part of delta for discover: a tenth unless given."),
    Word("epsilon", "E", SPEND, "The usual measure: smaller is safer."),
    Word("delta", "D", SPEND, "Goes with epsilon: far below 1 / (number of people)."),
    Word("mu", "MU", SPEND, "In Gaussian differential privacy."),
    Word("rho", "RHO", SPEND, "In zero-concentrated differential privacy."),
    Word("rdp", "ALPHA:EPSILON", SPEND, "In Renyi differential privacy."),
    Word("noise", "KIND", SPEND, "gaussian or laplace; by what each is worth unless given."),
    Word("one-of", "N", SPEND, "Take one N-th of the ledger's limit, in place of a budget."),
    Word("i-know", None, SPEND, "Allow a budget that protects hardly anybody: epsilon above 10."),
    Word("where", "COND", RULES, "Who is in the table: age:at-least:18; twice, both must hold."),
    Word("missing", "A,B", RULES, "Codes that stand for no answer: -99,N/A."),
    Word("neighbors", "RULE", RULES, "Hide who is in the data (add-remove), or answers (replace)."),
    Word("weight", "COL=LO:HI", RULES, "How often a person counts, each weight kept in LO to HI."),
    Word("unweighted-size", None, RULES, "With weights: how many people there are, too."),
    Word("effective-size", None, RULES, "With weights: the sum of their squares, too."),
    Word("importance", "NAME=W", RULES, "How much a squared error of a query weighs."),
    Word("size-importance", "W", RULES, "The same for the number of people: 0 unless given."),
    Word("size-dial", "C", RULES, "The same, as the C of the paper."),
    Word("objective", "GOAL", RULES, "What is least: the total error, or the largest one."),
    Word("known-size", "N", RULES, "The number of people, where it is public."),
    Word("dialect", "NAME", TEXT, f"What is usual where: {', '.join(DIALECTS)}."),
    Word("delimiter", "MARK", TEXT, "What separates columns: by the file's ending unless given."),
    Word("quote", "MARK", TEXT, 'What quotes text: " unless given; none for nothing.'),
    Word(
        "quote-newlines",
        None,
        TEXT,
        "Quotes may span lines; one left open takes others' rows away.",
    ),
    Word("encoding", "NAME", TEXT, "The encoding: utf-8 unless given."),
    Word("decimal", "MARK", TEXT, "The decimal mark: . unless given."),
    Word("thousands", "MARK", TEXT, "The mark between thousands: none unless given; or space."),
    Word("dates", "FORM", TEXT, "How days are written beside yyyy-mm-dd: dd.mm.yyyy."),
    Word("yes", "A,B", TEXT, "Words for yes, in any case: ja,wahr."),
    Word("no", "A,B", TEXT, "Words for no, in any case: nein,falsch."),
    Word("ignore-case", None, TEXT, "Codes and categories are the same in any case and spacing."),
    Word("names", "A,B", TEXT, "The columns, where the first line is a row and no header."),
    Word("skip", "N", TEXT, "How many lines or rows before the header are passed over."),
    Word("header-row", "N", TEXT, "The same in other words: which line or row holds the names."),
    Word("sheet", "NAME", TEXT, "The sheet of an .xlsx, .ods or .xls file, or its number from 1."),
    Word("file-table", "NAME", TEXT, "The table of a DuckDB or SQLite file; or --table NAME."),
    Word("engine", "NAME", TEXT, "Who reads files: duckdb unless given, or spark for Parquet."),
    Word("spark-master", "URL", TEXT, "Where Spark is: spark://host:7077, local[*], sc://host."),
    Word("memory", "1GB", TEXT, "What DuckDB may hold: 0.5 GB for each processor unless given."),
    Word("scratch", "DIR", TEXT, "Where what does not fit goes: where temporary files are."),
    Word("level", "P", SHOW, "The level of the margins of error: 0.95 unless given."),
    Word("sampling", "HOW", SHOW, "Margins cover who was asked, too: srs, a simple random sample."),
    Word("design-effect", "D", SHOW, "By how much more that sample varies: 1 unless given."),
    Word("spec", "FILE", SHOW, "Take all this from a TOML file."),
    Word("set", "NAME=VALUE", SHOW, "Fill {NAME} in that file."),
    Word("save-spec", "FILE", SHOW, "Write all this to a TOML file."),
)
_WHERE = "A file (DATA.ledger unless given), or postgresql://host/db#name."
LEDGER = Word("ledger", "FILE", SPEND, _WHERE)
EXPECTED = Word(
    "people", "N", SHOW, "How many there may be (their weights, if any): means as means."
)
PLAN = (
    *OPTIONS,
    LEDGER,
    Word("margin", "M", SPEND, "The other way round: the budget for a margin of error of M."),
    Word("accept", "2%", SPEND, "The budget for shares that are off by 2 points; with --people."),
    Word("ceiling", "E", SPEND, "Warn if that takes an epsilon above this: 3 unless given."),
    Word("releases", "N", SPEND, "Split over N releases."),
    EXPECTED,
    Word("json", None, SHOW, "Print JSON."),
    # A plan becomes a release by changing one word.
    Word("out", "FILE", SHOW, "For release."),
    Word("overwrite", None, SHOW, "For release."),
    Word("excel", None, SHOW, "For release."),
    Word("flag", "20%,33%", SHOW, "For release."),
    Word("suppress", "50%", SHOW, "For release."),
    Word("no-ledger", None, SPEND, "For release."),
    Word("name", "NAME", SPEND, "For release."),
    Word("resume", "NAME", SPEND, "For release."),
)
MARKS = (
    Word("flag", "20%,33%", SHOW, "Mark numbers (a), (b) from these relative standard errors on."),
    Word("suppress", "50%", SHOW, "Leave out, for readers, what is noise from there on."),
)
EXCEL = Word("excel", None, SHOW, "CSV for a spreadsheet with decimal commas: ; between columns.")
RELEASE = (
    *OPTIONS,
    *MARKS,
    Word("out", "FILE", SHOW, "Where to: .html, .xlsx, .csv, .json, .jsonl, .parquet, .md; - CSV."),
    EXCEL,
    Word("overwrite", None, SHOW, "Replace an output that exists."),
    Word("dry-run", None, SHOW, "Say what would be done; no row is read."),
    LEDGER,
    Word("no-ledger", None, SPEND, "Keep no account of what this costs beside other releases."),
    Word("name", "NAME", SPEND, "The same name and request return the same result, drawn once."),
    Word("resume", "NAME", SPEND, "Go on with a charge that stands; never charge anew."),
)
CHECK = (*RELEASE, EXPECTED, Word("json", None, SHOW, "Print JSON."))
SPEC = (
    *(option for option in OPTIONS if option.panel == TEXT),
    Word("table", "NAME", TEXT, "The table of a DuckDB or SQLite file."),
    Word("out", "FILE", SHOW, "Where to, if not printed; never over a file that exists."),
)
_OVER = Word("overwrite", None, SHOW, "Replace an output that exists.")
COMPARE = (
    Word("shares", None, SHOW, "Compare counts as shares of all people."),
    Word("level", "P", SHOW, "The level of the margins: that of the later release unless given."),
    Word("out", "FILE", SHOW, "Where to, if not printed: .csv, .json or .md."),
    _OVER,
    Word("json", None, SHOW, "Print JSON."),
)
NOTE = (
    Word("language", "en", SHOW, "The language: en, de or fr; en unless given."),
    Word("ledger", "FILE", SHOW, "Where it was charged: tells what all releases come to."),
    Word("out", "FILE", SHOW, "Where to, if not printed: .md or .html."),
    _OVER,
)

REPORT = (
    Word("out", "FILE", SHOW, "Where to: .html, .xlsx, .csv, .json, .jsonl, .parquet or .md."),
    Word("title", "TEXT", SHOW, "What stands above the page: what was asked unless given."),
    *MARKS,
    EXCEL,
    _OVER,
)

# What is fixed when a ledger is made.
_SHARED = ("unit", "row-is-person", "epsilon", "delta", "mu", "rho", "rdp", "i-know", "neighbors")
INIT = (
    *(option for option in OPTIONS if option.word in _SHARED),
    Word("data-set", "NAME", PEOPLE, "What the data are called: the file's name unless given."),
    Word("laplace", "E", SPEND, "How much of epsilon is kept for Laplace noise."),
    Word("discover-delta", "D", SPEND, "How much of delta is kept for discovering groups."),
)


def _kept_as_said(parameters: list[Any]) -> list[Any]:
    """Let text and flags be taken as they are; typer has words for what is required and missing.

    For every option, said or not, typer would load pydantic to make text of text.
    """

    def process_value(self: Any, ctx: Any, value: Any) -> Any:
        texts = value if isinstance(value, tuple | list) else [value]
        plain = self.callback is None and all(isinstance(text, str | bool) for text in texts)
        said = value is not None and len(texts) > 0
        taken = plain if said else not self.required
        return value if taken else type(self).process_value(self, ctx, value)

    for parameter in parameters:
        parameter.process_value = MethodType(process_value, parameter)
    return parameters


class Several(TyperGroup):
    """Several commands; their own options are flags."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options."""
        return _kept_as_said(super().get_params(ctx))


class Once(TyperCommand):
    """A command that refuses an option said twice of which it would keep only the last.

    All that it takes is text or a flag.
    """

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the arguments and options."""
        return _kept_as_said(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words twice: the first time for what is there more than once."""
        _, _, said = self.make_parser(ctx).parse_args(args=list(args))
        for option in {each for each in said if said.count(each) > 1}:
            if isinstance(option, TyperOption) and not (option.multiple or option.is_flag):
                twice = f"{option.opts[0]} is said twice, and only the last would count"
                raise InvalidParameterError(f"{twice}; keep one of them")
        return super().parse_args(ctx, args)


def with_options(words: Sequence[Word]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command its options; what was said reaches it as ``words``."""
    options = {option.word.replace("-", "_"): option for option in words}

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(**given: Any) -> None:
            values = {option.word: given.pop(name) for name, option in options.items()}
            command({w: x for w, x in values.items() if x not in (None, False, [])}, **given)

        arguments = list(inspect.signature(command).parameters.values())[1:]
        parameters = [*arguments, *(option.parameter for option in options.values())]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
        run.__annotations__ = {p.name: p.annotation for p in parameters}
        return run

    return decorated
