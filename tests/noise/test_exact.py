from fractions import Fraction

import pytest
from flint import arb

from halfnoise.noise.bits import system_bits
from halfnoise.noise.exact import LazyUniform, StripPoint, TailPoint, accepts
from halfnoise.noise.staircase import GAUSSIAN, LAPLACE, Density
from halfnoise.proof import precision
from support.scripted import OutOfWordsError, Script


def lazy(*words: int, numerator: int = 0, drawn: int = 0, word_bits: int = 4) -> LazyUniform:
    """Return a uniform number with some bits drawn and the next ones scripted."""
    return LazyUniform(bits=Script(words), word_bits=word_bits, numerator=numerator, drawn=drawn)


def test_more_bits_refine_the_same_number() -> None:
    """Each word lands behind the bits already drawn and the ball stays within the last one."""
    u = lazy(0b1010, 0b0001)
    balls = [u.ball()]
    for value in (Fraction(10, 16), Fraction(10 * 16 + 1, 256)):
        u.more()
        assert Fraction(u.numerator, 1 << u.drawn) == value
        assert balls[-1].contains(u.ball())
        balls.append(u.ball())


@pytest.mark.parametrize("strip", [-5, -1, 0, 3])
@pytest.mark.parametrize("scale", [0.001, 0.3, 1.0, 7.25, 2.0**36])
def test_strip_points_round_as_fractions_do(strip: int, scale: float) -> None:
    """With all bits given, the result is the nearest integer to scale * X, in exact fractions."""
    bits = 160
    word = LazyUniform(bits=system_bits())
    for _ in range(50):
        word.more()
        u = word.numerator % (1 << bits)
        point = StripPoint(
            strip=strip,
            per_unit=64,
            uniform=lazy(*[u >> s & 15 for s in range(bits - 4, -1, -4)]),
        )
        exact = Fraction(scale) * (strip + Fraction(u, 1 << bits)) / 64
        assert point.rounded(scale) == round(exact)


def test_strip_point_at_a_tie_keeps_drawing() -> None:
    """Bits that lead ever closer to a half leave the rounding open: more bits are asked for."""
    below_half = StripPoint(strip=0, per_unit=1, uniform=lazy(7, 15, 15, 15))
    with pytest.raises(OutOfWordsError):
        below_half.rounded(1.0 + 2.0**-40)
    assert StripPoint(strip=0, per_unit=1, uniform=lazy(7)).rounded(1.0) == 0
    assert StripPoint(strip=0, per_unit=1, uniform=lazy(8)).rounded(1.0) == 1


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize(("shape", "scale"), [(GAUSSIAN, 3.0), (LAPLACE, 2.0**30)])
def test_tail_points_are_exponential_beyond_the_reach(
    sign: int, shape: Density, scale: float
) -> None:
    """X = sign * (reach - log(U) / rate), rounded; zero bits of U only ask for more."""
    point = TailPoint(
        sign=sign,
        reach=shape.reach,
        rate=shape.tail_rate,
        per_unit=64,
        uniform=lazy(0, 3, *[7] * 30),
    )
    got = point.rounded(scale)
    u = arb(point.uniform.numerator) / arb(2) ** point.uniform.drawn
    exact = sign * (shape.reach - u.log() / shape.tail_rate) * scale
    assert abs(exact - got) < 0.501


@pytest.mark.parametrize("shape", [GAUSSIAN, LAPLACE])
@pytest.mark.parametrize("strip", [-128, 0, 63])
def test_acceptance_is_that_of_the_real_numbers(shape: Density, strip: int) -> None:
    """Level + V is accepted just below the density and rejected just above it."""
    top = 401
    bits = 40
    with precision(200):
        place = (arb(strip) + arb(1) / 3) / 64
        height = (-shape.exponent(place)).exp() * top
        level = int(height.floor().unique_fmpz())
        fraction = int(((height - level) * 2**bits).floor().unique_fmpz())
    third = [5] * 40
    for v, verdict in ((fraction - 5, True), (fraction + 5, False)):
        words = [v >> s & 15 for s in range(bits - 4, -1, -4)] + [0] * 40
        point = StripPoint(strip=strip, per_unit=64, uniform=lazy(*third))
        assert accepts(point, level, lazy(*words), shape, top) is verdict


@pytest.mark.parametrize("shape", [GAUSSIAN, LAPLACE])
def test_tail_acceptance_never_exceeds_its_cap(shape: Density) -> None:
    """The density over the proposal is highest where the tail begins, so one box covers it."""
    top = 401
    cap = (-shape.exponent(arb(shape.reach))).exp() * top * 64 / shape.tail_rate
    for numerator in (1, 2, 7, 100, 128, 200, 254):
        point = TailPoint(
            sign=1,
            reach=shape.reach,
            rate=shape.tail_rate,
            per_unit=64,
            uniform=lazy(numerator=numerator << 32, drawn=40),
        )
        height = point.height(shape, top)
        assert height.mid() <= cap * 1.0001
        assert height >= 0
