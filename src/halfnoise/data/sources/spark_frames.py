"""Frames of Spark: text is valid and compared letter by letter, and a snapshot stays what it is."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import narwhals.stable.v2 as nw

from halfnoise.data.sources.source import Source, TextFormat, spelled
from halfnoise.data.sources.spark_calls import remembered, unwatched
from halfnoise.data.sources.spark_plans import FixedFiles
from halfnoise.errors import InvalidParameterError

# What Spark says where a block of a snapshot is gone with its worker, now and before version 4.
_LOST = ("CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND", "Checkpoint block")


def spark_source(data: Any, text: TextFormat, stack: ExitStack) -> Source:
    """Return a frame as a table, with names that Spark can spell."""
    stack.enter_context(unwatched())
    stack.enter_context(remembered(data))
    if data.isStreaming:
        said = "a stream of Spark has no end, so nothing can be released of it"
        raise InvalidParameterError(f"{said}; release a table that it was written to")
    names = spelled(list(data.columns))
    own = data if [*names] == [*names.values()] else data.toDF(*names.values())
    nothing = [field.name for field in own.schema.fields if field.dataType.typeName() == "void"]
    own = plain_text(own, nothing) if nothing else own
    source = Source.over(own, text, names)
    files = FixedFiles.below(data)

    def narrow(columns: Sequence[str]) -> Source:
        return Source.over(_asked(own, [names[column] for column in columns]), text)

    def settle(columns: Collection[str], *, again: bool) -> nw.LazyFrame[Any]:
        if not again or files is not None:
            return source.frame
        inside = [names[column] for column in columns]
        # A block that is lost is never computed anew, which might differ: all is read again.
        kept = own.select(*inside).localCheckpoint(eager=True)
        found: nw.LazyFrame[Any] = nw.from_native(_asked(kept, inside)).lazy()
        return found

    unchanged = source.unchanged if files is None else files.check
    return replace(source, narrow=narrow, settle=settle, unchanged=unchanged, mend=_again)


def _again(error: Exception) -> Callable[[], None] | None:
    """Return what there is to do before all is read again, nothing, if a snapshot was lost."""
    return (lambda: None) if any(words in str(error) for words in _LOST) else None


def as_stored(name: str) -> str:
    """Return the name, which no column can have, of a text of which nobody asked if it is one."""
    return f"{name} as stored"


def _asked(frame: Any, columns: Sequence[str]) -> Any:
    """Return some columns, text as ``plain_text`` makes it and, to ask less of it, as stored."""
    f, types = functions_of(frame), {field.name: field.dataType for field in frame.schema.fields}
    found = dict[str, Any]()
    for name in columns:
        text = _letters(f, name, types[name])
        found[name] = f.col(name) if text is None else _valid(f, text)
        found |= {} if text is None else {as_stored(name): text}
    return frame.select(*(column.alias(name) for name, column in found.items()))


def plain_text(frame: Any, among: Sequence[str]) -> Any:
    """Return a frame whose text is compared letter by letter; bytes that are no text are missing.

    Spark shows all such bytes alike, and lets columns say that different texts are equal.
    """
    f, fields = functions_of(frame), (field for field in frame.schema.fields if field.name in among)
    texts = {field.name: _letters(f, field.name, field.dataType) for field in fields}
    plain = {name: _valid(f, text) for name, text in texts.items() if text is not None}
    return frame.withColumns(plain) if plain else frame


def _letters(f: Any, name: str, dtype: Any) -> Any:
    """Return a column of text, or of nothing at all, as it is stored; None if it is another one."""
    from pyspark.sql import types

    own = f.col(name)
    if isinstance(dtype, types.NullType):
        return own.cast("string")
    if not isinstance(dtype, types.StringType | types.CharType | types.VarcharType):
        return None
    if dtype.simpleString() == "string":
        return own
    text = own.cast("string")  # of letters that are compared in another way
    return f.collate(text, "UTF8_BINARY") if hasattr(f, "collate") else text


def as_text(frame: Any, stored: Mapping[str, str]) -> Any:
    """Return a frame with columns of text, each of one ``as_stored``."""
    f = functions_of(frame)
    return frame.withColumns({name: _valid(f, f.col(column)) for name, column in stored.items()})


def functions_of(frame: Any) -> Any:
    """Return Spark's functions for a frame: of a session here, or of one far away (Connect)."""
    if _is_far(frame):
        from pyspark.sql.connect import functions as far

        return far
    from pyspark.sql import functions

    return functions


def window_of(frame: Any) -> Any:
    """Return how rows that belong together are told, for the same frame."""
    if _is_far(frame):
        from pyspark.sql.connect.window import Window as Far

        return Far
    from pyspark.sql import Window

    return Window


def _is_far(frame: Any) -> bool:
    return type(frame).__module__.startswith("pyspark.sql.connect.")


def _valid(f: Any, text: Any) -> Any:
    if hasattr(f, "try_validate_utf8"):
        return f.try_validate_utf8(text)
    stored = text.cast("binary")  # before version 4 there are no collations
    return f.when(f.encode(f.decode(stored, "UTF-8"), "UTF-8") == stored, text)
