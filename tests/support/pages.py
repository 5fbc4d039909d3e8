"""Pages read as a parser reads them: elements, tables, and texts without markup."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = ("meta", "br")


@dataclass
class Table:
    """A table: what it is called, its titles, and the headers and cells of its rows."""

    label: str
    titles: list[str] = field(default_factory=list)
    rows: list[tuple[list[str], list[str]]] = field(default_factory=list)


class Page(HTMLParser):
    """What is in a page; elements that do not fit together are a mistake."""

    def __init__(self, text: str) -> None:
        """Read all of it."""
        super().__init__(convert_charrefs=True)
        self.open, self.elements = list[str](), list[tuple[str, dict[str, str | None]]]()
        self.tables, self.headings, self.words = list[Table](), list[str](), list[str]()
        self.label, self.cell = "", list[str]()
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element, and start a table, a row or a cell."""
        said = dict(attrs)
        self.elements.append((tag, said))
        if tag in VOID:
            return
        self.open.append(tag)
        self.label = said.get("aria-label") or "" if said.get("role") == "region" else self.label
        if tag == "table":
            self.tables.append(Table(self.label))
        elif tag == "tr" and "tbody" in self.open:
            self.tables[-1].rows.append(([], []))
        elif tag in ("th", "td", "h1", "h2", "h3", "li", "p", "dd", "title"):
            self.cell = []

    def handle_endtag(self, tag: str) -> None:
        """End it, and keep what it held."""
        assert self.open.pop() == tag
        text = "".join(self.cell)
        if tag in ("th", "td") and "thead" in self.open:
            self.tables[-1].titles.append(text)
        elif tag in ("th", "td"):
            self.tables[-1].rows[-1][tag == "td"].append(text)
        elif tag in ("h1", "h2", "h3"):
            self.headings.append(text)
        elif tag in ("li", "p", "dd"):
            self.words.append(text)

    def handle_data(self, data: str) -> None:
        """Gather text."""
        self.cell.append(data)

    def table(self, label: str) -> Table:
        """Return a table by what it is called."""
        (found,) = [each for each in self.tables if each.label == label]
        return found


def number(text: str) -> float:
    """Read a number as it is shown."""
    return float(text.replace(",", "").removesuffix("%").replace("∞", "inf"))
