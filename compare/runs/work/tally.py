"""Tally: what tasks say of their work: counts, and where the seconds went."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from compare.runs.work.clock import Clock

SCHEMA = pa.schema([("name", pa.string()), ("key", pa.string()), ("value", pa.float64())])
SECONDS = "seconds "
KEY, FAILURE = "key", "failure"


@dataclass
class Tally(Clock):
    """Counts by name and seconds by stage.

    Attributes
    ----------
    keys, failures : of the rows in ``groups`` and ``failures`` that the input came to
    """

    counts: Counter[str] = field(default_factory=Counter)
    keys: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def rows(self) -> pa.RecordBatch:
        """Return it as rows that Spark can bring back."""
        names = [*self.counts, *(SECONDS + stage for stage in self.seconds)]
        values = [*map(float, self.counts.values()), *self.seconds.values()]
        kinds = [KEY] * len(self.keys) + [FAILURE] * len(self.failures)
        keys = [*self.keys, *self.failures]
        return pa.RecordBatch.from_arrays(
            [
                pa.array(names + kinds, pa.string()),
                pa.array([None] * len(names) + keys, pa.string()),
                pa.array(values + [0.0] * len(keys), pa.float64()),
            ],
            schema=SCHEMA,
        )

    def take(self, rows: pa.Table) -> None:
        """Add what :meth:`rows` returned, of any number of tasks."""
        without = rows.filter(pc.is_null(rows["key"]))
        for name, value in zip(*(without[c].to_pylist() for c in ("name", "value")), strict=True):
            if name.startswith(SECONDS):
                self.seconds[name.removeprefix(SECONDS)] += value
            else:
                self.counts[name] += int(value)
        for kind, keys in ((KEY, self.keys), (FAILURE, self.failures)):
            found = rows.filter(pc.equal(rows["name"], kind))["key"]
            keys += pc.unique(found).to_pylist()
