import pytest

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
