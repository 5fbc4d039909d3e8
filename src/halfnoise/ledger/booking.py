"""One release on its way through a ledger: charged, drawn, handed over."""

import glob
import os
from collections.abc import Callable, Sequence
from dataclasses import replace

from halfnoise.checks import refuse, whole
from halfnoise.errors import HalfnoiseError, InvalidParameterError
from halfnoise.ledger.entries import Charge, History
from halfnoise.ledger.ledger import Ledger
from halfnoise.ledger.pricing import afterwards
from halfnoise.ledger.sqlite_file import ENDING, SqliteFile
from halfnoise.ledger.terms import Bill, check_name, check_terms
from halfnoise.privacy.allowance import Allowance
from halfnoise.privacy.definitions import ApproxDP, GaussianDP, Privacy, PureDP
from halfnoise.proof import down, least

NO_LEDGER = (
    "No ledger: nobody adds this release up with others about the same people, so their"
    " protection may wear away unseen."
)


def beside(files: Sequence[str], *, needed: bool = True) -> Ledger | None:
    """Return the ledger of one file, beside it and under its real name; others have none.

    Beside the first of several it would be another one as soon as that is archived, or named later.
    """
    there = [*filter(os.path.exists, files)]
    if len(files) == len(there) == 1:
        return Ledger(os.path.realpath(files[0]) + ENDING, new=True)
    far = any("://" in name for name in files)
    if needed and (far or there or any(glob.glob(name, recursive=True) for name in files)):
        why = "several files, or a pattern, have no ledger of their own: which is first may change"
        why = "what is on a server has no ledger beside it" if far else why
        remedy = "name one (--ledger FILE, ledger='FILE'), made with halfnoise ledger init"
        none = "or keep no account (--no-ledger, ledger=None)"
        raise InvalidParameterError(f"{why}; {remedy}, {none}")
    return None


