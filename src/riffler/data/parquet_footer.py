"""What a Parquet file declares about itself: rows, columns and unpacked bytes, from its footer alone.

The footer is Thrift's compact protocol: fields with a number and a type, numbers of variable length.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from riffler.errors import DataFileError

MARK = b"PAR1"
TAIL = 8  # length of the footer, then the mark
MOST_BYTES = 64 << 20
MOST_DEEP = 40
ROWS, ROW_GROUPS, COLUMNS, META, UNPACKED, PACKED = 3, 4, 1, 3, 6, 7
"""Numbers of the fields that are read: num_rows (of a file and of a group), row_groups, columns, meta_data and
total_uncompressed_size, total_compressed_size."""


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Sizes of a group of rows: how many there are, and their bytes, packed as in the file and unpacked."""

    n_rows: int
    n_packed: int
    n_unpacked: int


@dataclass(frozen=True, slots=True)
class Footer:
    """Sizes of a Parquet file."""

    n_rows: int
    n_columns: int
    groups: tuple[RowGroup, ...]

    @property
    def n_unpacked(self) -> int:
        """Unpacked bytes of all groups."""
        return sum(group.n_unpacked for group in self.groups)


def read_footer(path: Path) -> Footer:
    """Read the sizes that a file declares; an error where it has no whole footer."""
    data = _footer_bytes(path)
    try:
        fields = _Thrift(data).struct()
        groups = fields[ROW_GROUPS]
        n_columns = max((len(group[COLUMNS]) for group in groups), default=0)
        return Footer(max(0, fields[ROWS]), n_columns, tuple(_group(group) for group in groups))
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise DataFileError(f"{path}: the footer of the Parquet file is damaged. Copy or make it again.") from error


def _group(fields: dict[int, Any]) -> RowGroup:
    chunks = [chunk[META] for chunk in fields[COLUMNS]]
    packed, unpacked = (sum(max(0, chunk[size]) for chunk in chunks) for size in (PACKED, UNPACKED))
    return RowGroup(max(0, fields[ROWS]), packed, unpacked)


def _footer_bytes(path: Path) -> bytes:
    size = path.stat().st_size
    with path.open("rb") as stream:
        stream.seek(max(0, size - TAIL))
        tail = stream.read(TAIL)
        n_bytes = int.from_bytes(tail[:4], "little")
        if tail[4:] != MARK or n_bytes > min(size - TAIL, MOST_BYTES):
            raise DataFileError(f"{path}: not a whole Parquet file. Copy or make it again.")
        stream.seek(size - TAIL - n_bytes)
        return stream.read(n_bytes)


class _Thrift:
    """Reads values one after the other; anything that is cut short is an IndexError."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at, self._depth = data, 0, 0

    def struct(self) -> dict[int, Any]:
        self._depth += 1
        if self._depth > MOST_DEEP:
            raise ValueError("nested too deeply")
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._number()
            fields[number] = self._value(head & 15)
        self._depth -= 1
        return fields

    def _value(self, kind: int) -> Any:  # noqa: ANN401 - whatever the file holds
        if kind in (1, 2):  # true, false: the type is the value
            return kind == 1
        if kind == 3:
            return self._byte()
        if kind in (4, 5, 6):
            return self._number()
        if kind in (7, 8):  # a double, a text
            return self._bytes(8 if kind == 7 else self._unsigned())
        if kind in (9, 10):  # a list, a set
            return self._list()
        if kind == 12:
            return self.struct()
        raise ValueError(f"type {kind}")

    def _list(self) -> list[Any]:
        head = self._byte()
        n = head >> 4 if head >> 4 < 15 else self._unsigned()
        if n > len(self._data):
            raise ValueError("a list longer than the file")
        kind = head & 15
        return [self._byte() == 1 if kind in (1, 2) else self._value(kind) for _ in range(n)]

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _bytes(self, n: int) -> bytes:
        self._at += n
        if self._at > len(self._data):
            raise IndexError("cut short")
        return self._data[self._at - n : self._at]

    def _unsigned(self) -> int:
        number = shift = 0
        while True:
            byte = self._byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
            shift += 7
            if shift > 63:
                raise ValueError("a number of more than 64 bits")

    def _number(self) -> int:
        number = self._unsigned()
        return (number >> 1) ^ -(number & 1)
