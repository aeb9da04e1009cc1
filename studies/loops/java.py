"""What Kafka's own class does, recorded through Java's debugger interface.

The class in the jar is unchanged. Breakpoints are set where it asks which partition to move, where
it records that one has moved, and where the cooperative one withholds what must be revoked first.
The loads are those of its own lists at that moment. ``python -m studies.loops.java ASSIGNOR``
calls it in a JVM that prints where it listens for the debugger; it then reads the group's
document, one line, from standard input.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from time import monotonic
from typing import TYPE_CHECKING, Any

from groups import Failed, Group
from heuristics import assignor_named
from heuristics.shipped.java import jvm
from studies.loops.turns import RECORDED, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NOTED = "*AbstractStickyAssignor$PartitionMovements"
ASKS, MOVES = "getTheActualPartitionToBeMoved", "movePartition"
WITHHOLDS, WITHHOLDS_IN = "*.CooperativeStickyAssignor", "adjustAssignment"
WAIT_MS, SECONDS = 500, 120.0


def recorded(assignor: str, group: Group) -> list[Turn]:
    """Return the turns of one of Kafka's assignors on a group, at most `RECORDED`.

    Raises
    ------
    Failed
        If the debugger cannot attach, or there is no JDK, which has its interface.
    """
    asked, turns = ("", "", ""), []
    for name, thread in _stops(assignor, group, NOTED, (ASKS, MOVES)):
        partition, leaves, to = thread.frame(0).getArgumentValues()
        values = (_named(partition), str(leaves.value()), str(to.value()))
        if name == ASKS:
            asked = values
            continue
        turns.append(Turn(*asked, values[0], values[1], _loads(thread)))
        if len(turns) == RECORDED:
            break
    return turns


def withheld(assignor: str, group: Group) -> list[dict[str, str]]:
    """Return by round the partitions that Kafka's cooperative assignor withholds, and for whom.

    Raises
    ------
    Failed
        As `recorded` raises it.
    """
    found = []
    for _, thread in _stops(assignor, group, WITHHOLDS, (WITHHOLDS_IN,)):
        _, transferring = thread.frame(0).getArgumentValues()
        pairs = re.findall(r"[{ ]([^ =]+)=([^,}]+)", _said(thread, transferring))
        found.append(dict(sorted(pairs)))
    return found


def _stops(
    assignor: str, group: Group, inside: str, methods: Sequence[str]
) -> Iterator[tuple[str, Any]]:
    """Yield (method name, thread) at the beginning of each call of some methods of a class."""
    command = [sys.executable, "-m", "studies.loops.java", assignor]
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nothing, text=True) as called:
        assert called.stdin is not None
        assert called.stdout is not None
        try:
            said = called.stdout.readline()
            found = re.search(r"address: (?:.*:)?(\d+)", said)
            if found is None:
                raise Failed(f"{assignor}: no JVM to look into: {said.strip()}")
            machine = _attached(found[1])
            request = machine.eventRequestManager().createClassPrepareRequest()
            request.addClassFilter(inside)
            request.enable()
            called.stdin.write(json.dumps(group.to_dict()) + "\n")
            called.stdin.close()
            yield from _calls(machine, methods)
        finally:
            called.kill()


def _attached(port: str) -> Any:
    import jpype

    jvm.start()
    try:
        manager = jpype.JClass("com.sun.jdi.Bootstrap").virtualMachineManager()
    except TypeError:
        raise Failed("this Java has no module jdk.jdi: a JDK is needed") from None
    sockets = "com.sun.jdi.SocketAttach"
    connector = next(one for one in manager.attachingConnectors() if str(one.name()) == sockets)
    arguments = connector.defaultArguments()
    arguments.get("hostname").setValue("127.0.0.1")
    arguments.get("port").setValue(port)
    return connector.attach(arguments)


def _calls(machine: Any, methods: Sequence[str]) -> Iterator[tuple[str, Any]]:
    import jpype

    until = monotonic() + SECONDS
    kinds = ("ClassPrepareEvent", "BreakpointEvent", "VMDisconnectEvent")
    loaded, stopped, ended = (jpype.JClass(f"com.sun.jdi.event.{kind}") for kind in kinds)
    while monotonic() < until:
        events = machine.eventQueue().remove(WAIT_MS)
        if events is None:
            continue
        for event in events:
            if isinstance(event, ended):
                return
            if isinstance(event, loaded):
                for name in methods:
                    (method,) = event.referenceType().methodsByName(name)
                    requests = machine.eventRequestManager()
                    requests.createBreakpointRequest(method.location()).enable()
            elif isinstance(event, stopped):
                yield str(event.location().method().name()), event.thread()
        events.resume()


def _named(partition: Any) -> str:
    kind = partition.referenceType()
    values = [
        partition.getValue(kind.fieldByName(name)).value() for name in ("topic", "partition")
    ]
    return f"{values[0]}-{values[1]}"


def _loads(thread: Any) -> dict[str, int]:
    """Return the number of partitions of each member in the class's own map of lists."""
    frame = thread.frame(1)
    variable = frame.visibleVariableByName("currentAssignment")
    if variable is not None:
        held = frame.getValue(variable)
    else:
        builder = frame.thisObject()
        held = builder.getValue(builder.referenceType().fieldByName("currentAssignment"))
    text = _said(thread, held)
    lists = re.findall(r"[{ ]([^ =]+)=\[(.*?)\]", text)
    return {member: len(mine.split(", ")) if mine else 0 for member, mine in sorted(lists)}


def _said(thread: Any, value: Any) -> str:
    """Return the result of an object's toString."""
    import jpype

    (method,) = value.referenceType().methodsByName("toString", "()Ljava/lang/String;")
    nothing, alone = jpype.java.util.ArrayList(), value.INVOKE_SINGLE_THREADED
    return str(value.invokeMethod(thread, method, nothing, alone).value())


def main(assignor: str) -> None:
    """Run an assignor in a JVM that a debugger can attach to."""
    jvm.start("-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:0")
    assignor_named(assignor).function(Group.from_dict(json.loads(sys.stdin.readline())))


if __name__ == "__main__":
    main(sys.argv[1])
