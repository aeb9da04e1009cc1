"""The parts of pages that studies make, and our docstrings on the site."""

import re
from pathlib import Path

import pytest

from studies import pages, shipped_page
from studies.page import begin, beside, made_part, put, read, share, table, write
from studies.site import described

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / pages.FOLDER
MARK = begin("promises")


@pytest.mark.parametrize("name", pages.MADE)
def test_the_made_part_of_a_page_is_what_the_data_beside_it_gives(name):
    assert made_part(FOLDER / f"{name}.md", name) == pages.MADE[name](FOLDER)


def test_the_page_of_findings_is_made_of_what_the_studies_left():
    assert shipped_page.page_of(shipped_page.read(ROOT)) == (ROOT / shipped_page.PAGE).read_text()


def test_every_made_part_is_one_that_is_written_without_a_run():
    marked = {p.stem for p in FOLDER.glob("*.md") if "<!-- made by: make " in p.read_text()}
    assert marked == {*pages.MADE}


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


OURS = """Say something : as it is.

Parameters
----------
group, other : what is asked;
    see :class:`~groups.group.Group`
limit : in seconds

Returns
-------
dict
    By name : what was found.
"""
NUMPYDOC = """Say something : as it is.

Parameters
----------
group, other
    what is asked;
    see `Group`
limit
    in seconds

Returns
-------
dict
    By name : what was found.
"""


def test_the_words_after_a_name_in_a_docstring_stand_below_it_on_the_site():
    assert described(OURS) == NUMPYDOC
    assert described(NUMPYDOC) == NUMPYDOC
