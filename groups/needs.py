"""Needs: checks that a group has the data that the tiers of an objective need."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groups.arrays import any_in_parts
from groups.columns.places import PLACE_KINDS
from groups.errors import BadInput
from groups.tiers import SAFE_TOTAL, TIERS, cost_of, places_of

if TYPE_CHECKING:
    from groups.arrays import Bools, Int64
    from groups.errors import Remedy
    from groups.fleet import Fleet
    from groups.group import Group
    from groups.tiers import Objective


def require_data(group: Group, objective: Objective) -> None:
    """Raise BadInput if a tier needs what the group does not have.

    A tier may need subscriptions, the lag or weight of partitions that somebody reads (for tiers
    of moves, only of those that somebody owns), their replica racks and a member's rack, the
    copies of state, the place of each member, or for `peak_time` the capacity of members that read
    a partition.
    """
    group.require_subscriptions()
    _require_places(group, objective)
    if all(TIERS[name].needs is None for name in objective):
        return
    read = np.repeat(group.readers > 0, group.partitions)
    for name in objective:
        needs = TIERS[name].needs
        if needs == "racks":
            _require_racks(group, read)
        elif needs == "copies":
            _require_copies(group, name, read)
        elif needs is not None:
            column, wanted = _column_needed(group, name, read)
            _require_column(group, name, needs, column, wanted)
        if name == "peak_time":
            _require_capacity(group)


def lacking(fleet: Fleet, objective: Objective) -> dict[int, BadInput]:
    """Return the errors of `require_data` for the groups that lack something, by their indices."""
    suspected = _may_lack(fleet, objective)
    found = {}
    for index in np.flatnonzero(suspected).tolist():
        try:
            require_data(fleet.alone(index), objective)
        except BadInput as error:
            found[index] = error
    return found


def _may_lack(fleet: Fleet, objective: Objective) -> Bools:
    """(groups,) bool: False for groups that surely lack nothing; the others must be checked."""
    group, members, partitions = fleet.group, fleet.member_start, fleet.partition_start
    found = np.full(len(fleet), bool(places_of(objective)))
    if not group.subscription_known.all():
        found |= any_in_parts(~group.subscription_known, members)
    if all(TIERS[name].needs is None for name in objective):
        return found
    read = np.repeat(group.readers > 0, group.partitions)
    for name in objective:
        needs, racks = TIERS[name].needs, group.racks
        if name == "peak_time" or needs == "copies":
            found[:] = True
        elif needs == "racks":
            found |= any_in_parts(
                read if racks is None else read & (racks.replicas < 0), partitions
            )
            if racks is not None:
                found |= ~any_in_parts(racks.member >= 0, members)
        elif needs is not None:
            column, wanted = _column_needed(group, name, read)
            found |= any_in_parts(wanted if column is None else wanted & (column < 0), partitions)
            if column is not None:
                # If the total of all groups is that great, each group is checked.
                found |= column.sum(where=column > 0, dtype=float) >= SAFE_TOTAL / 2
    return found


def _column_needed(group: Group, tier: str, read: Bools) -> tuple[Int64 | None, Bools]:
    """Return the column that a tier needs, and which partitions must have it."""
    column = group.lag_records if TIERS[tier].needs == "lag" else group.weight
    return column, read & (group.owner >= 0) if cost_of(tier).leaving else read


def _require_column(
    group: Group,
    tier: str,
    needs: str,
    column: Int64 | None,
    wanted: Bools,
) -> None:
    missing = wanted if column is None else wanted & (column < 0)
    if missing.any():
        at = int(np.argmax(missing))
        topic, number = group.topics[group.topic[at]], group.number[at]
        raise _unknown(f"topics.{topic}.{needs}[{number}]", tier, int(missing.sum()))
    if column is not None:
        _require_total(group, tier, needs, np.where(wanted, column, 0))


def _require_total(group: Group, tier: str, needs: str, column: Int64) -> None:
    if float(column.sum(dtype=float)) < SAFE_TOTAL / 2:
        return
    total, at = sum(column.tolist()), int(np.argmax(column))
    if total >= SAFE_TOTAL:
        raise BadInput(
            f"topics.{group.topics[group.topic[at]]}.{needs}[{group.number[at]}]: {column[at]} "
            f"brings the total {needs} to {total}, but tier {tier} needs it below {SAFE_TOTAL}"
        )


def _require_capacity(group: Group) -> None:
    member, topic = group.subscription_pairs
    reads = np.zeros(len(group.members), bool)
    reads[member[group.partitions[topic] > 0]] = True
    missing = np.flatnonzero(reads & (group.capacity < 0))
    if len(missing):
        place = f"members.{group.members[missing[0]]}.capacity"
        raise _unknown(place, "peak_time", len(missing), remedy="rate")


def _require_places(group: Group, objective: Objective) -> None:
    """Require the place of every member, each host in one rack, and squares inside 64 bits."""
    kinds = places_of(objective)
    found = {kind: group.places(kind) for kind in kinds}
    for kind, places in found.items():
        tier, missing = f"{kind}_balance", np.flatnonzero(places.member < 0)
        if len(missing):
            place = f"members.{group.members[missing[0]]}.{kind}"
            remedy: Remedy | None = "host" if kind == "host" else None
            raise _unknown(place, tier, len(missing), remedy=remedy)
        if TIERS[tier].greatest(group) >= SAFE_TOTAL:
            raise BadInput(
                f"members.{group.members[0]}.{kind}: {kind}s have such different numbers of "
                f"members that {tier} may reach {TIERS[tier].greatest(group)}, but it has to stay "
                f"below {SAFE_TOTAL}"
            )
    if len(kinds) == len(PLACE_KINDS):
        first: dict[int, int] = {}
        pairs = zip(found["host"].member.tolist(), found["rack"].member.tolist(), strict=True)
        for m, (host, rack) in enumerate(pairs):
            if first.setdefault(host, rack) != rack:
                one, other = (found["rack"].names[at] for at in (rack, first[host]))
                raise BadInput(
                    f"members.{group.members[m]}.rack: {one!r}, but its host "
                    f"{found['host'].names[host]!r} is in {other!r}, too; host_balance and "
                    "rack_balance together need each host in one rack"
                )


def _require_racks(group: Group, read: Bools) -> None:
    racks = group.racks
    missing = read if racks is None else read & (racks.replicas < 0)
    if missing.any():
        topic = group.topics[group.topic[int(np.argmax(missing))]]
        raise BadInput(f"topics.{topic}.racks: unknown, but tier racks needs it")
    if racks is not None and len(group.members) and (racks.member < 0).all():
        raise BadInput("members: none has a rack, but tier racks needs one")


def _require_copies(group: Group, tier: str, read: Bools) -> None:
    copies = group.copies
    if copies is None and read.any():
        raise BadInput(f"which partitions keep state is unknown, but tier {tier} needs it")
    missing = np.flatnonzero(np.zeros(0) if copies is None else copies.member < 0)
    if len(missing):
        raise _unknown(f"members.{group.members[missing[0]]}.host", tier, len(missing))


def _unknown(place: str, tier: str, count: int, *, remedy: Remedy | None = None) -> BadInput:
    """Return the error for `count` unknown values, of which the first is at `place`."""
    more = f" (and {count - 1} more)" if count > 1 else ""
    return BadInput(f"{place}: unknown, but tier {tier} needs it{more}", remedy=remedy)
