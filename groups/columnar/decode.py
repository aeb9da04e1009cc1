"""Decoded snapshots: many JSON texts as rows of the layout."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from groups.columnar.layout import BadRow
from groups.columnar.rows import rows_of
from groups.documents.assay_group import Document, Member, of_mapping, of_text, told
from groups.documents.side_by_side import Snapshots
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

    A row is that of the group which :meth:`Group.from_json` returns, where a rebalance is under
    way with :meth:`Group.with_target`, and a reason is what it raises. `BadRow.row` counts all
    contents; the rows are those of the others, in their order.
    They come in batches that fit the memory: a short text may hold many partitions.

    Parameters
    ----------
    contents : JSON each, or documents; bytes are UTF-8
    reset : see :meth:`Group.with_reset`
    assume_equal : take unknown subscriptions as all topics of the group
    """
    found, failures = Snapshots(), list[BadRow]()
    end = partitions = 0
    for index, content in enumerate(contents):
        end = index + 1
        try:
            document = _document(content, reset, assume_equal)
            more = sum(
                topic if isinstance(topic, int) else topic.partitions
                for topic in document.topics.values()
            )
            if found and partitions + more > PARTITIONS_AT_ONCE:
                yield Decoded(rows_of(found), failures, index)
                found, failures, partitions = Snapshots(), [], 0
            found.add(document)
            partitions += more
        except BadInput as error:
            failures.append(BadRow(index, str(error), *names_in(content)))
    if end:
        yield Decoded(rows_of(found), failures, end)


def _on_the_way(member: Member) -> bool:
    """Return whether a member has a target that is not what it holds."""
    target, owned = told(member.target), told(member.owned) or {}
    return target is not None and target != owned


def _document(content: Content, reset: str | None, assume_equal: bool) -> Document:
    if isinstance(content, (str, bytes)):
        content = of_text(content)
    elif not isinstance(content, Document):
        content = of_mapping(content)
    members = content.members.values()
    unknown = any(told(one.subscription) is None for one in members)
    lacks_reset = reset and told(content.auto_offset_reset) is None
    if (assume_equal and unknown) or lacks_reset or any(map(_on_the_way, members)):
        group = Group.of_document(content).with_target().with_reset(reset)
        content = (group.with_equal_subscriptions() if assume_equal else group).document()
    return content
