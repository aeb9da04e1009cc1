"""Importers: turn what console tools and other programs print about groups into snapshots.

The packages ``console`` and ``tools`` hold a module for each kind of text, which turns a text into
views of groups (``seen``); ``merge`` puts the views of one group together.

A new kind of text needs a new module there, a line in `_READERS`, and a rule in `sniff`, whose
last message also names the tool. The ending of its files belongs in `groups.files.ENDINGS`: in
a folder, files with other endings are skipped. docs/reference/importing.md lists the kinds.

Its `View` has ``state_known=True`` if the text says that the group is not rebalancing: otherwise
a group without any commit is refused, since it may be rebalancing. It has ``every_member=True`` if
the text lists members that hold nothing: otherwise every verdict has a note on that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import UNSET

from groups.documents.assay_group import as_json, or_none
from groups.documents.texts import STANDARD_INPUT, decode
from groups.errors import BadInput, Failure, require_one_of
from groups.group import Group
from groups.importers.console import output
from groups.importers.console.headers import STARTS
from groups.importers.lines import (
    WITHOUT_HEADER,
    Misread,
    brief,
    cleaned,
    is_like_a_row,
    refuse,
)
from groups.importers.merge import captures_of, highest_of, merge
from groups.importers.seen import (
    Finding,
    Refusal,
    Remark,
    TopicSize,
    View,
    rebalancing,
    refusal,
)
from groups.importers.tools import json_groups, rpk_text
from groups.wording import PASSED_OVER, TIME_OF, counted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from groups.documents.assay_group import Document, JsonObject
    from groups.documents.assay_streams import StreamsDocument

__all__ = ["DIALECTS", "Imported", "import_each", "recognised", "sniff"]

_READERS: Mapping[str, Callable[[str, str], Iterator[Finding]]] = {
    "console": output.read,
    **json_groups.READERS,
    "rpk": rpk_text.read,
}
_JSON = re.compile(r'\s*[{\[]\s*["{\[}\]]')
_MOST_FAILURES = 100_000
_MOST_UNSEEN = 1_000_000
DIALECTS = ("auto", *_READERS)


@dataclass(frozen=True)
class Imported:
    """A group's snapshot, and the names of the texts from which it was made."""

    snapshot: Document | StreamsDocument
    sources: tuple[str, ...]

    @property
    def document(self) -> JsonObject:
        """The snapshot as ``assay-group/1`` or ``assay-streams/1``."""
        return as_json(self.snapshot)

    def group(self) -> Group:
        """Return the group of the snapshot.

        Raises
        ------
        BadInput
            If the texts break a rule of snapshots; the message names the place in the snapshot.
        """
        return Group.of_document(self.snapshot)


def import_each(
    sources: Sequence[tuple[str, bytes]],
    *,
    dialect: str = "auto",
    captured_at: str | None = None,
    times: Mapping[str, str] | None = None,
) -> tuple[list[Imported], list[Failure]]:
    """Return the groups of some texts, by name, and a Failure for everything that is not a group.

    A text with an error in a group is ignored for that group, which is made from the other texts,
    if there are any. So a bad view beside a good one costs only what that view alone shows.
    A group whose state or kind has no assignment is not imported.

    The texts are views of one moment. Those with the same tables of a group that contradict each
    other are each a capture of it, unless `captured_at` says that they are of one time.

    Parameters
    ----------
    sources : name and bytes of each text; views of one group are merged
    dialect : one of `DIALECTS`; ``auto`` recognises each text, any other refuses texts of
        another dialect
    captured_at : when the texts were captured, if it is known
    times : when each text was written, by its name. If `captured_at` is None, the latest time of
        a group's texts is assumed to be when it was captured

    Raises
    ------
    BadInput
        If there is no such dialect.
    """
    require_one_of("dialect", dialect, DIALECTS)
    views: dict[str, list[View]] = {}
    sizes: dict[str, TopicSize] = {}
    refusals: list[Refusal] = []
    remarks: dict[str, list[Remark]] = {}
    for finding in (f for name, data in sources for f in _read(name, data, dialect)):
        if isinstance(finding, View):
            views.setdefault(finding.group, []).append(finding)
        elif isinstance(finding, Refusal):
            refusals.append(finding)
        elif isinstance(finding, Remark):
            remarks.setdefault(finding.source, []).append(finding)
        else:
            refusals += _add_size(sizes, finding)
        if len(refusals) >= _MOST_FAILURES:
            views = {}
            break
    if remarks and not views and not refusals:
        ((first, *_), *_) = remarks.values()
        reason = f"{brief(first.line.strip())}, expected a table of --describe or nothing"
        refusals.append(Refusal(first.source, first.place, reason))
    refusals = [one for one in refusals if not _has_targets(one, views)]
    wrong = {(group, one.source) for one in refusals for group in one.groups}
    for group, found in views.items():
        views[group] = [view for view in found if (group, view.source) not in wrong]
    refused = {group for one in refusals if one.not_to_be_had for group in one.groups}
    highest = highest_of(view for found in views.values() for view in found)
    imported = []
    unseen = 0
    of_groups = {view.source for found in views.values() for view in found}
    for group in sorted(group for group in views if views[group]):
        parts = captures_of(views[group]) if captured_at is None else [views[group]]
        # A group's state now says nothing about captures of other moments.
        for part in parts if len(parts) > 1 or group not in refused else ():
            try:
                most = _MOST_UNSEEN - unseen
                document, more = merge(part, sizes, highest, most_unseen=most)
            except Misread as error:
                source = _source_of(error.place, [name for name, _ in sources])
                refusals.append(refusal(source, error, (group,)))
                continue
            names = tuple(dict.fromkeys(view.source for view in part))
            unseen += more
            # A text about topics concerns every group.
            of = [s for s in remarks if s in names or s not in of_groups]
            notes = [*(or_none(document.assumed) or ()), *(passed_over(remarks[s]) for s in of)]
            time, note = _captured(names, captured_at, times or {})
            document.assumed = [*notes, *note] or UNSET
            document.captured_at = UNSET if time is None else time
            imported.append(Imported(document, names))
    made = {one.snapshot.group for one in imported}
    return imported, [_failure(one, made, captured_at, times or {}) for one in refusals]


