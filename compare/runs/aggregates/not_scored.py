"""Not scored: of how many groups of a run an assignor has no score, by reason."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from compare.runs.found import NotScored
from compare.runs.tables.chosen import chosen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.runs.job import Job

COLUMNS = ("status", "reason", "terms")


def not_scored(job: Job, group_keys: Sequence[str]) -> tuple[NotScored, ...]:
    """Return why the assignors of a run have no score, what holds for most groups first."""
    counts: Counter[tuple[str, str]] = Counter()
    for assignor in job.assignors[1:]:
        for rows in chosen(job.out, "scores", job.score_keys(group_keys, assignor), COLUMNS):
            without = rows.filter(pc.is_null(rows["terms"]))
            reasons = pc.coalesce(without["reason"], without["status"])
            for one in pc.value_counts(reasons.combine_chunks()).to_pylist():
                counts[assignor, one["values"]] += one["counts"]
    alike: dict[tuple[int, str], list[str]] = {}
    for (assignor, reason), groups in counts.items():
        alike.setdefault((groups, reason), []).append(assignor)
    found = [NotScored(tuple(names), *one) for one, names in alike.items()]
    return tuple(sorted(found, key=lambda one: (-one.groups, one.assignors, one.reason)))
