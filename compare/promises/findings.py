"""Findings: groups on which an assignor breaks a promise, with what was measured."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from msgspec import UNSET, Struct, UnsetType, to_builtins

from compare.over_groups import best_in, best_of_all
from compare.promises.promise import Judgement, is_promised, promise_named
from compare.promises.record import KEYS, Found, Held, Record
from compare.promises.trial import Trial, optima, runner_of
from compare.remedy import spoken
from compare.what_if import all_alike
from groups import BadInput, Group
from groups.documents import fields
from groups.documents.assay_group import Document, Name, or_none
from groups.documents.decoding import Format
from groups.documents.json_files import read_documents
from groups.documents.texts import read_bytes
from groups.wording import MOST_NAMED, agreed, counted, few, listed
from heuristics import assignor_named
from heuristics.shipped import CLIENTS
from heuristics.time_limit import NOT_STARTED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from compare.over_groups import Standing
    from compare.promises.trial import Runner
    from heuristics.time_limit import TimeLimit

T = TypeVar("T")
FORMAT: Final = "assay-finding/1"
# The findings that ship lie beside the packages, in a clone and where the project is installed.
SHIPPED = Path(__file__).parents[2] / "corpus" / "findings.jsonl"
# What an assignor does that breaks a promise, the worst first.
BROKEN = {"terminates": ("never ", "end"), "answers": ("", "fail")}
TO_READ = "docs/findings/shipped.md"
ATTEMPTS = 50
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


class _Line(Struct, forbid_unknown_fields=True, kw_only=True):
    """A finding as it is written; `promised` and `fixed` follow from the rest."""

    format: Literal["assay-finding/1"]
    id: Name
    assignor: Name
    promise: Name
    source: Name
    measured: dict[str, Any]
    promised: bool | UnsetType = UNSET
    affected: list[Name] = []
    unaffected: list[Name] = []
    fixed: Name | UnsetType | None = UNSET
    found: Found | UnsetType = UNSET
    group: Document
    plan: Held | UnsetType | None = UNSET
    better: Held | UnsetType | None = UNSET
    command: Name | UnsetType = UNSET
    environment: dict[Name, Name] | UnsetType = UNSET
    again: Judgement | UnsetType = UNSET
    why: list[Name] = []

    @property
    def record(self) -> Record | None:
        """The record, None where the line has no key of one; refused where one is missing."""
        keys = {key: getattr(self, key) for key in (*KEYS, "again")}
        there = {key: value for key, value in keys.items() if value is not UNSET}
        for key in KEYS if there else ():
            if key not in there:
                fields.refuse("", f"key {key!r} is missing")
        return Record(**there) if there else None


_FORMAT = Format(FORMAT, _Line)


@dataclass(frozen=True)
class Finding:
    """One broken promise.

    Attributes
    ----------
    id : name of the finding: its assignor, without version, and promise; where a second group is
        shown of the same, what sets it apart comes after them
    assignor, promise : who breaks what
    source : where the promise stands
    measured : what the promise's judge says of the group
    group : the smallest group known on which it breaks
    affected, unaffected : of a shipped assignor, the versions tried in which the promise breaks
        on this group, and in which it holds; oldest first. Empty for one as written
    found : when it was found, and how; None where nobody wrote that down
    record : what the assignor made of the group, and what is better; None where not recorded
    why : the rule behind it and what repeats, or the moves that it misses, a paragraph each; empty
        where that is not known
    """

    id: str
    assignor: str
    promise: str
    source: str
    measured: Mapping[str, object]
    group: Group
    affected: tuple[str, ...] = ()
    unaffected: tuple[str, ...] = ()
    found: Found | None = None
    record: Record | None = None
    why: tuple[str, ...] = ()

    @property
    def is_second(self) -> bool:
        """Whether it shows another group than the finding named after assignor and promise."""
        return self.id != _named_after(self.assignor, self.promise)

    @property
    def fixed(self) -> str | None:
        """The first version tried after the affected ones, None where there is none."""
        last = max(map(version_order, self.affected), default=None)
        later = (v for v in self.unaffected if last is not None and version_order(v) > last)
        return next(later, None)

    @staticmethod
    def of(
        assignor: str,
        promise: str,
        group: Group,
        measured: Mapping[str, object],
        found: Found | None = None,
    ) -> Finding:
        """Name a finding after its assignor, without version, and promise; its group after it."""
        name = _named_after(assignor, promise)
        named = Group.from_dict({**group.to_dict(), "group": name})
        source = promise_named(promise).source
        return Finding(name, assignor, promise, source, measured, named, found=found)

    @staticmethod
    def from_dict(document: object) -> Finding:
        """Read an ``assay-finding/1`` document.

        Raises
        ------
        BadInput
            Where a rule of the format is broken.
        """
        said = _FORMAT.of_mapping(document)
        if said.found is not UNSET and not _DAY.fullmatch(said.found.date):
            shown = fields.shown(said.found.date)
            fields.refuse("found.date", f"{shown}, expected a day as in 2026-11-22")
        try:
            group = Group.of_document(said.group)
        except BadInput as error:
            raise error.within("group") from None
        return Finding(
            id=said.id,
            assignor=said.assignor,
            promise=said.promise,
            source=said.source,
            measured=said.measured,
            group=group,
            affected=tuple(said.affected),
            unaffected=tuple(said.unaffected),
            found=or_none(said.found),
            record=said.record,
            why=tuple(said.why),
        )

    def to_dict(self) -> dict[str, object]:
        """Return the ``assay-finding/1`` document."""
        versions: dict[str, object] = {}
        if self.affected:
            versions = {"affected": [*self.affected], "unaffected": [*self.unaffected]}
            versions["fixed"] = self.fixed
        record = {} if self.record is None else to_builtins(self.record)
        return {
            "format": FORMAT,
            "id": self.id,
            "assignor": self.assignor,
            "promise": self.promise,
            "source": self.source,
            "measured": dict(self.measured),
            **({} if is_promised(self.promise, self.assignor) else {"promised": False}),
            **versions,
            **({} if self.found is None else {"found": to_builtins(self.found)}),
            "group": self.group.to_dict(),
            **{key: of for key, of in record.items() if key in KEYS or of is not None},
            **({"why": [*self.why]} if self.why else {}),
        }

    def judge(self, run: Runner) -> Judgement:
        """Put the promise to the test again, on the same group, as :meth:`tried` does.

        Raises
        ------
        BadInput
            Where no promise has the name.
        """
        return self.tried(run)[1]

    def recorded(self, run: Runner, command: str) -> Finding:
        """Run the assignor on the group again; return the finding with what came of it.

        Where that is not what was measured, the record says what it is.

        Parameters
        ----------
        command : one line that runs it again, for people

        Raises
        ------
        BadInput
            Where no promise has the name.
        """
        trial, found = self.tried(run)
        # As a line of the file would have it: its lists are no tuples.
        now, then = json.dumps(dict(found.measured)), json.dumps(dict(self.measured))
        again = None if found.holds is False and now == then else found
        return replace(self, record=Record.of(trial, command, again))

    def tried(self, run: Runner) -> tuple[Trial, Judgement]:
        """Return the trial in which the promise breaks, the last one where it never does.

        A client whose answers vary from call to call is run up to 50 times, until it breaks the
        promise.

        Raises
        ------
        BadInput
            Where no promise has the name.
        """
        asked, optimum = promise_named(self.promise), optima([self.group])[0]
        attempts = 1 if is_repeatable(self.assignor) else ATTEMPTS
        for _ in range(attempts):
            trial = Trial(run, self.group, optimum)
            judgement = asked.judge(trial)
            if judgement.holds is not True:
                break
        return trial, judgement


def is_repeatable(assignor: str) -> bool:
    """Return whether an assignor gives the same answer to a group every time."""
    client = CLIENTS.get(assignor.partition("/")[0])
    return client is None or client.repeatable


def version_order(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, to compare versions by."""
    return tuple(int(digits) for digits in re.findall(r"\d+", version))


