"""Dialects: names for how people of a language write tables, each a set of options.

>>> DIALECTS["de"]["dates"], DIALECTS["en-us"]["dates"]
('dd.mm.yyyy', 'mm/dd/yyyy')
"""

from collections.abc import Mapping
from typing import Any

from halfnoise.checks import unknown

_NO_BREAK, _NARROW = "\u00a0", "\u202f"  # spaces at which no line is broken


_OPTIONS = ("delimiter", "decimal", "thousands", "dates", "yes", "no")
_TABLE = {
    "de": (";", ",", ".", "dd.mm.yyyy", "ja j wahr", "nein falsch"),
    "en-gb": (",", ".", ",", "dd/mm/yyyy", "", ""),
    "en-us": (",", ".", ",", "mm/dd/yyyy", "", ""),
    "es": (";", ",", ".", "dd/mm/yyyy", "sí si s verdadero", "falso"),
    "fr": (";", ",", _NARROW, "dd/mm/yyyy", "oui o vrai", "non faux"),
    "it": (";", ",", ".", "dd/mm/yyyy", "sì si s vero", "falso"),
    "nl": (";", ",", ".", "dd-mm-yyyy", "ja j waar", "nee onwaar"),
    "pl": (";", ",", _NO_BREAK, "dd.mm.yyyy", "tak prawda", "nie fałsz"),
    "pt": (";", ",", ".", "dd/mm/yyyy", "sim s verdadeiro", "não nao falso"),
}
DIALECTS: Mapping[str, Mapping[str, Any]] = {
    name: dict(zip(_OPTIONS, (*marks, tuple(yes.split()), tuple(no.split())), strict=True))
    for name, (*marks, yes, no) in _TABLE.items()
}


def options_of(dialect: str) -> dict[str, Any]:
    """Return the options that a dialect stands for; refuse one that is not known.

    >>> options_of("de")["yes"]
    ('ja', 'j', 'wahr')
    """
    if dialect not in DIALECTS:
        raise unknown("dialect", dialect, list(DIALECTS))
    return dict(DIALECTS[dialect])
