"""Privacy curves in ball arithmetic at 4,000 bits, by other formulas than the library's.

Every function returns a ball that is proved to hold the real number.
"""

from flint import acb, arb, ctx

BITS = 4000


def tail(x: arb) -> arb:
    """Return P(N(0, 1) > x) as an incomplete gamma function."""
    upper = (x * x / 2).gamma_upper(arb(1) / 2, regularized=1) / 2
    return upper if x >= 0 else 1 - upper


def delta(mu: float, epsilon: float) -> arb:
    """Return the delta of mu-GDP at epsilon: the mass by which one normal outgrows the other.

    The likelihood ratio e^(mu x - mu^2/2) of N(mu, 1) to N(0, 1) is e^epsilon at
    x = epsilon/mu + mu/2; beyond it the one has tail(x - mu) and the other tail(x).
    """
    with ctx.workprec(BITS):
        m, e = arb(mu), arb(epsilon)
        x = e / m + m / 2
        return tail(x - m) - e.exp() * tail(x)


def delta_by_integration(mu: float, epsilon: float) -> arb:
    """Return the same as the integral of its derivative, phi(t/2 - epsilon/t), from 0 to mu."""
    with ctx.workprec(256):
        m, e = arb(mu), arb(epsilon)

        def density(t: acb, _: object) -> acb:
            z = t / 2 - acb(e) / t
            return (-z * z / 2).exp() / (2 * acb.pi()).sqrt()

        start = m / 64
        body = acb.integral(density, acb(start), acb(m), rel_tol=arb(2) ** -120).real
        # The density rises on the way, so what is left out is at most a rectangle.
        rest = start * density(acb(start), None).real
        return body + rest.union(arb(0))


def chance_at_odds(epsilon: float) -> arb:
    """Return 1/(1 + e^epsilon), the smallest error both ways under pure epsilon-DP."""
    with ctx.workprec(BITS):
        return (1 - (arb(epsilon) / 2).tanh()) / 2


def lower_tail(x: float) -> arb:
    """Return P(N(0, 1) > x) of a float."""
    with ctx.workprec(BITS):
        return tail(arb(x))


def below(left: arb, right: float) -> bool:
    """Whether ``left <= right`` is proved; False only if the opposite is proved."""
    with ctx.workprec(BITS):
        if left <= arb(right):
            return True
        assert left > arb(right), "undecided: more bits are needed"
        return False
