from heuristics.shipped.probe.names import MOST_CHARACTERS, SPARE_TOPICS, Names

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
