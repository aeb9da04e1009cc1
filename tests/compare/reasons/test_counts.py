"""Every count of an explanation is true, by the group alone and over all assignments."""

import random
from itertools import combinations, product

import pytest

from compare.reasons.explanation import blocks_of, moves_of
from groups import Group
from groups.errors import ProofError
from optimal import solve
from optimal.proof import Proof
from optimal.solution import Term
from tests.optimal.random_groups import random_group
from tests.optimal.small_groups import group_of
from tests.seeds import for_each

SEEDS = range(250)


def drawn(seed: int, members: int = 8, partitions: int = 30) -> Group:
    """Return a random group; for odd seeds a chain, in which one move makes others necessary."""
    rng = random.Random(seed)
    if seed % 2:
        return linked(rng, members, partitions)
    return random_group(
        rng, members=rng.randint(1, members), partitions=rng.randint(1, partitions)
    )


def linked(rng: random.Random, members: int, partitions: int) -> Group:
    """Return a chain: two neighbours read each topic, and the first of them owns most of it."""
    size = rng.randint(2, members)
    count = {f"t{i}": rng.randint(1, max(partitions // size, 1)) for i in range(size - 1)}
    reads = {f"c{m}": [f"t{i}" for i in (m - 1, m) if 0 <= i < size - 1] for m in range(size)}
    owned: dict[str, dict[str, list[int]]] = {f"c{m}": {} for m in range(size)}
    for i, (topic, most) in enumerate(count.items()):
        for number in range(most):
            owner = f"c{i + (rng.random() < 0.15)}"
            if rng.random() < 0.9:
                owned[owner].setdefault(topic, []).append(number)
    return group_of(count, reads, owned)


class Plain:
    """A group and its blocks as sets, read from the group's document."""

    def __init__(self, group: Group, blocks) -> None:
        document = group.to_dict()
        self.reads = [
            {group.topics.index(t) for t in said["subscription"] if t in group.topics}
            for said in document["members"].values()
        ]
        self.block_of = {m: i for i, block in enumerate(blocks) for m in block.members}
        self.topic_block = {t: i for i, block in enumerate(blocks) for t in block.topics}
        self.topic, self.owner = group.topic.tolist(), group.owner.tolist()

    def readers(self, topic: int) -> set[int]:
        return {m for m, topics in enumerate(self.reads) if topic in topics}

    def holders(self, topic: int) -> set[int]:
        """Return the readers of a topic that are in its block."""
        return {m for m in self.readers(topic) if self.block_of[m] == self.topic_block.get(topic)}

    def others(self, count) -> set[int]:
        """Return the partitions of which a count says how many must move."""
        owned = {
            p
            for p, owner in enumerate(self.owner)
            if owner in count.owners and owner in self.holders(self.topic[p])
        }
        if count.kind == "room":
            return {p for p in owned if self.topic[p] not in count.topics}
        return {p for p in owned if self.holders(self.topic[p]) & set(count.members)}

    def may_hold(self, members) -> set[int]:
        return {p for p, t in enumerate(self.topic) if self.holders(t) & set(members)}

    def only_holders(self, members) -> set[int]:
        return {p for p, t in enumerate(self.topic) if set() < self.holders(t) <= set(members)}


@for_each(SEEDS)
def test_a_block_and_those_above_it_are_the_only_readers_of_their_topics_and_hold_just_those(seed):
    group = drawn(seed)
    solution = solve(group)
    blocks, loads = blocks_of(solution), solution.assignment.loads
    plain = Plain(group, blocks)
    assert sorted(m for block in blocks for m in block.members) == list(range(len(group.members)))
    read = {t for t in range(len(group.topics)) if plain.readers(t) and group.partitions[t]}
    assert sorted(t for block in blocks for t in block.topics) == sorted(read)
    so_far: set[int] = set()
    for block in blocks:
        so_far |= set(block.members)
        assert all(plain.readers(t) <= so_far for t in block.topics)
        assert (
            sum(loads[list(block.members)])
            == block.partitions
            == sum(group.partitions[list(block.topics)])
        )
        held = loads[list(block.members)]
        assert (held.min(), held.max()) == (block.least, block.most)
        assert block.floor <= block.least <= block.most <= block.ceiling <= block.floor + 1
    assert [b.most for b in blocks] == sorted((b.most for b in blocks), reverse=True)
    for first in blocks[:1]:
        # The first block gives the least possible greatest load.
        assert -(-first.partitions // len(first.members)) == loads.max()


@pytest.mark.exhaustive
@for_each(SEEDS)
def test_counts_are_what_the_group_says_and_add_up_to_the_moves_with_none_counted_twice(seed):
    group = drawn(seed)
    solution = solve(group)
    blocks, moves = blocks_of(solution), moves_of(solution)
    plain = Plain(group, blocks)
    assert moves.total == solution.terms[1].value
    for one in moves.downward:
        assert plain.block_of[one.owner] < plain.topic_block[one.topic]
        owned = sum(
            plain.topic[p] == one.topic for p, o in enumerate(plain.owner) if o == one.owner
        )
        assert one.partitions == owned > 0
    for count in moves.counts:
        bounds = [blocks[plain.block_of[m]] for m in count.members]
        if count.kind == "room":
            assert count.limit == sum(block.ceiling for block in bounds)
            assert count.fixed == len(plain.only_holders(count.members))
            assert set(count.owners) <= set(count.members)
            assert count.moves == count.fixed + count.others - count.limit > 0
        else:
            assert count.limit == sum(block.floor for block in bounds)
            others = plain.others(count)
            assert count.fixed == len(plain.may_hold(count.members) - others)
            assert not set(count.owners) & set(count.members)
            assert count.moves == count.limit - count.fixed > 0
        assert count.others == len(plain.others(count))
        counted = plain.only_holders(count.members) | plain.others(count)
        if count.kind == "need":
            counted = plain.may_hold(count.members)
        assert count.owned == sum(plain.owner[p] in count.members for p in counted)
    for one, other in combinations(moves.counts, 2):
        apart = not plain.others(one) & plain.others(other)
        # Else they come to different members.
        both_need = one.kind == other.kind == "need"
        assert apart or (both_need and not set(one.members) & set(other.members))


@for_each(range(120))
def test_every_count_holds_in_every_balanced_assignment(seed):
    group = drawn(seed, members=4, partitions=6)
    solution = solve(group)
    blocks, moves = blocks_of(solution), moves_of(solution)
    plain = Plain(group, blocks)
    readers = [sorted(plain.readers(t)) or [-1] for t in plain.topic]
    best = solution.terms[0].value
    seen = 0
    for owner in product(*readers):
        loads = [owner.count(m) for m in range(len(group.members))]
        if sum(abs(a - b) for i, a in enumerate(loads) for b in loads[:i]) != best:
            continue
        seen += 1
        for count in moves.counts:
            among = plain.others(count)
            if count.kind == "room":
                gone = sum(owner[p] not in count.members for p in among)
            else:
                gone = sum(owner[p] in count.members for p in among)
            assert gone >= count.moves
        for one in moves.downward:
            theirs = [p for p, o in enumerate(plain.owner) if o == one.owner]
            assert all(owner[p] != one.owner for p in theirs if plain.topic[p] == one.topic)
        for block in blocks:
            assert all(block.floor <= loads[m] <= block.ceiling for m in block.members)
    assert seen


@pytest.mark.exhaustive
def test_counts_of_all_kinds_and_prices_of_several_steps_are_among_those_tried():
    solutions = [solve(drawn(seed)) for seed in SEEDS]
    counts = [count for one in solutions for count in moves_of(one).counts]
    assert len({(one.kind, len(one.members) > 1, one.fixed > 0) for one in counts}) >= 6
    prices = {int(price) for one in solutions for price in one.proof.price}
    assert {-3, -2, -1, 0, 1, 2, 3} <= prices


def test_a_certificate_that_does_not_add_up_is_not_put_in_words():
    group = drawn(8)
    solution = solve(group)
    wrong = Proof(solution.proof.kind, solution.proof.level, solution.proof.price * 0)
    object.__setattr__(solution, "proof", wrong)
    assert solution.terms[1] != Term("stickiness", 0, 0)
    with pytest.raises(ProofError, match=r"add up to 0 moves, but \d+ are proved"):
        moves_of(solution)
