"""Upgrade paths: the rolling upgrades of KIP-726 and the accidents on their way."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from compare.scenarios.mixed_group import perform
from compare.scenarios.rollout import Act, Rollout, Rule
from groups import BadInput
from groups.wording import counted
from heuristics.protocol import DEFAULT_ASSIGNORS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups import Group

FORMAT = "assay-rollout-result/1"
OLD: tuple[str, ...] = ("range",)
NEW = DEFAULT_ASSIGNORS
COOPERATIVE_ONLY: tuple[str, ...] = ("cooperative-sticky",)


def roll_out(group: Group, name: str, rule: Rule = Rule.DYNAMIC) -> Rollout:
    """Go through the rollout of that name: all members start anew, then act by act.

    Parameters
    ----------
    group : its topics, members and subscriptions; who owns what is not used
    name : "upgrade", "downgrade", "missed" (an old member misses the rebalance in which the
        others turn cooperative, and comes back) or "range-only" (an operator starts a member
        that lists range only, and stops it again)
    rule : under the static one an upgrade and a downgrade take two rolling bounces

    Raises
    ------
    BadInput
        Where no rollout has that name, the group has fewer than 2 members, or a subscription is
        unknown.

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
    first, acts = ROLLOUTS[name](list(group.members), static=rule is Rule.STATIC)
    return perform(group, name, rule, first, acts)


def roll_out_by_rule(group: Group, name: str) -> tuple[Rollout, Rollout]:
    """Return the rollout of that name under KIP-726's rule and under the one that it replaces."""
    return roll_out(group, name, Rule.DYNAMIC), roll_out(group, name, Rule.STATIC)


Script = tuple[dict[str, tuple[str, ...]], list[Act]]


def _bounce(members: Sequence[str], assignors: tuple[str, ...]) -> list[Act]:
    """Restart the members one by one with another list."""
    acts = [(Act("leave", m), Act("join", m, assignors)) for m in members]
    return list(chain.from_iterable(acts))


def _upgrade(members: Sequence[str], *, static: bool) -> Script:
    second = _bounce(members, COOPERATIVE_ONLY) if static else []
    return dict.fromkeys(members, OLD), _bounce(members, NEW) + second


def _downgrade(members: Sequence[str], *, static: bool) -> Script:
    if not static:
        return dict.fromkeys(members, NEW), _bounce(members, OLD)
    acts = _bounce(members, NEW) + _bounce(members, OLD)
    return dict.fromkeys(members, COOPERATIVE_ONLY), acts


def _missed(members: Sequence[str], *, static: bool) -> Script:
    last = members[-1]
    acts = [Act("miss", last), Act("return", last), *_bounce([last], NEW)]
    second = _bounce(members, COOPERATIVE_ONLY) if static else []
    return {**dict.fromkeys(members, NEW), last: OLD}, acts + second


def _range_only(members: Sequence[str], *, static: bool) -> Script:
    intruder = "range-only"
    while intruder in members:
        intruder += "-"
    acts = [Act("join", intruder, OLD)]
    if static:
        return dict.fromkeys(members, COOPERATIVE_ONLY), acts
    return dict.fromkeys(members, NEW), [*acts, Act("leave", intruder)]


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
