import re

import pytest

from compare.page.group.short_names import labels_of, short_names
from compare.page.group.strip import MOST_BARS, strip
from groups import Group
from tests.compare.conftest import snapshot


def test_bars_end_at_the_line_and_what_is_above_it_has_its_own_colour():
    found = strip([9, 5], 7)
    assert found is not None
    assert found.below.count("M") == 2
    assert found.above.count("M") == 1
    assert found.line == round(found.height * (1 - 7 / 9), 1)
    assert found.told == "2 members with 5 to 9 each; at best 7 at most"


def test_nobody_with_anything_has_no_bars():
    assert strip([], None) is None
    assert strip([0, 0], 0) is None


def test_of_many_members_as_many_are_drawn_as_there_is_room_for_with_both_ends():
    found = strip(range(1, 1001), None)
    assert found is not None
    heads = re.findall(r"M(\d+) \S+?V([\d.]+)", found.below)
    assert len(heads) == MOST_BARS
    assert float(heads[0][1]) == 0


def test_names_are_cut_before_an_identifier_only_where_they_stay_different():
    tail = "-9e9480e3-fb86-495b-a540-9a7c10bdb384"
    assert short_names([f"app-0{tail}", "app-1"]) == ["app-0-…", "app-1"]
    alike = [f"app{tail}", f"app{tail[:-1]}5"]
    assert short_names(alike) == alike


TAIL = "-9e9480e3-fb86-495b-a540-9a7c10bdb384"


@pytest.mark.parametrize(
    ("client_ids", "labels"),
    [
        (["blue", "green"], ["blue", "green"]),
        (["blue", "blue"], ["x-…", "y-…"]),
        (["blue", None], ["blue", "y-…"]),
        (["y-…", None], ["x-…", "y-…"]),
        ([None, None], ["x-…", "y-…"]),
    ],
)
def test_a_client_id_that_no_other_member_has_is_the_label(client_ids, labels):
    members = {
        f"{name}{TAIL}": {"subscription": ["t"]} | ({"client_id": client} if client else {})
        for name, client in zip("xy", client_ids, strict=True)
    }
    assert labels_of(Group.from_dict(snapshot("g", {"t": 2}, members))) == labels
