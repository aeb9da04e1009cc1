"""A group that ends the process that solves it, for a child process to import."""

import os
import signal
from dataclasses import fields
from multiprocessing import parent_process
from typing import Any

from groups import Group


class Deadly(Group):
    """The same group, but whatever child process looks at its partitions dies."""

    @staticmethod
    def of(group: Group) -> "Deadly":
        return Deadly(**{field.name: getattr(group, field.name) for field in fields(group)})

    def __getattribute__(self, name: str) -> Any:
        if name == "partitions" and parent_process() is not None:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__getattribute__(name)
