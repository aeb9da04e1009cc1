import base64
import gzip
import json

import pytest

from compare.page.from_run import MOST_PARTITIONS, many_in_full
from compare.page.html import rendered
from compare.samples.families import Family
from groups.errors import Failure
from tests.compare.conftest import snapshot
from tests.compare.page.parsed import Parsed

MOST_BYTES = 2_000_000


def improvable(number: int, members: int = 6) -> dict:
    topics = {f"topic-{t}": 12 for t in range(4)}
    owned = {topic: list(range(12)) for topic in topics}
    readers = {f"member-{m}": {"subscription": list(topics)} for m in range(members)}
    readers["member-0"]["owned"] = owned
    return snapshot(f"group-number-{number}", topics, readers)


def unpacked(page: Parsed) -> dict:
    return json.loads(gzip.decompress(base64.b64decode(page.scripts[0])))


@pytest.mark.exhaustive
def test_of_1000_groups_each_has_a_line_and_is_there_in_full_or_said_not_to_be(page_of):
    thousand = rendered(page_of([improvable(n) for n in range(1000)]))
    assert len(thousand.encode()) < MOST_BYTES
    page = Parsed(thousand)
    packed = unpacked(page)
    assert len(page.table("Groups")) + len(packed["rows"]) == 1000
    opened = sum(tag == "article" for tag, _ in page.tags)
    assert opened >= 1
    in_full = opened + len(packed["details"])
    rows = [*packed["rows"], thousand]
    assert sum(row.count('<th scope="row"><a href="#group-') for row in rows) == in_full
    left = 1000 - in_full
    assert left == 0 or f"assay score shows each of the other {left:,}" in page.words


def test_lines_that_a_page_has_no_room_for_are_in_its_data_and_it_says_so(page_of):
    documents = [snapshot(f"g{n}", {"t": 1}, {}) for n in range(1200)]
    unread = [Failure(f"{n}.txt", f"{n}.txt", "no group in it", None) for n in range(302)]
    page = Parsed(rendered(page_of(documents, unread=unread)))
    packed = unpacked(page)
    assert len(page.table("Groups")) + len(packed["rows"]) == 1000 + 300
    said = "200 more groups, none of them worse than the last line, are in the data only."
    assert said in page.texts["groups"]
    assert "2 more inputs were not read; the data has them." in page.texts["groups"]
    assert packed["data"]["groups-data"].count("\n") == 1201 + 302


def test_groups_that_take_a_search_are_in_full_less_often_and_great_ones_as_far_as_they_fit():
    flow, search = "balance > stickiness", "peak_lag > balance"
    assert [many_in_full([9] * 1000, objective) for objective in (flow, search)] == [200, 20]
    assert many_in_full([9] * 7, flow) == 7
    assert many_in_full([], flow) == 0
    most = MOST_PARTITIONS
    assert many_in_full([most // 2, most // 2, 1, 1], flow) == 2
    assert many_in_full([most + 1, 1], flow) == 1


def test_a_group_of_1000_members_is_drawn_in_part_and_says_so(page_of):
    group = Family(1000, 20, 50, "random", "join-one").group(1)
    html = rendered(page_of([group]))
    assert len(html.encode()) < MOST_BYTES
    page = Parsed(html)
    assert "940 more are in the data" in page.texts["group-1"] or "too long" in page.words
