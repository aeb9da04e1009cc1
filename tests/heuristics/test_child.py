import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from heuristics.child import Child, Lost
from tests.heuristics import faults
from tests.processes import LONG, gone, listed

ROOT = Path(__file__).parents[2]
LIMIT = 0.4
MEMORY = 400_000_000


@pytest.fixture(scope="module")
def child():
    with Child(MEMORY) as shared:
        shared.call(abs, 1, seconds=30)
        yield shared


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (faults.loop, "no answer within 0.4 s"),
        (faults.hold_the_lock, "no answer within 0.4 s"),
        (faults.die_in_native_code, "the child process died: exit code -11 (SIGSEGV)"),
        (faults.eat, "it used more than 400 MB"),
        (faults.let_another_eat, "it used more than 400 MB"),
        (faults.hang_up, "the child process died: exit code -9 (SIGKILL)"),
    ],
)
def test_what_ends_its_process_is_lost_within_its_limit_and_leaves_nothing_behind(
    child, fault, reason
):
    limit = LIMIT if "no answer" in reason else 30
    pid = child.call(os.getpid, seconds=30)
    lost = child.call(fault, seconds=limit)
    assert lost == Lost(reason, timed_out="no answer" in reason)
    gone(pid)
    assert child.call(abs, -3, seconds=30) == 3


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (faults.stumble, "KeyError: 't0'"),
        (faults.leave, "SystemExit: no more"),
        (faults.give_a_function, "its answer cannot be pickled: "),
    ],
)
def test_what_raises_is_lost_and_its_process_goes_on(child, fault, reason):
    pid = child.call(os.getpid, seconds=30)
    lost = child.call(fault, seconds=30)
    assert isinstance(lost, Lost)
    assert lost.reason.startswith(reason)
    assert "\n" not in lost.reason
    assert child.call(os.getpid, seconds=30) == pid


def test_what_kills_or_keeps_whoever_reads_it_is_lost(child):
    lost = child.call(faults.of, faults.Deadly(), seconds=30)
    assert lost == Lost("the child process died: exit code 9")
    lost = child.call(faults.of, faults.Stuck(), seconds=LIMIT)
    assert lost == Lost("no answer within 0.4 s", timed_out=True)


def test_a_call_within_the_limits_is_answered(child):
    assert child.call(faults.eat_a_little, seconds=30) == 100_000_000


def test_of_many_calls_each_has_the_limit_and_those_before_a_hang_keep_their_answers(child):
    answers = child.call_each(time.sleep, [(0.8,), (0.8,), (0.8,)], seconds=2.0)
    assert answers == [None] * 3
    items = [(0, None), (1, "stumble"), (2, None), (3, "loop"), (4, None)]
    answers = child.call_each(faults.one_of, items, seconds=LIMIT)
    assert answers == [0, Lost("KeyError: 't0'"), 2, Lost("no answer within 0.4 s", True)]
    items = [(0, None), (1, "die_in_native_code"), (2, None)]
    answers = child.call_each(faults.one_of, items, seconds=30)
    assert answers == [0, Lost("the child process died: exit code -11 (SIGSEGV)")]
    answers = child.call_each(faults.of, [("1",), (lambda: 2,), ("3",)], seconds=30)
    assert [answers[0], answers[2]] == [1, 3]
    assert answers[1].reason.startswith("it cannot be pickled")


def test_much_travels_both_ways(child):
    much = os.urandom(10_000_000)
    assert child.call_each(bytes, [(much,), (b"",), (much,)], seconds=30) == [much, b"", much]


def test_a_process_killed_from_outside_is_replaced(child):
    pid = child.call(os.getpid, seconds=30)
    os.kill(pid, signal.SIGKILL)
    assert child.call(abs, -3, seconds=30) == 3
    pid = child.call(os.getpid, seconds=30)
    killer = threading.Timer(0.2, os.kill, (pid, signal.SIGKILL))
    killer.start()
    lost = child.call(time.sleep, 60, seconds=120)
    killer.join()
    assert lost == Lost("the child process died: exit code -9 (SIGKILL)")


def test_what_a_hung_call_started_ends_with_it(child, tmp_path):
    file = tmp_path / "pid"
    assert child.call(faults.leave_one_behind, str(file), seconds=LIMIT).timed_out
    gone(int(file.read_text()))


def test_a_child_of_a_hung_child_ends_with_it(child, tmp_path):
    file = tmp_path / "pid"
    assert child.call(faults.hold_the_lock_further_down, str(file), seconds=2).timed_out
    gone(int(file.read_text()))


def test_a_child_of_a_child_may_hold_half_so_that_its_greed_is_its_own(child):
    pid = child.call(os.getpid, seconds=30)
    lost = Lost("it used more than 200 MB")
    assert child.call(faults.eat_further_down, seconds=30) == (lost, pid)


