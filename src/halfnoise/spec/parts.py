"""Words read part by part, where not all of them can be read: what is refused, and the rest."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from halfnoise.errors import HalfnoiseError
from halfnoise.request import Request
from halfnoise.spec.header import Header
from halfnoise.spec.queries import Words
from halfnoise.spec.vocabulary import BUDGET, CROSSED, GROUPS, LISTS, QUERIES, SAMPLE, SIZES, WORDS
from halfnoise.spec.words import read
from halfnoise.values import dataclass, field
from halfnoise.workload.numbers import Counts

# Words that mean something only with each other.
_TOGETHER = (GROUPS, BUDGET, ("weight", *SIZES), SAMPLE)
# And these with queries.
_WEIGHTS = (*CROSSED, "importance", "at-most", "size-importance", "size-dial")
_ONE_BY_ONE = tuple(name for name in (*QUERIES, *CROSSED) if name in LISTS)
_ONE_BY_ONE = (*_ONE_BY_ONE, "importance", "where", "missing")
_SPELLED = ("dialect", "dates", "decimal", "thousands")  # by which others are read
_ANYTHING = [Counts(1)]  # is asked while the rest is read
Part = dict[str, Any]


def read_parts(
    words: Words, header: Header | None = None, data: Sequence[str] = ()
) -> tuple[Request | None, list[HalfnoiseError]]:
    """Return what was asked, without what is refused, and all that is refused.

    >>> request, refused = read_parts({"count": ["smoker"], "sum": ["visits", "age=9:1"]})
    >>> print(request.what, len(refused))
    count of smoker 2
    """
    try:
        return read(words, header, data), []
    except HalfnoiseError:
        spelled = {name: words[name] for name in _SPELLED if name in words}
        reader = _Reader(header, data, [{"beside": words.get("beside", {}), **spelled}])
    base, parts = reader.kept[0], [*_parts(words)]
    queries = [part for part in parts if {*part} & {*QUERIES}]
    for part in parts:
        if not {*part} & {*QUERIES, *_WEIGHTS}:
            reader.sort(part, [base], asked=_ANYTHING)
    # What a pattern may show hangs on the columns that are named beside it.
    patterns = [part for part in queries if {*"*?["} & {*"".join(part.get("count", ()))}]
    for part in queries:
        if part not in patterns:
            reader.sort(part, [base])
    for part in patterns:
        reader.sort(part, reader.kept)
    if queries and not reader.asks:
        return None, reader.refused
    for part in parts:
        if {*part} & {*_WEIGHTS}:
            reader.sort(part, reader.kept)
    reader.sort({}, reader.kept)
    return reader.found, reader.refused


@dataclass(slots=True)
class _Reader:
    """Reads parts, and keeps those that can be read."""

    header: Header | None
    data: Sequence[str]
    kept: list[Part]
    refused: list[HalfnoiseError] = field(default_factory=list)
    found: Request | None = None

    def sort(self, part: Part, beside: Sequence[Part], asked: Any = None) -> None:
        """Read a part beside others, and keep it or why it is refused."""
        self.found = None
        try:
            self.found = read(_joined([*beside, part]), self.header, self.data, asked=asked)
            self.kept.append(part)
        except HalfnoiseError as error:
            self.refused.append(error)

    @property
    def asks(self) -> bool:
        """Whether there is a query among them."""
        return any({*part} & {*QUERIES} for part in self.kept)


def _parts(words: Words) -> Iterator[Part]:
    """Take words apart, as far as each part can be read alone."""
    for together in _TOGETHER:
        if part := {name: words[name] for name in together if words.get(name) is not None}:
            yield part
    for name in WORDS:
        if words.get(name) is None or any(name in together for together in _TOGETHER):
            continue
        if name not in _ONE_BY_ONE:
            yield {name: words[name]}
            continue
        # Which of them the command line said is told by how many of the last it did.
        own = len(words[name]) - words.get("joined", {}).get(name, 0)
        for i, text in enumerate(words[name]):
            yield {name: [text], "joined": {name: int(i >= own)}}


def _joined(parts: Iterable[Part]) -> Part:
    """Put parts together again."""
    whole: Part = {"joined": {}}
    for part in parts:
        for name, value in part.items():
            if name == "joined":
                whole[name] |= {n: whole[name].get(n, 0) + more for n, more in value.items()}
            elif name in _ONE_BY_ONE:
                whole.setdefault(name, []).extend(value)
            else:
                whole[name] = value
    return whole
