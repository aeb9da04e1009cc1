"""NodeDriver: a small program that calls an npm package, installed for each of its versions."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from groups import BadInput
from groups.documents.json_files import make_folder
from heuristics.shipped.cache import cache_folder, names_in, newest_first, run_tool

DRIVERS = Path(__file__).parent / "drivers"
INSTALL_SECONDS = 300.0
OLDEST_NODE = 14


@dataclass(frozen=True)
class NodeDriver:
    """The program that calls an npm package.

    Attributes
    ----------
    client : name of the package, and of the program's folder
    listed : versions to list even if they are not installed
    """

    language: ClassVar[str] = "node"
    client: str
    listed: tuple[str, ...]

    def versions(self) -> tuple[str, ...]:
        """Return `listed` and the installed versions, newest first."""
        here = names_in(cache_folder("drivers", self.client))
        return newest_first([*self.listed, *(v for v in here if self._installed(v) == v)])

    def command(self, version: str) -> tuple[str, ...]:
        """Return the command that starts the program."""
        return ("node", str(self._sources / "driver.js"), str(self.modules(version)))

    def missing(self, assignor: str, version: str) -> str | None:
        """Return that Node or the package is missing, with the command that helps; else None."""
        command = f"assay fetch {self.client}@{version}"
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
        folder = cache_folder("drivers", self.client, version)
        make_folder(folder)
        named = json.loads((self._sources / "package.json").read_text("utf-8"))
        if named["dependencies"][self.client] == version:
            for file in ("package.json", "package-lock.json"):
                shutil.copy(self._sources / file, folder)
            _npm(npm, folder, "ci")
        else:
            (folder / "package.json").write_text('{"private": true}\n', "utf-8")
            _npm(npm, folder, "install", "--no-save", f"{self.client}@{version}")
        if self._installed(version) != version:
            raise BadInput(f"npm: it did not install {self.client} {version}")

    def modules(self, version: str) -> Path:
        """Return the folder in which Node finds the package, once it is fetched."""
        return cache_folder("drivers", self.client) / version / "node_modules"

    @property
    def _sources(self) -> Path:
        return DRIVERS / self.client

    def _installed(self, version: str) -> str | None:
        """Return the version that is really installed in the folder of a version, or None."""
        package = self.modules(version) / self.client / "package.json"
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
