"""A separate program: a consumer that takes requests, a line of JSON each, on standard input.

It ends when its standard input ends, so it never outlives its parent.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections import deque
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread, Timer
from typing import TYPE_CHECKING

from broker.clients import CLIENTS, Client, Wanted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from broker.clients import Batch


TOO_LONG = 3


def main(specification: str) -> None:
    """Consume until a request to stop, the end of input, or the time limit."""
    asked = json.loads(specification)
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s %(message)s")
    end = Timer(asked.pop("seconds"), os._exit, [TOO_LONG])
    end.daemon = True
    end.start()
    *_, start = CLIENTS[asked["kind"]]
    client = start(Wanted(**asked))
    todo: SimpleQueue[dict[str, object]] = SimpleQueue()
    diary = Diary()
    Thread(target=_listen, args=[client, diary, todo], daemon=True).start()
    while True:
        diary.polled(client.poll())
        try:
            request = todo.get_nowait()
        except Empty:
            continue
        try:
            if request["do"] == "stop":
                client.close()
                _reply(request, answer=None)
                return
            offsets = request["offsets"]
            assert isinstance(offsets, dict)
            client.commit(
                {t: {int(n): at for n, at in each.items()} for t, each in offsets.items()}
            )
            _reply(request, answer=None)
        except Exception as error:
            _reply(request, error=f"{type(error).__name__}: {' '.join(str(error).split())}")


def _listen(client: Client, diary: Diary, todo: SimpleQueue[dict[str, object]]) -> None:
    """Answer requests that do not need the polling thread; put the others into `todo`."""
    for line in sys.stdin:
        request = json.loads(line)
        if request["do"] == "assigned":
            _reply(request, answer=_by_topic(client.assigned()))
        elif request["do"] == "progress":
            _reply(request, answer=diary.report())
        else:
            todo.put(request)
    os._exit(0)


def _by_topic(held: set[tuple[str, int]] | None) -> dict[str, list[int]] | None:
    if held is None:
        return None
    found: dict[str, list[int]] = {}
    for topic, number in sorted(held):
        found.setdefault(topic, []).append(number)
    return found


def _reply(request: dict[str, object], **fields: object) -> None:
    sys.stdout.write(json.dumps({**fields, "asked": request["asked"]}) + "\n")
    sys.stdout.flush()


# The fields of a `Read`, as sent over the pipe.
Row = tuple[float, str, int, int, int, float]


@dataclass(frozen=True)
class Read:
    """Records of one partition that one poll returned.

    Attributes
    ----------
    at : time of the poll on this machine's monotonic clock, in seconds
    topic, partition : of the records
    first, last : first and last offset of the records
    waited_seconds : time from writing the first record to reading it
    """

    at: float
    topic: str
    partition: int
    first: int
    last: int
    waited_seconds: float


@dataclass(frozen=True)
class Progress:
    """The progress of a consumer.

    Attributes
    ----------
    polls : number of polls that have returned
    poll_seconds : time since its present poll began
    cpu_seconds : processor time that its process has used
    reads : what it has read since the last request for its progress
    """

    polls: int
    poll_seconds: float
    cpu_seconds: float
    reads: tuple[Read, ...]


class Diary:
    """A consumer's record of its polls, written by the polling thread and read by another."""

    def __init__(self) -> None:
        self._polls = 0
        self._since = time.monotonic()
        self._rows: deque[Row] = deque()

    def polled(self, batches: Iterable[Batch]) -> None:
        """Record a poll that has returned, and what it read."""
        now, clock = time.monotonic(), time.time()
        self._rows.extend((now, *batch[:4], clock - batch[4]) for batch in batches)
        self._polls, self._since = self._polls + 1, now

    def report(self) -> dict[str, object]:
        """Return the fields of `Progress`; each read is returned once."""
        rows = [self._rows.popleft() for _ in range(len(self._rows))]
        return {
            "polls": self._polls,
            "poll_seconds": time.monotonic() - self._since,
            "cpu_seconds": time.process_time(),
            "reads": rows,
        }


if __name__ == "__main__":
    main(sys.argv[1])
