"""Our dataclasses are what ``dataclasses`` would have made of them, class by class."""

import copy
import dataclasses
import importlib
import inspect
import pickle
import pkgutil
from collections.abc import Iterator
from typing import Any

import pytest

import halfnoise
from halfnoise.values import dataclass


def classes() -> Iterator[Any]:
    """Find every dataclass of the library."""
    for module in pkgutil.walk_packages(halfnoise.__path__, "halfnoise."):
        if module.name.endswith("__main__"):
            continue
        for found in vars(importlib.import_module(module.name)).values():
            own = isinstance(found, type) and found.__module__ == module.name
            if own and "__dataclass_fields__" in vars(found):
                yield found


OURS = sorted(set(classes()), key=lambda each: (each.__module__, each.__qualname__))
# Those without a constructor of their own.
BUILT = [each for each in OURS if each.__init__.__code__.co_filename == "<string>"]


def twin(made: Any) -> Any:
    """Return a class with the same fields, made by ``dataclasses``."""
    told = [(each.name, each.type, _anew(each)) for each in dataclasses.fields(made)]
    after = {"__post_init__": lambda _: None} if hasattr(made, "__post_init__") else {}
    return dataclasses.make_dataclass(made.__name__, told, namespace=after, frozen=True)


def _anew(each: Any) -> Any:
    names = ("default", "default_factory", "init", "repr", "compare", "kw_only")
    return dataclasses.field(**{name: getattr(each, name) for name in names})


def test_there_are_many() -> None:
    """The search finds them."""
    assert len(BUILT) > 150


@pytest.mark.parametrize("made", BUILT, ids=lambda made: f"{made.__module__}.{made.__qualname__}")
def test_constructors_take_the_same(made: Any) -> None:
    """Names, order, defaults and kinds of the parameters are those of the standard library's."""
    other = twin(made)
    own, told = (inspect.signature(each.__init__).parameters for each in (made, other))
    assert [*own] == [*told]
    for name, parameter in own.items():
        assert parameter.kind == told[name].kind
        assert (parameter.default is inspect.Parameter.empty) == (
            told[name].default is inspect.Parameter.empty
        )
    assert made.__match_args__ == other.__match_args__


def made_by(maker: Any, name: str) -> Any:
    """Return a class with fields of all kinds, as one of the two decorators makes it."""

    @maker(frozen=True, slots=True)
    class Fields:
        x: int
        y: int = 2
        note: str = dataclasses.field(default="", compare=False)
        hidden: list[int] = dataclasses.field(default_factory=list, repr=False)
        late: int = dataclasses.field(default=7, init=False)
        unset: int = dataclasses.field(init=False, repr=False, compare=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "unset", self.x + 1)

    Fields.__name__ = Fields.__qualname__ = name  # by which pickle finds it
    return Fields


Point, Standard = made_by(dataclass, "Point"), made_by(dataclasses.dataclass, "Standard")


@dataclass(frozen=True, slots=True)
class Further(Point):  # type: ignore[misc,valid-type]
    """A place with one more."""

    z: int = 0


@dataclass(frozen=True, kw_only=True)
class Open:
    """One with room for what is worked out later."""

    x: int


class Heir(Open):
    """One with an attribute of its own."""


def told(made: Any) -> list[Any]:
    """Return all that can be seen of a class with those fields."""
    one = made(1)
    found: list[Any] = [one == made(1, 2, "else"), one == made(2), one != made(1), one == 1]
    found += [repr(one).partition("(")[2], repr(made(1, 3, "a", [4])).partition("(")[2]]
    found += [dataclasses.asdict(one), dataclasses.astuple(made(5))]
    found += [repr(dataclasses.replace(one, y=9)).partition("(")[2], one.unset]
    for work in (
        lambda: setattr(one, "x", 2),
        lambda: delattr(one, "x"),
        made,
        lambda: made(1, 2, 3, 4, 5),
        lambda: made(1, late=2),
        lambda: hash(one),
    ):
        with pytest.raises((AttributeError, TypeError)) as refused:
            work()
        said = str(refused.value).replace("Standard", "Point")
        found.append((refused.type, said))
    found += [copy.deepcopy(one) == one, copy.copy(one).hidden is one.hidden]
    found.append(pickle.loads(pickle.dumps(one)) == one)
    return found


def test_values_behave_the_same() -> None:
    """Comparing, showing, changing, copying and wrong calls are as everywhere."""
    assert told(Point) == told(Standard)


def test_hashes() -> None:
    """Equal ones are the same key, also where one field or none tells them apart."""

    @dataclass(frozen=True)
    class Nothing:
        pass

    assert hash(Open(x=1)) == hash(Open(x=1)) == hash((1,))
    assert {Open(x=1), Open(x=1), Open(x=2)} == {Open(x=1), Open(x=2)}
    assert Nothing() == Nothing()
    assert hash(Nothing()) == hash(())


def test_heirs() -> None:
    """Nothing is added to a value; fields come from above; an heir may have more."""
    for made in (Point(1), Open(x=1)):
        with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'new'"):
            made.new = 1  # type: ignore[union-attr]
    assert repr(Further(1, z=3)) == "Further(x=1, y=2, note='', late=7, z=3)"
    assert Further(1) != Point(1)
    assert Heir(x=1) != Open(x=1)
    heir: Any = Heir(x=1)
    heir.own = 5
    assert heir.own == 5
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'x'"):
        heir.x = 2
    del heir.own


def test_a_changeable_one_has_no_hash() -> None:
    """What may change is compared, and is no key."""

    @dataclass(slots=True)
    class Counter:
        n: int = 0

    one = Counter()
    one.n += 1
    assert one == Counter(1)
    assert repr(one).endswith("Counter(n=1)")
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)
