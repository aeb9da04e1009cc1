import pytest

from compare.page.composition import made_now
from compare.page.from_groups import page_of_groups
from compare.page.html import rendered
from groups import Group
from tests.compare.page.parsed import Parsed

TIERS = ("balance", "stickiness")


@pytest.fixture(scope="session")
def page_of():
    """Give a function that builds the `Page` of some documents."""

    def make(documents, *, assignors=(), tiers=TIERS, **more):
        groups = [d if isinstance(d, Group) else Group.from_dict(d) for d in documents]
        given = {
            "sources": ["groups.json"],
            "unread": [],
            "benchmark": [],
            "assume_equal": False,
            "say": lambda line: None,
            "made": made_now("assay report groups.json", tiers, 10.0),
        } | more
        return page_of_groups(groups, tiers, assignors=assignors, **given)

    return make


@pytest.fixture(scope="session")
def read(page_of):
    """Give a function that renders the page of some documents and parses its HTML."""

    def make(documents, **more):
        return Parsed(rendered(page_of(documents, **more)))

    return make
