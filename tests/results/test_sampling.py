import csv
import io
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

import halfnoise as hn
from halfnoise.results.formats import FORMATS, as_csv, as_json_lines, as_markdown
from halfnoise.results.sampling import BOTH, NOISE, NOISE_ONLY, Sampling
from support.commands import EXACT, run, write_survey
from support.release_schema import VALIDATOR, strictly

SURVEY = pl.DataFrame(
    {
        "smoker": [True, False, False, False] * 300,
        "visits": [0.0, 20.0, 3.0, 4.0] * 300,
        "income": [10.0, None, 30.0, 90.0] * 300,
        "covers": ["a", "b", "a", "b"] * 300,
    }
)
QUERIES = [
    hn.Count("smoker"),
    hn.Sum("visits", bounds=(0, 20)),
    hn.Mean("income", bounds=(0, 100)),
    hn.Mean("income", bounds=(0, 100), variance=True, name="varying"),
]
BUDGET = hn.GaussianDP(mu=1e6)
WORDS = ("--count", "smoker", "--mean", "income=0:1000", "--choice", "blood=A", *EXACT)


def released(**more: Any) -> hn.Release:
    """Release the survey with hardly any noise."""
    found = hn.release(
        SURVEY,
        QUERIES,
        row_is_person=True,
        privacy=BUDGET,
        size_importance=1,
        i_know=True,
        **more,
    )
    assert isinstance(found, hn.Release)
    return found


def in_groups(**more: Any) -> hn.GroupedRelease:
    """Release it by a column that is called like one of ours."""
    found = hn.release(
        SURVEY,
        QUERIES,
        row_is_person=True,
        privacy=BUDGET,
        by="covers",
        groups=["a", "b"],
        i_know=True,
        **more,
    )
    assert isinstance(found, hn.GroupedRelease)
    return found


def test_the_variances_are_those_of_the_textbook() -> None:
    """Without noise: p(1-p)/n, the bound of a mean or its measured variance; times the effect."""
    for effect in (1.0, 2.5):
        table = released(sampling="srs", design_effect=effect)
        share = math.sqrt(effect * 0.25 * 0.75 / 1200)
        assert table.share("smoker").std == pytest.approx(share, rel=1e-3)
        assert table["smoker"].std == pytest.approx(1200 * share, rel=1e-3)
        mean = 130 / 3
        bound = math.sqrt(effect * mean * (100 - mean) / 900)
        assert table.mean("income").std == pytest.approx(bound, rel=1e-3)
        own = np.array([10.0, 30.0, 90.0]).std()
        assert table.mean("varying").std == pytest.approx(own * math.sqrt(effect / 900), rel=1e-3)
        assert table.deviation("varying").estimate == pytest.approx(own, rel=1e-3)
        visits = math.sqrt(effect * 6.75 * (20 - 6.75) / 1200)
        assert table.mean("visits").std == pytest.approx(visits, rel=1e-3)
        assert table.size is not None
        assert table.size.std < 1e-3  # that of the sample


def test_weights_have_an_effective_size() -> None:
    """With weights the effective sample size stands in for n, in each group its own."""
    weights = np.array([1.0, 3.0, 2.0, 2.0])
    frame = SURVEY.with_columns(w=pl.Series(np.tile(weights, 300)))
    rules: dict[str, Any] = {"weight": hn.Weight("w", bounds=(0, 4)), "privacy": BUDGET}
    rules |= {"row_is_person": True, "i_know": True, "unweighted_size": True}
    with pytest.raises(hn.NotSupportedError, match="needs its effective size"):
        hn.release(frame, QUERIES[:3], **rules, size_importance=1, sampling="srs")
    rules |= {"effective_size": True, "sampling": "srs"}
    table = hn.release(frame, QUERIES[:3], **rules, size_importance=1)
    effective = 1200 * 8.0**2 / 4 / (weights**2).sum()
    p = 1 / 8  # those who smoke weigh one of eight
    assert table.effective_size is not None
    assert table.effective_size.estimate == pytest.approx(effective, rel=1e-3)
    share = math.sqrt(p * (1 - p) / effective)
    assert table.share("smoker").std == pytest.approx(share, rel=1e-3)
    assert table["smoker"].std == pytest.approx(2400 * share, rel=1e-3)
    assert table["unweighted number of people"].std < 1e-2
    grouped = hn.release(frame, QUERIES[:3], **rules, by="covers", groups=["a", "b"])
    for key, own in (("a", [1.0, 2.0]), ("b", [3.0, 2.0])):
        each = np.array(own)
        within, part = 600 * each.sum() ** 2 / 2 / (each**2).sum(), 1 / 3 if key == "a" else 0.0
        std = 300 * each.sum() * math.sqrt(part * (1 - part) / within)
        assert grouped[key]["smoker"].std == pytest.approx(std, rel=1e-3, abs=1e-2)
        columns = grouped.columns()
        row = (columns["covers"] == key) & (columns["name"] == "smoker")
        assert columns["std"][row] == pytest.approx([std], rel=1e-3, abs=1e-2)
    with pytest.raises(hn.NotSupportedError, match="people who count alike"):
        hn.release(frame, QUERIES, **rules)


