"""Settings: the properties that a broker starts with."""

from __future__ import annotations

import socket
import uuid
from contextlib import ExitStack
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

HOST = "127.0.0.1"
# One node has one copy of everything, keeps nothing for long, and its groups wait for nobody.
ALONE = {
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "INSIDE",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "1000",
    "group.consumer.min.session.timeout.ms": "1000",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.session.timeout.ms": "6000",
    "group.consumer.heartbeat.interval.ms": "200",
    "auto.create.topics.enable": "false",
    "log.cleaner.dedupe.buffer.size": "4194304",
    "log.index.size.max.bytes": "65536",
    "num.network.threads": "1",
    "num.io.threads": "2",
    "num.recovery.threads.per.data.dir": "1",
    "background.threads": "2",
}


def free_ports(count: int) -> list[int]:
    """Return ports of loopback that nobody listens on now; another may take one meanwhile."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind((HOST, 0))
        return [int(one.getsockname()[1]) for one in sockets]


def listens(address: str) -> bool:
    """Return whether something takes connections at ``host:port``."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), 1.0).close()
    except OSError:
        return False
    return True


def listeners(ports: Mapping[str, int], protocols: Mapping[str, str]) -> dict[str, str]:
    """Return the properties of listeners on loopback, each with its security protocol."""
    at = {name: f"{name}://{HOST}:{port}" for name, port in ports.items()}
    return {
        "listeners": ",".join(at.values()),
        "advertised.listeners": ",".join(at[name] for name in at if name != "CONTROLLER"),
        "listener.security.protocol.map": ",".join(
            f"{n}:{p}" for n, p in {"CONTROLLER": "PLAINTEXT", **protocols}.items()
        ),
    }


def place(node: int, voters: str) -> dict[str, str]:
    """Return the properties that say which broker of its cluster this is.

    Parameters
    ----------
    voters : the one controller of the cluster, ``id@host:port``, which is a broker too
    """
    roles = "broker,controller" if voters.startswith(f"{node}@") else "broker"
    return {"process.roles": roles, "node.id": str(node), "controller.quorum.voters": voters}


def new_id() -> str:
    """Return the id of a new cluster."""
    # One of its own making may begin with "-", which the tool takes for an option.
    return f"A{uuid.uuid4().hex[:21]}"


def write(file: Path, properties: Mapping[str, str]) -> None:
    """Write a properties file that only its owner can read, as it may hold passwords."""
    file.touch(mode=0o600)
    lines = (f"{key}={value}\n" for key, value in properties.items())
    file.write_text("".join(lines).replace("\\", "\\\\"), encoding="utf-8")
