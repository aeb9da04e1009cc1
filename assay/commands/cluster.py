"""Options of the commands that ask a running cluster, and the groups captured from it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from assay.commands.options import (
    FILES,
    MOST_SECONDS,
    GroupOptions,
    as_told,
    groups_in,
    refuse_given,
)
from assay.streams import note_failures
from groups.errors import BadInput, Failure
from live import DEFAULT_SECONDS as DEFAULT_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from groups.group import Group
    from live.connection import Connection

BOOTSTRAP = "--bootstrap-server"

BootstrapServer = Annotated[
    str,
    typer.Option(BOOTSTRAP, metavar="HOST:PORT", help="a broker, or several with commas between"),
]
BootstrapServerInstead = Annotated[
    str | None,
    typer.Option(BOOTSTRAP, metavar="HOST:PORT", help="ask a running cluster instead of files"),
]
FilesInstead = Annotated[list[str] | None, FILES]
CommandConfig = Annotated[
    str | None,
    typer.Option(
        "--command-config",
        metavar="FILE",
        help="properties of the connection, as Kafka's console tools take them",
    ),
]
Config = Annotated[
    list[str] | None,
    typer.Option(
        "--config",
        metavar="KEY=VALUE",
        help="one of them, before those of FILE; a password as ${env:NAME} or ${file:PATH}",
    ),
]
Timeout = Annotated[
    float,
    typer.Option(
        "--timeout",
        metavar="SECONDS",
        min=0.1,
        max=MOST_SECONDS,
        help="to connect, and for each answer",
    ),
]


@dataclass(frozen=True, kw_only=True)
class ConnectionOptions:
    """How a cluster is reached."""

    command_config: CommandConfig = None
    config: Config = None
    timeout: Timeout = DEFAULT_SECONDS


Patterns = Annotated[
    list[str] | None,
    typer.Option("--group", metavar="NAME", help="only this group, or a pattern as in 'orders-*'"),
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="exit code 2 also where a group is rebalancing or the like"),
]


def connection_to(bootstrap: str, options: ConnectionOptions) -> Connection:
    """Return the connection of these options, without connecting yet."""
    from live.connection import Connection

    return Connection.told(
        bootstrap,
        command_config=options.command_config,
        config=options.config or (),
        timeout=options.timeout,
    )


def reached_instead(
    files: Sequence[str] | None, bootstrap: str | None, options: ConnectionOptions
) -> tuple[Connection | None, list[str]]:
    """Return the connection to a cluster, or None if files are given instead.

    The second value is the part of the command line that names the source, without passwords.

    Raises
    ------
    BadInput
        If both or neither are given, or options of a connection without a cluster.
    """
    if bootstrap is None:
        about = {"--command-config": options.command_config, "--config": options.config}
        refuse_given(about, f"it is about a connection; add {BOOTSTRAP} HOST:PORT")
        if not files:
            raise BadInput(f"Missing argument 'FILE...', or {BOOTSTRAP}")
        return None, [*files]
    if files:
        raise BadInput(f"{files[0]}: FILE or {BOOTSTRAP}, not both")
    return connection_to(bootstrap, options), [BOOTSTRAP, bootstrap, *_repeated(options)]


def finding(
    files: Sequence[str] | None, bootstrap: str | None, options: ConnectionOptions
) -> tuple[Callable[..., tuple[list[Group], list[Failure], list[Failure]]], list[str]]:
    """Return the function that finds groups, and the words of the command line for their source.

    The function is `groups_of` or `groups_in` without its first argument.

    Raises
    ------
    BadInput
        As `reached_instead` raises it.
    """
    live, words = reached_instead(files, bootstrap, options)
    return (partial(groups_of, live) if live else partial(groups_in, words)), words


def _repeated(options: ConnectionOptions) -> list[str]:
    """Return the options of a connection as typed, with dots in place of secrets."""
    from live.connection.client_settings import without_secret

    words = ["--command-config", options.command_config] if options.command_config else []
    for shown in filter(None, map(without_secret, options.config or ())):
        words += ["--config", shown]
    if options.timeout != DEFAULT_SECONDS:
        words += ["--timeout", f"{options.timeout:g}"]
    return words


def captured_of(
    connection: Connection, patterns: Sequence[str] | None, options: GroupOptions | None
) -> tuple[list[Group], Sequence[Failure]]:
    """Return the groups of a cluster, and why others could not be captured.

    Parameters
    ----------
    patterns : names or patterns of groups; empty or None: all
    options : None: the groups as the cluster has them, also in the middle of a rebalance

    Raises
    ------
    BadInput
        If the cluster cannot be asked, or the only result is one failure.
    """
    from live.capture import capture

    found = capture(connection, patterns or ["*"])
    if not found.documents and len(found.failures) == 1:
        raise BadInput(str(found.failures[0]))
    groups = [one.group() for one in found.documents]
    return groups if options is None else as_told(groups, options), found.failures


def lost_of(
    failures: Sequence[Failure], patterns: Sequence[str] | None
) -> tuple[list[Failure], list[Failure]]:
    """Split failures into those that are errors and those that are expected.

    Expected, the second value: the group is in a state without an assignment, such as rebalancing,
    and was not asked for by its exact name.
    """
    from live.capture.captures import is_name

    named = {pattern for pattern in patterns or () if is_name(pattern)}
    missed = [(one, one.not_to_be_had and one.group not in named) for one in failures]
    return (
        [one for one, forgiven in missed if not forgiven],
        [one for one, forgiven in missed if forgiven],
    )


def groups_of(
    connection: Connection, patterns: Sequence[str] | None, options: GroupOptions | None
) -> tuple[list[Group], list[Failure], list[Failure]]:
    """Return the groups of `captured_of` and the failures of `lost_of`; print all failures.

    Raises
    ------
    BadInput
        If the cluster cannot be asked, or no group could be captured.
    """
    groups, failures = captured_of(connection, patterns, options)
    note_failures(failures)
    if not groups:
        raise BadInput(f"{connection.bootstrap}: no group could be captured")
    return (groups, *lost_of(failures, patterns))
