"""VERDICT: practice against proof.

But for the scorer, each name is loaded when it is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

# The module has the name of its function, so that this one is there from the start.
from compare.score import Excess, Score, ScoreTerm
from compare.scoring import score, score_assignors

if TYPE_CHECKING:
    from compare.promises.hunt import hunt
    from compare.promises.hunted import Hunt
    from compare.promises.shrink import Quarry
    from compare.scenarios.journey import Journey, play
    from compare.scenarios.scenario import Scenario

_HOME = {
    "Hunt": "promises.hunted",
    "Journey": "scenarios.journey",
    "Quarry": "promises.shrink",
    "Scenario": "scenarios.scenario",
    "hunt": "promises.hunt",
    "play": "scenarios.journey",
}

__all__ = [
    "Excess",
    "Hunt",
    "Journey",
    "Quarry",
    "Scenario",
    "Score",
    "ScoreTerm",
    "hunt",
    "play",
    "score",
    "score_assignors",
]

# Type checkers find the names above, and no others.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
        return found

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
