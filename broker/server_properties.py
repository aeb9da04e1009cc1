"""Server properties: the settings of a broker, its listeners and its security."""

from __future__ import annotations

import socket
import subprocess
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from groups.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


HOST = "127.0.0.1"
# For a small test broker: one replica of everything, and groups without an initial delay.
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
    """Return free ports of loopback; another process may take one before it is used."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind((HOST, 0))
        return [int(one.getsockname()[1]) for one in sockets]


def listens(address: str) -> bool:
    """Return whether something accepts connections at ``host:port``."""
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


def write(file: Path, properties: Mapping[str, str]) -> None:
    """Write a properties file that only its owner can read, as it may hold passwords."""
    file.touch(mode=0o600)
    lines = (f"{key}={value}\n" for key, value in properties.items())
    file.write_text("".join(lines).replace("\\", "\\\\"), encoding="utf-8")


PROTOCOLS = ("PLAINTEXT", "SASL_PLAINTEXT", "SSL", "SASL_SSL")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
LOGIN = "org.apache.kafka.common.security"
AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
STORE = "broker.p12"
CERTIFICATE = "broker.pem"
# Password of a store that exists only as long as its test broker.
STORE_PASSWORD = "of-no-worth"


@dataclass(frozen=True)
class Security:
    """How clients reach a broker, and who may.

    Attributes
    ----------
    protocol : as in the clients' ``security.protocol``
    users : password of each user of SASL
    mechanism : SASL mechanism
    acls : whether a user may do only what it has been allowed
    hosts : names or addresses in the certificate
    """

    protocol: str = "PLAINTEXT"
    users: Mapping[str, str] = field(default_factory=dict, repr=False)
    mechanism: str = "PLAIN"
    acls: bool = False
    hosts: Sequence[str] = ("127.0.0.1",)

    def __post_init__(self) -> None:
        for name, known in ((self.protocol, PROTOCOLS), (self.mechanism, MECHANISMS)):
            if name not in known:
                raise BadInput(f"{name}: not one of {', '.join(known)}")
        if not self.sasl and (self.users or self.acls):
            raise BadInput(f"{self.protocol}: only SASL tells users apart")

    @property
    def plain(self) -> bool:
        """Whether there is neither login nor TLS."""
        return self.protocol == "PLAINTEXT"

    @property
    def sasl(self) -> bool:
        """Whether clients must log in."""
        return self.protocol.startswith("SASL")

    @property
    def tls(self) -> bool:
        """Whether clients use TLS."""
        return self.protocol.endswith("SSL")

    def properties(self, listener: str, folder: Path) -> dict[str, str]:
        """Return the server's properties of a listener.

        Parameters
        ----------
        folder : contains the store that `certify` makes
        """
        found = {}
        of = f"listener.name.{listener.lower()}"
        if self.sasl:
            mechanism = f"{of}.{self.mechanism.lower()}"
            found[f"{of}.sasl.enabled.mechanisms"] = self.mechanism
            found[f"{mechanism}.sasl.jaas.config"] = self._login()
        if self.tls:
            found[f"{of}.ssl.keystore.type"] = "PKCS12"
            found[f"{of}.ssl.keystore.location"] = str(folder / STORE)
            found[f"{of}.ssl.keystore.password"] = STORE_PASSWORD
        if self.acls:
            found["authorizer.class.name"] = AUTHORIZER
            # Clients of the inner listener, which has no login, are anonymous.
            found["super.users"] = "User:ANONYMOUS"
        return found

    def format_options(self) -> list[str]:
        """Return the storage tool's options that create the users of SCRAM."""
        if not self.mechanism.startswith("SCRAM"):
            return []
        options = []
        for user, password in self.users.items():
            options += ["--add-scram", f"{self.mechanism}=[name={user},password={password}]"]
        return options

    def certify(self, keytool: Path, folder: Path) -> Path | None:
        """Make a key and a self-signed certificate; return its PEM file. None without TLS."""
        if not self.tls:
            return None
        names = ",".join(f"{'ip' if h[:1].isdigit() else 'dns'}:{h}" for h in self.hosts)
        store = [
            "-keystore",
            str(folder / STORE),
            "-storepass",
            STORE_PASSWORD,
            "-alias",
            "broker",
        ]
        made = ["-genkeypair", "-keyalg", "EC", "-storetype", "PKCS12", "-dname", "CN=broker"]
        made += ["-validity", "2", "-ext", f"SAN={names}", "-ext", "BC:critical=ca:true"]
        told = ["-exportcert", "-rfc", "-file", str(folder / CERTIFICATE)]
        for what in (made, told):
            subprocess.run([keytool, *what, *store], check=True, capture_output=True)
        return folder / CERTIFICATE

    def _login(self) -> str:
        if self.mechanism != "PLAIN":
            return f"{LOGIN}.scram.ScramLoginModule required;"
        users = "".join(f' user_{u}="{_quoted(p)}"' for u, p in self.users.items())
        return f"{LOGIN}.plain.PlainLoginModule required{users};"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
