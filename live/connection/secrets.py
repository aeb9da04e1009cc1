"""Secrets: settings that nobody may see, and a log in which they cannot stand."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Self

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
