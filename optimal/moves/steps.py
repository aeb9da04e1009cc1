"""Steps: one partition given away, or two exchanged, so that less is above a target."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from groups.arrays import Bools, Int64
    from optimal.exchange.hands import Hands

# Pairs of partitions that are looked at in one step; of more, some are drawn.
MOST_PAIRS = 200_000
# What a step that moves nothing counts like, in moves, when gains are held against each other.
FREE = 0.25


class Step(NamedTuple):
    """What to do: a partition goes to another member, and perhaps one of its partitions back.

    Attributes
    ----------
    gives, to : the partition, a position among the read ones, and who gets it
    takes : the partition that comes back, -1 where none does
    """

    gives: int
    to: int
    takes: int


def moved(home: Int64, partition: Int64, member: Int64 | int) -> Int64:
    """1 where a partition is moved if a member holds it, else 0; shapes are broadcast."""
    owner = home[partition]
    return np.asarray((owner >= 0) & (owner != member), np.int64)


def best_step(
    hands: Hands, home: Int64, member: int, slack: int, room: Int64, rng: np.random.Generator
) -> Step | None:
    """Return the step of a member that takes most off what is above the room of all, per move.

    Parameters
    ----------
    home : (read,) int64, the owner of each partition, -1 nobody
    slack : how many more moves there may be
    room : (members,) int64, what each member should carry at most

    Returns
    -------
    None where no step takes anything off
    """
    choices = hands.choices
    mine, others = hands.of[member], np.flatnonzero(hands.holder != member)
    if len(mine) * len(others) > MOST_PAIRS:
        mine = rng.permutation(mine)[: 1 + MOST_PAIRS // max(1, len(others))]
    found = [
        _given(hands, home, member, mine, slack, room),
        _exchanged(hands, home, member, mine, others, slack, room),
    ]
    best = max(found, key=lambda one: one[0])
    if best[0] <= 0 or not len(choices.size):
        return None
    return best[1]


def take(hands: Hands, step: Step, member: int) -> None:
    """Let a member do a step."""
    mine, theirs = hands.of[member], hands.of[step.to]
    mine, theirs = mine[mine != step.gives], np.append(theirs[theirs != step.takes], step.gives)
    if step.takes >= 0:
        mine = np.append(mine, step.takes)
    hands.give((member, step.to), (mine, theirs))


def _above(loads: Int64, room: Int64) -> Int64:
    return np.asarray(np.maximum(loads - room, 0), np.int64)


def _best(gain: Int64, moves: Int64, allowed: Bools) -> tuple[float, int]:
    """(greatest gain per move, where)."""
    if not gain.size:
        return 0.0, 0
    worth = np.where(allowed, gain / (np.maximum(moves, 0) + FREE), 0.0)
    at = int(worth.argmax())
    return float(worth.flat[at]), at


def _given(
    hands: Hands, home: Int64, member: int, mine: Int64, slack: int, room: Int64
) -> tuple[float, Step]:
    """Look at giving each of some partitions to each other member."""
    choices = hands.choices
    size, pile = choices.size[mine], choices.pile[mine]
    spare = hands.held[:, member] > choices.least[:, member]
    open_to = choices.may[choices.kind[mine]] & spare[pile][:, None]
    open_to &= (hands.held < choices.most)[pile]
    open_to[:, member] = False
    others = np.arange(choices.members)
    moves = moved(home, mine[:, None], others) - moved(home, mine, member)[:, None]
    load = hands.loads
    before = _above(load[member], room[member]) + _above(load, room)
    after = _above(load[member] - size, room[member])[:, None]
    after = after + _above(load + size[:, None], room)
    worth, at = _best(before - after, moves, open_to & (moves <= slack))
    p, to = divmod(at, choices.members)
    return worth, Step(int(mine[p]) if len(mine) else -1, to, -1)


def _exchanged(
    hands: Hands,
    home: Int64,
    member: int,
    mine: Int64,
    others: Int64,
    slack: int,
    room: Int64,
) -> tuple[float, Step]:
    """Look at exchanging each of some partitions for each of those that others hold."""
    if not (len(mine) and len(others)):
        return 0.0, Step(-1, -1, -1)
    choices, holder = hands.choices, hands.holder[others]
    allowed = choices.may[choices.kind[mine]][:, holder]
    allowed &= choices.may[choices.kind[others], member]
    if len(choices.least) > 1:
        allowed &= _counts_allow(hands, member, mine, others)
    moves = moved(home, mine[:, None], holder) - moved(home, mine, member)[:, None]
    moves = moves + moved(home, others, member) - moved(home, others, holder)
    apart = choices.size[mine][:, None] - choices.size[others]
    load = hands.loads
    before = _above(load[member], room[member]) + _above(load, room)[holder]
    after = _above(load[member] - apart, room[member])
    after = after + _above(load[holder] + apart, room[holder])
    worth, at = _best(before - after, moves, allowed & (moves <= slack))
    p, q = divmod(at, len(others))
    return worth, Step(int(mine[p]), int(holder[q]), int(others[q]))


def _counts_allow(hands: Hands, member: int, mine: Int64, others: Int64) -> Bools:
    """(mine, others) bool: whether an exchange leaves every pile within what each may hold."""
    choices, holder = hands.choices, hands.holder[others]
    own, theirs = choices.pile[mine], choices.pile[others]
    spare, room = hands.held > choices.least, hands.held < choices.most
    gives = (spare[own, member])[:, None] & room[own][:, holder]
    takes = spare[theirs, holder] & room[theirs, member]
    same = own[:, None] == theirs
    return np.asarray(same | (gives & takes), bool)
