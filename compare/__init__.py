"""VERDICT: practice against proof. Each name is loaded when it is first asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groups.exports import exports

if TYPE_CHECKING:
    from compare.promises.hunt import Hunt, hunt
    from compare.promises.shrink import Quarry
    from compare.scenarios.journey import Journey, play
    from compare.scenarios.scenario import Scenario
    from compare.scores import Excess, Score, Scores, ScoreTerm, score, score_assignors

__all__ = [
    "Excess",
    "Hunt",
    "Journey",
    "Quarry",
    "Scenario",
    "Score",
    "ScoreTerm",
    "Scores",
    "hunt",
    "play",
    "score",
    "score_assignors",
]

# Type checkers find the names above, and no others.
if not TYPE_CHECKING:
    __getattr__, __dir__ = exports(
        __name__,
        {
            "compare.promises.hunt": "Hunt hunt",
            "compare.promises.shrink": "Quarry",
            "compare.scenarios.journey": "Journey play",
            "compare.scenarios.scenario": "Scenario",
            "compare.scores": "Excess Score Scores ScoreTerm score score_assignors",
        },
    )
