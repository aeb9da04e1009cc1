"""Where what ships agrees with what is written, on the known cases of the corpus.

The facts are what the range, round robin and sticky assignors of Apache Kafka 4.4.0 returned:
sorted loads, and moves of validly owned partitions.
"""

from groups import Group, values
from heuristics import assign
from tests.known import CASES, KNOWN

WRITTEN_AS = {"range": "range", "roundrobin": "roundrobin", "sticky": "kip-54-sticky"}
READS_RACKS = {("rack-aware-sticky-misaligned-owners", name) for name in ("range", "sticky")}


def test_as_documented_and_as_released_agree_but_for_racks():
    for case in CASES:
        group = Group.from_dict(KNOWN[case["group"]])
        for name, written in WRITTEN_AS.items():
            shipped = case["shipped"][f"kafka-java/{name}@4.4.0"]
            made = assign(group, written)
            found = sorted(made.loads.tolist()), values(made, ("stickiness",))[0]
            agrees = found == (shipped["loads"], shipped["moves"])
            assert agrees is ((case["case"], name) not in READS_RACKS), (case["case"], name)
