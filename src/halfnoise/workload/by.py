"""The column by which people are in groups: by its values, spans of time, or bands of a number."""

from collections.abc import Collection, Sequence
from zoneinfo import ZoneInfo

from halfnoise.checks import check_column, check_literals, is_name, known_keywords, refuse
from halfnoise.errors import InvalidParameterError
from halfnoise.values import KW_ONLY, dataclass
from halfnoise.workload.bands import band_names, check_edges
from halfnoise.workload.conditions import Coded, Literal
from halfnoise.workload.spans import EVERY

BANDS = "bands"
# Names beside those of places: what this machine has chosen, nothing yet, and leap seconds or not.
_NOT_PLACES = ("localtime", "posixrules", "factory", "right", "posix")
SPANS = "hour, day, week, month, quarter or year"


@known_keywords
@dataclass(frozen=True, slots=True)
class By(Coded):
    """A column whose values name groups.

    Days and moments go by ``every`` hour, day, week (of ISO 8601), month, quarter or year, as
    clocks show it in the ``zone`` where that is given. Numbers go by ``bands``, of which each edge
    starts one and the last is open; there, ``missing`` are the codes for no answer.

    >>> print(By("visited", every="day", zone="Europe/Berlin"))
    visited:day:Europe/Berlin
    >>> By("age", bands=[0, 18, 65]).names
    ('0 to 18', '18 to 65', '65 and over')
    """

    column: str
    _: KW_ONLY
    every: str | None = None
    zone: str | None = None
    bands: Sequence[float] | None = None
    missing: Literal | Collection[Literal] = ()

    def __post_init__(self) -> None:
        check_column(self.column)
        if self.every not in (None, *EVERY):
            raise refuse("every", SPANS, self.every)
        if self.zone is not None:
            self._check_zone()
        if self.bands is not None:
            if self.every is not None:
                rule = f"groups by {self.column!r} go by spans of time or by bands of a number"
                raise InvalidParameterError(f"{rule}, not both; leave every or bands out")
            object.__setattr__(self, "bands", check_edges(BANDS, self.bands))
            if len(set(self.names)) < len(self.names):
                rule = "edges that differ in their first 15 digits"
                raise refuse(BANDS, rule, list(self.bands))
        object.__setattr__(self, "missing", check_literals("missing", self.missing))
        if self.codes and self.bands is None:
            rule = "left out of groups but for bands"
            raise refuse("missing", rule, self.missing, "rows without a key have the key None")

    def _check_zone(self) -> None:
        if self.every is None:
            raise refuse("zone", "given with every='day' or another span", self.zone)
        if str(self.zone).partition("/")[0].lower() in _NOT_PLACES:
            rule = "a time zone that is the same on every machine"
            raise refuse("zone", rule, self.zone, "for example Europe/Berlin")
        try:
            known = is_name(self.zone) and ZoneInfo(str(self.zone)) is not None
        except (LookupError, OSError, ValueError):  # unknown, a folder, or no name for a file
            known = False
        if not known:
            raise refuse("zone", "a time zone such as Europe/Berlin", self.zone)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its bands, of which there are none without edges."""
        return () if self.bands is None else band_names(tuple(self.bands))

    def __str__(self) -> str:
        edges = ",".join(str(edge).removesuffix(".0") for edge in self.bands or ())
        parts = (self.every, self.zone, edges and f"{BANDS}:{edges}")
        return ":".join([self.column, *(part for part in parts if part)])
