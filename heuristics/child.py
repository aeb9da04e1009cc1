"""Child: runs functions in another process, so that a hang, a crash or a memory leak is an answer.

The pools of the standard library and of pebble do not do that: they leave running what a call has
started, outlive a parent that is killed, need a guard in the caller's script, and do not limit
memory.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import resource
import signal
import subprocess
import sys
import time
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple
from weakref import finalize

from groups.errors import in_one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Start = Callable[[], subprocess.Popen[bytes]]

Answer = TypeVar("Answer")
Arguments = TypeVarTuple("Arguments")

START_SECONDS = 60.0
LOOK_SECONDS = 0.02
DYING_SECONDS = 0.1
# Time for a child that has closed its connection to exit; only a busy machine takes that long.
HUNG_UP_SECONDS = 10.0
# By default a child may use the parent's allowed memory divided by this.
SHARE = 2
MEGABYTE = 1_000_000
# Size of one read of a file in /proc.
MOST_BYTES = 2**16
CGROUP = Path("/sys/fs/cgroup/memory.max")
SET_PARENT_DEATH_SIGNAL = 1
PROGRAM = """
import sys
sys.path[:] = {path!r}
from heuristics.child import serve
serve({descriptor}, {parent}, {memory_bytes})
"""


def exit_code(code: int) -> str:
    """Return an exit code as text, with the signal's name: ``exit code -11 (SIGSEGV)``."""
    with suppress(ValueError):
        return f"exit code {code} ({signal.Signals(-code).name})"
    return f"exit code {code}"


@dataclass(frozen=True)
class Lost:
    """Why a call gave no answer, and whether that was its time limit."""

    reason: str
    timed_out: bool = False


