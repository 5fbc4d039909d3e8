"""What a release costs in a ledger, or why it is refused there."""

from dataclasses import replace

from halfnoise.errors import BudgetError
from halfnoise.ledger.entries import Charge, History, Row, damaged, holds
from halfnoise.ledger.plain import in_a_line
from halfnoise.ledger.terms import Bill
from halfnoise.ledger.words import refusal
from halfnoise.privacy.account import Account
from halfnoise.privacy.allowance import Allowance


def priced(history: History, bill: Bill) -> tuple[Row, Charge]:
    """Return the entry for a charge that fits, or refuse."""
    cost, limit = Account.of(bill.guarantee), history.limit
    allowance, price, box = history.allowance, cost, {}
    if allowance is None and limit is not None:
        allowance = Allowance.around(limit, cost, bill.times)
        box = {"box": {"pure": str(allowance.pure), "delta": str(allowance.delta)}}
    if allowance is not None:
        price = allowance.price(cost, history.spent)
        if not allowance.fits(history.spent + price):
            raise BudgetError(refusal(history, allowance, cost, price))
    if not (holds(cost) and holds(history.spent + price)):
        raise BudgetError("this costs more than a ledger can hold; nothing was spent; ask for less")
    entry = 1 if history.last is None else history.last.entry + 1
    name = bill.name or _unused(history, entry)
    charge = Charge(
        entry=entry,
        name=name,
        time="",
        request=bill.request,
        what=in_a_line(bill.what),
        cost=cost,
        price=price,
        times=bill.times,
        terms=bill.terms,
    )
    return Row.after(history.last, **charge.to_dict(), **box), charge


def afterwards(history: History, bill: Bill) -> History:
    """Return where all would stand after a charge that fits, or refuse; nothing is charged."""
    _, charge = priced(history, bill)
    allowance = history.allowance
    if allowance is None and history.limit is not None:
        allowance = Allowance.around(history.limit, charge.cost, bill.times)
    charges = history.charges | {charge.name: charge}
    spent = history.spent + charge.price
    return replace(history, charges=charges, spent=spent, allowance=allowance)


def replay(history: History) -> None:
    """Refuse charges that would not have been admitted, by whatever halfnoise.

    What was spent only grows, so all of them fit if all together do. A price may be above what is
    asked now, since later versions may prove a smaller one.
    """
    allowance, spent = history.allowance, Account()
    charges = history.charges.values()
    # Gaussian noise is charged as what it costs.
    other = history.spent.pure or any(charge.price != charge.cost for charge in charges)
    for charge in charges if other else ():
        cost, price = charge.cost, charge.price
        asked = cost if allowance is None else allowance.price(cost, spent)
        if replace(price, squares=asked.squares) != asked or price.squares < asked.squares:
            raise damaged(f"entry {charge.entry} was charged less than it cost")
        spent += price
    if allowance is not None and not allowance.fits(history.spent):
        raise damaged("more was charged than its limit allows")


def _unused(history: History, entry: int) -> str:
    """Return a name for a release that was given none."""
    name = f"release-{len(history.charges) + 1}"
    return name if name not in history.charges else f"{name}-{entry}"
