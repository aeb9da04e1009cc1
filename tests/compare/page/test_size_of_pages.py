import base64
import gzip
import json

import pytest

from compare.page.html import rendered
from compare.samples.families import Family
from tests.compare.conftest import snapshot
from tests.compare.page.parsed import Parsed

MOST_BYTES = 2_000_000


def improvable(number: int, members: int = 6) -> dict:
    topics = {f"topic-{t}": 12 for t in range(4)}
    owned = {topic: list(range(12)) for topic in topics}
    readers = {f"member-{m}": {"subscription": list(topics)} for m in range(members)}
    readers["member-0"]["owned"] = owned
    return snapshot(f"group-number-{number}", topics, readers)


@pytest.fixture(scope="module")
def thousand(page_of) -> str:
    return rendered(page_of([improvable(n) for n in range(1000)], assignors=()))


def test_a_page_of_1000_groups_is_under_2_mb(thousand):
    assert len(thousand.encode()) < MOST_BYTES


def test_of_1000_groups_each_is_in_the_table_and_those_in_full_are_named(thousand):
    page = Parsed(thousand)
    assert len(page.table("Groups")) == 1000
    opened = sum(tag == "article" for tag, _ in page.tags)
    packed = json.loads(
        gzip.decompress(base64.b64decode(page.texts.get("packed", "") or page.scripts[0]))
    )
    assert opened >= 1
    linked = sum((a.get("href") or "").startswith("#group-") for _, a in page.tags)
    assert linked == opened + len(packed)
    left = 1000 - linked
    assert left == 0 or f"Of the other {left:,} one can be seen with" in page.words


def test_a_page_of_many_groups_that_differ_says_what_is_in_the_data_only(page_of):
    documents = [snapshot(f"g{n}", {"t": 1}, {}) for n in range(1200)]
    page = Parsed(rendered(page_of(documents, assignors=())))
    assert len(page.table("Groups")) == 1000
    assert "200 more groups" in page.texts["groups"]
    assert page.texts["groups-data"].count("\n") >= 1201


def test_a_group_of_1000_members_is_drawn_in_part_and_says_so(page_of):
    group = Family(1000, 20, 50, "random", "join-one").group(1)
    html = rendered(page_of([group], assignors=()))
    assert len(html.encode()) < MOST_BYTES
    page = Parsed(html)
    assert "940 more are in the data" in page.texts["group-1"] or "too long" in page.words
