"""What Spark need not do while its expressions are made, one call to the JVM after the other.

PySpark asks the JVM where a function is, twice, each time that one is called: for a release with
eight queries about a thousand times, which takes longer than to plan it.
"""

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

# Classes of the JVM, by the names under which versions of PySpark ask for them.
_CLASSES = (
    "functions",
    "org.apache.spark.sql.functions",
    "org.apache.spark.sql.classic.SparkSession",
    "PythonUtils",
)


@contextlib.contextmanager
def remembered(frame: Any) -> Iterator[None]:
    """Let the functions of a frame's session be found once; a session far away (Connect) has none.

    Its gateway is left as it was.
    """
    jvm = getattr(frame.sparkSession, "_jvm", None)
    known: dict[str, Any] = getattr(jvm, "__dict__", {})
    for name in _CLASSES:
        with contextlib.suppress(Exception):  # another version, or a session without a JVM
            found = getattr(jvm, name)
            known |= {name: _Remembered(found)} if type(found).__name__ == "JavaClass" else {}
    try:
        yield
    finally:
        for name in _CLASSES:
            known.pop(name, None)


@contextlib.contextmanager
def unwatched() -> Iterator[None]:
    """Let PySpark not note, for its error messages, on which line each expression is made.

    That takes longer than to make it, and nobody sees those messages. What is forgotten in the end
    PySpark looks up again in its settings, so threads need not wait for each other.
    """
    import pyspark.errors

    noted: Any = getattr(pyspark.errors, "utils", None)
    known = hasattr(noted, "_enable_debugging_cache")  # which there is since version 4
    if known:
        noted._enable_debugging_cache = False  # noqa: SLF001  # settings are read but once
    try:
        yield
    finally:
        if known:
            noted._enable_debugging_cache = None  # noqa: SLF001


class _Remembered:
    """The functions of a class in the JVM, each asked for once, and columns, each made once."""

    def __init__(self, functions: Any) -> None:
        self._functions = functions
        self._made: dict[tuple[str, str], Any] = {}

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._functions, name)
        vars(self)[name] = partial(self._once, name, found) if name in ("col", "lit") else found
        return vars(self)[name]

    def _once(self, name: str, make: Callable[[Any], Any], value: Any) -> Any:
        key = name, repr(value)  # 1, 1.0 and True are equal, and both zeros, but not the same
        if key not in self._made or type(value) not in (str, int, float, bool):
            self._made[key] = make(value)
        return self._made[key]
