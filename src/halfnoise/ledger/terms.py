"""The terms of a charge: what is billed, and what does not add up with what is there."""

from collections.abc import Mapping, Sequence
from typing import Any

from halfnoise.checks import is_name, not_negative, refuse
from halfnoise.errors import InvalidParameterError
from halfnoise.ledger.entries import LIMITS, Charge, History, Opening, damaged
from halfnoise.ledger.plain import LONGEST, is_line
from halfnoise.privacy.account import Account
from halfnoise.privacy.definitions import (
    ApproxDP,
    Guarantee,
    MixedDP,
    Neighbors,
    Privacy,
    PureDP,
)
from halfnoise.proof import exactly
from halfnoise.values import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """What is to be charged: for which request, about whom, under which name.

    ``request``: the hash of all that was asked. ``what``: the same in a few words. ``times``: of
    how many equal releases this is one. ``terms``: what its plan was made with.
    """

    guarantee: Guarantee | MixedDP
    request: str
    what: str
    unit: tuple[str, ...] = ()
    neighbors: Neighbors = Neighbors.ADD_REMOVE
    name: str | None = None
    times: int = 1
    terms: Mapping[str, Any] = field(default_factory=dict)


def opened(
    *,
    data_set: str,
    unit: str | Sequence[str],
    neighbors: Neighbors,
    limit: Privacy | None = None,
    laplace: float | None = None,
    discover_delta: float | None = None,
) -> Opening:
    """Return what a ledger is made with, or refuse what makes no sense."""
    if limit is not None and type(limit) not in LIMITS.values():
        raise refuse("limit", "a privacy definition", limit, "for example GaussianDP(mu=1)")
    if not isinstance(unit, Sequence):
        raise refuse("unit", "a column's name, or a list of such", unit)
    kept = {"laplace": laplace, "discover_delta": discover_delta}
    pure, delta = (None if x is None else exactly(not_negative(**{n: x})) for n, x in kept.items())
    opening = Opening(
        data_set=data_set,
        unit=(unit,) if isinstance(unit, str) else tuple(unit),
        neighbors=neighbors,
        limit=limit,
        pure=pure,
        delta=delta,
    )
    _check(opening)
    return opening


def _check(opening: Opening) -> None:
    """Refuse terms that make no sense together."""
    if not all(map(is_name, opening.unit)) or len(set(opening.unit)) < len(opening.unit):
        raise refuse("unit", "columns that are each named once", opening.unit)
    if not all(map(is_line, opening.unit)):
        remedy = "rename it, or keep no ledger (--no-ledger)"
        raise refuse("unit", "columns whose names are of one line", opening.unit, remedy)
    if not isinstance(opening.neighbors, Neighbors):
        rule = "Neighbors.ADD_REMOVE or Neighbors.REPLACE"
        raise refuse("neighbors", rule, opening.neighbors)
    named = opening.data_set
    if not is_name(named) or len(named) > LONGEST or not named.isprintable():
        raise refuse("data_set", f"a name of up to {LONGEST} letters on one line", named)
    limit, mixed = opening.limit, isinstance(opening.limit, ApproxDP)
    kept = {"laplace": opening.pure, "discover_delta": opening.delta}
    for name, amount in kept.items():
        if amount is None:
            continue
        if limit is None or isinstance(limit, PureDP) or (name == "laplace" and not mixed):
            remedy = "give a limit of epsilon and delta, or leave it out"
            raise refuse(name, "a part of a limit in epsilon and delta", float(amount), remedy)
    if opening.allowance is not None and not opening.allowance.fits(Account()):
        raise refuse("what is kept", "within the limit", {n: str(a) for n, a in kept.items()})


def same(charge: Charge, request: str) -> Charge:
    """Return a charge that stands, unless it is for another request."""
    if charge.request != request:
        raise InvalidParameterError(
            f"the name {charge.name!r} stands for another request ({charge.what}), charged"
            f" {charge.time}; the same name returns the same result, so choose another name"
        )
    return charge


def check_terms(history: History, bill: Bill) -> None:
    """Refuse amounts that do not add up with the others: about other people, or otherwise alike."""
    opening = history.opening
    if opening is None:
        raise damaged("it has no first entry")
    remedy = "amounts under others do not add up; keep another ledger (--ledger) for them"
    if bill.unit != opening.unit:
        here, there = (
            ", ".join(map(repr, unit)) or "one row" for unit in (opening.unit, bill.unit)
        )
        why = f"unit must be {here}, as the ledger was made for, got {there}"
        raise InvalidParameterError(f"{why}; {remedy}")
    if bill.neighbors is not opening.neighbors:
        rule = f"{opening.neighbors.value!r}, as the ledger was made for"
        raise refuse("neighbors", rule, bill.neighbors.value, remedy)


def check_name(name: str, flag: str = "name") -> str:
    """Return a name that a release may have."""
    if not is_name(name) or len(name) > LONGEST or not name.isprintable() or name != name.strip():
        raise refuse(flag, f"up to {LONGEST} letters on one line", name, "for example 2026-11-15")
    return name
