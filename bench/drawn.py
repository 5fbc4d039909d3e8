"""The growth of time and memory, drawn on logarithmic axes."""

from collections.abc import Mapping
from pathlib import Path

import altair as alt
import vl_convert as vlc

from bench.slopes import SHORTEST


def points(facts: Mapping[str, float]) -> list[dict[str, float | str]]:
    """Return what is drawn: for each size of each direction its seconds and its megabytes."""
    found: list[dict[str, float | str]] = []
    for key, value in facts.items():
        name, size, what = key.split(": ")
        if what != "seconds" or value >= SHORTEST / 5:
            found.append({"what grows": name, "size": float(size), "of": what, "value": value})
    return found


def draw(facts: Mapping[str, float], path: Path) -> None:
    """Write the picture."""
    charts = [
        alt.Chart({"values": [each for each in points(facts) if each["of"] == what]})
        .mark_line(point=True)
        .encode(
            x=alt.X("size:Q", scale=alt.Scale(type="log"), title="size"),
            y=alt.Y("value:Q", scale=alt.Scale(type="log"), title=title),
            color=alt.Color("what grows:N", title=""),
        )
        .properties(width=340, height=300)
        for what, title in (
            ("seconds", "seconds of the processor beyond the start"),
            ("megabytes", "peak, MB"),
        )
    ]
    spec = alt.hconcat(*charts).to_dict()
    path.write_text(vlc.vegalite_to_svg(spec), encoding="utf-8")
