import pytest

from heuristics.shipped.probe.names import MOST_CHARACTERS, SPARE_TOPICS, Names, Told

TOPICS = ["b", "a.a", "a", "B-1"]


def test_names_of_other_rounds_are_others_and_in_the_same_order():
    first, second = Names.unique(TOPICS, 9), Names.unique(TOPICS, 10)
    assert not set(first.back) & set(second.back)
    for names in (first, second):
        assert [names.back[wired] for wired in sorted(names.back)] == sorted(TOPICS)


def test_names_that_kafka_does_not_allow_are_their_place_in_the_order():
    names = Names.unique(["ü", "u v"], 1)
    assert names.sent == {"u v": f"{1:015d}.0", "ü": f"{1:015d}.1"}


def test_names_that_leave_no_room_are_their_place_in_the_order():
    long = [letter * MOST_CHARACTERS for letter in "ba"] + ["aa"]
    names = Names.unique(long, 1)
    assert max(map(len, names.back)) <= MOST_CHARACTERS
    assert [names.back[wired] for wired in sorted(names.back)] == sorted(long)
    assert all(names.back[names.sent[name]] == name for name in long)


def test_spare_topics_stand_for_what_a_member_reads_and_the_order_stays():
    names = Names.among(TOPICS, {"a", "b"}, SPARE_TOPICS, 7)
    assert [names.back[wired] for wired in sorted(names.back)] == sorted(TOPICS)
    assert [names.sent["a"], names.sent["b"]] == list(SPARE_TOPICS[:2])
    again = Names.among(TOPICS, {"a", "b"}, SPARE_TOPICS, 8)
    assert set(names.back) & set(again.back) == set(SPARE_TOPICS[:2])


BOTH, ONLY_T, NOTHING = {"t": [0, 1, 2], "u": [0]}, {"t": [0, 1, 2]}, {}
LEAD, LEAD_OWN = ("lead", {}), ("lead", {"own_only": True})


def asks(topics, held=None):
    return ("ask", topics, held)


def answer(topics):
    return ("answer", topics)


def plans(planned, counts):
    return ("plans", planned, counts)


@pytest.mark.parametrize(
    ("unique", "happens"),
    [
        # A plan with partitions of each topic shows that the client knows the topics.
        (True, [LEAD, plans({"t": [1], "u": [0]}, True)]),
        # If the topics' names were used before, only a plan with the right counts shows it.
        (False, [LEAD, plans({"t": [0, 1], "u": [0]}, False), LEAD, plans(BOTH, True)]),
        # Metadata that is requested in the first round may come too late for the plan.
        (True, [LEAD, asks("tu"), answer("tu"), plans(NOTHING, False)]),
        # Metadata from before the client led counts, unless a later request replaced it.
        (True, [answer("tu"), LEAD, plans(NOTHING, True)]),
        (True, [answer("tu"), answer(["own"]), LEAD, plans(NOTHING, False)]),
        # A client that waits for held-back metadata counts; one that goes on, or never asks, not.
        (
            True,
            [
                LEAD,
                asks("tu", False),
                plans(NOTHING, False),
                LEAD,
                asks("tu", True),
                answer("tu"),
                plans(NOTHING, True),
            ],
        ),
        (True, [LEAD, asks("tu"), plans(NOTHING, False)] * 3),
        (True, [LEAD, plans(NOTHING, False)] * 5),
        # A client that asks for its own topics only counts when it does so again,
        (
            True,
            [
                LEAD,
                asks("t"),
                answer("t"),
                plans(ONLY_T, False),
                LEAD,
                asks("t"),
                answer("t"),
                plans(ONLY_T, True),
            ],
        ),
        # and at once where that is known, unless it asks for others.
        (
            True,
            [
                LEAD_OWN,
                plans(ONLY_T, True),
                asks("u"),
                LEAD_OWN,
                plans(ONLY_T, False),
                LEAD_OWN,
                plans(NOTHING, False),
            ],
        ),
    ],
)
def test_whether_a_plan_was_made_on_the_metadata(unique, happens):
    told = Told({"t": 3, "u": 1}, unique=unique)
    for what, value, *expected in happens:
        if what == "lead":
            told.lead(**value)
        elif what == "ask":
            assert told.ask(value) == expected[0] or expected[0] is None
        elif what == "answer":
            told.answer(value)
        else:
            assert told.is_made_on_it(value) is expected[0]


def test_it_knows_all_when_all_that_it_asked_for_is_answered():
    told = Told({"t": 3, "u": 1}, unique=True)
    told.lead()
    assert not told.knows()
    told.ask("tu")
    told.answer("t")
    assert not told.knows()
    told.answer("tu")
    assert told.knows()
