import re

import pytest

from broker import Consumer, settle
from tests.assay.calling import assay, document_of, good

pytestmark = pytest.mark.broker
TOPICS = {"advise-command-t": 3, "advise-command-u": 3}


@pytest.fixture(scope="module")
def uneven(broker):
    """A group of two members in which range gives one of them two partitions of each topic."""
    for topic, count in TOPICS.items():
        broker.create_topic(topic, count)
    started = ("confluent", broker.bootstrap, "advise-range", [*TOPICS])
    with (
        Consumer.start(*started, client_id="a", assignor="range") as a,
        Consumer.start(*started, client_id="b", assignor="range") as b,
    ):
        settle([a, b], TOPICS)
        yield broker


def test_a_live_group_is_told_what_to_change_and_nothing_depends_on_who_reads_what(uneven):
    at = ("advise", "--bootstrap-server", uneven.bootstrap, "--group", "advise-range")
    at += ("--reset", "latest")
    lines = good(assay(*at, "--lower", "peak_load")).stdout.splitlines()
    assert lines[0] == (
        "advise-range: the busiest of 2 members holds 4 of 6 partitions; at the best it holds 3."
    )
    assert lines[1] == "Verdict of assay score (balance > moves): improvable."
    # Kafka's sticky makes that move, too, where its code is here.
    assert re.fullmatch(
        r"1\. Let .+: .+ then holds 3 instead of 4(; 1 partition moves)?\.", lines[2]
    )
    found = document_of(assay(*at, "--lower", "peak_load", "--format", "json"))
    tried = {one["assignor"]: one["peak"] for one in found["assignors"]}
    assert (tried["range"], tried["kafka-java/sticky@4.4.0"], found["question"]) == (4, 3, None)
