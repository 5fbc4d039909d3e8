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
    frame = plain_text(data if [*names] == [*names.values()] else data.toDF(*names.values()))
    source = Source.over(frame, text, names)
    files = FixedFiles.below(data)

    def settle(columns: Collection[str], *, again: bool) -> nw.LazyFrame[Any]:
        if not again or files is not None:
            return source.frame
        own = frame.select(*(names[column] for column in columns))
        # A block that is lost is never computed anew, which might differ: all is read again.
        kept: nw.LazyFrame[Any] = nw.from_native(own.localCheckpoint(eager=True)).lazy()
        return kept

    unchanged = source.unchanged if files is None else files.check
    return replace(source, settle=settle, unchanged=unchanged, mend=_again)


def _again(error: Exception) -> Callable[[], None] | None:
    """Return what there is to do before all is read again, nothing, if a snapshot was lost."""
    return (lambda: None) if any(words in str(error) for words in _LOST) else None


def as_stored(name: str) -> str:
    """Return the name, which no column can have, of a text of which nobody asked if it is one."""
    return f"{name} as stored"


def plain_text(frame: Any, among: Sequence[str] | None = None) -> Any:
    """Return a frame whose text is compared letter by letter; bytes that are no text are missing.

    Spark shows all such bytes alike, and lets columns say that different texts are equal. To ask
    each text takes long: all columns, unless some are named, are also there ``as_stored``.
    """
    from pyspark.sql import types

    f = functions_of(frame)
    plain: dict[str, Any] = {}
    for field in frame.schema.fields:
        if among is not None and field.name not in among:
            continue
        if isinstance(field.dataType, types.NullType):
            plain[field.name] = f.col(field.name).cast("string")
        elif isinstance(field.dataType, types.StringType | types.CharType | types.VarcharType):
            text = f.col(field.name)
            if field.dataType.simpleString() != "string":  # which are compared in other ways
                text = text.cast("string")
                text = f.collate(text, "UTF8_BINARY") if hasattr(f, "collate") else text
            plain[field.name] = _valid(f, text)
            plain |= {as_stored(field.name): text} if among is None else {}
    return frame.withColumns(plain) if plain else frame


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
