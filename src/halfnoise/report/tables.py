"""A table as HTML: with headers for its rows and columns, so that ears can read it too."""

from halfnoise.report.columns import RELATIVE
from halfnoise.report.markup import Markup, escaped, name_of, tag
from halfnoise.results.wide import TOTAL, Wide


def table(wide: Wide) -> Markup:
    """Return a table as one reads it; a column of intervals is quiet, totals are not."""
    caption = [tag("caption", name_of(wide.title))] if wide.title else []
    over = [_over(each, "name") for each in wide.heads] + [_over(each) for each in wide.titles]
    opened = [f'<td class="{kind}">' if kind else "<td>" for kind in map(_kind, wide.titles)]
    rows = []
    for head, cells in wide.lines:
        heads = "".join(map(_beside, head))
        body = "".join(f"{own}{escaped(x)}</td>" for own, x in zip(opened, cells, strict=True))
        total = ' class="total"' if head[0] == TOTAL else ""
        rows.append(f"<tr{total}>{heads}{body}</tr>")
    head = tag("thead", tag("tr", *over))
    return tag("table", *caption, head, tag("tbody", Markup("\n".join(rows))))


def _over(title: str, kind: str | None = None) -> Markup:
    if not title:  # nothing to read out
        return tag("td", class_=kind)
    return tag("th", name_of(title), scope="col", class_=kind)


def _beside(head: str) -> str:
    if not head:
        return '<td class="name"></td>'
    return f'<th scope="row" class="name" dir="auto">{escaped(head)}</th>'


def _kind(title: str) -> str | None:
    if title == RELATIVE or title.endswith(" interval"):
        return "quiet"
    return "total" if title == TOTAL else None
