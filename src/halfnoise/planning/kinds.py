"""Which kind of noise was asked for, and whether it may be used."""

from halfnoise.checks import refuse
from halfnoise.errors import NotSupportedError
from halfnoise.noise.law import Noise
from halfnoise.privacy.definitions import Budget
from halfnoise.workload.workload import Workload


def noise_of(name: str | None, workload: Workload, budget: Budget | None = None) -> Noise | None:
    """Return the noise that is asked for by name, which tables and the budget must allow."""
    if workload.gaussian_only and (
        name == Noise.LAPLACE.value or (budget is not None and budget.mu is None)
    ):
        if workload.unweighted_size:
            raise NotSupportedError(
                "the unweighted size comes with Gaussian noise, got Laplace noise, or an epsilon"
                " without delta; give the budget as epsilon and delta (--epsilon 1 --delta 1e-6),"
                " or leave unweighted_size out"
            )
        raise NotSupportedError(
            "tables are released with Gaussian noise, got Laplace noise, or an epsilon without"
            " delta: what tables share saves nothing there, as a person moves all cells of what is"
            " measured; give the budget as epsilon and delta (--epsilon 1 --delta 1e-6)"
        )
    if name is None:
        return Noise.GAUSSIAN if workload.gaussian_only else None
    kinds = {each.value: each for each in Noise}
    if not isinstance(name, str) or name not in kinds:
        raise refuse("noise", "'gaussian' or 'laplace'", name)
    kind = kinds[name]
    if budget is not None and kind.amount(budget) is None:
        other = "laplace" if kind is Noise.GAUSSIAN else "gaussian"
        remedy = (
            "Gaussian noise needs a delta" if other == "laplace" else "Laplace noise costs epsilon"
        )
        remedy += "; give the budget as epsilon and delta (--epsilon 1 --delta 1e-6)"
        raise refuse("noise", f"{other!r} with this budget", name, remedy)
    return kind
