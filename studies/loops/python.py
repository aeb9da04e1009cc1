"""What a Python client's own class does, seen by the interpreter's profiling hook.

The class is the one that is installed, unchanged. The hook looks at the arguments with which it
asks which partition to move, and notes that one has moved.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from heuristics import assignor_named
from studies.loops.turn import RECORDED, Turn

if TYPE_CHECKING:
    from types import FrameType

    from groups import Group

ASKS, MOVES = "get_partition_to_be_moved", "move_partition"


class Seen(BaseException):
    """Enough was seen."""


def recorded(assignor: str, group: Group) -> list[Turn]:
    """Return the turns of a sticky assignor of kafka-python or aiokafka, at most `RECORDED`."""
    turns: list[Turn] = []
    asked = ("", "", "")

    def look(frame: FrameType, event: str, _: object) -> None:
        nonlocal asked
        if event != "call" or frame.f_code.co_name not in (ASKS, MOVES):
            return
        here = frame.f_locals
        partition = here["partition"]
        values = (
            f"{partition.topic}-{partition.partition}",
            here["old_consumer"],
            here["new_consumer"],
        )
        if frame.f_code.co_name == ASKS:
            asked = values
            return
        if len(turns) == RECORDED:
            raise Seen
        assert frame.f_back is not None
        turns.append(Turn(*asked, values[0], values[1], _loads(frame.f_back.f_locals["self"])))

    sys.setprofile(look)
    try:
        assignor_named(assignor).function(group)
    except Seen:
        pass
    finally:
        sys.setprofile(None)
    return turns


def _loads(executor: Any) -> dict[str, int]:
    held = executor.current_assignment
    return {member: len(held[member]) for member in sorted(held)}
