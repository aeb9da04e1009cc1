"""What the README and the pages tell people to type at a broker runs on a real one."""

import re

import pytest

from broker import Broker, Consumer, settle
from tests.assay.calling import assay, document_of, good
from tests.assay.test_documentation import PAGES, commands, in_shell, without_times

pytestmark = pytest.mark.broker
TOPICS = {"orders": 5, "payments": 3, "refunds": 1}
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


@pytest.fixture(scope="module")
def shop():
    """A broker with only the pages' groups: `audit`, and `shop`, uneven by its range assignor."""
    with Broker.start() as broker:
        for topic, partitions in TOPICS.items():
            broker.create_topic(topic, partitions)
        at = (broker.bootstrap,)
        with (
            Consumer.start("confluent", *at, "audit", [*TOPICS], commit=False) as audit,
            Consumer.start(
                "confluent", *at, "shop", [*TOPICS], client_id="a", assignor="range", commit=False
            ) as a,
            Consumer.start(
                "confluent", *at, "shop", [*TOPICS], client_id="b", assignor="range", commit=False
            ) as b,
        ):
            settle([audit], TOPICS)
            settle([a, b], TOPICS)
            yield broker


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page, live=True)])
def test_every_command_that_asks_a_broker_succeeds_and_prints_what_stands_under_it(
    shop, tmp_path, page
):
    for command, shown in commands(page, live=True):
        run = in_shell(command.replace("localhost:9092", shop.bootstrap), tmp_path)
        if shown:
            printed = TIME.sub("T", run.stdout.replace(shop.bootstrap, "localhost:9092"))
            assert without_times(printed) == without_times(TIME.sub("T", shown)), command


def test_the_readme_and_the_page_about_captures_ask_a_broker():
    assert len(commands("README.md", live=True)) == 3
    assert len(commands("docs/how-to/capture-a-live-group.md", live=True)) >= 6


def test_a_live_group_is_told_what_to_change_and_nothing_depends_on_who_reads_what(shop):
    at = ("advise", "--bootstrap-server", shop.bootstrap, "--group", "shop", "--reset", "latest")
    said = good(assay(*at, "--lower", "peak_load")).stdout
    assert said.startswith(
        "shop: the busiest of 2 members holds 6 of 9 partitions; at the best it holds 5.\n"
        "Verdict of assay score (balance > moves): improvable.\n"
        "1. Add 1 member (2 -> 3): the busiest one then holds 3 instead of 5; 3 partitions move.\n"
    )
    found = document_of(assay(*at, "--lower", "peak_load", "--format", "json"))
    tried = {one["assignor"]: one["peak"] for one in found["assignors"]}
    assert (tried["range"], tried["kafka-java/sticky@4.4.0"], found["question"]) == (6, 5, None)