def test_intervals_are_wilsons_with_half_a_person() -> None:
    """Without noise an interval of a share is Wilson's, continuity corrected (Newcombe's 4)."""
    table = released(sampling="srs")
    found, n, p, z = table.share("smoker"), 1200.0, 0.25, 1.959963984540054
    root = z * math.sqrt(z**2 - 2 - 1 / n + 4 * p * (n * (1 - p) + 1))
    assert found.low == pytest.approx((2 * n * p + z**2 - 1 - root) / (2 * (n + z**2)), rel=1e-5)
    root = z * math.sqrt(z**2 + 2 - 1 / n + 4 * p * (n * (1 - p) - 1))
    assert found.high == pytest.approx((2 * n * p + z**2 + 1 + root) / (2 * (n + z**2)), rel=1e-5)


def test_it_may_be_said_afterwards_and_taken_back() -> None:
    """A release says the same whether the sample was told before or after; None takes it back."""
    before, grouped = released(sampling="srs", design_effect=1.5), in_groups()
    plain = before.with_sampling(None)
    assert NOISE_ONLY in repr(plain)
    assert plain["smoker"].std < 1e-2
    again = plain.with_sampling("srs", design_effect=1.5)
    assert repr(again) == repr(before)
    assert again.with_sampling(Sampling("srs", 1.5)).to_json() == before.to_json()
    assert repr(grouped.with_sampling("srs")) != repr(grouped)
    assert repr(grouped.with_sampling("srs").with_sampling(None)) == repr(grouped)


@pytest.mark.parametrize("made", [released, in_groups])
def test_what_intervals_cover_is_said_everywhere(made: object, tmp_path: Path) -> None:
    """In words, JSON, Markdown, CSV, JSON lines, Parquet, frames; of the size it is the noise."""
    assert callable(made)
    table, plain = made(sampling="srs", design_effect=1.5), made()
    said = str(Sampling("srs", 1.5))
    for text in (repr(table), as_markdown(table), json.loads(table.to_json())["intervals"]):
        assert said in text
        assert NOISE_ONLY not in text
    for text in (repr(plain), as_markdown(plain), json.loads(plain.to_json())["intervals"]):
        assert NOISE_ONLY in text
    rows = [*csv.DictReader(io.StringIO(as_csv(table).decode()))]
    title = [*rows[0]][-1]
    assert title == ("covers" if made is released else "covers (interval)")
    lines = [json.loads(line) for line in as_json_lines(table).splitlines()]
    (target := tmp_path / "a.parquet").write_bytes(FORMATS[".parquet"](table))
    parquet = duckdb.read_parquet(str(target))
    assert parquet.columns[-1] == title
    stored = [row[-1] for row in parquet.fetchall()]
    for row, line, cell in zip(rows, lines, stored, strict=True):
        expected = NOISE if row["kind"] == "size" else BOTH
        assert (row[title], line["covers"], cell) == (expected,) * 3
    assert table.to_polars()[title].to_list() == stored
    assert "covers" not in json.loads(as_json_lines(plain).splitlines()[0])
    assert as_csv(plain).decode().splitlines()[0].endswith(",low,high")


@pytest.mark.parametrize("made", [released, in_groups])
def test_it_is_read_back(made: object) -> None:
    """The JSON fits its schema and comes back equal, deviation too; what is wrong is refused."""
    assert callable(made)
    table = made(sampling="srs", design_effect=1.5)
    VALIDATOR.validate(strictly(table.to_json()))
    back = hn.Release.from_json(table.to_json())
    assert back.sampling == Sampling("srs", 1.5)
    assert (repr(back), back.to_json()) == (repr(table), table.to_json())
    for wrong in ({"method": "x", "design_effect": 1}, {"method": "srs", "design_effect": -1}, 7):
        found = json.loads(table.to_json())
        found["values"]["sampling"] = wrong
        with pytest.raises(hn.DataError):
            hn.Release.from_json(json.dumps(found))


