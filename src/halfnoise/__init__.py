"""Private counts and sums with about half the noise."""
