"""The tables of scenarios: journeys through events, and rolling upgrades."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.printing.one_group import reason_of
from assay.printing.table import Table, with_notes
from assay.printing.terminal import tell
from compare.sentences import called
from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from compare.scenarios.journey import Journey, JourneyStep, JourneyTotal
    from compare.scenarios.rollout import Rollout

COUNTS = ("rounds", "revoked", "stopped", "ownerless", "needless")


def print_journeys(name: str, journeys: Sequence[Journey], *, steps: bool) -> None:
    """Print the steps of each journey, where they are asked for, then the sums of all."""
    tiers = journeys[0].objective
    tell(f"scenario {name}: {counted(len(journeys[0].steps), 'rebalance')}, {' > '.join(tiers)}")
    tell("in brackets: the optimum from the same state")
    for journey in journeys if steps else ():
        _print_steps(journey)
    totals = [journey.total for journey in journeys]
    said = "sums over all rebalances; tiers over those with a valid assignment"
    if any(t["terms"][tier] < t["optimum"][tier] for t in totals for tier in tiers):
        said += "; below the number in brackets: an earlier tier is worse than it could be"
    tell(said)
    every = len(journeys[0].steps)
    scored = [every - total["invalid"] - total["without_plan"] for total in totals]
    # A sum over fewer rebalances is a smaller one: it says of how many it is.
    some = any(number < every for number in scored)
    over = ("scored",) if some else ()
    heads = ("assignor", *over, "not optimal", *_heads(tiers), *COUNTS, "invalid", "without plan")
    table = Table(*heads, right=range(1, len(heads)), whole=[0])
    sums = [
        with_notes([_summed(total, tier, n) for total, n in zip(totals, scored, strict=True)])
        for tier in tiers
    ]
    for journey, total, n, *of_tiers in zip(journeys, totals, scored, *sums, strict=True):
        by_name: Mapping[str, object] = total
        numbers = [by_name[count] for count in COUNTS]
        ends = (total["invalid"], total["without_plan"])
        of_all = (f"{n} of {every}",) if some else ()
        worse = total["not_optimal"] if n else "-"
        table.add(journey.assignor, *of_all, worse, *of_tiers, *numbers, *ends)
    table.show()


def _summed(total: JourneyTotal, tier: str, scored: int) -> tuple[str, str]:
    """Return a tier's sum, and the optimum's in brackets; a dash where nothing was scored."""
    if not scored:
        return "-", ""
    return str(total["terms"][tier]), f" ({total['optimum'][tier]})"


def _print_steps(journey: Journey) -> None:
    tell(journey.assignor)
    tiers = _heads(journey.objective)
    heads = ("event", "members", "partitions", "valid", *tiers, *COUNTS)
    table = Table(*heads, right=range(4, len(heads)))
    columns = [
        with_notes([_beside_the_best(step, i) for step in journey.steps])
        for i in range(len(tiers))
    ]
    for step, *terms in zip(journey.steps, *columns, strict=True):
        row, numbers = step.row, vars(step.course)
        valid = row.status if row.terms is None else row.valid
        counts = (numbers[count] for count in COUNTS)
        table.add(step.event, step.members, step.partitions, valid, *terms, *counts)
    table.show()
    for step in journey.steps:
        reason = reason_of(step.row)
        if reason is not None:
            tell(f"{step.event}: {reason}")


def _beside_the_best(step: JourneyStep, tier: int) -> tuple[str, str]:
    """Return a tier's value where it can be compared, and the optimum's in brackets."""
    if step.row.terms is None or not step.row.valid:
        return "-", ""
    best = str(step.best[tier]) if step.best else "?"
    return str(step.row.terms[tier].value), f" ({best})"


def _heads(tiers: Sequence[str]) -> list[str]:
    return [called(tier) for tier in tiers]


def print_rollouts(rollouts: Sequence[Rollout]) -> None:
    """Print each rule's rollout act by act, then the sums of all side by side."""
    counts = ("rounds", "revoked", "lost", "moves", "ownerless", "stopped")
    for rollout in rollouts:
        tell(f"{rollout.name} under the {rollout.rule} rule")
        heads = ("what happens", "assignor", "protocol", *counts, "barred", "contested")
        table = Table(*heads, "", whole=[1])
        for step in rollout.steps:
            table.add(
                step.act.split(),
                step.assignor,
                step.protocol,
                *(getattr(step, count) for count in counts),
                list(step.barred),
                list(step.contested) or "none",
                "" if step.refused is None else ["turned away:", *step.refused.split()],
            )
        table.show()
    tell("sums after the start")
    totals = [rollout.total for rollout in rollouts]
    table = Table("", *(str(rollout.rule) for rollout in rollouts))
    for key in totals[0]:
        table.add(key, *(total[key] for total in totals))
    table.show()
