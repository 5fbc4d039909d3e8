"""The footer of a Parquet file without what it says about some columns: then they are bare bytes.

DuckDB fails on a text that is no UTF-8 and on a moment in milliseconds that it cannot hold, and
neither a cast nor a setting tells it to take such a cell for missing. Bytes and whole numbers it
takes as they are. The footer is written in Thrift's compact protocol.
"""

from collections.abc import Collection, Iterator

_SCHEMA, _MEANS = 2, (6, 10)  # the list of columns; what one means, as it was and is written
_BINARY, _LISTS, _MAP, _STRUCT = 8, (9, 10), 11, 12
_WIDTHS = {1: 0, 2: 0, 3: 1, 7: 8, 13: 16}  # of types of a fixed width; 1 and 2 are yes and no
Field = tuple[int, int, int, int]  # its number, its type, where its value begins and ends


def bare(footer: bytes, columns: Collection[int]) -> bytes:
    """Return the footer in which some columns, by their place in the schema, mean nothing."""
    for number, _, start, end in _fields(footer, 0):
        if number == _SCHEMA:
            count, kind, place = _list_header(footer, start)
            parts = [footer[:place]]
            for i in range(count):
                stop = _skip(footer, place, kind)
                parts.append(_without(footer, place) if i in columns else footer[place:stop])
                place = stop
            return b"".join([*parts, footer[end:]])
    return footer


def _without(data: bytes, start: int) -> bytes:
    """Return a struct without what it means."""
    written, last = b"", 0
    for number, kind, begin, end in _fields(data, start):
        if number not in _MEANS:
            written += bytes([(number - last) << 4 | kind]) + data[begin:end]
            last = number
    return written + b"\0"


def _fields(data: bytes, place: int) -> Iterator[Field]:
    number = 0
    while data[place]:
        kind, step = data[place] & 15, data[place] >> 4
        place += 1
        if not step:
            coded, place = _varint(data, place)
            number = (coded >> 1) ^ -(coded & 1)
        number += step
        end = _skip(data, place, kind)
        yield number, kind, place, end
        place = end


def _skip(data: bytes, place: int, kind: int) -> int:
    """Return where a value ends."""
    if kind in _WIDTHS:
        return place + _WIDTHS[kind]
    if kind == _STRUCT:
        for _, _, _, end in _fields(data, place):
            place = end
        return place + 1
    if kind in _LISTS:
        count, inner, place = _list_header(data, place)
        return _skip_all(data, place, [inner] * count)
    amount, place = _varint(data, place)
    if kind == _MAP and amount:
        return _skip_all(data, place + 1, [data[place] >> 4, data[place] & 15] * amount)
    return place + amount if kind == _BINARY else place


def _skip_all(data: bytes, place: int, kinds: Collection[int]) -> int:
    for kind in kinds:
        place = place + 1 if kind in (1, 2) else _skip(data, place, kind)
    return place


def _list_header(data: bytes, place: int) -> tuple[int, int, int]:
    count, kind = data[place] >> 4, data[place] & 15
    place += 1
    if count == 15:
        count, place = _varint(data, place)
    return count, kind, place


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[place] & 127) << shift
        place, shift = place + 1, shift + 7
        if data[place - 1] < 128:
            return value, place
