"""Tether: runs a client, and kills it when standard input ends: TETHER COMMAND...

Whoever holds the other end of standard input may be killed at any time and cannot tell; the
client may be in an endless loop and cannot watch. A SIGTERM to the tether goes on to the client.
Linux and macOS.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading


def _hold() -> None:
    while os.read(0, 4096):
        pass
    os.killpg(0, signal.SIGKILL)


def main() -> None:
    """Run the command in the arguments."""
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    nothing = subprocess.DEVNULL
    client = subprocess.Popen(sys.argv[1:], stdin=nothing, stdout=nothing)
    signal.signal(signal.SIGTERM, lambda *_: client.terminate())
    threading.Thread(target=_hold, daemon=True).start()
    client.wait()
    # What the client started ends with it.
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
