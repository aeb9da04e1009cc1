"""Run for people: what a run has found, its worst groups and what it could not read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.printing.over_groups import print_unscored
from assay.printing.overview import in_words, print_lines, print_notes
from assay.printing.terminal import tell
from assay.streams import show
from compare.fleet.summaries import MOST_LINES
from groups.wording import counted

if TYPE_CHECKING:
    from compare.fleet.results import RunCounts
    from groups.tiers import Objective

FORMAT = "assay-run/1"
MOST_UNREAD = 10


def print_run(counts: RunCounts, tiers: Objective) -> None:
    """Print a sentence about the groups of a run, its worst groups and how much it came to."""
    found = counts.found
    many, names = found.not_judged
    tell(found.overview.sentence())
    if said := found.overview.counts():
        tell(f"{said}{f', {many:,} not judged' if many else ''}.")
    for said in found.overview.history():
        tell(said)
    if counts.failures:
        tell(f"Not read: {counted(counts.failures, 'input')}, see the messages.")
    show("")
    shown = found.overview.worst[:MOST_LINES]
    if shown or names:
        several = found.overview.now > found.overview.groups
        missed = dict.fromkeys(names[: max(0, MOST_LINES - len(shown))], "not judged")
        print_lines(shown, missed, several=several)
        left = found.overview.now + many - len(shown) - min(many, max(0, MOST_LINES - len(shown)))
        if left > 0:
            what = "no worse than the last line" if shown else "not judged"
            show(f"and {counted(left, 'group')} more, {what}")
        print_notes(found.overview)
        print_unscored(found.not_scored)
        show(f"{in_words(tiers)}; every group on a page: assay report {counts.out}")
    show(counts.line())


def not_read(counts: RunCounts) -> list[str]:
    """Return a line for each of the first inputs that were not read, and how many are left."""
    many, first = counts.found.unread
    lines = [
        f"{one.place}: {f'group {one.group}: ' if one.group else ''}{one.reason}"
        for one in first[:MOST_UNREAD]
    ]
    more = many - len(lines)
    return lines + [f"and {more:,} more; the table failures has all"] * (more > 0)


def run_document(counts: RunCounts, tiers: Objective, source: str) -> dict[str, object]:
    """Return the ``assay-run/1`` document."""
    found = counts.found
    return {
        "format": FORMAT,
        "input": source,
        "out": str(counts.out),
        "objective": list(tiers),
        "captured": counts.captured,
        "groups": found.groups,
        "proved": counts.solved,
        "new": counts.new,
        "failed": counts.failures,
        "not_judged": found.not_judged[0],
        "verdicts": dict(sorted(found.overview.says.items())),
        "seconds": round(counts.seconds, 3),
        "worst": [
            {
                "group": one.name,
                "captured_at": one.captured_at,
                "members": one.members,
                "partitions": one.partitions,
                "loads": one.now,
                "best_loads": one.best,
                "moves": one.moves,
                "verdict": one.verdict.to_dict(),
                "question": one.verdict.question,
            }
            for one in found.overview.worst[:MOST_LINES]
        ],
        "changes": [one._asdict() for one in found.overview.changes[:MOST_LINES]],
        "not_scored": [
            {**one._asdict(), "assignors": list(one.assignors)}
            for one in found.not_scored[:MOST_LINES]
        ],
        "failures": [
            {"name": one.group or one.place, "place": one.place, "reason": one.reason}
            for one in found.unread[1]
        ],
    }
