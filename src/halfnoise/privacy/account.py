"""What releases amount to: three exact sums.

Pure epsilons add up, squared mu add up, and so do the deltas of discovering groups.
"""

from fractions import Fraction

from halfnoise.privacy.definitions import DiscoveryDP, GaussianDP, Guarantee, MixedDP, PureDP
from halfnoise.proof import sqrt_up, up
from halfnoise.values import dataclass

NOTHING = Fraction(0)
BEYOND = Fraction(2**40)  # so many times the whole: there is no place for it
KINDS = ("pure", "squares", "delta")


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Exact sums over releases: of pure epsilons, of squared mu, of what discovering costs.

    >>> three = Account.of(GaussianDP(mu=3)) + Account.of(GaussianDP(mu=4))
    >>> three.squares, three.promise
    (Fraction(25, 1), GaussianDP(mu=5.0))
    """

    pure: Fraction = NOTHING
    squares: Fraction = NOTHING
    delta: Fraction = NOTHING

    @classmethod
    def of(cls, guarantee: Guarantee | MixedDP) -> "Account":
        """Return what one release costs, or several together."""
        match guarantee:
            case GaussianDP(mu=mu):
                return cls(squares=Fraction(mu) ** 2)
            case PureDP(epsilon=epsilon):
                return cls(pure=Fraction(epsilon))
            case MixedDP(gaussian=gaussian, pure=pure):
                return cls.of(gaussian) + cls.of(pure)
            case DiscoveryDP(kept=kept, delta=delta):
                return cls.of(kept) + cls(delta=Fraction(delta))
        raise TypeError(type(guarantee).__name__)

    def __add__(self, other: "Account") -> "Account":
        """Return what both amount to; most releases cost nothing of two kinds, which is no sum."""
        return Account(
            pure=self.pure + other.pure if other.pure else self.pure,
            squares=self.squares + other.squares if other.squares else self.squares,
            delta=self.delta + other.delta if other.delta else self.delta,
        )

    def __mul__(self, times: Fraction | int) -> "Account":
        """Return what so many of it amount to."""
        return Account(
            pure=self.pure * times, squares=self.squares * times, delta=self.delta * times
        )

    def __bool__(self) -> bool:
        return bool(self.pure or self.squares or self.delta)

    def part_of(self, whole: "Account") -> Fraction:
        """Return which part of a whole this is, by the kind of which it takes most.

        Where the whole has nothing of a kind that is asked for, it is ``BEYOND``.
        """
        pairs = ((getattr(each, name) for each in (self, whole)) for name in KINDS)
        return max(used / most if most else BEYOND * bool(used) for used, most in pairs)

    @property
    def plain(self) -> dict[str, str]:
        """The sums as plain values, exact."""
        return {name: str(getattr(self, name)) for name in KINDS}

    @property
    def promise(self) -> Guarantee | MixedDP:
        """What was promised by all of it together, each sum rounded up once.

        It holds for releases that were chosen beforehand. What holds where one was chosen by the
        answers of another is for a limit to say (``allowance``).
        """
        pure = PureDP(epsilon=up(self.pure)) if self.pure else None
        gaussian = GaussianDP(mu=sqrt_up(self.squares)) if self.squares else None
        kept: GaussianDP | PureDP | MixedDP
        if gaussian is not None and pure is not None:
            kept = MixedDP(gaussian=gaussian, pure=pure)
        elif gaussian is not None or pure is not None:
            kept = gaussian or pure  # type: ignore[assignment]  # one of them is there
        else:
            raise ValueError(self)
        return DiscoveryDP(kept=kept, delta=up(self.delta)) if self.delta else kept
