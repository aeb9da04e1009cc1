"""Peak: how much lag or weight the busiest member has now and at best, and why no less."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from compare.lag.lowest import Hottest
from compare.lag.words import hottest_alone, least_by_hottest
from compare.reasons.words import named
from groups.tiers import load_of
from groups.wording import counted, few

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compare.reasons.explanation import Explanation
    from groups.arrays import Int64
    from groups.assignment import Assignment

# The word for the load of each peak.
OF_PEAK = {"peak_lag": "lag", "peak_weight": "weight"}
# At most this many sets of heavy partitions are tried for an argument.
CROWDS = 32


def peak_of(explanation: Explanation) -> tuple[str, str]:
    """Return two sentences on the first peak of the objective; both empty if it has none.

    Returns
    -------
    found : how much the busiest member has now and at best, and which member it is
    because : why no assignment has less on one member; empty if counting does not show it
    """
    terms = explanation.solution.terms
    term = next((one for one in terms if one.name in OF_PEAK), None)
    if term is None:
        return "", ""
    group, what = explanation.group, OF_PEAK[term.name]
    column = group.lag_records if what == "lag" else group.weight
    if column is None:
        return "", ""
    said = f"At the best the most {what} on one member is {term.value:,} "
    said += f"({_busiest(explanation.best, column)[0]})"
    if explanation.now.is_valid:
        member, load = _busiest(explanation.now, column)
        if explanation.is_there:
            said = f"The most {what} on one member is {load:,} ({member})"
        else:
            said += f"; now it is {'as much' if load == term.value else f'{load:,}'} ({member})"
    said += "."
    return said, next(_reasons(explanation, column, what, term.value), "")


def _busiest(assignment: Assignment, column: Int64) -> tuple[str, int]:
    """(name, load) of the busiest member of a valid assignment, or ``a and 2 more`` of several."""
    loads = load_of(assignment, column)
    most = max(loads)
    those = [assignment.group.members[m] for m, load in enumerate(loads) if load == most]
    return few(those[:1], len(those)), most


def _reasons(explanation: Explanation, column: Int64, what: str, peak: int) -> Iterator[str]:
    """Yield sentences, each of which shows that no assignment has a lower peak."""
    group, floor = explanation.group, explanation.solution.proof.floor
    read = np.flatnonzero(group.readers[group.topic] > 0)
    if not len(read) or not peak:
        return
    yield from _of_one_partition(explanation, column, what, peak)
    everybody = set(range(len(group.members)))
    for readers in (everybody, *([set(floor.members)] if floor else [])):
        topics = [
            t
            for t in np.flatnonzero(group.readers).tolist()
            if set(group.subscribers(t).tolist()) <= readers
        ]
        sizes = sorted(column[read[np.isin(group.topic[read], topics)]].tolist())
        if sizes and -(-sum(sizes) // len(readers)) == peak:
            who = _who(explanation, readers, topics)
            one = "one" if len(readers) > 1 else "it"
            yield f"{who} {sum(sizes):,} of {what}: {one} has at least {peak:,}."
        for at_least in sizes[::-1][len(readers) :: len(readers)][:CROWDS]:
            heavy = [size for size in sizes if size >= at_least]
            share = -(-len(heavy) // len(readers))
            if sum(heavy[:share]) == peak:
                yield (
                    f"{counted(len(heavy), 'partition')} with {what} of {at_least:,} or more are "
                    f"for {counted(len(readers), 'member')}: one holds {share:,} of them or more, "
                    f"and has at least {peak:,}."
                )


def _of_one_partition(
    explanation: Explanation, column: Int64, what: str, peak: int
) -> Iterator[str]:
    """Yield sentences on the heaviest partition: alone, or with the others of an even load."""
    group = explanation.group
    readers = group.readers[group.topic]
    read = np.flatnonzero(readers > 0)
    at = int(read[np.argmax(column[read])])
    most = int(column[at])
    hot = Hottest(group.topics[group.topic[at]], int(group.number[at]), most)
    if most == peak:
        yield least_by_hottest(hot, group.nouns, what)
    share = len(read) // len(group.members)
    alike = bool((readers[read] == len(group.members)).all())
    if explanation.solution.objective[0] != "balance" or not alike or share < 2:
        return
    others = sorted(column[read[read != at]].tolist())[: share - 1]
    if most + sum(others) == peak:
        least = f"with the {share - 1:,} of least {what}" if share > 2 else "with one more"
        yield (
            f"{hottest_alone(hot, group.nouns, what)}. With even loads its member holds "
            f"{share:,} partitions or more: {least} it has at least {peak:,}."
        )


def _who(explanation: Explanation, readers: set[int], topics: list[int]) -> str:
    group = explanation.group
    if len(readers) == len(group.members):
        return f"{counted(len(readers), 'member')} share" if len(readers) > 1 else "1 member reads"
    members = named([group.members[m] for m in sorted(readers)])
    read = named([group.topics[t] for t in topics])
    if len(readers) == 1:
        return f"{members} is the only reader of {read}, with"
    return f"{members} are the only readers of {read}, with"
