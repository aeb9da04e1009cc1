"""Every deal: whether any assignment keeps to a peak, by looking at all that could."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optimal.exchange.few.deals import complete, continuations, continued, nothing_dealt

if TYPE_CHECKING:
    from optimal.exchange.few.deals import Deals
    from optimal.exchange.few.parts import Parts
    from optimal.time_left import TimeLeft

# Ways that are continued at once.
AT_ONCE = 2**14


class Undecided(Exception):
    """Too many deals to look at them all."""


def first_deal(parts: Parts, time_left: TimeLeft, most: int) -> list[int] | None:
    """Return the parts of an assignment that keeps to the peak; None where there is none.

    Depth first, many ways at a time: set partitioning by enumeration, as Schreiber, Korf and
    Moffitt do for number partitioning (2018, doi:10.1145/3184400).

    Parameters
    ----------
    most : how many deals are looked at

    Raises
    ------
    Undecided
        Where there are more of them, or the time is up.
    """
    waiting, seen = [nothing_dealt(parts)], 0
    while waiting:
        deals = waiting.pop()
        if len(deals) > AT_ONCE:
            waiting.append(deals.some(slice(AT_ONCE, None)))
            deals = deals.some(slice(AT_ONCE))
        found: Deals = continued(parts, deals, *continuations(parts, deals))
        seen += len(found)
        if seen > most or time_left.is_up:
            raise Undecided
        if found.dealt == parts.members:
            done = complete(parts, found)
            if len(done):
                return found.parts_of(int(done[0]))
        elif len(found):
            waiting.append(found)
    return None
