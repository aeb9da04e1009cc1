"""A client that joined a probe, in a run: the workers ask it through a door."""

import json
import subprocess
import sys

import pytest

from assay import run
from compare.fleet.tables import read_table
from compare.samples.families import Family
from heuristics.shipped.consumers.consumer import LIBRDKAFKA, PROGRAM
from heuristics.shipped.probe import probed

MISSING = LIBRDKAFKA.missing("range", LIBRDKAFKA.versions()[0])


@pytest.mark.clients
@pytest.mark.spark
@pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
def test_a_run_scores_a_client_that_joined_as_the_assignor_that_it_is(spark, tmp_path):
    groups = [Family(3, 4, 2, "random", "join-one").group(seed) for seed in range(4)]
    lines = [json.dumps(group.to_dict()) for group in groups]
    (tmp_path / "groups.jsonl").write_text("\n".join(lines) + "\n")
    started = []

    def start(line):
        """Start a consumer when the line names the address."""
        name, _, bootstrap = line.partition("=")
        if name == "bootstrap.servers":
            command = [sys.executable, str(PROGRAM), bootstrap, "g", "range"]
            started.append(subprocess.Popen(command, stdin=subprocess.PIPE))

    try:
        with probed(say=start) as guest:
            source, out = tmp_path / "groups.jsonl", tmp_path / "out"
            run(source, out, assignors=["range", guest.assignor], spark=spark)
            started[0].kill()
    finally:
        for process in started:
            process.kill()
            process.communicate()
    rows = read_table(tmp_path / "out", "scores").set_index("assignor")
    written, joined = rows.loc["range"], rows.loc["librdkafka/range"]
    assert joined["status"].tolist() == ["scored"] * len(groups)
    for column in ("terms", "valid", "rounds", "revoked"):
        mine = joined.set_index("group")[column].sort_index().tolist()
        assert str(mine) == str(written.set_index("group")[column].sort_index().tolist())
