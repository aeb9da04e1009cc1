"""What holds for every assignor on every group."""

from hypothesis import given, settings
from hypothesis import strategies as st

from groups import Group, Refused
from heuristics import WRITTEN, assign, plan
from tests.optimal.random_groups import documents

STATELESS = ("range", "roundrobin", "kip-169-lag")


def law(*drawn):
    """Run a test on only 60 examples, as every assignor plans each."""
    return lambda test: settings(max_examples=60)(given(*drawn)(test))


def covered(group: Group):
    """Yield each assignor that does not refuse the group, with its plan."""
    for name in WRITTEN:
        try:
            yield name, plan(group, name)
        except Refused:
            assert name.startswith("kip-615")


@law(documents(equal=None, rivals=1))
def test_without_rival_claims_every_assignment_is_valid(document):
    group = Group.from_dict(document)
    for name, made in covered(group):
        assert made.assignment.is_valid, name
        assert made.rounds == 1 or name == "kip-429-cooperative"


@law(documents(equal=None, rivals=1))
def test_names_that_sort_alike_give_the_same_assignment_under_those_names(document):
    renamed = dict(document)
    renamed["members"] = {f"x-{m}": body for m, body in document["members"].items()}
    group = Group.from_dict(renamed)
    for name, made in covered(Group.from_dict(document)):
        assert assign(group, name).owner.tolist() == made.assignment.owner.tolist()


@law(documents(equal=True, least_members=1, rivals=1), st.permutations(range(6)))
def test_under_equal_subscriptions_no_name_changes_the_sorted_loads(document, permutation):
    renamed = {f"m{permutation[int(m[1:])]}": body for m, body in document["members"].items()}
    before, after = (Group.from_dict(d) for d in (document, dict(document, members=renamed)))
    compared = set()
    for name, made in covered(before):
        # Whether KIP-615's promise is broken depends on the order of members.
        if name not in ("kip-54-fairest", "kip-615-constrained"):
            loads = sorted(made.assignment.loads.tolist())
            assert sorted(assign(after, name).loads.tolist()) == loads
            compared.add(name)
    assert compared == WRITTEN.keys() - {"kip-54-fairest", "kip-615-constrained"}


@law(documents(equal=None, rivals=1))
def test_a_topic_that_nobody_reads_changes_nothing(document):
    wider = dict(document, topics={**document["topics"], "a": {"partitions": 3}})
    group = Group.from_dict(wider)
    for name, made in covered(Group.from_dict(document)):
        assert assign(group, name).to_dict() == made.assignment.to_dict()


@law(documents(equal=None, rivals=1))
def test_the_stateless_assignors_do_not_look_at_claims(document):
    fresh = dict(document, members={})
    for member, body in document["members"].items():
        fresh["members"][member] = {"subscription": body["subscription"]}
    for name in STATELESS:
        now, then = (assign(Group.from_dict(d), name) for d in (document, fresh))
        assert now.owner.tolist() == then.owner.tolist()


@law(documents(equal=None, rivals=1))
def test_the_fairest_alternative_keeps_every_valid_owned_partition(document):
    group = Group.from_dict(document)
    fairest = assign(group, "kip-54-fairest").owner
    assert (fairest[group.owner >= 0] == group.owner[group.owner >= 0]).all()


@law(documents(equal=True, least_members=1, rivals=1))
def test_equal_subscriptions_end_within_one_of_each_other(document):
    balanced = {"kip-54-sticky", "kip-615-amended", "kip-429-cooperative", "roundrobin"}
    balanced.add("sticky-that-ends")
    plans = dict(covered(Group.from_dict(document)))
    assert balanced <= plans.keys()
    for name in balanced:
        loads = plans[name].assignment.loads
        assert loads.max() - loads.min() <= 1
