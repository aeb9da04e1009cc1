"""Facts: what a row of a table counts for, in SQL; aggregates count how often each is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# What a fact is of, with the type of each; `value` is added up, and its greatest is kept.
OF = {
    "statistic": "string",
    "assignor": "string",
    "tier": "string",
    "label": "string",
    "captured_at": "string",
    "x": "double",
    "y": "double",
}
VALUE = {"value": "double"}


def text(literal: str) -> str:
    """Return a text as SQL has it."""
    escaped = literal.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def fact(statistic: str, when: str | None = None, **of: str) -> str:
    """Return a fact about a row, null where it does not hold.

    Parameters
    ----------
    when : whether it holds
    of : expressions for those of `OF` and `VALUE` that are not null
    """
    found = {"statistic": text(statistic), **of}
    columns = ", ".join(
        f"cast({found.get(name, 'null')} AS {kind}) AS {name}"
        for name, kind in {**OF, **VALUE}.items()
    )
    return f"struct({columns})" if when is None else f"if({when}, struct({columns}), null)"


def facts_of(rows: str, facts: Sequence[str], more: str = "") -> str:
    """Return a query for each fact that holds, with `family` and `group` of its row.

    Parameters
    ----------
    rows : name of the rows that it is about
    more : a list of further facts
    """
    listed = f"array({', '.join(facts)})"
    listed = f"concat({listed}, {more})" if more else listed
    exploded = f"SELECT family, group, explode({listed}) AS fact FROM {rows}"
    return f"SELECT family, group, fact.* FROM ({exploded}) WHERE fact IS NOT NULL"


COUNTED = f"""
    SELECT family, {", ".join(OF)}, count(*) AS count, sum(value) AS total, max(value) AS most,
        min(group) AS group
    FROM facts GROUP BY family, {", ".join(OF)}
"""
