"""The part of a page that a study makes."""

import re

import pytest

from studies.page import begin, beside, made_part, put, read, share, table, write

MARK = begin("promises")


def test_only_what_stands_between_the_marks_is_replaced(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"# Title\n\n{MARK}\n\nold\n\n<!-- end -->\n\nThe end.\n")
    put(page, "promises", "new\n\n| table |")
    assert made_part(page, "promises") == "new\n\n| table |"
    text = page.read_text()
    assert text.startswith(f"# Title\n\n{MARK}\n\nnew")
    assert text.endswith("| table |\n\n<!-- end -->\n\nThe end.\n")
    put(page, "promises", "new\n\n| table |")
    assert page.read_text() == text


@pytest.mark.parametrize("text", ["", f"{MARK} no end", f"{begin('other')}\n\n<!-- end -->"])
def test_a_page_without_the_marks_is_left_as_it_is(tmp_path, text):
    page = tmp_path / "page.md"
    page.write_text(text)
    with pytest.raises(ValueError, match=re.escape(f"no part between {MARK} and <!-- end -->")):
        put(page, "promises", "new")
    assert page.read_text() == text


def test_a_table_has_its_head_a_line_and_its_rows():
    rows = [("range", "2"), ("sticky", "0")]
    assert table(("assignor", "moves"), rows).splitlines() == [
        "| assignor | moves |",
        "|---|---|",
        "| range | 2 |",
        "| sticky | 0 |",
    ]


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
