"""The tables of scenarios: journeys through events, and rolling upgrades."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.printing.one_group import told
from assay.printing.table import Table, with_notes
from assay.printing.terminal import tell
from compare.sentences import called
from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from compare.scenarios.journey import Journey
    from compare.scenarios.rollout import Rollout

COUNTS = ("rounds", "revoked", "ownerless", "needless")


def print_journeys(name: str, journeys: Sequence[Journey], *, steps: bool) -> None:
    """Print each assignor's steps beside those of the optimum, the first journey; then sums."""
    own, tiers = journeys[0], journeys[0].objective
    tell(f"scenario {name}: {counted(len(own.steps), 'rebalance')}, {' > '.join(tiers)}")
    for journey in journeys[1:] if steps else ():
        _print_steps(journey, own)
    tell("sums over all rebalances, in brackets the optimum's from the same states")
    heads = ("assignor", "not optimal", *_heads(tiers), *COUNTS, "without plan")
    table = Table(*heads, right=range(1, len(heads)), whole=[0])
    totals = [journey.total for journey in journeys]
    sums = [
        with_notes([(str(t["terms"][tier]), f" ({t['optimum'][tier]})") for t in totals])
        for tier in tiers
    ]
    for journey, total, *of_tiers in zip(journeys, totals, *sums, strict=True):
        by_name: Mapping[str, object] = total
        numbers = [by_name[count] for count in COUNTS]
        table.add(journey.assignor, total["not_optimal"], *of_tiers, *numbers, total["open"])
    table.show()


def _print_steps(journey: Journey, own: Journey) -> None:
    tiers = _heads(journey.objective)
    tell(f"{journey.assignor}, and on the right the optimum that goes its own way")
    best_tiers = (f"optimal {tier}" for tier in tiers)
    heads = ("event", "members", "partitions", "valid", *tiers, *COUNTS, *best_tiers)
    table = Table(*heads, right=range(4, len(heads)))
    columns = [
        with_notes(
            [
                ("-", "") if step.row.terms is None else told(step.row.terms[i])
                for step in journey.steps
            ]
        )
        for i in range(len(tiers))
    ]
    for step, best, *terms in zip(journey.steps, own.steps, *columns, strict=True):
        row = step.row
        valid = row.status if row.terms is None else row.valid
        numbers = (row.rounds, row.revoked, step.ownerless, step.needless)
        values = best.best or ["?"] * len(tiers)
        table.add(step.event, step.members, step.partitions, valid, *terms, *numbers, *values)
    table.show()
    for step in journey.steps:
        if step.row.reason is not None:
            tell(f"{step.event}: {step.row.reason}")


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
