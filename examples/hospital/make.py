"""Makes the sheet of a hospital that does not exist: what is true, and how strangely it is written.

Run it to write aufnahmen.xlsx and aufnahmen.csv anew; they come out the same each time.
"""

import csv
import datetime as dt
import random
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
TITLES = (["Klinikum Musterstadt, Aufnahmen 2025"], ["erfunden; Stand: 31.12.2025"])
HEADER = [
    "Fall",
    "Patient",
    "Aufnahme",
    "Raucher",
    "Diagnosen",
    "Kosten",
    "Alter",
    "Größe",
    "Station",
]
YES = ["ja", "Ja", "JA", " ja", "J", "j", "wahr", "1"]
NO = ["nein", "Nein", "NEIN ", "N", "falsch", "0"]
NOTHING = ["", "-99", "k. A.", "K.A.", "-99,0"]
WARDS = {
    "Innere": ["Innere", "INNERE", "innere", " Innere "],
    "Chirurgie": ["Chirurgie", "chirurgie ", "CHIRURGIE"],
    "Kinder": ["Kinder", "kinder"],
    "Augen": ["Augen", "AUGEN"],
}
CAN_BE_LOST = ("day", "smoker", "cost", "age", "height", "ward")
CODES = ["J45", "J45.0", "E11", "E11.9", "I10", "S52.5"]


@dataclass(frozen=True)
class Stay:
    """What is true of one stay; None is what nobody knows."""

    patient: str
    day: dt.date | None
    smoker: bool | None
    codes: tuple[str, ...]
    cost: float | None
    age: int | None
    height: float | None
    ward: str | None


def stays() -> list[Stay]:
    """Return the stays of 300 patients."""
    draw, found = random.Random(2025), list[Stay]()
    for number in range(1, 301):
        smoker, age = draw.random() < 0.3, draw.randrange(1, 95)
        height = draw.randrange(1000, 1400 if age < 14 else 2000) / 10
        for _ in range(draw.choice([1, 1, 1, 2, 2, 3])):
            stay = Stay(
                patient=f"P{number:04}",
                day=dt.date(2025, 1, 1) + dt.timedelta(days=draw.randrange(365)),
                smoker=smoker,
                codes=tuple(draw.sample(CODES, draw.choice([0, 1, 1, 2, 3]))),
                cost=draw.randrange(20_000, 900_000) / 100,
                age=age,
                height=height,
                ward=draw.choice([*WARDS]),
            )
            lost = [name for name in CAN_BE_LOST if draw.random() < 0.08]
            found.append(replace(stay, **dict.fromkeys(lost)))
    return found


def amount(draw: random.Random, value: float) -> str:
    """Write a number as people do: with decimal commas, and with marks for thousands or none."""
    plain = f"{value:.2f}"
    whole, _, cents = plain.partition(".")
    if draw.random() < 0.5 and len(whole) > 3:
        whole = f"{whole[:-3]}.{whole[-3:]}"
    return draw.choice(["", "", " "]) + (whole if cents == "00" else f"{whole},{cents}")


def day(draw: random.Random, value: dt.date) -> str:
    """Write a day as people do: with one digit or two, and with a time or none."""
    short = f"{value.day}.{value.month}.{value.year}"
    long = f"{value:%d.%m.%Y}"
    return draw.choice([short, long, long, f"{long} 14:30", value.isoformat()])


def written() -> Iterator[list[str]]:
    """Yield the cells of each stay, as text."""
    draw = random.Random(7)

    def or_nothing(value: Any, text: str) -> str:
        return draw.choice(NOTHING) if value is None else text

    for number, stay in enumerate(stays(), 1):
        yield [
            str(number),
            stay.patient,
            or_nothing(stay.day, day(draw, stay.day or dt.date.min)),
            or_nothing(stay.smoker, draw.choice(YES if stay.smoker else NO)),
            draw.choice([";", "; ", " ; "]).join(
                code.lower() if draw.random() < 0.2 else code for code in stay.codes
            ),
            or_nothing(stay.cost, amount(draw, stay.cost or 0)),
            or_nothing(stay.age, draw.choice([f"{stay.age}", f"{stay.age},0", f" {stay.age}"])),
            or_nothing(stay.height, amount(draw, stay.height or 0)),
            or_nothing(stay.ward, draw.choice(WARDS.get(stay.ward or "", [""]))),
        ]


def typed() -> Iterator[list[Any]]:
    """Yield the same for a sheet, where a program has made days and numbers of some cells."""
    draw = random.Random(8)
    for cells, stay in zip(written(), stays(), strict=True):
        own: list[Any] = list(cells)
        for place, value in ((2, stay.day), (5, stay.cost), (6, stay.age), (7, stay.height)):
            if value is not None and draw.random() < 0.5:
                own[place] = value
        if stay.smoker is not None and draw.random() < 0.1:
            own[3] = stay.smoker
        yield [None if cell == "" else cell for cell in own]


def write_csv(path: Path) -> None:
    """Write what an old program writes: semicolons, and an encoding of Windows."""
    with path.open("w", encoding="cp1252", newline="") as file:
        writer = csv.writer(file, delimiter=";", lineterminator="\r\n")
        writer.writerows([*TITLES, HEADER, *written()])


def write_sheet(path: Path) -> None:
    """Write the sheet, always the same bytes."""
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Aufnahmen"
    for row in [*TITLES, HEADER, *typed()]:
        sheet.append(row)
    book.save(path)
    with zipfile.ZipFile(path) as found:
        parts = {name: found.read(name) for name in found.namelist()}
    with zipfile.ZipFile(path, "w") as again:
        for name, content in parts.items():  # when it was made is in its parts, and beside each
            same = re.sub(rb"20\d\d-[0-9-]{5}T[0-9:]{8}Z", b"2025-12-31T00:00:00Z", content)
            again.writestr(zipfile.ZipInfo(name), same, zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    write_csv(FOLDER / "aufnahmen.csv")
    write_sheet(FOLDER / "aufnahmen.xlsx")
