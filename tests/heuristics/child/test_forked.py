"""Children that are forked: all that holds of a new interpreter holds of them, but the wait."""

import os
import subprocess
import sys
from pathlib import Path

from compare.runs.session.daemon import WITHOUT_THREADS

from heuristics.child.forked import can_fork

ROOT = Path(__file__).parents[3]
ENVIRONMENT = {**os.environ, **WITHOUT_THREADS, "PYTHONPATH": str(ROOT)}


def test_what_holds_of_children_holds_of_forked_ones():
    """The other tests once more, in a process that forks."""
    tests = Path(__file__).with_name("test_child.py")
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-x",
            "-p",
            "no:cacheprovider",
            "-n0",
            "-o",
            "faulthandler_timeout=0",
            str(tests),
        ],
        env={**ENVIRONMENT, "FORKED_CHILDREN": "1"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )
    assert run.returncode == 0, run.stdout


FORKS = """
import os, signal, subprocess, threading, time
import pyarrow
from heuristics.child import Child
from heuristics.child.forked import Forked, can_fork, fork_children
from tests.heuristics.child import faults

def command_of(pid):
    return open(f"/proc/{pid}/cmdline").read()

opened = [open(os.devnull) for _ in range(20)]
assert not can_fork()
fork_children()
with Child() as child:
    pid = child.call(os.getpid, seconds=30)
    assert command_of(pid) == command_of(os.getpid())
    assert os.getsid(pid) == pid
    assert os.readlink(f"/proc/{pid}/fd/0") == os.devnull
    assert len(os.listdir(f"/proc/{pid}/fd")) == 4
    times = []
    for _ in range(3):
        started = time.monotonic()
        lost = child.call(faults.die_in_native_code, seconds=30)
        assert child.call(abs, -1, seconds=30) == 1
        times.append(time.monotonic() - started)
    assert str(lost.reason) == "the child process died (exit code -11)"
    other = threading.Thread(target=time.sleep, args=[3], daemon=True)
    other.start()
    os.kill(child.call(os.getpid, seconds=30), 9)
    assert command_of(child.call(os.getpid, seconds=30)) != command_of(os.getpid())
read, write = os.pipe()
forked = Forked(lambda: time.sleep(60), read)
try:
    forked.wait(0.01)
except subprocess.TimeoutExpired:
    os.kill(forked.pid, signal.SIGTERM)
assert forked.wait(60) == forked.wait() == -signal.SIGTERM
"""


def test_a_child_is_forked_off_one_thread_and_replaced():
    run = subprocess.run(
        [sys.executable, "-c", FORKS],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert run.returncode == 0, run.stderr


def test_a_process_that_did_not_say_so_is_not_forked():
    assert not can_fork()
