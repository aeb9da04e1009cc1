"""Rerun: runs the program of a finding against the real client."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from compare.promises.record import ARTIFACTS
from groups import BadInput, Failed
from heuristics import assignor_named
from heuristics.shipped import CLIENTS
from heuristics.shipped.cache import run_tool
from heuristics.shipped.consumers.go_driver import go_variables
from heuristics.shipped.consumers.library import KAFKAJS, go_library_of
from heuristics.shipped.java import jars
from heuristics.shipped.java.jars import java_home

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping, Sequence

    from compare.promises.program import Program

SECONDS = 180.0
_REPORT = "TEST-junit-jupiter.xml"


@dataclass(frozen=True)
class Rerun:
    """Whether the program's test failed, which reproduces the finding, and all that it printed."""

    reproduced: bool
    output: str


def rerun(program: Program, assignor: str, folder: Path) -> Rerun:
    """Write a program into an empty folder and run it with its client's usual test runner.

    Raises
    ------
    BadInput
        If the assignor cannot be called here; the message ends with the command for it.
    Failed
        If the program ends before its test, for example because it does not compile.
    """
    client, version = _client_and_version(assignor)
    if client in ARTIFACTS:
        return rerun_in_java([program], assignor, folder)[0]
    _write(program, folder)
    file, command = program.file, list[str | Path]()
    match CLIENTS[client].language:
        case "python":
            command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
            command += ["--rootdir", folder, file]
            more, failed = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}, "1 failed"
        case "go":
            if not go_library_of(client).is_recorded(version):
                raise BadInput(f"{client} {version}: only the version of its driver is run here")
            command, more, failed = ["go", "test"], go_variables(), "--- FAIL"
        case _:
            command = ["node", "--test", file]
            more, failed = {"NODE_PATH": str(KAFKAJS.modules(version))}, "not ok 1"
    done = _run(folder, command, more)
    said = f"{done.stdout}{done.stderr}"
    if done.returncode and failed not in said:
        raise Failed(f"{file} does not come to its test: {said.strip()[-2000:]}")
    return Rerun(bool(done.returncode), said)


def rerun_in_java(programs: Sequence[Program], assignor: str, folder: Path) -> list[Rerun]:
    """Write programs in Java into an empty folder and run all in one JVM, which is much quicker.

    Parameters
    ----------
    assignor : one of their assignors; all are of one client and version

    Raises
    ------
    BadInput, Failed
        As :func:`rerun`.
    """
    client, version = _client_and_version(assignor)
    home = java_home()
    if home is None:
        raise BadInput(jars.NO_JAVA)
    for program in programs:
        _write(program, folder)
    names = [program.file for program in programs]
    (junit,) = jars.fetched(*jars.JUNIT)
    places = [*jars.noted(ARTIFACTS[client], version), junit]
    reason = jars.compile_java([folder / name for name in names], places, folder / "classes")
    if reason is not None:
        raise Failed(f"{', '.join(names)} does not compile: {reason.strip()}")
    command: list[str | Path] = [home / "bin" / "java", *jars.SHORT_LIVED, "-jar", junit]
    command += ["execute", "--disable-banner", "--details=none", "--reports-dir", "reports"]
    command += [part for name in names for part in ("-c", Path(name).stem)]
    command += ["-cp", os.pathsep.join(["classes", *map(str, places)])]
    said = _run(folder, command).stdout
    return [
        _rerun_in_report(folder / "reports" / _REPORT, Path(name).stem, said) for name in names
    ]


def _client_and_version(assignor: str) -> tuple[str, str]:
    """Return the client and the version of an assignor; raise BadInput if it is not here."""
    asked = assignor_named(assignor)
    reason = asked.missing()
    if reason is not None:
        raise BadInput(f"{asked.name}: {reason}")
    return asked.name.partition("/")[0], asked.version or ""


def _write(program: Program, folder: Path) -> None:
    for name, text in program.files.items():
        (folder / name).write_text(text, encoding="utf-8")


def _rerun_in_report(report: Path, class_: str, said: str) -> Rerun:
    """Return the result of the one test of a class from JUnit's report."""
    cases = ElementTree.parse(report).iter("testcase") if report.is_file() else ()
    case = next((case for case in cases if case.get("classname") == class_), None)
    if case is None:
        raise Failed(f"{class_}.java does not come to its test: {said.strip()[-2000:]}")
    error, failure = case.find("error"), case.find("failure")
    if error is not None:
        return Rerun(True, f"{class_}\n{(error.text or '').strip()}")
    if failure is None:
        return Rerun(False, f"{class_} passes")
    # The test's own message is enough: its stack trace adds nothing.
    lines = (failure.text or "").strip().splitlines()
    return Rerun(True, "\n".join([class_, *(one for one in lines if one[:4] != "\tat ")]))


def _run(
    folder: Path, command: list[str | Path], more: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    try:
        return run_tool(str(command[0]), command, seconds=SECONDS, folder=folder, variables=more)
    except BadInput as error:
        raise Failed(str(error)) from None
