import inspect
import os
import pickle
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import halfnoise as hn
from halfnoise.workload.queries import Query

FACE = [name for name in hn.__all__ if not name.startswith("_")]
EXCEPTIONS = [name for name in FACE if name.endswith("Error")]


def test_the_face_is_alphabetical() -> None:
    """Names are listed once, capitals first, as sorted() has them."""
    assert hn.__all__ == sorted(set(hn.__all__))


def test_the_face_is_complete() -> None:
    """Every public name of the package that is no module is listed, and nothing else."""
    public = {
        name
        for name, value in vars(hn).items()
        if not name.startswith("_") and not inspect.ismodule(value)
    }
    assert public == set(hn.__all__)


@pytest.mark.parametrize("name", FACE)
def test_every_public_name_has_an_example(name: str) -> None:
    """Every public name says what it is, with an example; exceptions and protocols say it alone."""
    thing = getattr(hn, name)
    text = inspect.getdoc(thing) or ""
    assert text.split("\n")[0].endswith((".", ":", "``print`` it."))
    if name in EXCEPTIONS or getattr(thing, "_is_protocol", False):
        return
    if name in ("Release", "GroupedRelease"):
        # The example of release makes one and reads it.
        thing, text = hn.release, inspect.getdoc(hn.release) or ""
    assert ">>> " in text


def test_exceptions_form_one_tree() -> None:
    """Whatever halfnoise foresees is caught by one name."""
    for name in EXCEPTIONS:
        assert issubclass(getattr(hn, name), hn.HalfnoiseError)
    assert issubclass(hn.InvalidParameterError, ValueError)
    assert issubclass(hn.MissingExtraError, ImportError)


def test_importing_brings_no_engine() -> None:
    """Importing the library loads no frame, no engine and no drawing package."""
    heavy = ("pandas", "polars", "pyarrow", "pyspark", "ibis", "altair", "duckdb", "scipy")
    code = f"import sys, halfnoise; print([m for m in {heavy} if m in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_the_version_is_the_packages() -> None:
    """The version is the one of the package."""
    project = Path(__file__).resolve().parents[1] / "pyproject.toml"
    assert hn.__version__ == tomllib.loads(project.read_text("utf-8"))["project"]["version"]


def test_the_package_runs_as_a_module_and_completes_words() -> None:
    """``python -m halfnoise`` is the command, which completes its words in a shell."""
    command = [sys.executable, "-m", "halfnoise"]
    shell = {
        "COMP_WORDS": "halfnoise rel",
        "COMP_CWORD": "1",
        "_HALFNOISE_COMPLETE": "complete_bash",
    }
    asked = {"--version": {}, "": shell}
    version, completed = (
        subprocess.run(
            [*command, *filter(None, [word])],
            env=os.environ | more,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for word, more in asked.items()
    )
    assert version == f"halfnoise {hn.__version__}"
    assert completed == "release"


A = hn.Count("a")
MISSPELT: dict[str, tuple[Callable[..., Any], tuple[object, ...], dict[str, object]]] = {
    "max_groups": (hn.release, (None, [A]), {"max_group": 2}),
    "privacy": (hn.plan, ([A],), {"privaci": 1}),
    "importance": (hn.plan, ([A],), {"importence": {}}),
    "margin": (hn.budget_for, ([A],), {"margins": 2}),
    "neighbors": (hn.Workload, ([A],), {"neighbours": 2}),
    "at_least": (hn.Count, ("a",), {"at_leats": 2}),
    "number": (hn.Counts, (), {"numbr": 3}),
    "bounds": (hn.Sum, ("a",), {"bound": (0, 1)}),
    "missing": (hn.Mean, ("a",), {"bounds": (0, 1), "misssing": 3}),
    "categories": (hn.Choice, ("a",), {"categorys": ["x"]}),
    "edges": (hn.Bins, ("a",), {"edgs": [1]}),
    "at_most": (hn.Items, ("a", ["x", "y"]), {"at_mst": 1}),
    "up_to": (hn.Where, ("a",), {"upto": 1}),
    "every": (hn.By, ("a",), {"evry": "day"}),
    "delimiter": (hn.TextFormat, (), {"delimeter": ";"}),
}


@pytest.mark.parametrize("name", MISSPELT)
def test_a_misspelt_keyword_names_the_nearest(name: str) -> None:
    """A keyword that there is not is refused with the one that was meant."""
    called, given, wrong = MISSPELT[name]
    with pytest.raises(hn.InvalidParameterError, match=f"; did you mean '{name}'\\?$"):
        called(*given, **wrong)


def test_a_keyword_like_no_other_is_refused_too() -> None:
    """Where no keyword is near, all of them are named."""
    with pytest.raises(hn.InvalidParameterError, match="no keyword 'xyz'; known are column, every"):
        hn.By("a", xyz=1)  # type: ignore[call-arg]  # the mistake


def test_values_pickle() -> None:
    """Queries, rules, budgets, workloads and plans go to other processes and stay what they are."""
    queries: list[Query] = [
        hn.Count("a", at_least=3, where=hn.Where("b", is_in=[1, 2]), missing=-9),
        hn.Sum("b", bounds=(0, 3)),
        hn.Mean("c", bounds=(0, 1)),
        hn.Choice("d", ["x", "y"]),
        hn.Bins("e", [0, 1]),
        hn.Items("f", ["a", "b"], at_most=1),
        hn.Counts(3),
    ]
    budgets: list[Any] = [
        hn.PureDP(epsilon=1),
        hn.ApproxDP(epsilon=1, delta=1e-6),
        hn.GaussianDP(mu=1),
        hn.ConcentratedDP(rho=1),
        hn.RenyiDP(alpha=2, epsilon=1),
        hn.DiscoveryDP(kept=hn.GaussianDP(mu=1), delta=1e-6),
    ]
    workload = hn.Workload(queries, by=hn.By("g"), groups=["x"], importance={"b": 2.0})
    discovered = hn.Workload(queries[:2], by="g", groups="discover")
    plans = [hn.plan(workload, privacy=budget) for budget in budgets[:5]]
    plans.append(hn.plan(discovered, privacy=budgets[1]))
    values = [*queries, *budgets, workload, discovered, hn.TextFormat(), *plans, hn.plan(workload)]
    for value in values:
        again = pickle.loads(pickle.dumps(value))
        assert again == value
        assert repr(again) == repr(value)
