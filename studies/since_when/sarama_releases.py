"""SaramaReleases: the driver of sarama, built for releases of both of the module's names."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from groups.documents.json_files import make_folder
from heuristics.shipped.consumers import go_build, sarama
from studies.since_when.releases import SARAMA, asked

if TYPE_CHECKING:
    from studies.since_when.releases import Release

# What the driver says, and how that was said in releases under the module's first name.
BEFORE = {
    SARAMA[1]: SARAMA[0],
    **{
        f"sarama.NewBalanceStrategy{name},": "func() sarama.BalanceStrategy { return "
        f"sarama.BalanceStrategy{name} }},"
        for name in ("Range", "RoundRobin", "Sticky")
    },
    "Rebalance.GroupStrategies = []sarama.BalanceStrategy{strategy()}": (
        "Rebalance.Strategy = strategy()"
    ),
    "sarama.V3_2_0_0": "sarama.V2_1_0_0",
}


def fetch(release: Release) -> None:
    """Build the driver for a release.

    Raises
    ------
    BadInput
        Where that cannot be done.
    """
    if release.source == SARAMA[1]:
        sarama.CLIENT.fetch(release.version)
        return
    program = go_build.built("sarama", release.version)
    if program.is_file():
        return
    make_folder(program.parent)
    source = (go_build.DRIVERS / "sarama" / "main.go").read_text("utf-8")
    for now, before in BEFORE.items():
        source = source.replace(now, before)
    with TemporaryDirectory() as folder:
        (Path(folder) / "main.go").write_text(source, "utf-8")
        asked(["go", "mod", "init", "assay/sarama"], folder)
        asked(["go", "get", f"{release.source}@v{release.version}"], folder)
        asked(["go", "mod", "tidy"], folder)
        asked(["go", "build", "-o", str(program), "."], folder)
