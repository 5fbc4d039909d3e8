"""A release in a TOML file."""

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from halfnoise.checks import is_text, meant, refuse
from halfnoise.errors import InvalidParameterError
from halfnoise.files import is_among
from halfnoise.request import Request
from halfnoise.spec.groups import Listed, is_number
from halfnoise.spec.lists import ANYWHERE, NAMED, Lists, moved, one_value, quoted
from halfnoise.spec.queries import Words
from halfnoise.spec.tables import parted, spec_tables
from halfnoise.spec.vocabulary import BUDGET, CROSSED, LISTS, QUERIES, WORDS, YES
from halfnoise.workload.by import BANDS
from halfnoise.workload.listing import DISCOVER

Hear = Callable[[InvalidParameterError], None]  # is told what is refused, and may go on
MOST_BYTES = 2**24  # of a spec: what is larger is none
MOST_RECORDED = 20_000  # letters of one that goes with what came out
_READ_AGAIN = ("unit", "by", "groups", "missing")  # where one text may be a list
_OWN: Mapping[str, Callable[[Any], Any]] = {"groups": Listed, "table": spec_tables}


def at_once(error: InvalidParameterError) -> None:
    """Refuse."""
    raise error


def read_spec(
    path: str | Path,
    parameters: Mapping[str, str],
    data: Sequence[str] = (),
    heard: Hear = at_once,
) -> dict[str, Any]:
    """Read the words of a TOML file, with ``{name}`` filled from ``parameters``.

    ``data``: files of rows, which are no spec. Beside the words stands, for those that name files,
    the folder in which they must lie. ``heard`` is told of each word that is refused.
    """
    try:
        if is_among(Path(path).stat(), data):
            raise refuse("the spec", "another file than the data", str(path))
        with Path(path).open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise refuse("the spec", "a file of at most 16 MB", str(path))
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except InvalidParameterError:
        raise
    except (OSError, ValueError):  # no text, or no name that a file can have
        said = f"the spec {str(path)!r} could not be read; name a TOML file in UTF-8"
        raise InvalidParameterError(said) from None
    import tomllib  # which few need

    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        bare = re.search(r"=\s*(\{\w+\})", text)
        hint = "" if bare is None else f'; a place to fill stands in quotes: "{bare[1]}"'
        raise InvalidParameterError(f"the spec {str(path)!r} is not TOML: {error}{hint}") from None
    except (ValueError, RecursionError):
        why = "it holds a number that is too long, or lists too deep in each other"
        raise InvalidParameterError(f"the spec {str(path)!r} cannot be read: {why}") from None
    found = _filled(found, parameters)
    words = {}
    for name, value in found.items():
        try:
            words[name] = _as_words(name, value)
        except InvalidParameterError as error:
            heard(error)
    try:
        words = parted(words) if "table" in words else words
    except InvalidParameterError as error:
        heard(error)
    return words | {"beside": dict.fromkeys(words, Path(path).parent)}


def write_spec(words: Words, request: Request | None = None, folder: Path | None = None) -> str:
    """Return what was said as TOML, for a ``folder`` in which the lists that it names lie.

    ``request``: what was read; it tells columns and groups apart.

    >>> print(write_spec({"count": ["smoker"], "epsilon": "1"}), end="")
    count = ["smoker"]
    epsilon = "1"
    """
    kept = {name: words[name] for name in WORDS if words.get(name) not in (None, [], False)}
    if request is not None:
        grouping = request.workload.grouping
        named = {"unit": request.unit, "by": () if grouping is None else grouping.by}
        kept |= {word: [*map(quoted, names)] for word, names in named.items() if word in kept}
    if "groups" in kept:
        kept["groups"] = _groups(kept["groups"], request)
    if "missing" in kept:
        codes = [ANYWHERE.split(text) for text in kept["missing"] if not text.startswith("@")]
        files = [text for text in kept["missing"] if text.startswith("@")]
        if files and (codes or len(files) > 1):
            raise refuse("--missing in a spec", "one file, or codes alone", kept["missing"])
        kept["missing"] = files[0] if files else [quoted(code) for each in codes for code in each]
    if folder is not None:
        beside = words.get("beside", {})
        kept |= {n: _moved(kept[n], beside.get(n), folder) for n in kept if n in LISTS}
        who = Lists.each(words, "where", (), ())
        kept |= {"where": [moved(text, own.beside, folder) for text, own in who]} if who else {}
    return "".join(f"{name} = {in_toml(value)}\n" for name, value in kept.items())


