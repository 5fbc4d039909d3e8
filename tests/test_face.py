import inspect
import subprocess
import sys

import pytest

import halfnoise as hn

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
    ran = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "[]"
