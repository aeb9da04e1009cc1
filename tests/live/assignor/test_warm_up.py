"""What the leader's first plan needs is loaded while it joins, and not while its group waits."""

from pathlib import Path

import pytest

from tests.processes import in_python

PROGRAM = """
import sys
from live.{client} import {assignor}
from live.assignor.rebalance import Joined, Rebalance
from live.assignor.planned import warm_up

class Leader({assignor}):
    time_limit = 60
    lag = classmethod(lambda cls, numbers: {{(t, n): n * n for t in numbers for n in numbers[t]}})

rebalance = Rebalance.of(
    {{name: Joined.of(reads, b"") for name, reads in (("a", ["t0"]), ("b", ["t0", "t1"]))}},
    {{"t0": range(9), "t1": range(7)}}.get,
)
assert "ortools" not in sys.modules
warm_up(Leader.loaded).join()
before = {{*sys.modules}}
Leader.solver()(rebalance)
after = {{*sys.modules}} - before
assert before >= {{*Leader.loaded}} - {{"kafka.admin"}}
print(*[name for name in after if name.startswith(("ortools", "groups", "numpy"))])
print(*[name for name in after if name.startswith("optimal")])
"""


@pytest.mark.parametrize(
    ("client", "assignor"),
    [("aiokafka", "OptimalAssignor"), ("kafka_python", "LagAwareAssignor")],
)
def test_the_first_plan_loads_next_to_nothing(client, assignor):
    program = PROGRAM.format(client=client, assignor=assignor)
    run = in_python("-W", "ignore", "-c", program, cwd=Path(__file__).parents[3])
    heavy, ours = run.stdout.split("\n")[:2]
    assert heavy == ""
    assert len(ours.split()) <= (0 if assignor == "OptimalAssignor" else 2)
