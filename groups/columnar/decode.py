"""Decoded snapshots: many JSON texts as rows of the layout, mostly without a group for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from groups.arrays import UNKNOWN
from groups.columnar.layout import LAYOUT, BadRow
from groups.columnar.rest import written
from groups.columnar.rows import row_of
from groups.columns.offsets import reset_noted
from groups.documents.json_files import parse_json
from groups.documents.snapshot import names_in
from groups.errors import BadInput
from groups.group import Group
from groups.plain.columns import snapshot_of
from groups.plain.lists import Plain, plain
from groups.plain.typed import of_mapping, typed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy.typing as npt

# Of all groups of a batch; one group may have more.
PARTITIONS_AT_ONCE = 4_000_000
_OWNER = LAYOUT.get_field_index("owner")
Content = str | bytes | Mapping[str, Any]


class Decoded(NamedTuple):
    """Rows of some contents, why the others are none, and how many there were up to here."""

    rows: pa.RecordBatch
    failures: list[BadRow]
    end: int


def decode(
    contents: Iterable[Content],
    *,
    reset: str | None = None,
    assume_equal: bool = False,
) -> Iterator[Decoded]:
    """Yield the rows of the snapshots that are good, and why the others are not.

    A row is that of the group which :meth:`Group.from_json` returns, and a reason is what it
    raises. `BadRow.row` counts all contents; the rows are those of the others, in their order.
    They come in batches that fit the memory: a short text may hold many partitions.

    Parameters
    ----------
    contents : JSON each, or documents; bytes are UTF-8
    reset : see :meth:`Group.with_reset`
    assume_equal : take unknown subscriptions as all topics of the group
    """
    columns, failures = _columns(), []
    end = 0
    for index, content in enumerate(contents):
        end = index + 1
        try:
            row = _row(content, reset, assume_equal)
        except BadInput as error:
            failures.append(BadRow(index, str(error), *names_in(content)))
            continue
        owner = columns[_OWNER]
        if owner.end and owner.end + len(row[_OWNER]) > PARTITIONS_AT_ONCE:
            yield Decoded(_batch(columns), failures, index)
            columns, failures = _columns(), []
        for column, value in zip(columns, row, strict=True):
            column.add(value)
    if end:
        yield Decoded(_batch(columns), failures, end)


def _columns() -> list[Any]:
    return [_Texts() if field.type == pa.string() else _Lists(field.type) for field in LAYOUT]


def _batch(columns: list[Any]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([column.array() for column in columns], schema=LAYOUT)


class _Texts:
    """A column of texts that grows."""

    def __init__(self) -> None:
        self.values: list[str | None] = []
        self.add = self.values.append

    def array(self) -> pa.Array:
        return pa.array(self.values, pa.string())


class _Lists:
    """A column of lists that grows.

    The values of many rows stand in one list: many small ones keep the garbage collector busy.
    """

    def __init__(self, kind: pa.ListType) -> None:
        self.kind = kind
        self.values: list[Any] = []
        self.before: list[pa.Array] = []
        self.end = 0
        self.ends: list[int | None] = [0]

    def add(self, row: Sequence[Any] | npt.NDArray[Any] | None) -> None:
        if row is None:
            # Null where it begins says that there is no list.
            self.ends[-1] = None
        elif isinstance(row, np.ndarray):
            self.before += [pa.array(self.values, self.kind.value_type), pa.array(row)]
            self.values = []
        else:
            self.values += row
        self.end += 0 if row is None else len(row)
        self.ends.append(self.end)

    def array(self) -> pa.Array:
        values = pa.array(self.values, self.kind.value_type)
        if self.before:
            kind = self.kind.value_type
            values = pa.concat_arrays([*(one.cast(kind) for one in self.before), values])
        return pa.ListArray.from_arrays(pa.array(self.ends, pa.int32()), values, self.kind)


def _row(content: Content, reset: str | None, assume_equal: bool) -> tuple[Any, ...]:
    short = plain(of_mapping(content) if isinstance(content, Mapping) else typed(content))
    if short is None:
        group = _the_long_way(content)
    elif (reset and not short.reset and short.logs) or (assume_equal and short.known):
        group = Group.of_valid(snapshot_of(short))
    else:
        if reset and not short.reset:
            short = short._replace(reset=reset, assumed=reset_noted(short.assumed, 0))
        return _row_of_lists(short)
    group = group.with_reset(reset)
    if assume_equal:
        group = group.with_equal_subscriptions()
    return tuple(row_of(group).values())


def _the_long_way(content: Content) -> Group:
    if isinstance(content, bytes):
        try:
            content = content.decode()
        except UnicodeDecodeError as error:
            raise BadInput(f"byte {error.start}: not UTF-8 text") from None
    return Group.from_dict(parse_json(content) if isinstance(content, str) else content)


def _row_of_lists(found: Plain) -> tuple[Any, ...]:
    """Return the row of a plain snapshot, as :func:`groups.columnar.rows.row_of` has it."""
    return (
        found.name,
        found.captured_at,
        found.reset,
        found.assumed,
        found.topics,
        found.partitions,
        found.members,
        found.indptr,
        found.listed,
        found.row,
        found.known,
        found.owner,
        found.generation,
        _known(found.lag),
        _known(found.weight),
        _rest(found),
    )


def _known(values: list[int] | None) -> list[int] | None:
    return None if values is None or max(values, default=UNKNOWN) == UNKNOWN else values


def _rest(found: Plain) -> str | None:
    if found.logs is None and found.details is None:
        return None
    topics = {
        name: {
            "offsets": [
                {
                    "beginning": None if beginning < 0 else beginning,
                    "end": None if end < 0 else end,
                    "committed": None if committed < 0 else committed,
                }
                for beginning, end, committed in zip(*log, strict=True)
            ]
        }
        for name, log in zip(found.topics, found.logs or (), strict=False)
        if log is not None
    }
    members = {
        name: {key: value for key, value in vars(details).items() if value is not None}
        for name, details in zip(found.members, found.details or (), strict=False)
    }
    return written(topics, {name: said for name, said in members.items() if said})
