"""What studies made of the pages of findings is what the data that is kept beside them gives."""

from pathlib import Path

import pytest

from studies import pages, shipped_page
from studies.page import made_part

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / pages.FOLDER


@pytest.mark.parametrize("name", pages.MADE)
def test_the_made_part_of_a_page_is_what_the_data_beside_it_gives(name):
    assert made_part(FOLDER / f"{name}.md", name) == pages.MADE[name](FOLDER)


def test_the_page_of_findings_is_made_of_what_the_studies_left():
    assert shipped_page.page_of(shipped_page.read(ROOT)) == (ROOT / shipped_page.PAGE).read_text()


def test_every_made_part_is_one_that_is_written_without_a_run():
    marked = {p.stem for p in FOLDER.glob("*.md") if "<!-- made by: make " in p.read_text()}
    assert marked == {*pages.MADE}
