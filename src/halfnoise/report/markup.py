"""HTML made of tags and texts, where every text is escaped by one function."""

import html
from typing import TypeAlias

# What a browser's parser would read as something else, wherever it stands.
_ODD = {ord("\r"): "&#13;", ord("\0"): "\N{REPLACEMENT CHARACTER}"}


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


Inside: TypeAlias = "str | Markup"  # a text, which is escaped, or markup, which is not


def escaped(text: str) -> Markup:
    """Return a text as HTML that reads as just that text, also within quotes.

    >>> escaped('<a href="x">&'), escaped(Markup("<b>"))
    ('&lt;a href=&quot;x&quot;&gt;&amp;', '<b>')
    """
    return text if isinstance(text, Markup) else Markup(html.escape(text).translate(_ODD))


def tag(name: str, /, *inside: Inside, **attributes: str | bool | None) -> Markup:
    """Return an element; an attribute of False or None is left out, ``class_`` is class.

    >>> tag("td", "a < b", class_="wide", hidden=True, title=None)
    '<td class="wide" hidden>a &lt; b</td>'
    """
    said = "".join(_attribute(each, value) for each, value in attributes.items())
    return Markup(f"<{name}{said}>{''.join(map(escaped, inside))}</{name}>")


def empty(name: str, /, **attributes: str) -> Markup:
    """Return an element that holds nothing and has no end: meta, br.

    >>> empty("meta", charset="utf-8")
    '<meta charset="utf-8">'
    """
    return Markup(tag(name, **attributes).removesuffix(f"</{name}>"))


def joined(*parts: Inside) -> Markup:
    """Return parts one after the other."""
    return Markup("".join(map(escaped, parts)))


def name_of(text: str) -> Markup:
    """Return a name within a sentence: however it is written, the words around it stay."""
    return tag("bdi", text)


def _attribute(name: str, value: str | bool | None) -> str:  # noqa: FBT001  # True stands alone
    if value is None or value is False:
        return ""
    said = name.rstrip("_").replace("_", "-")
    return f" {said}" if value is True else f' {said}="{escaped(value)}"'
