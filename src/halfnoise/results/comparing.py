"""How two releases are compared: what is matched with what, and what is said beside it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from halfnoise.checks import level_of, refuse
from halfnoise.errors import InvalidParameterError, NotSupportedError
from halfnoise.privacy.composition import compose
from halfnoise.results.between import Lines, Places, Side, Two
from halfnoise.results.comparison import COLUMNS, NUMBERS, Comparison
from halfnoise.results.definitions import differing
from halfnoise.results.inference import Columns, Floats
from halfnoise.results.release import GroupedRelease, Release, Released, template_of, typed
from halfnoise.text import at_most, listed, percent, short, spelled
from halfnoise.workload.listing import Key
from halfnoise.workload.question import SIZE, CellNames, Question

COVERED = (
    "Intervals cover the noise of both releases, which was drawn independently, not who was asked"
    " or how they answered."
)
SAMPLED = (
    "Those of the releases themselves cover who was asked, too; these do not: what is beyond the"
    " noise may still be chance in who was asked."
)
IN_BOTH = (
    "The same people may be in both: their noise is independent, they are not. A difference is then"
    " one of the same people, and whoever is in both is protected by both together"
)


class Matched(NamedTuple):
    """What is in both releases: lines, or groups, by their places in each."""

    later: Places
    earlier: Places


def compare(later: Released, earlier: object, level: float | None, *, shares: bool) -> Comparison:
    """Return a later release beside an earlier one."""
    if not isinstance(earlier, Release | GroupedRelease):
        raise refuse("earlier", "a release", type(earlier).__name__, "read one: Release.from_json")
    if later.values.shape == earlier.values.shape and (later.values == earlier.values).all():
        same = "these two are the same release: their noise is one, and nothing can have changed"
        raise InvalidParameterError(f"{same}; compare releases that were drawn separately")
    each = later.level if level is None else level_of(level)
    groups, keys, alone = _groups(later, earlier)
    pairs = zip((later, earlier), groups, strict=True)
    sides = [np.atleast_2d(release.values)[own] for release, own in pairs]
    if shares and not (template_of(later).has_size and template_of(earlier).has_size):
        lacking = "one of the two does not give the number of people, of which shares are"
        raise NotSupportedError(f"{lacking}; leave shares out")
    blocks = [[*lines_of(template_of(release), shares=shares)] for release in (later, earlier)]
    found, names, kinds = [], list[str](), list[str]()
    for one, other in _matched(*blocks):
        pair = (
            Side(lines=lines, values=values, errors=release.errors)
            for lines, values, release in zip((one, other), sides, (later, earlier), strict=True)
        )
        shown, apart, times = Two(later=next(pair), earlier=next(pair), level=each).compared()
        found.append(np.concatenate([shown, apart, times]))
        names += one.names
        kinds += [one.kind] * len(one.names)
    if not found:
        raise InvalidParameterError(
            "no number is in both releases; names, kinds and labels must be the same"
        )
    table = _table(np.concatenate(found, axis=2), names, kinds)
    if isinstance(later, GroupedRelease):
        table = later.keyed(table, keys)
    remarks = [*_beside(later, earlier, each, len(table["name"])), *differing(later, earlier)]
    remarks += [*alone, *_alone(blocks)]
    return Comparison(table=table, level=each, remarks=tuple(remarks))


def _table(numbers: Floats, names: Sequence[str], kinds: Sequence[str]) -> Columns:
    """Return all numbers by column, group by group."""
    groups, apart = numbers.shape[1], numbers[2:6]
    within = (apart[2] <= 0) & (apart[3] >= 0)
    text = {"name": np.array([*names], dtype=object), "kind": np.array([*kinds], dtype=object)}
    table: Columns = {title: np.tile(each, groups) for title, each in text.items()}
    table |= {title: each.ravel() for title, each in zip(NUMBERS, numbers, strict=True)}
    table[COLUMNS[-1]] = within.ravel().astype(object)  # Python's own, which files spell
    return table


def _groups(later: Released, earlier: Released) -> tuple[Matched, list[Key], list[str]]:
    """Return where the groups of both stand, their keys, and what is in one of them alone."""
    if not isinstance(later, GroupedRelease) or not isinstance(earlier, GroupedRelease):
        if isinstance(later, GroupedRelease) or isinstance(earlier, GroupedRelease):
            remedy = "compare total() of the other, or one of its groups"
            raise NotSupportedError(f"one of the two is by group and the other is not; {remedy}")
        nothing = np.zeros(1, dtype=np.intp)
        return Matched(nothing, nothing), [], []
    now, before = ([by.column for by in each.by] for each in (later, earlier))
    if sorted(now) != sorted(before):
        remedy = "compare releases by the same columns"
        raise NotSupportedError(
            f"groups go by {', '.join(now)} and by {', '.join(before)}; {remedy}"
        )
    order = [before.index(column) for column in now]
    known = {typed(key[i] for i in order): place for place, key in enumerate(earlier.group_keys)}
    pairs = [(place, known.pop(typed(key), -1)) for place, key in enumerate(later.group_keys)]
    both = np.array([pair for pair in pairs if pair[1] >= 0], dtype=np.intp).reshape(-1, 2)
    if not len(both):
        raise InvalidParameterError(
            "no group is in both releases; compare releases by the same groups"
        )
    new = [later.title(place) for place, other in pairs if other < 0]
    gone = [earlier.title(place) for place in known.values()]
    alone = [*_only("groups", "later", new), *_only("groups", "earlier", gone)]
    keys = [later.group_keys[place] for place in both[:, 0].tolist()]
    return Matched(both[:, 0], both[:, 1]), keys, alone


def lines_of(release: Release, *, shares: bool, size: int | None = None) -> Iterator[Lines]:
    """Go through all numbers, those together that have one error; ``size``: where people stand."""
    size, known = size or release.questions[-1].stop, release.known_size
    measured = len(release.values) > size
    if measured and not shares:
        yield Lines(names=(SIZE,), keys=(SIZE,), kind="size", top=np.array([size]), positive=True)
    for question in release.questions:
        for lines in _own(question):
            if not shares or lines.kind == "mean":
                yield lines
            elif lines.kind == "count" and known:
                yield replace(lines, kind="share", over=known, limits=(0.0, 1.0))
            elif lines.kind == "count" and measured:
                people = np.full_like(lines.top, size)
                yield replace(lines, kind="share", bottom=people, limits=(0.0, 1.0))


def _own(question: Question) -> Iterator[Lines]:
    """Go through the numbers of a question: of a mean itself, the sum and who answered."""
    many = len(question.sums)  # of a deviation, which is none, its mean is compared
    places, number = question.start + np.arange(many), question.cells
    sums, people = places[:number], places[number if question.is_mean else 0 :]
    names, keys = _names(question.names)[:many], _keys(question.names)[:many]
    above = question.bounds is None or question.bounds[0] >= 0
    if question.is_mean:
        mean = Lines(
            names=_names(question.means), keys=_keys(question.means), kind="mean", top=sums
        )
        yield replace(mean, bottom=people, limits=question.limits, positive=above)
    if question.is_sum or question.is_mean:
        yield Lines(names=names[:number], keys=keys[:number], kind="sum", top=sums, positive=above)
    if not question.is_sum:
        names, keys = names[-len(people) :], keys[-len(people) :]
        yield Lines(names=names, keys=keys, kind="count", top=people, positive=True)


def _names(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(names.listed() if isinstance(names, CellNames) else names)


def _keys(names: Sequence[str]) -> tuple[str, ...]:
    """Return names with the axes of a table in the order of their labels."""
    if not isinstance(names, CellNames):
        return tuple(names)
    parts = max(1, len(names.of))
    order = sorted(range(len(names.axes)), key=lambda axis: names.axes[axis][0])
    again = CellNames(tuple(names.axes[axis] for axis in order), *names.of)
    found = np.array(again.listed(), dtype=object).reshape(parts, *again.shape)
    return tuple(found.transpose(0, *(1 + np.argsort(order))).ravel())


def _matched(later: Sequence[Lines], earlier: Sequence[Lines]) -> Iterator[tuple[Lines, Lines]]:
    """Go through what is in both, by kind and name, pairs of lines that have one error each."""
    known = {
        (lines.kind, key): (number, column)
        for number, lines in enumerate(earlier)
        for column, key in enumerate(lines.keys)
    }
    for lines in later:
        found = [known.get((lines.kind, key), (-1, -1)) for key in lines.keys]
        places = np.array(found, dtype=np.intp)
        for number in dict.fromkeys(places[:, 0].tolist()):
            if number >= 0:
                own = np.flatnonzero(places[:, 0] == number)
                yield lines.only(own), earlier[number].only(places[own, 1])


def _alone(blocks: Sequence[Sequence[Lines]]) -> list[str]:
    """Say which numbers are in one of the two alone."""
    named = [
        {(x.kind, key): name for x in block for name, key in zip(x.names, x.keys, strict=True)}
        for block in blocks
    ]
    new, gone = (
        [name for key, name in one.items() if key not in other]
        for one, other in (named, named[::-1])
    )
    return [*_only("", "later", new), *_only("", "earlier", gone)]


def _only(what: str, when: str, names: Sequence[str]) -> list[str]:
    which = f"{what} " if what else ""
    return (
        [f"Only in the {when} release: {which}{listed([*map(spelled, names)])}."] if names else []
    )


def _beside(later: Released, earlier: Released, level: float, rows: int) -> Iterator[str]:
    """Say what intervals cover, who may be in both, and how often noise alone looks like more."""
    yield COVERED
    if later.sampling is not None or earlier.sampling is not None:
        yield SAMPLED
    if later.facts.get("unit") == earlier.facts.get("unit"):
        guess = at_most(compose(later.guarantee, earlier.guarantee).best_guess)
        yield f"{IN_BOTH}: the best guess is then right in at most {guess} of cases."
    else:
        yield f"{IN_BOTH}."
    if rows > 1:
        chance = f"Where nothing changed, {percent(1 - level)} of differences still lie beyond"
        yield f"{chance} their noise: of these {rows:,} about {short((1 - level) * rows)}."
