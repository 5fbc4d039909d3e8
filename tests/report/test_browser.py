"""Pages as people meet them: in a real browser, small and large, light and dark, and on paper."""

import base64
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import halfnoise as hn
from support import page_picture
from support.browser import Tab, axe, browsing
from support.grouped import made
from support.surveys import SURVEYS
from support.tabled import by_group, everything

A4 = (595, 842)  # in points
PRINTED = 672  # as many pixels lie between the margins of A4
STATES = [(360, False), (360, True), (1400, False), (1400, True)]
VIOLATIONS = "axe.run().then(found => found.violations.map(each => [each.id, each.nodes[0].html]))"
MONTHS = [(f"2026-{month:02}",) for month in range(1, 13)]
ODD = [("<script>alert(1)</script>",), ("a\nb",), ("שלום \u202eevil",), ("x" * 300,)]
PAGES: dict[str, Any] = {
    **{name: SURVEYS[name] for name in ("a sample with weights", "groups with weights", "flags")},
    "the example": lambda: hn.read(page_picture.TABLE),
    "tables": everything,
    "tables by group": by_group,
    "months": lambda: made([*MONTHS, ("other",)], (hn.By("seen", every="month"),)),
    "odd keys": lambda: made(ODD, (hn.By("<b>key</b>" * 9),)),
}


@pytest.fixture(scope="module")
def tab() -> Iterator[Tab]:
    """Open a page in Chromium."""
    with browsing() as browser:
        yield browser.tab()


@pytest.fixture(scope="module")
def checker() -> str:
    """Return the code of the accessibility checker."""
    return axe()


def written(folder: Path, text: str) -> Path:
    """Write a page."""
    path = folder / "page.html"
    path.write_text(text, encoding="utf-8")
    return path


def overflow(tab: Tab) -> int:
    """Return by how many pixels the page is wider than its window."""
    return int(tab.evaluate("document.scrollingElement.scrollWidth - innerWidth"))


def violations(tab: Tab, checker: str) -> list[Any]:
    """Return what the accessibility checker finds."""
    tab.evaluate(checker)
    found: list[Any] = tab.evaluate(VIOLATIONS)
    return found


@pytest.mark.parametrize("name", PAGES)
def test_pages_work_everywhere(tab: Tab, checker: str, tmp_path: Path, name: str) -> None:
    """No complaint, no request, nothing wider than the window, and nothing that keeps anybody out.

    All of it is there though no script may run: the page itself forbids it.
    """
    path = written(tmp_path, PAGES[name]().to_html(charts=True))
    for width, dark in STATES if name == "the example" else STATES[1:3]:
        tab.look(width=width, dark=dark)
        tab.go(path)
        assert tab.requests == [path.as_uri()]
        assert not tab.complaints
        assert overflow(tab) <= 0
        assert not violations(tab, checker), (width, dark)
        paper = tab.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (paper == "rgb(255, 255, 255)") is not dark
    assert tab.evaluate("document.querySelectorAll('main td').length") > 10
    assert tab.evaluate("[...document.querySelectorAll('svg')].every(e => e.clientWidth > 100)")


def test_pages_print_on_a4(tab: Tab, tmp_path: Path) -> None:
    """The paper is A4, and nothing is cut off at its sides."""
    for name in ("the example", "tables", "months"):
        tab.look(width=PRINTED, media="print", dark=True)
        tab.go(written(tmp_path, PAGES[name]().to_html(charts=True)))
        wide = "Math.max(...[...document.querySelectorAll('table, svg')].map(e => e.offsetWidth ||"
        assert tab.evaluate(f"{wide} e.clientWidth))") <= PRINTED
        assert overflow(tab) <= 0
        shapes = re.findall(rb"/MediaBox ?\[0 0 ([\d.]+) ([\d.]+)\]", tab.pdf())
        assert {tuple(round(float(side)) for side in shape) for shape in shapes} == {A4}


def test_odd_names_reach_the_reader(tab: Tab, tmp_path: Path) -> None:
    """A browser shows each key letter by letter, and none of them runs."""
    tab.look(width=1400)
    tab.go(written(tmp_path, PAGES["odd keys"]().to_html(charts=True)))
    heads = "[...document.querySelector('tbody').rows].map(row => row.cells[0].textContent)"
    assert tab.evaluate(heads) == [key for (key,) in ODD]
    assert tab.evaluate("document.scripts.length") == 1
    assert not tab.complaints


