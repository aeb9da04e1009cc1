"""What holds for every assignor on every group."""

from hypothesis import given, settings
from hypothesis import strategies as st

from groups import Group, Refused
from heuristics import WRITTEN, assign, plan
from tests.optimal.small_groups import document

TOPICS = ("t0", "t1", "t2", "t3")
STATELESS = ("range", "roundrobin", "kip-169-lag")


@st.composite
def documents(draw, *, equal: bool | None = None, least_members: int = 0) -> dict:
    topics = {}
    for topic in TOPICS[: draw(st.integers(0, 4))]:
        lag = draw(st.lists(st.integers(0, 100), max_size=5))
        topics[topic] = {"partitions": len(lag), "lag": lag}
    equal = draw(st.booleans()) if equal is None else equal
    subscription = draw(st.sets(st.sampled_from(TOPICS)))
    members = {}
    for member in range(draw(st.integers(least_members, 5))):
        mine = subscription if equal else draw(st.sets(st.sampled_from(TOPICS)))
        members[f"m{member}"] = {"subscription": sorted(mine)}
    claimed = {}
    for topic, numbers in ((t, range(d["partitions"] + 1)) for t, d in topics.items()):
        for number in numbers:
            if members and draw(st.booleans()):
                claimed[topic, number] = draw(st.sampled_from(sorted(members)))
    for (topic, number), member in claimed.items():
        members[member].setdefault("owned", {}).setdefault(topic, []).append(number)
    for member in members.values():
        member["generation"] = draw(st.integers(-1, 3))
    return document(topics, members)


def law(*drawn):
    """Hold a test on so many examples: each is planned by every assignor."""
    return lambda test: settings(max_examples=60)(given(*drawn)(test))


def covered(group: Group):
    """Each assignor that does not refuse the group, with its plan."""
    for name in WRITTEN:
        try:
            yield name, plan(group, name)
        except Refused:
            assert name.startswith("kip-615")


@law(documents())
def test_without_rival_claims_every_assignment_is_valid(document):
    group = Group.from_dict(document)
    for name, made in covered(group):
        assert made.assignment.is_valid, name
        assert made.rounds == 1 or name == "kip-429-cooperative"


@law(documents())
def test_the_order_of_keys_carries_no_meaning(document):
    other = {key: document[key] for key in reversed(document)}
    for key in ("topics", "members"):
        other[key] = {name: document[key][name] for name in reversed(document[key])}
    group = Group.from_dict(other)
    for name, made in covered(Group.from_dict(document)):
        assert assign(group, name).to_dict() == made.assignment.to_dict()


@law(documents())
def test_names_that_sort_alike_give_the_same_assignment_under_those_names(document):
    renamed = dict(document)
    renamed["members"] = {f"x-{m}": body for m, body in document["members"].items()}
    group = Group.from_dict(renamed)
    for name, made in covered(Group.from_dict(document)):
        assert assign(group, name).owner.tolist() == made.assignment.owner.tolist()


@law(documents(equal=True, least_members=1), st.permutations(range(5)))
def test_under_equal_subscriptions_no_name_changes_the_sorted_loads(document, permutation):
    renamed = {f"m{permutation[int(m[1:])]}": body for m, body in document["members"].items()}
    before, after = (Group.from_dict(d) for d in (document, dict(document, members=renamed)))
    compared = set()
    for name, made in covered(before):
        # A break of KIP-615's promise depends on who comes first.
        if name not in ("kip-54-fairest", "kip-615-constrained"):
            loads = sorted(made.assignment.loads.tolist())
            assert sorted(assign(after, name).loads.tolist()) == loads
            compared.add(name)
    assert compared == WRITTEN.keys() - {"kip-54-fairest", "kip-615-constrained"}


@law(documents())
def test_a_topic_that_nobody_reads_changes_nothing(document):
    wider = dict(document, topics={**document["topics"], "a": {"partitions": 3}})
    group = Group.from_dict(wider)
    for name, made in covered(Group.from_dict(document)):
        assert assign(group, name).to_dict() == made.assignment.to_dict()


@law(documents())
def test_the_stateless_assignors_do_not_look_at_claims(document):
    fresh = dict(document, members={})
    for member, body in document["members"].items():
        fresh["members"][member] = {"subscription": body["subscription"]}
    for name in STATELESS:
        now, then = (assign(Group.from_dict(d), name) for d in (document, fresh))
        assert now.owner.tolist() == then.owner.tolist()


@law(documents())
def test_the_fairest_alternative_keeps_every_valid_owned_partition(document):
    group = Group.from_dict(document)
    fairest = assign(group, "kip-54-fairest").owner
    assert (fairest[group.owner >= 0] == group.owner[group.owner >= 0]).all()


@law(documents(equal=True, least_members=1))
def test_equal_subscriptions_end_within_one_of_each_other(document):
    balanced = {"kip-54-sticky", "kip-615-amended", "kip-429-cooperative", "roundrobin"}
    balanced.add("sticky-that-ends")
    plans = dict(covered(Group.from_dict(document)))
    assert balanced <= plans.keys()
    for name in balanced:
        loads = plans[name].assignment.loads
        assert loads.max() - loads.min() <= 1
