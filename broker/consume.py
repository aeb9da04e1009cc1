"""A program of its own: a consumer that does what is asked line by line on standard input.

It ends when standard input does, so it never outlives whoever started it.
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
    """Consume until that is to end."""
    asked = json.loads(specification)
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s %(message)s")
    end = Timer(asked.pop("seconds"), os._exit, [TOO_LONG])
    end.daemon = True
    end.start()
    client = CLIENTS[asked.pop("kind")](Wanted(**asked))
    todo: SimpleQueue[dict[str, object]] = SimpleQueue()
    diary = Diary()
    Thread(target=_listen, args=[client, diary, todo], daemon=True).start()
    while True:
        diary.polled(client.poll())
        try:
            wanted = todo.get_nowait()
        except Empty:
            continue
        try:
            if wanted["do"] == "stop":
                client.close()
                _tell(wanted, answer=None)
                return
            offsets = wanted["offsets"]
            assert isinstance(offsets, dict)
            client.commit(
                {t: {int(n): at for n, at in each.items()} for t, each in offsets.items()}
            )
            _tell(wanted, answer=None)
        except Exception as error:
            _tell(wanted, error=f"{type(error).__name__}: {' '.join(str(error).split())}")


def _listen(client: Client, diary: Diary, todo: SimpleQueue[dict[str, object]]) -> None:
    """Answer what the polling thread is not needed for at once, and leave it the rest."""
    for line in sys.stdin:
        wanted = json.loads(line)
        if wanted["do"] == "assigned":
            _tell(wanted, answer=_by_topic(client.assigned()))
        elif wanted["do"] == "progress":
            _tell(wanted, answer=diary.told())
        else:
            todo.put(wanted)
    os._exit(0)


def _by_topic(held: set[tuple[str, int]] | None) -> dict[str, list[int]] | None:
    if held is None:
        return None
    found: dict[str, list[int]] = {}
    for topic, number in sorted(held):
        found.setdefault(topic, []).append(number)
    return found


def _tell(wanted: dict[str, object], **what: object) -> None:
    sys.stdout.write(json.dumps({**what, "asked": wanted["asked"]}) + "\n")
    sys.stdout.flush()


# A batch of a client's with what is known where it was read, as it goes over the pipe.
Row = tuple[float, str, int, int, int, float]


@dataclass(frozen=True)
class Read:
    """Records of one partition that one poll returned.

    Attributes
    ----------
    at : when, by this machine's monotonic clock, in seconds
    topic, partition : of the records
    first, last : their offsets
    waited_seconds : from when the first one was written to when it was read
    """

    at: float
    topic: str
    partition: int
    first: int
    last: int
    waited_seconds: float


@dataclass(frozen=True)
class Progress:
    """How far a consumer is.

    Attributes
    ----------
    polls : how many of its polls have returned
    poll_seconds : how long the one lasts that it is in
    cpu_seconds : what its process has used of all processors
    reads : what it has read since it was last asked
    """

    polls: int
    poll_seconds: float
    cpu_seconds: float
    reads: tuple[Read, ...]


class Diary:
    """What a consumer notes in the thread that polls, and another thread tells."""

    def __init__(self) -> None:
        self._polls = 0
        self._since = time.monotonic()
        self._rows: deque[Row] = deque()

    def polled(self, batches: Iterable[Batch]) -> None:
        """Note a poll that has returned, and what it brought."""
        now, clock = time.monotonic(), time.time()
        self._rows.extend((now, *batch[:4], clock - batch[4]) for batch in batches)
        self._polls, self._since = self._polls + 1, now

    def told(self) -> dict[str, object]:
        """Return what is noted; what was read is told once."""
        rows = [self._rows.popleft() for _ in range(len(self._rows))]
        return {
            "polls": self._polls,
            "poll_seconds": time.monotonic() - self._since,
            "cpu_seconds": time.process_time(),
            "reads": rows,
        }


if __name__ == "__main__":
    main(sys.argv[1])
