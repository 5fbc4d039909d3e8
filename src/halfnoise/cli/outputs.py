"""Where a command writes to, what is left out there, and what it says then."""

from collections.abc import Callable, Sequence
from pathlib import Path

from halfnoise.checks import number, refuse
from halfnoise.cli.leaving import note
from halfnoise.files import same_place
from halfnoise.request import Request
from halfnoise.results.formats import Output
from halfnoise.results.reliability import Reliability
from halfnoise.spec.lists import Lists
from halfnoise.spec.queries import Words
from halfnoise.spec.toml import write_spec
from halfnoise.views import can_draw

PAGE = ".html"


def saving(words: Words, request: Request, inputs: Sequence[str]) -> Callable[[], None]:
    """Check where the spec shall go, and return what writes it once all went well."""
    if "save-spec" not in words:
        return lambda: None
    spec = spec_output(words, inputs)
    text = write_spec(words, request, spec.path.parent)
    return lambda: spec.write_bytes(text.encode())


def spec_output(words: Words, inputs: Sequence[str]) -> Output:
    """Return where the spec shall go; refuse where it cannot."""
    spec = Output("--save-spec", Path(words["save-spec"]), "overwrite" in words)
    spec.check([*inputs, *Lists.named_in(words)], a_release=False)
    written = [words["out"]] if words.get("out", "-") != "-" else []
    if any(same_place(spec.path, Path(each)) for each in (*inputs, *written)):
        # A ledger that is not there yet would be, once the spec is written.
        rule = "another file than --out, the input and its ledger"
        raise refuse("--save-spec", rule, str(spec.path))
    return spec


def marks(words: Words) -> Reliability:
    """Read by which rule numbers are marked and left out: --flag 20%,33% --suppress 50%."""
    flags = [_share("--flag", each) for each in words.get("flag", "").split(",") if "flag" in words]
    least = _share("--suppress", words["suppress"]) if "suppress" in words else None
    return Reliability(tuple(flags), least)


def _share(flag: str, text: str) -> float:
    """Read a relative standard error: 20% or 0.2.

    >>> _share("--flag", "33%"), _share("--flag", " 0.5 ")
    (0.33, 0.5)
    """
    plain = text.strip()
    found = number(flag, plain.removesuffix("%"))
    if plain.endswith("%"):
        return float(f"{found / 100:.15g}")
    if found > 1:
        raise refuse(flag, "in per cent, or at most 1", text, f"did you mean {plain}%?")
    return found


def without_charts() -> None:
    """Say what brings charts, where a page was written and they cannot be drawn."""
    if not can_draw():
        note("The page has no charts; with pip install altair vl-convert-python it has.")
