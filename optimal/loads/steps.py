"""Steps: one partition given away, or two exchanged, so that less is above a target."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from groups.arrays import Bools, Int64
    from optimal.loads.incumbent import Incumbent

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


def best_step(
    incumbent: Incumbent, member: int, room: Int64, rng: np.random.Generator
) -> Step | None:
    """Return the step of a member that takes most off what is above the room of all, per move.

    Parameters
    ----------
    room : (members,) int64, what each member should carry at most

    Returns
    -------
    None where no step takes anything off
    """
    candidates, slack = incumbent.candidates, incumbent.moves_left or 0
    mine, others = incumbent.of[member], np.flatnonzero(incumbent.holder != member)
    if len(mine) * len(others) > MOST_PAIRS:
        mine = rng.permutation(mine)[: 1 + MOST_PAIRS // max(1, len(others))]
    found = [
        _given(incumbent, member, mine, slack, room),
        _exchanged(incumbent, member, mine, others, slack, room),
    ]
    best = max(found, key=lambda one: one[0])
    if best[0] <= 0 or not len(candidates.size):
        return None
    return best[1]


def take(incumbent: Incumbent, step: Step, member: int) -> None:
    """Let a member do a step."""
    mine, theirs = incumbent.of[member], incumbent.of[step.to]
    mine, theirs = mine[mine != step.gives], np.append(theirs[theirs != step.takes], step.gives)
    if step.takes >= 0:
        mine = np.append(mine, step.takes)
    incumbent.give((member, step.to), (mine, theirs))


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
    incumbent: Incumbent, member: int, mine: Int64, slack: int, room: Int64
) -> tuple[float, Step]:
    """Look at giving each of some partitions to each other member."""
    candidates = incumbent.candidates
    size, pile = candidates.size[mine], candidates.pile[mine]
    spare = incumbent.held[:, member] > candidates.least[:, member]
    open_to = candidates.may[candidates.kind[mine]] & spare[pile][:, None]
    open_to &= (incumbent.held < candidates.most)[pile]
    open_to[:, member] = False
    others = np.arange(candidates.members)
    moves = candidates.moved(mine[:, None], others) - candidates.moved(mine, member)[:, None]
    load = incumbent.loads
    before = _above(load[member], room[member]) + _above(load, room)
    after = _above(load[member] - size, room[member])[:, None]
    after = after + _above(load + size[:, None], room)
    worth, at = _best(before - after, moves, open_to & (moves <= slack))
    p, to = divmod(at, candidates.members)
    return worth, Step(int(mine[p]) if len(mine) else -1, to, -1)


def _exchanged(
    incumbent: Incumbent,
    member: int,
    mine: Int64,
    others: Int64,
    slack: int,
    room: Int64,
) -> tuple[float, Step]:
    """Look at exchanging each of some partitions for each of those that others hold."""
    if not (len(mine) and len(others)):
        return 0.0, Step(-1, -1, -1)
    candidates, holder = incumbent.candidates, incumbent.holder[others]
    allowed = candidates.may[candidates.kind[mine]][:, holder]
    allowed &= candidates.may[candidates.kind[others], member]
    if len(candidates.least) > 1:
        allowed &= _counts_allow(incumbent, member, mine, others)
    moves = candidates.moved(mine[:, None], holder) - candidates.moved(mine, member)[:, None]
    moves = moves + candidates.moved(others, member) - candidates.moved(others, holder)
    apart = candidates.size[mine][:, None] - candidates.size[others]
    load = incumbent.loads
    before = _above(load[member], room[member]) + _above(load, room)[holder]
    after = _above(load[member] - apart, room[member])
    after = after + _above(load[holder] + apart, room[holder])
    worth, at = _best(before - after, moves, allowed & (moves <= slack))
    p, q = divmod(at, len(others))
    return worth, Step(int(mine[p]), int(holder[q]), int(others[q]))


def _counts_allow(incumbent: Incumbent, member: int, mine: Int64, others: Int64) -> Bools:
    """(mine, others) bool: whether an exchange leaves every pile within what each may hold."""
    candidates, holder = incumbent.candidates, incumbent.holder[others]
    own, theirs = candidates.pile[mine], candidates.pile[others]
    spare, room = incumbent.held > candidates.least, incumbent.held < candidates.most
    gives = (spare[own, member])[:, None] & room[own][:, holder]
    takes = spare[theirs, holder] & room[theirs, member]
    same = own[:, None] == theirs
    return np.asarray(same | (gives & takes), bool)


def go_back(
    incumbent: Incumbent, p: int, room: Int64 | None = None, rng: np.random.Generator | None = None
) -> bool:
    """Let a partition go back to its owner, alone or in exchange for one of its; return if so.

    Parameters
    ----------
    room : (members,) int64, what the two may carry then, None for anything
    rng : what comes in exchange is drawn, and may be moved by it; None: what saves most moves
    """
    candidates = incumbent.candidates
    room = np.full(candidates.members, candidates.total) if room is None else room
    owner, holder, pile = (
        int(candidates.home[p]),
        int(incumbent.holder[p]),
        int(candidates.pile[p]),
    )
    if owner == holder or not candidates.may[candidates.kind[p], owner]:
        return False
    mine, theirs, size = incumbent.of[holder], incumbent.of[owner], int(candidates.size[p])
    fits = incumbent.held[pile, holder] > candidates.least[pile, holder]
    fits &= incumbent.held[pile, owner] < candidates.most[pile, owner]
    if fits and int(incumbent.loads[owner]) + size <= int(room[owner]):
        incumbent.give((holder, owner), (mine[mine != p], np.append(theirs, p)))
        return True
    same = theirs[candidates.pile[theirs] == pile]
    same = same[candidates.may[candidates.kind[same], holder]]
    apart = size - candidates.size[same]
    extra = candidates.moved(same, holder) - candidates.moved(same, owner)
    good = (extra <= (rng is not None)) & (incumbent.loads[owner] + apart <= room[owner])
    good &= incumbent.loads[holder] - apart <= room[holder]
    if not good.any():
        return False
    same, extra = same[good], extra[good]
    by_chance = rng is not None and rng.random() < 0.5
    q = int(rng.choice(same) if rng is not None and by_chance else same[extra.argmin()])
    incumbent.give(
        (holder, owner), (np.append(mine[mine != p], q), np.append(theirs[theirs != q], p))
    )
    return True
