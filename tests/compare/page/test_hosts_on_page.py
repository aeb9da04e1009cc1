"""A group whose hosts are uneven says so on its page."""

from tests.compare.test_hosts import UNEVEN, orders


def test_the_page_of_a_group_names_its_uneven_hosts(page_of):
    for hosts, uneven in (("aabb", True), ("abab", False)):
        page = page_of([orders(UNEVEN, hosts)])
        (detail,) = page.details
        assert any("Hosts are uneven: a has 6" in said for said in detail.sentences) is uneven