def test_notebooks_in_light_and_dark(tab: Tab, checker: str, tmp_path: Path) -> None:
    """What a notebook shows of releases, plans and ledgers can be read on light and on dark."""
    privacy = hn.ApproxDP(epsilon=1, delta=1e-6)
    ledger = hn.Ledger.create(tmp_path / "a.ledger", limit=privacy, unit="id")
    asked = [hn.Count("<b>"), hn.Sum("x", bounds=(0, 1))]
    plans = [hn.plan(asked, privacy=privacy), hn.plan(asked)]
    shown = [everything(), made(), everything().table("sex", "region"), *plans, ledger]
    inside = "".join(each._repr_html_() for each in shown)
    for ink, paper in (("#222", "#fff"), ("#ddd", "#111")):
        head = "<!doctype html><html lang=en><meta charset=utf-8><title>Notebook</title>"
        body = f"<body style='color:{ink};background:{paper}'><main><h1>a</h1><h2>b</h2><h3>c</h3>"
        tab.look(width=1400, dark=ink == "#ddd")
        tab.go(written(tmp_path, f"{head}{body}{inside}</main>"))
        assert not tab.complaints
        assert not violations(tab, checker)
        cell = "getComputedStyle(document.querySelector('.halfnoise td:not(:empty)'))"
        assert tab.evaluate(f"{cell}.color") == tab.evaluate(
            "getComputedStyle(document.body).color"
        )


@pytest.mark.parametrize(
    ("what", "spoiled"),
    [
        ("request", ("<main>", "<main><img src='http://127.0.0.1:9/x.png' alt='x'>")),
        ("complaint", ("<main>", "<main><script>undefined.x</script>")),
        ("overflow", (".scroll { overflow-x: auto; }", "td { min-width: 9rem; }")),
        ("axe", ('role="img" aria-label', 'role="img" data-label')),
        ("axe", ("--quiet: #5a6570", "--quiet: #b5b5b5")),
    ],
)
def test_a_spoiled_page_is_seen(
    tab: Tab, checker: str, tmp_path: Path, what: str, spoiled: tuple[str, str]
) -> None:
    """What the tests above look for is found where it is planted."""
    text = everything().to_html(charts=False)
    assert spoiled[0] in text
    text = re.sub("<meta http-equiv[^>]*>", "", text).replace(*spoiled)
    path = written(tmp_path, text)
    tab.look(width=360)
    tab.go(path)
    found = {
        "request": tab.requests != [path.as_uri()],
        "complaint": bool(tab.complaints),
        "overflow": overflow(tab) > 0,
        "axe": bool(violations(tab, checker)) if what == "axe" else False,
    }
    assert found[what]
    if what != "request":  # which fails and is a complaint as well
        assert [each for each in found if found[each]] == [what]


ALIKE = """Promise.all(%s.map(async data => {
  const image = new Image(); image.src = 'data:image/png;base64,' + data; await image.decode();
  const canvas = new OffscreenCanvas(58, 40), pen = canvas.getContext('2d');
  pen.drawImage(image, 0, 0, 58, 40);
  return [image.width, image.height, pen.getImageData(0, 0, 58, 40).data];
})).then(([[w, h, a], [v, g, b]]) => w !== v || h !== g ? 255
  : a.reduce((sum, x, i) => sum + Math.abs(x - b[i]), 0) / a.length)"""


def difference(tab: Tab, one: bytes, other: bytes) -> float:
    """Return by how much two pictures differ on average, seen from afar, of 255."""
    tab.call("Page.navigate", url="about:blank")
    texts = [base64.b64encode(each).decode() for each in (one, other)]
    return float(tab.evaluate(ALIKE % json.dumps(texts)))


def test_the_picture_of_the_readme_is_the_page(tab: Tab, tmp_path: Path) -> None:
    """The command writes the picture that is kept, but for the letters of another machine."""
    kept = page_picture.PICTURE.read_bytes()
    assert len(kept) < 200_000
    assert "docs/page.png" in (page_picture.HERE / "README.md").read_text("utf-8")[:3_000]
    target = tmp_path / "page.png"
    subprocess.run([sys.executable, page_picture.__file__, target], check=True, timeout=120)
    assert difference(tab, kept, target.read_bytes()) < 3
    tab.look(width=page_picture.WIDTH)
    tab.go(written(tmp_path, made().to_html(charts=True)))
    another = tab.screenshot(page_picture.WIDTH, page_picture.HEIGHT)
    assert difference(tab, kept, another) > 3
