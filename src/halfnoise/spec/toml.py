"""A release in a TOML file."""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from halfnoise.checks import refuse
from halfnoise.errors import InvalidParameterError
from halfnoise.files import is_among
from halfnoise.spec.groups import Listed, is_number
from halfnoise.spec.lists import ANYWHERE, moved, one_value, quoted
from halfnoise.spec.queries import Words
from halfnoise.spec.words import LISTS, WORDS, YES
from halfnoise.workload.groups import DISCOVER


def read_spec(
    path: str | Path, parameters: Mapping[str, str], data: Sequence[str] = ()
) -> dict[str, Any]:
    """Read the words of a TOML file, with ``{name}`` filled from ``parameters``.

    ``data``: files of rows, which are no spec. Beside the words stands, for those that name files,
    the folder in which they must lie.
    """
    try:
        if is_among(Path(path).stat(), data):
            raise refuse("the spec", "another file than the data", str(path))
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeError):
        said = f"the spec {str(path)!r} could not be read; name a TOML file"
        raise InvalidParameterError(said) from None
    try:
        found = tomllib.loads(_fill(text, parameters))
    except tomllib.TOMLDecodeError as error:
        raise InvalidParameterError(f"the spec {str(path)!r} is not TOML: {error}") from None
    words = {name: _as_words(name, value) for name, value in found.items()}
    return words | {"beside": dict.fromkeys(words, Path(path).parent)}


def write_spec(words: Words, groups: object = None, folder: Path | None = None) -> str:
    """Return what was said as TOML, for a ``folder`` in which the lists that it names lie.

    ``groups``: as they were read, where one column names them.

    >>> print(write_spec({"count": ["smoker"], "epsilon": "1"}), end="")
    count = ["smoker"]
    epsilon = "1"
    """
    kept = {name: words[name] for name in WORDS if words.get(name) not in (None, [], False)}
    if "groups" in kept:
        kept["groups"] = _groups(kept["groups"], groups)
    if "missing" in kept:
        codes = [ANYWHERE.split(text) for text in kept["missing"] if not text.startswith("@")]
        files = [text for text in kept["missing"] if text.startswith("@")]
        if files and (codes or len(files) > 1):
            raise refuse("--missing in a spec", "one file, or codes alone", kept["missing"])
        kept["missing"] = files[0] if files else [quoted(code) for each in codes for code in each]
    if folder is not None:
        beside = words.get("beside", {})
        kept |= {n: _moved(kept[n], beside.get(n), folder) for n in kept if n in LISTS}
    return "".join(f"{name} = {_toml(value)}\n" for name, value in kept.items())


def _groups(said: Any, read: object) -> Any:
    """Return groups for a spec: as keys where they were listed, else the one word that says it."""
    if isinstance(said, Listed):
        return said.groups
    if len(said) == 1 and (said[0] == DISCOVER or said[0].startswith("@") or is_number(said[0])):
        return said[0]
    if isinstance(read, tuple):
        keys = [quoted(key) for key in read]
        return f"{keys[0]}," if len(keys) == 1 and is_number(keys[0]) else keys
    return [[quoted(key) for key in ANYWHERE.split(text)] for text in said]


def _moved(said: Any, beside: Path | None, folder: Path) -> Any:
    if isinstance(said, list):
        return [_moved(each, beside, folder) for each in said]
    return moved(said, beside, folder) if isinstance(said, str) else said


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
    if isinstance(value, list) and name == "names":
        return ",".join(one_value(name, each) for each in value)
    if isinstance(value, list) and name not in LISTS:
        raise refuse(f"{name} in the spec", "given once", value)
    values = value if isinstance(value, list) else [value]
    if any(isinstance(each, bool | dict | list) for each in values):
        raise refuse(f"{name} in the spec", "text, a number, or a list of them", value)
    if name == "missing" and isinstance(value, list):
        return [one_value(name, each) for each in values]
    texts = [str(each) for each in values]
    return texts if name in LISTS else texts[0]


# Words of which one takes the place of the others.
INSTEAD = (
    ("epsilon", "mu", "rho", "rdp"),
    ("delta", "mu", "rho", "rdp"),
    ("unit", "row-is-person"),
    ("size-importance", "size-dial"),
)


def gather(words: Words, data: Sequence[str] = ()) -> dict[str, Any]:
    """Add what a spec says to what the command line says, which wins."""
    settings = [text.partition("=") for text in words.get("set", [])]
    if settings and "spec" not in words:
        raise InvalidParameterError("--set fills a place in a spec; say --spec FILE too")
    if any(not equals for _, equals, _ in settings):
        raise refuse("--set", "written NAME=VALUE", words["set"], "for example day=2026-11-15")
    names = [name for name, _, _ in settings]
    if len(set(names)) < len(names):
        raise refuse("--set", "said once for each name", words["set"])
    own = {name: value for name, value in words.items() if name not in ("spec", "set")}
    if "spec" not in words:
        return own
    stored = read_spec(words["spec"], {name: value for name, _, value in settings}, data)
    replaced = {name for group in INSTEAD if own.keys() & group for name in group} | own.keys()
    stored["beside"] = {n: path for n, path in stored["beside"].items() if n not in replaced}
    return {name: value for name, value in stored.items() if name not in replaced} | own