def read_findings(path: str | Path) -> Iterator[Finding]:
    """Return the findings of a file, one to a line.

    Raises
    ------
    BadInput
        Where the file cannot be read or a line is no finding; the message names the place.
    """
    return read_lines(path, Finding.from_dict)


def known_of(assignors: Sequence[str]) -> str:
    """Return which assignors never end, or fail, on groups of the findings that ship.

    It is a sentence with the place to read; empty if none does, or the findings are not here. It
    says so where in none of these groups all members read the same topics.

    Parameters
    ----------
    assignors : names, with the version of those that are shipped
    """
    shipped = [*read_findings(SHIPPED)] if SHIPPED.exists() else []
    left, said, alike = [*assignors], [], False
    for promise, (lead, verb) in BROKEN.items():
        broken: dict[str, list[Group]] = {}
        for one in shipped:
            for version in one.affected if one.promise == promise else ():
                name = f"{one.assignor.partition('@')[0]}@{version}"
                broken.setdefault(name, []).append(one.group)
        alike |= any(all_alike(group) for name in left for group in broken.get(name, ()))
        if named := [spoken(name) for name in left if name in broken]:
            who = few(named) if len(named) > MOST_NAMED else listed(named)
            said.append(f"{who} {lead}{agreed(len(named), verb)}")
        left = [name for name in left if name not in broken]
    which = "other groups" if alike else "groups whose members read different topics,"
    return f"On some {which} {', and '.join(said)}: {TO_READ}." if said else ""


