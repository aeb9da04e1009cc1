"""Block: topics and members of one average, and the fewest moves that give everybody that.

The primal-dual method (Ford & Fulkerson, Flows in Networks, 1962, chapter III): everything stays
with its owner, each member is to carry the average, and what is too much in one place goes where
too little is, along paths of the fewest moves.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from optimal.time_left import TimeLeft


def bits(chosen: int) -> Iterator[int]:
    """Yield the elements of a set that is the bits of an integer, ascending."""
    while chosen:
        lowest = chosen & -chosen
        yield lowest.bit_length() - 1
        chosen ^= lowest


class Block:
    """Topics and members of one average, and what goes from each topic to each member.

    Nodes are topics, then members, then the sink, into which each member puts the floor or one
    more; sets of nodes are the bits of integers.

    Attributes
    ----------
    topics, members : sets
    floor, extra : `extra` of the members carry floor + 1, the others floor
    stay, take : how many partitions of a topic stay with their owner, how many more a member
        takes, by (topic, member)
    distance : of each node, in moves; no arc to a node has a cost below the difference
    """

    def __init__(
        self,
        topics: int,
        members: int,
        readers: Sequence[int],
        owned: Mapping[tuple[int, int], int],
        counts: Sequence[int],
        sink: int,
    ) -> None:
        self.topics, self.members, self.sink = topics, members, sink
        self.stay: dict[tuple[int, int], int] = {}
        self.take: dict[tuple[int, int], int] = {}
        self._owned = owned
        self.distance = [0] * (sink + 1)
        self._at = {0: topics | members | 1 << sink}
        # Where one more partition may go at no move, at one more, or at one less.
        self._level, self._more, self._less = ([0] * (sink + 1) for _ in range(3))
        excess = [0] * (sink + 1)
        total = 0
        for topic in bits(topics):
            excess[topic] = counts[topic]
            total += counts[topic]
            self._level[topic] = readers[topic] & members
        for (topic, member), count in owned.items():
            if topics >> topic & 1 and members >> member & 1:
                self.stay[topic, member] = count
                self._more[member] |= 1 << topic
                excess[topic] -= count
                excess[member] += count
        self.floor, self.extra = divmod(total, max(members.bit_count(), 1))
        who = sorted(bits(members), key=lambda member: excess[member] <= self.floor)
        for member in who:
            excess[member] -= self.floor
        for member in who[: self.extra]:
            excess[member] -= 1
            self._level[sink] |= 1 << member
        if self.extra:
            for member in who[self.extra :]:
                self._level[member] |= 1 << sink
        self._excess = excess

    def levelled(self, time_left: TimeLeft) -> int:
        """Give every member its load, after the fewest moves.

        Returns
        -------
        Topics and members that have more together than they can carry, or carry all that the
        others lack: a part that is to be a block of its own. 0 where there is none.

        Raises
        ------
        OutOfTime
            Where nothing is left.
        """
        excess = self._excess
        over = sum(1 << node for node, more in enumerate(excess) if more > 0)
        short = sum(1 << node for node, more in enumerate(excess) if more < 0)
        while over:
            time_left.check()
            path, reached = self._path(over, short, 0)
            if not path:
                if not self._raised(reached):
                    return reached & ~(1 << self.sink)
                continue
            source, target = path[0], path[-1]
            most = min(excess[source], -excess[target])
            sent = self._sent(path, most)
            excess[source] -= sent
            excess[target] += sent
            if not excess[source]:
                over ^= 1 << source
            if not excess[target]:
                short ^= 1 << target
        return 0

    def settle(self) -> None:
        """Of loads that are as good, take those of which the first members carry more.

        Who may carry one more are the bases of a matroid, whose first the greedy method finds.
        """
        sink = self.sink
        free = self._at.get(self.distance[sink], 0)
        for member in bits(free & self.members):
            carry_more = free & self._level[sink] & -(2 << member)
            if not carry_more:
                return
            if self._level[sink] >> member & 1:
                continue
            path, _ = self._path(carry_more, 1 << member, 1 << sink)
            if path:
                self._sent([sink, *path, sink], 1)

    def prices(self) -> dict[int, int]:
        """Return what each member pays: 0 or more where it must carry as much as it may."""
        found = {m: self.distance[self.sink] - self.distance[m] for m in bits(self.members)}
        least = 0 if self.extra else min(found.values())
        return {member: price - least for member, price in found.items()}

    def _path(self, sources: int, targets: int, barred: int) -> tuple[list[int], int]:
        """Return a path that costs what the distances say, or none, and all that was reached."""
        distance, at = self.distance, self._at
        level, more, less = self._level, self._more, self._less
        seen, layer = sources | barred, sources
        steps: list[tuple[int, int]] = []
        while layer:
            following = 0
            while layer:
                lowest = layer & -layer
                layer ^= lowest
                node = lowest.bit_length() - 1
                here = distance[node]
                found = level[node] & at[here]
                if more[node]:
                    found |= more[node] & at.get(here + 1, 0)
                if less[node]:
                    found |= less[node] & at.get(here - 1, 0)
                found &= ~seen
                if found:
                    steps.append((node, found))
                    if found & targets:
                        return _back(steps, found & targets), seen
                    seen |= found
                    following |= found
            layer = following
        return [], seen

    def _sent(self, path: list[int], most: int) -> int:
        """Send so many partitions at most along a path; return how many."""
        arcs = [(a, b, self.distance[b] - self.distance[a]) for a, b in pairwise(path)]
        for a, b, cost in arcs:
            most = min(most, self._room(a, b, cost, most))
        for a, b, cost in arcs:
            self._add(a, b, cost, most)
        return most

    def _room(self, a: int, b: int, cost: int, most: int) -> int:
        if self.sink in (a, b):
            return 1
        if cost < 0:
            return self._owned[a, b] - self.stay[a, b]
        if cost > 0:
            return self.stay[b, a]
        return most if a < b else self.take[b, a]

    def _add(self, a: int, b: int, cost: int, count: int) -> None:
        if self.sink in (a, b):
            self._level[a] ^= 1 << b
            self._level[b] ^= 1 << a
            return
        to_member = a < b
        topic, member = (a, b) if to_member else (b, a)
        sign = count if to_member else -count
        if cost:
            now = self.stay[topic, member] = self.stay[topic, member] + sign
            _put(self._more, member, topic, now > 0)
            _put(self._less, topic, member, now < self._owned[topic, member])
        else:
            now = self.take[topic, member] = self.take.get((topic, member), 0) + sign
            _put(self._level, member, topic, now > 0)

    def _raised(self, reached: int) -> bool:
        """Put all that was not reached one move further away; False where nothing leads there."""
        if not any(
            (self._level[node] | self._more[node] | self._less[node]) & ~reached
            for node in bits(reached)
        ):
            return False
        self.distance = [d + (not reached >> n & 1) for n, d in enumerate(self.distance)]
        at: dict[int, int] = {}
        for d, nodes in self._at.items():
            at[d] = at.get(d, 0) | nodes & reached
            at[d + 1] = at.get(d + 1, 0) | nodes & ~reached
        self._at = at
        return True


def _put(sets: list[int], which: int, node: int, there: bool) -> None:
    sets[which] = sets[which] | 1 << node if there else sets[which] & ~(1 << node)


def _back(steps: Iterable[tuple[int, int]], ends: int) -> list[int]:
    """Return the path to the first of some nodes, by steps from a node to some others."""
    path = [(ends & -ends).bit_length() - 1]
    for node, found in reversed(list(steps)):
        if found >> path[-1] & 1:
            path.append(node)
    return path[::-1]
