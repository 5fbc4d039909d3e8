"""Tables by places, parted by kind of place, and put together again from what is in all parts."""

from collections.abc import Mapping, Sequence

import numpy as np

from halfnoise.design.cell_parts import Own
from halfnoise.design.cell_states import CellStates
from halfnoise.workload.grid import Floats, Ring
from halfnoise.workload.sets.residuals import Axes, flat, made_of

Held = dict[tuple[Axes, int], dict[Own, Floats]]  # by residual and kind of place


def parted(
    states: CellStates, tables: Sequence[Mapping[Axes, Ring]], axes: Axes, around: int, own: Own
) -> Ring:
    """Return what a coordinate comes to in all places of a kind, by plain attributes, in quanta.

    ``tables``: all of them, layer by layer.
    """
    (spot, layer), spots = own, states.spots
    mine = tables[states.place(layer)]
    if not spot:
        return np.asarray(mine[axes][:, np.newaxis])
    table = mine[spots.every[spot].level, *axes][:, spots.places[spot]]
    inside = table.reshape(len(table), spots.every[around].number, -1, *table.shape[2:])
    return np.asarray(inside.sum(axis=2, dtype=np.uint64))


def together(states: CellStates, held: Held) -> Floats:
    """Return the cells of all tables, from what was measured in all parts."""
    shape = states.shape
    residuals = [dict[Axes, Floats]() for _ in shape.layers]
    for axes in dict.fromkeys(axes for axes, _ in held):
        _in_places(states, axes, held, residuals)
    made = [
        {axes: made_of(shape.levels, axes, each, shape.deep) for axes in each} for each in residuals
    ]
    for layer, own in enumerate(states.leans):
        for k, part in own:
            made[layer] = {a: x + part * made[k][a] for a, x in made[layer].items()}
    return np.concatenate([flat(made[kind][axes]) for kind, axes in shape.tables], axis=1)


def _in_places(
    states: CellStates, axes: Axes, held: Held, residuals: list[dict[Axes, Floats]]
) -> None:
    """Fill in a residual in all places, of all layers."""
    spots, finest = states.spots, states.finest[axes]
    totals = [held[axes, 0]]
    for u, spot in enumerate(spots.every):
        if u:
            around, own = totals[spot.around[-2]], held.get((axes, u), {})
            inner = states.own(finest, u)
            shares = {at: around[at].repeat(spot.each, axis=1) / spot.each for at in inner}
            totals.append({at: x + own.get(at, 0.0) for at, x in shares.items()})
        for k in (k for q, k in totals[u] if q == u):
            x, layer = totals[u][u, k], residuals[states.place(k)]
            if not u:
                layer[axes] = x[:, 0]
                continue
            whole = np.empty((len(x), spots.tree.sizes[spot.level], *x.shape[2:]))
            layer.setdefault((spot.level, *axes), whole)[:, spots.places[u]] = x
    for k, level in finest.items():
        layer = residuals[states.place(k)]
        for i in reversed(range(level)):
            layer[i, *axes] = spots.tree.summed(i + 1, layer[i + 1, *axes], axis=1)
        if level >= 0:
            layer[axes] = layer[0, *axes].sum(axis=1)


def in_layers(states: CellStates, along: Floats) -> Floats:
    """Return what layers hold of noises in all places of a kind, by layer, kind and noise.

    ``along``: what the free totals hold, the number of people last.
    """
    found = np.zeros((len(states.shape.layers), len(states.spots.every), along.shape[1]))
    people = [layer == states.people for _, layer in states.free]
    every = np.vstack([along[:-1], along[-1] - along[:-1][people].sum(axis=0)])
    for (q, k), x in zip(states.totals.own, every, strict=True):
        for t in states.spots.every[q].around:
            found[states.place(k), t] += x
    return found
