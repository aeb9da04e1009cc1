"""An `assay run` in another process, which an assignor holds until a test lets it go on.

The assignor `gate` creates the file `asked` when it is called, and answers once a test has created
the file `open`; for groups whose names begin with `free` it answers at once.
"""

import gzip
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
    """Write groups of different sizes, a line that is no group, and the assignor."""
    made = [
        Family(3 + n % 4, 4, 5, "random", "join-one").group(n).to_dict() for n in range(groups)
    ]
    lines = [json.dumps(group | {"group": f"g{n}"}) for n, group in enumerate(made)]
    lines[5:5] = ['{"format": "assay-group/1", "group": "cut"']
    (folder / "in.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "gated.py").write_text(GATE)


def fill_two_portions(folder: Path, groups: int) -> list[Path]:
    """Write the groups of `fill` twice: named ``free0``, ...; and ``g0``, ..., a portion apart."""
    fill(folder, groups)
    lines, source = (folder / "in.jsonl").read_text(), folder / "in"
    source.mkdir()
    free, gated = source / "a.jsonl", source / "b.jsonl.gz"
    free.write_text(lines.replace('"group": "g', '"group": "free'))
    # A file that cannot be split is a portion of its own.
    gated.write_bytes(gzip.compress(lines.encode()))
    return [free, gated]


def is_session(words: str) -> bool:
    """Whether a command line is Spark's own Java, not its start script or its launcher."""
    return "/java " in words and "SparkSubmit" in words and "launcher.Main" not in words


class Running:
    """A run in a folder that holds its input, assignor, tables and temporary files."""

    def __init__(
        self,
        folder: Path,
        *more: str,
        source: str = "in.jsonl",
        out: str = "out",
        scratch: str = "tmp",
    ) -> None:
        self.folder = folder
        self.scratch = folder / scratch
        self.scratch.mkdir(exist_ok=True)
        command = [str(ASSAY), "run", source, "--out", out, "--time-limit", "300"]
        command += ["--assignor", "current", "--assignor", "gated:gate", *more]
        self.process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "TMPDIR": str(self.scratch)},
            start_new_session=True,
        )  # fmt: skip

    def at_the_gate(self) -> None:
        """Wait until a worker's child has called the assignor."""
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
        """Wait for the run's end; return its exit code, output and error output."""
        out, err = self.process.communicate(timeout=ENOUGH_SECONDS)
        if "no Java for Spark" in err:
            pytest.skip(err.splitlines()[-1])
        return self.process.returncode, out, err

    def send(self, number: int) -> tuple[int, str, str]:
        """Send a signal, SIGINT to the process group as a terminal does; return `end`'s values."""
        if number == signal.SIGINT:
            os.killpg(self.process.pid, number)
        else:
            self.process.send_signal(number)
        return self.end()

    def send_to_all(self, number: int) -> None:
        """Signal the process groups of the run and of its Java, as a service manager does."""
        for group in (os.getpgid(self.jvm()), self.process.pid):
            os.killpg(group, number)

    def left(self) -> list[str]:
        """Return the processes and temporary files that are left 8 s after the run's end."""
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
        """Return the ids of the processes that the run has started."""
        return [p for p in with_variable("TMPDIR", self.scratch) if p != self.process.pid]

    def jvm(self) -> int:
        """Return the run's Java, but not its children, which have the same command at first."""
        found = [pid for pid in self.processes() if is_session(words_of(pid))]
        started = {child for pid in found for child in children(pid)}
        (jvm,) = (pid for pid in found if pid not in started)
        return jvm

    def daemon(self) -> int:
        return children(self.jvm())[0]

    def worker(self) -> int:
        """Return a Python worker that has a child, such as the one that calls the assignor."""
        return next(worker for worker in children(self.daemon()) if children(worker))

    def child(self) -> int:
        return children(self.worker())[0]
