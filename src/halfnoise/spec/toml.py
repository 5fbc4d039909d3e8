"""A release in a TOML file."""

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from halfnoise.checks import refuse
from halfnoise.errors import InvalidParameterError
from halfnoise.spec.groups import Listed, is_word
from halfnoise.spec.queries import Words
from halfnoise.spec.words import LISTS, WORDS, YES


def read_spec(path: str | Path, parameters: Mapping[str, str]) -> dict[str, Any]:
    """Read the words of a TOML file, with ``{name}`` filled from ``parameters``."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError):
        said = f"the spec {str(path)!r} could not be read; name a TOML file"
        raise InvalidParameterError(said) from None
    try:
        found = tomllib.loads(_fill(text, parameters))
    except tomllib.TOMLDecodeError as error:
        raise InvalidParameterError(f"the spec {str(path)!r} is not TOML: {error}") from None
    return {name: _as_words(name, value) for name, value in found.items()}


def write_spec(words: Words, groups: object = None) -> str:
    """Return what was said as TOML; ``groups`` as they were read, where one column names them.

    >>> print(write_spec({"count": ["smoker"], "epsilon": "1"}), end="")
    count = ["smoker"]
    epsilon = "1"
    """
    kept = {name: words[name] for name in WORDS if words.get(name) not in (None, [], False)}
    if "groups" in kept:
        listed = kept["groups"]
        texts = listed.words(several=True) if isinstance(listed, Listed) else listed
        written = len(texts) == 1 and is_word(texts[0])
        kept["groups"] = list(groups) if isinstance(groups, tuple) and not written else texts
    return "".join(f"{name} = {_toml(value)}\n" for name, value in kept.items())


def _toml(value: Any) -> str:
    # A JSON string is a TOML string, but for the delete character; a brace would ask for --set.
    text = json.dumps(value, ensure_ascii=False)
    return text.replace("\x7f", "\\u007F").replace("{", "\\u007B")


def _fill(text: str, parameters: Mapping[str, str]) -> str:
    used = set(re.findall(r"\{(\w+)\}", text))
    for name in sorted(used - set(parameters)):
        raise InvalidParameterError(f"the spec needs {name!r}; say --set {name}=...")
    if unused := set(parameters) - used:
        raise InvalidParameterError(f"the spec has no {{{min(unused)}}} to fill; leave it out")
    return re.sub(r"\{(\w+)\}", lambda found: _toml(parameters[found[1]])[1:-1], text)


def _as_words(name: str, value: Any) -> Any:
    if name not in WORDS:
        raise refuse("a word of the spec", f"one of {', '.join(WORDS)}", name)
    if name == "groups":
        return Listed(value)
    if name in YES:
        if not isinstance(value, bool):
            raise refuse(f"{name} in the spec", "true or false", value)
        return value
    values = value if isinstance(value, list) else [value]
    if any(isinstance(each, bool | dict | list) for each in values):
        raise refuse(f"{name} in the spec", "text, a number, or a list of them", value)
    texts = [str(each) for each in values]
    return texts if name in LISTS else ",".join(texts)


# Words of which one takes the place of the others.
INSTEAD = (
    ("epsilon", "mu", "rho", "rdp"),
    ("delta", "mu", "rho", "rdp"),
    ("unit", "row-is-person"),
    ("size-importance", "size-dial"),
)


def gather(words: Words) -> dict[str, Any]:
    """Add what a spec says to what the command line says, which wins."""
    settings = [text.partition("=") for text in words.get("set", [])]
    if settings and "spec" not in words:
        raise InvalidParameterError("--set fills a place in a spec; say --spec FILE too")
    if any(not equals for _, equals, _ in settings):
        raise refuse("--set", "written NAME=VALUE", words["set"], "for example day=2026-11-15")
    own = {name: value for name, value in words.items() if name not in ("spec", "set")}
    if "spec" not in words:
        return own
    stored = read_spec(words["spec"], {name: value for name, _, value in settings})
    replaced = {name for group in INSTEAD if own.keys() & group for name in group}
    return {name: value for name, value in stored.items() if name not in replaced} | own
