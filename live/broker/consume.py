"""A program of its own: a consumer that does what is asked line by line on standard input.

It ends when standard input does, so it never outlives whoever started it.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from queue import Empty, SimpleQueue
from threading import Thread, Timer

from live.broker.clients import CLIENTS, Client, Wanted
from live.broker.progress import Diary

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


if __name__ == "__main__":
    main(sys.argv[1])
