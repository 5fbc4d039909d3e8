"""On what was measured: the machine and the versions, without its name."""

import os
import platform
from importlib import metadata
from pathlib import Path

PACKAGES = (
    "halfnoise",
    "duckdb",
    "narwhals",
    "numpy",
    "polars",
    "pyarrow",
    "python-flint",
    "pyspark",
)


def described() -> str:
    """Return the cores, the memory, the processor and the system."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    model = _processor() or platform.machine()
    system = f"{platform.system()} {platform.machine()}"
    return f"{os.cpu_count()} cores, {pages / 2**30:.0f} GiB of memory, {model}, {system}"


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return ""
    names = (line.partition(":")[2] for line in text.splitlines() if line.startswith("model name"))
    return " ".join(next(names, "").split())


def versions() -> dict[str, str]:
    """Return the versions of Python and of what is measured with it."""
    found = {"Python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
