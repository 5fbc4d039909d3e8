"""Parts of a document that are XML in a zipped file, read piece by piece."""

import zipfile
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO, TypeVar
from xml.parsers import expat

from halfnoise.data.sources.plain_cells import LONGEST
from halfnoise.errors import DataError

T = TypeVar("T")
Attributes = dict[str, str]
_PIECE = 2**13  # bytes of which all that they make is held
_DIGITS = 9  # of a number that is read
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_LOCKED = 1  # the flag of a part behind a password


def unzipped(path: Path) -> zipfile.ZipFile:
    """Open a file of parts; refuse one with parts that cannot be unpacked."""
    archive = zipfile.ZipFile(path)
    for part in archive.infolist():
        if part.compress_type not in _METHODS or part.flag_bits & _LOCKED:
            archive.close()
            said = f"the file {str(path)!r} is packed in a way, or with a password, that sheets are"
            raise DataError(f"{said} not; save it anew")
    return archive


class Elements:
    """What is made of elements as they begin, as their text comes and as they end.

    ``made`` is what is complete by now. Names have no prefix (but ``calcext:``), or, where those of
    elements have none in the file, attributes as they are there.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self.made: list[Any] = []

    def begin(self, name: str, attributes: Attributes) -> None:
        """Take the begin of an element."""

    def text(self, text: str) -> None:
        """Take some text."""

    def end(self, name: str) -> None:
        """Take the end of an element."""


def parsed(file: BinaryIO, elements: Elements) -> Iterator[Any]:
    """Yield what elements make of a file; no more of it is read than that needs.

    What is made before something fails is there before it fails.
    """
    parser = expat.ParserCreate()
    parser.buffer_text = True
    plain = _Plain()

    def begin(name: str, attributes: Attributes) -> None:
        elements.begin(plain[name], {plain[key]: value for key, value in attributes.items()})

    def root(name: str, attributes: Attributes) -> None:
        """See whether names have prefixes at all: to take them off takes as long as the rest."""
        if ":" in name:
            parser.StartElementHandler = begin
            parser.EndElementHandler = lambda name: elements.end(plain[name])
        else:
            parser.StartElementHandler, parser.EndElementHandler = elements.begin, elements.end
        begin(name, attributes)

    parser.StartElementHandler = root
    parser.CharacterDataHandler = elements.text
    parser.StartDoctypeDeclHandler = _refuse
    last = False
    while not last:
        piece = file.read(_PIECE)
        last = not piece
        failed: Exception | None = None
        try:
            parser.Parse(piece, last)
        except Exception as error:  # noqa: BLE001  # it is raised below
            failed = error
        made, elements.made = elements.made, []
        yield from made
        if failed is not None:
            raise failed


class _Plain(dict[str, str]):
    """Names without their prefix, but for that of an addition, which would hide another name."""

    def __missing__(self, name: str) -> str:
        self[name] = name if name.startswith("calcext:") else name.rpartition(":")[2]
        return self[name]


def _refuse(*_: object) -> None:
    raise DataError("the file declares XML of its own, which a sheet does not; save it anew")


def stored(archive: zipfile.ZipFile, name: str) -> str | None:
    """Return how a part is called in the file: some write it in other case, or with backslashes."""
    alike = (part for part in archive.namelist() if part.replace("\\", "/").lower() == name.lower())
    return name if name in archive.namelist() else next(alike, None)


def read(archive: zipfile.ZipFile, name: str, elements: Elements) -> Generator[Any, None, None]:
    """Yield what elements make of a part; one that is missing is refused."""
    with archive.open(stored(archive, name) or name) as file:
        yield from parsed(file, elements)  # type: ignore[arg-type]  # what is read is bytes


def whole(archive: zipfile.ZipFile, name: str, elements: Elements) -> list[Any]:
    """Return all that elements make of a part; nothing where there is none."""
    return [] if stored(archive, name) is None else [*read(archive, name, elements)]


def begins(archive: zipfile.ZipFile, name: str) -> None:
    """Read a part as far as its root, so that one that is missing or no XML is refused."""
    with closing(read(archive, name, each(lambda root, _: root))) as roots:
        next(roots, None)


class Gathered:
    """A text that comes in parts; nothing, where it gets too long."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.parts: list[str] = []
        self.length = 0

    def add(self, text: str) -> None:
        """Take a part."""
        self.length += len(text)
        if self.length <= LONGEST:
            self.parts.append(text)

    def __str__(self) -> str:
        """Return the text by now."""
        return "".join(self.parts) if self.length <= LONGEST else ""


class Numbered:
    """Texts by number, read from a part as far as somebody asked.

    Where they break off is told at the end, whichever of them were asked for.
    """

    def __init__(self, coming: Iterator[str]) -> None:
        """Begin with none."""
        self.coming, self.read = coming, list[str]()
        self.failed: Exception | None = None

    def at(self, number: int) -> str | None:
        """Return a text; None where there is none."""
        while len(self.read) <= number:
            try:
                self.read.append(next(self.coming))
            except StopIteration:
                return None
            except Exception as error:  # noqa: BLE001  # it is raised in the end
                self.failed = error
                return None
        return self.read[number] if number >= 0 else None

    def finish(self) -> None:
        """Read what is left; raise what it breaks off with."""
        while self.at(len(self.read)) is not None:
            pass
        if self.failed is not None:
            raise self.failed


def counted(said: str, most: int) -> int | None:
    """Return a number that an attribute says, at most some other; None where it is none.

    >>> counted("3", 9), counted("9" * 5000, 9), counted("-1", 9)
    (3, 9, None)
    """
    if not said.isdecimal():
        return None
    return min(int(said), most) if len(said) <= _DIGITS else most


def each(collect: Callable[[str, Attributes], T | None]) -> Elements:
    """Return what makes something of the begin of each element, if anything."""
    found = Elements()

    def begin(name: str, attributes: Attributes) -> None:
        one = collect(name, attributes)
        if one is not None:
            found.made.append(one)

    found.begin = begin  # type: ignore[method-assign]
    return found
