"""Run every bench and print its tables; name some to run only these: ``python -m bench noise``."""

import sys

from bench import groups, ledger, noise, release

BENCHES = {
    "noise": noise.main,
    "release": release.main,
    "groups": groups.main,
    "ledger": ledger.main,
}


def main(names: list[str]) -> None:
    """Run the named benches, or all."""
    for name in names or BENCHES:
        BENCHES[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
