"""Dataclasses as everywhere in Python, made five times faster.

``dataclasses`` compiles six functions for each class, which takes half a millisecond, and a release
needs some hundred classes before it reads its first line. Here the constructor alone is compiled,
when somebody first asks for it; the other five are the same for all classes. A test compares every
class of ours with what ``dataclasses`` makes of it.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import KW_ONLY, MISSING, FrozenInstanceError, asdict, field, fields, replace
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

__all__ = ["KW_ONLY", "asdict", "dataclass", "field", "fields", "replace"]
_COMPARED = "_compared"  # the property of a class: what its values are told apart by


def _made(cls: Any = None, /, **options: bool) -> Any:
    """Do what ``dataclasses.dataclass`` does, but for ``order`` and ``InitVar``."""
    if cls is None:
        return lambda named: _made(named, **options)
    own, frozen, built = {*vars(cls)}, options.pop("frozen", False), options.pop("init", True)
    shown, alike = options.pop("repr", True), options.pop("eq", True)
    plain = built and not frozen
    made = dataclasses.dataclass(cls, init=plain, repr=False, eq=False, **options)
    methods: dict[str, Any] = {"__repr__": _repr} if shown else {}
    if alike:
        compared = [each.name for each in fields(made) if each.compare]
        methods |= {"__eq__": _eq, "__hash__": _hash if frozen else None}
        methods |= {_COMPARED: _getter(compared)}
    if frozen:
        methods |= _FROZEN | (_STORED if options.get("slots") else {})
        methods |= {"__init__": _WhenAsked(made)} if built else {}
    for name, method in methods.items():
        if name not in own or (name == "__hash__" and vars(cls)[name] is None):
            setattr(made, name, method)
    return made


class _WhenAsked:
    """In the place of a constructor: whoever asks for it has it compiled, once."""

    def __init__(self, cls: Any) -> None:
        self.cls, self.name = cls, f"{cls.__qualname__}.__init__"

    def __get__(self, value: Any, cls: Any = None) -> Any:
        self.cls.__init__ = _constructor(self.cls, self.name)
        return self.cls.__init__.__get__(value, cls)


def _constructor(cls: Any, qualified: str) -> Callable[..., None]:
    """Compile a constructor that takes what the fields say and sets each of them."""
    each_field = fields(cls)
    known: dict[str, Any] = {"_set": object.__setattr__, "_missing": MISSING}
    placed, named, lines = ["self"], list[str](), list[str]()
    for each in each_field:
        name, default, make = each.name, each.default, each.default_factory
        known |= {f"_default_{name}": default, f"_make_{name}": make}
        value = name
        if make is not MISSING:
            value = f"_make_{name}() if {name} is _missing else {name}"
        if each.init:
            optional = "=_missing" if make is not MISSING else f"=_default_{name}"
            parameter = name + (optional if (default, make) != (MISSING, MISSING) else "")
            (named if each.kw_only else placed).append(parameter)
        elif make is not MISSING:
            value = f"_make_{name}()"
        elif default is not MISSING and "__slots__" in vars(cls):
            value = f"_default_{name}"
        else:
            continue  # set later, or the default of the class
        lines.append(f"_set(self, {name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    parameters = ", ".join([*placed, *(["*", *named] if named else [])])
    body = "\n ".join(lines or ["pass"])
    exec(f"def __init__({parameters}):\n {body}", known)  # noqa: S102  # names of fields alone
    init: Any = known["__init__"]
    init.__qualname__, init.__module__ = qualified, cls.__module__
    types = {each.name: each.type for each in each_field if each.init}
    init.__annotations__ = types | {"return": None}
    return init  # type: ignore[no-any-return]


def _getter(names: list[str]) -> property:
    """Return a property: the values of some fields, as a tuple."""
    if len(names) > 1:
        return property(attrgetter(*names))
    return property(lambda self: tuple(getattr(self, name) for name in names))


@recursive_repr()
def _repr(self: Any) -> str:
    shown = [each.name for each in fields(self) if each.repr]
    values = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
    return f"{type(self).__qualname__}({values})"


def _eq(self: Any, other: object) -> Any:
    if other.__class__ is self.__class__:
        return getattr(self, _COMPARED) == getattr(other, _COMPARED)
    return NotImplemented


def _hash(self: Any) -> int:
    return hash(getattr(self, _COMPARED))


def _set(self: Any, name: str, value: object) -> None:
    _refuse(self, name, "assign to")
    object.__setattr__(self, name, value)


def _delete(self: Any, name: str) -> None:
    _refuse(self, name, "delete")
    object.__delattr__(self, name)


def _refuse(self: Any, name: str, what: str) -> None:
    """Fields never change; an heir that is no dataclass may have attributes of its own."""
    if "__dataclass_fields__" in vars(type(self)) or name in self.__dataclass_fields__:
        raise FrozenInstanceError(f"cannot {what} field {name!r}")


def _stored(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in fields(self)]


def _restore(self: Any, values: list[Any]) -> None:
    for each, value in zip(fields(self), values, strict=True):
        object.__setattr__(self, each.name, value)


_FROZEN = {"__setattr__": _set, "__delattr__": _delete}
_STORED = {"__getstate__": _stored, "__setstate__": _restore}  # slots are set one by one

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    dataclass = _made
