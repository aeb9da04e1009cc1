"""The page of findings says what the studies measured, worst first, and no more."""

import re
from pathlib import Path

import pytest

from compare.samples.drawn import is_ordinary
from studies.page import read as rows_in
from studies.shipped_page import SECTIONS, read

ROOT = Path(__file__).parents[2]
MEASURED = read(ROOT)
PAGE = (ROOT / "docs" / "findings" / "shipped.md").read_text("utf-8")


def test_every_finding_has_its_program_on_the_page_once():
    named = re.findall(r"^assay reproduce (\S+) --run$", PAGE, re.MULTILINE)
    assert sorted(named) == sorted(finding.id for finding in MEASURED.findings)


@pytest.mark.parametrize("section", [s for s in SECTIONS if s.unplayed], ids=lambda s: s.title)
def test_what_is_said_not_to_be_played_was_not(section):
    found = [f for f in MEASURED.findings if next(s for s in SECTIONS if s.has(f)) is section]
    assert found
    rows = rows_in(ROOT / "docs" / "findings" / "how-often.csv")
    played = {f"{row['client']}/{row['assignor']}" for row in rows}
    for finding in found:
        name = finding.assignor.partition("@")[0]
        in_racks = finding.group.racks is not None
        assert in_racks or not is_ordinary(finding.group) or name not in played
