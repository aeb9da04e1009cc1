"""Decoded snapshots: many JSON texts as rows of the layout."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from groups.columnar.layout import BadRow
from groups.columnar.rows import batch_of
from groups.documents.assay_group import Document, of_mapping, of_text
from groups.documents.snapshot import names_in
from groups.errors import BadInput
from groups.group import Group

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa

# Of all groups of a batch; one group may have more.
PARTITIONS_AT_ONCE = 4_000_000
Content = str | bytes | Mapping[str, Any] | Document


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
    groups: list[Group] = []
    failures: list[BadRow] = []
    end = partitions = 0
    for index, content in enumerate(contents):
        end = index + 1
        try:
            group = _group(content, reset, assume_equal)
        except BadInput as error:
            failures.append(BadRow(index, str(error), *names_in(content)))
            continue
        if groups and partitions + group.n_partitions > PARTITIONS_AT_ONCE:
            yield Decoded(batch_of(groups), failures, index)
            groups, failures, partitions = [], [], 0
        groups.append(group)
        partitions += group.n_partitions
    if end:
        yield Decoded(batch_of(groups), failures, end)


def _group(content: Content, reset: str | None, assume_equal: bool) -> Group:
    if isinstance(content, (str, bytes)):
        content = of_text(content)
    elif not isinstance(content, Document):
        content = of_mapping(content)
    group = Group.of_document(content).with_reset(reset)
    return group.with_equal_subscriptions() if assume_equal else group
