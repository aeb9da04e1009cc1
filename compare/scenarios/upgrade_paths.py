"""Upgrade paths: the rolling upgrades of KIP-726, their options, and accidents during them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from compare.members import ids_meant, member_meant
from compare.scenarios.mixed_group import perform
from compare.scenarios.rollout import Act, Rollout, Rule
from groups import BadInput, Refused
from groups.errors import require_one_of
from groups.unknown import members_matching
from groups.wording import counted
from heuristics.protocol import AS_WRITTEN, DEFAULT_ASSIGNORS, choose

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from groups import Group

# The assignors that each member lists at one time.
Lists = dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class Variation:
    """The options of a rollout; the defaults are those of the rollout's name.

    Members are given by id, by a client id for all that have it, or by a glob on either.

    Attributes
    ----------
    order : members that restart first, in this order; the others follow by name
    misses : the member that misses a rebalance
    stays : members that do not restart, and so keep their list
    start : the list of assignors at the start, in ``missed`` of the member that misses a
        rebalance; None: the members' own lists in the group if known
    starts : lists of single members at the start, by a glob on their ids and client ids
    to : the list at the end; in ``range-only``, that of the member that an operator starts
    back : whether the group goes back to the first lists afterwards
    """

    order: tuple[str, ...] = ()
    misses: str | None = None
    stays: tuple[str, ...] = ()
    start: tuple[str, ...] | None = None
    starts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    to: tuple[str, ...] | None = None
    back: bool = False

    def fitted(self, group: Group, rollout: str) -> Variation:
        """Return the variation with members by id.

        Raises
        ------
        BadInput
            If an option does not fit the rollout or the group; the message names the option.
        """
        if self.misses is not None and rollout != "missed":
            raise BadInput(f"misses: nobody misses a rebalance in {rollout}")
        if self.back and rollout not in ("upgrade", "downgrade"):
            raise BadInput(f"back: for upgrade and downgrade, not for {rollout}")
        for chosen, listed in (("order", self.order), ("stays", self.stays)):
            if listed and rollout == "range-only":
                raise BadInput(f"{chosen}: nobody restarts in range-only")
        misses = self.misses and group.members[member_meant(group, self.misses, "misses")]
        starts: dict[str, tuple[str, ...]] = {}
        for pattern, listed in self.starts.items():
            meant = members_matching(group, pattern)
            if not meant:
                raise BadInput(f"start {pattern}: no member's id or client id matches")
            starts |= {group.members[m]: listed for m in meant}
        for place, listed in (
            ("start", self.start or ()),
            *((f"start {pattern}", listed) for pattern, listed in self.starts.items()),
            ("to", self.to or ()),
        ):
            _require_assignors(listed, place)
        order, stays = ids_meant(group, self.order, "order"), ids_meant(group, self.stays, "stays")
        return replace(self, order=order, stays=stays, misses=misses, starts=starts)


def _require_assignors(listed: Sequence[str], place: str) -> None:
    for i, assignor in enumerate(listed):
        require_one_of(place, assignor, AS_WRITTEN)
        if assignor in listed[:i]:
            raise BadInput(f"{place}: {assignor!r} appears twice")


FORMAT = "assay-rollout-result/1"
OLD: tuple[str, ...] = ("range",)
NEW = DEFAULT_ASSIGNORS
COOPERATIVE_ONLY: tuple[str, ...] = ("cooperative-sticky",)
PLAIN = Variation()
ROLLOUTS = ("upgrade", "downgrade", "missed", "range-only")


def roll_out(
    group: Group,
    name: str,
    rule: Rule = Rule.STATIC,
    *,
    variation: Variation = PLAIN,
) -> Rollout:
    """Play the rollout of this name, act by act.

    Parameters
    ----------
    group : members begin with what they hold now, or all start anew if that is nothing or not
        valid
    name : "upgrade", "downgrade", "missed" (an old member misses the rebalance in which the
        others turn cooperative, and comes back) or "range-only" (an operator starts a member
        that lists only range, and stops it again)
    rule : by the static rule, an upgrade from range alone or a downgrade to it takes two rolling
        restarts
    variation : the options: restart order, who misses a rebalance, other lists, and the way back

    Raises
    ------
    BadInput
        If no rollout has that name, the group has fewer than 2 members, a subscription is
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
    require_one_of("rollout", name, ROLLOUTS)
    if len(group.members) < 2:
        raise BadInput(f"rollout: {counted(len(group.members), 'member')}, expected 2 or more")
    group.require_subscriptions()
    variation = variation.fitted(group, name)
    known = dict.fromkeys(group.members) | {
        m: details.assignors for m, details in zip(group.members, group.details, strict=False)
    }
    first, acts = _script(name, known, variation, rule)
    if not acts:
        raise BadInput(f"rollout: {name} changes nothing: all list that from the start")
    return perform(group, f"{name} and back" if variation.back else name, rule, first, acts)