class Booking:
    """One release and its ledger, if it has one.

    ``name``: what the charge is called; the same name with the same request returns the same
    result. ``resume``: go on with a charge that stands, and never make one.
    """

    def __init__(
        self, ledger: Ledger | None, *, name: str | None = None, resume: bool = False
    ) -> None:
        """Refuse what needs a ledger where there is none."""
        self.ledger, self.resume, self.charge, self.kept = ledger, resume, None, None
        self._asked = ""
        self._before = ledger is None or ledger.is_there()
        self.name = None if name is None else check_name(name, "resume" if resume else "name")
        if ledger is None and name is not None:
            why = "a name makes a release repeatable, which needs a ledger"
            raise InvalidParameterError(f"{why}; name one (--ledger FILE, ledger='FILE')")

    charge: Charge | None  # that was made, or stands
    kept: bytes | None  # the result, once the ledger keeps it

    @property
    def made(self) -> str:
        """That the ledger was made by this release, if it was."""
        if self._before or self.ledger is None or self.charge is None or self.charge.entry > 1:
            return ""
        place = self.ledger.store.name
        return f"A new ledger was made: {place}; releases before it are not in it."

    @property
    def files(self) -> list[str]:
        """The files that the ledger consists of, which no output may replace."""
        return [] if self.ledger is None else [*self.ledger.store.files]

    @property
    def limit(self) -> Privacy | Allowance | None:
        """What the ledger allows, for designs to be compared by what they cost there."""
        if self.ledger is None or not self.ledger.is_there():
            return None
        history = self.ledger.history()
        if history.allowance is None:
            return history.limit
        return replace(history.allowance, spent=history.spent)

    def parts(
        self, times: int, noise: str | None, *, discovers: bool
    ) -> list[tuple[Privacy, float | None]]:
        """Return what so many equal releases may spend together, and the delta of discovering.

        Where both kinds of noise have a place of their own, there is a part for each.
        """
        whole(one_of=times)
        limit = self.limit
        if limit is None:
            remedy = "make one: halfnoise ledger init FILE --epsilon 3 --delta 1e-6 --unit COLUMN"
            rule = "used with a ledger that has a limit"
            raise refuse("one_of", rule, times, f"{remedy}, and name it (--ledger FILE)")
        if not isinstance(limit, Allowance):
            return [(limit, None)]
        kept = down(limit.delta) if limit.delta else None
        if not isinstance(limit.limit, ApproxDP):
            return [(limit.limit, kept)]
        if limit.pure or noise == "laplace":
            return _parts(limit, kept, noise) or [(limit.limit, kept)]
        if discovers or kept is None:
            return [(limit.limit, kept)]
        rest = down(least(limit.limit.delta) - limit.delta)
        return [(ApproxDP(epsilon=limit.limit.epsilon, delta=rest), None)]

    def asked(self, fingerprint: Callable[..., str], about: Sequence[object]) -> str:
        """Return the hash of what is asked, worked out once; without a ledger nobody needs it."""
        if self.ledger is not None and not self._asked:
            self._asked = fingerprint(*about, named=self.name is not None)
        return self._asked

    def stored(self, request: str) -> bytes | None:
        """Return the result that is kept under the name, if it was drawn."""
        if self.ledger is None or self.name is None:
            return None
        self.charge = self.ledger.find(self.name, request)
        self.kept = None if self.charge is None else self.ledger.result(self.charge)
        return self.kept

    def make(self, bill: Bill) -> None:
        """Charge the release, unless its charge stands already."""
        if self.ledger is None:
            return
        tried = list[Charge]()
        try:
            self.charge = self.ledger.charge(bill, resume=self.resume, tried=tried.append)
        except BaseException as error:  # it may stand all the same
            self.charge = next(filter(self.ledger.holds, tried), None)
            self.tell(error)
            raise

    def check(self, bill: Bill) -> History | None:
        """Return where all would stand, or refuse what the ledger would not allow now.

        Nothing is charged, and nothing would be where the charge stands already.
        """
        if self.resume and self.charge is None:
            raise refuse("--resume", "the name of a charge that stands", self.name)
        if self.ledger is None or not self.ledger.is_there():
            if self.ledger is not None and isinstance(self.ledger.store, SqliteFile):
                self.ledger.store.check_folder()
            return None
        history = self.ledger.history()
        check_terms(history, bill)
        return afterwards(history, bill) if self.charge is None else history

    def keep(self, document: bytes) -> bytes:
        """Keep the result in the ledger before anybody sees it; return the one that was first."""
        if self.ledger is None or self.charge is None:
            return document
        self.kept = self.ledger.keep(self.charge, document)
        return self.kept

    def handed_over(self, output: bytes) -> History | None:
        """Record what was handed over, and return where all stands."""
        if self.ledger is None or self.charge is None:
            return None
        try:
            return self.ledger.released(self.charge, output)
        except HalfnoiseError as error:
            self.tell(error)
            raise

    def tell(self, error: BaseException) -> None:
        """Add to an error that the charge stands."""
        if self.charge is not None and isinstance(error, HalfnoiseError):
            error.add_note(self.standing)

    @property
    def standing(self) -> str:
        """What to do where something went wrong after the charge."""
        if self.charge is None or self.ledger is None:
            return ""
        name, place = self.charge.name, self.ledger.store.name
        how = f"say the same with --resume {name!r}"
        return f"the charge {name!r} stands in {place!r} and is not made twice: {how} to go on"


def _parts(
    box: Allowance, kept: float | None, noise: str | None
) -> list[tuple[Privacy, float | None]]:
    """Return the places that noise of each kind has in a box, as budgets."""
    parts = list[tuple[Privacy, float | None]]()
    if noise != "laplace" and box.mu:
        parts.append((GaussianDP(mu=box.mu), kept))
    if noise != "gaussian" and (place := box.pure or box.place()):
        parts.append((PureDP(epsilon=down(place)), kept))
    return parts
