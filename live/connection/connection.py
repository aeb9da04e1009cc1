"""Connection: where a cluster is, what its client is told, and a client while it is needed."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from ssl import SSLContext
from time import monotonic
from typing import TYPE_CHECKING

from groups.errors import BadInput
from live import DEFAULT_SECONDS
from live.connection.client_settings import SECRET, settings_of
from live.connection.contact import LOOK_SECONDS, at, contact, knock, tried, unresolved, why
from live.connection.kafka_client import (
    Secret,
    kafka_python_silent,
    load_kafka_python,
    without_secrets,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kafka import KafkaAdminClient
    from kafka.net.compat import KafkaNetClient
    from kafka.net.manager import KafkaConnectionManager

    from live.connection.contact import Missed

DEFAULT_PORT = 9092
_LEAST_SECONDS = 0.1
_ADDRESS = re.compile(r"(?:[A-Z_]+://)?(\[[0-9a-fA-F:.]+\]|[^\s:/\[\]@]+)(?::([0-9]{1,5}))?")


@dataclass(frozen=True)
class Connection:
    """Where a cluster is, and what kafka-python is told to reach it.

    Attributes
    ----------
    bootstrap : ``HOST:PORT``, or several with commas between them
    settings : as kafka-python names them; not shown, as passwords are among them
    timeout : seconds that connecting may take, and each answer afterwards
    secrets : what nobody may see besides, as it is in an object among the settings
    """

    bootstrap: str
    settings: Mapping[str, object] = field(default_factory=dict, repr=False)
    timeout: float = DEFAULT_SECONDS
    secrets: tuple[Secret, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        """Take passwords for secrets, however they are given."""
        hidden = {
            name: Secret(value) if name in SECRET and isinstance(value, str) else value
            for name, value in self.settings.items()
        }
        object.__setattr__(self, "settings", hidden)

    @classmethod
    def told(
        cls,
        bootstrap: str,
        *,
        command_config: str | None = None,
        config: Sequence[str] = (),
        timeout: float = DEFAULT_SECONDS,
    ) -> Connection:
        """Return the connection that options of a command line tell; nothing is reached yet.

        Parameters
        ----------
        bootstrap : ``HOST:PORT``, or several with commas between them
        command_config : properties file, as Kafka's console tools take it
        config : ``KEY=VALUE`` texts, which go before what stands in the file

        Raises
        ------
        BadInput
            Where an address is none, or a setting is not known or not good.
        """
        addresses_in(bootstrap)
        settings, secrets = settings_of(command_config, config)
        return cls(bootstrap, settings, timeout, secrets)

    @contextmanager
    def admin(self) -> Iterator[KafkaAdminClient]:
        """Give kafka-python's admin client, connected; close it afterwards.

        Addresses are tried in their order, each once: a wrong password is shown once.

        Raises
        ------
        BadInput
            Where no broker can be reached, or one fails within: one line with the address and
            what to do.
        """
        load_kafka_python()
        from kafka.errors import KafkaError

        with kafka_python_silent():
            address, client, manager = self._reached()
            try:
                yield client
            except KafkaError as error:
                reason = self._advertised(manager, error) or _within(error)
                raise BadInput(f"{address}: {self._shown(reason)}") from None
            finally:
                client.close()

    def _reached(self) -> tuple[str, KafkaAdminClient, KafkaConnectionManager]:
        """Return the first address that answers, a client there and what manages its brokers."""
        addresses, missed = addresses_in(self.bootstrap), []
        end = monotonic() + self.timeout
        for number, (host, port) in enumerate(addresses):
            seconds = max((end - monotonic()) / (len(addresses) - number), _LEAST_SECONDS)
            found = self._tried(host, port, seconds)
            if not isinstance(found, str):
                return at(host, port), *found
            missed.append(f"{at(host, port)}: {self._shown(found)}")
        raise BadInput("; ".join(missed))

    def _tried(
        self, host: str, port: int, seconds: float
    ) -> tuple[KafkaAdminClient, KafkaConnectionManager] | str:
        """Return a client at an address and what manages its brokers, or why there is none."""
        from kafka import KafkaAdminClient
        from kafka.net.compat import KafkaNetClient
        from kafka.net.manager import KafkaConnectionManager
        from kafka.net.selector import NetworkSelector

        unreached = self._unreached(host, port, seconds)
        if unreached is not None:
            return unreached
        missed: list[Missed] = []
        managers: list[KafkaConnectionManager] = []
        clients: list[KafkaNetClient] = []

        def reached(**told: object) -> KafkaNetClient:
            net = NetworkSelector(**told)
            managers.append(KafkaConnectionManager(net, **told))
            clients.append(KafkaNetClient(net=net, manager=managers[-1]))
            found = contact(net, managers[-1], seconds)
            if found is not None:
                missed.append(found)
                raise ConnectionError
            return clients[-1]

        milliseconds = int(self.timeout * 1000)
        try:
            client = KafkaAdminClient(
                bootstrap_servers=[at(host, port)],
                bootstrap_timeout_ms=milliseconds,
                request_timeout_ms=milliseconds,
                kafka_client=reached,
                **self.settings,
            )
        except Exception as error:  # of whatever kind the client and its plug-ins raise
            # What is not wholly made does not close what it has opened.
            for opened in clients:
                opened.close()
            if missed:
                return why(missed[0], host, port, self.settings, seconds)
            return f"{type(error).__name__}: {error}"
        return client, managers[-1]

    def _unreached(self, host: str, port: int, seconds: float) -> str | None:
        """Return why an address is not reached, as far as it can be told without the client."""
        if "proxy_url" in self.settings:
            return None
        context = self.settings.get("ssl_context")
        reason = unresolved(host, seconds)
        if reason is not None:
            return reason
        missed = knock(host, port, context if isinstance(context, SSLContext) else None, seconds)
        return None if missed is None else why(missed, host, port, self.settings, seconds)

    def _advertised(self, manager: KafkaConnectionManager, error: Exception) -> str | None:
        """Return which broker that the cluster names cannot be reached, where that is why."""
        from kafka import errors

        lost = (
            errors.KafkaConnectionError,
            errors.NodeNotReadyError,
            errors.KafkaTimeoutError,
            errors.RequestTimedOutError,
        )
        for broker in manager.cluster.brokers() if isinstance(error, lost) else ():
            seconds = min(self.timeout, LOOK_SECONDS)
            found = self._unreached(broker.host, broker.port, seconds)
            if found is None:
                missed = tried(at(broker.host, broker.port), self.settings, seconds)
                if missed is not None:
                    found = why(missed, broker.host, broker.port, self.settings, seconds)
            if found is not None:
                place = at(broker.host, broker.port)
                return (
                    f"it names broker {broker.node_id} at {place} (advertised.listeners): {found}"
                )
        return None

    def _shown(self, text: str) -> str:
        return without_secrets(text, (*self.secrets, *self.settings.values()))


def _within(error: Exception) -> str:
    """Return what went wrong once a broker had been reached."""
    from kafka.errors import IncompatibleBrokerVersion

    if isinstance(error, IncompatibleBrokerVersion):
        return (
            f"its Kafka is too old for that: {error.args[0] if error.args else 'see its version'}"
        )
    return str(error)


def addresses_in(bootstrap: str) -> list[tuple[str, int]]:
    """Return the hosts and ports of ``HOST:PORT[,HOST:PORT]``.

    Raises
    ------
    BadInput
        Where one is none.
    """
    addresses = []
    for text in filter(None, (part.strip() for part in bootstrap.split(","))):
        found = _ADDRESS.fullmatch(text)
        port = int(found[2] or DEFAULT_PORT) if found else 0
        if found is None or not 0 < port < 1 << 16:
            raise BadInput(f"--bootstrap-server {text}: expected HOST:PORT")
        addresses.append((found[1].strip("[]"), port))
    if not addresses:
        raise BadInput("--bootstrap-server: expected HOST:PORT")
    return addresses
