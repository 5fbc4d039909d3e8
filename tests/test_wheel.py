"""What is installed: a wheel with everything in it, into an environment with nothing else."""

import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

import halfnoise as hn
from support.environment import Environment, made

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("bench", "docs", "examples", "src", "tests")  # those that there are go into the sdist
FILES = {"CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md"}
FILES |= {"SECURITY.md", "constraints.txt", "pyproject.toml", ".gitignore", "PKG-INFO"}
MADE = ("__pycache__", ".hypothesis", ".pytest_cache")
EVERY_MODULE = """
import importlib, pkgutil, halfnoise
for each in pkgutil.walk_packages(halfnoise.__path__, "halfnoise."):
    if each.name != "halfnoise.__main__":
        importlib.import_module(each.name)
        print(each.name)
"""


@dataclass(frozen=True, kw_only=True)
class Built:
    """What was built."""

    wheel: Path
    sdist: Path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Build the sdist, and the wheel from it, as ``make wheel`` does."""
    if not all(map(find_spec, ("build", "hatchling", "pip"))):
        pytest.skip("build, hatchling and pip are not all installed")
    folder = tmp_path_factory.mktemp("dist")
    build = (sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    subprocess.run(build, capture_output=True, check=True)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return Built(wheel=wheel, sdist=sdist)


@pytest.fixture(scope="module")
def environment(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Install the wheel into an environment of its own, outside the checkout."""
    return made(tmp_path_factory.mktemp("installed") / "environment", built.wheel)


def files(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder, but for what tools leave there."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not {*MADE} & {*path.relative_to(folder).parts}:
            yield path


def test_the_wheel_is_the_package(built: Built) -> None:
    """It holds every file of the package, byte for byte, what says who it is, and nothing else."""
    with zipfile.ZipFile(built.wheel) as wheel:
        content = {name: wheel.read(name) for name in wheel.namelist()}
    source = {path.relative_to(ROOT / "src").as_posix(): path for path in files(ROOT / "src")}
    assert {name: path.read_bytes() for name, path in source.items()}.items() <= content.items()
    others = {name.split("/", 1)[1] for name in content.keys() - source.keys()}
    assert others == {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}
    assert {"halfnoise/py.typed", "halfnoise/schema/release.schema.json"} <= content.keys()
    assert built.wheel.name == f"halfnoise-{hn.__version__}-py3-none-any.whl"


def test_the_sdist_has_what_tests_need(built: Built) -> None:
    """It holds the package, the tests and what they read, and nothing that happens to lie about."""
    with tarfile.open(built.sdist) as sdist:
        found = {name.split("/", 1)[1] for name in sdist.getnames() if "/" in name}
    folders = [ROOT / name for name in FOLDERS if (ROOT / name).is_dir()]
    wanted = {path.relative_to(ROOT).as_posix() for each in folders for path in files(each)}
    assert found == wanted | FILES


def test_it_runs_without_the_checkout(environment: Environment) -> None:
    """Both ways to call it run what was installed, which is complete."""
    called = (
        "import halfnoise, halfnoise.cli as c; print(halfnoise.__file__, c.__file__, sep='\\n')"
    )
    for place in environment.run("python", "-c", called).stdout.split():
        assert environment.packages in Path(place).parents
    shown = f"halfnoise {hn.__version__}\n"
    assert environment.run("halfnoise", "--version").stdout == shown
    assert environment.run("python", "-m", "halfnoise", "--version").stdout == shown
    demo = environment.run("halfnoise", "demo")
    assert "A survey of 200,000 people who do not exist" in demo.stdout
    assert "Traceback" not in demo.stderr
    assert (environment.folder / "halfnoise-demo").is_dir()
    words = ("plan", "--counts", "20", "--epsilon", "1", "--delta", "1e-6")
    assert "correlated-gaussian" in environment.run("python", "-m", "halfnoise", *words).stdout


def test_what_it_imports_is_what_it_requires(environment: Environment) -> None:
    """Every module can be imported where there is only what the wheel requires."""
    imported = environment.run("python", "-c", EVERY_MODULE).stdout.split()
    modules = {path.relative_to(ROOT / "src").with_suffix("") for path in files(ROOT / "src")}
    named = {".".join(path.parts).removesuffix(".__init__") for path in modules}
    named -= {"halfnoise", "halfnoise.__main__", "halfnoise.py", "halfnoise.schema.release.schema"}
    assert {*imported} == named


def test_a_requirement_that_is_missing_is_found(environment: Environment) -> None:
    """Without one of them that check fails: nothing else makes it pass."""
    link = environment.packages / "flint"
    aside = link.rename(environment.folder / "flint-aside")
    ran = environment.run("python", "-c", EVERY_MODULE, check=False)
    aside.rename(link)
    assert ran.returncode == 1
    assert "No module named 'flint'" in ran.stderr
