"""The words of the command line turned into groups of people."""

import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from halfnoise.checks import SPACES, number, refuse, whole_number
from halfnoise.spec.lists import ANYWHERE, Lists, one_value, quoted
from halfnoise.spec.queries import Words
from halfnoise.values import dataclass
from halfnoise.workload.by import SPANS, By
from halfnoise.workload.conditions import as_number
from halfnoise.workload.listing import DISCOVER, Groups
from halfnoise.workload.spans import EVERY

_BANDS = re.compile(r"(.+):bands:(.*)", re.DOTALL)
_SPAN = re.compile(rf"(.+):({'|'.join(EVERY)})(?::([^:]+))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Listed:
    """Groups as a TOML file lists them: keys, or a list of lists for several columns.

    What is no list is a word of the command line.
    """

    groups: object

    def __post_init__(self) -> None:
        """Refuse what is no key, and what could be read as several, or as a word."""
        groups = self.groups if isinstance(self.groups, list) else [self.groups]
        lists = [each for each in groups if isinstance(each, list)]
        flat = [value for each in lists for value in each] or groups
        mixed = lists and any(each != DISCOVER for each in groups if not isinstance(each, list))
        if mixed or any(isinstance(each, bool | dict | list) for each in flat):
            raise refuse("groups in the spec", "text, a number, or a list of them", self.groups)
        if isinstance(self.groups, list):
            texts = [one_value("groups", each) for each in flat]
            if len(texts) == 1 and not lists and is_number(texts[0]):
                remedy = f'say groups = {texts[0]} for how many, or groups = "{texts[0]}," for one'
                raise refuse("groups in the spec", "a list that reads one way", texts, remedy)

    def words(self, by: Sequence[By]) -> list[str]:
        """Return them as words.

        >>> Listed(["a", '"b, c"']).words([By("region")])
        ['a,"b, c",']
        >>> Listed([["n", "s"], "discover"]).words([By("region"), By("shop")])
        ['n,s,', 'discover']
        """
        if not isinstance(self.groups, list):
            return [str(self.groups)]
        several = any(isinstance(each, list) for each in self.groups)
        if several > (len(by) > 1) or several < (len(_unlisted(by)) > 1):
            rule = "a list of groups" if several else "a list for each column"
            remedy = '["north", "south"]' if several else '[["north", "south"], ["f", "m"]]'
            raise refuse("groups in the spec", rule, self.groups, f"for example {remedy}")
        # A comma behind makes a list of one, be it a number.
        return [
            DISCOVER if each == DISCOVER else "".join(f"{value}," for value in each)
            for each in (self.groups if several else [self.groups])
        ]


def grouping(words: Words, lists: Callable[[str], Lists]) -> tuple[list[By], Groups]:
    """Read by which columns people are in groups, and in which."""
    named = by(words.get("by") or (), lists("by"))
    texts = words.get("groups")
    if isinstance(texts, Listed):
        texts = texts.words(named)
    return named, groups(texts, named, lists("groups")) if texts else None


def by(texts: Iterable[str], lists: Lists = ANYWHERE) -> list[By]:
    """Read ``--by region``, ``--by visited:month`` or ``--by region,sex``, any number of times.

    >>> for each in by(["region,seen:day:Europe/Berlin", "age:bands:0,18,65"]):
    ...     print(each)
    region
    seen:day:Europe/Berlin
    age:bands:0,18,65
    """
    known = lists.columns
    named = (_with_edges(lists.names("--by", text), known) for text in texts)
    return [_one(name, known) for names in named for name in names]


def _with_edges(names: Iterable[str], columns: Collection[str]) -> Iterator[str]:
    """Go through names, those of bands with the numbers behind them."""
    bands = ""
    for name in names:
        if bands and as_number(name) is not None and name not in columns:
            bands += f",{name}"
            continue
        if bands:
            yield bands
        bands = name if _BANDS.fullmatch(name) and name not in columns else ""
        if not bands:
            yield name
    if bands:
        yield bands


def _one(name: str, columns: Collection[str]) -> By:
    if name in columns:
        return By(name)
    if found := _BANDS.fullmatch(name):
        return By(found[1], bands=[number("--by", edge.strip()) for edge in found[2].split(",")])
    if found := _SPAN.fullmatch(name):
        return By(found[1], every=found[2], zone=found[3])
    parts = name.split(":")
    for column in (":".join(parts[:end]) for end in range(len(parts) - 1, 0, -1)):
        if column in columns:
            rule = f"a column, for days {column}:day ({SPANS}), for a number {column}:bands:0,18,65"
            raise refuse("--by", rule, name)
    return By(name)


def _unlisted(by: Sequence[By]) -> list[By]:
    """Return the columns whose groups must be listed: bands are known."""
    return [each for each in by if each.bands is None]


def groups(texts: Sequence[str], by: Sequence[By], lists: Lists = ANYWHERE) -> Groups:
    """Read ``--groups north,south``, ``@file``, ``discover``, or in a plan how many.

    A key may be quoted, and a number alone is a key with a comma behind it. For several columns:
    once for each of them, in their order, for all combinations, bands left out; or a file with a
    line such as ``north,f`` for each group.

    >>> groups(["north,south"], [By("region")]), groups(["16"], []), groups(["discover"], [])
    (('north', 'south'), 16, 'discover')
    >>> groups(['"a, b",c'], [By("region")]), groups(["16,"], [By("shop")])
    (('a, b', 'c'), ('16',))
    >>> groups(["north,south", "discover"], [By("region"), By("shop")])
    [['north', 'south'], 'discover']
    """
    if list(texts) == [DISCOVER]:
        return DISCOVER
    numbers = [text for text in texts if is_number(text)]
    if numbers and len(texts) == 1:
        return whole_number("--groups", numbers[0])
    if numbers:
        remedy = f"as a key it needs a list: --groups {numbers[0]},"
        raise refuse("--groups", "a list, or said in one way alone", numbers[0], remedy)
    free = _unlisted(by)
    if len(by) > 1 < len(free) and len(texts) == 1 and texts[0].startswith("@"):
        rows = lists.rows(texts[0], len(by))
        return [tuple(cell.strip(SPACES) for cell in row) for row in rows]
    if len(by) < 2 or (len(free) < 2 and len(texts) != len(by)):
        return tuple(itertools.chain.from_iterable(_keys(text, lists) for text in texts))
    if len(texts) not in (len(by), len(free)):
        rule = f"given once for each of the {len(free) or len(by)} columns"
        remedy = "or name a file, @groups.txt, with a line such as north,f for each group"
        raise refuse("--groups", rule, ",".join(texts), remedy)
    parts: list[Any] = [t if t == DISCOVER else [*_keys(t, lists)] for t in texts]
    return parts


def _keys(text: str, lists: Lists) -> tuple[str, ...]:
    """Read a list of keys; what says groups in another way must stand alone."""
    keys, rule = lists.values("--groups", text), "a list, or said in one way alone"
    if text != DISCOVER and text.strip().casefold() in (DISCOVER, "discovered"):
        remedy = f"a group of this name is quoted: {quoted(DISCOVER).replace(DISCOVER, text)}"
        raise refuse("--groups", f"{DISCOVER}, or a list", text, remedy)
    if DISCOVER in keys and not text.startswith("@") and quoted(DISCOVER) not in text:
        raise refuse("--groups", rule, text, f"a group of this name is quoted: {quoted(DISCOVER)}")
    return keys


def is_number(text: str) -> bool:
    """Whether a text says how many groups there are."""
    return text.lstrip("-").isdigit()
