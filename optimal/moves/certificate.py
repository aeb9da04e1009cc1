"""The checker's part for moves: how many partitions have to leave their owners under a peak.

Plain Python in the order of docs/explanation/proof.md, as `optimal.certificate`, which calls it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups.errors import ProofError
from groups.tiers import MOVES, TIERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from optimal.case import Case
    from optimal.moves.asked import Asked
    from optimal.proof import Proof

Counts = list[tuple[int, int]]


def counts_within(case: Case, at_most: Mapping[str, int]) -> Counts:
    """Return how many partitions each member holds at least and at most within budgets.

    Nothing where no budget is about that.
    """
    members, partitions = len(case.reads), len(case.read)
    least, most = 0, partitions
    if not members or not {"load_spread", "idle_members"} & at_most.keys():
        return []
    if "load_spread" in at_most:
        # The others hold at most so many more than the emptiest, or less than the fullest.
        apart = (members - 1) * at_most["load_spread"]
        least = max(0, -((apart - partitions) // members))
        most = min(most, (partitions + apart) // members)
    if at_most.get("idle_members") == 0 and partitions >= members:
        least = max(least, 1)
    elif at_most.get("idle_members") == 0:
        most = min(most, 1)
    return [(least, most)] * members


def narrowed(counts: Counts, within: Counts) -> Counts:
    """Return what both allow; nothing given allows any number."""
    both = zip(counts, within or counts, strict=True)
    return [(max(a, c), min(b, d)) for (a, b), (c, d) in both]


def counts_of_topics(case: Case) -> Counts:
    """Return how many partitions each member holds at least and at most, topics being even."""
    counts = [[0, 0] for _ in case.reads]
    for t, readers in enumerate(case.readers):
        if readers:
            share, more = divmod(sum(case.topic[p] == t for p in case.read), len(readers))
            for m in readers:
                counts[m][0] += share
                counts[m][1] += share + (more > 0)
    return [(least, most) for least, most in counts]


def rests_on_moves(asked: Asked | None, proof: Proof) -> bool:
    """Say whether the peak is proved by the moves that a lower one takes."""
    return asked is not None and proof.floor is None and MOVES in asked.at_most


def require_few_moves(case: Case, asked: Asked, proof: Proof, counts: Counts) -> None:
    """Require that a lower peak takes more moves than there may be, or fewer moves a higher one.

    Parameters
    ----------
    counts : how many partitions each member holds at least and at most; nothing: any number
    """
    if asked.peak is None and MOVES in asked.rest and case.value(MOVES) > 0:
        raise ProofError("givers: they show moves under a peak, of which nothing is asked")
    peak = str(asked.peak)
    if asked.rest[0] == peak and rests_on_moves(asked, proof) and case.value(peak) > 0:
        least = moves_needed(case, peak, case.value(peak) - 1, proof.givers, counts)
        if least <= asked.at_most[MOVES]:
            raise ProofError(
                f"givers: they show {least} moves below a {peak} of {case.value(peak)}, but "
                f"{asked.at_most[MOVES]} are allowed"
            )
    if asked.peak is not None and MOVES in asked.rest and (moves := case.value(MOVES)) > 0:
        most = case.value(peak) if peak in asked.rest else asked.at_most[peak]
        least = moves_needed(case, peak, most, proof.givers, counts)
        if least < moves:
            raise ProofError(f"givers: they show {least} moves, not {moves}")


def moves_needed(case: Case, peak: str, most: int, givers: Sequence[int], counts: Counts) -> int:
    """Return how many moves it takes at least until nobody carries more than `most`.

    More than there are partitions where no number of them is enough.
    """
    if not set(givers) <= set(range(len(case.reads))):
        raise ProofError("givers: an index outside the group's members")
    needs = str(TIERS[peak].needs)
    size = {p: case.known(needs, p) for p in case.read}
    light = sorted(size.values())
    rates = case.capacities() if peak == "peak_time" else [1] * len(case.reads)
    counts = counts or [(0, len(case.read))] * len(case.reads)
    owned: list[list[int]] = [[] for _ in case.reads]
    for p in case.read:
        if case.owner[p] >= 0:
            owned[case.owner[p]].append(size[p])
    rooms = [most * rate for rate in rates]
    gives = [_given(owned[m], *counts[m], light, rooms[m])[0] for m in range(len(owned))]
    inside = sum(gives[m] for m in set(givers))
    outside = sum(gives) - inside
    together = [one for m in set(givers) for one in owned[m]]
    fewest, greatest = (sum(counts[m][i] for m in set(givers)) for i in (0, 1))
    out, back = _given(together, fewest, greatest, light, sum(rooms[m] for m in set(givers)))
    unowned = sum(case.owner[p] < 0 for p in case.read)
    return max(inside, out) + max(outside, back - unowned)


def _given(
    owned: list[int], least: int, most: int, light: list[int], room: int
) -> tuple[int, int]:
    """(how many of some partitions leave their owners, how many others come to them) at least.

    The heaviest leave. Others, at best the lightest of all, make up the numbers.
    """
    rest = sorted(owned)
    given = 0
    while given <= len(owned):
        back = max(0, least - len(owned) + given)
        if len(rest) <= most and sum(rest) + sum(light[:back]) <= room:
            return given, back
        rest, given = rest[:-1], given + 1
    return len(light) + 1, 0
