from __future__ import annotations

from groups import Group
from groups.absent_topics import readers_of_nothing


def group_of(name: str, **reads: list[str] | None) -> Group:
    members = {member: {"subscription": topics} for member, topics in reads.items()}
    document = {"format": "assay-group/1", "group": name, "topics": {"t": 1}, "members": members}
    return Group.from_dict(document)


def test_members_that_read_only_topics_that_do_not_exist_are_named_in_one_line():
    group = group_of("g", a=["t", "gone"], b=["gone"], c=[], d=None)
    line = "1 member reads only topics that do not exist: b (gone)"
    assert readers_of_nothing([group]) == line
    assert readers_of_nothing([group_of("g", a=["t", "gone"], c=[], d=None)]) is None


def test_of_many_the_first_few_are_named_with_their_group():
    many = group_of("g", **{f"c{i}": ["x", "y", "z", "zz"] for i in range(5)})
    assert readers_of_nothing([many, group_of("h", a=["t"])]) == (
        "5 members read only topics that do not exist: c0 of g (x, y, z and 1 more), "
        "c1 of g (x, y, z and 1 more), c2 of g (x, y, z and 1 more) and 2 more"
    )
