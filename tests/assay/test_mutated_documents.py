"""Documents changed at random: each is used, or refused in one line; nothing else ever comes."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from compare.promises.findings import Finding
from compare.scenarios.scenario import Scenario
from groups import AssayError, Group
from optimal import Solution, check, solve
from tests.assay.calling import LOPSIDED
from tests.groups.documents.mutated import RICH, with_odd_part

CORPUS = Path(__file__).parents[2] / "corpus"
MUTANTS = 300
EVENTS = [
    {"join": {"b": {"subscription": ["t0"]}}}, {"add_partitions": {"t0": 6}}, {"stable": 1},
    {"leave": 1}, {"join": 2}, {"delete": ["t1"]}, {"create": {"t1": 3}},
    {"subscribe": {"b": ["t1"]}}, {"lag": {"least": -1, "most": 3}},
]  # fmt: skip
PLAYED = {
    "format": "assay-scenario/1", "name": "x", "seed": 1, "group": LOPSIDED, "events": EVENTS,
}  # fmt: skip


def solved(document: object) -> None:
    group = Group.from_dict(document)
    group.to_dict()
    if group.n_partitions < 1000:
        solve(group.with_equal_subscriptions())


GROUP = Group.from_dict(LOPSIDED)
READERS: dict[str, tuple[list[dict], Callable[[object], object]]] = {
    "group": ([LOPSIDED, RICH], solved),
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
            read(with_odd_part(rng.choice(originals), rng))
        except AssayError as error:
            refused.append(str(error))
    assert MUTANTS / 2 < len(refused) < MUTANTS
    assert [line for line in refused if not line.isprintable()] == []
