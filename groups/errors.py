"""Every error that the project raises on purpose, and the failures that it reports instead.

    AssayError
    ├── BadInput              input that cannot be used; names place, rule and what came instead
    │   └── Unreadable        a file that cannot be read at the moment, whatever it holds
    ├── Failed                an assignor broke down on this group, with the reason
    ├── InvalidAssignment     an assignment that is not valid, or a term that is not what it says
    ├── ProofError            a proof that does not hold, with the place where it fails
    ├── Refused               an assignor does not cover this group, with the reason
    └── SolverContradiction   two methods, or a method and the checker, disagree

Running out of time is a result, not an error.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


# What helps, in Python; the command line names its options instead.
Remedy = Literal["subscriptions", "rate", "time", "group", "like", "host"]
_REMEDIES: dict[Remedy, str] = {
    "subscriptions": "group.with_equal_subscriptions() takes them as all topics",
    "rate": "group.with_rate() gives one to those that lack it",
    "time": "give it a longer time limit",
    "group": "name one of them",
    "host": "group.with_hosts_by_client_id() tells them by client ids",
    "like": "name a member that new ones are like",
}


class AssayError(Exception):
    """Root of everything raised on purpose; its message is one line, whatever names contain.

    It reads ``place: rule, what came instead``, then the remedy if there is one; `within` puts the
    file, or any outer place, in front of it.
    """

    def __init__(self, message: str = "", *, remedy: Remedy | None = None) -> None:
        line = message if remedy is None else f"{message}; {_REMEDIES[remedy]}"
        super().__init__("".join(c if c.isprintable() else repr(c)[1:-1] for c in line))
        self.remedy = remedy
        self.without_remedy = message

    def within(self, place: str) -> Self:
        """Return the same error with `place` in front of the message."""
        return type(self)(f"{place}: {self.without_remedy}", remedy=self.remedy)


class BadInput(AssayError, ValueError):
    """Input that cannot be used."""


class Unreadable(BadInput):
    """A file that cannot be read at the moment: it is missing, or rights or memory are."""


class Failed(AssayError):
    """An assignor broke down on this group; the message is the reason that the row shows."""


class InvalidAssignment(AssayError, ValueError):
    """An assignment that is not valid for its group, or whose terms are not its values."""


class ProofError(AssayError):
    """A certificate that does not prove what its solution claims."""


class Refused(AssayError):
    """An assignor does not cover this group; the message is the reason that the row shows."""


class SolverContradiction(AssayError):
    """Two methods, or a method and the checker, disagree: an error in this project or a solver."""


def in_one_line(error: BaseException) -> str:
    """Return the class and the message of an exception, in one line.

    Examples
    --------
    >>> in_one_line(ValueError("no  such topic")), in_one_line(KeyboardInterrupt())
    ('ValueError: no such topic', 'KeyboardInterrupt')
    """
    message = " ".join(str(error).split())
    name = type(error).__name__
    return f"{name}: {message}" if message else name


@dataclass(frozen=True)
class Failure:
    """Why a text, or a group in it, could not become a snapshot.

    `group` is None if it is not known. `not_to_be_had` says that the reason is the state or the
    kind of the group (it is rebalancing, or has no consumers), not the text. `captured_at` is when
    the text was captured, as the caller or the file says.
    """

    source: str
    place: str
    reason: str
    group: str | None
    not_to_be_had: bool = False
    captured_at: str | None = None

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"

    @property
    def about(self) -> str:
        """The group, or the place if the group is not known."""
        return self.group or self.place


Name = TypeVar("Name", bound=str)


def require_one_of(place: str, given: object, known: Iterable[Name]) -> Name:
    """Return the known name that was given; raise BadInput if it is none of them."""
    names = [*known]
    if given not in names:
        raise BadInput(f"{place}: {given!r}, expected one of {', '.join(names)}")
    return next(name for name in names if name == given)


@contextmanager
def writing(place: object) -> Iterator[None]:
    """Raise BadInput that names the place if the system refuses to write there."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error).splitlines()[0]
        raise BadInput(f"{place}: cannot be written: {reason}") from None


@contextmanager
def writing_whole(path: str | Path) -> Iterator[Path]:
    """Return where to write a file that takes the place of `path` once it is whole.

    Until then, and if an error or an interrupt ends the writing, `path` stays as it was. What
    cannot be replaced is written to directly: a device or a pipe, a read-only file or folder, a
    file that is mounted alone.

    Raises
    ------
    BadInput
        If the system refuses to write there.
    """
    with writing(path):
        target = Path(os.path.realpath(path))
        if os.path.lexists(path) and not (
            target.is_file()
            and all(os.access(one, os.W_OK) for one in (target, target.parent))
            and not os.path.ismount(target)
        ):
            yield Path(path)
            return
        part = target.with_name(f".{os.getpid()}.unfinished")
        try:
            yield part
            if target.exists():
                shutil.copymode(target, part)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
