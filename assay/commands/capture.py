"""Capture: groups of a running cluster become snapshots."""

import typer

from assay.commands import cluster
from assay.commands.import_ import note_each_assumed, write_snapshots
from assay.commands.options import Reset, SnapshotsOut


def capture(
    bootstrap_server: cluster.BootstrapServer,
    *,
    group: cluster.Patterns = None,
    out: SnapshotsOut = None,
    strict: cluster.Strict = False,
    reset: Reset = None,
    connection: cluster.ConnectionOptions,
) -> None:
    """Turn the groups of a running cluster into snapshots.

    They say who reads and holds what, and the lag. Nothing in the cluster changes. One group is a
    document, several are JSON lines. A group that is rebalancing or not of consumers costs a
    line on standard error; the others are written, with exit code 2 if --group named it.
    """
    live = cluster.connection_to(bootstrap_server, connection)
    found, damaged, not_had = cluster.groups_of(live, group, options=None)
    groups = [one.with_reset(reset) for one in found]
    note_each_assumed((one.name, one.with_target().assumed) for one in groups)
    write_snapshots(groups, out)
    raise typer.Exit(2 if damaged or (strict and not_had) else 0)