def test_a_child_outlives_the_thread_that_started_it():
    with Child() as child:
        starter = threading.Thread(target=child.call, args=[abs, -1], kwargs={"seconds": 30})
        starter.start()
        starter.join()
        time.sleep(0.1)
        pid = child.call(os.getpid, seconds=30)
        thread = threading.Thread(target=lambda: None)
        thread.start()
        thread.join()
        assert child.call(os.getpid, seconds=30) == pid
    gone(pid)


def test_children_live_and_start_while_a_thread_outlives_the_main_one():
    body = """
    import threading
    def outlive():
        threading.main_thread().join()
        time.sleep(0.2)
        print(child.call(os.getpid, seconds=30), flush=True)
        with Child() as another:
            print(another.call(abs, -3, seconds=30), flush=True)
    threading.Thread(target=outlive).start()
    """
    with started(body) as parent:
        said, noise = parent.communicate(timeout=60)
    pid, same, answer = said.split()
    assert (same, answer, noise) == (pid, "3", "")


def test_closing_ends_a_call_of_another_thread():
    answers = []
    with Child() as child:
        pid = child.call(os.getpid, seconds=30)
        calling = threading.Thread(
            target=lambda: answers.append(child.call(faults.hold_the_lock, seconds=60))
        )
        calling.start()
        time.sleep(0.2)
        child.close()
        calling.join()
        assert answers == [Lost("the child process died: exit code -9 (SIGKILL)")]
        gone(pid)
        assert child.call(abs, -3, seconds=30) == 3


def test_a_child_that_is_forgotten_ends():
    child = Child()
    pid = child.call(os.getpid, seconds=30)
    del child
    gone(pid)


@contextmanager
def started(body: str) -> Iterator[subprocess.Popen[str]]:
    """Run a script in its own session; it starts a child and prints the child's process id."""
    script = f"""
import os, sys, time
from heuristics.child import Child
from tests.heuristics import faults

child = Child()
print(child.call(os.getpid, seconds=30), flush=True)
{textwrap.dedent(body)}"""
    with subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as parent:
        try:
            yield parent
        finally:
            parent.kill()


@pytest.mark.parametrize(
    "doing",
    [
        "child.call(faults.hold_the_lock, seconds=60)",
        "child.call(faults.loop, seconds=60)",
        "time.sleep(60)",
    ],
)
def test_a_child_ends_with_a_parent_that_is_killed(doing):
    with started(doing) as parent:
        pid = int(parent.stdout.readline())
        time.sleep(0.2)
        assert listed()[pid][0] in ("R", "S")
        parent.kill()
        gone(pid)


def test_a_child_that_is_just_starting_ends_with_a_parent_that_is_killed():
    body = """
    from pathlib import Path
    child.close()
    child.warm_up()
    for thread in Path("/proc/self/task").iterdir():
        print((thread / "children").read_text(), end=" ")
    print(flush=True)
    time.sleep(60)
    """
    with started(body) as parent:
        parent.stdout.readline()
        (pid,) = map(int, parent.stdout.readline().split())
        parent.kill()
        gone(pid)


def test_a_child_that_nobody_closed_ends_with_a_parent_that_leaves():
    with started("") as parent:
        pid = int(parent.stdout.readline())
        assert parent.wait(LONG) == 0
        assert parent.stderr.read() == ""
        gone(pid)


def test_ctrl_c_is_its_parents_to_decide_and_closing_does_not_wait_for_the_call():
    body = """
    try:
        child.call(time.sleep, 60, seconds=120)
    except KeyboardInterrupt:
        print("stopped", flush=True)
        print(child.call(os.getpid, seconds=30), flush=True)
        child.close()
        print("closed", flush=True)
    """
    with started(body) as parent:
        pid = int(parent.stdout.readline())
        time.sleep(0.2)
        os.kill(pid, signal.SIGINT)
        os.killpg(parent.pid, signal.SIGINT)
        assert parent.stdout.readline() == "stopped\n"
        assert int(parent.stdout.readline()) > 0
        assert parent.stdout.readline() == "closed\n"
        assert parent.wait(LONG) == 0
        gone(pid)
        assert parent.stderr.read() == ""


def test_what_is_printed_goes_to_standard_error_and_nothing_is_read():
    body = """
    print(child.call(faults.make_noise, seconds=30))
    print(repr(child.call(faults.reads_nothing, seconds=30)))
    child.close()
    """
    with started(body) as parent:
        said, noise = parent.communicate("for the parent", timeout=60)
    assert said.splitlines()[1:] == ["quiet", "''"]
    assert sorted(noise.split()) == ["printed", "said", "written"]
