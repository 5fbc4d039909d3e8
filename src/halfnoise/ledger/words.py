"""What a ledger says: what was spent, on what, and what is left."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from halfnoise.errors import InvalidParameterError
from halfnoise.ledger.entries import Charge, History, Opening
from halfnoise.privacy.account import BEYOND, Account
from halfnoise.privacy.allowance import Allowance
from halfnoise.privacy.definitions import ApproxDP, ConcentratedDP, Privacy, PureDP, RenyiDP
from halfnoise.privacy.words import amounts, upward
from halfnoise.proof import exactly, sqrt_up, up
from halfnoise.text import percent, text_table
from halfnoise.views import Grid

DELTA = 1e-6  # where nobody stated one
WIDTH, MOST_BARS = 40, 20  # letters of a bar, and bars


def amount(spent: Account, unit: Privacy) -> dict[str, float | None]:
    """Return what was spent in the unit of a budget, rounded up; None where it has no such amount.

    >>> amount(Account(squares=exactly(0.25)), ConcentratedDP(rho=1))
    {'rho': 0.125}
    """
    match unit:
        case ApproxDP(delta=delta):
            return {"epsilon": _epsilon(spent, delta), "delta": delta}
        case PureDP():
            return {"epsilon": None if spent.squares or spent.delta else up(spent.pure)}
        case ConcentratedDP():
            found = {"rho": None if spent.pure else up(spent.squares / 2)}
        case RenyiDP(alpha=alpha):
            here = up(exactly(alpha) * spent.squares / 2)
            found = {"epsilon": None if spent.pure else here, "alpha": alpha}
        case _:
            found = {"mu": None if spent.pure else sqrt_up(spent.squares)}
    return found | ({"discover_delta": up(spent.delta)} if spent.delta else {})


def _epsilon(spent: Account, delta: float) -> float | None:
    if not spent:
        return 0.0
    if not spent.pure and not spent.squares:
        return 0.0 if spent.delta <= exactly(delta) else None
    promise = spent.promise
    if isinstance(promise, PureDP):
        return promise.epsilon
    try:
        return promise.epsilon(delta)
    except InvalidParameterError:  # discovering alone costs more than that
        return None


def said(spent: Account, unit: Privacy) -> str:
    """Say what was spent in the unit of a budget."""
    found = amount(spent, unit).items()
    return ", ".join(
        f"{name.replace('_', ' ')} {'beyond any' if x is None else upward(x)}" for name, x in found
    )


def stated(limit: Privacy) -> str:
    """Say what a limit is."""
    return ", ".join(f"{name} {x:g}" for name, x in amounts(limit).items())


def part(spent: Account, limit: Privacy) -> str:
    """Say which part of a limit was spent, in its own unit.

    >>> part(Account(squares=exactly(0.25)), ConcentratedDP(rho=1))
    'rho 0.125 of 1'
    """
    found, most = amount(spent, limit), amounts(limit)
    main = "epsilon" if "epsilon" in found else next(iter(found))
    x = found.pop(main)
    shown = f"{main} {'beyond any' if x is None else upward(x)} of {most[main]:g}"
    beside = [f"{name.replace('_', ' ')} {y:g}" for name, y in found.items() if y is not None]
    return ", ".join([shown, *beside])


def refusal(history: History, allowance: Allowance, cost: Account, price: Account) -> str:
    """Say why a charge is refused, with the amounts."""
    limit, spent = allowance.limit, history.spent
    alone = spent.pure > allowance.pure  # then there is no place for any mu
    why = f"this costs {said(cost if alone else price, limit)}, and {part(spent, limit)} is spent"
    remedy = "ask for less (halfnoise ledger show says what is left)"
    mixed = not isinstance(limit, PureDP)
    if mixed and (allowance.pure > spent.pure or allowance.delta > spent.delta):
        why += " (some of it is kept for Laplace noise or discovering)"
    if price.delta > allowance.delta - spent.delta:
        kept = f"{float(allowance.delta):g} of delta is kept for discovering groups"
        why = f"discovering costs delta {float(price.delta):.3g}, and {kept}"
        why += f", of which {float(spent.delta):.3g} is spent" if spent.delta else ""
        remedy = "list the groups, or make a ledger with --discover-delta"
    elif alone and cost.squares:
        most = f"only beside Laplace noise of up to epsilon {float(allowance.pure):g}"
        why = f"Gaussian noise has a place {most}, and {part(spent, limit)} is spent"
        remedy = "take Laplace noise, or make a ledger with --laplace"
    elif price != cost and not alone:
        why += "; Laplace noise costs here what it implies in mu"
        remedy = "take Gaussian noise, or make a ledger with --laplace"
    elif price.pure and not allowance.mu:
        remedy = "ask for a smaller epsilon"
    elif price.squares and not allowance.mu:
        why = f"Gaussian noise has no pure epsilon, and the limit is {stated(limit)}"
        remedy = "give the budget as epsilon alone, or make a ledger with a delta"
    return f"the budget does not allow it: {why}; nothing was spent; {remedy}"


def left(history: History) -> str:
    """Say what all releases amount to, and how many more there may be."""
    many, limit = len(history.charges), history.limit
    if not many:
        return "Nothing is spent"
    releases = f"{many:,} releases together" if many > 1 else "One release so far"
    if limit is None:
        return f"{releases}: {said(history.spent, unit_of(history))}; no limit"
    more = f"room for {room(history):,} more like the last one"
    box = history.allowance
    if box is not None and isinstance(limit, ApproxDP) and history.spent.pure > box.pure:
        more += ", and from now on for Laplace noise alone"
    return f"{releases}: {part(history.spent, limit)}; {more}"


def unit_of(history: History) -> Privacy:
    """Return the budget in whose unit all is told: the limit, or epsilon at a delta."""
    delta = DELTA
    while exactly(delta) <= 2 * history.spent.delta:  # what discovering costs is a part of it
        delta = float(f"{10 * delta:.0e}")
    return history.limit or ApproxDP(epsilon=1, delta=min(delta, 0.5))


def room(history: History) -> int | None:
    """Return how many more releases like the last one there may be; None for any number."""
    latest, allowance = history.latest, history.allowance
    if latest is None or allowance is None:
        return None
    return allowance.room(history.spent, latest.cost)


def used(history: History) -> float | None:
    """Return which part of the limit is used up; None where there is no limit."""
    if history.limit is None:
        return None
    share = Fraction(0) if history.allowance is None else history.allowance.share(history.spent)
    return float(min(share, BEYOND))


def about(history: History) -> list[str]:
    """Say what a ledger is about, and what its limit is."""
    opening = history.opening or Opening(data_set="")
    who = ", ".join(opening.unit) or "each row"
    return [
        f"Ledger of {opening.data_set}. One person: {who}; neighbours: {opening.neighbors.value}.",
        f"Limit: {'none' if history.limit is None else stated(history.limit)}.",
        *places(history),
    ]


def table(history: History) -> str:
    """Return the ledger as text: what it is about, what was spent on what, and what is left."""
    lines = [*about(history)]
    if history.charges:
        lines += ["", text_table(*grid(history), left=5), ""]
    lines += bars(history)
    return "\n".join([*lines, f"{left(history)}.", f"Head: {history.head}"])


def grid(history: History) -> Grid:
    """Return all charges: titles, and rows of cells."""
    rows = [
        [charge.name, charge.time[:19].replace("T", " "), costs(charge), charge.state, charge.what]
        for charge in history.charges.values()
    ]
    return ["name", "time (UTC)", "cost", "state", "what"], rows


def costs(charge: Charge) -> str:
    """Say what the noise of a release costs, each kind in its own measure."""
    cost, said = charge.cost, list[str]()
    said += [f"epsilon {upward(up(cost.pure))}"] if cost.pure else []
    said += [f"mu {upward(sqrt_up(cost.squares))}"] if cost.squares else []
    said += [f"delta {upward(up(cost.delta))}"] if cost.delta else []
    as_mu = charge.price.squares > cost.squares
    return " + ".join(said) + (f", as mu {upward(sqrt_up(charge.price.squares))}" if as_mu else "")


def places(history: History) -> list[str]:
    """Say how much of each kind a limit of epsilon and delta has a place for."""
    box, spent = history.allowance, history.spent
    if not isinstance(history.limit, ApproxDP):
        return []
    if box is None:
        return ["How much of it is for which kind of noise, the first release decides."]
    of = [f"Gaussian noise mu {upward(sqrt_up(spent.squares))} of {box.mu:.6g}"]
    of.append(f"Laplace noise epsilon {upward(up(spent.pure))} of {float(box.pure):.6g}")
    of.append(f"discovering delta {upward(up(spent.delta))} of {float(box.delta):.6g}")
    return [f"Its places: {'; '.join(of)}."]


def _one_by_one(history: History) -> Iterator[tuple[Charge, Account]]:
    """Go through the charges, each with what was spent by then."""
    spent = Account()
    for charge in history.charges.values():
        spent += charge.price
        yield charge, spent


def bars(history: History) -> list[str]:
    """Return a picture of the limit as it is used up, release by release, the last ones at most."""
    allowance = history.allowance
    if allowance is None or not history.charges:
        return []
    shares = [
        (f"{charge.time[:10]} {charge.name}", float(min(allowance.share(spent), Fraction(1))))
        for charge, spent in _one_by_one(history)
    ]
    if len(shares) > MOST_BARS:  # the last, and others as far apart
        step = (len(shares) - 1) / (MOST_BARS - 1)
        shares = [shares[round(i * step)] for i in range(MOST_BARS)]
    wide = max(len(name) for name, _ in shares)
    drawn = [
        f"{name:<{wide}} {'█' * round(part * WIDTH):<{WIDTH}} {percent(part)}"
        for name, part in shares
    ]
    return ["Used up of the limit:", *drawn, ""]


def to_dict(history: History) -> dict[str, Any]:
    """Return the ledger as plain values."""
    opening, unit = history.opening or Opening(data_set=""), history.limit
    box = history.allowance
    limit = None if unit is None else {"kind": type(unit).__name__, **amounts(unit)}
    return {
        "data_set": opening.data_set,
        "unit": list(opening.unit) or "row",
        "neighbors": opening.neighbors.value,
        "limit": limit,
        "places": None if box is None else box.whole.plain,
        "spent": amount(history.spent, unit_of(history)),
        "used": used(history),
        "room_for_more_like_the_last": room(history),
        "releases": [_release(charge) for charge in history.charges.values()],
        "head": history.head,
    }


def composed(history: History, document: str) -> dict[str, Any]:
    """Return what all releases come to, one of which has a result with this hash, for its note."""
    if document not in {charge.document for charge in history.charges.values()}:
        remedy = "name the ledger that it was charged to"
        raise InvalidParameterError(f"this release is not in that ledger, as it stands; {remedy}")
    opening = history.opening or Opening(data_set="")
    return {
        "ledger": opening.data_set,
        "releases": len(history.charges),
        "spent": amount(history.spent, unit_of(history)),
        "best_guess": history.spent.promise.best_guess,
        "limit": {} if history.limit is None else amounts(history.limit),
    }


def _release(charge: Charge) -> Mapping[str, Any]:
    return {
        "name": charge.name,
        "time": charge.time,
        "what": charge.what,
        "state": charge.state,
        "cost": charge.cost.plain,
        "price": charge.price.plain,
        "one_of": charge.times,
        "request": charge.request,
        "result_sha256": charge.document,
        "outputs_sha256": list(charge.outputs),
    }
