"""The tables of scenarios: journeys through events, and rolling upgrades."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.printing.one_group import with_excess
from assay.printing.table import Table
from assay.streams import show

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from compare.scenarios.journey import Journey
    from compare.scenarios.rollout import Rollout


def print_journeys(name: str, journeys: Sequence[Journey], *, steps: bool) -> None:
    """Print each assignor's steps beside those of the optimum, the first journey; then sums."""
    own, tiers = journeys[0], journeys[0].objective
    show(f"scenario {name}: {len(own.steps)} rebalances, {' > '.join(tiers)}")
    counts = ("rounds", "revoked", "ownerless", "needless")
    for journey in journeys[1:] if steps else ():
        show(f"{journey.assignor}, and on the right the optimum that goes its own way")
        best_tiers = (f"optimal {tier}" for tier in tiers)
        table = Table("event", "members", "partitions", "valid", *tiers, *counts, *best_tiers)
        for step, best in zip(journey.steps, own.steps, strict=True):
            row = step.row
            valid = row.reason if row.terms is None else row.valid
            terms = [None] * len(tiers) if row.terms is None else map(with_excess, row.terms)
            numbers = (row.rounds, row.revoked, step.ownerless, step.needless)
            values = best.best or ["?"] * len(tiers)
            table.add(step.event, step.members, step.partitions, valid, *terms, *numbers, *values)
        table.show()
    show("sums over all rebalances, in brackets the optimum's from the same states")
    table = Table("assignor", "not optimal", *tiers, *counts, "without plan")
    for journey in journeys:
        total = journey.total
        by_name: Mapping[str, object] = total
        sums = [f"{total['terms'][tier]} ({total['optimum'][tier]})" for tier in tiers]
        numbers_of = [by_name[count] for count in counts]
        table.add(journey.assignor, total["not_optimal"], *sums, *numbers_of, total["open"])
    table.show()


def print_rollouts(rollouts: Sequence[Rollout]) -> None:
    """Print each rule's rollout act by act, then the sums of all side by side."""
    counts = ("rounds", "revoked", "lost", "moved", "ownerless", "stopped")
    for rollout in rollouts:
        show(f"{rollout.name} under the {rollout.rule} rule")
        table = Table(
            "what happens", "assignor", "protocol", *counts, "must not commit", "contested", ""
        )
        for step in rollout.steps:
            table.add(
                step.act,
                step.assignor,
                step.protocol,
                *(getattr(step, count) for count in counts),
                " ".join(step.barred) or None,
                " ".join(step.contested) or "none",
                "" if step.refused is None else f"turned away: {step.refused}",
            )
        table.show()
    show("sums after the start")
    totals = [rollout.total for rollout in rollouts]
    table = Table("", *(str(rollout.rule) for rollout in rollouts))
    for key in totals[0]:
        table.add(key, *(total[key] for total in totals))
    table.show()
