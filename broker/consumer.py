"""Consumer: a real client in a child process, which is a member of a group until it ends."""

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
from broker.clients import CLIENTS
from broker.consume import Progress, Read
from broker.distribution import with_end_of
from groups.errors import BadInput
from groups.extras import require

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    Held = dict[str, list[int]]


# Generous, as loading a client may take long on a busy machine.
START_SECONDS = 90.0
ANSWER_SECONDS = 20.0
LONGEST_SECONDS = 300.0


class ConsumerDied(OSError):
    """A consumer has ended by itself or does not answer; the message has the end of its log."""


class Consumer:
    """A running consumer; `start` makes one, and leaving its ``with`` block kills it.

    Attributes
    ----------
    client_id : its client id
    pid : id of its process
    """

    def __init__(self, client_id: str, specification: Mapping[str, object]) -> None:
        self.client_id = client_id
        # An unnamed file, so that nothing is left behind if this process is killed.
        self._log = tempfile.TemporaryFile()  # noqa: SIM115
        self._said = ""
        self._has_answered = False
        self._asked = 0
        # The client's assignor may be a class that only our own sys.path finds.
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
        topics : topics that it subscribes to; a single one that begins with ``^`` is a pattern
        client_id : None: `kind`
        instance_id : makes it a static member
        assignor : the client's name or ``module:Class``, or several in order of preference; in a
            KIP-848 group, the broker's assignor
        config : settings by the client's own names, which override ours
        commit : whether it commits automatically
        release : release of Kafka's own client; None: the newest that a broker has here
        classes : jars and folders of classes for a client in Java, after Kafka's
        seconds : time after which it ends in any case

        Raises
        ------
        BadInput
            If there is no such kind, or its client is missing.
        """
        if kind not in CLIENTS:
            raise BadInput(f"{kind}: not a kind of consumer; there are {', '.join(CLIENTS)}")
        package, extra, _ = CLIENTS[kind]
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

    def held(self) -> Held | None:
        """Return the same as `assigned`, or None until it is a member of its group.

        Raises
        ------
        ConsumerDied
            If it has ended.
        """
        held = self._ask({"do": "assigned"})
        assert held is None or isinstance(held, dict)
        return held

    def assigned(self) -> Held:
        """Return the partitions by topic that the client says it holds now.

        Raises
        ------
        ConsumerDied
            If it has ended.
        """
        return self.held() or {}

    def progress(self) -> Progress:
        """Return its progress, and what it has read since the last call.

        It answers even during a poll that does not return.

        Raises
        ------
        ConsumerDied
            If it has ended.
        """
        fields = self._ask({"do": "progress"})
        assert isinstance(fields, dict)
        return Progress(**{**fields, "reads": tuple(Read(*row) for row in fields["reads"])})

    def commit(self, offsets: Mapping[str, Mapping[int, int]]) -> None:
        """Make it commit offsets by topic and partition, and return when that is done.

        Raises
        ------
        ConsumerDied
            If it has ended, or the broker refuses them.
        """
        self._ask({"do": "commit", "offsets": offsets})

    def stop(self) -> None:
        """Make it leave the group (a static member does not tell the broker) and end.

        Raises
        ------
        ConsumerDied
            If it does not end by itself; it is killed then.
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
        """Kill it at once, without leaving its group."""
        self._process.kill()
        self._process.wait()
        self._said = self.log()
        for stream in (self._process.stdin, self._process.stdout, self._log):
            assert stream is not None
            stream.close()

    def log(self) -> str:
        """Return its standard error so far."""
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
            # A late answer to an earlier request comes first, and is skipped.
            while answers and answer.get("asked") != self._asked:
                limit = ANSWER_SECONDS if self._has_answered else START_SECONDS
                answers = bool(select.select([told], [], [], limit)[0])
                if answers:
                    answer = json.loads(told.readline())
                    self._has_answered = True
        except (OSError, ValueError):
            # The pipe is closed, so it has ended, even if poll() does not show that yet.
            raise self._died("it ended") from None
        if not answers:
            raise self._died("it does not answer")
        if "error" in answer:
            raise self._died(answer["error"])
        return answer["answer"]

    def _died(self, reason: str) -> ConsumerDied:
        said = with_end_of(self.log().splitlines(), reason)
        return ConsumerDied(f"the consumer {self.client_id}: {said}")


LOOK_SECONDS = 0.05


class NotSettled(OSError):
    """Consumers do not settle so that each partition has one; the message has what they hold."""


def settle(
    consumers: Sequence[Consumer],
    topics: Mapping[str, int],
    seconds: float = 2.0,
    timeout: float = 120.0,
) -> list[Held]:
    """Wait until all consumers are members and each partition is held once, without a change.

    Parameters
    ----------
    consumers : all consumers of the group
    topics : partition count of each topic to look at
    seconds : time for which nothing may change
    timeout : time after which to give up, in seconds

    Returns
    -------
    What each consumer holds of these topics, in the order of the consumers.

    Raises
    ------
    NotSettled
        If that does not happen in time.
    ConsumerDied
        If one of them has ended.
    """
    wanted = sorted((topic, number) for topic in topics for number in range(topics[topic]))
    end = time.monotonic() + timeout
    since, before = time.monotonic(), None
    while True:
        answers = [consumer.held() for consumer in consumers]
        joined = [one is not None for one in answers]
        held = [{t: n for t, n in sorted((one or {}).items()) if t in topics} for one in answers]
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
