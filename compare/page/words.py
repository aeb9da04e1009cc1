"""Words: a page's texts on verdicts, objectives and proofs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from compare.lag.fall import FEW_MOVES
from compare.verdict import (
    DEPENDS,
    EVEN_LAGGING,
    GOOD,
    IMPROVABLE,
    NO_MEMBERS,
    NOBODY_READS,
    NOT_PROVED,
    NOT_VALID,
    NOTHING_ASSIGNED,
)
from groups.tiers import TIERS
from optimal.proof import MEANING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Mark(NamedTuple):
    """How a page shows a verdict.

    Attributes
    ----------
    sign : tells it apart without colour
    tone : "bad", "open", "good" or "none"
    meaning : what it means, for the page's list of words; empty if its name says it
    """

    sign: str
    tone: str
    meaning: str = ""


MARKS: Mapping[str, Mark] = {
    NOBODY_READS: Mark("!", "bad"),
    NOT_VALID: Mark("✕", "bad"),
    IMPROVABLE: Mark(
        "▲", "bad", "A better assignment exists, whoever reads what. The moves lead there."
    ),
    DEPENDS: Mark(
        "?",
        "open",
        "Consoles do not print subscriptions. What is not known here would decide whether it can "
        "be better; the question says what to find out.",
    ),
    NOT_PROVED: Mark(
        "◐",
        "open",
        "Time ran out before it was certain. “+2 to 6” and the like give what is certain: at "
        "least 2 worse than the best and at most 6.",
    ),
    NOTHING_ASSIGNED: Mark("○", "none"),
    EVEN_LAGGING: Mark(
        "◇",
        "open",
        "Partitions are as even as can be, but a few moves would take a tenth or more off the lag "
        f"of the member with most. They are {FEW_MOVES}.",
    ),
    GOOD: Mark("✓", "good", "No assignment is better, and that is proved."),
    NO_MEMBERS: Mark("-", "none"),
}
PROOFS = {str(kind): f"{kind.capitalize()}: {meaning}." for kind, meaning in MEANING.items()}


def meaning(tiers: Sequence[str]) -> str:
    """Return a sentence that says what an objective minimises."""
    first, *rest = (TIERS[tier].sentence for tier in tiers)
    if not rest:
        return f"{first[0].upper()}{first[1:]}."
    return f"First {first}; then, without giving that up, {'; then '.join(rest)}."


def minute(time: str) -> str:
    """Return a snapshot's time, cut to the minute, as in ``2026-11-20 10:00 UTC``."""
    return f"{time[:16].replace('T', ' ')} UTC" if time.endswith("Z") else time
