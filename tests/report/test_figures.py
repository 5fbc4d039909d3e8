import csv
import math
import struct
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

from halfnoise.errors import InvalidParameterError, MissingExtraError
from halfnoise.report import draw_figures
from halfnoise.report.density import density_rows
from halfnoise.report.dial import dial_rows
from halfnoise.report.geometry import geometry_rows
from halfnoise.report.picture import Row

NAMES = ("geometry", "dial", "density")
STANDARD, AT_MOST = "standard noise (l2 ball)", "design for at most k"
ELLIPSE, PAPER, OPTIMUM = "Count ellipse", "paper's mechanism", "exact optimum"


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Draw everything once, into a folder that was not there."""
    return draw_figures(tmp_path_factory.mktemp("drawn") / "new" / "figures")


@pytest.fixture(scope="module")
def folder(paths: list[Path]) -> Path:
    """Return the folder in which everything was drawn."""
    return paths[0].parent


def read(folder: Path, name: str) -> list[dict[str, str]]:
    """Read a table of plotted numbers back."""
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def dial(folder: Path) -> dict[float, dict[str, str]]:
    """Read the numbers of the dial, by C."""
    return {float(row["C"]): row for row in read(folder, "dial")}


@pytest.fixture(scope="module")
def density(folder: Path) -> dict[str, dict[int, float]]:
    """Read the variances of the bounded density, by line and k."""
    lines: dict[str, dict[int, float]] = {}
    for row in read(folder, "density"):
        lines.setdefault(row["mechanism"], {})[int(row["k"])] = float(row["variance"])
    return lines


def test_nine_files_and_nothing_else(folder: Path, paths: list[Path]) -> None:
    """What is returned is what is there: three figures, each as SVG, PNG and CSV."""
    assert [path.name for path in paths] == [
        f"{name}.{end}" for name in NAMES for end in ("svg", "png", "csv")
    ]
    assert sorted(folder.iterdir()) == sorted(paths)


@pytest.mark.parametrize("name", NAMES)
def test_pictures_are_svg_and_png_at_twice_the_size(folder: Path, name: str) -> None:
    """The SVG parses, and the PNG is the same picture with two pixels for each of its units."""
    root = ET.parse(folder / f"{name}.svg").getroot()  # noqa: S314  our own file
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.findall(".//{http://www.w3.org/2000/svg}path")
    head = (folder / f"{name}.png").read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    size = struct.unpack(">II", head[16:])
    assert size == tuple(2 * round(float(root.attrib[side])) for side in ("width", "height"))


@pytest.mark.parametrize(
    ("name", "rows"), [("geometry", geometry_rows), ("dial", dial_rows), ("density", density_rows)]
)
def test_numbers_are_written_in_full(
    folder: Path, name: str, rows: Callable[[], list[Row]]
) -> None:
    """Reading a CSV gives back every plotted number, to the last bit."""
    for line, row in zip(read(folder, name), rows(), strict=True):
        assert {key: type(row[key])(text) for key, text in line.items()} == row


def test_fig_covariance_d_10000(dial: dict[float, dict[str, str]]) -> None:
    """At every C a count has variance (A+B)/4 and the number of people A."""
    assert min(dial) == 1
    assert max(dial) > 173
    for C, row in dial.items():
        A, B = 10**4 / C**2 + 1, 10**4 + C**2
        assert float(row["count_variance"]) == pytest.approx((A + B) / 4, rel=1e-12)
        assert float(row["people_variance"]) == pytest.approx(A, rel=1e-12)
        assert float(row["standard_count_variance"]) == pytest.approx(10**4, rel=1e-12)
        assert row["offered"] == ("yes" if C >= 10 else "no")


def test_the_named_dials(dial: dict[float, dict[str, str]]) -> None:
    """C = 10 is the minimum, 2550.25; C = 100 gives 5000.5 and the number of people 2."""
    least = min(dial, key=lambda C: float(dial[C]["count_variance"]))
    assert least == 10
    assert float(dial[10]["count_variance"]) == pytest.approx((10_000 + 200 + 1) / 4, rel=1e-12)
    assert float(dial[100]["count_variance"]) == pytest.approx(5000.5, rel=1e-12)
    assert float(dial[100]["people_variance"]) == pytest.approx(2, rel=1e-12)


def test_fig_count_sparse_closed_forms(density: dict[str, dict[int, float]]) -> None:
    """Standard noise is k, the paper's (sqrt(d)+1)^2/4, the Count ellipse as its lemma says."""
    d = 1000
    assert density[STANDARD] == pytest.approx({k: k for k in range(1, d + 1)}, rel=1e-12)
    paper = (d + 2 * math.sqrt(d) + 1) / 4
    assert density[PAPER] == pytest.approx(dict.fromkeys(range(1, d + 1), paper), rel=1e-12)
    assert list(density[ELLIPSE]) == list(range(1, d // 2 + 1))
    assert density[ELLIPSE][500] == pytest.approx((d + 2 * math.sqrt(d - 1)) / 4, rel=1e-12)
    best = {
        k: (math.sqrt(k * k / d) + math.sqrt((d - 1) * k * (d - k) / d)) ** 2 / d
        for k in range(1, d // 2 + 1)
    }
    assert density[ELLIPSE] == pytest.approx(best, rel=1e-12)


def test_nothing_lies_below_the_optimum(density: dict[str, dict[int, float]]) -> None:
    """The optimum is never above any other line, and the design for at most k is next to it."""
    for line, variances in density.items():
        for k, variance in variances.items():
            assert density[OPTIMUM][k] <= variance * (1 + 1e-12), (line, k)
    gaps = [density[AT_MOST][k] - density[OPTIMUM][k] for k in range(1, 1001)]
    assert 1e-5 < max(gaps) < 1e-4
    assert density[AT_MOST][501] < density[PAPER][501] - 0.2


def test_shares_are_relative_to_standard_noise(folder: Path) -> None:
    """The left panel shows the variance over k."""
    for row in read(folder, "density"):
        share = float(row["variance"]) / int(row["k"])
        assert float(row["share_of_standard"]) == pytest.approx(share, rel=1e-12)


@pytest.mark.parametrize(
    ("module", "package"), [("altair", "altair"), ("vl_convert", "vl-convert-python")]
)
def test_a_missing_package_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, module: str, package: str
) -> None:
    """Without the extra the error says which package, and how to get it; nothing is written."""
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError) as caught:
        draw_figures(tmp_path / "figures")
    assert str(caught.value) == (
        f"drawing needs the package {package}, which is not installed; "
        "run pip install altair vl-convert-python"
    )
    assert not (tmp_path / "figures").exists()


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    """A path that is a file is refused in one sentence, and the file stays as it is."""
    file = tmp_path / "notes.txt"
    file.write_text("mine", encoding="utf-8")
    with pytest.raises(InvalidParameterError, match="folder must be a folder, not a file, got"):
        draw_figures(file)
    with pytest.raises(InvalidParameterError, match="folder must be a folder that can be written"):
        draw_figures(file / "figures")
    assert file.read_text(encoding="utf-8") == "mine"
