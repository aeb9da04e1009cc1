"""The amendments of KIP-615, each by itself, and what the page says of them."""

from math import comb
from pathlib import Path

import pytest

from heuristics import assign
from studies.amendments import (
    LOOP,
    VARIANTS,
    VOID,
    broken_by,
    contested,
    made_by,
    records_of,
    table_of,
)
from studies.page import cut
from studies.promise_table import scopes

PAGE = Path(__file__).parents[2] / "docs" / "findings" / "promises.md"


@pytest.fixture(scope="module")
def found():
    every = {scope.name: scope.groups() for scope in scopes(equal_to=(4, 7), seeded=250)}
    small = {"equal": every["equal"], "contested": contested(3, 4), "seeded": every["seeded"]}
    return {scope: broken_by(groups) for scope, groups in small.items()}


def test_contested_groups_are_every_multiset_of_sets_of_claimants():
    groups = [str(group.to_dict()) for group in contested(3, 4)]
    ways = sum(comb(2**m + p - 1, p) for m in range(1, 4) for p in range(1, 5))
    assert len(groups) == len(set(groups)) == ways


def test_no_amendment_and_both_are_the_assignors_as_written_and_amended():
    for group in contested(3, 3):
        for name, amendments in (("constrained", ()), ("amended", (LOOP, VOID))):
            made = made_by(group, amendments)
            assert made.to_dict() == assign(group, f"kip-615-{name}").to_dict()


@pytest.mark.exhaustive
def test_the_page_counts_what_each_amendment_leaves_broken(found):
    head, _, *rows = table_of(
        [{key: str(cell) for key, cell in one.items()} for one in records_of(found)]
    ).splitlines()[2:]
    made = cut(PAGE, "promises")[1]
    assert head in made
    lines = {row.split(" | ")[0]: row for row in made.splitlines()}
    assert [row.split(" | ")[0] for row in rows] == [f"| {name}" for name in VARIANTS]
    for row in rows:
        shown = lines[row.split(" | ")[0]].split(" | ")
        # A promise broken on these groups is broken on the page's, which include them.
        for cell, counted in zip(shown[1:], row.split(" | ")[1:], strict=True):
            assert "**" in cell or "**" not in counted
    assert lines["| both"].count("none of ") == 6
