from __future__ import annotations

import re
import signal
import subprocess
import time

import pytest

from broker import Broker, Consumer, settle
from groups.files import read_groups
from tests.assay.calling import ASSAY, assay, document_of
from tests.assay.scraping import Scraped

pytestmark = pytest.mark.broker
TOPICS = {"watch-command-t": 6}
LONGEST_SECONDS = 120.0


class Watching:
    """An `assay watch` in another process."""

    def __init__(self, *arguments):
        self._process = subprocess.Popen(
            [ASSAY, "watch", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.said: list[str] = []

    def url(self) -> str:
        """Return the URL of the metrics, which is in the first line of standard error."""
        line = self._process.stderr.readline()
        assert line.startswith("metrics at http://127.0.0.1:"), line + self._process.stderr.read()
        return line.split()[-1]

    def until(self, pattern: str) -> str:
        """Return the next line in which a pattern is found."""
        end = time.monotonic() + LONGEST_SECONDS
        while time.monotonic() < end:
            line = self._process.stdout.readline()
            assert line, self._process.stderr.read()
            self.said.append(line)
            if re.search(pattern, line):
                return line
        raise AssertionError(f"no {pattern} in {self.said}")

    def end(self, number: int) -> tuple[int, str]:
        self._process.send_signal(number)
        _, err = self._process.communicate(timeout=120)
        return self._process.returncode, err

    def __enter__(self) -> Watching:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()


def member(broker, group: str, name: str) -> Consumer:
    return Consumer.start("kafka-python", broker.bootstrap, group, [*TOPICS], client_id=name)


@pytest.fixture(scope="module")
def topic(broker):
    broker.create_topic(*TOPICS, 6)
    return broker


def test_a_watch_says_who_joins_and_leaves_and_its_folder_is_a_series(topic, tmp_path):
    at = ("--bootstrap-server", topic.bootstrap, "--group", "watched")
    with member(topic, "watched", "app-0") as first:
        settle([first], TOPICS)
        with Watching(*at, "--every", "2s", "-o", tmp_path / "series") as watching:
            assert "1 group: 1 as good as can be" in watching.until("Z ")
            with member(topic, "watched", "app-1"):
                assert "3 partitions moved" in watching.until("app-1 joined")
            assert "app-1 left" in watching.until("left")
            code, err = watching.end(signal.SIGTERM)
    assert code == 143
    assert err.splitlines()[-1] == "assay: interrupted: what was captured is kept"
    groups = read_groups([str(tmp_path / "series")])
    assert groups.failures == ()
    assert {len(group.members) for group in groups} == {1, 2}
    assert len({group.captured_at for group in groups}) == len(groups) > 2
    page = tmp_path / "page.html"
    assert assay("report", tmp_path / "series", "-o", page).returncode == 0
    assert "watched" in page.read_text()


def test_a_broker_that_is_away_for_a_while_is_said_once(tmp_path):
    with Broker.start() as own:
        own.create_topic(*TOPICS, 6)
        with member(own, "steady", "app-0") as first:
            settle([first], TOPICS)
            at = ("--bootstrap-server", own.bootstrap, "--timeout", "1", "--every", "1s")
            with Watching(*at, "-o", tmp_path / "series") as watching:
                watching.until("1 group")
                own.pause()
                time.sleep(5)
                own.resume()
                watching.until("(no change|not captured|new)")
                watching.until("(no change|not captured|new)")
                code, err = watching.end(signal.SIGINT)
    assert code == 130
    assert err.count("no answer within 1 s") == err.count("answers again") == 1


def test_a_watch_with_an_end_leaves_with_0_and_keeps_what_it_is_told(topic, tmp_path):
    with member(topic, "bounded", "app-0") as one:
        settle([one], TOPICS)
        at = ("--bootstrap-server", topic.bootstrap, "--group", "bounded", "--group", "absent")
        at += ("--metrics", "127.0.0.1:0", "--every", "1s", "--times", "3")
        run = assay("watch", *at, "--keep", "2", "-o", tmp_path)
    assert run.returncode == 0
    assert len(run.stdout.splitlines()) == 3
    assert run.stderr.count("group 'absent' does not exist") == 1
    assert "with --keep 2" in run.stderr
    assert run.stderr.startswith("metrics at http://127.0.0.1:")
    files = sorted(tmp_path.iterdir())
    assert len(files) == 2
    scored = document_of(assay("score", files[-1], "--format", "json"))
    assert scored["verdict"]["says"] == "as good as can be"


def test_a_scrape_of_a_watch_has_what_score_says_of_the_group_now(topic):
    topics = {"watch-scraped-t": 3, "watch-scraped-u": 3}
    for name, count in topics.items():
        topic.create_topic(name, count)
    topic.produce("watch-scraped-t", {0: 100, 1: 20})
    at = ("--bootstrap-server", topic.bootstrap, "--group", "scraped")
    start = ("kafka-python", topic.bootstrap, "scraped", [*topics])
    with (
        Consumer.start(*start, client_id="a", assignor="range", commit=False) as first,
        Consumer.start(*start, client_id="b", assignor="range", commit=False) as second,
    ):
        held = settle([first, second], topics)
        for consumer, has in zip((first, second), held, strict=True):
            committed = {0: 40, 1: 0}.keys() & {*has["watch-scraped-t"]}
            consumer.commit({"watch-scraped-t": {n: {0: 40, 1: 0}[n] for n in committed}})
        with Watching(*at, "--every", "1s", "--metrics", "127.0.0.1:0") as watching:
            url = watching.url()
            assert "1 group: 1 improvable" in watching.until("Z ")
            watching.until("no change")
            scraped = Scraped(url)
            scored = document_of(assay("score", *at, "--assignor", "current", "--format", "json"))
            code, err = watching.end(signal.SIGINT)
    assert (code, err.splitlines()[-1]) == (130, "assay: interrupted")
    current = scored["scores"][0]["terms"][0]
    assert (current["value"], scored["lag"]["peak"], scored["lag"]["lowest"]) == (2, 80, 60)
    for name, value in {
        "members": 2,
        "balance": current["value"],
        "balance_best": scored["optimum"]["terms"][0]["value"],
        "balance_best_proved": 1,
        "moves": scored["verdict"]["moves"],
        "lag_records": 80,
        "peak_lag_records": scored["lag"]["peak"],
        "peak_lag_least_records": scored["lag"]["lowest"],
    }.items():
        assert scraped[f"assay_group_{name}"] == {("scraped",): value}, name
    assert scraped["assay_group_verdict"]["scraped", "improvable"] == 1
