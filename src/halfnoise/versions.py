"""Which versions are at work: what a report of something unforeseen needs, and nothing of data."""

import platform
import sys

VERSION = "0.1.0"  # of halfnoise; pyproject.toml takes it from here
# Packages through which rows are read, by the name under which they are imported.
ENGINES = {
    "duckdb": "duckdb",
    "ibis": "ibis-framework",
    "pandas": "pandas",
    "polars": "polars",
    "pyarrow": "pyarrow",
    "pyspark": "pyspark",
}
PACKAGES = {"halfnoise": "halfnoise", "narwhals": "narwhals", "numpy": "numpy", **ENGINES}


def installed_version(package: str) -> str | None:
    """Return the version of a package, by the name under which it is imported; None if missing."""
    if package == "halfnoise":
        return VERSION
    from importlib.metadata import PackageNotFoundError, version  # which takes its time

    try:
        return version(PACKAGES.get(package, package))
    except PackageNotFoundError:
        return None


def at_work() -> str:
    """Return the versions of Python, of the system and of all packages that are loaded.

    >>> at_work().startswith("Python ")
    True
    """
    loaded = [name for name in PACKAGES if name in sys.modules and installed_version(name)]
    found = [f"{name} {installed_version(name)}" for name in loaded]
    return ", ".join([f"Python {platform.python_version()}", platform.system(), *found])
