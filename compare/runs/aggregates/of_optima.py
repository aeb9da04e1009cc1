"""Of optima: the verdicts of groups over families and captures, as facts to count."""

from __future__ import annotations

from compare.overview import GUESSES
from compare.runs.aggregates.facts import fact, facts_of, text
from compare.verdict import EMPTY, WORST_FIRST

MOST_WORST = 1_000
# Of these verdicts a sentence says how many groups they are about.
NAMED = ("not valid", "improvable")
EVERY = "every"
_SAYS = "verdict.says"
_MOVES = f"if({_SAYS} = 'improvable', verdict.to_move, null)"


def facts_of_optima(rows: str, digits: int) -> str:
    """Return a query for the facts of optima.

    Parameters
    ----------
    rows : name of optima of one objective, one a group, with `family` and `is_known`
    digits : how many characters of a time of capture are one point of a trend
    """
    judged = f"{_SAYS} NOT IN ({', '.join(map(text, EMPTY))})"
    what = {
        "proved": "status = 'optimal'",
        "judged": judged,
        "unknown": f"{judged} AND NOT is_known",
        "questions": "verdict.question IS NOT NULL",
    }
    what |= {said: f"exists(assumed, line -> contains(line, {text(said)}))" for said in GUESSES}
    at = f"substring(captured_at, 1, {digits})"
    is_captured = "captured_at IS NOT NULL"
    facts = [
        fact("verdict", label=_SAYS, value=_MOVES),
        fact("trend", is_captured, label=_SAYS, captured_at=at, value=_MOVES),
        *(fact("groups", is_so, label=text(name)) for name, is_so in what.items()),
    ]
    assumed = fact("assumed", label="line")
    return facts_of(rows, facts, f"transform(coalesce(assumed, array()), line -> {assumed})")


def facts_of_names(rows: str) -> str:
    """Return a query for each name of a group, and for each of those with a verdict to name.

    It counts for the first family that has it, so that the names of several add up.
    """
    firsts = {EVERY: "min(family)"}
    firsts |= {name: f"min(if({_SAYS} = {text(name)}, family, null))" for name in NAMED}
    each = ", ".join(
        f"struct({first} AS family, {text(name)} AS label)" for name, first in firsts.items()
    )
    found = f"SELECT group, explode(firsts) AS first FROM (SELECT group, array({each}) AS firsts "
    found += f"FROM {rows} GROUP BY group)"
    named = (
        f"SELECT group, first.family, first.label FROM ({found}) WHERE first.family IS NOT NULL"
    )
    return facts_of(f"({named})", [fact("names", label="label")])


def worst_of(rows: str) -> str:
    """Return a query for the groups that people want to see first, of each family.

    `count` is their place.
    """
    rank = f"array_position(array({', '.join(map(text, WORST_FIRST))}), {_SAYS})"
    order = f"{rank}, verdict.at_least DESC NULLS LAST, group, captured_at, key"
    placed = (
        f"SELECT *, row_number() OVER (PARTITION BY family ORDER BY {order}) AS place FROM {rows}"
    )
    return f"""
        SELECT family, 'worst' AS statistic, string(null) AS assignor, string(null) AS tier,
            {_SAYS} AS label, captured_at, double(verdict.at_least) AS x, double(null) AS y,
            bigint(place) AS count, double(null) AS total, double(null) AS most, group, group_key,
            key AS optimum_key
        FROM ({placed} WHERE {_SAYS} IS NOT NULL) WHERE place <= {MOST_WORST}
    """
