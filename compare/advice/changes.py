"""Changes: for each kind, the change that lowers a group's peak most, or why none does."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import gcd
from operator import methodcaller
from typing import TYPE_CHECKING, Any

import numpy as np

from compare.advice.advice import Change, Kind, Lower, NoGain, Peak, least_gain, least_share
from compare.advice.worlds import (
    TIERS_OF,
    Best,
    Worlds,
    least_peak,
    least_peaks,
    peak_of,
    with_few_moves,
)
from compare.lag.fall import Fall, fall_by_few_moves, lag_falls
from compare.lag.lowest import hottest
from compare.lag.words import hottest_alone
from compare.reasons.explanation import blocks_of
from compare.what_if import all_alike, fewest, turn_seconds, what_if
from groups.tiers import MOVES, values
from groups.wording import counted
from optimal.proof import ProofKind
from optimal.solve import solve

if TYPE_CHECKING:
    from collections.abc import Callable

    from groups.assignment import Assignment
    from groups.group import Group
    from optimal.time_left import TimeLeft

# (member, topic) pairs to try: each takes a solve, which is quick by flows.
MOST_PAIRS = {"peak_load": 64, "peak_lag": 12}
# All moves are advised instead of a few if they lower the peak by at least 1/100 more.
MORE_MOVES = 100
# Members times topics to examine.
MOST_CELLS = 10**6
# How many counts of partitions to try, and the greatest as a multiple of the present count.
MOST_COUNTS, MOST_TIMES = 12, 4


@dataclass(frozen=True, eq=False)
class Changes:
    """The search for changes that lower a group's peak.

    Attributes
    ----------
    best : the least peak of the present group
    now : the current assignment; None if no member holds a partition
    plan : the assignment that the verdict advises, or None
    total : partitions, or records of lag, that all members share
    like : new members read what this member reads
    pod : how many members join and leave together, as those of a pod do
    """

    worlds: Worlds
    best: Best
    now: Assignment | None
    plan: Assignment | None
    lower: Lower
    total: int
    time_left: TimeLeft
    like: str | None = None
    pod: int = 1

    def rebalance(self) -> tuple[Change | NoGain | None, Change | None]:
        """Return the change to an assignment with a lower peak, or that mends the current one.

        The second result is one with fewer moves and most of the gain, or None.
        """
        now, plan, best, lower = self.now, self.plan, self.best, self.lower
        if now is None:
            return None, None
        peak_now, mends = peak_of(now, lower), len(now.violations)
        if plan is not None and peak_of(plan, lower) <= best.peak.value:
            # The verdict's assignment is preferred to another that is as good.
            order = ("balance", MOVES)
            if values(plan, order) <= values(best.assignment, order):
                best = replace(best, assignment=plan)
        if not mends and best.peak.value >= peak_now:
            even = "" if lower == "peak_load" else " with loads as even as can be"
            less = "has less" if best.peak.bound == peak_now else "is known to have less"
            reason = f"No assignment of these members{even} {less}."
            return NoGain("rebalance", reason, proved=best.peak.bound == peak_now), None
        best = with_few_moves(best, lower, self.time_left.share(4))
        before = Peak(peak_now, peak_now, proof="as it is")
        every = Change(
            "rebalance", None if mends else before, best.peak, best.assignment, mends=mends
        )
        if mends or lower == "peak_load":
            return every, None
        if values(now, ("balance",)) == values(best.assignment, ("balance",)):
            few = fall_by_few_moves(now)
        else:
            few = None if plan is None else Fall.to(plan, peak_now, peak_of(plan, lower))
        if few is None or not lag_falls(now, few) or few.moves >= every.moves:
            return every, None
        after = Peak(few.then, min(few.then, best.peak.bound), proof="as it is")
        fewer = Change("rebalance", before, after, few.assignment)
        if MORE_MOVES * (few.then - best.peak.value) >= peak_now:
            return every, fewer
        return fewer, None

    def more_even(self, by_hand: Change | NoGain | None) -> int | None:
        """Return how many moves make loads more even, if a rebalance does not lower the peak."""
        if self.now is None or not isinstance(by_hand, NoGain):
            return None
        even: Assignment | None = self.best.assignment
        if self.lower == "peak_lag":
            # The assignment with the least lag may have more moves than balance needs.
            limit = self.time_left.share(4)
            even = solve(self.now.group, TIERS_OF["peak_load"], time_limit=limit).assignment
        if even is None or values(even, ("balance",)) >= values(self.now, ("balance",)):
            return None
        return len(even.moved)

    def isolated(self, evened: Change | None) -> Change | None:
        """Return the change to uneven loads with less lag; None if there is none.

        Parameters
        ----------
        evened : the rebalance that is advised. The gain is counted from it if it mends the current
            assignment or takes fewer moves, else from the current assignment
        """
        if self.lower != "peak_lag":
            return None
        group, limit = self.best.assignment.group, self.time_left.share(4)
        found = solve(group, (self.lower, MOVES), time_limit=limit)
        if found.assignment is None or found.terms[0].value >= self.best.peak.bound:
            return None
        value, bound = found.terms[0].value, found.terms[0].bound
        after = Peak(value, bound or 0, proof=str(found.proof.kind if bound == value else "none"))
        before = self.best.peak
        moves = len(found.assignment.moved)
        after_it = evened is not None and (evened.mends or evened.moves < moves)
        if not after_it and self.now is not None:
            peak_now = peak_of(self.now, self.lower)
            if peak_now != before.value:
                before = Peak(peak_now, peak_now, proof="as it is")
        return Change("isolate", before, after, found.assignment)

    def more_members(self) -> Change | NoGain:
        """Return the fewest new pods with which the peak surely falls enough.

        They are found by doubling and then bisection, as one more member never raises the least
        peak of partitions. With loads as even as can be it may raise that of lag: then the result
        is a number that is enough, but may not be the fewest.
        """
        present, peak, pod = len(self.worlds.least.members), self.best.peak, self.pod
        most = int(self.worlds.most.partitions.sum())
        lower_bound, because = self._lowest_of_all()
        wanted = peak.bound - least_gain(peak.bound, self.lower)
        if lower_bound > wanted:
            none = peak.value - lower_bound < least_gain(peak.value, self.lower)
            because = (
                f"{counted(present, 'member')} can have {peak.value:,}. {because}, however many "
                "members there are."
            )
            return NoGain("members", because, proved=none)
        known: dict[int, Best | None] = {}

        def falls(more: int) -> bool:
            members = partial(what_if, members=present + more * pod, like=self.like)
            found = known[more] = self._least_peak_after(members)
            return found is not None and found.peak.value <= wanted

        # With fewer members even the average would be above the wanted peak.
        low = max(0, -(-(-(-self.total // wanted) - present) // pod) - 1)
        step = 1
        while not falls(low + step):
            low += step
            if low >= most or self.time_left.is_up:
                members = present + low * pod
                enough = least_share(self.lower)
                unknown = f"No number up to {members:,} is known to lower it by {enough}."
                return NoGain("members", unknown, proved=False)
            step = min(2 * step, max(1, most - low))
        more = fewest(low, low + step, falls, self.time_left)
        found = known[more]
        assert found is not None
        return self._change("members", found, members=present + more * pod)

    def fewer_members(self) -> Change | None:
        """Return the change to the fewest pods with the same peak; those that hold least leave.

        None if no pod is to spare, if members differ, so that it matters which one leaves, or if
        the least peak is not proved. None for lag, too: fewer members read it more slowly.
        """
        worlds, peak, group = self.worlds, self.best.peak, self.worlds.least
        if self.lower != "peak_load" or self.like:
            return None
        if not (worlds.known and peak.proved and all_alike(group)):
            return None
        each = np.arange(len(group.members))
        at = group.places("host").member if self.pod > 1 else each
        order = np.argsort(-np.bincount(at, group.owned), kind="stable")
        known: dict[int, Best | None] = {}

        def keeps(number: int) -> bool:
            stay = each[np.isin(at, order[:number])]
            found = known[number] = self._least_peak_after(methodcaller("only", stay))
            return found is not None and found.peak.value <= peak.value

        found = known.get(fewest(0, len(order), keeps, self.time_left))
        if found is None:
            return None
        left = found.assignment.group.members
        leaves = tuple(member for member in group.members if member not in left)
        return self._change("fewer members", found, members=len(left), leaves=leaves)

    def one_more_reader(self) -> Change | NoGain | None:
        """Return the change by which one member reads one more topic, with the lowest peak.

        Of members that read the same topics, only the one that has least is tried: the others are
        as good. None if a subscription is unknown.
        """
        if not self.worlds.known:
            return None
        group, peak = self.worlds.least, self.best.peak
        pairs, every = _pairs_to_try(group, self.best, self.lower)
        if not every:
            wanted = (group.readers > 0) & (group.partitions > 0)
            reason = "Whoever could read more is as busy itself."
            if (group.readers[wanted] == len(group.members)).all():
                reason = "Every member reads every topic that somebody reads."
            return NoGain("subscription", reason, proved=True)
        lower_bound = max(-(-self.total // len(group.members)), self._lowest_of_all()[0])
        if peak.value - lower_bound < least_gain(peak.value, self.lower):
            reason = f"On average, or by one partition, somebody has {lower_bound:,} or more."
            return NoGain("subscription", reason, proved=True)
        seconds = turn_seconds(self.time_left, 2 * len(pairs))
        tried = [
            self.worlds.changed(partial(what_if, reads={group.members[m]: [group.topics[t]]}))
            for m, t in pairs
        ]
        found: list[tuple[tuple[int, int], Best]] = []
        for pair, one in zip(pairs, least_peaks(tried, self.lower, seconds), strict=True):
            if one is not None and one.peak.value < peak.bound:
                found.append((pair, one))
        if not found:
            reason, proved = "No member that reads one topic more lowers it.", True
            if len(pairs) < every:
                tries = counted(len(pairs), "subscription")
                reason, proved = f"None of the {tries} tried of {every:,} lowers it.", False
            return NoGain("subscription", reason, proved and self.lower == "peak_load")
        (member, topic), least = min(
            found,
            key=lambda one: (
                one[1].peak.value,
                len(one[1].assignment.moved),
                values(one[1].assignment, ("balance",)),
                one[0],
            ),
        )
        who, what = group.members[member], group.topics[topic]
        return self._change("subscription", least, member=who, topic=what, restarts=1)

    def more_partitions(self) -> Change | NoGain:
        """Return the change by which one topic gets more partitions, with the lowest peak.

        Topics whose number of partitions is no multiple of their readers are tried with the next
        multiple. A topic's records are assumed to stay the same and to be spread evenly over its
        partitions; the peak is in parts of present partitions.
        """
        if self.lower == "peak_lag":
            reason = "The lag that is there stays in the partitions where it is."
            return NoGain("partitions", reason, proved=True)
        group, peak = self.worlds.least, self.best.peak
        even = Fraction(int(group.partitions[group.readers > 0].sum()), max(1, len(group.members)))
        if peak.value <= even:
            return NoGain("partitions", "Everybody has the same share.", proved=True)
        tried = _counts_to_try(self.worlds)
        if not tried:
            reason = "The readers of each topic divide its number of partitions."
            return NoGain("partitions", reason, proved=False)
        found: list[tuple[Fraction, int, int, int, Best]] = []
        for i, (topic, count) in enumerate(tried):
            was = int(group.partitions[topic])
            per = count // gcd(was, count)
            grown = partial(_spread_over, topic=topic, count=count)
            one = self._least_peak_after(grown, "peak_weight", parts=2 * (len(tried) - i))
            if one is None or one.peak.value >= peak.bound * per:
                continue
            in_parts = replace(one, peak=replace(one.peak, per=per))
            found.append((Fraction(one.peak.value, per), count - was, topic, count, in_parts))
            if self.time_left.is_up:
                break
        if not found:
            reason = f"None of {len(tried):,} counts tried lowers it."
            if len(tried) == 1:
                ((topic, count),) = tried
                reason = f"{counted(count, 'partition')} of {group.topics[topic]} do not lower it."
            return NoGain("partitions", reason, proved=False)
        _, _, topic, count, least = min(found, key=lambda one: one[:3])
        change = self._change(
            "partitions",
            least,
            "peak_weight",
            topic=group.topics[topic],
            partitions_now=int(group.partitions[topic]),
            partitions=count,
        )
        per = least.peak.per
        before = Peak(peak.value * per, peak.bound * per, per, peak.proof)
        return replace(change, before=before)

    def _change(
        self,
        kind: Kind,
        found: Best,
        lower: str | None = None,
        **what: Any,
    ) -> Change:
        """Return a change of a kind with few moves; `what` are further fields of it."""
        found = with_few_moves(found, lower or self.lower, turn_seconds(self.time_left))
        return Change(kind, self.best.peak, found.peak, found.assignment, **what)

    def _least_peak_after(
        self, change: Callable[[Group], Group], lower: str | None = None, *, parts: int = 2
    ) -> Best | None:
        """Return the least peak after a change, found in one of `parts` parts of the time left."""
        seconds = turn_seconds(self.time_left, parts)
        return least_peak(self.worlds.changed(change), lower or self.lower, seconds)

    def _lowest_of_all(self) -> tuple[int, str]:
        """(peak, reason): a lower bound on the peak with any number of members."""
        most = hottest(self.worlds.least)
        if self.lower == "peak_load":
            return 1, "A partition is with one member: somebody holds at least 1"
        if most is None:
            return 1, "There is some lag: somebody has at least 1"
        return most.records, hottest_alone(most, self.worlds.least.nouns)


def _spread_over(group: Group, topic: int, count: int) -> Group:
    """Return the group after a topic gets `count` partitions with its records spread evenly.

    The weight of a partition is its share of the records. A present partition has the weight
    ``count / gcd(present count, count)``.
    """
    was, at = int(group.partitions[topic]), int(group.first[topic])
    grown = what_if(group, partitions={group.topics[topic]: count})
    weight = np.full(grown.n_partitions, count // gcd(was, count), np.int64)
    weight[at : at + count] = was // gcd(was, count)
    return replace(grown, weight=weight, lag_records=None)


def _pairs_to_try(group: Group, best: Best, lower: Lower) -> tuple[list[tuple[int, int]], int]:
    """Return the (member, topic) pairs to try, most promising first, and the number of all pairs.

    For partitions, all other pairs are proved not to lower the peak: the fullest block
    (docs/explanation/proof.md) holds more than a lower peak allows, and only a member outside it
    can take some of that.
    """
    loads = best.assignment.loads
    topics = np.flatnonzero((group.readers > 0) & (group.partitions > 0))
    inside: set[int] = set()
    if lower == "peak_load" and best.solution.proof.kind is ProofKind.CERTIFICATE:
        blocks = blocks_of(best.solution)
        if blocks:
            inside, topics = set(blocks[0].members), np.array(blocks[0].topics, np.int64)
    weight = group.partitions
    if lower == "peak_lag" and group.lag_records is not None:
        weight = np.zeros(len(group.topics), np.int64)
        np.add.at(weight, group.topic, np.maximum(group.lag_records, 0))
    order = topics[np.argsort(-weight[topics], kind="stable")]
    least: dict[int, int] = {}
    for m in np.argsort(loads, kind="stable").tolist():
        if m not in inside:
            least.setdefault(int(group.subscription_row[m]), m)
    members = list(least.values())
    looked_at = max(1, MOST_CELLS // max(1, len(order)))
    every = len(order) * max(0, len(members) - looked_at)
    members = members[:looked_at]
    pairs: list[tuple[int, int]] = []
    for topic in order.tolist():
        reads = group.subscribes(np.array(members, np.int64), np.full(len(members), topic))
        every += int((~reads).sum())
        if len(pairs) < MOST_PAIRS[lower]:
            pairs += [(m, topic) for m, is_read in zip(members, reads, strict=True) if not is_read]
    return pairs[: MOST_PAIRS[lower]], every


def _counts_to_try(worlds: Worlds) -> list[tuple[int, int]]:
    """(topic, number of partitions) to try, topics with most partitions first."""
    group = worlds.least
    readers, present = worlds.most.readers, group.partitions
    topics = np.flatnonzero((group.readers > 0) & (present > 0))
    topics = topics[present[topics] % readers[topics] != 0]
    topics = topics[np.argsort(-present[topics], kind="stable")]
    next_multiple = (-(-present[topics] // readers[topics])) * readers[topics]
    fits = next_multiple <= np.maximum(MOST_TIMES * present[topics], len(group.members))
    pairs = zip(topics[fits].tolist(), next_multiple[fits].tolist(), strict=True)
    return list(pairs)[:MOST_COUNTS]
