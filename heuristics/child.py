"""Child: functions in a process of their own, where a hang, a death or greed is an answer.

Pools of the standard library and of pebble leave running what a call has started, outlive a parent
that is killed, and need a guard in the caller's script; none of them looks at memory.
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
# Linux frees the memory before it hangs up: only a busy machine then takes this long.
HUNG_UP_SECONDS = 10.0
# A child may hold this part of what its parent may hold, unless told otherwise.
SHARE = 2
MEGABYTE = 1_000_000
# Of what the kernel says of a process in one read.
MOST_BYTES = 2**16
CGROUP = Path("/sys/fs/cgroup/memory.max")
SET_PARENT_DEATH_SIGNAL = 1
PROGRAM = """
import sys
sys.path[:] = {path!r}
from heuristics.child import serve
serve({descriptor}, {parent}, {memory_bytes})
"""


@dataclass(frozen=True)
class Lost:
    """A call that did not come back: why, and whether its time was up."""

    reason: str
    timed_out: bool = False


class Child:
    """A process in which functions run one after the other; one that dies is replaced.

    Use it as a context manager and over many calls: starting the process takes some tenths of a
    second, a call after that about a tenth of a millisecond. It starts as a new interpreter and
    without the caller's main module, so it shares nothing with threads, a JVM or a Spark session
    of the parent, and scripts need no guard around their main part. It ends with its parent, even
    where that is killed, and Ctrl-C in a terminal does not reach it.

    Parameters
    ----------
    memory_bytes : the most that the process may hold, with those that it starts; half of what this
        one may hold unless told otherwise. Looked at fifty times a second, on Linux.
    """

    def __init__(self, memory_bytes: int | None = None) -> None:
        self.memory_bytes = allowed_bytes() // SHARE if memory_bytes is None else memory_bytes
        self._process: _Process | None = None
        self._lock = Lock()
        self._forgotten: finalize[[], Child]

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Kill the process, a call in another thread with it; the next call starts a new one."""
        with self._lock:
            process = self._process
            self._let_go()
        if process is not None:
            process.end()

    def warm_up(self) -> None:
        """Begin to start the process, without waiting for it."""
        with suppress(OSError):
            self._running()

    def call(
        self, function: Callable[[*Arguments], Answer], *args: *Arguments, seconds: float
    ) -> Answer | Lost:
        """Return what a function, which the process must be able to import, returns.

        After `seconds`, enforced to about a tenth of a second, its death or too much memory:
        Lost. So is what raises, and what cannot be pickled here or imported there. The start of
        the process and importing the function take no part of the time.
        """
        return self.call_each(function, [args], seconds=seconds)[0]

    def call_each(
        self,
        function: Callable[[*Arguments], Answer],
        items: Sequence[tuple[*Arguments]],
        *,
        seconds: float,
    ) -> list[Answer | Lost]:
        """Call a function with each of many arguments, in one go; answers in their order.

        As `call`, with the time for each. Where one of them ends the process, its answer is the
        last: those after it have not been asked.
        """
        packed = _packed(function)
        if isinstance(packed, Lost):
            return [packed] * len(items)
        try:
            return self._answers(packed, list(map(_packed, items)), seconds)
        except BaseException:
            # Ctrl-C here: what the process is still at would answer the next call.
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
        # One that died between two calls is found out only here.
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
                self._forgotten = finalize(self, self._process.end)
            return self._process

    def _replace(self, process: _Process) -> None:
        """End a process and begin to start another: the next call should not have to wait."""
        with self._lock:
            closed = self._process is not process
            if not closed:
                self._let_go()
        process.end()
        if not closed:
            self.warm_up()

    def _let_go(self) -> None:
        if self._process is not None:
            self._forgotten.detach()
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
    """A new interpreter, as its parent holds it: asked, watched and ended.

    Its session is its own, so that Ctrl-C in a terminal does not reach it: who decides is its
    parent.
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
            self._process = _from_the_lasting_thread(
                lambda: subprocess.Popen(
                    [sys.executable, "-c", program],
                    stdin=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                )
            )

    def send(self, frame: bytes) -> None:
        """Send bytes; where they cannot be sent, `receive` says why."""
        with self._in_use, suppress(OSError):
            self._connection.send_bytes(frame)

    def receive(self, seconds: float) -> bytes | Lost:
        """Return the bytes that come next; after its death, too much memory or the time, why not.

        What came before any of these counts.
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
                how = "" if code is None else f" (exit code {code})"
                return Lost(f"the child process died{how}")

    def end(self) -> None:
        """Kill it, with whatever it started in its session; a call in another thread is lost."""
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
        """Kill it, unless it was seen dead before, and return its exit code if it is known.

        One that is dying already keeps the exit code that it dies with. It gets so many seconds
        to be gone.
        """
        if self._process.returncode is None:
            with suppress(OSError):
                os.killpg(self._process.pid, signal.SIGKILL)
            try:
                self._process.wait(seconds)
            except subprocess.TimeoutExpired:
                # One that held much memory takes its time, which is nobody else's.
                Thread(target=self._process.wait, daemon=True).start()
        return self._process.returncode


