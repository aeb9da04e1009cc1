"""Tether: runs a client, and kills it when standard input ends: TETHER COMMAND...

The parent, which holds the other end of standard input, may be killed at any time, and the client
may be in an endless loop, so neither can end the client. A SIGTERM to the tether is passed to the
client. For Linux and macOS.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading


def _kill_at_end_of_input() -> None:
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
    threading.Thread(target=_kill_at_end_of_input, daemon=True).start()
    client.wait()
    # Also kill the processes that the client has started.
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
