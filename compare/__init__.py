"""VERDICT: practice against proof."""

from compare.promises.hunt import Hunt, hunt
from compare.promises.shrink import Quarry
from compare.scenarios.journey import Journey, play
from compare.scenarios.scenario import Scenario
from compare.score import Excess, Score, ScoreTerm, score, score_assignors

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
