"""The words of the command line turned into groups of people."""

import csv
from collections.abc import Iterable, Sequence
from typing import Any

from halfnoise.checks import refuse
from halfnoise.spec.queries import entries, split, whole_number
from halfnoise.workload.groups import DISCOVER, EVERY, By


def by(texts: Iterable[str], columns: Sequence[str] = ()) -> list[By]:
    """Read ``--by region``, ``--by visited:month`` or ``--by region,sex``, any number of times.

    >>> by(["region,visited:month"])
    [By(column='region', every=None), By(column='visited', every='month')]
    """
    named = []
    for text in texts:
        for name in (text,) if text in columns else split(text):
            column, colon, every = name.rpartition(":")
            if name in columns or not colon or (every not in EVERY and column not in columns):
                named.append(By(name))
            elif every in EVERY:
                named.append(By(column, every=every))
            else:
                rule = f"a column, or for days {column}:{', '.join(EVERY[:-1])} or {EVERY[-1]}"
                raise refuse("--by", rule, name)
    return named


def groups(texts: Sequence[str], by: Sequence[By]) -> object:
    """Read ``--groups north,south``, ``@file``, ``discover``, or in a plan how many.

    A key may be quoted, and a number alone is a key with a comma behind it. For several columns:
    once for each of them, in their order, for all combinations; or a file with a line such as
    ``north,f`` for each group.

    >>> groups(["north,south"], [By("region")]), groups(["16"], []), groups(["discover"], [])
    (('north', 'south'), 16, 'discover')
    >>> groups(['"a, b",c'], [By("region")]), groups(["16,"], [By("shop")])
    (('a, b', 'c'), ('16',))
    >>> groups(["north,south", "f,m"], [By("region"), By("sex")])
    [['north', 'south'], ['f', 'm']]
    """
    if list(texts) == [DISCOVER]:
        return DISCOVER
    if len(texts) == 1 and texts[0].lstrip("-").isdigit():
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


def as_words(groups: Any, *, several: bool) -> list[str]:  # noqa: ANN401
    """Return groups in a file as words: a list of keys, or a list of lists for several columns.

    >>> as_words(["a", "b, c"], several=False), as_words([["n", "s"], ["f"]], several=True)
    (['a', '"b, c"'], ['n,s', 'f'])
    """
    listed = groups if isinstance(groups, list) else [groups]
    if any(isinstance(each, bool | dict) for each in listed):
        raise refuse("groups in the spec", "text, a number, or a list of them", groups)
    if any(isinstance(each, list) for each in listed):
        return [
            ",".join(map(_quoted, each if isinstance(each, list) else [each])) for each in listed
        ]
    if several or not isinstance(groups, list) or (len(listed) == 1 and _is_word(str(listed[0]))):
        return [str(each) for each in listed]
    return [_quoted(each) for each in listed]


def as_keys(words: Sequence[str]) -> list[str]:
    """Return the words of one column as a file lists them."""
    if len(words) == 1 and _is_word(words[0]):
        return list(words)
    return [key for text in words for key in split(text)]


def _is_word(text: str) -> bool:
    return text == DISCOVER or text.startswith("@") or text.lstrip("-").isdigit()


def _quoted(key: object) -> str:
    text = str(key)
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in ',"') else text
