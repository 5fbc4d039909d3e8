"""What in a header could be somebody's answer, and not the name of a column."""

from collections.abc import Collection

from halfnoise.data.dialects import DIALECTS
from halfnoise.data.spelling import NO, YES, lowered

CHECK_HEADER = (
    "check it: --skip 3 (or --header-row) passes over titles above it, --names a,b,c stands for"
    " one that is not there, or that has line breaks in quotes, --delimiter ';' parts cells where a"
    " comma does not, --encoding cp1252 reads one that is not in UTF-8, and lines end with a line"
    " feed"
)
_NOTHING = ("m", "na", "n/a", "nan", "null", "none")
_ELSEWHERE = [word for own in DIALECTS.values() for word in (*own["yes"], *own["no"])]
_ANSWERS = frozenset((*YES, *NO, *_NOTHING, *_ELSEWHERE))


def is_a_value(name: str, words: Collection[str] = ()) -> bool:
    """Whether the cell of a header could be an answer: a number, a day, an address, a sentence.

    That is one that does not begin with a letter (or _), holds five digits or more, is a word for
    yes, no or nothing in any dialect or one of ``words``, holds @ or + or a line break, or has more
    than 40 characters.

    >>> [name for name in ("age", "q_12", "1958-03-02", "HIV+", "", "Nein") if is_a_value(name)]
    ['1958-03-02', 'HIV+', '', 'Nein']
    """
    plain = lowered(name.strip())
    return (
        not plain[:1].replace("_", "a").isalpha()
        or sum(map(str.isdecimal, plain)) >= 5
        or plain in _ANSWERS
        or plain in words
        or any(mark in name for mark in "@+\n\0\ufffd")
        or len(name) > 40
    )
