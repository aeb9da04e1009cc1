"""docs/explanation/formulations.md says what the code has."""

import re
from importlib import import_module
from pathlib import Path

import pytest

from groups import TIERS
from optimal.enumeration import CELLS_AT_ONCE, MOST_ASSIGNMENTS
from optimal.limits import LIMITS
from optimal.solve import METHODS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/explanation/formulations.md").read_text(encoding="utf-8")
TABLES = re.findall(r"^\| `([\w/]+)\.py` \| `(\w+)` \|", PAGE, re.MULTILINE)
# Forms of `balance` with another sum in its place, beside the tiers.
FORMS = {"load_squares", "load_pairs"}


def test_the_page_names_a_table_for_each_way_to_write_a_tier():
    assert [name for _, name in TABLES] == [
        "TIERS", "ENUMERATED_TIERS", "CONSTRAINT_TIERS", "LINEAR_TIERS",
    ]  # fmt: skip


@pytest.mark.parametrize(("path", "name"), TABLES)
def test_every_tier_has_its_entry_in_each_table_of_the_page(path, name):
    table = getattr(import_module(path.replace("/", ".")), name)
    assert table.keys() - FORMS == TIERS.keys()


def test_the_page_says_the_limits_of_the_code():
    said = re.findall(r"^\| `([\w-]+)` \| 2\^(\d+)[;| ]", PAGE, re.MULTILINE)
    assert {method: 2 ** int(bits) for method, bits in said if method != "flow"} == LIMITS
    assert {method for method, _ in said} == set(METHODS) - {"auto"}
    assert CELLS_AT_ONCE == 2**18
    assert "at most 2^18;" in PAGE
    assert MOST_ASSIGNMENTS == 10**6


def test_the_page_names_the_greatest_cost_of_every_tier():
    rows = PAGE.partition("| tier | greatest cost |")[2].partition("\n\n")[0]
    assert set(re.findall(r"`(\w+)`", rows)) == TIERS.keys()
