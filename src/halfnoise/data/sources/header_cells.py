"""What stands where names should: it could be a person's answer, which nobody may see."""

import re

_ANSWERS = re.compile("yes|no|true|false|y|n|t|f|m|na|n/a|nan|null|none")


def is_a_value(name: str) -> bool:
    """Whether the cell of a header could be an answer: a number, a day, an address, a sentence.

    That is one that does not begin with a letter (or _), holds five digits or more, is a word for
    yes, no or nothing, holds @ or + or a line break, or has more than 40 characters.

    >>> [name for name in ("age", "q_12", "1958-03-02", "HIV+", "", "no") if is_a_value(name)]
    ['1958-03-02', 'HIV+', '', 'no']
    """
    plain = name.strip().casefold()
    return (
        not plain[:1].replace("_", "a").isalpha()
        or sum(map(str.isdecimal, plain)) >= 5
        or bool(_ANSWERS.fullmatch(plain))
        or any(mark in name for mark in "@+\n\0\ufffd")
        or len(name) > 40
    )
