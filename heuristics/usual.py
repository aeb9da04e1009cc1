"""Usual: the assignors that most groups run, as far as they can be called here."""

from __future__ import annotations

from heuristics.catalogue import assignor_named

# `range` and `roundrobin` as written agree with Kafka's, and need no JVM.
AGREE_WITH_KAFKAS = ("range", "roundrobin")
SHIPPED = ("kafka-java/sticky", "kafka-java/cooperative-sticky", "kafka-broker/uniform")
# The one of them all that looks at lag.
BY_LAG = "kip-169-lag"


def usual_assignors(*, lagging: bool = False) -> list[str]:
    """Return the assignors that most groups run, as far as they can be called here.

    Parameters
    ----------
    lagging : add the one that looks at lag
    """
    names = (*AGREE_WITH_KAFKAS, *SHIPPED, *([BY_LAG] if lagging else []))
    found = [assignor_named(name) for name in names]
    return [assignor.name for assignor in found if assignor.missing() is None]
