"""A run as a process of its own, held at a gate by an assignor until something has happened to it.

The assignor `gate` says in a file that it was asked, and answers when a test lets it; of groups
whose names begin with `free` it answers at once.
"""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from compare.samples.families import Family
from tests.assay.calling import ASSAY
from tests.compare.fleet.processes import children, with_variable, words_of

GATE = """
import time
from pathlib import Path

HERE = Path(__file__).parent

def gate(group):
    until = time.monotonic() + 240
    if not group.name.startswith("free"):
        (HERE / "asked").touch()
        while not (HERE / "open").exists() and time.monotonic() < until:
            time.sleep(0.02)
    return {group.members[0]: {t: [*range(n)] for t, n in zip(group.topics, group.partitions)}}
"""
ENOUGH_SECONDS = 240


def fill(folder: Path, groups: int = 24) -> None:
    """Write groups of different sizes, and lines that are none."""
    made = [
        Family(3 + n % 4, 4, 5, "random", "join-one").group(n).to_dict() for n in range(groups)
    ]
    lines = [json.dumps(group | {"group": f"g{n}"}) for n, group in enumerate(made)]
    lines[5:5] = ['{"format": "assay-group/1", "group": "cut"']
    (folder / "in.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "gated.py").write_text(GATE)


def is_session(words: str) -> bool:
    """Whether these start Spark's Java, not the script before it or the Java that it asks."""
    return "/java " in words and "SparkSubmit" in words and "launcher.Main" not in words


class Running:
    """A run that works in a folder of its own: input, assignor, tables and scratch are there."""

    def __init__(
        self,
        folder: Path,
        *more: str,
        source: str = "in.jsonl",
        out: str = "out",
        assignors: tuple[str, ...] = ("current", "gated:gate"),
        scratch: str = "tmp",
        **environment: str,
    ) -> None:
        self.folder = folder
        self.scratch = folder / scratch
        self.scratch.mkdir(exist_ok=True)
        command = [str(ASSAY), "run", source, "--out", out, "--time-limit", "300"]
        command += [*(word for name in assignors for word in ("--assignor", name)), *more]
        self.process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "TMPDIR": str(self.scratch), **environment},
            start_new_session=True,
        )  # fmt: skip

    def at_the_gate(self) -> None:
        """Wait until a worker's child is in the assignor."""
        self.until(lambda: (self.folder / "asked").exists())

    def until(self, holds) -> None:
        end = time.monotonic() + ENOUGH_SECONDS
        while not holds():
            if self.process.poll() is not None:
                raise AssertionError(self.process.communicate())
            assert time.monotonic() < end, "nothing came of it"
            time.sleep(0.02)

    def open(self) -> None:
        (self.folder / "open").touch()

    def end(self) -> tuple[int, str, str]:
        """Wait for its end; return its exit code and what it said."""
        out, err = self.process.communicate(timeout=ENOUGH_SECONDS)
        if "no Java for Spark" in err:
            pytest.skip(err.splitlines()[-1])
        return self.process.returncode, out, err

    def send(self, number: int) -> tuple[int, str, str]:
        """Send a signal, as a terminal does where it is Ctrl-C; return how the run ended."""
        if number == signal.SIGINT:
            os.killpg(self.process.pid, number)
        else:
            self.process.send_signal(number)
        return self.end()

    def send_to_all(self, number: int) -> None:
        """Send a signal to the run's group and to that of its Java at once, as services end."""
        for group in (os.getpgid(self.jvm()), self.process.pid):
            os.killpg(group, number)

    def left(self) -> list[str]:
        """Return what is left 8 s after its end: processes, and files of scratch."""
        end = time.monotonic() + 8
        while time.monotonic() < end:
            found = [*map(str, self.processes()), *(p.name for p in self.scratch.iterdir())]
            if not found:
                break
            time.sleep(0.1)
        for name in ("asked", "open"):
            (self.folder / name).unlink(missing_ok=True)
        return found

    def processes(self) -> list[int]:
        """Return what the run has started."""
        every = with_variable("TMPDIR", self.scratch)
        return [pid for pid in every if pid != self.process.pid]

    def jvms(self) -> list[int]:
        """Return the run's Javas, without what one of them starts: it has their words at first."""
        found = [pid for pid in self.processes() if is_session(words_of(pid))]
        started = {child for pid in found for child in children(pid)}
        return [pid for pid in found if pid not in started]

    def jvm(self) -> int:
        (found,) = self.jvms()
        return found

    def daemon(self) -> int:
        return children(self.jvm())[0]

    def worker(self) -> int:
        """Return the worker of Python's whose child is at the gate, or another that has one."""
        return next(worker for worker in children(self.daemon()) if children(worker))

    def child(self) -> int:
        return children(self.worker())[0]
