"""What the rule that ends costs: `sticky-that-ends` beside a class that people run.

``python -m studies.loops.beside`` writes ``docs/findings/why.csv`` anew: of drawn groups, how many
either answers, and where both do, whose balance is better and who moves fewer partitions.
"""

from __future__ import annotations

from argparse import ArgumentParser
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from compare.promises.trial import in_process, runner_of
from compare.samples.drawn import drawn
from compare.samples.ordinary import ordinary
from groups import values
from heuristics.time_limit import TimeLimit
from heuristics.written.sticky_that_ends import reads_alike
from studies.page import table, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from compare.promises.trial import Runner
    from groups import Group
    from studies.page import Cell

ENDS, THEIRS = "sticky-that-ends", "kafka-java/sticky@4.4.0"
DRAWN: Mapping[str, Callable[[int], Iterator[Group]]] = {
    "ordinary joins": ordinary,
    "any claims": drawn,
}
READS = ("differ", "are equal")
COUNTS = (
    "groups", "no_plan", "invalid", "better_balance", "worse_balance", "fewer_moves",
    "more_moves", "their_moves", "our_moves",
)  # fmt: skip


def counted(groups: Iterable[Group], theirs: Runner) -> dict[str, dict[str, int]]:
    """Return the counts by whether subscriptions differ; moves are of groups of equal balance."""
    ours = in_process(ENDS)
    found = {reads: dict.fromkeys(COUNTS, 0) for reads in READS}
    for group in groups:
        tally = found[READS[reads_alike(group)]]
        tally["groups"] += 1
        plan, mine = theirs(group).plan, ours(group).plan
        assert mine is not None
        if plan is None or not plan.assignment.is_valid:
            tally["no_plan" if plan is None else "invalid"] += 1
            continue
        (balance, moves), (our_balance, our_moves) = (
            values(one.assignment, ("balance", "stickiness")) for one in (plan, mine)
        )
        if our_balance != balance:
            tally["better_balance" if our_balance < balance else "worse_balance"] += 1
            continue
        tally["their_moves"] += moves
        tally["our_moves"] += our_moves
        if our_moves != moves:
            tally["fewer_moves" if our_moves < moves else "more_moves"] += 1
    return found


def table_of(records: Iterable[Mapping[str, str]]) -> str:
    """Return the counts as a table."""
    head = ["groups", "subscriptions", "tried", "Kafka gives no plan", "or no valid one"]
    head += ["better balance", "worse balance", "fewer moves", "more moves", "moves, and Kafka's"]
    rows = []
    for one in records:
        *cells, theirs, ours = (f"{int(one[name]):,}" for name in COUNTS)
        rows.append([one["drawn"], one["subscriptions"], *cells, f"{ours}, {theirs}"])
    return table(head, rows)


def main() -> None:
    """Count."""
    parser = ArgumentParser(description="hold the rule that ends against a class that people run")
    parser.add_argument("--out", type=Path, default=Path("docs/findings/why.csv"))
    parser.add_argument("--groups", type=int, default=4000, help="of each way of drawing")
    parser.add_argument("--seed", type=int, default=11)
    asked = parser.parse_args()
    records: list[dict[str, Cell]] = []
    with TimeLimit(3.0) as limit:
        theirs = runner_of(THEIRS, limit)
        for name, draw in DRAWN.items():
            for reads, tally in counted(islice(draw(asked.seed), asked.groups), theirs).items():
                records.append({"drawn": name, "subscriptions": reads, **tally})
    write(asked.out, records)


if __name__ == "__main__":
    main()
