"""A release that is kept in a file, written anew: as a page, or in any other format."""

from pathlib import Path

from halfnoise.checks import refuse
from halfnoise.cli.leaving import note
from halfnoise.cli.outputs import PAGE, marks, without_charts
from halfnoise.errors import InvalidParameterError
from halfnoise.report.embedded import read
from halfnoise.results.formats import Output
from halfnoise.spec.queries import Words


def report_command(words: Words, table: str) -> None:
    """Read a release, and write it where the words say."""
    if "out" not in words:
        raise InvalidParameterError("where to is missing; say --out report.html")
    out = Output("--out", Path(words["out"]), "overwrite" in words, "excel" in words)
    release = read(table)
    if rule := marks(words):
        release = release.flagged(*rule.flags, suppress=rule.suppress)
    out.check([table])
    if out.path.suffix.lower() == PAGE:
        out.write_bytes(release.to_html(title=words.get("title")).encode())
        without_charts()
    elif "title" in words:
        raise refuse("--title", "said of a page, which ends in .html", words["title"])
    else:
        out.write(release)
    note(f"Written to {words['out']}.")
