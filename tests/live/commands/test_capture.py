import json
import os
import signal
from functools import partial
from time import monotonic

import pytest
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource

from broker import Consumer, settle
from tests.assay.calling import assay, one_line

pytestmark = pytest.mark.broker
TOPICS = {"capture-command-t": 4}


@pytest.fixture(scope="module")
def groups(broker):
    """A broker with two groups, of one and two members, on one topic of four partitions."""
    broker.create_topic(*TOPICS, 4)
    with (
        Consumer.start("confluent", broker.bootstrap, "cmd-one", [*TOPICS], client_id="a") as a,
        Consumer.start("kafka-python", broker.bootstrap, "cmd-two", [*TOPICS], client_id="b") as b,
        Consumer.start("kafka-python", broker.bootstrap, "cmd-two", [*TOPICS], client_id="c") as c,
    ):
        settle([a], TOPICS)
        settle([b, c], TOPICS)
        yield broker


def test_a_group_that_is_named_and_a_pattern_that_matches_nothing_are_exit_code_2(groups):
    at = ("--bootstrap-server", groups.bootstrap)
    line = f"{groups.bootstrap}: group 'cmd-none' does not exist; nearest: cmd-one"
    for command in ("capture", "score"):
        assert one_line(assay(command, *at, "--group", "cmd-none"), 2).startswith(line)
        beside = assay(command, *at, "--group", "cmd-none", "--group", "cmd-one")
        assert beside.returncode == 2
        assert line in beside.stderr
        assert "cmd-one" in beside.stdout
    run = assay("capture", *at, "--group", "nothing-*")
    assert one_line(run, 2) == f"{groups.bootstrap}: no group matches 'nothing-*'"


def test_a_page_of_a_cluster_is_made_at_once_and_names_it(groups, tmp_path):
    page = tmp_path / "page.html"
    at = ("--bootstrap-server", groups.bootstrap, "--config", "client.id=hidden-value")
    run = assay("report", *at, "--group", "cmd-two", "--group", "cmd-none", "-o", page)
    assert run.returncode == 2
    assert f"{groups.bootstrap}: group 'cmd-none' does not exist" in run.stderr
    written = page.read_text()
    assert f"the cluster at {groups.bootstrap}" in written
    assert "cmd-two" in written
    assert "cmd-one: " not in written
    assert "--config client.id=..." in written
    assert "hidden-value" not in written


def test_a_snapshot_of_a_group_on_the_way_has_what_its_members_hold_now(broker):
    """It had the target as what they own, so that a lasting rebalance looked like the best."""
    topics = {"capture-moving-t": 4}
    broker.create_topic(*topics, 4)
    longer = ConfigResource(ConfigResource.Type.GROUP, "cmd-moving")
    longer.add_incremental_config(
        ConfigEntry(
            "consumer.session.timeout.ms", "45000", incremental_operation=AlterConfigOpType.SET
        )
    )
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    admin.incremental_alter_configs([longer])[longer].result(30)
    start = partial(Consumer.start, "confluent-kip-848", broker.bootstrap, "cmd-moving", [*topics])
    at = ("--bootstrap-server", broker.bootstrap, "--group", "cmd-moving")
    with start(client_id="slow") as slow:
        settle([slow], topics)
        os.kill(slow.pid, signal.SIGSTOP)
        try:
            with start(client_id="new"):
                until = monotonic() + 30
                while "a rebalance is under way" not in (run := assay("capture", *at)).stderr:
                    assert monotonic() < until
                members = json.loads(run.stdout)["members"].values()
                held = {one["client_id"]: sum(map(len, one["owned"].values())) for one in members}
                assert held == {"slow": 4, "new": 0}
                assert all(len(one["target"]["capture-moving-t"]) == 2 for one in members)
        finally:
            os.kill(slow.pid, signal.SIGCONT)
