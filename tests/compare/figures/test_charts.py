"""What a figure draws follows from its table."""

import pytest

from assay import figures


def values_of(chart):
    """Return the records that a chart draws, a list for the chart and each layer with data."""
    spec = chart.to_dict()
    data = [part["data"] for part in (spec, *spec.get("layer", [])) if "data" in part]
    return [spec["datasets"][one["name"]] if "name" in one else one["values"] for one in data]


def loads_of(members, topics=1):
    return [
        {"member": f"c{i}", "whose": whose, "topic": f"t{t}", "partitions": count}
        for i in range(members)
        for t in range(topics)
        for whose, count in (("now", i), ("best", 3))
    ]


def test_of_many_members_the_most_uneven_are_drawn_and_the_title_says_so():
    chart = figures.loads(loads_of(50), most=4)
    drawn = {row["member"] for row in values_of(chart)[0]}
    assert drawn == {"c49", "c48", "c47", "c46"}
    assert "4 of 50 members" in chart.to_dict()["title"]["subtitle"]


def test_of_many_topics_the_smallest_are_drawn_together():
    (values,) = values_of(figures.loads(loads_of(3, topics=12)))
    drawn = {row["topic"] for row in values}
    assert len(drawn) == 8
    assert "5 other topics" in drawn
    held = sum(row["partitions"] for row in values)
    assert held == sum(row["partitions"] for row in loads_of(3, topics=12))


def test_a_group_in_which_nobody_holds_anything_is_drawn_too():
    rows = [{"member": "a", "whose": "now", "topic": None, "partitions": 0}]
    text = figures.svg(figures.loads(rows))
    assert text.startswith("<svg")
    assert "NaN" not in text


def test_any_name_can_be_drawn():
    names = ["it's", 'a"b', "</script>", "back\\slash", "new\nline", "\u2028", "a.b[0]", "null"]
    for draw, named, rest in (
        (figures.loads, ("member", "whose", "topic"), {"partitions": 1}),
        (figures.lag, ("member", "whose"), {"records": 1}),
        (figures.moves, ("origin", "target"), {"partitions": 1}),
        (figures.costs, ("assignor", "tier"), {"value": 1}),
        (figures.ecdf, ("assignor",), {"excess": 1}),
        (figures.trend, ("group",), {"captured_at": "2026-11-20", "value": 1}),
    ):
        text = figures.svg(draw([dict.fromkeys(named, name) | rest for name in names]))
        assert text.startswith("<svg")
        assert "NaN" not in text


def test_assignors_with_the_same_counts_share_a_place():
    rows = [
        {"assignor": name, "groups": 4, "valid": 4, "balanced": 4, "optimal": optimal}
        for name, optimal in (("a", 1), ("b", 3), ("c", 1), ("d", 0))
    ]
    drawn = [row["assignor"] for row in values_of(figures.shares(rows))[0]]
    assert list(dict.fromkeys(drawn)) == ["1  b", "2=  a", "2=  c", "4  d"]


def test_assignors_that_tie_in_every_group_share_a_line():
    rows = [
        {"assignor": name, "group": group, "excess": excess}
        for name, excess in (("a", 0), ("b", 4), ("c", 0))
        for group in ("g", "h")
    ]
    (drawn,) = values_of(figures.ecdf(rows))
    assert {row["label"] for row in drawn} == {"a, c", "b"}
    assert [(row["x"], row["share"]) for row in drawn if row["label"] == "b"] == [
        (0, 0),
        (4, 1),
        (pytest.approx(4.4), 1),
    ]


def test_an_optimum_that_is_not_proved_is_a_shade_beside_the_sure_line():
    rows = [
        {"assignor": "a", "group": "g", "excess": 0, "excess_most": 3},
        {"assignor": "a", "group": "h", "excess": 1, "excess_most": 1},
    ]
    line, shade = values_of(figures.ecdf(rows))
    assert [(row["x"], row["share"]) for row in line][:3] == [(0, 0), (1, 0.5), (3, 1)]
    assert [(row["x"], row["share"], row["possible"]) for row in shade][:3] == [
        (0, 0, 0.5),
        (1, 0.5, 1),
        (3, 1, 1),
    ]


def test_a_profile_measures_by_the_least_of_each_group():
    rows = [
        {"assignor": name, "group": group, "seconds": seconds}
        for name, group, seconds in (
            ("a", "g", 1.0),
            ("b", "g", 2.0),
            ("a", "h", 3.0),
            ("b", "h", 1.0),
            ("a", "i", None),
            ("b", "i", 5.0),
        )
    ]
    (drawn,) = values_of(figures.profile(rows))
    steps = {
        name: [(row["x"], row["share"]) for row in drawn if row["label"] == name][:-1]
        for name in ("a", "b")
    }
    assert steps["a"] == [(1, pytest.approx(1 / 3)), (3, pytest.approx(2 / 3))]
    assert steps["b"] == [(1, pytest.approx(2 / 3)), (2, pytest.approx(1))]


def test_a_trend_of_many_groups_shows_the_greatest_and_says_so():
    rows = [
        {"captured_at": "2026-11-20T10:00:00Z", "group": f"g{i}", "value": i} for i in range(15)
    ]
    chart = figures.trend(rows)
    assert {row["label"] for row in values_of(chart)[0]} == {f"g{i}" for i in range(3, 15)}
    assert chart.to_dict()["title"]["subtitle"] == ["the 12 groups with the greatest value, of 15"]


def test_a_trade_off_that_is_not_proved_is_an_open_dot_with_its_bound():
    rows = [
        {"paid": 0, "bought": 9, "proved": True, "knee": False, "bound": 9},
        {"paid": 2, "bought": 4, "proved": False, "knee": True, "bound": 3},
    ]
    chart = figures.trade_off(rows)
    assert [row["bound"] for row in values_of(chart)[0]] == [None, 3]
    assert chart.to_dict()["title"]["subtitle"] == ["open dots are not proved"]


def test_costs_have_a_panel_a_tier_and_grey_is_not_valid():
    rows = [
        {"assignor": name, "tier": tier, "value": value, "valid": name != "broken"}
        for name in ("range", "broken", "best")
        for tier, value in (("balance", 4), ("stickiness", 2))
    ]
    chart = figures.costs(rows).to_dict()
    axes = [panel["layer"][0]["encoding"]["x"]["title"] for panel in chart["hconcat"]]
    assert axes == ["balance, in points", "moves, in partitions"]
    kinds = [row["kind"] for values in chart["datasets"].values() for row in values]
    assert kinds == ["assignor", "not valid", "best"] * 2
    assert chart["title"]["subtitle"][0].endswith("grey: not valid")
