"""Plan: which groups are worked on together and in which order, so that no core waits long."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from compare.scores import CURRENT
from groups.arrays import frozen
from groups.tiers import is_flow

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from compare.runs.job import Job
    from groups.arrays import Bools, Int64

# A task of Spark costs some hundredths of a second, a file as much again.
LEAST_SECONDS = 0.5
MOST_SECONDS = 15.0
MOST_GROUPS = 10_000
# What costs more by itself is worked on in its turn, the most expensive first.
CHEAP_SECONDS = 0.02
# How many pieces of their size the rest would make for each core: the last ones are small.
AHEAD = 4


@dataclass(frozen=True, eq=False)
class Missing:
    """Groups of which something is missing, one entry each.

    Attributes
    ----------
    files : of the table ``groups``
    file, row : (groups,) int64, index into `files`, and the row in it
    members, partitions : (groups,) int64
    assignors : of the run
    lacks : (groups, 1 + assignors) bool, whether the optimum and each assignor's score is missing
    """

    files: tuple[str, ...]
    file: Int64
    row: Int64
    members: Int64
    partitions: Int64
    assignors: tuple[str, ...]
    lacks: Bools

    def __len__(self) -> int:
        return len(self.file)

    @property
    def scores(self) -> float:
        """How many scores a group lacks, on average."""
        return float(self.lacks[:, 1:].sum()) / max(len(self), 1)


@dataclass(frozen=True)
class Lack:
    """What is missing of a group.

    Attributes
    ----------
    optimum : whether the row in ``optima`` is
    assignors : those whose rows in ``scores`` are
    """

    optimum: bool
    assignors: tuple[str, ...]

    @property
    def current(self) -> bool:
        """Whether what the members hold now is not scored."""
        return CURRENT in self.assignors

    @property
    def others(self) -> tuple[str, ...]:
        """The assignors that have to be asked."""
        return tuple(name for name in self.assignors if name != CURRENT)


@dataclass(frozen=True, eq=False)
class Part:
    """Rows of a file of ``groups`` of which the same is missing.

    Attributes
    ----------
    rows : (groups,) int64
    """

    file: str
    rows: Int64
    lack: Lack


@dataclass(frozen=True, eq=False)
class Piece:
    """What one task works on; `seconds` is an estimate."""

    parts: tuple[Part, ...]
    seconds: float

    def __len__(self) -> int:
        return sum(len(part.rows) for part in self.parts)


def pieces(missing: Missing, job: Job, cores: int) -> list[Piece]:
    """Cut what is missing into pieces, the most expensive groups first.

    Pieces become smaller towards the end, so that cores that take one after the other are done
    at about the same time. Groups that cost about the same are taken in the order of the files,
    so that a piece opens few of them.
    """
    seconds = estimate(missing, job)
    lacking, kind = np.unique(missing.lacks, axis=0, return_inverse=True)
    magnitude = np.floor(np.log2(seconds) / 2)
    order = np.lexsort((missing.row, missing.file, kind.reshape(-1), -magnitude))
    made = []
    for start, end in pairwise(_cuts(seconds[order], cores)):
        taken = order[start:end]
        parts = tuple(_parts(missing, taken, kind.reshape(-1)[taken], lacking))
        made.append(Piece(parts, float(seconds[taken].sum())))
    return made


def estimate(missing: Missing, job: Job) -> NDArray[np.float64]:
    """Return about how many seconds a core needs for each group: (groups,)."""
    search = 0.0 if is_flow(job.objective) else min(job.time_limit, 0.05)
    calls = missing.lacks[:, 1:].sum(axis=1)
    alone = solve_seconds(missing.members, missing.partitions) + search
    return np.asarray(alone * (1 + calls), np.float64)


def solve_seconds(members: Int64, partitions: Int64) -> NDArray[np.float64]:
    """Return about how many seconds it takes to solve groups of these sizes: (groups,)."""
    return np.asarray(1e-4 + 1.5e-6 * (members + partitions), np.float64)


def is_cheap(members: Int64, partitions: Int64) -> Bools:
    """Return which groups of these sizes are solved at once where every tier is a flow."""
    return np.asarray(solve_seconds(members, partitions) <= CHEAP_SECONDS)


def _cuts(seconds: NDArray[np.float64], cores: int) -> list[int]:
    """Return where pieces begin, and the end."""
    total = np.concatenate(([0.0], np.cumsum(seconds)))
    cuts = [0]
    while cuts[-1] < len(seconds):
        start = cuts[-1]
        share = (total[-1] - total[start]) / (cores * AHEAD)
        share = min(max(share, LEAST_SECONDS), MOST_SECONDS)
        end = int(np.searchsorted(total, total[start] + share, side="right")) - 1
        cuts.append(min(max(end, start + 1), start + MOST_GROUPS))
    return cuts


def _parts(
    missing: Missing, taken: Int64, kind: NDArray[np.intp], lacking: Bools
) -> Iterator[Part]:
    change = (np.diff(missing.file[taken]) != 0) | (np.diff(kind) != 0)
    edges = [0, *(np.flatnonzero(change) + 1).tolist(), len(taken)]
    for start, end in pairwise(edges):
        optimum, *scores = lacking[kind[start]].tolist()
        yield Part(
            missing.files[missing.file[taken[start]]],
            frozen(missing.row[taken[start:end]]),
            Lack(optimum, _chosen(missing.assignors, scores)),
        )


def _chosen(names: Sequence[str], wanted: Sequence[bool]) -> tuple[str, ...]:
    return tuple(name for name, is_wanted in zip(names, wanted, strict=True) if is_wanted)
