"""Page: the records and tables of how often, made of the counts of services."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studies.how_often.rate import SUBSCRIPTIONS, rate
from studies.how_often.week import WHAT
from studies.page import table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from studies.how_often.rate import Played
    from studies.page import Cell

# Of all services: what the page takes, and anybody else may take otherwise.
SHARES = {"alike": 0.75, "new-topic": 0.10, "roles": 0.15, "overlapping": 0.0}
SEED = 1
# The client of an assignor that is not as shipped.
WRITTEN = "written"
KINDS = {
    "alike": "services whose members all read the same topics",
    "new-topic": "services of which one deployment adds a topic",
    "roles": "services with roles and a topic that all read",
    "overlapping": "services with roles and no topic that all read",
}
AMONG = {
    "alike": "rebalances in which all members read the same topics",
    "differing": "rebalances in which subscriptions differ",
}
HEAD = (
    "assignor", "rebalances played", "hangs", "exceptions", "never settles", "invalid",
    "misses the best balance", "moves too many",
)  # fmt: skip


def rows_of(
    found: Mapping[str, Mapping[str, Played]], shares: Mapping[str, float]
) -> list[dict[str, Cell]]:
    """Return a record for each assignor and each thing that may happen.

    Parameters
    ----------
    found : what was played, by assignor and kind of service
    shares : of all services, by kind
    """
    return [
        row for assignor, kinds in found.items() for row in _records(assignor, {}, kinds, shares)
    ]


def parts_of(
    found: Mapping[str, Mapping[str, Played]], shares: Mapping[str, float]
) -> list[dict[str, Cell]]:
    """Return the same of each kind of service alone, and by whether subscriptions differ."""
    records: list[dict[str, Cell]] = []
    for assignor, kinds in found.items():
        for kind, text in KINDS.items():
            if len(kinds[kind].rebalances):
                records += _records(assignor, {"of": text}, kinds, {kind: 1.0})
        for name in SUBSCRIPTIONS:
            among = {kind: one.among(name) for kind, one in kinds.items()}
            records += _records(assignor, {"of": AMONG[name]}, among, shares)
    return records


def page_of(records: Iterable[Mapping[str, str]], parts: Iterable[Mapping[str, str]]) -> str:
    """Return the tables as Markdown: all services, then what is unlike in them one by one.

    Parameters
    ----------
    records, parts : as they are read from their files
    """
    tables, parts = [_table(list(records))], list(parts)
    for text in (AMONG["differing"], KINDS["overlapping"], AMONG["alike"]):
        found = [one for one in parts if one["of"] == text]
        if found:
            tables += [f"### Only {text}", _table(found)]
    return "\n\n".join(tables)


def _records(
    assignor: str,
    besides: dict[str, Cell],
    kinds: Mapping[str, Played],
    shares: Mapping[str, float],
) -> list[dict[str, Cell]]:
    client, _, rest = assignor.rpartition("/")
    name, _, version = rest.partition("@")
    records: list[dict[str, Cell]] = []
    for what in WHAT:
        one = rate(kinds, what, shares, SEED)
        records.append(
            {
                "client": client or WRITTEN,
                "assignor": name,
                "version": version,
                **besides,
                "what": what,
                "rebalances": one.rebalances,
                "events": one.events,
                "per_million": _rounded(one.per_million),
                "low": _rounded(one.low),
                "high": _rounded(one.high),
                "services": one.services,
                "affected": one.affected,
            }
        )
    return records


def _rounded(figure: float) -> float | int:
    """Return two digits and those before the point: more would say too much."""
    return round(figure) if figure >= 10 else float(f"{figure:.2g}")


def _table(records: Sequence[Mapping[str, str]]) -> str:
    rows: dict[str, list[Mapping[str, str]]] = {}
    for one in records:
        client = "" if one["client"] == WRITTEN else f"{one['client']}/"
        name = f"`{client}{one['assignor']}` {one['version']}".rstrip()
        rows.setdefault(name, []).append(one)
    return table(
        HEAD,
        (
            [name, f"{int(found[0]['rebalances']):,}", *map(_cell, found)]
            for name, found in rows.items()
        ),
    )


def _cell(one: Mapping[str, str]) -> str:
    figure, low, high = (f"{_rounded(float(one[k])):,}" for k in ("per_million", "low", "high"))
    return f"{figure} ({low} to {high})" if int(one["events"]) else f"0 (up to {high})"
