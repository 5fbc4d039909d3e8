"""Workloads of all kinds, relations and importances, small enough to list everybody."""

import itertools
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

import halfnoise as hn
from halfnoise.design import certificate
from halfnoise.design.candidates import designs
from halfnoise.design.design import Measurement
from halfnoise.planning.choice import best
from halfnoise.privacy.definitions import Budget
from halfnoise.workload.block import Block
from halfnoise.workload.crossing import TableBlock
from halfnoise.workload.totals import Totals
from support.corners import corners_of
from support.table_people import corners as in_quanta

NEAR = 1.005  # of the squared error of the best noise there is
Corner = tuple[Sequence[Any], ...]  # what one person adds, block by block
Person = tuple[Corner | None, ...]  # for each group; None where they are not in it


def any_queries(chance: random.Random, most: int = 4) -> list[Any]:
    """Return a few questions of any kind."""
    found: list[Any] = []
    for number in range(chance.randint(1, most)):
        low = chance.choice([0.0, chance.uniform(-20, 20), 1000.0])
        bounds = (low, low + 10 ** chance.uniform(-1, 3))
        items = [f"{number}{letter}" for letter in "abcde"[: chance.randint(2, 5)]]
        found.append(
            chance.choice(
                [
                    hn.Count(f"c{number}"),
                    hn.Count(f"c{number}"),
                    hn.Sum(f"s{number}", bounds=bounds),
                    hn.Mean(f"m{number}", bounds=bounds),
                    hn.Choice(f"x{number}", items[:-1]),
                    hn.Items(f"i{number}", items, at_most=chance.randint(1, len(items))),
                ]
            )
        )
    return found


def any_workload(chance: random.Random, *, groups: bool = True) -> hn.Workload:
    """Return a workload under any relation, with importances over six orders of magnitude."""
    queries, rules = any_queries(chance), dict[str, Any]()
    if chance.random() < 0.5:
        widths = {query.label: query.shape.width for query in queries}
        rules["importance"] = {
            label: 10 ** chance.uniform(-3, 3) / width**2 for label, width in widths.items()
        }
    if chance.random() < 0.4:
        rules["size_importance"] = 10 ** chance.uniform(-3, 3)
    if chance.random() < 0.3:
        rules["neighbors"] = hn.Neighbors.REPLACE
    if groups and chance.random() < 0.4:
        number = chance.randint(1, 3)
        rules |= {"groups": number, "group_sizes": chance.random() < 0.5}
        if "neighbors" not in rules:
            rules["max_groups"] = chance.randint(1, min(number, 2))
        if chance.random() < 0.5:
            rules["other"] = None
    return hn.Workload(queries, **rules)


def corners(blocks: Sequence[Block]) -> list[Corner]:
    """List what one person can add at the extreme."""
    assert not any(isinstance(block, TableBlock) for block in blocks)
    return list(itertools.product(*(list(corners_of(block.shape)) for block in blocks)))


def people(workload: hn.Workload, own: Sequence[Corner]) -> Iterator[Person]:
    """List everybody: in any groups that one may be in, at any corner in each, or in none."""
    grouping = workload.grouping
    if grouping is None:
        yield from ((corner,) for corner in own)
        return
    groups = range(grouping.number or 1)
    for number in range(grouping.most + 1):
        for chosen in itertools.combinations(groups, number):
            for there in itertools.product(own, repeat=number):
                at = dict(zip(chosen, there, strict=True))
                yield tuple(at.get(group) for group in groups)


def entering(person: Person, ready: Measurement) -> list[int]:
    """Return by how many steps one person moves everything that gets noise."""
    present = np.array([corner is not None for corner in person], dtype=np.uint64)
    sums = []
    for place, block in enumerate(ready.blocks):
        none = [0] * block.shape.size
        rows = [none if c is None else c[place] for c in person]
        sums.append(np.array([[x % 2**64 for x in row] for row in rows], dtype=np.uint64))
    everyone = np.array([1], dtype=np.uint64)
    totals = Totals(sums=tuple(sums), people=present, everyone=everyone)
    return [int(x) for ring in ready.measure(totals) for x in ring.view(np.int64).ravel()]


def enumerated(workload: hn.Workload, ready: Measurement) -> Fraction:
    """Return the square of what the worst of everybody costs, in exact rationals.

    From what is measured and from the scales alone. Where people are replaced, of any two.
    """
    groups = 1 if workload.grouping is None else workload.grouping.number or 1
    rings, scales = ready.scales, list[Fraction]()
    for place, own in enumerate(rings):
        times = groups if place == 0 else 1
        scales += [Fraction(float(scale)) for scale in own] * times
    corner = [*itertools.product(*map(in_quanta, ready.blocks))]
    moved = list({tuple(entering(person, ready)) for person in people(workload, corner)})
    if workload.neighbors is hn.Neighbors.REPLACE:
        pairs = itertools.combinations(moved, 2)
        moved = list({tuple(a - b for a, b in zip(x, y, strict=True)) for x, y in pairs})
    # In floating point all but the dearest are told apart from them.
    rows = np.array(moved, dtype=float) / np.array([float(scale) for scale in scales])
    cost = (rows**2).sum(axis=1)
    near = [moved[i] for i in np.flatnonzero(cost >= cost.max() * (1 - 1e-9))[:8]]
    costs = (
        sum((Fraction(x) / s) ** 2 for x, s in zip(each, scales, strict=True)) for each in near
    )
    return Fraction(max(costs))


def hold_to_its_bound(workload: hn.Workload, *, known: bool) -> None:
    """Hold what is chosen near the bound, and the bound below all that is offered.

    Those with a closed form for people who are given, too, where they can be.
    """
    known = known and not workload.grouped and workload.neighbors is hn.Neighbors.ADD_REMOVE
    offered = list(designs(workload, Budget(mu=1.0), known_size=known))
    bound = certificate.least_error(workload, 1.0, known_size=known)
    assert bound is not None
    assert best(offered, workload).error(workload) <= NEAR * bound, workload
    gives = [d for d in offered if d.gives_size or not workload.needs_sizes]
    assert min(design.error(workload) for design in gives) >= bound
