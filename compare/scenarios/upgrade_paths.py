"""Upgrade paths: the rolling upgrades of KIP-726 and the accidents on their way."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from compare.scenarios.mixed_group import perform
from compare.scenarios.rollout import Act, Rollout, Rule
from compare.scenarios.variation import Lists, Variation
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
    rule: Rule = Rule.STATIC,
    *,
    variation: Variation = PLAIN,
) -> Rollout:
    """Go through the rollout of that name: all members start anew, then act by act.

    Parameters
    ----------
    group : its topics, members and subscriptions, and what its members list; who owns what is
        not used
    name : "upgrade", "downgrade", "missed" (an old member misses the rebalance in which the
        others turn cooperative, and comes back) or "range-only" (an operator starts a member
        that lists range only, and stops it again)
    rule : under the static one an upgrade from range alone, and a downgrade to it, take two
        rolling restarts
    variation : who restarts first, who misses a rebalance, other lists, and back again

    Raises
    ------
    BadInput
        Where no rollout has that name, the group has fewer than 2 members, a subscription is
        unknown, or the variation does not fit the group or the rollout.

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
    >>> both = [roll_out(group, "upgrade", rule) for rule in (Rule.STATIC, Rule.DYNAMIC)]
    >>> [rollout.total["restarts"] for rollout in both]
    [4, 2]
    >>> print(both[0].answer.partition(":")[0])
    Safe in 2 rolling restarts
    """
    if name not in ROLLOUTS:
        raise BadInput(f"rollout: unknown name {name!r}, expected one of {', '.join(ROLLOUTS)}")
    if len(group.members) < 2:
        raise BadInput(f"rollout: {counted(len(group.members), 'member')}, expected 2 or more")
    group.require_subscriptions()
    variation = variation.fitted(group, name)
    known = dict.fromkeys(group.members) | {
        m: details.assignors for m, details in zip(group.members, group.details, strict=False)
    }
    first, acts = ROLLOUTS[name](known, variation, rule)
    if not acts:
        raise BadInput(f"rollout: {name} changes nothing: all list that from the start")
    return perform(group, f"{name} and back" if variation.back else name, rule, first, acts)


def roll_out_by_rule(
    group: Group, name: str, variation: Variation = PLAIN
) -> tuple[Rollout, Rollout]:
    """Return the rollout of that name by the rule of today's clients, then by KIP-726's."""
    static, dynamic = (
        roll_out(group, name, rule, variation=variation) for rule in (Rule.STATIC, Rule.DYNAMIC)
    )
    return static, dynamic


def _turned_away(first: Lists, acts: Sequence[Act]) -> int | None:
    """Return the number of the first act that joins without an assignor that all support."""
    lists = dict(first)
    for i, act in enumerate(acts):
        if act.kind == "leave":
            del lists[act.member]
        elif act.kind == "join":
            lists[act.member] = act.assignors
            try:
                choose(lists)
            except Refused:
                return i
    return None


# What each member lists according to the group, if it says so.
Known = Mapping[str, tuple[str, ...] | None]
Script = tuple[Lists, list[Act]]


def _bounces(stages: Sequence[Lists], order: Sequence[str]) -> list[Act]:
    """Restart, from stage to stage and one by one, the members whose list changes."""
    return [
        act
        for before, after in pairwise(stages)
        for m in order
        if before[m] != after[m]
        for act in (Act("leave", m), Act("join", m, after[m]))
    ]


def _way(first: Lists, last: Lists, order: Sequence[str]) -> list[Act]:
    """Return the acts from some lists of assignors to others.

    One rolling restart is enough if each member that restarts has an assignor in common with all
    others. If not, a rolling restart before it adds the new assignors in front of the old ones.
    A rollout stops at the first member that is turned away.
    """
    both = {m: (*last[m], *(a for a in first[m] if a not in last[m])) for m in first}
    acts = _bounces([first, last], order)
    if _turned_away(first, acts) is not None:
        acts = _bounces([first, both, last], order)
    stop = _turned_away(first, acts)
    return acts if stop is None else acts[: stop + 1]


def _change(start: Lists, chosen: Variation, to: tuple[str, ...]) -> Script:
    """Return the way from what members list to one list for all, and back if that is chosen."""
    first = chosen.lists(start)
    last: Lists = dict.fromkeys(first, chosen.to or to)
    last |= {m: first[m] for m in chosen.stays}
    order = chosen.in_order(list(first))
    acts = _way(first, last, order)
    return first, acts + (_way(last, first, order) if chosen.back else [])


def _upgrade(known: Known, chosen: Variation, rule: Rule) -> Script:
    start = {m: chosen.start or listed or OLD for m, listed in known.items()}
    return _change(start, chosen, _upgraded(rule))


def _downgrade(known: Known, chosen: Variation, rule: Rule) -> Script:
    start = {m: chosen.start or listed or _upgraded(rule) for m, listed in known.items()}
    return _change(start, chosen, OLD)


def _missed(known: Known, chosen: Variation, rule: Rule) -> Script:
    late = chosen.misses or list(known)[-1]
    start = dict.fromkeys(known, chosen.to or NEW)
    start[late] = chosen.start or known[late] or OLD
    first, acts = _change(start, chosen, _upgraded(rule))
    return first, [Act("miss", late), Act("return", late), *acts]


def _range_only(known: Known, chosen: Variation, rule: Rule) -> Script:
    intruder = "range-only"
    while intruder in known:
        intruder += "-"
    start = {m: chosen.start or listed or _upgraded(rule) for m, listed in known.items()}
    first, joins = chosen.lists(start), [Act("join", intruder, chosen.to or OLD)]
    away = _turned_away(first, joins) is not None
    return first, joins if away else [*joins, Act("leave", intruder)]


def _upgraded(rule: Rule) -> tuple[str, ...]:
    """Return the list by which members are cooperative: under the static rule nothing else."""
    return COOPERATIVE_ONLY if rule is Rule.STATIC else NEW


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
        "answer": rollouts[0].answer,
        "rules": [rollout.to_dict() for rollout in rollouts],
    }
