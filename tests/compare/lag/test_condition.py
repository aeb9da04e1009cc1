import pytest

from compare.judged import judge
from compare.lag.behind import if_latest, most_lag, which_if_latest
from compare.lag.lowest import lag_document
from compare.lag.peaks import lowest_peaks
from compare.lag.words import lag_sentences, peak_found
from compare.sentences import sentence
from groups import Assignment, Group
from optimal import solve
from tests.compare.conftest import holding

COMMITTED = {"beginning": 0, "end": 60, "committed": 18}
NEVER = {"beginning": 0, "end": 300, "committed": None}
EMPTY = {"beginning": 7, "end": 7, "committed": None}
IF = (
    "if consumers start at the end (auto.offset.reset=latest, assumed for 1 partition without a "
    "commit)"
)


def group_of(*offsets, **more):
    """Return a group of two members: the first owns the first partition, the second the others."""
    count = len(offsets)
    topics = {
        "t": {"partitions": count, "offsets": list(offsets)},
        "unread": {"partitions": 1, "offsets": [NEVER]},
    }
    owned = {"a": [0], "b": [*range(1, count)]}
    return Group.from_dict(holding(count, owned) | {"topics": topics} | more)


def told(group):
    (one,) = judge([group])
    (lowest,) = lowest_peaks([one], ("balance", "stickiness"))
    return lag_sentences(one, lowest)


def test_what_is_said_of_a_lag_that_rests_on_an_assumed_reset_says_so_itself():
    assert told(group_of(COMMITTED, NEVER)) == (
        f"Most lag: a with 42 of 42 records, {IF}.",
        "If so, the assignor is not at fault: no balanced assignment has less on one member. "
        "One partition (t-0) alone has 42 "
        "of lag: no assignment can put less on its member, however many members there are.",
    )
    solved = solve(group_of(COMMITTED, NEVER), "balance > peak_lag")
    assert peak_found(solved).startswith(f"Most lag on one member: 42, as now, {IF}. ")


def test_that_nobody_is_behind_is_said_with_its_condition_and_never_as_a_finding():
    assert told(group_of(EMPTY, NEVER, EMPTY)) == (
        "No lag, if consumers start at the end (auto.offset.reset=latest, assumed for 3 "
        "partitions without a commit).",
    )
    caught_up = COMMITTED | {"committed": 60}
    assert told(group_of(caught_up, caught_up)) == ()
    assert most_lag(Assignment.current(group_of(caught_up, caught_up))) == ""


@pytest.mark.parametrize(
    ("reset", "waits"),
    [
        (None, f"42 records wait, {IF.replace('1 partition', '2 partitions')}."),
        ("latest", "42 records wait."),
        ("earliest", "642 records wait."),
    ],
)
def test_what_waits_in_a_group_without_members_says_so_too(reset, waits):
    said = {} if reset is None else {"auto_offset_reset": reset}
    (judged,) = judge([group_of(COMMITTED, NEVER, members={}, **said)])
    assert sentence(judged) == (
        f"g: nobody reads. The group has no members. {waits} Start its consumers; one that calls "
        "assign() is no member and is not seen here."
    )


@pytest.mark.parametrize(
    "group",
    [
        group_of(COMMITTED, NEVER, auto_offset_reset="latest"),
        group_of(COMMITTED, NEVER, auto_offset_reset="earliest"),
        group_of(COMMITTED, COMMITTED),
        group_of(COMMITTED, EMPTY),
    ],
    ids=["latest", "earliest", "all committed", "nothing to read"],
)
def test_there_is_no_condition_where_the_reset_is_known_or_decides_nothing(group):
    assert if_latest(group) == ""
    assert "if so" not in " ".join(told(group)).lower()
    assert lag_document(Assignment.current(group), None)["latest_assumed"] == 0


def test_of_several_groups_those_are_named_whose_lag_rests_on_it():
    groups = [group_of(COMMITTED, NEVER, group=name) for name in "ab"]
    assert which_if_latest([*groups, group_of(COMMITTED, COMMITTED)]) == (
        f"lag of a, b is as shown {IF}".replace("1 partition", "2 partitions")
    )
    assert which_if_latest([group_of(COMMITTED)]) == ""
