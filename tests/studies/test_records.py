"""Records beside a page: read as they were written, and shares in words."""

import pytest

from studies.records import beside, read, share, write


def test_records_are_read_as_they_were_written_with_nothing_known_as_no_text(tmp_path):
    page = tmp_path / "page.md"
    write(beside(page), [{"name": "a, b", "count": 3, "mean": None}])
    assert beside(page).name == "page.csv"
    assert read(beside(page)) == [{"name": "a, b", "count": "3", "mean": ""}]


@pytest.mark.parametrize(
    ("part", "whole", "said"),
    [(0, 9, "0%"), (1, 2000, "below 0.1%"), (1, 1000, "0.1%"), (1, 3, "33%"), (9, 9, "100%"),
     (1, 20, "5.0%"), (999, 1000, "99.9%"), (199_999, 200_000, "above 99.9%")],
)  # fmt: skip
def test_a_share_is_never_none_or_all_where_it_is_not(part, whole, said):
    assert share(part, whole) == said
