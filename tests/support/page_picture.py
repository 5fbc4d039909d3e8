"""The picture of a page that README shows: ``make picture`` writes docs/page.png."""

import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(HERE / "tests")]

from halfnoise.report.embedded import read  # noqa: E402  # found by the line above
from support.browser import Browser, program  # noqa: E402

TABLE, PICTURE = HERE / "examples" / "report" / "table.json", HERE / "docs" / "page.png"
TITLE = "Health survey 2026"
WIDTH, HEIGHT = 1160, 800


def take(browser: Browser) -> bytes:
    """Return the picture as PNG: the top of the page that the example gives."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        path.write_text(read(TABLE).to_html(title=TITLE, charts=True), encoding="utf-8")
        tab = browser.tab()
        tab.look(width=WIDTH)
        tab.go(path)
        return tab.screenshot(WIDTH, HEIGHT)


if __name__ == "__main__":
    found = program()
    if found is None:
        sys.exit("Chromium is not installed")
    with Browser(found) as chromium:
        Path(sys.argv[1] if len(sys.argv) > 1 else PICTURE).write_bytes(take(chromium))
