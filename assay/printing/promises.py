"""The table of a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.terminal import Column, show_table, tell
from compare.promises.hunted import not_again
from compare.promises.promised import is_promised
from groups.wording import ranges

if TYPE_CHECKING:
    from compare.promises.findings import Finding


def print_finding(finding: Finding) -> None:
    """Print a broken promise, what was measured, and the group."""
    group = finding.group
    measured = ", ".join(f"{key} {value}" for key, value in finding.measured.items())
    unpromised = "" if is_promised(finding.promise, finding.assignor) else ", not promised"
    tell(f"{finding.assignor} breaks {finding.promise}{unpromised}: {measured}")
    if finding.record is not None and finding.record.again is not None:
        tell(not_again(finding, finding.record.again))
    sizes = (f"{t} {n}" for t, n in zip(group.topics, group.partitions.tolist(), strict=True))
    tell(f"partitions of each topic: {', '.join(sizes) or '-'}")
    show_table(
        group.to_dict()["members"].items(),
        Column("member", lambda one: one[0]),
        Column("generation", lambda one: one[1].get("generation")),
        Column("reads", lambda one: list(one[1]["subscription"] or ())),
        Column("owns", lambda one: [f"{t}:{ranges(n)}" for t, n in one[1]["owned"].items()]),
    )
