"""Verdict: whether what a group has now is as good as can be, and on what that depends."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal, TypedDict

from groups.framed import Framed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from groups.assignment import Assignment

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
WORST_FIRST: tuple[Says, ...] = (
    "nobody reads",
    "not valid",
    "improvable",
    "depends on who reads what",
    "not proved",
    "nothing assigned yet",
    "as good as can be",
    "no members",
)
# Verdicts on groups in which nobody holds anything.
EMPTY: tuple[Says, ...] = ("nobody reads", "nothing assigned yet", "no members")
DEPENDS: Says = "depends on who reads what"
# How a verdict is shown on a group whose partitions are as even as can be, and whose lag is not.
EVEN_LAGGING = "even, lag could fall"
# All that tables show, the worst first: it is better than what stands before those two.
SHOWN: tuple[str, ...] = (*WORST_FIRST[:-2], EVEN_LAGGING, *WORST_FIRST[-2:])
ALL_ALIKE = "all members read the same topics"

VerdictDocument = TypedDict(
    "VerdictDocument",
    {
        "says": str,
        "sure": bool,
        "at_least": int | None,
        "at_most": int | None,
        "moves": int | None,
        "if": str | None,
        "waiting": int | None,
        "shown": str,
    },
)


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

    def shown(self, fall: object) -> str:
        """Return the few words of tables, which tell apart where lag could fall.

        Parameters
        ----------
        fall : how far the lag of the busiest member could fall; None where it is not worth it
        """
        good = self.says == "as good as can be"
        return EVEN_LAGGING if good and fall is not None else self.says

    def to_dict(self, fall: object = None) -> VerdictDocument:
        """Return the ``verdict`` of the ``assay-scores/1`` document, `fall` as of `shown`."""
        return {
            "says": self.says,
            "sure": self.sure,
            "at_least": self.at_least,
            "at_most": self.at_most,
            "moves": self.moves,
            "if": self.condition,
            "waiting": self.waiting,
            "shown": self.shown(fall),
        }


def without_owner(now: Assignment) -> int:
    """Return how many partitions nobody holds though somebody reads them.

    0 where something else is wrong with the assignment, too.
    """
    alone = all(one.kind == "unassigned" for one in now.violations)
    return len(now.violations) if alone else 0
