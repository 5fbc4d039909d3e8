"""The words of the command line turned into groups of people."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from halfnoise.checks import refuse, whole_number
from halfnoise.spec.queries import Words, entries, split
from halfnoise.workload.groups import DISCOVER, EVERY, By, Groups


@dataclass(frozen=True, slots=True)
class Listed:
    """Groups as a TOML file lists them: keys, or a list of lists for several columns."""

    groups: object

    def __post_init__(self) -> None:
        """Refuse what is no key."""
        groups = self.groups if isinstance(self.groups, list) else [self.groups]
        if any(isinstance(each, bool | dict) for each in groups):
            raise refuse("groups in the spec", "text, a number, or a list of them", self.groups)

    def words(self, *, several: bool) -> list[str]:
        """Return them as words.

        >>> Listed(["a", "b, c"]).words(several=False)
        ['a', '"b, c"']
        >>> Listed([["n", "s"], ["f"]]).words(several=True)
        ['n,s', 'f']
        """
        if not isinstance(self.groups, list):
            return [str(self.groups)]
        if any(isinstance(each, list) for each in self.groups):
            lists = [each if isinstance(each, list) else [each] for each in self.groups]
            return [",".join(map(_quoted, each)) for each in lists]
        texts = list(map(str, self.groups))
        alone = len(texts) == 1 and is_word(texts[0])
        return texts if several or alone else list(map(_quoted, texts))


def grouping(words: Words, columns: Sequence[str]) -> tuple[list[By], Groups]:
    """Read by which columns people are in groups, and in which."""
    named = by(words.get("by") or (), columns)
    texts = words.get("groups")
    if isinstance(texts, Listed):
        texts = texts.words(several=len(named) > 1)
    return named, groups(texts, named) if texts else None


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


def groups(texts: Sequence[str], by: Sequence[By]) -> Groups:
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


def is_word(text: str) -> bool:
    """Whether a text says groups in another way than by a list of keys."""
    return text == DISCOVER or text.startswith("@") or text.lstrip("-").isdigit()


def _quoted(key: object) -> str:
    text = str(key)
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in ',"') else text
