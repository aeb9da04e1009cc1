"""GoDriver: a small program around a Go client, built for each version of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from heuristics.shipped.cache import newest_first
from heuristics.shipped.consumers import go_build

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class GoDriver:
    """A :class:`~heuristics.shipped.consumers.consumer.Driver` of a Go client.

    Attributes
    ----------
    client : its name, after which the folder of the program's sources is called
    module : its Go module
    listed : its versions that are listed whether they are here or not
    since : for an assignor that older versions lack, the first version that has it, and the build
        tag that leaves it out of the program
    """

    client: str
    module: str
    listed: tuple[str, ...]
    since: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        """Name of the folder of the program's sources."""
        return self.client.replace("-", "_")

    def versions(self) -> tuple[str, ...]:
        """Return the versions to list, newest first, with those that were built besides."""
        return newest_first([*self.listed, *go_build.built_versions(self.folder)])

    def command(self, version: str) -> tuple[str, ...]:
        """Return what starts the program."""
        return (str(go_build.built(self.folder, version)), "join")

    def missing(self, assignor: str, version: str) -> str | None:
        """Return that the program is not built, or cannot be, or that the version is too old."""
        if self._lacks(assignor, version):
            first, newest = self.since[assignor][0], f"assay fetch {self.client}@{self.listed[0]}"
            return f"{self.client} before {first} has no {assignor}: {newest}"
        return go_build.missing(self.folder, version, f"assay fetch {self.client}@{version}")

    def fetch(self, version: str) -> None:
        """Build the program.

        Raises
        ------
        BadInput
            Where there is no Go toolchain, or no such version.
        """
        tags = [tag for name, (_, tag) in self.since.items() if self._lacks(name, version)]
        go_build.build(self.folder, self.module, version, tags)

    def _lacks(self, assignor: str, version: str) -> bool:
        return assignor in self.since and _numbers(version) < _numbers(self.since[assignor][0])


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)[:3]))
