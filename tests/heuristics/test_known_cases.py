"""Where what ships agrees with what is written, on the known cases of the corpus.

The facts are what the range, round robin and sticky assignors of Apache Kafka 4.4.0 returned:
sorted loads, and moves of validly owned partitions.
"""

import json
from pathlib import Path

from groups import Group, values
from heuristics import assign

ROOT = Path(__file__).parents[2]
WRITTEN_AS = {"range": "range", "roundrobin": "roundrobin", "sticky": "kip-54-sticky"}
READS_RACKS = {("rack-aware-sticky-misaligned-owners", name) for name in ("range", "sticky")}


def lines_of(file: str) -> list[dict]:
    return [json.loads(line) for line in (ROOT / file).read_text().splitlines()]


def test_as_documented_and_as_released_agree_but_for_racks():
    known = {group["group"]: Group.from_dict(group) for group in lines_of("corpus/known.jsonl")}
    for case in lines_of("tests/known_cases.jsonl"):
        for name, written in WRITTEN_AS.items():
            shipped = case["shipped"][f"kafka-java/{name}@4.4.0"]
            made = assign(known[case["group"]], written)
            found = sorted(made.loads.tolist()), values(made, ("stickiness",))[0]
            agrees = found == (shipped["loads"], shipped["moves"])
            assert agrees is ((case["case"], name) not in READS_RACKS), (case["case"], name)
