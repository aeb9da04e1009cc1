import re

import pytest

from compare.page.group.line import MOST_BARS, in_short, labels_of, strip
from groups import Group
from tests.compare.conftest import snapshot


def test_bars_end_at_the_line_and_what_is_above_it_has_its_own_colour():
    found = strip([9, 5], 7)
    assert found is not None
    assert found.below.count("M") == 2
    assert found.above.count("M") == 1
    assert found.line == round(found.height * (1 - 7 / 9), 1)
    assert found.told == "2 members with 5 to 9 each; 7 at most in the best assignment"


def test_nobody_with_anything_has_no_bars():
    assert strip([], None) is None
    assert strip([0, 0], 0) is None


def test_of_many_members_as_many_are_drawn_as_there_is_room_for_with_both_ends():
    found = strip(range(1, 1001), None)
    assert found is not None
    heads = re.findall(r"M(\d+) \S+?V([\d.]+)", found.below)
    assert len(heads) == MOST_BARS
    assert float(heads[0][1]) == 0


TAIL = "-9e9480e3-fb86-495b-a540-9a7c10bdb384"


@pytest.mark.parametrize(
    ("client_ids", "labels"),
    [
        (["blue", "green"], ["blue", "green"]),
        (["blue", "blue"], ["x-9e94…", "y-9e94…"]),
        (["blue", None], ["blue", "y"]),
        (["y", None], ["x-9e94…", "y-9e94…"]),
        ([None, None], ["x", "y"]),
    ],
)
def test_a_client_id_that_no_other_member_has_is_the_label(client_ids, labels):
    members = {
        f"{name}{TAIL}": {"subscription": ["t"]} | ({"client_id": client} if client else {})
        for name, client in zip("xy", client_ids, strict=True)
    }
    assert labels_of(Group.from_dict(snapshot("g", {"t": 2}, members))) == labels


def test_where_short_names_would_be_alike_members_keep_their_ids():
    ids = [f"x{TAIL}", f"x{TAIL[:-1]}5"]
    group = Group.from_dict(snapshot("g", {"t": 2}, {one: {"subscription": ["t"]} for one in ids}))
    assert labels_of(group) == ids


def test_a_member_is_short_in_a_sentence_and_in_full_where_it_is_hovered_over():
    name = f"x{TAIL}"
    said = in_short(f"now {name} holds 9; does <b> read t? It is {name}.", {name: "x"})
    short = f'<span title="{name}">x</span>'
    assert said == f"now {short} holds 9; does &lt;b&gt; read t? It is {short}."
    cut = f'<span title="{name}">x-9e94…</span>'
    assert in_short(f"does {name} read t?", {}) == f"does {cut} read t?"


def test_a_client_id_that_stands_for_an_id_is_not_said_twice():
    said = in_short("Most lag: Xk3 (pod-1) with 9, Yk4 (pod-2) with 1.", {"Xk3": "pod-1"})
    assert said == 'Most lag: <span title="Xk3">pod-1</span> with 9, Yk4 (pod-2) with 1.'
