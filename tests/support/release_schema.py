"""The schema file of releases, and JSON as the standard has it."""

import json
from importlib.resources import files
from typing import Any

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

SCHEMA = json.loads(files("halfnoise").joinpath("schema/release.schema.json").read_text("utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)


def strictly(text: str) -> Any:
    """Read JSON as the standard has it: without NaN and infinities."""

    def refuse(word: str) -> None:
        raise AssertionError(word)

    return json.loads(text, parse_constant=refuse)
