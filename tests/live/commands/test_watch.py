import re
import signal
import subprocess
import time

import pytest

from broker import Broker, Consumer, settle
from groups.files import read_groups
from tests.assay.calling import ASSAY, assay, document_of

pytestmark = pytest.mark.broker
TOPICS = {"watch-command-t": 6}
LONGEST_SECONDS = 120.0


class Watching:
    """A watch in a process of its own."""

    def __init__(self, *arguments):
        self._process = subprocess.Popen(
            [ASSAY, "watch", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.said: list[str] = []

    def until(self, pattern: str) -> str:
        """The first line from here on in which a pattern is found."""
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

    def kill(self) -> None:
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
    watching = None
    try:
        with member(topic, "watched", "app-0") as first:
            settle([first], TOPICS)
            watching = Watching(*at, "--every", "2s", "-o", tmp_path / "series")
            assert "1 group: 1 as good as can be" in watching.until("Z ")
            with member(topic, "watched", "app-1"):
                assert "3 partitions moved" in watching.until("app-1 joined")
            assert "app-1 left" in watching.until("left")
            code, err = watching.end(signal.SIGTERM)
    finally:
        if watching is not None:
            watching.kill()
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
            watching = Watching(*at, "-o", tmp_path / "series")
            try:
                watching.until("1 group")
                own.pause()
                time.sleep(5)
                own.resume()
                watching.until("(no change|not captured|new)")
                watching.until("(no change|not captured|new)")
                code, err = watching.end(signal.SIGINT)
            finally:
                watching.kill()
    assert code == 130
    assert err.count("no answer within 1 s") == err.count("answers again") == 1


def test_a_watch_with_an_end_leaves_with_0_and_keeps_what_it_is_told(topic, tmp_path):
    with member(topic, "bounded", "app-0") as one:
        settle([one], TOPICS)
        at = ("--bootstrap-server", topic.bootstrap, "--group", "bounded", "--group", "absent")
        run = assay("watch", *at, "--every", "1s", "--times", "3", "--keep", "2", "-o", tmp_path)
    assert run.returncode == 0
    assert len(run.stdout.splitlines()) == 3
    assert run.stderr.count("group 'absent' does not exist") == 1
    assert "with --keep 2" in run.stderr
    files = sorted(tmp_path.iterdir())
    assert len(files) == 2
    scored = document_of(assay("score", files[-1], "--format", "json"))
    assert scored["verdict"]["says"] == "as good as can be"
