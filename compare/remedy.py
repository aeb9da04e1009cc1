"""Remedy: what makes the moves of a plan: an assignor of Kafka's, one of ours, or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compare.scores import CURRENT, OPTIMUM
from compare.sentences import by_broker
from groups.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.judged import Judged
    from compare.scores import Score

NO_COMMAND = "Kafka has no command for moves: an assignor makes them."
OURS = (
    "The optimum runs as an assignor of Python consumers: docs/how-to/run-the-optimal-assignor.md."
)
JAVA, BROKER = "kafka-java", "kafka-broker"


def spoken(name: str) -> str:
    """Return what people call an assignor.

    Examples
    --------
    >>> [spoken(name) for name in ("kafka-java/sticky@4.4.0", "kafka-broker/uniform@4.4.0")]
    ['sticky 4.4.0', "the broker's uniform 4.4.0"]
    >>> spoken("librdkafka/range@2.13.0")
    'librdkafka/range@2.13.0'
    """
    client, _, rest = name.partition("/")
    if client not in (JAVA, BROKER):
        return name
    whose = "the broker's " if client == BROKER else ""
    return f"{whose}{rest.replace('@', ' ')}"


def remedy(judged: Judged, rows: Sequence[Score], advise: str) -> str:
    """Return what makes the moves that a verdict names; empty where it names none.

    Parameters
    ----------
    rows : what was scored on the group, of assignors that were tried
    advise : how the reader asks for advice on `peak_load`
    """
    if judged.verdict.says != "improvable":
        if judged.fall is None:
            return ""
        return f"{NO_COMMAND} No assignor of Kafka's looks at lag. {OURS}"
    tried = [row for row in rows if row.assignor not in (CURRENT, OPTIMUM) and row.terms]
    if not tried:
        return f"{NO_COMMAND} {advise} says which one."
    as_good = [row for row in tried if row.valid and row.terms and row.terms[0].excess == 0]
    if not as_good:
        none = f"None of the {len(tried)} tried gets"
        none = none if len(tried) > 1 else "The one tried does not get"
        return f"{NO_COMMAND} {none} as far. {OURS}"
    broker = by_broker(judged.group)
    best = min(as_good, key=lambda row: _effort(row, broker))
    moves = next((term.value for term in best.terms or () if term.name == "stickiness"), None)
    by = "" if moves is None else f" by moving {counted(moves, 'partition')}"
    return (
        f"{NO_COMMAND} Of those tried, {spoken(best.assignor)} gets there{by}; "
        f"{advise} says what it takes to change to it."
    )


def _effort(row: Score, broker: bool) -> tuple[list[int], bool, bool]:
    """Order assignors by what they cost in the tiers, then by what it takes to change to them.

    Those of the group's own protocol come first, then those that revoke only what moves.
    """
    values = [term.value for term in row.terms or ()]
    return values, row.assignor.startswith(BROKER) != broker, "cooperative" not in row.assignor
