"""The verdicts on the grid: what is counted, and what the page says."""

from pathlib import Path

import pytest

from compare.samples.families import Family
from heuristics import WRITTEN, Assignor, catalogue
from heuristics.time_limit import TimeLimit
from studies.grid_verdicts import grid_rows, page_of, points, records_of
from studies.page import read
from tests.heuristics.assignors import misbehaving

RECORDS = read(Path(__file__).parents[2] / "docs" / "findings" / "verdicts.csv")


def cells(found) -> dict[str, list[str]]:
    """The cells of each row of a table, by the first assignor that shares it."""
    records = [{k: "" if v is None else str(v) for k, v in record.items()}
               for record in records_of(found)]  # fmt: skip
    rows = [line.strip("| ").split("|") for line in page_of(records).splitlines()[4:]]
    return {row[0].split("`")[1]: [cell.strip() for cell in row[1:]] for row in rows}


@pytest.fixture(scope="module")
def found():
    families = [
        Family(10, 10, 10, subscriptions, event)
        for subscriptions in ("equal", "random")
        for event in ("fresh", "join-one", "stable")
    ]
    names = ("range", "kip-54-sticky", "kip-615-amended")
    with TimeLimit(20) as limit:
        return list(grid_rows(families, names, limit))


def test_the_share_answered_comes_first_and_the_others_are_of_the_plans(found):
    equal, differing = (
        cells([row for row in found if row[0] == kind]) for kind in ("equal", "differing")
    )
    assert equal["kip-615-amended"][:5] == ["100%", "100%", "100%", "100%", "100%"]
    assert equal["kip-615-amended"][5:7] == ["0 (0)", "0 (0)"]
    assert "kip-615-amended" not in differing  # it refuses all of them
    answered, valid, balanced, best, _, excess, *_ = differing["range"]
    assert (answered, valid, balanced, best) == ("100%", "100%", "0%", "0%")
    assert not excess.startswith("0 ")


def test_what_took_too_long_is_not_tried_on_larger_groups_of_its_kind(monkeypatch):
    hangs = Assignor("hangs", "shipped", "a test", None, misbehaving.loop)
    written = {**WRITTEN, "hangs": hangs}
    monkeypatch.setattr(catalogue, "WRITTEN", written)
    families = [Family(size, 5, 5, "equal", "fresh") for size in (8, 4, 12)]
    with TimeLimit(1) as limit:
        found = list(grid_rows(families, ["hangs", "range"], limit))
    hung = [score for _, name, score, _ in found if name == "hangs"]
    assert [score and score.status for score in hung] == ["timed-out", None, None]
    assert cells(found)["hangs"][0] == "0% (1 too late, 2 left out)"
    assert cells(found)["range"][0] == "100%"


def test_the_points_are_those_of_both_benchmarks():
    families = list(points(100, 5000))
    assert len(set(families)) == len(families)
    assert {family.event for family in families} >= {"partitions-added", "leave-many"}
    assert {family.per_member for family in families} == {5, 10, 50}
    assert all(family.members * family.per_member <= 5000 for family in families)


def test_the_readme_says_what_the_records_say_of_kafka():
    found = {(r["subscriptions"], r["assignor"]): r for r in RECORDS}
    assert sum(kind == "equal" for kind, _ in found) > 40
    for name in ("sticky", "cooperative-sticky"):
        for version in ("4.4.0", "4.0.2", "3.9.2", "2.8.2"):
            equal = found["equal", f"kafka-java/{name}@{version}"]
            assert equal["plans"] == equal["best_balance"] == equal["fewest_moves"] == "28"
        differing = found["differing", f"kafka-java/{name}@4.4.0"]
        plans, best, fewest = (
            int(differing[k]) for k in ("plans", "best_balance", "fewest_moves")
        )
        assert round(plans / (plans - best)) == 11  # one group in eleven
        assert round(10 * (best - fewest) / best) == 3  # three in ten of the others
