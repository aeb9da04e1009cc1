"""Not scored: of how many groups of a run an assignor has no score, by reason."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from compare.runs.tables.chosen import chosen
from compare.unscored import unscored_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.runs.job import Job
    from compare.unscored import NotScored

COLUMNS = ("status", "reason", "terms")


def not_scored(job: Job, group_keys: Sequence[str]) -> tuple[NotScored, ...]:
    """Return why the assignors of a run have no score, what holds for most groups first."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for assignor in job.assignors[1:]:
        for rows in chosen(job.out, "scores", job.score_keys(group_keys, assignor), COLUMNS):
            without = rows.filter(pc.is_null(rows["terms"]))
            reasons = pc.coalesce(without["reason"], without["status"])
            told = pa.table({"status": without["status"], "reason": reasons})
            every = told.group_by(["status", "reason"]).aggregate([([], "count_all")])
            for one in every.to_pylist():
                counts[assignor, one["status"], one["reason"]] += one["count_all"]
    return unscored_rows(counts)
