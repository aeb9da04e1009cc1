"""Flow: records written to all partitions at a steady rate, for as long as it is open."""

from __future__ import annotations

import time
from threading import Event, Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType
    from typing import Any, Self

FLUSH_SECONDS = 10.0


class Flow:
    """A producer that writes one record to each partition, again and again.

    Parameters
    ----------
    bootstrap : address of the broker
    topics : with their partition counts
    rate : records a second to each partition

    Attributes
    ----------
    rate : records a second to each partition
    written : by topic and partition number when each record was written, by its offset, in
        seconds since 1970
    """

    def __init__(self, bootstrap: str, topics: Mapping[str, int], rate: float) -> None:
        from confluent_kafka import Producer

        self.written: dict[tuple[str, int], list[float]] = {
            (topic, n): [] for topic, size in topics.items() for n in range(size)
        }
        self.rate = rate
        self._producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 1, "log_level": 0})
        self._end = Event()
        self._thread = Thread(target=self._write, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end.set()
        self._thread.join()

    def _write(self) -> None:
        due = time.monotonic()
        while not self._end.wait(max(0.0, due - time.monotonic())):
            for topic, partition in self.written:
                self._producer.produce(topic, b"0", partition=partition, on_delivery=self._note)
            self._producer.poll(0)
            due += 1 / self.rate
        self._producer.flush(FLUSH_SECONDS)

    def _note(self, error: object, record: Any) -> None:
        if error is None:
            at = self.written[record.topic(), record.partition()]
            assert record.offset() == len(at)
            at.append(record.timestamp()[1] / 1000)
