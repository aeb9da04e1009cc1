"""Drawn: the figure of a sweep, and the table that it is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compare import figures

if TYPE_CHECKING:
    import altair as alt

    from compare.sizes.sizing import Sizing


def sizes_table(sizing: Sizing) -> list[dict[str, object]]:
    """Return what the busiest member has for each number of members, as `figures.sizes` takes it.

    Records of lag where the target is about lag, or there is none and the lag is known; else
    partitions.

    Returns
    -------
    rows : `members`, `most`, and of partitions `least`
    """
    if _is_lag(sizing):
        return [{"members": row.members, "most": row.peak_lag} for row in sizing.rows]
    return [
        {"members": row.members, "most": row.most_load, "least": row.least_load}
        for row in sizing.rows
    ]


def drawn(sizing: Sizing) -> alt.LayerChart:
    """Draw what the busiest member has for each number of members, with the target."""
    what = "records of lag" if _is_lag(sizing) else "partitions"
    aim = sizing.target
    plain = aim is not None and aim.aim in ("peak_lag", "peak_load")
    return figures.sizes(
        sizes_table(sizing), target=aim.at_most if aim and plain else None, what=what
    )


def _is_lag(sizing: Sizing) -> bool:
    if sizing.target is not None:
        return sizing.target.aim in ("peak_lag", "peak_time")
    return all(row.peak_lag is not None for row in sizing.rows)
