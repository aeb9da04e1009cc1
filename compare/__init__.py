"""VERDICT: practice against proof."""

from compare.score import Score, ScoreTerm, score

__all__ = ["Score", "ScoreTerm", "score"]