def roll_out_by_rule(
    group: Group, name: str, variation: Variation = PLAIN
) -> tuple[Rollout, Rollout]:
    """Return the rollout of this name by the rule of today's clients, and by KIP-726's."""
    static, dynamic = (
        roll_out(group, name, rule, variation=variation) for rule in (Rule.STATIC, Rule.DYNAMIC)
    )
    return static, dynamic


def _turned_away(first: Lists, acts: Sequence[Act]) -> int | None:
    """Return the index of the first act that joins without an assignor in common, or None."""
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


def _bounces(stages: Sequence[Lists], order: Sequence[str]) -> list[Act]:
    """Return the acts that restart, stage by stage and one by one, members whose list changes."""
    return [
        act
        for before, after in pairwise(stages)
        for m in order
        if before[m] != after[m]
        for act in (Act("leave", m), Act("join", m, after[m]))
    ]


def _way(first: Lists, last: Lists, order: Sequence[str]) -> list[Act]:
    """Return the acts that change the first lists of assignors into the last.

    One rolling restart is enough if each member that restarts has an assignor in common with all
    others. If not, a rolling restart before it adds the new assignors in front of the old ones.
    The acts end at the first member that is turned away.
    """
    both = {m: (*last[m], *(a for a in first[m] if a not in last[m])) for m in first}
    acts = _bounces([first, last], order)
    if _turned_away(first, acts) is not None:
        acts = _bounces([first, both, last], order)
    stop = _turned_away(first, acts)
    return acts if stop is None else acts[: stop + 1]


def _script(
    name: str,
    known: Mapping[str, tuple[str, ...] | None],
    chosen: Variation,
    rule: Rule,
) -> tuple[Lists, list[Act]]:
    """Return the members' lists at the start of a rollout, and its acts.

    Parameters
    ----------
    known : the assignors that each member lists according to the group, None if unknown
    """
    # By the static rule, members are cooperative only if they list no other assignor.
    upgraded = COOPERATIVE_ONLY if rule is Rule.STATIC else NEW
    late = chosen.misses or list(known)[-1]
    usual = OLD if name == "upgrade" else upgraded
    first = {m: chosen.start or listed or usual for m, listed in known.items()}
    if name == "missed":
        first = dict.fromkeys(known, chosen.to or NEW)
        first[late] = chosen.start or known[late] or OLD
    first |= chosen.starts
    if name == "range-only":
        intruder = "range-only"
        while intruder in known:
            intruder += "-"
        joins = [Act("join", intruder, chosen.to or OLD)]
        away = _turned_away(first, joins) is not None
        return first, joins if away else [*joins, Act("leave", intruder)]
    to = chosen.to or (OLD if name == "downgrade" else upgraded)
    last = dict.fromkeys(first, to) | {m: first[m] for m in chosen.stays}
    every = [*chosen.order, *(m for m in first if m not in chosen.order)]
    order = [m for m in every if m not in chosen.stays]
    acts = _way(first, last, order) + (_way(last, first, order) if chosen.back else [])
    missed = [Act("miss", late), Act("return", late)] if name == "missed" else []
    return first, missed + acts


def rollout_document(group: Group, rollouts: Sequence[Rollout]) -> dict[str, object]:
    """Return the ``assay-rollout-result/1`` document of the rollouts of one group."""
    return {
        "format": FORMAT,
        "group": group.name,
        "rollout": rollouts[0].name,
        "answer": rollouts[0].answer,
        "rules": [rollout.to_dict() for rollout in rollouts],
    }
