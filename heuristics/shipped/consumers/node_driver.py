"""NodeLibrary: an npm package, called in memory by a small program, in each of its versions."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from groups import BadInput
from groups.documents.json_files import make_folder
from heuristics.shipped.cache import cache_folder, names_in, newest_first, run_tool
from heuristics.shipped.consumers.program import planned

if TYPE_CHECKING:
    from groups import Group
    from heuristics.assignor import Plan

DRIVERS = Path(__file__).parent / "drivers"
INSTALL_SECONDS = 300.0
OLDEST_NODE = 14


@dataclass(frozen=True)
class NodeLibrary:
    """A :class:`~heuristics.shipped.client.Client` that is an npm package, called by a program.

    Attributes
    ----------
    name : name of the package, and of the program's folder
    source : as users read it
    assignors : the names that members list
    listed : versions to list even if they are not installed
    """

    keeps_time: ClassVar[bool] = False
    repeatable: ClassVar[bool] = True
    language: ClassVar[str] = "node"
    name: str
    source: str
    assignors: tuple[str, ...]
    listed: tuple[str, ...]

    def versions(self) -> tuple[str, ...]:
        """Return `listed` and the installed versions, newest first."""
        here = names_in(cache_folder("drivers", self.name))
        return newest_first([*self.listed, *(v for v in here if self._installed(v) == v)])

    def command(self, version: str) -> tuple[str, ...]:
        """Return the command that starts the program."""
        return ("node", str(self._sources / "driver.js"), str(self.modules(version)))

    def one_round(self, group: Group, assignor: str, version: str) -> Plan:
        """Call the assignor once, as the client's leader does."""
        return planned(self.command(version), group, assignor)

    def missing(self, assignor: str, version: str) -> str | None:
        """Return that Node or the package is missing, with the command that helps; else None."""
        command = f"assay fetch {self.name}@{version}"
        if shutil.which("node") is None:
            return f"no Node on the PATH: install Node {OLDEST_NODE} or later, then: {command}"
        if self._installed(version) != version:
            return f"not installed: {command}"
        return None

    def fetch(self, version: str) -> None:
        """Install the package without running its scripts.

        The version in the program's ``package.json`` must have its recorded checksum.

        Raises
        ------
        BadInput
            If there is no npm, or no such version.
        """
        if self._installed(version) == version:
            return
        npm = shutil.which("npm")
        if npm is None:
            raise BadInput(f"no npm on the PATH: install Node {OLDEST_NODE} or later")
        folder = cache_folder("drivers", self.name, version)
        make_folder(folder)
        named = json.loads((self._sources / "package.json").read_text("utf-8"))
        if named["dependencies"][self.name] == version:
            for file in ("package.json", "package-lock.json"):
                shutil.copy(self._sources / file, folder)
            _npm(npm, folder, "ci")
        else:
            (folder / "package.json").write_text('{"private": true}\n', "utf-8")
            _npm(npm, folder, "install", "--no-save", f"{self.name}@{version}")
        if self._installed(version) != version:
            raise BadInput(f"npm: it did not install {self.name} {version}")

    def modules(self, version: str) -> Path:
        """Return the folder in which Node finds the package, once it is fetched."""
        return cache_folder("drivers", self.name) / version / "node_modules"

    @property
    def _sources(self) -> Path:
        return DRIVERS / self.name

    def _installed(self, version: str) -> str | None:
        """Return the version that is really installed in the folder of a version, or None."""
        package = self.modules(version) / self.name / "package.json"
        try:
            said = json.loads(package.read_text("utf-8"))
        except (OSError, ValueError):
            return None
        return str(said.get("version"))


def _npm(npm: str, folder: Path, *arguments: str) -> None:
    quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    what = f"npm {arguments[0]}"
    done = run_tool(what, [npm, *arguments, *quiet], seconds=INSTALL_SECONDS, folder=folder)
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.startswith("npm error ")]
        reasons = [line for line in said if " code " not in line]
        raise BadInput(f"{what}: {reasons[0][10:] if reasons else 'failed'}")
