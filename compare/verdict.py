"""Verdict: whether what a group has now is as good as can be, and on what that depends."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from groups.arrays import UNKNOWN as NO_BOUND
from groups.framed import Framed
from groups.wording import NO_MEMBER_SHOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import numpy.typing as npt

    from groups.assignment import Assignment

# The worst first.
Says = Literal[
    "nobody reads",
    "not valid",
    "improvable",
    "depends on who reads what",
    "not proved",
    "nothing assigned yet",
    "as good as can be",
    "no members",
]
NOBODY_READS: Says = "nobody reads"
NOT_VALID: Says = "not valid"
IMPROVABLE: Says = "improvable"
DEPENDS: Says = "depends on who reads what"
NOT_PROVED: Says = "not proved"
NOTHING_ASSIGNED: Says = "nothing assigned yet"
GOOD: Says = "as good as can be"
NO_MEMBERS: Says = "no members"
WORST_FIRST: tuple[Says, ...] = get_args(Says)
_PLACE: Mapping[str, int] = {says: place for place, says in enumerate(WORST_FIRST)}
# Verdicts on groups in which nobody holds anything.
EMPTY: tuple[Says, ...] = (NOBODY_READS, NOTHING_ASSIGNED, NO_MEMBERS)
# How a verdict is shown on a group whose partitions are as even as can be, and whose lag is not.
EVEN_LAGGING = "even, lag could fall"
# All that tables show, the worst first: it is better than what stands before those two.
SHOWN: tuple[str, ...] = (*WORST_FIRST[:-2], EVEN_LAGGING, *WORST_FIRST[-2:])
# In columns, where something is not known.
NOTHING = int(np.iinfo(np.int64).min)
ALL_ALIKE = "all members read the same topics"


@dataclass(frozen=True)
class Verdict(Framed):
    """What is known of the assignment that a group has now.

    Attributes
    ----------
    says : the verdict in the words of the format
    sure : whether it holds whoever reads what, and was proved
    tier : the first tier in which now and the best differ, or may differ; None where none does
    at_least, at_most : how far above the optimum that tier is, None where it is not known
    moves : partitions that the optimum moves, None where that is not sure
    condition : what was assumed for it, None where nothing was
    question : what would decide it, as in "does c-2 read t1?"; None where nothing is open
    waiting : where nobody holds anything, or partitions have no owner, the records that wait
        there; None where not known
    """

    says: Says
    sure: bool
    tier: str | None = None
    at_least: int | None = None
    at_most: int | None = None
    moves: int | None = None
    condition: str | None = None
    question: str | None = None
    waiting: int | None = None

    def to_rows(self) -> Iterator[dict[str, object]]:
        """Return one row.

        The columns are the attributes: `says`, `sure`, `tier`, `at_least` and `at_most` (in the
        unit of that tier), `moves` (partitions), `condition`, `question` and `waiting` (records).
        """
        yield asdict(self)

    def shown(self, fall: object, *, may_rebalance: bool = False) -> str:
        """Return the few words of tables, which tell apart where lag could fall.

        Parameters
        ----------
        fall : how far the lag of the busiest member could fall; None where it is not worth it
        may_rebalance : whether it has no members, unless it is rebalancing, which its text does
            not show
        """
        good = self.says == GOOD
        maybe = "maybe " if may_rebalance else ""
        return EVEN_LAGGING if good and fall is not None else f"{maybe}{self.says}"

    def to_dict(self, shown: str | None = None) -> dict[str, object]:
        """Return the ``verdict`` of the ``assay-scores/1`` document.

        Parameters
        ----------
        shown : as tables have it; None: as it says
        """
        return {
            "says": self.says,
            "sure": self.sure,
            "at_least": self.at_least,
            "at_most": self.at_most,
            "moves": self.moves,
            "if": self.condition,
            "waiting": self.waiting,
            "shown": shown or self.says,
        }


class Between(NamedTuple):
    """How valid assignments stand to the optima of their groups, by columns of (groups,).

    Attributes
    ----------
    says : the verdict
    tier : number of the first tier in which now and the best differ, or may differ
    at_least, at_most : how far above the optimum that tier is, NOTHING where it is not known
    """

    says: npt.NDArray[Any]
    tier: npt.NDArray[Any]
    at_least: npt.NDArray[Any]
    at_most: npt.NDArray[Any]


def between(
    found: npt.NDArray[Any],
    reached: npt.NDArray[Any],
    bound: npt.NDArray[Any],
    *,
    depends: bool = False,
) -> Between:
    """Compare what is there with two optima between which the true one lies.

    A bound stands for an optimum that is not proved, and what a solver found for one that is not
    reached: whatever is true, the first is not above the optimum, the second not below it.

    Parameters
    ----------
    found, reached, bound : (groups, tiers), integers of any size: the values of what is there, of
        an assignment that can be had, `found` where there is none, and what none is below,
        NO_BOUND where that is not known
    depends : whether who reads what decides about those that are neither good nor improvable
    """
    each = np.arange(len(found))
    first = np.argmax(found != bound, axis=1)
    better = np.argmax(found != reached, axis=1)
    by, limit = (found - reached)[each, better], bound[each, first]
    is_good, is_improvable = (found == bound).all(axis=1), by > 0
    # An earlier tier may turn out lower still; then there is no excess in this one.
    is_known = ~is_improvable | (better == first)
    at_least = np.where(is_improvable, by, 0)
    at_most = found[each, first] - limit
    rest: Says = DEPENDS if depends else NOT_PROVED
    return Between(
        np.select([is_good, is_improvable], [GOOD, IMPROVABLE], rest),
        np.where(is_improvable, better, first),
        np.where(is_known, at_least, NOTHING),
        np.where(is_known & (limit != NO_BOUND), at_most, NOTHING),
    )


def distance(says: str | None, number: int | None) -> int | None:
    """Return how far a group is from the best: 0 where it is there, None where that is open.

    Parameters
    ----------
    number : moves, or by how much a tier is above the best, of a group that is improvable
    """
    return 0 if says == GOOD else number if says == IMPROVABLE else None


def urgency(
    says: str, above: float, to_move: float, less: float, name: str, captured_at: str
) -> tuple[int, float, float, float, str, str]:
    """Return what sorts groups in the order in which people want to see them.

    By verdict, how far above the optimum or how much waits, how many partitions to move, by how
    much lag could fall, name and time of capture.
    """
    return _PLACE[says], -above, -to_move, -less, name, captured_at


def may_rebalance(assumed: Iterable[str]) -> bool:
    """Return whether a group has no members only because its text shows none."""
    return any(line.startswith(NO_MEMBER_SHOWN) for line in assumed)


def taken_alike(assumed: Iterable[str]) -> bool:
    """Return whether it was assumed of unknown subscriptions that members read the same topics."""
    return any(
        line.startswith("subscription of ") and " unknown, taken as " in line for line in assumed
    )


def without_owner(now: Assignment) -> int:
    """Return how many partitions nobody holds though somebody reads them.

    0 where something else is wrong with the assignment, too.
    """
    alone = all(one.kind == "unassigned" for one in now.violations)
    return len(now.violations) if alone else 0
