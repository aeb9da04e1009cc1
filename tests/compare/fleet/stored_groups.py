"""The groups in the tables of a run."""

import pyarrow as pa

from compare.fleet.tables import read_table
from groups import Group
from groups.table.batch import each_of
from groups.table.layout import LAYOUT


def groups_of(runs) -> dict[str, Group]:
    """Return the groups of a run by key."""
    rows = read_table(runs.out, "groups")
    batch = pa.RecordBatch.from_pandas(rows[LAYOUT.names], LAYOUT)
    return dict(zip(rows["key"], each_of(batch), strict=True))
