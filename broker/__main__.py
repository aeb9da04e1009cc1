"""Start a broker in the foreground, print its address, and end it at Ctrl-C.

``python -m broker [VERSION]`` starts one. ``python -m broker --fetch [VERSION]`` brings
its jars to the user's cache, some 60 MB, and starts nothing; a broker that starts fetches nothing.
``--fetch-streams`` brings those of Kafka Streams, some 80 MB. ``--keep-classes`` keeps the classes
of a release, some 50 MB, with which brokers start in two thirds of the time.
"""

from __future__ import annotations

import signal
import sys
from argparse import ArgumentParser

from broker.broker import Broker, BrokerDied, keep_classes
from broker.distribution import BROKER_RELEASE, fetch
from broker.streams import ARTIFACT
from groups.errors import BadInput
from heuristics.shipped.java.jars import KAFKA, fetched


def main() -> int:
    """Run the command line; return the exit code."""
    parser = ArgumentParser(prog="python -m broker", description=__doc__)
    parser.add_argument(
        "version", nargs="?", default=BROKER_RELEASE, help="release of Apache Kafka"
    )
    parser.add_argument("--fetch", action="store_true", help="bring its jars, and start nothing")
    parser.add_argument("--fetch-streams", action="store_true", help="those of Kafka Streams")
    parser.add_argument("--keep-classes", action="store_true", help="for brokers to start sooner")
    asked = parser.parse_args()
    try:
        if asked.fetch:
            fetch(asked.version)
        if asked.fetch_streams:
            fetched(KAFKA, ARTIFACT, asked.version)
        if asked.keep_classes:
            keep_classes(asked.version)
        if not (asked.fetch or asked.fetch_streams or asked.keep_classes):
            _foreground(asked.version)
    except (BadInput, BrokerDied) as reason:
        sys.stderr.write(f"{reason}\n")
        return 2
    return 0


def _foreground(version: str) -> None:
    # Also SIGHUP of a closed terminal, and SIGINT, which a script may have set to be ignored.
    for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, signal.default_int_handler)
    try:
        with Broker.start(version) as broker:
            sys.stdout.write(f"{broker.bootstrap}\n")
            sys.stdout.flush()
            sys.stderr.write(f"Kafka {version} is running; Ctrl-C ends it.\n")
            broker.wait()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    sys.exit(main())