class Child:
    """A process in which functions run one after the other; if it dies, a new one is started.

    Use it as a context manager and over many calls: starting the process takes some tenths of a
    second, a later call about a tenth of a millisecond. It is a new interpreter without the
    caller's main module, so it shares nothing with threads, a JVM or a Spark session of the
    parent, and scripts need no guard around their main part. It ends with its parent, even if that
    is killed, and Ctrl-C in a terminal does not reach it.

    Parameters
    ----------
    memory_bytes : memory limit of the process and its descendants; default: half of what this
        process may use. Checked fifty times a second, on Linux only.
    """

    def __init__(self, memory_bytes: int | None = None) -> None:
        self.memory_bytes = allowed_bytes() // SHARE if memory_bytes is None else memory_bytes
        self._process: _Process | None = None
        self._lock = Lock()
        # Kills the process when this object is garbage collected.
        self._finalizer: finalize[[], Child]

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Kill the process, even during a call in another thread; the next call starts another."""
        with self._lock:
            process = self._process
            self._detach()
        if process is not None:
            process.end()

    def warm_up(self) -> None:
        """Start the process without waiting until it is ready."""
        with suppress(OSError):
            self._running()

    def call(
        self, function: Callable[[*Arguments], Answer], *args: *Arguments, seconds: float
    ) -> Answer | Lost:
        """Call a function in the process, which must be able to import it; return its answer.

        The answer is Lost if the call takes more than `seconds` (enforced to about 0.1 s), the
        process dies or uses too much memory, the function raises, or something cannot be pickled
        here or imported there. Starting the process and importing the function do not count.
        """
        return self.call_each(function, [args], seconds=seconds)[0]

    def call_each(
        self,
        function: Callable[[*Arguments], Answer],
        items: Sequence[tuple[*Arguments]],
        *,
        seconds: float,
    ) -> list[Answer | Lost]:
        """Call a function with each of many argument tuples; return the answers in their order.

        The time limit of `call` is that of each item. If an item ends the process, its Lost is the
        last answer: the items after it have not been tried.
        """
        packed = _packed(function)
        if isinstance(packed, Lost):
            return [packed] * len(items)
        try:
            return self._answers(packed, list(map(_packed, items)), seconds)
        except BaseException:
            # After Ctrl-C, a late answer would be taken for that of the next call.
            self.close()
            raise

    def _answers(
        self, function: bytes, asked: Sequence[bytes | Lost], seconds: float
    ) -> list[Any]:
        process = self._ready(function)
        if isinstance(process, Lost):
            return [process] * len(asked)
        process.send(pickle.dumps([item for item in asked if not isinstance(item, Lost)]))
        answers: list[Any] = []
        for item in asked:
            if isinstance(item, Lost):
                answers.append(item)
                continue
            frame = process.receive(seconds)
            if isinstance(frame, Lost):
                self._replace(process)
                return [*answers, frame]
            answers.append(_unpacked(frame))
        return answers

    def _ready(self, function: bytes) -> _Process | Lost:
        """Return the process once it has imported a function, or why it cannot."""
        lost = Lost("the child process did not start")
        # Tried twice: a process that died since the last call is only noticed here.
        for _ in range(2):
            try:
                process = self._running()
            except OSError as error:
                return Lost(f"the child process did not start: {error.strerror}")
            process.send(function)
            frame = process.receive(START_SECONDS)
            if not isinstance(frame, Lost):
                refused: Lost | None = _unpacked(frame)
                return refused or process
            self._replace(process)
            if frame.timed_out:
                break
            lost = frame
        return lost

    def _running(self) -> _Process:
        with self._lock:
            if self._process is None:
                self._process = _Process(self.memory_bytes)
                self._finalizer = finalize(self, self._process.end)
            return self._process

    def _replace(self, process: _Process) -> None:
        """End a process and start another in advance, so that the next call need not wait."""
        with self._lock:
            closed = self._process is not process
            if not closed:
                self._detach()
        process.end()
        if not closed:
            self.warm_up()

    def _detach(self) -> None:
        if self._process is not None:
            self._finalizer.detach()
        self._process = None


def _packed(thing: object) -> bytes | Lost:
    try:
        return pickle.dumps(thing, pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        return Lost(f"it cannot be pickled: {' '.join(str(error).split())}")


def _unpacked(frame: bytes) -> Any:
    try:
        return pickle.loads(frame)
    except Exception as error:
        return Lost(f"its answer cannot be read: {in_one_line(error)}")


class _Process:
    """The parent's handle of a child interpreter.

    The child has a session of its own, so that Ctrl-C in a terminal reaches only the parent.
    """

    def __init__(self, memory_bytes: int) -> None:
        self._memory_bytes = memory_bytes
        self._looked = monotonic()
        self._in_use = Lock()
        self._connection, theirs = Pipe()
        with theirs:
            program = PROGRAM.format(
                path=sys.path,
                descriptor=theirs.fileno(),
                parent=os.getpid(),
                memory_bytes=memory_bytes,
            )
            self._process = _start_in_lasting_thread(
                lambda: subprocess.Popen(
                    [sys.executable, "-c", program],
                    stdin=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                )
            )

    def send(self, frame: bytes) -> None:
        """Send bytes; if that fails, the next `receive` says why."""
        with self._in_use, suppress(OSError):
            self._connection.send_bytes(frame)

    def receive(self, seconds: float) -> bytes | Lost:
        """Return the next bytes, or why there are none: time, memory or death of the process.

        Bytes that arrived before the process died are still returned.
        """
        until = monotonic() + seconds
        with self._in_use:
            try:
                while not self._connection.poll(min(max(until - monotonic(), 0), LOOK_SECONDS)):
                    if monotonic() >= until:
                        return Lost(f"no answer within {seconds:g} s", timed_out=True)
                    if self._is_greedy():
                        return Lost(f"it used more than {self._memory_bytes // MEGABYTE:,} MB")
                return self._connection.recv_bytes()
            except (EOFError, OSError):
                code = self._kill(HUNG_UP_SECONDS)
                how = "" if code is None else f": {exit_code(code)}"
                return Lost(f"the child process died{how}")

    def end(self) -> None:
        """Kill it and what it started in its session; a call in another thread becomes Lost."""
        self._kill()
        with self._in_use:
            self._connection.close()

    def _is_greedy(self) -> bool:
        now = monotonic()
        if now - self._looked < LOOK_SECONDS:
            return False
        self._looked = now
        return _used_bytes(self._process.pid) > self._memory_bytes

    def _kill(self, seconds: float = DYING_SECONDS) -> int | None:
        """Kill it unless it is known to be dead, and return its exit code if known.

        A process that is already dying keeps its own exit code.

        Parameters
        ----------
        seconds : how long to wait for its exit
        """
        if self._process.returncode is None:
            with suppress(OSError):
                os.killpg(self._process.pid, signal.SIGKILL)
            try:
                self._process.wait(seconds)
            except subprocess.TimeoutExpired:
                # Freeing much memory takes a while, for which no caller should wait.
                Thread(target=self._process.wait, daemon=True).start()
        return self._process.returncode


def _start_in_lasting_thread(start: Start) -> subprocess.Popen[bytes]:
    """Start a process from a thread that lasts as long as this process.

    The child's parent-death signal fires when the thread that started it ends, not the process.
    """
    started: Future[subprocess.Popen[bytes]] = Future()
    _lasting_thread().put((start, started))
    return started.result()


@cache
def _lasting_thread() -> SimpleQueue[tuple[Start, Future[subprocess.Popen[bytes]]]]:
    """Start the thread, and return the queue from which it takes processes to start.

    A thread of an executor would not do: it ends with the main thread, before other threads.
    """
    starts: SimpleQueue[tuple[Start, Future[subprocess.Popen[bytes]]]] = SimpleQueue()

    def run() -> None:
        while True:
            start, started = starts.get()
            try:
                started.set_result(start())
            except BaseException as error:
                started.set_exception(error)

    Thread(target=run, name="starts children", daemon=True).start()
    return starts


# A forked process has none of its parent's threads.
os.register_at_fork(after_in_child=_lasting_thread.cache_clear)


def serve(descriptor: int, parent: int, memory_bytes: int) -> None:
    """Run in the child: receive a function and many argument tuples, and send each answer.

    Prints go to standard error, because standard output is the parent's.

    Parameters
    ----------
    descriptor : file descriptor of the connection to the parent
    parent : process id of the parent
    memory_bytes : memory that this process may use
    """
    _end_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.set_inheritable(descriptor, False)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _allow(memory_bytes)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    connection = Connection(descriptor)
    try:
        while True:
            function = _imported(connection.recv_bytes())
            refused = isinstance(function, Lost)
            connection.send_bytes(pickle.dumps(function if refused else None))
            for item in [] if refused else pickle.loads(connection.recv_bytes()):
                connection.send_bytes(_answer(function, item))
    except (EOFError, OSError):
        # The parent is gone, so exit at once, without exit handlers of a JVM or an assignor.
        os._exit(0)


def _imported(packed: bytes) -> Any:
    try:
        return pickle.loads(packed)
    except BaseException as error:
        return Lost(f"the child process cannot import it: {in_one_line(error)}")


def _answer(function: Callable[..., object], packed: bytes) -> bytes:
    args = _imported(packed)
    try:
        answer = args if isinstance(args, Lost) else function(*args)
    except BaseException as error:
        answer = Lost(in_one_line(error))
    try:
        return pickle.dumps(answer, pickle.HIGHEST_PROTOCOL)
    except BaseException as error:
        return pickle.dumps(Lost(f"its answer cannot be pickled: {in_one_line(error)}"))


def _end_with(parent: int) -> None:
    """Make this process end when its parent does, even in an endless loop of a JVM."""
    try:
        registered = ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL) == 0
    except (AttributeError, OSError):
        registered = False
    if os.getppid() != parent:
        os._exit(1)
    if not registered:
        # Not on Linux. A call that never releases the GIL outlives the parent then.
        Thread(target=_watch, args=[parent], daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK_SECONDS)
    os._exit(1)


@cache
def allowed_bytes() -> int:
    """Return the memory of this machine, or the limit of a container or of `ulimit -m` if less.

    A child's limit is set like `ulimit -m`, so that its own children get less.
    """
    allowed = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = resource.getrlimit(resource.RLIMIT_RSS)[0]
    if limit != resource.RLIM_INFINITY:
        allowed = min(allowed, limit)
    try:
        return min(allowed, int(CGROUP.read_text()))
    except (OSError, ValueError):
        return allowed


def _allow(memory_bytes: int) -> None:
    """Set `ulimit -m`, which Linux does not enforce, for `allowed_bytes` to read."""
    if sys.platform == "linux":
        hard = resource.getrlimit(resource.RLIMIT_RSS)[1]
        most = memory_bytes if hard == resource.RLIM_INFINITY else min(memory_bytes, hard)
        resource.setrlimit(resource.RLIMIT_RSS, (most, hard))


def _used_bytes(pid: int) -> int:
    """Return the resident memory of a process and its descendants; 0 without /proc.

    psutil would look through all processes of the machine, which takes a hundred times as long.
    """
    used, looked_at, left = 0, {pid}, [pid]
    while left:
        one = left.pop()
        with suppress(OSError):
            resident = _numbers_in(f"/proc/{one}/statm")[1]
            used += resident * os.sysconf("SC_PAGE_SIZE")
            for thread in os.listdir(f"/proc/{one}/task"):
                children = {*_numbers_in(f"/proc/{one}/task/{thread}/children")} - looked_at
                looked_at |= children
                left += children
    return used


def _numbers_in(file: str) -> list[int]:
    """Return the numbers in a file of /proc; reading it by `Path` takes three times as long."""
    descriptor = os.open(file, os.O_RDONLY)
    try:
        return [*map(int, os.read(descriptor, MOST_BYTES).split())]
    finally:
        os.close(descriptor)
