"""Snapshots of groups, one an hour."""

import numpy as np

from groups import Group
from tests.compare.conftest import holding


def snapshot(name: str, hour: int | None, loads: list[int], lag: int = 10) -> Group:
    starts = np.cumsum([0, *loads]).tolist()
    owned = {f"c{i}": [*range(*starts[i : i + 2])] for i in range(len(loads))}
    at = None if hour is None else f"2026-11-20T{hour:02}:00:00Z"
    return Group.from_dict(holding([lag] * sum(loads), owned, group=name, captured_at=at))


def series_of_four(hours: int = 10) -> list[Group]:
    """Hourly snapshots of four groups: worse, growing lag, flapping, bad only in hour 0."""
    snapshots = []
    for hour in range(hours):
        more = min(hour // 2, 4)
        snapshots += [
            snapshot("worse", hour, [6 - more, 6, 6 + more]),
            snapshot("behind", hour, [6, 6, 6], 100 * (hour + 1)),
            snapshot("flaps", hour, [4, 6, 8] if hour % 2 else [6, 6, 6]),
            snapshot("healthy", hour, [6, 6, 6] if hour else [0, 6, 12]),
        ]
    return snapshots
