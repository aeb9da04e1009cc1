"""Python package: the one version of a client library that is installed beside this package."""

from __future__ import annotations

import logging
import warnings
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from groups import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterator


def installed(package: str) -> str | None:
    """Return the version of a package that is installed, None where it is not."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def missing(package: str, asked: str) -> str | None:
    """Say why that version of a package cannot be called here; None where it can.

    A process can load one version of a package: the one that is installed.
    """
    here = installed(package)
    if here is None:
        return f"{package} is not installed: pip install 'kafka-assay[clients]'"
    if here != asked:
        return f"{package} {here} is installed, not {asked}: pip install {package}=={asked}"
    return None


def require(package: str, asked: str) -> None:
    """Raise BadInput where that version of a package is not installed: nothing fetches it."""
    reason = missing(package, asked)
    if reason is not None:
        raise BadInput(reason)


def one_line(error: Exception) -> str:
    """Return the class and the message of an exception, in one line."""
    message = " ".join(str(error).split())
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


@contextmanager
def silenced(logger: str) -> Iterator[None]:
    """Keep what a package logs and warns of from the streams, for as long as this lasts."""
    top = logging.getLogger(logger)
    level = top.level
    top.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        top.setLevel(level)