def recorded(words: Words) -> str:
    """Return what was said as TOML, to stand beside what comes out; nothing where it is long.

    It is not read again. Lists in files go by the files' names, without folders.

    >>> print(recorded({"count": ["smoker"], "unit": ["a,b"], "groups": ["@/home/me/g.txt"]}))
    count = ["smoker"]
    unit = "a,b"
    groups = "@g.txt"
    """
    lines = list[str]()
    for name in WORDS:
        said = words.get(name)
        said = said.groups if isinstance(said, Listed) else said
        if said in (None, [], False):
            continue
        if name in _READ_AGAIN and isinstance(said, list) and not isinstance(said[0], list):
            if len(said) > 1 and any(mark in each for each in said for mark in ',"@'):
                return ""  # several words, of which one is a list
            said = said[0] if len(said) == 1 else said
        lines.append(f"{name} = {in_toml(_by_name(said))}")
    text = "\n".join(lines)
    return text if len(text) <= MOST_RECORDED else ""


def _by_name(said: Any) -> Any:
    if isinstance(said, list):
        return [*map(_by_name, said)]
    if not isinstance(said, str):
        return said
    return NAMED.sub(lambda found: f"{found[1]}@{Path(found[2]).name}", said, count=1)


def _groups(said: Any, request: Request | None) -> Any:
    """Return groups for a spec: as keys where they were listed, else the one word that says it."""
    if isinstance(said, Listed):
        return said.groups
    if len(said) == 1 and (said[0] == DISCOVER or said[0].startswith("@") or is_number(said[0])):
        return said[0]
    read = None if request is None else request.workload.groups
    if isinstance(read, tuple) and not any(isinstance(key, list | tuple) for key in read):
        keys = [quoted(key) for key in read]
        return f"{keys[0]}," if len(keys) == 1 and is_number(keys[0]) else keys
    lists = ([quoted(key) for key in ANYWHERE.split(text)] for text in said)
    return [DISCOVER if text == DISCOVER else keys for text, keys in zip(said, lists, strict=True)]


def _moved(said: Any, beside: Path | None, folder: Path) -> Any:
    if isinstance(said, list):
        return [_moved(each, beside, folder) for each in said]
    return moved(said, beside, folder) if isinstance(said, str) else said


def in_toml(value: Any) -> str:
    """Write text, or lists and tables of it, as TOML that is read as just that."""
    # A JSON string is a TOML string, but for the delete character; a name in braces, which would
    # be filled, is put in two pairs.
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(in_toml, value))}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{name} = {in_toml(each)}' for name, each in value.items())} }}"
    text = re.sub(r"\{(\w+)\}", r"{{\1}}", json.dumps(value, ensure_ascii=False))
    return text.replace("\x7f", "\\u007F")


_PLACE = re.compile(r"\{\{(\w+)\}\}|\{(\w+)\}")  # what stands for itself, and what is filled


def _filled(value: dict[str, Any], parameters: Mapping[str, str]) -> dict[str, Any]:
    """Fill the places in all texts: what fills one cannot become more than text."""
    used = set[str]()

    def place(found: re.Match[str]) -> str:
        if found[1]:
            return f"{{{found[1]}}}"
        used.add(name := found[2])
        if name not in parameters:
            raise InvalidParameterError(f"the spec needs {name!r}; say --set {name}=...")
        if not is_text(parameters[name]):
            raise refuse(f"the parameter {name}", "text", parameters[name])
        return parameters[name]

    def fill(value: Any) -> Any:
        if isinstance(value, list):
            return [fill(each) for each in value]
        if isinstance(value, dict):
            return {name: fill(each) for name, each in value.items()}
        return _PLACE.sub(place, value) if isinstance(value, str) else value

    filled = {name: fill(each) for name, each in value.items()}
    if unused := set(parameters) - used:
        raise InvalidParameterError(f"the spec has no {{{min(unused)}}} to fill; leave it out")
    return filled


