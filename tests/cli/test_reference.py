from pathlib import Path

from support.cli_reference import page

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"


def test_the_reference_is_the_help() -> None:
    """The page of the command says what the command's own help says."""
    assert PAGE.read_text(encoding="utf-8") == page()
