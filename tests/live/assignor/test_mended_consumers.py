from pathlib import Path

import pytest

from groups import Group, values
from heuristics import assign
from studies.mended_consumers import NAME, Aiokafka, Eager, KafkaPython
from tests.live.assignor.playing import AsyncMember, Member, group_of, holdings, settle

JOIN = Group.read(Path(__file__).parents[3] / "docs/findings/never-returns.json")
TOPICS = dict(zip(JOIN.topics, JOIN.partitions.tolist(), strict=True))
READS = {m: [JOIN.topics[t] for t in JOIN.subscription(i)] for i, m in enumerate(JOIN.members)}
KINDS = {
    "cooperative": lambda topics: Member(topics, KafkaPython),
    "eager": lambda topics: Member(topics, Eager),
    "aiokafka": lambda topics: AsyncMember(topics, Aiokafka),
}


@pytest.mark.parametrize("kind", KINDS)
def test_after_a_join_consumers_hold_as_many_and_move_as_few_as_the_assignor_says(kind):
    *first, last = JOIN.members
    party = {member: KINDS[kind](READS[member]) for member in first}
    settle(party, TOPICS)
    before = holdings(party)
    party[last] = KINDS[kind](READS[last])
    settle(party, TOPICS, last)
    asked = assign(group_of(party, TOPICS, before), NAME)
    held = holdings(party)
    assert [len(held[member]) for member in JOIN.members] == asked.loads.tolist()
    moved = sum(len(before[member] - held[member]) for member in first)
    assert (moved,) == values(asked, ("stickiness",))
    assert moved > 0
