"""kafka-python: loaded on first use, kept from logging, and given secrets that print as stars."""

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
    more : further modules to load

    Raises
    ------
    BadInput
        If it is not installed.
    """
    require("kafka", extra="clients")
    with warnings.catch_warnings():
        # It reads its schemas with a function that is deprecated since Python 3.11.
        warnings.simplefilter("ignore", DeprecationWarning)
        for module in ("kafka", *more):
            import_module(module)


HIDDEN = "***"


class Secret(str):
    """A text that prints and formats as stars, but that a client can still send."""

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        """Make a secret of a text; of a secret, copy the real text and not the stars."""
        return super().__new__(cls, str.__str__(text))

    def __repr__(self) -> str:
        return f"'{HIDDEN}'"

    def __str__(self) -> str:
        return HIDDEN

    def __format__(self, _: str) -> str:
        return HIDDEN


def without_secrets(text: str, secrets: Iterable[object]) -> str:
    """Return a text with stars in place of every secret in it."""
    hidden = (str.__str__(secret) for secret in secrets if isinstance(secret, Secret))
    for secret in sorted(filter(None, hidden), key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return text


@contextmanager
def kafka_python_silent() -> Iterator[None]:
    """Stop kafka-python from logging: at DEBUG it logs the bytes that it sends, passwords too.

    Errors are raised anyway. Uses may overlap, also in threads: logging resumes after the last.
    """

    # A new filter for each use, as the first use that ends would remove a shared one.
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
    """Return kafka-python's token provider for one token, which is never renewed."""
    load_kafka_python()
    from kafka.net.sasl.oauth import AbstractTokenProvider

    class _Fixed(AbstractTokenProvider):  # type: ignore[misc]
        def token(self) -> str:
            # The client formats the token, and a Secret would format as stars.
            return str.__str__(token)

    return _Fixed()
