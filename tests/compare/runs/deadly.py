"""Groups that harm the process that solves them, for a child process to import."""

import os
import signal
import sys
from dataclasses import fields
from typing import Any, Self

from groups import Group


class Harmful(Group):
    """The same group, but a child process that looks at its partitions comes to harm."""

    @classmethod
    def of(cls, group: Group) -> Self:
        return cls(**{field.name: getattr(group, field.name) for field in fields(group)})

    def __getattribute__(self, name: str) -> Any:
        if name == "partitions" and "pytest" not in sys.modules:
            self.harm()
        return super().__getattribute__(name)


class Deadly(Harmful):
    def harm(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


class Faulty(Harmful):
    def harm(self) -> None:
        raise KeyError("arc 7")
