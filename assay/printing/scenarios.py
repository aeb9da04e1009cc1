"""The tables of scenarios: journeys through events, and rolling upgrades."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.printing.table import Table, with_notes
from assay.terminal import tell
from compare.scenarios.rollout import COUNTS as COUNTED
from compare.scenarios.rollout import Rule
from compare.sentences import called
from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from compare.scenarios.journey import Journey, JourneyStep, JourneyTotal
    from compare.scenarios.rollout import Rollout

COUNTS = ("change_hands", "rounds", "revoked", "stopped", "ownerless", "needless")
# What the rules are to a reader.
RULES = {Rule.STATIC: "clients of today", Rule.DYNAMIC: "proposal of KIP-726"}
RULE_SAID = {
    Rule.STATIC: "as clients of today do it: a member's protocol is fixed when it starts",
    Rule.DYNAMIC: "as KIP-726 proposes, which Kafka's Java client does not do up to 4.4.0: a "
    "member's protocol follows from the assignor that was chosen last",
}


def print_journeys(name: str, journeys: Sequence[Journey], *, steps: bool) -> None:
    """Print the steps of each journey, where they are asked for, then the sums of all."""
    tiers = journeys[0].objective
    tell(f"scenario {name}: {counted(len(journeys[0].steps), 'rebalance')}, {' > '.join(tiers)}")
    tell("in brackets: the optimum from the same state")
    tell(
        "moves: partitions that leave a member that stays; change hands: also those of members "
        "that leave; at the start: those that change hands when the group changes to that assignor"
    )
    for journey in journeys if steps else ():
        _print_steps(journey)
    totals = [journey.total for journey in journeys]
    every = len(journeys[0].steps) - 1
    said = (
        f"sums over the {counted(every, 'rebalance')} after the start; tiers over those with a "
        "valid assignment"
    )
    if any(t["terms"][tier] < t["optimum"][tier] for t in totals for tier in tiers):
        said += "; below the number in brackets: an earlier tier is worse than it could be"
    _tell_extremes(journeys[1:])
    tell(said)
    scored = [every - total["invalid"] - total["without_plan"] for total in totals]
    # A sum over fewer rebalances is a smaller one: it says of how many it is.
    some = any(number < every for number in scored)
    over = ("scored",) if some else ()
    heads = (
        "assignor", "at the start", *over, "not optimal", *_heads(tiers), *_heads(COUNTS),
        "invalid", "without plan",
    )  # fmt: skip
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
        start = journey.start["change_hands"]
        table.add(journey.assignor, start, *of_all, worse, *of_tiers, *numbers, *ends)
    table.show()


def _tell_extremes(journeys: Sequence[Journey]) -> None:
    """Print with which assignors the fewest partitions change hands, and with which the most.

    Only those count that make a valid assignment each time. The fewest are those among the
    assignors that keep the first tier at its optimum.
    """
    tier = journeys[0].objective[0] if journeys else ""
    totals = {
        journey.assignor: total
        for journey in journeys
        if not (total := journey.total)["invalid"] and not total["without_plan"]
    }
    best = [name for name, t in totals.items() if t["terms"][tier] == t["optimum"][tier]]
    if not best:
        return
    hands = {name: total["change_hands"] for name, total in totals.items()}
    least, most = min(hands[name] for name in best), max(hands.values())
    fewest = _few([name for name in best if hands[name] == least])
    if most > least:
        also = _few([name for name, number in hands.items() if number == most])
        tell(_EXTREMES.format(called(tier), least, fewest, most, also))


_EXTREMES = (
    "fewest partitions change hands, of the assignors with the best {} each time: {} with {}; "
    "most of all: {} with {}"
)


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - 2} more" if len(names) > 2 else ""
    return ", ".join(names[:2]) + more


def _summed(total: JourneyTotal, tier: str, scored: int) -> tuple[str, str]:
    """Return a tier's sum, and the optimum's in brackets; a dash where nothing was scored."""
    if not scored:
        return "-", ""
    return str(total["terms"][tier]), f" ({total['optimum'][tier]})"


def _print_steps(journey: Journey) -> None:
    tell(journey.assignor)
    tiers = _heads(journey.objective)
    heads = ("event", "members", "partitions", "valid", *tiers, *_heads(COUNTS))
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
        reason = step.row.why_not
        if reason is not None:
            tell(f"{step.event}: {reason}")


def _beside_the_best(step: JourneyStep, tier: int) -> tuple[str, str]:
    """Return a tier's value where it can be compared, and the optimum's in brackets."""
    if step.row.terms is None or not step.row.valid:
        return "-", ""
    best = str(step.best[tier]) if step.best else "?"
    return str(step.row.terms[tier].value), f" ({best})"


def _heads(names: Sequence[str]) -> list[str]:
    return [called(name).replace("_", " ") for name in names]


def print_rollouts(rollouts: Sequence[Rollout]) -> None:
    """Print the answer, then each rule's rollout act by act, then the sums side by side."""
    tell(f"{rollouts[0].name}: {rollouts[0].answer}")
    for rollout in rollouts:
        tell(RULE_SAID[rollout.rule])
        heads = ("what happens", "assignor", "protocol", *_heads(COUNTED), "barred", "contested")
        table = Table(*heads, "", whole=[1])
        for step in rollout.steps:
            table.add(
                step.act.split(),
                step.assignor,
                step.protocol,
                *(getattr(step, count) for count in COUNTED),
                list(step.barred),
                list(step.contested) or "none",
                "" if step.refused is None else ["turned away:", *step.refused.split()],
            )
        table.show()
    tell("sums after the start")
    totals = [rollout.total for rollout in rollouts]
    table = Table("", *(RULES[rollout.rule] for rollout in rollouts))
    for key in totals[0]:
        table.add(key.replace("_", " "), *(total[key] for total in totals))
    table.show()
