"""The rules of the house: which room may import which, and what stays in its room.

A rule takes the sources, module by module, and returns what breaks it. Nothing is imported: the
rules read syntax, so an import inside a function or for types alone counts as well.
"""

import ast
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

OURS = "halfnoise"
FACE = (OURS, f"{OURS}.__main__")  # may import everything
LAYERS = (
    ("cli",),
    ("face",),
    ("report", "mechanism"),
    ("spec",),
    ("request",),
    ("planning", "results", "ledger", "identity"),
    ("data", "design"),
    ("noise", "workload"),
    ("privacy",),
    ("ground",),
)
GROUND = (
    "errors",
    "checks",
    "failures",
    "files",
    "proof",
    "scratch",
    "servers",
    "text",
    "values",
    "versions",
    "views",
)
RANK = {room: rank for rank, layer in enumerate(reversed(LAYERS)) for room in layer}

# Packages that stay in some rooms, and the modules that may import one of them all the same.
ENGINES = ("duckdb", "ibis", "pandas", "polars", "pyarrow", "pyspark")
KEPT_IN = dict.fromkeys(ENGINES, "data") | {
    "narwhals": "data",
    "rich": "cli",
    "typer": "cli",
    "altair": "report",
    "vl_convert": "report",
}
EXCEPTIONS = {
    (f"{OURS}.results.formats", "duckdb"): "writes a release, which is public, as Parquet",
    (f"{OURS}.cli.demo", "duckdb"): "writes the survey of the demonstration",
}
NAMED_LATER = {
    OURS: "a name of the face is imported when somebody asks for it",
    f"{OURS}.checks": "an optional package is asked for by its name",
    f"{OURS}.views": "says whether what draws is there",
    f"{OURS}.report.picture": "says which extra to install where a package is missing",
}
LATER = "(a name that only the run knows)"
AS_A_TYPE = ("Expr", "IntoExpr")  # a column may be an expression of narwhals
# What a command does is imported when it runs, by the module that declares the commands.
COMMANDS = f"{OURS}.cli.app"
SMALL = (
    f"{OURS}.data.dialects",
    COMMANDS,
    f"{OURS}.cli.leaving",
    f"{OURS}.cli.options",
    f"{OURS}.spec.vocabulary",
)
# What is shown is known to whoever shows it, and imports that when it is looked at: a release what
# writes it, and whatever can be drawn the room above that draws. Below the command, nobody else.
LATE = (
    (f"{OURS}.results.published", f"{OURS}.results.formats"),
    (f"{OURS}.results.published", f"{OURS}.results.comparing"),
    (f"{OURS}.results.published", f"{OURS}.results.note"),
    (f"{OURS}.results.formats", f"{OURS}.results.sheets"),
    (f"{OURS}.views", f"{OURS}.report.views"),
)
# What reads one kind of table is imported when such a table is opened, by who finds out its kind.
READERS = f"{OURS}.data.sources"
OPENERS = (READERS, f"{READERS}.files", f"{READERS}.frames")

MOST_LINES, MOST_LINES_IN_ALL = 300, 43_257

