"""Program: a client's program in its own process, its plans, and why it died."""

from __future__ import annotations

import atexit
import json
import re
import subprocess
from contextlib import suppress
from threading import Thread
from typing import IO, TYPE_CHECKING, Any

from groups import Assignment, Failed
from heuristics.assignor import Plan
from heuristics.child import exit_code
from heuristics.shipped.client import joining

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groups import Group

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


def planned(command: tuple[str, ...], group: Group, assignor: str) -> Plan:
    """Call an assignor once by a program, as the client's leader does.

    The program builds what each member of the client would send, and does what the client's leader
    does with it. A cooperative assignor withholds what members must first revoke.

    Raises
    ------
    Failed
        If the client makes no plan, or its program dies.
    """
    if not group.members:
        return Plan(Assignment.from_holdings(group, []))
    answer = _answer(command, {"assignor": assignor, **as_joined(group)})
    return Plan(Assignment.from_dict(group, answer["plan"]), seconds=float(answer["seconds"]))


_RUNNING: dict[tuple[str, ...], Program] = {}


def _answer(command: tuple[str, ...], asked: object) -> Any:
    """Return the answer of a program that answers each line of JSON with a line of JSON.

    The program is kept for later calls, and started again if it has died.

    Raises
    ------
    Failed
        If the answer is an error, or the program dies.
    """
    program = _RUNNING.get(command) or _RUNNING.setdefault(command, Program(command))
    try:
        # If the program has died, the empty answer below is reported with its reason.
        with suppress(BrokenPipeError):
            program.asked.write(json.dumps(asked).encode() + b"\n")
            program.asked.flush()
        line = program.told.readline()
    except BaseException:
        # After Ctrl-C, a late answer would be taken for that of the next call.
        _RUNNING.pop(command).end()
        raise
    if not line:
        program.dies(DYING_SECONDS)
        raise Failed(_RUNNING.pop(command).end())
    answer = json.loads(line)
    if answer.get("error"):
        raise Failed(answer["error"])
    return answer


@atexit.register
def _end_all() -> None:
    for program in _RUNNING.values():
        program.end()


def as_joined(group: Group) -> dict[str, object]:
    """Return a group as the programs read it: its topics, and what each member sends."""
    return {
        "topics": dict(zip(group.topics, group.partitions.tolist(), strict=True)),
        "racks": _racks_of_leaders(group),
        "members": [
            {
                "id": said.member_id,
                "instance": said.instance_id,
                "rack": said.rack,
                "topics": said.subscription,
                "owned": said.owned,
                "generation": said.generation,
            }
            for said in joining(group)
        ],
    }


def _racks_of_leaders(group: Group) -> dict[str, list[str]]:
    """Return by topic the rack of each partition's first replica, "" where it has none."""
    racks = group.racks
    if racks is None:
        return {}
    names = [
        next(iter(racks.of_set(one)), "") if one >= 0 else "" for one in racks.replicas.tolist()
    ]
    ends = zip(group.topics, group.first[:-1].tolist(), group.first[1:].tolist(), strict=True)
    return {topic: names[start:end] for topic, start, end in ends}
