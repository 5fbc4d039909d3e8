"""How much more is tried where there is time, and what is said of it then (pytest -rP shows it)."""

import os

MORE = int(os.environ.get("HALFNOISE_SOAK", "1"))  # so many times as much, or all there is
SOAKS = MORE > 1


def tell(what: str, **figures: object) -> None:
    """Print figures of a soak: each with its name."""
    if SOAKS:
        said = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in figures.items())
        print(f"soak: {what}: {said}")  # noqa: T201  # for whoever runs it
