"""Consumer: a real client in a child process, a member of a group until it stops or is killed."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from broker import distribution
from broker.consume import Progress, Read
from broker.distribution import with_end_of
from groups.errors import BadInput
from groups.extras import require

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    Held = dict[str, list[int]]


# A kind of consumer, the package that its client comes with, and the extra that has it.
KINDS = {
    "confluent": ("confluent_kafka", "clients"),
    "confluent-kip-848": ("confluent_kafka", "clients"),
    "kafka-python": ("kafka", "clients"),
    "aiokafka": ("aiokafka", "clients"),
    "java": ("jpype", "java"),
    "java-kip-848": ("jpype", "java"),
}
# On a machine with other work a client may take as long as the first to load.
START_SECONDS = 90.0
ANSWER_SECONDS = 20.0
LONGEST_SECONDS = 300.0
LAST_LINES = 8


class ConsumerDied(OSError):
    """A consumer that has ended by itself, or does not answer; with the end of its log."""


class Consumer:
    """A running consumer; `start` makes one, and leaving its ``with`` block kills it.

    Attributes
    ----------
    client_id : what the broker is told that it is called
    pid : of its process
    """

    def __init__(self, client_id: str, specification: Mapping[str, object]) -> None:
        self.client_id = client_id
        # Nobody knows its name, so that nothing is left of it.
        self._log = tempfile.TemporaryFile()  # noqa: SIM115
        self._said = ""
        self._has_answered = False
        self._asked = 0
        # What the tests import, the client's assignor may be made of.
        path = os.pathsep.join([*filter(None, sys.path), str(Path(__file__).parents[1])])
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "broker.consume", json.dumps(specification)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            bufsize=0,
            env=os.environ | {"PYTHONPATH": path},
        )
        self.pid = self._process.pid

    @classmethod
    def start(
        cls,
        kind: str,
        bootstrap: str,
        group: str,
        topics: Sequence[str],
        *,
        client_id: str | None = None,
        instance_id: str | None = None,
        assignor: str | Sequence[str] | None = None,
        config: Mapping[str, object] | None = None,
        commit: bool = True,
        release: str | None = None,
        classes: Sequence[Path] = (),
        seconds: float = LONGEST_SECONDS,
    ) -> Consumer:
        """Start a consumer, and return at once: it joins the group by itself.

        Parameters
        ----------
        kind : ``confluent``, ``confluent-kip-848``, ``kafka-python``, ``aiokafka``, ``java`` or
            ``java-kip-848``
        bootstrap : ``host:port`` of a broker
        group : its group
        topics : what it subscribes to; one that begins with ``^`` alone is a pattern
        client_id : `kind` where it is left out
        instance_id : makes it a static member
        assignor : as the client calls it, or ``module:Class``; several by preference; of a
            KIP-848 group the one that the broker is asked for
        config : settings of the client in its own names, before ours
        commit : whether it commits by itself what it has read
        release : of Kafka's own client; the newest that a broker here has where it is left out
        classes : jars and folders of classes that a client in Java finds beside Kafka's
        seconds : after which it ends by itself in any case

        Raises
        ------
        BadInput
            Where there is no such kind, or its client is not here.
        """
        if kind not in KINDS:
            raise BadInput(f"{kind}: not a kind of consumer; there are {', '.join(KINDS)}")
        package, extra = KINDS[kind]
        require(package, extra=extra)
        if extra == "java":
            distribution.classes_of_client(release)
        elif release is not None:
            raise BadInput(f"{kind}: release: {release!r}, but it runs in the one installed")
        names = [assignor] if isinstance(assignor, str) else [*(assignor or ())]
        return cls(
            client_id or kind,
            {
                "kind": kind,
                "bootstrap": bootstrap,
                "group": group,
                "topics": [*topics],
                "client_id": client_id or kind,
                "instance_id": instance_id,
                "assignors": names,
                "config": {**(config or {})},
                "commit": commit,
                "release": release,
                "classes": [*map(str, classes)],
                "seconds": seconds,
            },
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def joined(self) -> bool:
        """Return whether it has been a member of its group, be it one that holds nothing.

        Raises
        ------
        ConsumerDied
            Where it has ended.
        """
        return self.held() is not None

    def held(self) -> Held | None:
        """Return what `assigned` does; None before it has been a member of its group.

        Raises
        ------
        ConsumerDied
            Where it has ended.
        """
        held = self._ask({"do": "assigned"})
        assert held is None or isinstance(held, dict)
        return held

    def assigned(self) -> Held:
        """Return the partitions that it holds now by topic, as the client itself says.

        Raises
        ------
        ConsumerDied
            Where it has ended.
        """
        return self.held() or {}

    def progress(self) -> Progress:
        """Return how far it is, and what it has read since it was last asked.

        It answers in a poll that does not return, too.

        Raises
        ------
        ConsumerDied
            Where it has ended.
        """
        told = self._ask({"do": "progress"})
        assert isinstance(told, dict)
        return Progress(**{**told, "reads": tuple(Read(*row) for row in told["reads"])})

    def commit(self, offsets: Mapping[str, Mapping[int, int]]) -> None:
        """Let it commit these offsets by topic and partition, and return when that is done.

        Raises
        ------
        ConsumerDied
            Where it has ended, or the broker does not take them.
        """
        self._ask({"do": "commit", "offsets": offsets})

    def stop(self) -> None:
        """Let it leave the group (a static member does not say that it leaves), and end.

        Raises
        ------
        ConsumerDied
            Where it does not end by itself; it is killed then.
        """
        try:
            if self._process.poll() is None:
                self._ask({"do": "stop"})
                self._process.wait(ANSWER_SECONDS)
        except subprocess.TimeoutExpired:
            raise self._died(f"it has not ended after {ANSWER_SECONDS:g} s") from None
        finally:
            self.kill()

    def kill(self) -> None:
        """End it at once, without a word to its group."""
        self._process.kill()
        self._process.wait()
        self._said = self.log()
        for stream in (self._process.stdin, self._process.stdout, self._log):
            assert stream is not None
            stream.close()

    def log(self) -> str:
        """Return what it has said so far."""
        if self._log.closed:
            return self._said
        size = os.fstat(self._log.fileno()).st_size
        return os.pread(self._log.fileno(), size, 0).decode("utf-8", "replace")

    def _ask(self, what: Mapping[str, object]) -> object:
        asked, told = self._process.stdin, self._process.stdout
        assert asked is not None
        assert told is not None
        answers = True
        answer: dict[str, Any] = {}
        try:
            self._asked += 1
            asked.write(json.dumps({**what, "asked": self._asked}).encode() + b"\n")
            # What came too late for who asked before comes first.
            while answers and answer.get("asked") != self._asked:
                limit = ANSWER_SECONDS if self._has_answered else START_SECONDS
                answers = bool(select.select([told], [], [], limit)[0])
                if answers:
                    answer = json.loads(told.readline())
                    self._has_answered = True
        except (OSError, ValueError):
            # Its end of a pipe is closed; that it is dead may be known only a moment later.
            raise self._died("it ended") from None
        if not answers:
            raise self._died("it does not answer")
        if "error" in answer:
            raise self._died(answer["error"])
        return answer["answer"]

    def _died(self, reason: str) -> ConsumerDied:
        said = with_end_of(self.log().splitlines(), reason, LAST_LINES)
        return ConsumerDied(f"the consumer {self.client_id}: {said}")


LOOK_SECONDS = 0.05


class NotSettled(OSError):
    """Consumers that do not come to hold each partition exactly once; with what they hold."""


def settle(
    consumers: Sequence[Consumer],
    topics: Mapping[str, int],
    seconds: float = 2.0,
    timeout: float = 120.0,
) -> list[Held]:
    """Wait until all are members and each partition has had exactly one of them for some time.

    Parameters
    ----------
    consumers : all that are alive
    topics : partition count of each topic that counts; others are not looked at
    seconds : for which nothing may change
    timeout : seconds after which it is given up

    Returns
    -------
    What each consumer holds of these topics, in the order of the consumers.

    Raises
    ------
    NotSettled
        Where they do not come to that in time.
    ConsumerDied
        Where one of them has ended.
    """
    wanted = sorted((topic, number) for topic in topics for number in range(topics[topic]))
    end = time.monotonic() + timeout
    since, before = time.monotonic(), None
    while True:
        # One that joins has to wait for what the others give up.
        told = [consumer.held() for consumer in consumers]
        joined = [one is not None for one in told]
        held = [_of(topics, one or {}) for one in told]
        now = time.monotonic()
        if (joined, held) != before:
            since, before = now, (joined, held)
        has = sorted((topic, n) for each in held for topic in each for n in each[topic])
        if all(joined) and has == wanted and now - since >= seconds:
            return held
        if now > end:
            each = dict(zip([c.client_id for c in consumers], held, strict=True))
            raise NotSettled(f"not settled after {timeout:g} s: {json.dumps(each)}")
        time.sleep(LOOK_SECONDS)


def _of(topics: Mapping[str, int], held: Held) -> Held:
    return {topic: numbers for topic, numbers in sorted(held.items()) if topic in topics}
