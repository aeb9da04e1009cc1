"""Amendments: the effect of each of the two changes to KIP-615 by itself."""

from __future__ import annotations

from collections import Counter
from itertools import chain, combinations, combinations_with_replacement, product
from typing import TYPE_CHECKING

from groups import Group, Refused
from heuristics.written.kip615 import (
    Capacities,
    owned_partitions,
    require_equal_subscriptions,
)
from studies.page import table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from groups import Assignment
    from studies.page import Cell

LOOP, VOID = "1, the loop", "2, void claims"
VARIANTS = {"none, as written": (), LOOP: (LOOP,), VOID: (VOID,), "both": (LOOP, VOID)}
CONTESTED = (4, 4)


def contested(members: int, partitions: int) -> Iterator[Group]:
    """Yield all groups up to a size with one topic, by which members claim each partition.

    All claims are of one generation. Groups that differ only in the numbers of the partitions come
    once.
    """
    for size, total in product(range(1, members + 1), range(1, partitions + 1)):
        every = range(size)
        claimants = list(chain.from_iterable(combinations(every, n) for n in range(size + 1)))
        for claimed_by in combinations_with_replacement(claimants, total):
            yield Group.from_dict(
                {
                    "format": "assay-group/1",
                    "group": "contested",
                    "topics": {"t": total},
                    "members": {
                        f"m{member}": {
                            "subscription": ["t"],
                            "owned": {"t": [p for p, by in enumerate(claimed_by) if member in by]},
                            "generation": 1,
                        }
                        for member in every
                    },
                }
            )


def made_by(group: Group, amendments: Iterable[str]) -> Assignment:
    """Return the assignment of KIP-615 with some amendments, for a group that it covers."""
    owned = owned_partitions(group)
    if VOID in amendments:
        times = Counter(chain.from_iterable(owned))
        owned = [[partition for partition in mine if times[partition] == 1] for mine in owned]
    return Capacities.of(group).assign(group, owned, one_each=LOOP not in amendments)


def broken_by(groups: Iterable[Group]) -> dict[str, Counter[str]]:
    """Return for each variant the number of groups on which it breaks its promises.

    `groups` counts those that KIP-615 covers, `uneven` those whose loads differ by two or more,
    and `invalid` those whose assignment is not valid.
    """
    found = {name: Counter(groups=0, uneven=0, invalid=0) for name in VARIANTS}
    for group in filter(_is_covered, groups):
        for name, amendments in VARIANTS.items():
            made = made_by(group, amendments)
            found[name]["groups"] += 1
            found[name]["uneven"] += int(made.loads.max() - made.loads.min()) > 1
            found[name]["invalid"] += not made.is_valid
    return found


def records_of(found: Mapping[str, Mapping[str, Counter[str]]]) -> list[dict[str, Cell]]:
    """Return a record for each scope and variant."""
    return [
        {"scope": scope, "amendments": name, **one}
        for scope, variants in found.items()
        for name, one in variants.items()
    ]


def table_of(records: Sequence[Mapping[str, str]]) -> str:
    """Return the counts by scope and variant as Markdown, a row a variant."""
    scopes = dict.fromkeys(record["scope"] for record in records)
    heads = [f"{what}, {scope}" for what in ("uneven", "invalid") for scope in scopes]
    rows = []
    for name in VARIANTS:
        mine = [record for record in records if record["amendments"] == name]
        cells = [
            _cell(int(one[what]), int(one["groups"])) for what in ("uneven", "invalid")
            for one in mine
        ]  # fmt: skip
        rows.append([name, *cells])
    members, partitions = CONTESTED
    return "\n".join(
        [
            f"- *contested*: one topic, every set of members that claim a partition in one "
            f"generation, up to {members} members x {partitions} partitions",
            "",
            table(["amendments of KIP-615", *heads], rows),
        ]
    )


def _is_covered(group: Group) -> bool:
    try:
        require_equal_subscriptions(group)
    except Refused:
        return False
    return True


def _cell(broken: int, groups: int) -> str:
    return f"**{broken:,}** of {groups:,}" if broken else f"none of {groups:,}"
