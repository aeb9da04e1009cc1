"""THE DOOR: the public Python API, gathered from the packages that implement it.

Each name is loaded on first use, so that ``import assay`` is quick.
"""

from __future__ import annotations

from importlib import import_module
from inspect import isfunction
from typing import TYPE_CHECKING

from groups.exports import exports

if TYPE_CHECKING:
    from compare import figures as figures
    from compare.advice.advice import Advice as Advice
    from compare.advice.advice import Change as Change
    from compare.advice.advice import NoGain as NoGain
    from compare.advice.advice import Peak as Peak
    from compare.advice.advice import Tried as Tried
    from compare.advice.advise import advise as advise
    from compare.fleet.frames import run as run
    from compare.fleet.results import Ending as Ending
    from compare.fleet.results import RunCounts as RunCounts
    from compare.history import Trend as Trend
    from compare.judged import Judged as Judged
    from compare.judged import Verdicts as Verdicts
    from compare.judged import judge as judge
    from compare.lag.fall import Fall as Fall
    from compare.lag.fall import PeakFall as PeakFall
    from compare.lag.fall import Worth as Worth
    from compare.lag.fall import worth_moving as worth_moving
    from compare.lag.lowest import Hottest as Hottest
    from compare.over_groups import NotScored as NotScored
    from compare.overview import Glance as Glance
    from compare.overview import Overview as Overview
    from compare.promises.hunt import Hunt as Hunt
    from compare.promises.hunt import hunt as hunt
    from compare.promises.shrink import Quarry as Quarry
    from compare.reasons.sure import check as check
    from compare.reasons.sure import solve as solve
    from compare.samples.families import Family as Family
    from compare.samples.families import differing as differing
    from compare.samples.families import grid as grid
    from compare.scenarios.journey import Journey as Journey
    from compare.scenarios.journey import play as play
    from compare.scenarios.rollout import Act as Act
    from compare.scenarios.rollout import Rollout as Rollout
    from compare.scenarios.rollout import RolloutStep as RolloutStep
    from compare.scenarios.rollout import Rule as Rule
    from compare.scenarios.scenario import Scenario as Scenario
    from compare.scenarios.upgrade_paths import Variation as Variation
    from compare.scenarios.upgrade_paths import roll_out as roll_out
    from compare.scores import Excess as Excess
    from compare.scores import Score as Score
    from compare.scores import Scores as Scores
    from compare.scores import ScoreTerm as ScoreTerm
    from compare.scores import score as score
    from compare.scores import score_assignors as score_assignors
    from compare.sizes.fit import Fit as Fit
    from compare.sizes.fit import FitRow as FitRow
    from compare.sizes.fit import fit as fit
    from compare.sizes.pods import Pods as Pods
    from compare.sizes.pods import PodsRow as PodsRow
    from compare.sizes.pods import pods as pods
    from compare.sizes.sizing import Size as Size
    from compare.sizes.sizing import Sizing as Sizing
    from compare.sizes.sizing import Target as Target
    from compare.sizes.sizing import size as size
    from compare.verdict import Verdict as Verdict
    from compare.what_if import what_if as what_if
    from groups import AssayError as AssayError
    from groups import Assignment as Assignment
    from groups import BadInput as BadInput
    from groups import Failed as Failed
    from groups import Group as Group
    from groups import InvalidAssignment as InvalidAssignment
    from groups import ProofError as ProofError
    from groups import Refused as Refused
    from groups import SolverContradiction as SolverContradiction
    from groups import Violation as Violation
    from groups.collection import Groups as Groups
    from groups.errors import Failure as Failure
    from groups.files import read_groups as read_groups
    from groups.fleet import Fleet as Fleet
    from heuristics import AssignorFunction as AssignorFunction
    from heuristics import Plan as Plan
    from heuristics import assign as assign
    from heuristics.time_limit import TimeLimit as TimeLimit
    from optimal import Floor as Floor
    from optimal import Frontier as Frontier
    from optimal import Point as Point
    from optimal import Proof as Proof
    from optimal import ProofKind as ProofKind
    from optimal import Solution as Solution
    from optimal import Status as Status
    from optimal import Stopped as Stopped
    from optimal import Term as Term
    from optimal import frontier as frontier
    from optimal import solve_many as solve_many
    from optimal.export import Model as Model
    from optimal.export import export as export
    from optimal.solution import Standbys as Standbys
    from optimal.solutions import Solutions as Solutions
    from optimal.solve import solve_fleet as solve_fleet
    from optimal.streams import StreamsSolution as StreamsSolution
    from optimal.streams import solve_streams as solve_streams

    __version__: str

# Not in __all__: they need Altair and PySpark, which are optional.
_MODULES = {"figures": "compare.figures", "fleet": "compare.fleet.frames"}

# A type checker must see only the imports above: __getattr__ would hide a misspelt name.
if not TYPE_CHECKING:
    _exported, __dir__, _names = exports(__name__)
    __all__ = [name for name in _names if name not in _MODULES]

    def __getattr__(name: str) -> object:
        if name == "__version__":
            from importlib.metadata import version

            return version("kafka-assay")
        if name in _MODULES:
            return import_module(_MODULES[name])
        found = _exported(name)
        if isfunction(found):
            from groups.arguments import taking
            from groups.unknown import settled

            found = globals()[name] = taking(found, settled)
            # pickle looks a function up by its module.
            found.__module__ = __name__
        return found
