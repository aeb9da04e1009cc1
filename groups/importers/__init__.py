"""Importers: what console tools and other programs print of consumer groups, to snapshots.

The rooms ``console`` and ``tools`` hold a file for each kind of text. Each turns a text into what
it shows (``seen``); ``merge`` puts the views of one group together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from groups.documents.texts import decode
from groups.errors import BadInput
from groups.importers.console import output
from groups.importers.lines import Misread
from groups.importers.merge import merge
from groups.importers.seen import Finding, Refusal, TopicSize, View, refusal
from groups.importers.sniff import sniff
from groups.importers.tools import akhq, kafka_python, kafka_ui, rpk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

__all__ = ["DIALECTS", "Failure", "Imported", "import_each", "import_texts", "sniff"]

_READERS: Mapping[str, Callable[[str, str], Iterator[Finding]]] = {
    "console": output.read,
    "rpk": rpk.read,
    "kafka-python": kafka_python.read,
    "kafka-ui": kafka_ui.read,
    "akhq": akhq.read,
}
_MOST_FAILURES = 100_000
_MOST_UNSEEN = 1_000_000
DIALECTS = ("auto", *_READERS)


@dataclass(frozen=True)
class Imported:
    """A group's snapshot, ``assay-group/1``, and the names of the texts it was made of."""

    document: dict[str, Any]
    sources: tuple[str, ...]


@dataclass(frozen=True)
class Failure:
    """Why a text, or a group in it, could not become a snapshot; `group` where it is known.

    `not_to_be_had` says that the state or the kind of the group is the reason (it is rebalancing,
    or has no consumers), not the text.
    """

    source: str
    place: str
    reason: str
    group: str | None
    not_to_be_had: bool = False


def import_texts(
    sources: Sequence[tuple[str, bytes]], *, dialect: str = "auto"
) -> list[dict[str, Any]]:
    """Return the groups of some texts as ``assay-group/1`` documents, ascending by group.

    Parameters
    ----------
    sources : name and bytes of each text; views of one group are put together
    dialect : one of `DIALECTS`; ``auto`` recognises each text by itself, any other refuses
        texts that look like something else

    Raises
    ------
    BadInput
        Where a text cannot be used or does not show a group; the message names the place.
    """
    imported, failures = _import(sources, dialect, most_failures=1)
    if failures:
        raise BadInput(f"{failures[0].place}: {failures[0].reason}")
    if not imported:
        names = ", ".join(name for name, _ in sources) or "no input"
        raise BadInput(f"{names}: no group in it, add kafka-consumer-groups --describe")
    return [found.document for found in imported]


def import_each(
    sources: Sequence[tuple[str, bytes]], *, dialect: str = "auto"
) -> tuple[list[Imported], list[Failure]]:
    """Return the groups of some texts, and a Failure for everything that did not become one.

    A group of which any part is unusable is not imported: what is left of it would be another
    group. The others are.

    Raises
    ------
    BadInput
        Where there is no such dialect.
    """
    return _import(sources, dialect, most_failures=_MOST_FAILURES)


def _import(
    sources: Sequence[tuple[str, bytes]], dialect: str, *, most_failures: int
) -> tuple[list[Imported], list[Failure]]:
    if dialect not in DIALECTS:
        raise BadInput(f"dialect: {dialect!r}, expected one of {', '.join(DIALECTS)}")
    views: dict[str, list[View]] = {}
    sizes: dict[str, TopicSize] = {}
    failures: list[Failure] = []
    refused: set[str] = set()
    for finding in (f for name, data in sources for f in _read(name, data, dialect)):
        if isinstance(finding, View):
            views.setdefault(finding.group, []).append(finding)
        elif isinstance(finding, Refusal):
            refused.update(finding.groups)
            failures.append(_failure(finding))
        else:
            failures += _resized(sizes, finding)
        if len(failures) >= most_failures:
            return [], failures
    imported = []
    unseen = 0
    for group in sorted(views.keys() - refused):
        try:
            most = _MOST_UNSEEN - unseen
            document, more = merge(views[group], sizes, most_unseen=most)
        except Misread as error:
            source = _source_of(error.place, [name for name, _ in sources])
            failures.append(_failure(refusal(source, error, (group,))))
        else:
            names = dict.fromkeys(view.source for view in views[group])
            unseen += more
            imported.append(Imported(document, tuple(names)))
    return imported, failures


def _read(name: str, data: bytes, dialect: str) -> Iterator[Finding]:
    try:
        text = decode(data)
        found = sniff(name, text)
        if dialect not in ("auto", found):
            raise BadInput(f"it looks like {found}, not like {dialect}")
        yield from _READERS[found](name, text)
    except BadInput as error:
        reason = str(error).removeprefix(f"{name}: ")
        yield Refusal(name, name, reason)


def _failure(found: Refusal) -> Failure:
    group = found.groups[0] if len(found.groups) == 1 else None
    place, reason = _one_line(found.place), _one_line(found.reason)
    return Failure(found.source, place, reason, group, found.not_to_be_had)


def _source_of(place: str, names: Sequence[str]) -> str:
    within = [name for name in names if place == name or place.startswith(f"{name}:")]
    return max(within, key=len, default=place)


def _one_line(text: str) -> str:
    return text if text.isprintable() else "".join(c if c.isprintable() else "?" for c in text)


def _resized(sizes: dict[str, TopicSize], found: TopicSize) -> list[Failure]:
    known = sizes.setdefault(found.topic, found)
    if known.partitions == found.partitions:
        return []
    reason = f"topic {found.topic!r} has {found.partitions} partitions, but {known.partitions} at "
    return [_failure(Refusal(found.source, found.place, reason + known.place))]
