"""THE DOOR: everything that most people need, from the packages where it lives.

Each name is loaded when it is first asked for, so that ``import assay`` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from groups.exports import exports

if TYPE_CHECKING:
    from compare import (
        Excess,
        Hunt,
        Journey,
        Quarry,
        Scenario,
        Score,
        Scores,
        ScoreTerm,
        hunt,
        play,
        score,
        score_assignors,
    )
    from compare import figures as figures
    from compare.advice.advice import Advice, Change, NoGain, Peak, Tried
    from compare.advice.advise import advise
    from compare.fleet.frames import run
    from compare.fleet.results import Ending, RunCounts, Unread
    from compare.history import Course
    from compare.judged import Judged, judge
    from compare.lag.worth import Worth, worth_moving
    from compare.overview import Glance, Overview
    from compare.samples.families import Family, differing, grid
    from compare.scenarios.rollout import Act, Rollout, RolloutStep, Rule
    from compare.scenarios.upgrade_paths import roll_out
    from compare.scenarios.variation import Variation
    from compare.sizes.sizing import Size, Sizing
    from compare.sizes.sweep import size
    from compare.sizes.target import Target
    from compare.unscored import NotScored
    from compare.verdict import Verdict
    from groups import (
        AssayError,
        Assignment,
        BadInput,
        Failed,
        Group,
        InvalidAssignment,
        ProofError,
        Refused,
        SolverContradiction,
        Violation,
    )
    from groups.collection import Groups
    from groups.errors import Failure
    from groups.files import read_groups
    from groups.fleet import Fleet
    from heuristics import AssignorFunction, Plan, assign
    from heuristics.time_limit import TimeLimit
    from optimal import (
        Floor,
        Frontier,
        Point,
        Proof,
        ProofKind,
        Solution,
        Status,
        Stopped,
        Term,
        check,
        frontier,
        solve,
        solve_many,
    )
    from optimal.export import Model, export
    from optimal.solutions import Solutions
    from optimal.solve import solve_fleet

    __version__: str

_HOMES = {
    "compare": "Excess Hunt Journey Quarry Scenario Score Scores ScoreTerm hunt play score "
    "score_assignors",
    "compare.advice.advice": "Advice Change NoGain Peak Tried",
    "compare.history": "Course",
    "compare.advice.advise": "advise",
    "compare.overview": "Glance Overview",
    "compare.fleet.frames": "run",
    "compare.fleet.results": "Ending RunCounts Unread",
    "compare.unscored": "NotScored",
    "compare.samples.families": "Family differing grid",
    "compare.scenarios.rollout": "Act Rollout RolloutStep Rule",
    "compare.scenarios.upgrade_paths": "roll_out",
    "compare.scenarios.variation": "Variation",
    "compare.lag.worth": "Worth worth_moving",
    "compare.sizes.sizing": "Size Sizing",
    "compare.sizes.sweep": "size",
    "compare.sizes.target": "Target",
    "compare.judged": "Judged judge",
    "compare.verdict": "Verdict",
    "groups": "AssayError Assignment BadInput Failed Group InvalidAssignment ProofError Refused "
    "SolverContradiction Violation",
    "groups.collection": "Groups",
    "groups.errors": "Failure",
    "groups.files": "read_groups",
    "groups.fleet": "Fleet",
    "heuristics": "AssignorFunction Plan assign",
    "heuristics.time_limit": "TimeLimit",
    "optimal.export": "Model export",
    "optimal.solutions": "Solutions",
    "optimal.solve": "solve_fleet",
    "optimal": "Floor Frontier Point Proof ProofKind Solution Status Stopped Term check "
    "frontier solve solve_many",
}

__all__ = [
    "Act",
    "Advice",
    "AssayError",
    "Assignment",
    "AssignorFunction",
    "BadInput",
    "Change",
    "Course",
    "Ending",
    "Excess",
    "Failed",
    "Failure",
    "Family",
    "Fleet",
    "Floor",
    "Frontier",
    "Glance",
    "Group",
    "Groups",
    "Hunt",
    "InvalidAssignment",
    "Journey",
    "Judged",
    "Model",
    "NoGain",
    "NotScored",
    "Overview",
    "Peak",
    "Plan",
    "Point",
    "Proof",
    "ProofError",
    "ProofKind",
    "Quarry",
    "Refused",
    "Rollout",
    "RolloutStep",
    "Rule",
    "RunCounts",
    "Scenario",
    "Score",
    "ScoreTerm",
    "Scores",
    "Size",
    "Sizing",
    "Solution",
    "Solutions",
    "SolverContradiction",
    "Status",
    "Stopped",
    "Target",
    "Term",
    "TimeLimit",
    "Tried",
    "Unread",
    "Variation",
    "Verdict",
    "Violation",
    "Worth",
    "advise",
    "assign",
    "check",
    "differing",
    "export",
    "frontier",
    "grid",
    "hunt",
    "judge",
    "play",
    "read_groups",
    "roll_out",
    "run",
    "score",
    "score_assignors",
    "size",
    "solve",
    "solve_fleet",
    "solve_many",
    "worth_moving",
]

_MODULES = {"figures": "compare.figures", "fleet": "compare.fleet.frames"}

# Type checkers find the names above, and no others.
if not TYPE_CHECKING:
    _exported, __dir__ = exports(__name__, _HOMES)

    def __getattr__(name: str) -> object:
        if name == "__version__":
            # pyproject.toml says it, once.
            from importlib.metadata import version

            return version("kafka-assay")
        if name in _MODULES:
            # Not in __all__: they load Altair and PySpark, which not everybody has.
            return import_module(_MODULES[name])
        return _exported(name)