def _from_the_lasting_thread(start: Start) -> subprocess.Popen[bytes]:
    """Start a process from a thread that lasts as long as this process.

    Linux kills a child that asked for it when the thread ends that started it.
    """
    made: Future[subprocess.Popen[bytes]] = Future()
    _lasting_thread().put((start, made))
    return made.result()


@cache
def _lasting_thread() -> SimpleQueue[tuple[Start, Future[subprocess.Popen[bytes]]]]:
    """Return what the thread takes starts from.

    That of an executor does not last: it ends with the main thread, before others are waited for.
    """
    asked: SimpleQueue[tuple[Start, Future[subprocess.Popen[bytes]]]] = SimpleQueue()

    def last() -> None:
        while True:
            start, made = asked.get()
            try:
                made.set_result(start())
            except BaseException as error:
                made.set_exception(error)

    Thread(target=last, name="starts children", daemon=True).start()
    return asked


# A fork of this process has none of its threads.
os.register_at_fork(after_in_child=_lasting_thread.cache_clear)


def serve(descriptor: int, parent: int, memory_bytes: int) -> None:
    """Call one function after the other in the child, each on many arguments; answer one by one.

    What is printed goes to standard error, as standard output is the parent's.

    Parameters
    ----------
    descriptor : of the connection to the parent
    parent : its process id
    memory_bytes : what this process may hold
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
        # Nobody is there any more: what a JVM or an assignor would do at its end is over too.
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
    """See to it that this process ends when its parent does, even in an endless loop of a JVM."""
    try:
        told = ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL) == 0
    except (AttributeError, OSError):
        told = False
    if os.getppid() != parent:
        os._exit(1)
    if not told:
        # Elsewhere than on Linux, whatever holds the interpreter's lock for ever outlives it.
        Thread(target=_watch, args=[parent], daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK_SECONDS)
    os._exit(1)


@cache
def allowed_bytes() -> int:
    """Return the memory of this machine, or less where a container or `ulimit -m` allows less.

    A child has the limit from its parent in the same way, so that its own children get less.
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
    """Note what this process may hold; on Linux nobody but `allowed_bytes` looks at it."""
    if sys.platform == "linux":
        hard = resource.getrlimit(resource.RLIMIT_RSS)[1]
        most = memory_bytes if hard == resource.RLIM_INFINITY else min(memory_bytes, hard)
        resource.setrlimit(resource.RLIMIT_RSS, (most, hard))


def _used_bytes(pid: int) -> int:
    """Return what a process and its descendants have in memory, 0 where nobody tells.

    psutil goes through all processes of the machine for that, which takes a hundred times as long.
    """
    used, looked_at, left = 0, {pid}, [pid]
    while left:
        one = left.pop()
        with suppress(OSError):
            resident = _said(f"/proc/{one}/statm")[1]
            used += resident * os.sysconf("SC_PAGE_SIZE")
            for thread in os.listdir(f"/proc/{one}/task"):
                found = {*_said(f"/proc/{one}/task/{thread}/children")} - looked_at
                looked_at |= found
                left += found
    return used


def _said(file: str) -> list[int]:
    """Return the numbers in a file of the kernel's; by `Path` a look takes three times as long."""
    descriptor = os.open(file, os.O_RDONLY)
    try:
        return [*map(int, os.read(descriptor, MOST_BYTES).split())]
    finally:
        os.close(descriptor)
