import ast
import inspect
import os
import pickle
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import halfnoise as hn
from halfnoise.ledger.booking import NO_LEDGER
from halfnoise.workload.queries import Query

FACE = [name for name in hn.__all__ if not name.startswith("_")]
EXCEPTIONS = [name for name in FACE if name.endswith("Error")]


def test_the_face_is_alphabetical() -> None:
    """Names are listed once, capitals first, as sorted() has them."""
    assert hn.__all__ == sorted(set(hn.__all__))


def test_the_face_is_complete() -> None:
    """The names that are listed are those that have a home, and those that type checkers see."""
    tree = ast.parse(inspect.getsource(hn))
    (seen,) = (each for each in tree.body if isinstance(each, ast.If))
    homes = {
        name.name: str(each.module).removeprefix("halfnoise.")
        for each in seen.body
        if isinstance(each, ast.ImportFrom)
        for name in each.names
    }
    assert homes == hn._HOMES
    assert sorted(homes) == hn.__all__
    assert dir(hn) == sorted([*hn.__all__, "__version__"])


def test_a_name_is_imported_when_it_is_asked_for() -> None:
    """Each way to ask gives the same thing, and what there is not is no attribute."""
    said = "import halfnoise as hn; assert 'Count' not in vars(hn); hn.Count; print(*vars(hn))"
    names = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert "Count" in names.stdout.split()
    assert "release" not in names.stdout.split()
    everything: dict[str, Any] = {}
    exec("from halfnoise import *", everything)  # noqa: S102  # as somebody at a prompt says it
    assert {name: getattr(hn, name) for name in hn.__all__}.items() <= everything.items()
    with pytest.raises(AttributeError, match="module 'halfnoise' has no attribute 'cuont'"):
        getattr(hn, "cuont")  # noqa: B009  # which no type checker lets pass


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


ENGINES = "duckdb pandas polars pyarrow pyspark ibis altair scipy"
ASKED_FOR = {
    "the library": ("import halfnoise", "numpy narwhals flint cryptography typer rich"),
    "a release": ("import halfnoise; halfnoise.release", "typer rich tomllib html xlsxwriter"),
    "the command": ("from halfnoise.cli import main", "numpy narwhals flint cryptography rich"),
    "its help": ("main(['release', '--help'])", "numpy narwhals flint cryptography pydantic"),
    "a mistake": ("main(['plan', '--mue', '1'])", "numpy narwhals flint cryptography pydantic"),
    "a plan": ("main(['plan', '--counts', '2', '--mu', '1'])", "pydantic rich"),
}


@pytest.mark.parametrize("what", ASKED_FOR)
def test_only_what_is_needed_is_loaded(what: str) -> None:
    """Each way to begin loads no engine, no frame, no drawing package, and what it needs alone."""
    code, others = ASKED_FOR[what]
    lines = [
        "import contextlib, sys",
        "if 'main' in sys.argv[1] and 'import' not in sys.argv[1]: from halfnoise.cli import main",
        "with contextlib.suppress(SystemExit): exec(sys.argv[1])",
        "print(*(each for each in sys.argv[2:] if each in sys.modules))",
    ]
    words = [code, *ENGINES.split(), *others.split()]
    asked = [sys.executable, "-c", "\n".join(lines), *words]
    ran = subprocess.run(asked, capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == ""


def test_the_version_stands_in_one_place() -> None:
    """The package has the version that the library has, which others repeat."""
    root = Path(__file__).resolve().parents[1]
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    assert "version" not in project["project"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/halfnoise/versions.py"
    cited = (root / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {hn.__version__}\n" in cited


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


@pytest.mark.parametrize(
    ("name", "instead"),
    [("epsilon", "ApproxDP"), ("delta", "ApproxDP"), ("mu", "GaussianDP"), ("missing", "Count")],
)
def test_an_option_of_the_command_leads_to_its_place_in_python(name: str, instead: str) -> None:
    """Who comes from the command line learns where Python says the same."""
    q: Any = hn
    with pytest.raises(hn.InvalidParameterError, match=f"no keyword '{name}'; say .*{instead}"):
        q.release("survey.csv", [A], **{name: 1})


@pytest.mark.parametrize("name", ["row_is_person", "i_know"])
def test_no_is_not_taken_for_yes(name: str) -> None:
    """A flag is True or False: any text, "no" too, would pass for yes."""
    given: dict[str, Any] = {"unit": "id", "privacy": hn.GaussianDP(mu=1), "ledger": None}
    given = given | {name: "no"} | ({"unit": None} if name == "row_is_person" else {})
    with pytest.raises(hn.InvalidParameterError, match=f"{name} must be True or False, got 'no'"):
        hn.release(pl.DataFrame({"id": [1], "a": [True]}), [A], **given)


@pytest.mark.parametrize("name", ["group_sizes", "unweighted_size", "effective_size"])
def test_flags_of_a_workload_are_true_or_false(name: str) -> None:
    """So are those of a workload."""
    given: dict[str, Any] = {"by": "b", "groups": ["x"], name: "no"}
    given |= {} if name == "group_sizes" else {"weight": hn.Weight("w", bounds=(0, 1))}
    with pytest.raises(hn.InvalidParameterError, match=f"{name} must be True or False, got 'no'"):
        hn.Workload([A], **given)


def test_a_release_without_a_ledger_says_so_once_it_is_made(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A frame has no ledger beside it: that is said of what was released, not of what was not."""
    frame = pl.DataFrame({"id": [1], "a": [True]})
    with pytest.raises(hn.InvalidParameterError):
        hn.release(frame, [A], unit="id", ledger=None)
    assert not caplog.messages
    hn.release(frame, [A], unit="id", privacy=hn.GaussianDP(mu=1))
    assert caplog.messages == [NO_LEDGER]


def test_importances_go_by_name() -> None:
    """A list of importances does not say whose they are."""
    with pytest.raises(hn.InvalidParameterError, match=r"importance must be by name, got \[1\]"):
        hn.Workload([A], importance=[1])  # type: ignore[arg-type]  # the mistake


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
