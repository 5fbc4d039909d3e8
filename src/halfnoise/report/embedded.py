"""A release inside its page, and out of it again: the page alone can be read back."""

import os
from html.parser import HTMLParser
from pathlib import Path

from halfnoise.errors import DataError
from halfnoise.report.markup import Markup, tag
from halfnoise.results import document
from halfnoise.results.release import Released

PLACE, KIND = "halfnoise-release", "application/json"
# What would end the element, begin a comment in it, or break a line of a program.
_ODD = {ord(mark): f"\\u{ord(mark):04x}" for mark in "<>&\u2028\u2029"}


def embedded(release: Released) -> Markup:
    """Return a release as an element that no browser shows or runs."""
    text = document.to_keep(release).decode().translate(_ODD)
    return tag("script", Markup(text), type=KIND, id=PLACE)


class _Reader(HTMLParser):
    """Finds the element, as a browser would."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.inside, self.found = False, list[str]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside = tag == "script" and dict(attrs).get("id") == PLACE

    def handle_endtag(self, tag: str) -> None:
        self.inside &= tag != "script"

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.found.append(data)


def read(path: str | os.PathLike[str]) -> Released:
    """Read a release from its page or from its JSON, with groups or without.

    >>> import pathlib, tempfile, polars as pl, halfnoise as hn
    >>> survey = pl.DataFrame({"smoker": [True, False] * 500})
    >>> privacy = hn.GaussianDP(mu=1)
    >>> table = hn.release(survey, [hn.Count("smoker")], row_is_person=True, privacy=privacy)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = pathlib.Path(folder, "report.html")
    ...     _ = page.write_text(table.to_html(charts=False), encoding="utf-8")
    ...     hn.read(page).to_json() == table.to_json()
    True
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, ValueError):
        why = f"{os.fspath(path)!r} could not be read; check the path, and that it is a page or"
        raise DataError(f"{why} JSON that halfnoise wrote") from None
    return document.from_json(_stored(text) if text.lstrip().startswith("<") else text)


def _stored(text: str) -> str:
    reader = _Reader()
    reader.feed(text)
    if not reader.found:
        raise DataError("this page holds no release; only pages that halfnoise wrote do")
    return "".join(reader.found)