def passed_over(remarks: Sequence[Remark]) -> str:
    """Return a note on how many lines of a text were passed over, and the first of them."""
    first = remarks[0]
    shown = f"{_one_line(first.place)}: {brief(first.line.strip())}"
    if len(remarks) == 1:
        return f"{PASSED_OVER}, 1 line: {shown}"
    return f"{PASSED_OVER}, {len(remarks):,} lines, the first: {shown}"


def _captured(
    names: Sequence[str], given: str | None, times: Mapping[str, str]
) -> tuple[str | None, list[str]]:
    """Return when texts were captured, and a note if that is assumed."""
    known = {name: times[name] for name in names if name in times}
    if given is not None or not known:
        return given, []
    latest = max(known.values())
    what = "the time of the file" if len(known) == 1 else "the time of the latest file"
    if known.get(STANDARD_INPUT) == latest:
        what = "when standard input was read"
    return latest, [f"{TIME_OF}{what}"]


def recognised(name: str, data: bytes) -> tuple[str, str]:
    """Return the dialect of a text, and the text; text of a console tool is cleaned.

    Raises
    ------
    BadInput
        If it is no text, or no known tool prints it.
    """
    text = decode(data)
    if not _JSON.match(text):
        text = cleaned(text)
    return sniff(name, text), text


def _read(name: str, data: bytes, dialect: str) -> Iterator[Finding]:
    try:
        found, text = recognised(name, data)
        if dialect not in ("auto", found):
            raise BadInput(f"it looks like {found}, not like {dialect}")
        yield from _READERS[found](name, text)
    except Misread as error:
        yield refusal(name, error, ())
    except BadInput as error:
        reason = str(error).removeprefix(f"{name}: ")
        yield Refusal(name, name, reason)


def _failure(
    found: Refusal, made: Collection[str], captured_at: str | None, times: Mapping[str, str]
) -> Failure:
    """Return a refusal as a failure; it names its group unless the group was made nevertheless."""
    group = found.groups[0] if len(found.groups) == 1 else None
    group = None if group in made else group
    return Failure(
        found.source,
        _one_line(found.place),
        _one_line(found.reason),
        group,
        found.not_to_be_had,
        captured_at or times.get(found.source),
    )


def _has_targets(refused: Refusal, views: Mapping[str, Sequence[View]]) -> bool:
    """Return whether a group is refused as rebalancing although all its members have targets.

    Targets from before a change, as while the broker assigns again, do not count.
    """
    if refused.assigning or len(refused.groups) != 1:
        return False
    if refused.reason != rebalancing(refused.groups[0]):
        return False
    members = [one for view in views.get(refused.groups[0], ()) for one in view.members]
    with_target = {one.member for one in members if "target" in one.details}
    return bool(with_target) and all(one.member in with_target for one in members)


def _source_of(place: str, names: Sequence[str]) -> str:
    within = [name for name in names if place == name or place.startswith(f"{name}:")]
    return max(within, key=len, default=place)


def _one_line(text: str) -> str:
    return text if text.isprintable() else "".join(c if c.isprintable() else "?" for c in text)


def _add_size(sizes: dict[str, TopicSize], found: TopicSize) -> list[Refusal]:
    known = sizes.setdefault(found.topic, found)
    if known.partitions == found.partitions:
        return []
    size = counted(found.partitions, "partition")
    reason = f"topic {found.topic!r} has {size}, but {known.partitions} at "
    return [Refusal(found.source, found.place, reason + known.place)]


_CONSOLE = re.compile(
    rf"^[^\S\n]*({'|'.join(STARTS)})[^\S\n]+[#(A-Z]|^[ \t]*Topic: ?\S"
    r"|(Consumer|consumer|Share|Streams) group '|^[ \t]*Error: ",
    re.MULTILINE,
)
# Looked for first, which is ten times as quick as the pattern.
_WORDS = (*STARTS, "Topic:", " group '", "Error: ")
_FEW = 4096


def sniff(name: str, text: str) -> str:
    """Return the dialect of a text; text of a console tool must have been cleaned.

    Raises
    ------
    BadInput
        If no known tool prints such a text; the message says how the text begins.
    """
    start = text.lstrip()[:_FEW]
    if not start:
        raise BadInput(f"{name}: empty, expected the output of a tool")
    if start[0] in "{[":
        if '"assay-group/' in start or '"assay-streams/' in start:
            raise BadInput(f"{name}: a snapshot already, nothing to import")
        for dialect, signs in json_groups.SIGNS.items():
            if any(sign in text for sign in signs):
                return dialect
        if json_groups.PLAN.match(start):
            return "plan"
    if any(sign in text for sign in rpk_text.SIGNS):
        return "rpk"
    if any(word in text for word in _WORDS) and _CONSOLE.search(text):
        return "console"
    for number, line in enumerate(text[: len(text) - len(text.lstrip()) + _FEW].split("\n"), 1):
        if is_like_a_row(line):
            refuse(f"{name}:{number}", WITHOUT_HEADER)
    raise BadInput(
        f"{name}: begins with {brief(start.splitlines()[0].strip())}, expected what "
        "kafka-consumer-groups --describe, kafka-topics --describe, rpk, kafka-python, Kafka UI "
        "or AKHQ print, or {member: {topic: [partition]}}"
    )
