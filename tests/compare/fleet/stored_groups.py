"""The groups that a run left in its tables."""

from compare.fleet.tables import read_table
from groups import Group
from groups.columnar.rows import of_row


def groups_of(runs) -> dict[str, Group]:
    """Groups by their keys."""
    rows = read_table(runs.out, "groups").to_dict("records")
    return {row["key"]: of_row(row) for row in rows}
