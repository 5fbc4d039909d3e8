"""The usual answers, judged once: which letters and which words are one of several values.

For texts of one letter, and for words for yes and no, which make up most of what is counted, the
rule of ``cells`` stands here once more; an engine then finds them in a short list.
"""

from collections.abc import Sequence

from halfnoise.data.spelling import SPACES, Spelling, folded, lowered
from halfnoise.data.written import NUMBERS_IN_WORDS
from halfnoise.values import dataclass
from halfnoise.workload.conditions import Literal, as_number

_NUMBERS = {"true": 1.0, "false": 0.0} | {str(digit): float(digit) for digit in range(10)}


@dataclass(frozen=True, slots=True)
class Usual:
    """What is looked for in text: ``values``, but for codes for ``missing``, as it is spelled.

    >>> from halfnoise.data.spelling import PLAIN
    >>> usual = Usual((True,), ("t",), PLAIN)
    >>> usual.found(usual.letters), usual.found(["yes", "no"])
    (['1', 'T', 'Y', 'y'], ['yes'])
    """

    values: Sequence[Literal]
    missing: Sequence[Literal]
    spelling: Spelling

    @property
    def letters(self) -> list[str]:
        """The texts of one letter that could be one of the values."""
        words = {*self.spelling.yes_words, *self.spelling.no_words}
        words |= {str(value).strip(SPACES) for value in (*self.values, *self.missing)}
        small = {word for word in words if len(word) == 1}
        return sorted({*"0123456789", *small, *(s.upper() for s in small), *map(str.lower, small)})

    @property
    def are_all_letters(self) -> bool:
        """Whether no other text of one letter could be: not where cases of letters matter."""
        plain = not (self.spelling.yes or self.spelling.no or self.spelling.ignore_case)
        return plain and all(str(value).strip(SPACES) for value in (*self.values, *self.missing))

    @property
    def digits(self) -> str:
        """The digits that are looked for before all else, where they say yes and no."""
        return "10" if self.words else ""

    @property
    def words(self) -> list[list[str]]:
        """The words for yes and no, where they are looked for, most usual ones first."""
        if not any(isinstance(value, bool) for value in self.values):
            return []
        known = (*self.spelling.yes_words, *self.spelling.no_words)
        small = [word for word in known if len(word) > 1]
        return [small, [s.capitalize() for s in small] + [s.upper() for s in small]]

    @property
    def judged_words(self) -> list[tuple[list[str], bool]]:
        """The same words, those that are one of the values apart from the others of as usual ones.

        An engine that is told the answer need not compare a second time.
        """
        judged = list[tuple[list[str], bool]]()
        for words in self.words:
            own = self.found(words)
            judged += [(own, True), ([word for word in words if word not in own], False)]
        return [(words, is_it) for words, is_it in judged if words]

    def ranks(self) -> dict[str, int]:
        """Return which of the values usual texts are: letters, and values that are plain words."""
        known = {*NUMBERS_IN_WORDS} - {*_NUMBERS}  # numbers that are not known here
        words = [str(value).strip(SPACES) for value in self.values]
        words = [word for word in words if lowered(word) not in known]
        plain = (word for word in words if word.replace("_", "").isalpha())  # no number, no day
        texts = [*self.letters, *plain]
        found = [Usual([value], self.missing, self.spelling).found(texts) for value in self.values]
        return {text: rank for rank in reversed(range(len(found))) for text in found[rank]}

    def found(self, texts: Sequence[str]) -> list[str]:
        """Return those of some usual texts that are one of the values, and not missing."""
        among = [text for text in texts if self._is_any(text, self.values)]
        return [text for text in among if not self._is_any(text, self.missing)]

    def _is_any(self, text: str, values: Sequence[Literal]) -> bool:
        return any(self._is(text.strip(SPACES), value) for value in values)

    def _is(self, text: str, value: Literal) -> bool:
        """Whether a usual text is a value: as a word for yes or no, as text, or as a number."""
        number = float(value) if isinstance(value, bool) else as_number(value)
        if number is not None and _NUMBERS.get(lowered(text)) == number:
            return True
        if isinstance(value, bool):
            return lowered(text) in (self.spelling.yes_words if value else self.spelling.no_words)
        own = str(value).strip(SPACES)
        return folded(text) == folded(own) if self.spelling.ignore_case else text == own
