"""The parts of pages that studies make, and our docstrings on the site."""

import re
from pathlib import Path

import pytest

from studies import __main__ as studies
from studies import shipped_page
from studies.page import FOLDER as PAGES
from studies.page import begin, cut, put, read, renew, write
from studies.site import described

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / PAGES
MARK = begin("promises")


@pytest.mark.parametrize("name", studies.PAGES)
def test_the_made_part_of_a_page_is_what_the_data_beside_it_gives(name):
    assert cut(FOLDER / f"{name}.md", name)[1] == studies.made_by(name, FOLDER)


def test_the_page_of_findings_is_made_of_what_the_studies_left():
    assert shipped_page.page_of(shipped_page.read(ROOT)) == (ROOT / shipped_page.PAGE).read_text()


def test_every_made_part_is_one_that_is_written_without_a_run():
    marked = {p.stem for p in FOLDER.glob("*.md") if "<!-- made by: make " in p.read_text()}
    assert marked == {*studies.PAGES}


def test_only_what_stands_between_the_marks_is_replaced(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"# Title\n\n{MARK}\n\nold\n\n<!-- end -->\n\nThe end.\n")
    put(page, "promises", "new\n\n| table |")
    assert cut(page, "promises")[1] == "new\n\n| table |"
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


def test_who_is_asked_anew_has_new_records_and_the_others_keep_theirs(tmp_path):
    file = tmp_path / "data.csv"
    write(file, [{"who": "b", "what": "x", "count": 1}, {"who": "a", "what": "x", "count": None}])
    renew(file, [{"who": "b", "what": "y", "count": 2}], ["who"])
    kept, new = {"who": "a", "what": "x", "count": ""}, {"who": "b", "what": "y", "count": "2"}
    assert read(file) == [kept, new]
    renew(file, [{"who": "a", "what": "z", "count": 3}], ["who"], lambda one: str(one["who"]))
    assert [one["what"] for one in read(file)] == ["z", "y"]


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
