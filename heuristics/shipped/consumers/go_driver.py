"""GoLibrary: Go clients, called in memory by small programs that a Go toolchain builds."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, ClassVar

from groups import BadInput
from groups.documents.json_files import make_folder
from heuristics.shipped.cache import cache_folder, names_in, newest_first, run_tool
from heuristics.shipped.client import COOPERATIVE
from heuristics.shipped.consumers.program import planned

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from groups import Group
    from heuristics.assignor import Plan


DRIVERS = Path(__file__).parent / "drivers"
BUILD_SECONDS = 900.0
OLDEST_GO = "1.26"
RECORDED = ("go.mod", "go.sum")


@dataclass(frozen=True)
class GoLibrary:
    """A :class:`~heuristics.shipped.client.Client` in Go, and the program that calls it.

    Attributes
    ----------
    name : as users write it; the folder of the program's sources has the same name
    source : as users read it
    module : its Go module
    listed : versions to list even if they are not built
    since : for each assignor that older versions lack, the first version that has it, and the
        build tag that leaves it out of the program
    """

    keeps_time: ClassVar[bool] = False
    repeatable: ClassVar[bool] = False
    language: ClassVar[str] = "go"
    assignors: ClassVar[tuple[str, ...]] = ("range", "roundrobin", "sticky", COOPERATIVE)
    name: str
    source: str
    module: str
    listed: tuple[str, ...]
    since: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Folder of the sources, ``go.mod`` and ``go.sum``."""
        return DRIVERS / self.name.replace("-", "_")

    def versions(self) -> tuple[str, ...]:
        """Return `listed` and the built versions, newest first."""
        after = f"-{self._content}"
        names = names_in(cache_folder("drivers", self.folder.name))
        found = [name.removesuffix(after) for name in names if name.endswith(after)]
        return newest_first([*self.listed, *(v for v in found if self.program(v).is_file())])

    def program(self, version: str) -> Path:
        """Return the path of the program for a version of the client, built or not.

        It contains a digest of the sources, so that a change of them gives another path.
        """
        name = self.folder.name
        return cache_folder("drivers", name) / f"{version}-{self._content}" / name

    def command(self, version: str) -> tuple[str, ...]:
        """Return the command that starts the program."""
        return (str(self.program(version)),)

    def one_round(self, group: Group, assignor: str, version: str) -> Plan:
        """Call the assignor once, as the client's leader does."""
        return planned(self.command(version), group, assignor)

    def missing(self, assignor: str, version: str) -> str | None:
        """Return why the assignor cannot be called: too old, not built, or no Go; else None."""
        if self._lacks(assignor, version):
            first, newest = self.since[assignor][0], f"assay fetch {self.name}@{self.listed[0]}"
            return f"{self.name} before {first} has no {assignor}: {newest}"
        if self.program(version).is_file():
            return None
        command = f"assay fetch {self.name}@{version}"
        if shutil.which("go") is None:
            return f"no Go toolchain on the PATH: install Go {OLDEST_GO} or later, then: {command}"
        return f"not built: {command}"

    def fetch(self, version: str) -> None:
        """Build the program.

        The version in ``go.mod`` is built with its recorded checksums; for other versions, the
        requirements are resolved again.

        Raises
        ------
        BadInput
            If there is no Go toolchain, no such version, or it has another interface.
        """
        program = self.program(version)
        if program.is_file():
            # Programs of findings are built with the same modules, which may have been deleted.
            if self.is_recorded(version) and shutil.which("go") is not None:
                go(self.folder, "mod", "download")
            return
        if shutil.which("go") is None:
            raise BadInput(f"no Go toolchain on the PATH: install Go {OLDEST_GO} or later")
        make_folder(program.parent)
        with TemporaryDirectory() as name:
            folder = Path(name)
            for source in self.sources:
                shutil.copy(source, folder)
            if self.is_recorded(version):
                self.take_recorded(version, folder)
            else:
                require(folder, self.module, version)
            tags = [tag for name, (_, tag) in self.since.items() if self._lacks(name, version)]
            build_in(folder, program, tags)

    @property
    def sources(self) -> list[Path]:
        """Source files of the program."""
        return [DRIVERS / "groups.go", *sorted(self.folder.glob("*.go"))]

    def is_recorded(self, version: str) -> bool:
        """Return whether ``go.mod`` requires this version, with all checksums."""
        return f"{self.module} v{version}\n" in (self.folder / "go.mod").read_text("utf-8")

    def take_recorded(self, version: str, folder: Path) -> None:
        """Copy ``go.mod`` and ``go.sum`` into the folder of a program.

        Raises
        ------
        BadInput
            If ``go.mod`` requires another version of the module.
        """
        if not self.is_recorded(version):
            raise BadInput(f"{self.name} {version}: the driver's go.mod requires another version")
        for name in RECORDED:
            shutil.copy(self.folder / name, folder)

    @property
    def _content(self) -> str:
        """Digest of the sources."""
        content = sha256()
        for source in (*(self.folder / name for name in RECORDED), *self.sources):
            content.update(source.read_bytes())
        return content.hexdigest()[:12]

    def _lacks(self, assignor: str, version: str) -> bool:
        return assignor in self.since and _numbers(version) < _numbers(self.since[assignor][0])


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)[:3]))


def require(folder: Path, module: str, version: str) -> None:
    """Make a folder of sources a Go module that requires a version of another module.

    Raises
    ------
    BadInput
        If there is no toolchain, or no such version.
    """
    (folder / "go.mod").write_text("module assay/called\n\ngo 1.22\n", "utf-8")
    go(folder, "get", f"{module}@v{version}")
    go(folder, "mod", "tidy")


def build_in(folder: Path, program: Path, tags: Sequence[str] = ()) -> None:
    """Build the module of a folder; the program appears complete or not at all.

    Raises
    ------
    BadInput
        If it does not compile.
    """
    go(folder, "build", "-tags", ",".join(tags), "-o", program.name, ".")
    # Another process may be building the same program, so the file is named after this one.
    partial = program.with_name(f"{program.name}.{os.getpid()}")
    shutil.move(folder / program.name, partial)
    partial.replace(program)


def go_variables() -> dict[str, str]:
    """Return the variables for all builds in Go: without C, and without the paths of a folder.

    As all are alike, the standard library is compiled once.
    """
    return {"CGO_ENABLED": "0", "GOFLAGS": f"{os.environ.get('GOFLAGS', '')} -trimpath".lstrip()}


def go(folder: Path, *arguments: str) -> str:
    """Run a command of the Go toolchain in a folder, without C; return what it printed.

    Raises
    ------
    BadInput
        If there is no toolchain, it fails, or it takes too long.
    """
    what, variables = f"go {arguments[0]}", go_variables()
    done = run_tool(
        what, ["go", *arguments], seconds=BUILD_SECONDS, folder=folder, variables=variables
    )
    if done.returncode:
        said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        reasons = [line for line in said if re.match(r"go: (?!downloading|added|creating)", line)]
        reason = (reasons or said or ["failed"])[-1]
        raise BadInput(f"{what}: {reason.removeprefix('go: ')}")
    return done.stdout
