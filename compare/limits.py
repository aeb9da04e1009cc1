"""Limits: which rows are farther from the optimum than somebody allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from compare.score import Score


def too_far(rows: Sequence[Score], limits: Mapping[str, int]) -> list[str]:
    """Return a line for each row whose excess is above the limit of a tier, or is not known.

    A row that is not valid, or did not come to a score, is too far. A tier after the first one
    in which the assignor is worse has no excess of its own: the earlier tier's limit speaks.
    """
    lines = []
    for row in rows:
        if row.terms is None or not row.valid:
            lines.append(f"{row.assignor}: {row.reason or 'the assignment is not valid'}")
            continue
        for term in row.terms:
            worst = term.excess[1] if isinstance(term.excess, tuple) else term.excess
            open_end = isinstance(term.excess, tuple) and worst is None
            if term.name in limits and (open_end or (worst or 0) > limits[term.name]):
                amount = "an unknown amount" if worst is None else worst
                lines.append(
                    f"{row.assignor}: {term.name} exceeds the optimum by {amount}, "
                    f"more than {limits[term.name]}"
                )
    return lines
