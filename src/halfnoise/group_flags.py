"""The words of the command line turned into groups of people."""

import csv
from collections.abc import Iterable, Sequence

from halfnoise.checks import refuse
from halfnoise.flags import entries, split, whole_number
from halfnoise.grouping import DISCOVER, EVERY, By


def by(texts: Iterable[str], columns: Sequence[str] = ()) -> list[By]:
    """Read ``--by region``, ``--by visited:month`` or ``--by region,sex``, any number of times.

    >>> by(["region,visited:month"])
    [By(column='region', every=None), By(column='visited', every='month')]
    """
    named = []
    for text in texts:
        for name in (text,) if text in columns else split(text):
            column, colon, every = name.rpartition(":")
            span = colon and every in EVERY and name not in columns
            named.append(By(column, every=every) if span else By(name))
    return named


def groups(texts: Sequence[str], by: Sequence[By]) -> object:
    """Read ``--groups north,south``, ``@file``, ``discover``, or in a plan how many.

    For several columns: once for each of them, in their order, for all combinations; or a file with
    a line such as ``north,f`` for each group.

    >>> groups(["north,south"], [By("region")]), groups(["16"], []), groups(["discover"], [])
    (('north', 'south'), 16, 'discover')
    >>> groups(["north,south", "f,m"], [By("region"), By("sex")])
    [['north', 'south'], ['f', 'm']]
    """
    if list(texts) == [DISCOVER]:
        return DISCOVER
    if not by and len(texts) == 1 and texts[0].lstrip("-").isdigit():
        return whole_number("--groups", texts[0])
    if len(by) < 2:
        return tuple(key for text in texts for key in split(text))
    if len(texts) == len(by):
        return [list(split(text)) for text in texts]
    if len(texts) > 1 or not texts[0].startswith("@"):
        rule = f"given once for each of the {len(by)} columns"
        remedy = "or name a file, @groups.txt, with a line such as north,f for each group"
        raise refuse("--groups", rule, ",".join(texts), remedy)
    lines = csv.reader(entries(texts[0]), skipinitialspace=True)
    return [tuple(cell.strip() for cell in line) for line in lines if line]