def _as_words(name: str, value: Any) -> Any:
    if name not in WORDS:
        raise refuse("a word of the spec", f"one of {', '.join(WORDS)}", name, meant(name, WORDS))
    if name in _OWN:
        return _OWN[name](value)
    if name in YES:
        if not isinstance(value, bool):
            raise refuse(f"{name} in the spec", "true or false", value)
        return value
    if isinstance(value, list) and name in ("names", "yes", "no"):
        return ",".join(one_value(name, each) for each in value)
    if isinstance(value, list) and name not in LISTS:
        raise refuse(f"{name} in the spec", "given once", value)
    values = value if isinstance(value, list) else [value]
    if any(isinstance(each, bool | dict | list) for each in values):
        raise refuse(f"{name} in the spec", "text, a number, or a list of them", value)
    if name in ("missing", "unit", "by") and isinstance(value, list):
        bands = [name == "by" and f":{BANDS}:" in str(each) for each in values]
        pairs = zip(values, bands, strict=True)
        return [str(each) if edges else one_value(name, each) for each, edges in pairs]
    texts = [str(each) for each in values]
    # The number of people is empty where a plan does without; a mark may be a space or a tab.
    marks = ("delimiter", "split", "thousands")
    can_be_blank = name == "known-size" or (name in marks and texts != [""])
    if not can_be_blank and not all(text.strip() for text in texts):
        raise refuse(f"{name} in the spec", "given a value", value, "or left out")
    return texts if name in LISTS else texts[0]


JOINED = ("where", "missing")  # words of the command line and of a spec that hold together
# Words of which one takes the place of the others.
INSTEAD = (
    ("epsilon", "mu", "rho", "rdp", "one-of"),
    ("delta", "mu", "rho", "rdp", "one-of"),
    ("unit", "row-is-person"),
    ("size-importance", "size-dial"),
    ("skip", "header-row"),
)


def gather(words: Words, data: Sequence[str] = (), heard: Hear = at_once) -> dict[str, Any]:
    """Add what a spec says to what the command line says, which wins, or joins it."""
    settings = [text.partition("=") for text in words.get("set", [])]
    if settings and "spec" not in words:
        raise InvalidParameterError("--set fills a place in a spec; say --spec FILE too")
    if any(not equals for _, equals, _ in settings):
        raise refuse("--set", "written NAME=VALUE", words["set"], "for example day=2026-11-15")
    names = [name for name, _, _ in settings]
    if len(set(names)) < len(names):
        raise refuse("--set", "said once for each name", words["set"])
    own = {name: words[name] for name in words if name not in ("spec", "set")}
    own = parted(own) if "table" in own else own
    if "spec" not in words:
        return own
    stored = read_spec(words["spec"], {name: value for name, _, value in settings}, data, heard)
    both = [name for name in JOINED if name in own and name in stored]
    left = beside(stored, own.keys() - set(both))
    own |= {name: [*stored[name], *own[name]] for name in both}
    return left | own | ({"joined": {name: len(words[name]) for name in both}} if both else {})


def beside(stored: Words, said: Collection[str]) -> dict[str, Any]:
    """Return the words of a spec beside others that are said elsewhere, which win."""
    replaced = {name for group in INSTEAD if set(group) & set(said) for name in group} | {*said}
    if replaced & {*BUDGET, "discover-delta", "margin"}:  # it was said of the budget there
        replaced.add("i-know")
    kept = {name: value for name, value in stored.items() if name not in replaced}
    folders = stored.get("beside", {})
    return kept | {"beside": {name: path for name, path in folders.items() if name in kept}}


def said_in_python(names: Sequence[str], *, queries: bool) -> list[str]:
    """Return the words for what is said by keywords; conditions join those of a spec."""
    words = [name.replace("_", "-") for name in names if name != "where"]
    words += BUDGET if {"privacy", "one_of"} & {*names} else ()
    words += ["no-group-sizes"] if "group_sizes" in names else []
    return [*words, *((*QUERIES, *CROSSED) if queries else ())]
