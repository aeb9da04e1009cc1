"""Tables of assignors over many groups: what the figures that compare them draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compare.scores import CURRENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from compare.figures.rows import Record
    from compare.scores import Score
    from groups.group import Group

    Scored = Iterable[tuple[Group, Sequence[Score]]]


def shares_table(scored: Scored) -> list[Record]:
    """Return in how many groups each assignor is valid, balanced and as good as can be.

    Parameters
    ----------
    scored : groups, each with a row per assignor as `score` returns it

    Returns
    -------
    rows : `assignor`, `groups` (where it gave an assignment), `unscored` (where it gave none),
        `valid`, `balanced` (as KIP-54 defines it), `optimal` (every tier proved at its optimum)
    """
    found: dict[str, dict[str, int]] = {}
    for _, rows in scored:
        for row in rows:
            counts = found.setdefault(
                row.assignor,
                dict.fromkeys(("groups", "unscored", "valid", "balanced", "optimal"), 0),
            )
            counts["groups" if row.status == "scored" else "unscored"] += 1
            counts["valid"] += bool(row.valid)
            counts["balanced"] += bool(row.balanced)
            counts["optimal"] += row.is_optimal
    return [{"assignor": name, **counts} for name, counts in found.items()]


def excess_table(scored: Scored, tier: str = "balance") -> list[Record]:
    """Return how far above the optimum each assignor is in a tier, group by group.

    Parameters
    ----------
    scored : groups, each with a row per assignor as `score` returns it
    tier : a tier of the objective

    Returns
    -------
    rows : `assignor`, `group`, `excess`, `excess_most`: the excess is between the two, which are
        one where the optimum is proved. None where it has none: not scored, not valid, or worse
        in an earlier tier; `excess_most` is also None where no bound is known
    """
    rows: list[Record] = []
    for group, scores in scored:
        for score in scores:
            terms = {term.name: term.excess for term in score.terms or ()}
            excess = terms.get(tier)
            least, most = excess if isinstance(excess, tuple) else (excess, excess)
            rows.append(
                {
                    "assignor": score.assignor,
                    "group": group.name,
                    # An incumbent that a heuristic beats leaves the excess open from 0 on.
                    "excess": None if least is None else max(least, 0),
                    "excess_most": most,
                }
            )
    return rows


def seconds_table(scored: Scored) -> list[Record]:
    """Return how long each assignor took, group by group.

    Returns
    -------
    rows : `assignor`, `group`, `members`, `partitions`, `seconds`; only what was scored, and
        neither what the members hold now nor what took no time that the clock tells
    """
    return [
        {
            "assignor": score.assignor,
            "group": group.name,
            "members": len(group.members),
            "partitions": group.n_partitions,
            "seconds": score.seconds,
        }
        for group, scores in scored
        for score in scores
        if score.status == "scored" and score.seconds > 0 and score.assignor != CURRENT
    ]
