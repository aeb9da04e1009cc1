"""Program: a client's program in its own process, and why it died."""

from __future__ import annotations

import re
import subprocess
from contextlib import suppress
from threading import Thread
from typing import IO, TYPE_CHECKING

from heuristics.child import exit_code

if TYPE_CHECKING:
    from collections.abc import Sequence

# How long a client that has closed its connection or output may take to exit. This is less than
# any time limit in use.
DYING_SECONDS = 1.0
MOST_CHARACTERS = 200
_REASON = re.compile(r"(panic:|fatal error:|\w*(Error|Exception)\b|Assertion|.*\bassert)")


class Program:
    """A running program, which must end when its standard input ends.

    So it ends with this process, even if that is killed. Of its standard error, the line that says
    why it died is kept: the first line of a panic or error, else the last line.

    Attributes
    ----------
    asked, told : its standard input and output
    """

    def __init__(self, command: Sequence[str]) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self.asked, self.told = self._process.stdin, self._process.stdout
        self._line = self._reason = ""
        self._reader = Thread(target=self._read, args=[self._process.stderr], daemon=True)
        self._reader.start()

    def dies(self, seconds: float = 0.0) -> bool:
        """Return whether it is dead, waiting up to so many seconds for that."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        return self._process.returncode is not None

    def end(self) -> str:
        """Kill it unless it is dead; return its exit code and last words as text."""
        self._process.kill()
        code = self._process.wait()
        self._reader.join()
        self.told.close()
        with suppress(BrokenPipeError):
            self.asked.close()
        words = self._reason or self._line
        return f"the client died: {exit_code(code)}{': ' if words else ''}{words}"

    def _read(self, said: IO[bytes]) -> None:
        with said:
            for raw in iter(lambda: said.readline(1 << 16), b""):
                line = " ".join(raw.decode("utf-8", "replace").split())[:MOST_CHARACTERS]
                self._line = line or self._line
                if not self._reason and _REASON.match(line):
                    self._reason = line
