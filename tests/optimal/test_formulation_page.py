"""docs/explanation/formulations.md says what the code has."""

import random
import re
from importlib import import_module
from pathlib import Path

import pytest

from groups import TIERS, BadInput, values
from groups.fleet import Fleet
from optimal import Status, check, solve, solve_fleet
from optimal.answer import LIMITS
from optimal.enumeration import CELLS_AT_ONCE, MOST_ASSIGNMENTS
from optimal.solve import METHODS
from tests.optimal.random_groups import random_group
from tests.optimal.small_groups import every_assignment

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/explanation/formulations.md").read_text(encoding="utf-8")
TABLES = re.findall(r"^\| `([\w/]+)\.py` \| `(\w+)` \|", PAGE, re.MULTILINE)
PROGRAMS = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
# The form of `balance` for where no sum of squares stands for it.
FORMS = {"load_pairs"}


@pytest.fixture(autouse=True)
def _tables_as_they_were():
    """Restore the tables of tiers after each test."""
    tables = [getattr(import_module(path.replace("/", ".")), name) for path, name in TABLES]
    before = [dict(table) for table in tables]
    yield
    for table, entries in zip(tables, before, strict=True):
        table.clear()
        table.update(entries)


def test_the_page_names_a_table_for_each_way_to_write_a_tier():
    assert [name for _, name in TABLES] == [
        "TIERS", "ENUMERATED_TIERS", "CONSTRAINT_TIERS", "LINEAR_TIERS", "DEFINED_TIERS",
    ]  # fmt: skip


@pytest.mark.parametrize(("path", "name"), TABLES)
def test_every_tier_has_its_entry_in_each_table_of_the_page(path, name):
    table = getattr(import_module(path.replace("/", ".")), name)
    assert table.keys() - FORMS == TIERS.keys()


def tiers_between(page: str, start: str, end: str) -> set[str]:
    """Return what is set as code between two texts of a page."""
    return set(re.findall(r"`(\w+)`", page.partition(start)[2].partition(end)[0]))


def test_the_page_says_the_limits_of_the_code():
    said = re.findall(r"^\| `([\w-]+)` \| 2\^(\d+)[;| ]", PAGE, re.MULTILINE)
    assert {method: 2 ** int(bits) for method, bits in said if method != "flow"} == LIMITS
    assert {method for method, _ in said} == set(METHODS) - {"auto"}
    assert CELLS_AT_ONCE == 2**18
    assert "at most 2^18;" in PAGE
    assert MOST_ASSIGNMENTS == 10**6


def test_the_page_names_the_greatest_cost_of_every_tier():
    assert tiers_between(PAGE, "| tier | greatest cost |", "\n\n") == TIERS.keys()


def test_other_pages_define_every_tier_and_say_how_hard_it_is():
    proof, method = (
        (ROOT / f"docs/explanation/{name}.md").read_text(encoding="utf-8")
        for name in ("proof", "method")
    )
    assert not TIERS.keys() - tiers_between(proof, "## What is given", "\n#")
    flows = {name for name, tier in TIERS.items() if tier.is_flow}  # its first row
    assert not TIERS.keys() - flows - tiers_between(method, "| objective | class |", "\n\n")


def test_the_entry_on_the_page_adds_a_tier_that_is_solved_and_told():
    exec(PROGRAMS[0], {})
    rng = random.Random(1)
    groups = [random_group(rng, members=3, partitions=5) for _ in range(60)]
    fleet = solve_fleet(Fleet.of(groups), "balance > moved_lag")
    for group, together in zip(groups, fleet, strict=True):
        least = min(values(one, ("balance", "moved_lag")) for one in every_assignment(group))
        for solution in (together, solve(group, "balance > moved_lag")):
            assert solution.status is Status.OPTIMAL
            assert tuple(term.value for term in solution.terms) == least
            with pytest.raises(BadInput, match=r"^check has no formulation of moved_lag: add one"):
                check(group, solution)


def test_a_method_without_a_formulation_of_a_tier_is_passed_over_and_refuses_it_by_name():
    exec(PROGRAMS[0], {})
    group = random_group(random.Random(1), members=3, partitions=5)
    for method in ("brute", "cp-sat", "ilp"):
        with pytest.raises(BadInput, match=f"^{method} has no formulation of moved_lag: add one"):
            solve(group, "balance > moved_lag", method=method)
    with pytest.raises(BadInput, match=r"^cp-sat has no formulation of moved_lag: add one to"):
        solve(group, "peak_lag > moved_lag")
    assert solve(group, "host_balance > moved_lag").assignment is not None


def test_the_entries_on_the_page_add_a_tier_in_which_it_matters_what_else_a_member_holds():
    exec(PROGRAMS[1], {})
    rng = random.Random(1)
    groups = [random_group(rng, members=3, partitions=5) for _ in range(30)]
    objective = ("peak_topics", "balance")
    exhausted = [solve(group, objective) for group in groups]
    with pytest.raises(BadInput, match=r"^cp-sat has no formulation of peak_topics: add one"):
        solve(groups[0], objective, method="cp-sat")
    exec(PROGRAMS[2], {})
    for group, found in zip(groups, exhausted, strict=True):
        least = min(values(one, objective) for one in every_assignment(group))
        within = solve(group, "balance", at_most={"peak_topics": least[0]})
        assert (*(term.value for term in within.terms[:1]),) == least[1:]
        for solution in (found, solve(group, objective, method="cp-sat")):
            assert tuple(term.value for term in solution.terms) == least
            assert solution.status is Status.OPTIMAL
