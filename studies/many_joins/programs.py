"""Programs: what calls a client's own assignor on many small groups, read from its input."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from groups.errors import BadInput, Failed
from heuristics import assignor_named
from heuristics.shipped.consumers.go_build import go, take_recorded
from heuristics.shipped.java.jars import SHORT_LIVED, compile_java, compiled, noted
from heuristics.shipped.java.kafka_java import CLIENT
from heuristics.shipped.java.runtime import java_home

if TYPE_CHECKING:
    from collections.abc import Sequence

IN_JAVA = Path(__file__).with_name("ManyJoins.java")
IN_GO = Path(__file__).with_name("called_in_go.txt")
MODULE = "github.com/IBM/sarama"


def program(assignor: str, milliseconds: int, folder: Path) -> Sequence[str]:
    """Return the command of the program that calls an assignor.

    It reads groups, one to a line, and says of many how many are answered, or which hangs.

    Parameters
    ----------
    assignor : its full name, as in "kafka-java/sticky@4.4.0"
    milliseconds : for one group: of the processor, but on the clock where a consumer is led
        through the probe
    folder : where it may be compiled to

    Raises
    ------
    BadInput
        Where the assignor cannot be called here.
    Failed
        Where the program cannot be compiled.
    """
    client, _, rest = assignor.partition("/")
    name, _, version = rest.partition("@")
    if client == CLIENT.name:
        return _in_java(folder, name, version, milliseconds)
    reason = assignor_named(assignor).missing()
    if reason is not None:
        raise BadInput(f"{assignor}: {reason}")
    if client == "sarama":
        return [str(_in_go(folder, version)), name, str(milliseconds)]
    return [sys.executable, "-m", "studies.many_joins.called", assignor, str(milliseconds)]


def _in_java(folder: Path, assignor: str, version: str, milliseconds: int) -> list[str]:
    home, jars = java_home(), noted(CLIENT.artifact, version)
    if home is None or not jars:
        raise BadInput(str(CLIENT.missing(assignor, version)))
    places = [compiled(CLIENT.artifact, version, CLIENT.caller), *jars]
    reason = compile_java([IN_JAVA], places, folder)
    if reason is not None:
        raise Failed(reason)
    path = os.pathsep.join(map(str, [folder, *places]))
    called = f"{CLIENT.package}.{CLIENT.assignors[assignor]}"
    java = str(home / "bin" / "java")
    return [java, SHORT_LIVED[1], "-cp", path, "assay.ManyJoins", called, str(milliseconds)]


def _in_go(folder: Path, version: str) -> Path:
    take_recorded("sarama", MODULE, version, folder)
    shutil.copy(IN_GO, folder / "main.go")
    go(folder, "build", "-o", "called", ".")
    return folder / "called"
