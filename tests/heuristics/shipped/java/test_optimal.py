"""The assignors of java/, called in a JVM, against the proved optimum."""

import random
import tomllib
from pathlib import Path

import pytest

from groups import Group, values
from heuristics.shipped.java.java_client import JAVA_OPTIMAL, RELEASES
from optimal import solve_many
from studies.tallies import small
from tests.optimal.random_groups import random_group

VERSION = RELEASES[0]
OBJECTIVES = {
    "optimal": ("balance", "stickiness"),
    "optimal-racks": ("balance", "racks", "stickiness"),
}
NAMES = ("a", "Z", "é", "ß", "И", "目", "\U0001f600", " x", "Aa", "BB")
MISSING = JAVA_OPTIMAL.missing("optimal", VERSION)
pytestmark = pytest.mark.skipif(MISSING is not None, reason=MISSING or "")


def drawn(rng: random.Random) -> Group:
    """Return a group with names of all kinds, and members and topics in any order."""
    group = random_group(rng, members=rng.randint(1, 9), partitions=rng.randint(1, 40))
    document = group.to_dict()
    topic = {t: f"{rng.choice(NAMES)}{t}" for t in document["topics"]}
    member = {m: f"{rng.choice(NAMES)}{m}" for m in document["members"]}
    document["topics"] = {topic[t]: said for t, said in _shuffled(rng, document["topics"])}
    document["members"] = {
        member[m]: said
        | {
            "subscription": [topic[t] for t in said["subscription"]],
            "owned": {topic[t]: numbers for t, numbers in said["owned"].items() if t in topic},
        }
        for m, said in _shuffled(rng, document["members"])
    }
    return Group.from_dict(document)


def _shuffled(rng: random.Random, of: dict) -> list:
    return rng.sample([*of.items()], len(of))


def beaten(groups: list[Group], name: str) -> list[tuple[Group, list[int], list[int]]]:
    """Return the groups for which an assignor misses the optimum, with the values of both."""
    found = []
    for group, best in zip(groups, solve_many(groups, OBJECTIVES[name]), strict=True):
        plan = JAVA_OPTIMAL.one_round(group, name, VERSION).assignment
        plan.require_valid()
        made, least = values(plan, OBJECTIVES[name]), [term.value for term in best.terms]
        if [*made] != least:
            found.append((group, [*made], least))
    return found


@pytest.mark.parametrize("name", OBJECTIVES)
def test_the_plan_is_the_optimum(name):
    rng = random.Random(7)
    assert beaten([drawn(rng) for _ in range(100)], name) == []


def test_the_jar_and_the_project_have_one_version_and_the_newest_kafka():
    root = Path(__file__).parents[4]
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    pom = (root / "java" / "pom.xml").read_text()
    assert f"<version>{project}</version>" in pom
    assert f"<kafka.version>{RELEASES[0]}</kafka.version>" in pom


@pytest.mark.exhaustive
def test_on_every_small_ordinary_group_the_plan_is_the_optimum():
    groups = [*small()]
    assert len(groups) == 4637
    assert beaten(groups, "optimal") == []
