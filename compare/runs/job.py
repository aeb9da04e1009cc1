"""Job: what a run is asked for."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from compare.runs.tables.schemas import content_key
from compare.score import CURRENT, OPTIMUM, assignors_asked
from groups.tiers import parse_objective
from heuristics import assignor_named
from heuristics.own import name_of, versioned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups.tiers import Objective
    from heuristics import AssignorFunction

SECONDS = 10.0


@dataclass(frozen=True)
class Job:
    """What to run: on which input, into which folder, for which objective and assignors.

    Attributes
    ----------
    folders : where modules of the user's assignors are looked for, besides the usual ones
    """

    source: Path
    out: Path
    objective: Objective
    assignors: tuple[str, ...]
    time_limit: float
    assume_equal: bool = False
    reset: str | None = None
    folders: tuple[str, ...] = ()

    def optimum_key(self, group_key: str) -> str:
        """Return the key of a group's row in ``optima``."""
        return content_key({**self._made_by(group_key), "solver": version("ortools")})

    def score_key(self, group_key: str, assignor: str) -> str:
        """Return the key of a group's row in ``scores`` for an assignor."""
        return content_key({**self._made_by(group_key), "assignor": assignor})

    def _made_by(self, group_key: str) -> dict[str, object]:
        return {
            "group": group_key,
            "objective": self.objective,
            "time_limit": self.time_limit,
            "version": version("kafka-assay"),
        }


def job_of(
    source: str | Path,
    out: str | Path,
    *,
    objective: str | Sequence[str] = "kip-54",
    assignors: Sequence[str | AssignorFunction] | None = None,
    time_limit: float = SECONDS,
    assume_equal: bool = False,
    reset: Literal["latest", "earliest"] | None = None,
) -> Job:
    """Return the job of a run, its assignors found and named in full.

    Raises
    ------
    BadInput
        Where the objective is not known, no assignor has a name, or a function of the user's
        cannot be imported by another process.
    """
    given = [one if isinstance(one, str) else name_of(one) for one in assignors or ()]
    asked = [
        name if name in (CURRENT, OPTIMUM) else assignor_named(name)
        for name in assignors_asked(given)
    ]
    own = [one for one in asked if not isinstance(one, str) and one.kind == "own"]
    names = [
        one if isinstance(one, str) else versioned(one) if one in own else one.name
        for one in asked
    ]
    return Job(
        source=Path(source),
        out=Path(out),
        objective=parse_objective(objective),
        assignors=tuple(names),
        time_limit=time_limit,
        assume_equal=assume_equal,
        reset=reset,
        folders=(os.getcwd(), *sys.path) if own else (),
    )
