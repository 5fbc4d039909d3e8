"""Run every bench and print its tables; name some to run only these: ``python -m bench noise``.

Other words keep the lines that hold them all, where a bench takes them: ``bench files csv choice``.
What takes very long runs only if it is named: ``bench large``.
``bench results`` measures what the page of results shows, and writes it; ``bench page`` writes it.
"""

import sys

from bench import (
    costs,
    ends,
    errors,
    files,
    footprint,
    groups,
    growth,
    large,
    ledger,
    noise,
    pages,
    places,
    planning,
    release,
    results,
    slopes,
    spark,
    start,
    table_errors,
    tables,
)

WHOLE = {
    "errors": errors.main,
    "table_errors": table_errors.main,
    "noise": noise.main,
    "ends": ends.main,
    "footprint": footprint.main,
    "costs": costs.main,
    "release": release.main,
    "groups": groups.main,
    "ledger": ledger.main,
}
NARROWED = {
    "start": start.main,
    "planning": planning.main,
    "files": files.main,
    "growth": growth.main,
    "slopes": slopes.main,
    "tables": tables.main,
    "places": places.main,
    "pages": pages.main,
    "spark": spark.main,
}
LONG = {"large": large.main}


def main(words: list[str]) -> None:
    """Run the named benches, or all, or all that other words narrow down."""
    if words[:1] == ["results"]:
        results.main(words[1:])
        return
    if words == ["page"]:
        results.write()
        return
    narrowed = NARROWED | LONG
    names = [word for word in words if word in (*WHOLE, *narrowed)]
    parts = [word.lower() for word in words if word not in names]

    def wanted(line: str) -> bool:
        return all(part in line.lower() for part in parts)

    for name in names or (NARROWED if parts else (*WHOLE, *NARROWED)):
        if name in WHOLE:
            WHOLE[name]()
        else:
            narrowed[name](wanted)


if __name__ == "__main__":
    main(sys.argv[1:])
