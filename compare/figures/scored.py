"""Scored: scores of assignors on groups, from objects or from the table ``scores``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from compare.figures.rows import records
from compare.scores import STORED, Score, stored_score
from groups.errors import BadInput
from groups.group import Group

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from compare.figures.rows import Table

    Pairs: TypeAlias = Iterable[tuple[Group, Sequence[Score]]]
    Scored: TypeAlias = Pairs | Table

NEEDED = {"group", "n_partitions", *STORED}
EXPECTED = (
    "expected pairs of a group and its scores, [(group, score_assignors(group, solution, names)), "
    "...], or the table scores of fleet.tables"
)


def scores_of(table: str, scored: Scored) -> Iterator[tuple[str, int, int, Score]]:
    """Yield (group, members, partitions, score) of each assignor on each group.

    Parameters
    ----------
    table : name of the figure's table, for messages

    Raises
    ------
    BadInput
        If it is neither groups with their scores nor the table ``scores``.
    """
    is_table = hasattr(scored, "iterrows") or hasattr(scored, "to_pylist")
    if not is_table and not isinstance(scored, Iterable):
        raise BadInput(f"{table}: {type(scored).__name__}, {EXPECTED}")
    given: Iterable[Any] = records(table, cast("Table", scored)) if is_table else scored
    for one in given:
        match one:
            case (Group() as group, [*rows]) if all(isinstance(row, Score) for row in rows):
                members = len(group.members)
                yield from ((group.name, members, group.n_partitions, row) for row in rows)
            case Mapping() if one.keys() >= NEEDED:
                score = stored_score(one)
                yield one["group"], len(score.loads or ()), one["n_partitions"], score
            case Mapping():
                lacks = ", ".join(sorted(NEEDED - one.keys()))
                raise BadInput(f"{table}: no column {lacks}, {EXPECTED}")
            case _:
                raise BadInput(f"{table}: {type(one).__name__}, {EXPECTED}")
