"""Errors on the same job at the same epsilon and delta, measured over repeated releases.

Some people, d items, half of the people have each: how many have it? A person may have any of them.
"""

import logging
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import polars as pl
from rich.console import Console

import halfnoise as hn
from bench.peers.answers import Answers, ask
from bench.peers.environments import PEERS, versions
from bench.sheet import Part, Sheet, held

EPSILON, DELTA = 1.0, 1e-6
REPEATS = {1: 500, 10: 300, 100: 400, 1_000: 50, 10_000: 50}
MOST = {100: 0.56, 10_000: 0.51}  # of the standard Gaussian's
PATIENCE = float(os.environ.get("HALFNOISE_BENCH_PATIENCE", "60"))
OURS, STANDARD = "halfnoise", "standard Gaussian (formula)"
PEOPLE = 20
ABOUT = (
    "Measured over repeated releases. On a vector, and by hand: as who knows would do it. "
    "diffprivlib's tools cut their answers off at the number of people, here 10,000, which hides "
    "part of their error at d = 10,000."
)


@dataclass(frozen=True, slots=True)
class Way:
    """One way in which a peer does the job: its words, for how many people, and its time."""

    peer: str
    words: Sequence[str] = ()
    people: int = PEOPLE
    patience: float = PATIENCE


WAYS = {
    "OpenDP, Gaussian on a vector": Way("opendp", ("vector",)),
    "OpenDP, Polars API": Way("opendp", ("polars",)),
    "diffprivlib, Gaussian by hand": Way("diffprivlib", ("gaussian",)),
    "diffprivlib, tools.sum": Way("diffprivlib", ("tools",), 10_000),  # it cuts off at people
    "PipelineDP": Way("pipeline-dp"),
    "Tumult Analytics, zCDP": Way("tumult", patience=6 * PATIENCE),  # it starts Spark
}


def standard(d: int) -> float:
    """Return the standard error of the analytic Gaussian mechanism for d counts."""
    phi = NormalDist().cdf

    def delta(sigma: float) -> float:
        near, far = 1 / (2 * sigma) - EPSILON * sigma, -1 / (2 * sigma) - EPSILON * sigma
        return phi(near) - math.exp(EPSILON) * phi(far)

    low, high = 0.1, 100.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if delta(middle) > DELTA else (low, middle)
    return high * math.sqrt(d)


def ours(d: int, repeats: int) -> Answers:
    """Make the release again and again."""
    logging.getLogger("halfnoise").setLevel(logging.ERROR)
    person, item = np.nonzero(np.add.outer(np.arange(PEOPLE), np.arange(d)) % 2)
    people = pl.DataFrame({"person": person, "item": item})
    budget = hn.ApproxDP(epsilon=EPSILON, delta=DELTA)
    found = [
        hn.release(
            people,
            [hn.Items("item", list(range(d)))],
            unit="person",
            privacy=budget,
            ledger=None,
        )
        for _ in range(repeats)
    ]
    return Answers([[float(x) for x in each.values[:d]] for each in found])


def measured(way: Way) -> dict[int, Answers]:
    """Ask a peer for each number of items; where it gave nothing, more are not tried."""
    found: dict[int, Answers] = {}
    last = Answers(())
    for d, repeats in REPEATS.items():
        if found and not last.releases:
            last = Answers((), "not tried")
        else:
            words = ("errors", *way.words, str(d), str(repeats), str(way.people))
            last = ask(way.peer, words, way.patience)
        found[d] = last
    return found


def part(say: Callable[[str], None] = print) -> Part:
    """Measure all, and return the tables."""
    say(OURS)
    mine = {d: ours(d, repeats) for d, repeats in REPEATS.items()}
    theirs = {}
    for name, way in WAYS.items():
        say(name)
        theirs[name] = measured(way), way.people
    return tabulated(mine, theirs)


def tabulated(mine: dict[int, Answers], theirs: dict[str, tuple[dict[int, Answers], int]]) -> Part:
    """Return the tables of what was measured."""
    rows = {OURS: (mine, PEOPLE)} | theirs
    usual = {d: standard(d) for d in REPEATS}
    shares = {d: each.error(PEOPLE / 2) / usual[d] for d, each in mine.items()}
    columns = (
        "root mean squared error (of the standard Gaussian's)",
        *(f"d = {d:,}" for d in usual),
    )

    def shown(answers: Answers, d: int, people: int) -> str:
        error = answers.error(people / 2)
        return "" if math.isnan(error) else f"{error:.4g} ({error / usual[d]:.3f})"

    title = f"d counts at epsilon {EPSILON:g}, delta {DELTA:g}"
    errors = Sheet(
        title,
        columns,
        [
            (STANDARD, *(f"{error:.4g} (1)" for error in usual.values())),
            *(
                (name, *(shown(answers, d, people) for d, answers in found.items()))
                for name, (found, people) in rows.items()
            ),
        ],
        ABOUT,
    )
    behind = Sheet(
        "releases behind each number, and why there are no more",
        ("", *columns[1:]),
        [
            (name, *(_behind(answers) for answers in found.values()))
            for name, (found, _) in rows.items()
        ],
    )
    asked = Sheet(
        "what is asked",
        ("noise per query, of the standard Gaussian's", "measured", "at most", ""),
        [
            (f"d = {d:,}", f"{shares[d]:.4f}", f"{most:g}", held(shares[d] <= most))
            for d, most in MOST.items()
        ],
    )
    pinned = {name: said for peer in PEERS for name, said in versions(peer).items()}
    facts = {f"share at {d}": share for d, share in shares.items()}
    return Part([errors, behind, asked], facts, pinned)


def _behind(answers: Answers) -> str:
    number = len(answers.releases)
    return ", ".join(filter(None, (f"{number:,}" if number else "", answers.why_no_more)))


def main() -> None:
    """Print the tables."""
    for sheet in part().sheets:
        Console(width=160).print(sheet.grid())
