"""Connection: a cluster's address and settings, from which a client is opened."""

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
    """The address of a cluster, and kafka-python's settings to reach it.

    Attributes
    ----------
    bootstrap : ``HOST:PORT``, or several with commas between them
    settings : by kafka-python's names; not printed, as passwords are among them
    timeout : seconds to connect, and for each answer afterwards
    secrets : further secrets to hide in messages, which are inside of objects in the settings
    """

    bootstrap: str
    settings: Mapping[str, object] = field(default_factory=dict, repr=False)
    timeout: float = DEFAULT_SECONDS
    secrets: tuple[Secret, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        """Turn passwords in the settings into `Secret`."""
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
        """Return the connection of command-line options, without connecting yet.

        Parameters
        ----------
        bootstrap : ``HOST:PORT``, or several with commas between them
        command_config : properties file, as Kafka's console tools take it
        config : ``KEY=VALUE`` texts, which override the file

        Raises
        ------
        BadInput
            If an address is malformed, or a setting is unknown or has a bad value.
        """
        addresses_in(bootstrap)
        settings, secrets = settings_of(command_config, config)
        return cls(bootstrap, settings, timeout, secrets)

    @contextmanager
    def admin(self) -> Iterator[KafkaAdminClient]:
        """Yield kafka-python's admin client, connected; it is closed afterwards.

        Addresses are tried in order, each once, so that a wrong password is sent only once.

        Raises
        ------
        BadInput
            If no broker can be reached, or one fails later: one line with the address and what to
            do.
        """
        load_kafka_python()
        from kafka.errors import IncompatibleBrokerVersion, KafkaError

        with kafka_python_silent():
            address, client, manager = self._reach_any()
            try:
                yield client
            except KafkaError as error:
                reason = self._unreachable_broker(manager, error) or str(error)
                if isinstance(error, IncompatibleBrokerVersion):
                    said = error.args[0] if error.args else "see its version"
                    reason = f"its Kafka is too old for that: {said}"
                raise BadInput(f"{address}: {self._shown(reason)}") from None
            finally:
                client.close()

    def _reach_any(self) -> tuple[str, KafkaAdminClient, KafkaConnectionManager]:
        """Return the first address that answers, its client and the client's manager."""
        addresses, missed = addresses_in(self.bootstrap), []
        end = monotonic() + self.timeout
        for number, (host, port) in enumerate(addresses):
            seconds = max((end - monotonic()) / (len(addresses) - number), _LEAST_SECONDS)
            found = self._reach(host, port, seconds)
            if not isinstance(found, str):
                return at(host, port), *found
            missed.append(f"{at(host, port)}: {self._shown(found)}")
        raise BadInput("; ".join(missed))

    def _reach(
        self, host: str, port: int, seconds: float
    ) -> tuple[KafkaAdminClient, KafkaConnectionManager] | str:
        """Return a client of an address and its manager, or why there is none."""
        from kafka import KafkaAdminClient
        from kafka.net.compat import KafkaNetClient
        from kafka.net.manager import KafkaConnectionManager
        from kafka.net.selector import NetworkSelector

        unreached = self._why_unreached(host, port, seconds)
        if unreached is not None:
            return unreached
        missed: list[Missed] = []
        managers: list[KafkaConnectionManager] = []
        clients: list[KafkaNetClient] = []

        def connected_client(**settings: object) -> KafkaNetClient:
            net = NetworkSelector(**settings)
            managers.append(KafkaConnectionManager(net, **settings))
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
                kafka_client=connected_client,
                **self.settings,
            )
        except Exception as error:  # of whatever kind the client and its plug-ins raise
            # An admin client whose constructor fails does not close what it has opened.
            for opened in clients:
                opened.close()
            if missed:
                return why(missed[0], host, port, self.settings, seconds)
            return f"{type(error).__name__}: {error}"
        return client, managers[-1]

    def _why_unreached(self, host: str, port: int, seconds: float) -> str | None:
        """Return why an address cannot be reached, as far as name, TCP and TLS show; else None."""
        if "proxy_url" in self.settings:
            return None
        context = self.settings.get("ssl_context")
        reason = unresolved(host, seconds)
        if reason is not None:
            return reason
        missed = knock(host, port, context if isinstance(context, SSLContext) else None, seconds)
        return None if missed is None else why(missed, host, port, self.settings, seconds)

    def _unreachable_broker(self, manager: KafkaConnectionManager, error: Exception) -> str | None:
        """Return which advertised broker cannot be reached, if the error may be due to that."""
        from kafka import errors

        lost = (
            errors.KafkaConnectionError,
            errors.NodeNotReadyError,
            errors.KafkaTimeoutError,
            errors.RequestTimedOutError,
        )
        for broker in manager.cluster.brokers() if isinstance(error, lost) else ():
            seconds = min(self.timeout, LOOK_SECONDS)
            found = self._why_unreached(broker.host, broker.port, seconds)
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


def addresses_in(bootstrap: str) -> list[tuple[str, int]]:
    """Return the hosts and ports of ``HOST:PORT[,HOST:PORT]``.

    Raises
    ------
    BadInput
        If one is malformed.
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
