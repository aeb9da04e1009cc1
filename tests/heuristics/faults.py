"""Functions that harm the process that runs them, for a child process to import."""

import ctypes
import os
import subprocess
import sys
import time

from heuristics.child import Child

HOG = "kept = []\nwhile True: kept.append(bytearray(20_000_000))"


def loop() -> None:
    while True:
        pass


def hold_the_lock() -> None:
    """Hold the interpreter's lock, as native code can, so that no other thread runs."""
    ctypes.PyDLL(None).sleep(600)


def die_in_native_code() -> None:
    ctypes.string_at(0)


def eat() -> None:
    kept = []
    while True:
        kept.append(bytearray(20_000_000))


def let_another_eat() -> None:
    subprocess.run([sys.executable, "-c", HOG], check=False)


def eat_a_little() -> int:
    return len(bytearray(100_000_000))


def leave_one_behind(file: str) -> None:
    with subprocess.Popen(["sleep", "600"]) as started:
        with open(file, "w") as pid_file:
            pid_file.write(str(started.pid))
        loop()


def hang_up() -> None:
    os.closerange(3, 100)
    time.sleep(600)


def stumble() -> None:
    raise KeyError("t0")


def leave() -> None:
    sys.exit("no more")


def make_noise() -> str:
    sys.stdout.write("printed\n")
    os.write(1, b"written\n")
    os.system("echo said")
    return "quiet"


def give_a_function():
    return lambda: None


def reads_nothing() -> str:
    return sys.stdin.read()


def one_of(number: int, harm: str | None) -> int:
    if harm is not None:
        globals()[harm]()
    return number


def of(ask) -> int:
    return int(ask)


class Deadly:
    """Ends the process that unpickles it."""

    def __reduce__(self):
        return os._exit, (9,)


class Stuck:
    """Blocks the process that unpickles it for ten minutes."""

    def __reduce__(self):
        return time.sleep, (600,)


def hold_the_lock_further_down(file: str) -> None:
    """Hang in a child of this process, and write the child's process id into a file."""
    with Child() as child:
        with open(file, "w") as pid_file:
            pid_file.write(str(child.call(os.getpid, seconds=30)))
        child.call(hold_the_lock, seconds=60)


def eat_further_down() -> tuple[object, int]:
    """Return the outcome of `eat` in a child of this process, and this process's id."""
    with Child() as child:
        return child.call(eat, seconds=30), os.getpid()
