"""Exact noise beside NumPy's floats and OpenDP's integers."""

import functools
import statistics
import tracemalloc
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.table import Table as Grid

from bench.peers.answers import ask
from bench.peers.environments import versions
from bench.sheet import Part, Sheet
from bench.timing import medians
from halfnoise.noise import rounded_gaussian, rounded_laplace
from halfnoise.noise.bits import system_bits
from halfnoise.noise.sampler import Sampler
from halfnoise.noise.staircase import Table, gaussian_table, laplace_table, proved

SCALE = 2.0**20
SIZES = (10**6, 10**7)
PATIENCE = 120.0  # seconds in which OpenDP has to answer
FLOATS = np.random.default_rng()


def speed(size: int) -> Grid:
    """Compare nanoseconds per sample, with NumPy's float sampler as the measure."""
    scales = FLOATS.uniform(SCALE / 2, SCALE, size)
    rivals: dict[str, tuple[str, Callable[[], object]]] = {
        "Generator.normal": ("", lambda: FLOATS.normal(0.0, SCALE, size)),
        "rint(Generator.normal)": (
            "Generator.normal",
            lambda: np.rint(FLOATS.normal(0.0, SCALE, size)),
        ),
        "rounded_gaussian": ("Generator.normal", lambda: rounded_gaussian(SCALE, size)),
        "rounded_gaussian, 2^36": ("Generator.normal", lambda: rounded_gaussian(2.0**36, size)),
        "rounded_gaussian, distinct scales": (
            "rounded_gaussian",
            lambda: rounded_gaussian(scales),
        ),
        "Generator.laplace": ("", lambda: FLOATS.laplace(0.0, SCALE, size)),
        "rounded_laplace": ("Generator.laplace", lambda: rounded_laplace(SCALE, size)),
        "rounded_laplace, 2^36": ("Generator.laplace", lambda: rounded_laplace(2.0**36, size)),
    }
    seconds = medians({name: run for name, (_, run) in rivals.items()}, 31 if size < 10**7 else 7)
    grid = Grid("sampler", "ns per sample", "times", "of", title=f"{size:,} samples")
    for name, (base, _) in rivals.items():
        ratio = f"{seconds[name] / seconds[base]:.2f}" if base else ""
        grid.add_row(name, f"{seconds[name] / size * 1e9:.2f}", ratio, base)
    return grid


def against_opendp(size: int = 20_000, rounds: int = 5) -> Grid:
    """Compare with OpenDP's integer mechanisms on one vector, in an environment of its own."""
    grid = Grid("sampler", "ns per sample", "times faster", title="OpenDP's integer noise")
    for law, sampler in {"gaussian": rounded_gaussian, "laplace": rounded_laplace}.items():
        asked = ask("opendp", ("noise", law, str(SCALE), str(size), str(rounds)), PATIENCE)
        ours = medians({law: functools.partial(sampler, SCALE, 50 * size)}, rounds)[law]
        ours *= 1e9 / (50 * size)
        if not asked.releases:
            grid.add_row(f"OpenDP {law}", asked.why_no_more, "")
            continue
        theirs = statistics.median(asked.releases[0])
        grid.add_row(f"OpenDP {law}", f"{theirs:.0f}", "")
        grid.add_row(f"rounded_{law}", f"{ours:.2f}", f"{theirs / ours:.0f}")
    return grid


def single_draws() -> Grid:
    """Measure calls for one number."""
    seconds = medians(
        {
            "rounded_gaussian(scale)": lambda: rounded_gaussian(SCALE),
            "rounded_gaussian(scale, 1)": lambda: rounded_gaussian(SCALE, 1),
            "rounded_laplace(scale)": lambda: rounded_laplace(SCALE),
        },
        rounds=1001,
    )
    grid = Grid("call", "microseconds", title="one number")
    for name, taken in seconds.items():
        grid.add_row(name, f"{taken * 1e6:.1f}")
    return grid


def certain_share(size: int = 10**7) -> Grid:
    """Count the draws that floats do not settle."""
    tables: dict[str, Table] = {"gaussian": gaussian_table(), "laplace": laplace_table()}
    grid = Grid("scale", *tables, title=f"share of {size:,} draws on the certain path")
    out = np.empty(size, dtype=np.int64)
    for scale in (1.0, SCALE, 2.0**30, 2.0**36):
        shares = [
            Sampler(table, system_bits(), size).fill(out, scale) / size for table in tables.values()
        ]
        grid.add_row(f"2^{np.log2(scale):.0f}", *(f"{share:.1e}" for share in shares))
    return grid


def memory(size: int = 10**7) -> Grid:
    """Measure the peak of memory beyond the result, in a first call that also builds the table."""
    samplers = (rounded_gaussian, rounded_laplace)
    grid = Grid("sampler", "MiB beyond the result", title=f"memory for {size:,} samples")
    for sampler in samplers:
        proved.cache_clear()
        tracemalloc.start()
        result = sampler(SCALE, size)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        grid.add_row(sampler.__name__, f"{(peak - result.nbytes) / 2**20:.1f}")
    return grid


def part() -> Part:
    """Return what a page shows: beside NumPy, and beside OpenDP."""
    return Part([Sheet.of(speed(10**6)), Sheet.of(against_opendp())], {}, versions("opendp"))


def main() -> None:
    """Print all tables about noise."""
    console = Console()
    for size in SIZES:
        console.print(speed(size))
    for grid in (against_opendp(), single_draws(), certain_share(), memory()):
        console.print(grid)