def best_told(standings: Sequence[Standing]) -> str:
    """Return which assignors are best, and what findings tell of them; empty if none is."""
    return " ".join(filter(None, (best_in(standings), known_of(best_of_all(standings)))))


def read_lines(path: str | Path, read: Callable[[object], T]) -> Iterator[T]:
    """Return what is read of each line of a file; BadInput names the line that is wrong."""
    for place, document in read_documents(read_bytes(path), str(path)):
        if isinstance(document, BadInput):
            raise document
        try:
            yield read(document)
        except BadInput as error:
            raise error.within(place) from None


def _named_after(assignor: str, promise: str) -> str:
    return f"{assignor.partition('@')[0].replace('/', '-')}-{promise}"


def as_lines(findings: Sequence[Finding]) -> str:
    """Return findings as JSON lines, by id."""
    ordered = sorted(findings, key=lambda finding: finding.id)
    return "".join(json.dumps(f.to_dict(), ensure_ascii=False) + "\n" for f in ordered)


@dataclass(frozen=True)
class Rederived:
    """What one finding came to.

    Attributes
    ----------
    id : of the finding
    status : "same": the promise breaks as before; "changed"; or "not-tried": nothing is known, as
        the assignor cannot be called here, or gave no answer in time
    said : what is different now, or why it was not tried, for people
    """

    id: str
    status: Literal["same", "changed", "not-tried"]
    said: str


def rederive(finding: Finding, run: Runner) -> Rederived:
    """Run the assignor of a finding on its group again.

    Raises
    ------
    BadInput
        Where no assignor or promise has the name.
    """
    reason = assignor_named(finding.assignor).missing()
    if reason is not None:
        return Rederived(finding.id, "not-tried", f"not tried: {reason}")
    trial, found = finding.tried(run)
    why = _untold(finding, trial)
    if why is not None:
        return Rederived(finding.id, "not-tried", f"not tried: {why}")
    if found.holds is None:
        said = ": ".join(filter(None, (trial.outcome.status, trial.outcome.reason)))
        told = f"the promise is not put to the test: {said}"
        return Rederived(finding.id, "changed", told)
    if found.holds:
        return Rederived(finding.id, "changed", "the promise holds")
    now, then = json.dumps(found.measured), json.dumps(dict(finding.measured))
    if now != then and is_repeatable(finding.assignor):
        return Rederived(finding.id, "changed", f"measured {now}, expected {then}")
    return Rederived(finding.id, "same", "breaks as before")


def rederive_all(path: str | Path, limit: TimeLimit) -> Iterator[Rederived]:
    """Return what each finding of a file comes to.

    Raises
    ------
    BadInput
        Where the file cannot be read, or names an assignor or promise that does not exist.
    """
    for finding in list(read_findings(path)):
        yield rederive(finding, runner_of(finding.assignor, limit))


def all_rederived(came: Sequence[Rederived]) -> str:
    """Return one line on all findings of a file, which counts what was not tried apart."""
    same, changed, untried = (
        sum(one.status == status for one in came) for status in ("same", "changed", "not-tried")
    )
    return (
        f"{counted(len(came), 'finding')}: {same:,} as before, {changed:,} changed, "
        f"{untried:,} not tried"
    )


def _untold(finding: Finding, trial: Trial) -> str | None:
    """Return why a run says nothing about the finding; None where it does."""
    outcomes = [trial.outcome]
    if finding.promise == "idempotent" and trial.again is not None:
        outcomes.append(trial.again)
    for outcome in outcomes:
        reason = outcome.reason or outcome.status
        if outcome.status == "timed-out" and finding.promise != "terminates":
            return f"{reason}; give it a longer time limit"
        if outcome.status == "unavailable":
            return reason
        if outcome.status == "failed" and reason.startswith(NOT_STARTED):
            return reason
    return None
