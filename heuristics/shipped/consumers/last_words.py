"""LastWords: how a client's program died, and what it said."""

from __future__ import annotations

import re
import signal
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess

# How long a client that has closed what it answers on may take to be dead, less than any time
# limit in use.
DYING_SECONDS = 1.0
MOST_CHARACTERS = 200
_REASON = re.compile(r"(panic:|fatal error:|\w*(Error|Exception)\b|Assertion|.*\bassert)")


def obituary(code: int, words: str) -> str:
    """Return how a client died, in one line: its exit code, and what it said last."""
    named = ""
    if code < 0:
        with suppress(ValueError):
            named = f" ({signal.Signals(-code).name})"
    return f"the client died: exit code {code}{named}{': ' if words else ''}{words}"


class LastWords:
    """Reads what a process writes to standard error, and keeps the line that says why."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._stream = process.stderr
        self._line = ""
        self._reason = ""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def close(self) -> str:
        """Wait for the end of what is said and return its line: the last, or a panic's first."""
        self._thread.join()
        if self._stream is not None:
            self._stream.close()
        return self._reason or self._line

    def _read(self) -> None:
        if self._stream is None:
            return
        for raw in iter(lambda: self._stream.readline(1 << 16), b""):  # type: ignore[union-attr]
            line = " ".join(raw.decode("utf-8", "replace").split())[:MOST_CHARACTERS]
            self._line = line or self._line
            if not self._reason and _REASON.match(line):
                self._reason = line