@pytest.mark.parametrize("made", [released, in_groups])
def test_a_deviation_is_on_pages_and_in_sheets(made: object) -> None:
    """What else is made of a release shows the deviation, or leaves it out, and nothing breaks."""
    assert callable(made)
    table, other = made(sampling="srs"), made()
    assert "standard deviation" in table.to_html()
    assert "standard deviation" in table._repr_html_()
    assert b"PK" in FORMATS[".xlsx"](table)
    compared = table.compare(other)
    assert "varying answered" in repr(compared)
    assert "deviation" not in repr(compared)
    assert "not who was asked" in repr(compared)
    assert "simple random sample" in table.note().markdown()


def test_what_is_wrong_is_refused() -> None:
    """An unknown method, an effect without one, and a release without the number of people."""
    table = released()
    with pytest.raises(hn.InvalidParameterError, match="sampling must be one of srs"):
        table.with_sampling("clusters")
    with pytest.raises(hn.InvalidParameterError, match="given together with sampling"):
        released(design_effect=2)
    with pytest.raises(hn.InvalidParameterError, match="design_effect must be above 0"):
        table.with_sampling("srs", design_effect=0)
    with pytest.raises(hn.InvalidParameterError, match="sampling must be one of srs"):
        released(sampling=7)
    few = hn.release(SURVEY, [hn.Count("smoker")], row_is_person=True, privacy=hn.PureDP(epsilon=1))
    with pytest.raises(hn.NotSupportedError, match="needs the number of people"):
        few.with_sampling("srs")


def test_a_sample_without_a_size_is_refused_before_it_costs(tmp_path: Path) -> None:
    """Nothing is charged where the number of people would be missing; said, it goes on."""
    limit = hn.PureDP(epsilon=3)
    ledger = hn.Ledger.create(tmp_path / "a.ledger", limit=limit)
    asked = [hn.Count("smoker")]
    rules: dict[str, Any] = {
        "row_is_person": True,
        "privacy": hn.PureDP(epsilon=1),
        "ledger": ledger,
    }
    with pytest.raises(hn.NotSupportedError, match="needs the number of people"):
        hn.release(SURVEY, asked, sampling="srs", **rules)
    assert not ledger.history().charges
    known = hn.release(SURVEY, asked, sampling="srs", known_size=1200, **rules)
    assert known.sampling == Sampling("srs")
    assert len(ledger.history().charges) == 1


def test_the_sample_does_not_change_what_is_drawn(tmp_path: Path) -> None:
    """The same name returns the same values, with intervals that cover what is asked for now."""
    survey = write_survey(tmp_path)
    words = [*WORDS, "--size-importance", "1", "--name", "one"]
    place = tmp_path / "a.ledger"
    hn.Ledger.create(place, unit="person_id")
    words += ["--ledger", str(place)]
    found = list[Any]()
    for more in ((), ("--sampling", "srs"), ("--sampling", "srs", "--design-effect", "2")):
        out = tmp_path / f"{len(found)}.json"
        ran = run("release", survey, *words, *more, "--out", out)
        assert ran.status == 0, ran.err
        found.append(hn.Release.from_json(out.read_text()))
    one, two, three = found
    assert one.values.tolist() == two.values.tolist() == three.values.tolist()
    assert one.sampling is None
    assert str(two.sampling) == str(two.to_dict()["intervals"])
    assert three["smoker"].std > two["smoker"].std > one["smoker"].std


def test_words_of_a_sample(tmp_path: Path) -> None:
    """A spec keeps them; an effect alone is refused, by a check too."""
    survey = write_survey(tmp_path)
    words = [*WORDS, "--size-importance", "1", "--sampling", "srs", "--design-effect", "1.5"]
    ran = run("release", survey, *words, "--out", "-", "--save-spec", tmp_path / "a.toml")
    assert "noise and sampling" in ran.out
    assert "design effect 1.5" in ran.err
    spec = (tmp_path / "a.toml").read_text()
    assert 'sampling = "srs"\ndesign-effect = "1.5"' in spec
    for command in ("release", "check"):
        ran = run(command, survey, *WORDS, "--design-effect", "1.5")
        assert ran.status == 2
        assert "design_effect must be given together with sampling" in ran.out + ran.err


def test_nothing_is_narrower_than_the_noise_allows() -> None:
    """With a sample no interval and no standard error is smaller, nobody or everybody said yes."""
    rng = np.random.default_rng(1)
    table = hn.release(
        SURVEY[:30],
        QUERIES,
        row_is_person=True,
        privacy=hn.GaussianDP(mu=1),
        size_importance=1,
    )
    assert isinstance(table, hn.Release)
    for _ in range(200):
        own = replace(table, values=table.values + rng.normal(0, 30, len(table.values)))
        for one, other in zip(own, own.with_sampling("srs", design_effect=0.1), strict=True):
            assert other.low <= one.low <= one.high <= other.high
            assert other.std >= one.std
            assert other.estimate == one.estimate
            assert not any(map(math.isnan, (other.low, other.high, other.std)))
