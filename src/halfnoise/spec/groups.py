"""The words of the command line turned into groups of people."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from halfnoise.checks import refuse, whole_number
from halfnoise.spec.lists import ANYWHERE, Lists, one_value, quoted
from halfnoise.spec.queries import Words
from halfnoise.workload.groups import DISCOVER, EVERY, By, Groups


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
        mixed = lists and len(lists) < len(groups)
        if mixed or any(isinstance(each, bool | dict | list) for each in flat):
            raise refuse("groups in the spec", "text, a number, or a list of them", self.groups)
        if isinstance(self.groups, list):
            texts = [one_value("groups", each) for each in flat]
            if len(texts) == 1 and not lists and is_number(texts[0]):
                remedy = f'say groups = {texts[0]} for how many, or groups = "{texts[0]}," for one'
                raise refuse("groups in the spec", "a list that reads one way", texts, remedy)

    def words(self, *, several: bool) -> list[str]:
        """Return them as words.

        >>> Listed(["a", '"b, c"']).words(several=False)
        ['a,"b, c",']
        >>> Listed([["n", "s"], ["f"]]).words(several=True)
        ['n,s,', 'f,']
        """
        if not isinstance(self.groups, list):
            return [str(self.groups)]
        lists = [each for each in self.groups if isinstance(each, list)]
        if bool(lists) != several:
            rule = "a list for each column" if several else "a list of groups"
            remedy = '[["north", "south"], ["f", "m"]]' if several else '["north", "south"]'
            raise refuse("groups in the spec", rule, self.groups, f"for example {remedy}")
        # A comma behind makes a list of one, be it a number.
        return ["".join(f"{value}," for value in each) for each in lists or [self.groups]]


def grouping(words: Words, lists: Callable[[str], Lists]) -> tuple[list[By], Groups]:
    """Read by which columns people are in groups, and in which."""
    named = by(words.get("by") or (), lists("by"))
    texts = words.get("groups")
    if isinstance(texts, Listed):
        texts = texts.words(several=len(named) > 1)
    return named, groups(texts, named, lists("groups")) if texts else None


def by(texts: Iterable[str], lists: Lists = ANYWHERE) -> list[By]:
    """Read ``--by region``, ``--by visited:month`` or ``--by region,sex``, any number of times.

    >>> by(["region,visited:month"])
    [By(column='region', every=None), By(column='visited', every='month')]
    """
    named, columns = [], lists.columns
    for text in texts:
        for name in lists.names("--by", text):
            column, colon, every = name.rpartition(":")
            if name in columns or not colon or (every not in EVERY and column not in columns):
                named.append(By(name))
            elif every in EVERY:
                named.append(By(column, every=every))
            else:
                rule = f"a column, or for days {column}:{', '.join(EVERY[:-1])} or {EVERY[-1]}"
                raise refuse("--by", rule, name)
    return named


def groups(texts: Sequence[str], by: Sequence[By], lists: Lists = ANYWHERE) -> Groups:
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
    numbers = [text for text in texts if is_number(text)]
    if numbers and len(texts) == 1:
        return whole_number("--groups", numbers[0])
    if numbers:
        remedy = f"as a key it needs a list: --groups {numbers[0]},"
        raise refuse("--groups", "a list, or said in one way alone", numbers[0], remedy)
    if len(by) > 1 and len(texts) == 1 and texts[0].startswith("@"):
        rows = lists.rows(texts[0], len(by))
        return [tuple(cell.strip() for cell in row) for row in rows]
    keys = [_keys(text, lists) for text in texts]
    if len(by) < 2:
        return tuple(key for each in keys for key in each)
    if len(texts) != len(by):
        rule = f"given once for each of the {len(by)} columns"
        remedy = "or name a file, @groups.txt, with a line such as north,f for each group"
        raise refuse("--groups", rule, ",".join(texts), remedy)
    return [list(each) for each in keys]


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
