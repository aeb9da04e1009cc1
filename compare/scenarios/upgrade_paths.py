"""Upgrade paths: the rolling upgrades of KIP-726 and the accidents on their way."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from compare.scenarios.mixed_group import perform
from compare.scenarios.rollout import Act, Rollout, Rule
from compare.scenarios.variation import Lists, Variation, settled, without_repeats
from groups import BadInput, Refused
from groups.wording import counted
from heuristics.protocol import DEFAULT_ASSIGNORS, choose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups import Group

FORMAT = "assay-rollout-result/1"
OLD: tuple[str, ...] = ("range",)
NEW = DEFAULT_ASSIGNORS
COOPERATIVE_ONLY: tuple[str, ...] = ("cooperative-sticky",)
PLAIN = Variation()


def roll_out(
    group: Group,
    name: str,
    rule: Rule = Rule.DYNAMIC,
    *,
    variation: Variation = PLAIN,
) -> Rollout:
    """Go through the rollout of that name: all members start anew, then act by act.

    Parameters
    ----------
    group : its topics, members and subscriptions; who owns what is not used
    name : "upgrade", "downgrade", "missed" (an old member misses the rebalance in which the
        others turn cooperative, and comes back) or "range-only" (an operator starts a member
        that lists range only, and stops it again)
    rule : under the static one an upgrade and a downgrade take two rolling bounces
    variation : who restarts first, who misses a rebalance, other lists, and back again

    Raises
    ------
    BadInput
        Where no rollout has that name, the group has fewer than 2 members, a subscription is
        unknown, the variation does not fit the group or the rollout, or a member that restarts
        would have no assignor in common with the others; the one that an operator starts in
        "range-only" may, and is turned away.

    Examples
    --------
    >>> from assay import Group, Rule, roll_out
    >>> group = Group.from_dict(
    ...     {
    ...         "format": "assay-group/1",
    ...         "group": "orders",
    ...         "topics": {"t0": 4},
    ...         "members": {"c0": {"subscription": ["t0"]}, "c1": {"subscription": ["t0"]}},
    ...     }
    ... )
    >>> both = [roll_out(group, "upgrade", rule) for rule in (Rule.DYNAMIC, Rule.STATIC)]
    >>> [rollout.total["restarts"] for rollout in both]
    [2, 4]
    """
    if name not in ROLLOUTS:
        raise BadInput(f"rollout: unknown name {name!r}, expected one of {', '.join(ROLLOUTS)}")
    if len(group.members) < 2:
        raise BadInput(f"rollout: {counted(len(group.members), 'member')}, expected 2 or more")
    group.require_subscriptions()
    members = list(group.members)
    variation.require_fit(members, name)
    first, acts = ROLLOUTS[name](members, variation, static=rule is Rule.STATIC)
    if not acts:
        raise BadInput(f"rollout: {name} changes nothing: all list that from the start")
    if name != "range-only":
        _require_common(first, acts)
    return perform(group, f"{name} and back" if variation.back else name, rule, first, acts)


def roll_out_by_rule(
    group: Group, name: str, variation: Variation = PLAIN
) -> tuple[Rollout, Rollout]:
    """Return the rollout of that name under KIP-726's rule and under the one that it replaces."""
    rules = (Rule.DYNAMIC, Rule.STATIC)
    dynamic, static = (roll_out(group, name, rule, variation=variation) for rule in rules)
    return dynamic, static


def _require_common(first: Lists, acts: Sequence[Act]) -> None:
    """Refuse acts of which one lets a member join without an assignor that all support."""
    lists = dict(first)
    for act in acts:
        if act.kind == "leave":
            del lists[act.member]
        elif act.kind == "join":
            lists[act.member] = act.assignors
            try:
                choose(lists)
            except Refused as refusal:
                raise BadInput(f"rollout: {act}: {refusal}") from None


Script = tuple[Lists, list[Act]]


def _bounces(stages: Sequence[Lists], order: Sequence[str]) -> list[Act]:
    """Restart, from stage to stage and one by one, the members whose list changes."""
    return [
        act
        for before, after in pairwise(without_repeats(stages))
        for m in order
        if before[m] != after[m]
        for act in (Act("leave", m), Act("join", m, after[m]))
    ]


def _way(
    old: tuple[str, ...],
    new: tuple[str, ...],
    members: Sequence[str],
    chosen: Variation,
    static: bool,
) -> Script:
    """Return the way from one list to another, and back where that is chosen.

    Under the static rule a group is cooperative at rest only without eager assignors in its lists:
    these are added before a change, and dropped after it.
    """
    start = chosen.lists(members, chosen.start or old)
    end: Lists = dict.fromkeys(members, chosen.to or new)
    stages = [settled(start), start, end, settled(end)] if static else [start, end]
    if chosen.back:
        stages = [*stages, *reversed(stages)]
    return stages[0], _bounces(stages, chosen.in_order(members))


def _upgrade(members: Sequence[str], chosen: Variation, *, static: bool) -> Script:
    return _way(OLD, NEW, members, chosen, static)


def _downgrade(members: Sequence[str], chosen: Variation, *, static: bool) -> Script:
    return _way(NEW, OLD, members, chosen, static)


def _missed(members: Sequence[str], chosen: Variation, *, static: bool) -> Script:
    last = chosen.misses or members[-1]
    end: Lists = dict.fromkeys(members, chosen.to or NEW)
    start = chosen.lists(members, chosen.to or NEW)
    start[last] = chosen.lists([last], chosen.start or OLD)[last]
    stages = [start, end, settled(end)] if static else [start, end]
    acts = [Act("miss", last), Act("return", last)]
    return start, acts + _bounces(stages, chosen.in_order(members))


def _range_only(members: Sequence[str], chosen: Variation, *, static: bool) -> Script:
    intruder = "range-only"
    while intruder in members:
        intruder += "-"
    listed = chosen.to or OLD
    start = chosen.lists(members, chosen.start or NEW)
    start = settled(start) if static else start
    gets_in = bool(set.intersection(*map(set, (*start.values(), listed))))
    stops = [Act("leave", intruder)] if gets_in else []
    return start, [Act("join", intruder, listed), *stops]


ROLLOUTS = {
    "upgrade": _upgrade,
    "downgrade": _downgrade,
    "missed": _missed,
    "range-only": _range_only,
}


def rollout_document(group: Group, rollouts: Sequence[Rollout]) -> dict[str, object]:
    """Return the ``assay-rollout-result/1`` document of some rollouts of one group."""
    return {
        "format": FORMAT,
        "group": group.name,
        "rollout": rollouts[0].name,
        "rules": [rollout.to_dict() for rollout in rollouts],
    }
