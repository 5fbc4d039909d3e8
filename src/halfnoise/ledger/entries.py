"""The entries of a ledger: a chain that is only ever added to, and what it adds up to.

Each entry is one line of JSON, and its hash is that of the hash before it and of the line, so no
entry can be changed, moved or taken out of the middle unseen. Four kinds: ``opened`` once, then for
each release ``charged``, ``drawn`` (the result is in the ledger) and ``released`` (it was handed
over). Nothing in them comes from the data but the result, which is public.
"""

import datetime as dt
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from halfnoise.errors import DataError
from halfnoise.ledger import plain
from halfnoise.privacy import words
from halfnoise.privacy.account import Account
from halfnoise.privacy.allowance import Allowance
from halfnoise.privacy.definitions import (
    ApproxDP,
    ConcentratedDP,
    GaussianDP,
    Neighbors,
    Privacy,
    PureDP,
    RenyiDP,
)
from halfnoise.values import dataclass, field, fields

START = "0" * 64  # what comes before the first hash
FORMAT = 1
MOST = 2**1000
LIMITS: Mapping[str, type[Any]] = {
    kind.__name__: kind for kind in (ApproxDP, ConcentratedDP, GaussianDP, PureDP, RenyiDP)
}
_UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError)
_DECODE = json.JSONDecoder().raw_decode


class Row(NamedTuple):
    """An entry as it is stored."""

    entry: int
    body: str
    hash: str

    @classmethod
    def after(cls, before: "Row | None", **said: Any) -> "Row":
        """Return the entry that follows, with the time, which nothing is ever decided by."""
        number, above = _next(before)
        now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
        body = json.dumps({"entry": number, "time": now} | said, ensure_ascii=False)
        return cls(number, body, digest(above, body))


def _next(before: Row | None) -> tuple[int, str]:
    return (0, START) if before is None else (before.entry + 1, before.hash)


