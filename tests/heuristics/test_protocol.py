"""KIP-726: the choice in a mixed group, step by step of an upgrade."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups import Refused
from heuristics import WRITTEN
from heuristics.protocol import (
    AS_WRITTEN,
    DEFAULT_ASSIGNORS,
    Protocol,
    choose,
    loses_partitions,
    static_protocol,
    supported_protocols,
)

EAGER, COOPERATIVE = Protocol.EAGER, Protocol.COOPERATIVE
OLD = ("range",)


def test_the_default_list_makes_a_new_group_cooperative():
    choice = choose(dict.fromkeys("abc", DEFAULT_ASSIGNORS))
    assert (choice.assignor, choice.protocol) == ("cooperative-sticky", COOPERATIVE)
    assert choice.votes == {"cooperative-sticky": 3, "range": 0}


def test_a_rolling_upgrade_stays_eager_until_the_last_member_is_upgraded():
    for upgraded in range(4):
        lists = {m: DEFAULT_ASSIGNORS if m < upgraded else OLD for m in range(4)}
        choice = choose({f"m{m}": listed for m, listed in lists.items()})
        assert (choice.assignor, str(choice.protocol)) == ("range", "eager")


def test_only_a_member_that_held_on_loses_its_partitions():
    changes = product((EAGER, COOPERATIVE), repeat=2)
    assert [one for one in changes if loses_partitions(*one)] == [(COOPERATIVE, EAGER)]


def test_most_first_choices_among_the_common_ones_win():
    lists = {
        "a": ("roundrobin", "range"),
        "b": ("roundrobin", "range"),
        "c": ("range", "sticky", "roundrobin"),
    }
    assert choose(lists).assignor == "roundrobin"
    assert choose(lists).votes == {"roundrobin": 2, "range": 1}


def test_a_vote_for_what_others_lack_goes_to_the_next_in_the_list():
    choice = choose({"a": ("sticky", "roundrobin", "range"), "b": ("range", "roundrobin")})
    assert choice.votes == {"range": 1, "roundrobin": 1}
    assert choice.assignor == "range"


def test_members_without_a_common_assignor_have_none():
    lists = {"b": ("sticky", "range"), "a": ("roundrobin",)}
    with pytest.raises(Refused, match=r"by all members \(a: roundrobin; b: sticky, range\)$"):
        choose(lists)
    with pytest.raises(Refused, match="no member, so no assignor"):
        choose({})


def test_before_the_proposal_two_bounces_were_needed():
    assert static_protocol(OLD) is EAGER
    assert static_protocol(("cooperative-sticky", "range")) is EAGER
    assert static_protocol(("cooperative-sticky",)) is COOPERATIVE


def test_an_assignor_of_ones_own_is_eager():
    assert supported_protocols("my-assignor") == (EAGER,)
    assert choose({"a": ("my-assignor",)}).protocol is EAGER


def test_every_assignor_of_the_table_can_be_run_as_written():
    assert set(AS_WRITTEN.values()) <= WRITTEN.keys()


@given(
    st.dictionaries(
        st.text("abc", min_size=1),
        st.lists(st.sampled_from(["range", "roundrobin", "sticky"]), min_size=1, unique=True),
        min_size=1,
    )
)
def test_what_is_chosen_is_supported_by_all_and_its_votes_are_not_beaten(lists):
    try:
        choice = choose(lists)
    except Refused:
        return
    assert all(choice.assignor in listed for listed in lists.values())
    assert choice.votes[choice.assignor] == max(choice.votes.values())
    assert sum(choice.votes.values()) == len(lists)
