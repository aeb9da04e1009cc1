"""kafka-python: loaded once it is needed, kept from logging, and told secrets that nobody sees."""

from __future__ import annotations

import logging
import warnings
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

from groups.extras import require

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Self


def load_kafka_python(*more: str) -> None:
    """Load the client with all its messages.

    Parameters
    ----------
    more : modules with further messages

    Raises
    ------
    BadInput
        Where it is not installed.
    """
    require("kafka", extra="clients")
    with warnings.catch_warnings():
        # It reads its schemas by a function that Python 3.11 calls deprecated.
        warnings.simplefilter("ignore", DeprecationWarning)
        for module in ("kafka", *more):
            import_module(module)


HIDDEN = "***"


class Secret(str):
    """A text that shows stars wherever it is printed or formatted; a client can still send it."""

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        """Take a text; one that is a secret already stays what it is, and is no stars."""
        return super().__new__(cls, str.__str__(text))

    def __repr__(self) -> str:
        return f"'{HIDDEN}'"

    def __str__(self) -> str:
        return HIDDEN

    def __format__(self, _: str) -> str:
        return HIDDEN


def without_secrets(text: str, secrets: Iterable[object]) -> str:
    """Return a text that somebody else wrote, with stars for every secret in it."""
    hidden = (str.__str__(secret) for secret in secrets if isinstance(secret, Secret))
    for secret in sorted(filter(None, hidden), key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return text


@contextmanager
def kafka_python_silent() -> Iterator[None]:
    """Keep kafka-python from logging: at DEBUG it writes the bytes that it sends, passwords too.

    What goes wrong is raised besides. Uses may overlap, in other threads too: it is silent until
    the last one leaves.
    """

    # One of its own for each use: a shared one would be gone as soon as the first leaves.
    def nothing(_: logging.LogRecord) -> bool:
        return False

    known = logging.getLogger("kafka").manager.loggerDict
    loggers = [
        logging.getLogger(name) for name in list(known) if name.partition(".")[0] == "kafka"
    ]
    for logger in loggers:
        logger.addFilter(nothing)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(nothing)


def fixed_token(token: object) -> object:
    """Return kafka-python's provider of one token; whoever gives it has to renew it."""
    load_kafka_python()
    from kafka.net.sasl.oauth import AbstractTokenProvider

    class _Fixed(AbstractTokenProvider):  # type: ignore[misc]
        def token(self) -> str:
            # The client formats it, and a secret would format as stars.
            return str.__str__(token)

    return _Fixed()
