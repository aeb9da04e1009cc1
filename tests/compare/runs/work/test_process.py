"""The one child of a worker."""

import os
import subprocess
import sys
from pathlib import Path

from compare.runs.session.daemon import WITHOUT_THREADS

ROOT = Path(__file__).parents[4]
WORKER = """
import os, sys
import pyarrow as pa
import pyarrow.parquet as pq
from compare.runs.work.process import process_of
from heuristics.child.forked import can_fork, fork_children

fork_children()
process = process_of(())
pq.write_table(pa.table({"key": ["a"]}), sys.argv[1])
pq.read_table(sys.argv[1])
print(can_fork())
pid = process.call(os.getpid, seconds=30)
print(open(f"/proc/{pid}/cmdline").read() == open("/proc/self/cmdline").read())
process.close()
"""


def test_a_worker_forks_its_child_although_it_has_read_parquet_before_it_asks_it(tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", WORKER, str(tmp_path / "one.parquet")],
        env={**os.environ, **WITHOUT_THREADS, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    # What reads Parquet has more than one thread from then on.
    assert (run.stdout.split(), run.stderr) == (["False", "True"], "")
