"""The demonstration: a survey of people who do not exist, its release, and the truth beside it.

Because the people are made up, the true values may be shown; with real people nobody may.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from halfnoise.checks import refuse
from halfnoise.face import Options, release
from halfnoise.files import write_whole
from halfnoise.ledger.sqlite_file import ENDING
from halfnoise.planning.outlook import plan
from halfnoise.planning.plan import Plan
from halfnoise.privacy.definitions import ApproxDP
from halfnoise.results.shown import shown
from halfnoise.scratch import own_folder
from halfnoise.text import short, text_table
from halfnoise.workload.categories import Choice
from halfnoise.workload.listing import DISCOVER
from halfnoise.workload.numbers import Count, Mean, Sum
from halfnoise.workload.queries import Query

PEOPLE, SEED = 200_000, 20_260_101
_NAMES = (
    "asthma arthritis diabetes hypertension migraine depression anxiety insomnia allergy eczema"
    " anaemia gout epilepsy glaucoma psoriasis hepatitis angina stroke cancer osteoporosis"
    " bronchitis ulcer tinnitus cataract"
)
CONDITIONS = _NAMES.split()
ANSWERS = ("yes", "no", "only at work", "only on holidays")
REGIONS = ("north", "south", "east", "west")
SOME = ("asthma", "diabetes", "migraine")  # shown by region
BUDGET = ApproxDP(epsilon=1, delta=1e-6)
QUERIES: tuple[Query, ...] = (
    *(Count(name) for name in CONDITIONS),
    Sum("visits", bounds=(0, 20)),
    Mean("spending", bounds=(0, 500)),
    Choice("exercise", ANSWERS),
)


def demonstrate(folder: Path) -> Iterator[str]:
    """Write the survey, release it, and say line by line what came out and what is true."""
    path, truth = write_survey(folder)
    yield f"A survey of {PEOPLE:,} people who do not exist is in {path}.\n"
    table = release(path, QUERIES, unit="person", privacy=BUDGET)
    usual = _usual_margins(plan(QUERIES, privacy=BUDGET))
    rows = []
    for kind, estimate in table.rows():
        name, std = estimate.name, estimate.std
        margin = f"±{short((estimate.high - estimate.low) / 2)}"
        standard = f"±{short(usual[name])}" if name in usual else ""
        private, true = (shown(x, std, kind) for x in (estimate.estimate, truth[name]))
        rows.append([name, private, margin, true, standard])
    yield text_table(["", "private", "margin", "true", "standard margin"], rows) + "\n"
    yield from table.promises()
    yield "\nThe same people by region, for another budget of the same size:\n"
    some, who = [Count(name) for name in SOME], Options(unit="person", privacy=BUDGET)
    listed = release(path, some, by="region", groups=REGIONS, other=None, size_importance=1, **who)
    rows = []
    for region, table in listed.items():
        rows.append([str(region)])
        for kind, estimate in table.rows():
            both = (estimate.estimate, truth[f"{region} {estimate.name}"])
            private, true = (shown(x, estimate.std, kind) for x in both)
            rows[-1].append(f"{private} (true {true})")
    yield text_table(["region", "number of people", *SOME], rows)
    names = ", ".join(map(str, release(path, some, by="region", groups=DISCOVER, **who)))
    yield f"\nHad nobody listed the regions, these would have been found: {names}."
    yield f"{plan(some, privacy=BUDGET, by='region', groups=DISCOVER).discovery}\n"
    yield "The true values can be shown because nobody is behind them. Try it yourself, and see"
    yield "what all of it adds up to:"
    yield f"  halfnoise release {path} --count asthma --count gout --unit person --epsilon 1"
    yield f"  halfnoise ledger show {path}{ENDING}"


def write_survey(folder: Path) -> tuple[Path, dict[str, float]]:
    """Write the survey as CSV, the same each time, and return it with its true values."""
    import duckdb

    random = np.random.default_rng(SEED)
    rates = random.uniform(0.01, 0.3, len(CONDITIONS))
    answers = {name: random.random(PEOPLE) < p for name, p in zip(CONDITIONS, rates, strict=True)}
    visits = np.minimum(random.poisson(4.0, PEOPLE), 20)
    spending = np.round(np.minimum(random.gamma(2.0, 60.0, PEOPLE), 500.0), 2)
    answered = random.random(PEOPLE) < 0.85
    exercise = random.choice(len(ANSWERS), PEOPLE, p=[0.4, 0.35, 0.1, 0.15])
    region = random.choice(len(REGIONS), PEOPLE, p=[0.4, 0.3, 0.2, 0.1])
    survey = {  # noqa: F841  # DuckDB finds it by its name
        "person": np.arange(1, PEOPLE + 1),
        **{name: given.astype(np.int8) for name, given in answers.items()},
        "visits": visits,
        "spending": np.ma.masked_array(spending, ~answered),
        "exercise": np.array(ANSWERS, dtype=object)[exercise],
        "region": np.array(REGIONS, dtype=object)[region],
    }
    path = folder / "made-up-survey.csv"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with duckdb.connect() as connection, own_folder() as own:
            connection.sql("select * from survey").write_csv(str(own / path.name))
            write_whole(path, (own / path.name).read_bytes())
    except OSError:
        rule, remedy = "a folder that can be written to", "it is made if it is missing"
        raise refuse("folder", rule, str(folder), remedy) from None
    truth = {"number of people": float(PEOPLE), "visits": float(visits.sum())}
    truth |= {name: float(given.sum()) for name, given in answers.items()}
    given = spending[answered]
    truth |= {"spending": float(given.mean()), "spending sum": float(given.sum())}
    truth |= {"spending answered": float(answered.sum()), "exercise=other": 0.0}
    for i, place in enumerate(REGIONS):
        truth |= {f"{place} number of people": float((region == i).sum())}
        truth |= {f"{place} {name}": float(answers[name][region == i].sum()) for name in SOME}
    truth |= {f"exercise={name}": float((exercise == i).sum()) for i, name in enumerate(ANSWERS)}
    return path, truth


def _usual_margins(planned: Plan) -> dict[str, float]:
    """Return the margins of the standard mechanism at the same budget, by name of estimate."""
    standard = planned.designs[0]
    margins = {}
    for block, parts in zip(standard.blocks, standard.parts(), strict=True):
        names = [name for query in block.asked for name in query.names]
        kinds = ("sum", "answered") if "answered" in parts else ("sum",) * len(names)
        for name, kind in zip(names, kinds, strict=True):
            margins[name] = standard.noise.margin(parts[kind], planned.level)
    return margins