def digest(above: str, body: str) -> str:
    """Return the hash of an entry below another."""
    return hashlib.sha256(f"{above}\n{body}".encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What is fixed when a ledger is made: amounts under other terms do not add up.

    ``unit``: the columns that say who one person is; none where each row is one. ``limit``: what
    all releases may cost, None for any amount. ``pure`` and ``delta``: how much of it is kept for
    Laplace noise and for discovering groups; the first release decides where neither is said.
    """

    data_set: str
    unit: tuple[str, ...] = ()
    neighbors: Neighbors = Neighbors.ADD_REMOVE
    limit: Privacy | None = None
    pure: Fraction | None = None
    delta: Fraction | None = None

    @property
    def allowance(self) -> Allowance | None:
        """What the limit allows, as far as that is decided without a release."""
        if self.limit is None:
            return None
        open_yet = isinstance(self.limit, ApproxDP) and self.pure is None and self.delta is None
        pure, delta = self.pure or Fraction(0), self.delta or Fraction(0)
        return None if open_yet else Allowance(limit=self.limit, pure=pure, delta=delta)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        limit = None if self.limit is None else words.to_dict(self.limit)
        return {
            "kind": "opened",
            "format": FORMAT,
            "data_set": self.data_set,
            "unit": list(self.unit),
            "neighbors": self.neighbors.value,
            "limit": limit,
            "pure": None if self.pure is None else str(self.pure),
            "delta": None if self.delta is None else str(self.delta),
        }

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> "Opening":
        """Read it from plain values."""
        limit, (pure, delta) = found["limit"], (found[name] for name in ("pure", "delta"))
        if limit is not None:
            limit = LIMITS[limit["kind"]](**{name: limit[name] for name in limit if name != "kind"})
        return cls(
            data_set=plain.line(found["data_set"]),
            unit=plain.lines(found["unit"]),
            neighbors=Neighbors(found["neighbors"]),
            limit=limit,
            pure=None if pure is None else plain.amount(pure),
            delta=None if delta is None else plain.amount(delta),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """One release in the ledger.

    ``cost``: what its noise costs. ``price``: what that came to here, which differs where Laplace
    noise was charged as mu. ``times``: of how many equal ones it is. ``terms``: what the plan
    behind it was made with, so that whoever goes on with it draws what was charged. ``document``:
    the hash of its result, once it is drawn. ``outputs``: the hashes of what was handed over.
    """

    entry: int
    name: str
    time: str
    request: str
    what: str
    cost: Account
    price: Account
    times: int = 1
    terms: Mapping[str, Any] = field(default_factory=dict)
    document: str | None = None
    outputs: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return what is charged as plain values; amounts are exact."""
        amounts = {"cost": self.cost.plain, "price": self.price.plain}
        said = {"name": self.name, "request": self.request, "what": self.what}
        return {"kind": "charged", **said, **amounts, "times": self.times, "terms": self.terms}

    @property
    def said(self) -> dict[str, Any]:
        """All that it says."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @property
    def agreed(self) -> tuple[Privacy, str, float | None]:
        """The budget, the kind of noise and the delta of discovering that it was planned with."""
        try:
            terms: Any = self.terms
            privacy: Any = words.from_dict(terms["privacy"])
            return privacy, terms["noise"], terms["discover_delta"]
        except (*_UNREADABLE, DataError):
            raise damaged(f"the plan behind entry {self.entry} cannot be read") from None

    @property
    def state(self) -> str:
        """How far it came."""
        if self.document is None:
            return "charged, not drawn"
        return "released" if self.outputs else "drawn, not handed over"


_News = dict[str, dict[str, Any]]  # what charges say, by their names


@dataclass(slots=True)
class History:
    """All entries so far, checked one by one, and what they add up to."""

    opening: Opening | None = None
    last: Row | None = None
    charges: dict[str, Charge] = field(default_factory=dict)
    spent: Account = field(default_factory=Account)
    allowance: Allowance | None = None
    _names: dict[int, str] = field(default_factory=dict)
    _prices: list[Account] = field(default_factory=list)

    def read(self, rows: Iterable[tuple[int, str, str]]) -> None:
        """Take in the entries that follow, or refuse what does not follow."""
        number, above = _next(self.last)
        news: _News = {}
        last: tuple[int, str, str] | None = self.last
        try:
            for found in rows:
                entry, body, hashed = found
                if entry != number or hashed != digest(above, body):
                    raise damaged(f"entry {number} does not follow from those before it")
                try:
                    said, end = _DECODE(body)
                    self._take(said if end == len(body) else {}, number, news)
                except _UNREADABLE:
                    raise damaged(f"entry {number} cannot be read") from None
                last, number, above = found, number + 1, hashed
        finally:  # each charge is made once, however many entries are about it
            self.charges.update((name, Charge(**said)) for name, said in news.items())
            self.last = None if last is None else Row(*last)
            self._add_up()
        if not holds(self.spent):
            raise damaged(f"entry {number - 1} cannot be read")  # beyond any number

    def _take(self, body: Mapping[str, Any], number: int, news: _News) -> None:
        if body["entry"] != number or (body["kind"] == "opened") != (number == 0):
            raise ValueError(number)
        match body["kind"]:
            case "opened":
                if body["format"] != FORMAT:
                    why = f"the ledger has another format than {FORMAT}, which this halfnoise reads"
                    raise DataError(f"{why}; use a newer one")
                self.opening = Opening.from_dict(body)
                self.allowance = self.opening.allowance
            case "charged":
                self._charge(body, number, news)
            case "drawn" | "released" as kind:
                name, what = self._names[body["charge"]], plain.digits(body["sha256"])
                said = news.get(name) or news.setdefault(name, self.charges[name].said)
                if kind == "released":
                    said["outputs"] = (*said["outputs"], what)
                elif said["document"] is None:
                    said["document"] = what
                else:
                    raise ValueError(number)
            case _:
                raise ValueError(number)

    def _charge(self, body: Mapping[str, Any], number: int, news: _News) -> None:
        name, cost, price = body["name"], _account(body["cost"]), _account(body["price"])
        if name in self.charges or name in news:
            raise ValueError(number)
        if self.allowance is None and self.limit is not None:  # the first of all decides for good
            pure, delta = (plain.amount(body["box"][each]) for each in ("pure", "delta"))
            self.allowance = Allowance(limit=self.limit, pure=pure, delta=delta)
        text = {each: body[each] for each in ("name", "time", "request", "what")}
        plain.line("".join(text.values()))
        said: dict[str, Any] = text
        said |= {"times": plain.times(body["times"]), "terms": dict(body["terms"])}
        said |= {"entry": number, "cost": cost, "price": price, "document": None, "outputs": ()}
        news[name], self._names[number] = said, name
        self._prices.append(price)

    def _add_up(self) -> None:
        """Add up the prices that were read, those that are the same at once."""
        same = {id(price): price for price in self._prices}
        for price, times in Counter(map(id, self._prices)).items():
            self.spent += same[price] * times
        self._prices.clear()

    @property
    def limit(self) -> Privacy | None:
        """What all releases may cost together."""
        return None if self.opening is None else self.opening.limit

    @property
    def head(self) -> str:
        """The hash of the last entry, which stands for all of them."""
        return START if self.last is None else self.last.hash

    @property
    def latest(self) -> Charge | None:
        """The charge that was made last."""
        return next(reversed(self.charges.values()), None)


def holds(account: Account) -> bool:
    """Whether a ledger can hold so much: more is no number that anybody could say."""
    return max(account.pure, account.delta) <= MOST and account.squares <= MOST**2


def _account(found: Mapping[str, str]) -> Account:
    return _read_account(found["pure"], found["squares"], found["delta"])


@lru_cache(maxsize=1000)  # many releases cost the same
def _read_account(*found: str) -> Account:
    pure, squares, delta = map(plain.amount, found)
    account = Account(pure=pure, squares=squares, delta=delta)
    if not holds(account):
        raise ValueError(found)
    return account


def damaged(how: str) -> DataError:
    """Build the sentence for a ledger that is not what was written."""
    remedy = "stop releasing, and put back the newest copy whose head you printed"
    return DataError(f"the ledger is damaged: {how}; {remedy} (halfnoise ledger verify --head)")
