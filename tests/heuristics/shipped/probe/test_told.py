import pytest

from heuristics.shipped.probe.names import Told

BOTH = {"t": [0, 1, 2], "u": [0]}
NOTHING = {}


@pytest.fixture
def told():
    return Told({"t": 3, "u": 1}, unique=True)


@pytest.fixture
def kept():
    return Told({"t": 3, "u": 1}, unique=False)


def test_a_plan_that_hands_out_some_of_each_topic_shows_that_the_client_was_told(told):
    told.lead()
    assert told.is_made_on_it({"t": [1], "u": [0]})


def test_under_kept_names_only_the_right_counts_show_it(kept):
    kept.lead()
    assert not kept.is_made_on_it({"t": [0, 1], "u": [0]})
    kept.lead()
    assert kept.is_made_on_it(BOTH)


def test_what_is_asked_in_the_first_round_may_have_come_too_late(told):
    told.lead()
    told.ask("tu")
    told.answer("tu")
    assert not told.is_made_on_it(NOTHING)


def test_what_was_known_before_the_client_led_counts(told):
    told.answer("tu")
    told.lead()
    assert told.is_made_on_it(NOTHING)


def test_what_was_known_may_be_gone_once_others_are_asked_for(told):
    told.answer("tu")
    told.answer(["own"])
    told.lead()
    assert not told.is_made_on_it(NOTHING)


def test_a_client_that_waits_for_what_is_held_back_counts(told):
    told.lead()
    assert not told.ask("tu")
    assert not told.is_made_on_it(NOTHING)
    told.lead()
    assert told.ask("tu")
    told.answer("tu")
    assert told.is_made_on_it(NOTHING)


def test_a_client_that_goes_on_without_waiting_does_not_count(told):
    for _ in range(3):
        told.lead()
        told.ask("tu")
        assert not told.is_made_on_it(NOTHING)


def test_a_client_that_asks_for_its_own_topics_only_counts_when_it_does_so_again(told):
    for again in (False, True):
        told.lead()
        told.ask("t")
        told.answer("t")
        assert told.is_made_on_it({"t": [0, 1, 2]}) is again


def test_a_client_known_to_ask_for_its_own_topics_only_counts_at_once_and_unless_it_asks(told):
    told.lead(own_only=True)
    assert told.is_made_on_it({"t": [0, 1, 2]})
    told.ask("u")
    told.lead(own_only=True)
    assert not told.is_made_on_it({"t": [0, 1, 2]})
    told.lead(own_only=True)
    assert not told.is_made_on_it(NOTHING)


def test_a_client_that_never_asks_for_anything_never_counts(told):
    for _ in range(5):
        told.lead()
        assert not told.is_made_on_it(NOTHING)


def test_it_knows_all_when_all_that_it_asked_for_is_answered(told):
    told.lead()
    assert not told.knows()
    told.ask("tu")
    told.answer("t")
    assert not told.knows()
    told.answer("tu")
    assert told.knows()
