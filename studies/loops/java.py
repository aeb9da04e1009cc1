"""What Kafka's own class does, seen through Java's debugger interface.

The class is the one in the jar, unchanged. Breakpoints stand where it asks which partition to
move, and where it notes that one has moved. The loads are what its own lists hold at that moment.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from time import monotonic
from typing import TYPE_CHECKING, Any

from groups import Failed
from heuristics.shipped.java import jvm
from studies.loops.turn import RECORDED, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from groups import Group

CALLED = "studies.loops.called_in_java"
NOTED = "*AbstractStickyAssignor$PartitionMovements"
ASKS, MOVES = "getTheActualPartitionToBeMoved", "movePartition"
WAIT_MS = 500


def recorded(assignor: str, group: Group, *, seconds: float = 120.0) -> list[Turn]:
    """Return the turns of one of Kafka's assignors on a group, at most `RECORDED`.

    Raises
    ------
    Failed
        Where no debugger gets to it; where there is no JDK, which has the interface.
    """
    command = [sys.executable, "-P", "-m", CALLED, assignor]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as called:
        assert called.stdin is not None
        assert called.stdout is not None
        try:
            said = called.stdout.readline()
            found = re.search(r"address: (?:.*:)?(\d+)", said)
            if found is None:
                raise Failed(f"{assignor}: no JVM to look into: {said.strip()}")
            machine = _attached(found[1])
            _stop_where_it_is_loaded(machine)
            called.stdin.write(json.dumps(group.to_dict()) + "\n")
            called.stdin.close()
            return [*_turns(machine, monotonic() + seconds)]
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


def _stop_where_it_is_loaded(machine: Any) -> None:
    request = machine.eventRequestManager().createClassPrepareRequest()
    request.addClassFilter(NOTED)
    request.enable()


def _turns(machine: Any, until: float) -> Iterator[Turn]:
    import jpype

    kinds = ("ClassPrepareEvent", "BreakpointEvent", "VMDisconnectEvent")
    loaded, stopped, ended = (jpype.JClass(f"com.sun.jdi.event.{kind}") for kind in kinds)
    seen, asked = 0, ("", "", "")
    while seen < RECORDED and monotonic() < until:
        events = machine.eventQueue().remove(WAIT_MS)
        if events is None:
            continue
        for event in events:
            if isinstance(event, ended):
                return
            if isinstance(event, loaded):
                for name in (ASKS, MOVES):
                    (method,) = event.referenceType().methodsByName(name)
                    requests = machine.eventRequestManager()
                    requests.createBreakpointRequest(method.location()).enable()
            if not isinstance(event, stopped):
                continue
            partition, leaves, to = event.thread().frame(0).getArgumentValues()
            values = (_named(partition), str(leaves.value()), str(to.value()))
            if str(event.location().method().name()) == ASKS:
                asked = values
                continue
            yield Turn(*asked, values[0], values[1], _loads(event.thread()))
            seen += 1
        events.resume()


def _named(partition: Any) -> str:
    kind = partition.referenceType()
    values = [
        partition.getValue(kind.fieldByName(name)).value() for name in ("topic", "partition")
    ]
    return f"{values[0]}-{values[1]}"


def _loads(thread: Any) -> dict[str, int]:
    """Return how many partitions each member has in the class's own map of lists."""
    import jpype

    frame = thread.frame(1)
    variable = frame.visibleVariableByName("currentAssignment")
    if variable is not None:
        held = frame.getValue(variable)
    else:
        builder = frame.thisObject()
        held = builder.getValue(builder.referenceType().fieldByName("currentAssignment"))
    (said,) = held.referenceType().methodsByName("toString", "()Ljava/lang/String;")
    nothing = jpype.java.util.ArrayList()
    alone = held.INVOKE_SINGLE_THREADED
    text = str(held.invokeMethod(thread, said, nothing, alone).value())
    lists = re.findall(r"[{ ]([^ =]+)=\[(.*?)\]", text)
    return {member: len(mine.split(", ")) if mine else 0 for member, mine in sorted(lists)}