Sources = Mapping[str, str]
Rule = Callable[[Sources], list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """One import: by whom, of what, and whether inside a function or for types alone."""

    by: str
    of: str
    late: bool
    for_types: bool
    names: tuple[str, ...] = ()


def read_sources(root: Path) -> dict[str, str]:
    """Return the text of every module below a package's folder."""
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = (root.name, *path.relative_to(root).with_suffix("").parts)
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = path.read_text(encoding="utf-8")
    return found


def room_of(module: str) -> str | None:
    """Return the room that a module lies in; the face lies in none."""
    if module in FACE:
        return None
    name = module.split(".")[1]
    return "ground" if name in GROUND else name


def imports(sources: Sources) -> list[Import]:
    """Return all imports, late ones and those for types included; of ours, by module."""
    modules = frozenset(sources)
    return [each for module in sources for each in _imports_of(module, sources[module], modules)]


@cache
def _imports_of(module: str, text: str, modules: frozenset[str]) -> tuple[Import, ...]:
    package = any(other.startswith(f"{module}.") for other in modules)

    def visit(node: ast.AST, *, late: bool, for_types: bool) -> Iterator[Import]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            late = True
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for_types = True
        for target, names in _targets(node, module, modules, package=package):
            yield Import(by=module, of=target, late=late, for_types=for_types, names=names)
        for child in ast.iter_child_nodes(node):
            yield from visit(child, late=late, for_types=for_types)

    return tuple(visit(ast.parse(text), late=False, for_types=False))


def _targets(
    node: ast.AST, module: str, modules: frozenset[str], *, package: bool
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what a statement imports: modules of ours as far as they exist, others by name."""
    match node:
        case ast.Import(names=names):
            yield from ((alias.name, ()) for alias in names)
        case ast.ImportFrom(names=names, level=level, module=stated):
            above = module.split(".")
            above = above[: len(above) - level + package] if level else []
            origin = ".".join([*above, *([stated] if stated else [])])
            inside = {alias.name for alias in names if f"{origin}.{alias.name}" in modules}
            yield from ((f"{origin}.{name}", ()) for name in sorted(inside))
            rest = tuple(alias.name for alias in names if alias.name not in inside)
            if rest:
                yield origin, rest
        case ast.Call(func=func, args=[first, *_]) if _imports_by_name(func):
            yield str(first.value) if isinstance(first, ast.Constant) else LATER, ()


def _imports_by_name(func: ast.expr) -> bool:
    return ast.unparse(func).split(".")[-1] in ("import_module", "__import__", "find_spec")


def upper_rooms_import_lower_ones(sources: Sources) -> list[str]:
    """Hold that a room imports itself and rooms below, neither rooms above nor its siblings.

    Whatever can be drawn imports what draws it late, in one place.
    """
    broken = []
    for each in _of_ours(sources):
        one, other = room_of(each.by), room_of(each.of)
        if one is None or _excepted(each):
            continue
        unknown = {room for room in (one, other) if room is not None and room not in RANK}
        if unknown:
            broken += [f"{room} is no room of the house" for room in sorted(unknown)]
        elif other is None or (other != one and RANK[other] >= RANK[one]):
            broken.append(f"{each.by} imports {each.of}")
    return _once(broken)


def modules_have_no_cycle(sources: Sources) -> list[str]:
    """Hold that no module imports itself by way of others, but for what is shown late."""
    edges: dict[str, set[str]] = {module: set() for module in sources}
    for each in _of_ours(sources):
        if each.of in edges and each.by not in FACE and not _excepted(each):
            edges[each.by].add(each.of)
    return [
        "cycle: " + ", ".join(name.removeprefix(f"{OURS}.") for name in group)
        for group in _cycles(edges)
    ]


def late_imports_of_ours_are_few(sources: Sources) -> list[str]:
    """Hold that inside functions only commands, tables to open and what is shown import ours."""
    late = [each for each in _of_ours(sources) if each.late and each.by != COMMANDS]
    late = [each for each in late if not (each.by in OPENERS and each.of.startswith(READERS))]
    broken = [f"{each.by} imports {each.of} late" for each in late if not _excepted(each)]
    allowed = [(each.by, each.of) for each in late if _excepted(each)]
    twice = [pair for pair in LATE if allowed.count(pair) > 1]
    broken += [f"{by} imports {of} late more than once" for by, of in twice]
    return _once(broken)


def help_loads_little(sources: Sources) -> list[str]:
    """Hold that the face and the list of commands import at once what is small, and no more.

    What they import at once, and what that imports in turn, is the ground, the options and the
    words; of packages, typer alone.
    """
    at_once = [each for each in imports(sources) if not (each.late or each.for_types)]
    waiting, seen = [OURS, COMMANDS], set[str]()
    while waiting:
        module = waiting.pop()
        seen.add(module)
        found = [each.of for each in at_once if each.by == module]
        waiting += [name for name in found if name in sources and name not in seen]
        seen |= {name for name in found if name not in sources}
    return [
        f"{name} is imported by asking for help" for name in sorted(seen) if not _is_small(name)
    ]


def _is_small(name: str) -> bool:
    package = name.split(".", maxsplit=1)[0]
    if package == OURS:
        return name in (*FACE, *SMALL) or room_of(name) == "ground"
    return package == "typer" or package in sys.stdlib_module_names


def packages_stay_in_their_rooms(sources: Sources) -> list[str]:
    """Hold that engines and narwhals stay in data, the terminal in cli, pictures in report."""
    broken = []
    for each in imports(sources):
        package = each.of.split(".")[0]
        room = room_of(each.by)
        as_a_type = each.for_types or set(each.names or ("*",)) <= set(AS_A_TYPE)
        if package == "narwhals" and room == "workload" and as_a_type:
            continue
        if package in KEPT_IN and room != KEPT_IN[package] and (each.by, package) not in EXCEPTIONS:
            broken.append(f"{each.by} imports {package}")
        if each.of == LATER and each.by not in NAMED_LATER:
            broken.append(f"{each.by} imports what only the run knows")
    return _once(broken)


def files_are_short(sources: Sources) -> list[str]:
    """Hold that no file has more than 300 lines, and all together no more than that many."""
    lines = {module: text.count("\n") for module, text in sources.items()}
    broken = [
        f"{name} has more than {MOST_LINES} lines" for name, n in lines.items() if n > MOST_LINES
    ]
    if sum(lines.values()) > MOST_LINES_IN_ALL:
        broken.append(f"more than {MOST_LINES_IN_ALL:,} lines in all")
    return broken


RULES: dict[str, Rule] = {
    rule.__name__: rule
    for rule in (
        upper_rooms_import_lower_ones,
        modules_have_no_cycle,
        late_imports_of_ours_are_few,
        help_loads_little,
        packages_stay_in_their_rooms,
        files_are_short,
    )
}


def _of_ours(sources: Sources) -> list[Import]:
    return [each for each in imports(sources) if each.of.split(".")[0] == OURS]


def _excepted(each: Import) -> bool:
    """Whether an import is one of the late imports that are allowed."""
    return each.late and (each.by, each.of) in LATE


def _once(broken: list[str]) -> list[str]:
    return list(dict.fromkeys(broken))


def _cycles(edges: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the groups of modules that all reach one another, each sorted."""

    def reached(start: str) -> frozenset[str]:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            fresh = edges[waiting.pop()] - seen
            seen |= fresh
            waiting += fresh
        return frozenset(seen)

    reach = {module: reached(module) for module in edges}
    groups = {
        tuple(sorted(other for other in reach[one] if one in reach[other]))
        for one in edges
        if one in reach[one]
    }
    return [list(group) for group in sorted(groups)]
