"""Documents changed at random: each is used, or refused in one line; nothing else ever comes."""

import json
import random
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path

import pytest

from compare.promises.findings import Finding
from compare.scenarios.scenario import Scenario
from groups import AssayError, Group
from optimal import Solution, check, solve
from tests.assay.calling import LOPSIDED

CORPUS = Path(__file__).parents[2] / "corpus"
MUTANTS = 300
DETAILED = LOPSIDED | {
    "topics": {
        "t0": {"partitions": 2, "lag": [1, None], "weight": [1, 2], "racks": [["a"], ["b"]]},
        "t1": {"partitions": 1, "offsets": [{"beginning": 0, "end": 3, "committed": None}]},
    },
    "members": {
        "c0": {
            "subscription": ["t0", "t1"], "owned": {"t0": [0, 1]}, "generation": 3, "rack": "a",
            "instance_id": "i", "client_id": "x", "host": "h", "assignors": ["range"],
            "capacity": 2,
        },
        "c1": {
            "subscription": None, "owned": {}, "target": {"t1": [0]}, "epoch": 5,
            "subscription_regex": "t.*",
        },
    },
}  # fmt: skip
EVENTS = [
    {"join": {"b": {"subscription": ["t0"]}}}, {"add_partitions": {"t0": 6}}, {"stable": 1},
    {"leave": 1}, {"join": 2}, {"delete": ["t1"]}, {"create": {"t1": 3}},
    {"subscribe": {"b": ["t1"]}}, {"lag": {"least": -1, "most": 3}},
]  # fmt: skip
PLAYED = {
    "format": "assay-scenario/1", "name": "x", "seed": 1, "group": LOPSIDED, "events": EVENTS,
}  # fmt: skip
ODD = (
    None, True, False, 0, -1, 1, 1.5, float("inf"), -0.0, 1e308, 2**63, 2**64, -(2**63), 10**30,
    10**400, "", "x", "\ud800", "\x00", "a\nb", "t0", "c0", [], {}, [[]], [None], ["t0", "t0"],
    [0, 0], [10**30], {"a": 1}, {"": {}}, {"c0": None},
)  # fmt: skip


def places(node: object, above: tuple = ()) -> Iterator[tuple]:
    yield above
    if isinstance(node, dict | list):
        for key, below in node.items() if isinstance(node, dict) else enumerate(node):
            yield from places(below, (*above, key))


def mutated(document: dict, rng: random.Random) -> object:
    """Return a copy with one to three values replaced, deleted, copied to another key or added."""
    document = deepcopy(document)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        *above, last = rng.choice([place for place in places(document) if place])
        node = document
        for key in above:
            node = node[key]
        what = rng.random()
        if what < 0.7:
            node[last] = deepcopy(rng.choice(ODD))
        elif what < 0.8:
            del node[last]
        elif isinstance(node, dict):
            node[rng.choice(("x", "t0", "c0", "", "lag", "\ud800"))] = node[last]
        else:
            node.append(deepcopy(rng.choice(ODD)))
    return document


def solved(document: object) -> None:
    group = Group.from_dict(document)
    group.to_dict()
    if group.n_partitions < 1000:
        solve(group.with_equal_subscriptions())


GROUP = Group.from_dict(LOPSIDED)
READERS: dict[str, tuple[list[dict], Callable[[object], object]]] = {
    "group": ([LOPSIDED, DETAILED], solved),
    "solution": (
        [solve(GROUP).to_dict()],
        lambda document: check(GROUP, Solution.from_dict(GROUP, document)),
    ),
    "scenario": (
        [PLAYED, *(json.loads(p.read_text()) for p in sorted(CORPUS.glob("scenarios/*.json")))],
        lambda document: Scenario.from_dict(document, folder=CORPUS / "scenarios"),
    ),
    "finding": (
        [json.loads(line) for line in (CORPUS / "findings.jsonl").read_text().splitlines()],
        Finding.from_dict,
    ),
}


@pytest.mark.parametrize("kind", READERS)
def test_a_document_changed_at_random_is_used_or_refused_in_one_line(kind):
    originals, read = READERS[kind]
    rng = random.Random(f"mutated {kind}")
    refused: list[str] = []
    for _ in range(MUTANTS):
        try:
            read(mutated(rng.choice(originals), rng))
        except AssayError as error:
            refused.append(str(error))
    assert MUTANTS / 2 < len(refused) < MUTANTS
    assert [line for line in refused if not line.isprintable()] == []
