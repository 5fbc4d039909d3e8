"""What a ledger is to a release."""

from typing import Protocol

from halfnoise.privacy.definitions import Guarantee


class Ledger(Protocol):
    """Where a release is charged before any row is read."""

    def charge(self, guarantee: Guarantee) -> None:
        """Take the amount from the budget, or refuse."""
