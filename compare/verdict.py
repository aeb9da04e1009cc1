"""Verdict: whether a group's current assignment is as good as can be, and what that assumes."""

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
# Verdicts that a better assignment exists, whatever the members read or under a condition.
BETTER_EXISTS: tuple[Says, ...] = (IMPROVABLE,)
# Verdicts on groups that need another assignment, worst first.
BAD: tuple[Says, ...] = (NOT_VALID, *BETTER_EXISTS)
# Verdicts on groups in which no member holds a partition.
EMPTY: tuple[Says, ...] = (NOBODY_READS, NOTHING_ASSIGNED, NO_MEMBERS)
# What tables show for a group whose partitions are as even as can be but whose lag is not.
EVEN_LAGGING = "even, lag could fall"
# All that tables show, worst first; only the last two verdicts are better than this one.
SHOWN: tuple[str, ...] = (*WORST_FIRST[:-2], EVEN_LAGGING, *WORST_FIRST[-2:])
# Stands in integer columns for unknown.
NOTHING = int(np.iinfo(np.int64).min)
ALL_ALIKE = "all members read the same topics"


@dataclass(frozen=True)
class Verdict(Framed):
    """The verdict on a group's current assignment.

    Attributes
    ----------
    says : the verdict in the words of the format
    sure : whether it is proved and holds whatever members read
    tier : the first tier in which the current assignment and the optimum differ, or may differ;
        None if there is none
    at_least, at_most : how far above the optimum that tier is, None if unknown
    moves : partitions that the optimum moves, None if not sure
    condition : the assumption that it depends on, None if there is none
    question : what would decide it, as in "does c-2 read t1?"; None if nothing is open
    waiting : if no member holds a partition, or partitions have no owner, the records that wait
        there as far as their lag is known; None if it is known of none of them
    waiting_unknown : of how many further partitions of these the lag is unknown; 0 if `waiting`
        is None
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
    waiting_unknown: int = 0

    @property
    def is_improvable(self) -> bool:
        """Whether a better assignment exists."""
        return self.says in BETTER_EXISTS

    def to_rows(self) -> Iterator[dict[str, object]]:
        """Return one row.

        The columns are the attributes: `says`, `sure`, `tier`, `at_least` and `at_most` (in the
        unit of that tier), `moves` (partitions), `condition`, `question`, `waiting` (records)
        and `waiting_unknown` (partitions).
        """
        yield asdict(self)

    def shown(self, fall: object, *, may_rebalance: bool = False) -> str:
        """Return the verdict in a few words, as tables show it.

        Parameters
        ----------
        fall : how far the lag of the busiest member could fall; None if not worth it
        may_rebalance : whether the group may be rebalancing: its text shows no members
        """
        good = self.says == GOOD
        maybe = "maybe " if may_rebalance else ""
        return EVEN_LAGGING if good and fall is not None else f"{maybe}{self.says}"

    def to_dict(self, shown: str | None = None) -> dict[str, object]:
        """Return the ``verdict`` of the ``assay-scores/1`` document.

        Parameters
        ----------
        shown : the verdict as tables show it; None: as `says`
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
    """Verdicts on valid assignments, by columns of (groups,).

    Attributes
    ----------
    says : the verdict
    tier : number of the first tier in which the assignment and the optimum differ, or may differ
    at_least, at_most : how far above the optimum that tier is, NOTHING if unknown
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
    """Compare assignments with an interval, `bound` to `reached`, in which the optimum lies.

    Parameters
    ----------
    found : (groups, tiers), integers of any size: the values of the assignments
    reached : (groups, tiers), the values of assignments that are possible; `found` if none is
        known
    bound : (groups, tiers), lower bounds; NO_BOUND if unknown
    depends : whether unknown subscriptions decide about groups that are neither as good as can be
        nor improvable
    """
    each = np.arange(len(found))
    first = np.argmax(found != bound, axis=1)
    better = np.argmax(found != reached, axis=1)
    by, limit = (found - reached)[each, better], bound[each, first]
    is_good, is_improvable = (found == bound).all(axis=1), by > 0
    # The optimum may be lower in an earlier tier; then this tier has no excess.
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
    """Return how far a group is from the best: 0 if as good as can be, None if unknown.

    Parameters
    ----------
    number : its distance if it is improvable: moves, or the excess of a tier
    """
    return 0 if says == GOOD else number if says in BETTER_EXISTS else None


def urgency(
    says: str, tier: float, above: float, to_move: float, less: float, name: str, captured_at: str
) -> tuple[int, float, float, float, float, str, str]:
    """Return the key that sorts groups, most urgent first.

    The order is by verdict, then by the place in the objective of the first tier that is above
    the optimum, by how far it is or records waiting, partitions to move, the fall of lag, name,
    and time of capture.
    """
    return _PLACE[says], tier, -above, -to_move, -less, name, captured_at


def may_rebalance(assumed: Iterable[str]) -> bool:
    """Return whether a group has no members only because its text shows none."""
    return any(line.startswith(NO_MEMBER_SHOWN) for line in assumed)


def taken_alike(assumed: Iterable[str]) -> bool:
    """Return whether members of unknown subscription were assumed to read the same topics."""
    return any(
        line.startswith("subscription of ") and " unknown, taken as " in line for line in assumed
    )


def without_owner(now: Assignment) -> int:
    """Return how many partitions have a reader but no owner.

    0 if the assignment has violations of another kind, too.
    """
    alone = all(one.kind == "unassigned" for one in now.violations)
    return len(now.violations) if alone else 0
