"""Connection: where a cluster is, what its client is told, and a client while it is needed."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from groups.errors import BadInput
from groups.extras import require
from live.connection.secrets import Secret, kafka_python_silent, without_secrets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kafka import KafkaAdminClient

DEFAULT_SECONDS = 10.0


@dataclass(frozen=True)
class Connection:
    """Where a cluster is, and what kafka-python is told to reach it.

    Attributes
    ----------
    bootstrap : ``HOST:PORT``, or several with commas between them
    settings : as kafka-python names them; not shown, as passwords are among them
    timeout : seconds that connecting may take, and each answer afterwards
    """

    bootstrap: str
    settings: Mapping[str, object] = field(default_factory=dict, repr=False)
    timeout: float = DEFAULT_SECONDS

    @contextmanager
    def admin(self) -> Iterator[KafkaAdminClient]:
        """Give kafka-python's admin client, connected; close it afterwards.

        Raises
        ------
        BadInput
            Where no broker can be reached, or what it said last within: one line with the
            address and what to do.
        """
        require("kafka", extra="clients")
        from kafka import KafkaAdminClient
        from kafka.errors import KafkaError

        milliseconds = int(self.timeout * 1000)
        with kafka_python_silent():
            try:
                client = KafkaAdminClient(
                    bootstrap_servers=self.bootstrap.split(","),
                    bootstrap_timeout_ms=milliseconds,
                    request_timeout_ms=milliseconds,
                    **self.settings,
                )
                try:
                    yield client
                finally:
                    client.close()
            except KafkaError as error:
                raise BadInput(f"{self.bootstrap}: {self._said(error)}") from None

    def _said(self, error: Exception) -> str:
        secrets = (value for value in self.settings.values() if isinstance(value, Secret))
        return without_secrets(str(error), secrets)
