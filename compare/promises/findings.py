"""Findings: groups on which an assignor breaks a promise, with what was measured."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from msgspec import UNSET, Struct, UnsetType, to_builtins

from compare.over_groups import best_in, best_of_all
from compare.promises.promise import Judgement, is_promised, promise_named
from compare.promises.record import KEYS, Found, Held, Record
from compare.promises.trial import Trial, optima, runner_of
from compare.remedy import of_other_protocol, spoken
from compare.what_if import all_alike
from groups import BadInput, Group
from groups.documents import fields
from groups.documents.assay_group import Document, Name, or_none
from groups.documents.decoding import Format
from groups.documents.json_files import parse_json, split_documents
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
# How an assignor breaks a promise, in words; the worst comes first.
BROKEN = {"terminates": ("never ", "end"), "answers": ("", "fail")}
TO_READ = "docs/findings/shipped.md"
ATTEMPTS = 50
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


class _Line(Struct, forbid_unknown_fields=True, kw_only=True):
    """A finding as in its file; `promised` and `fixed` follow from the other keys."""

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
        """The record, None if the line has none of its keys; raise BadInput if one is missing."""
        keys = {key: getattr(self, key) for key in (*KEYS, "again")}
        given = {key: value for key, value in keys.items() if value is not UNSET}
        for key in KEYS if given else ():
            if key not in given:
                fields.refuse("", f"key {key!r} is missing")
        return Record(**given) if given else None


_FORMAT = Format(FORMAT, _Line)


@dataclass(frozen=True)
class Finding:
    """One broken promise.

    Attributes
    ----------
    id : name of the finding: its assignor without version, and its promise; a second group for the
        same has a suffix
    assignor, promise : names of the assignor and of the promise that it breaks
    source : the text that makes the promise
    measured : as in the judgement on the group
    group : the smallest group known on which it breaks
    affected, unaffected : for a shipped assignor, the versions tried in which the promise breaks
        on this group, and in which it holds; oldest first. Empty for one as written
    found : when and how it was found; None if not recorded
    record : the assignor's plan, and a better one; None if not recorded
    why : the assignor's rule and what it repeats, or the moves that it misses, a paragraph each;
        empty if not known
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
        """The first version tried after the affected ones, None if there is none."""
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
        """Return a finding whose id and group are named after assignor and promise."""
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
            If the document breaks a rule of the format.
        """
        line = _FORMAT.of_mapping(document)
        if line.found is not UNSET and not _DAY.fullmatch(line.found.date):
            shown = fields.shown(line.found.date)
            fields.refuse("found.date", f"{shown}, expected a day as in 2026-11-22")
        try:
            group = Group.of_document(line.group)
        except BadInput as error:
            raise error.within("group") from None
        return Finding(
            id=line.id,
            assignor=line.assignor,
            promise=line.promise,
            source=line.source,
            measured=line.measured,
            group=group,
            affected=tuple(line.affected),
            unaffected=tuple(line.unaffected),
            found=or_none(line.found),
            record=line.record,
            why=tuple(line.why),
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

    def recorded(self, run: Runner, command: str) -> Finding:
        """Run the assignor on the group again; return the finding with the record of that run.

        If the run measures something else, the record has its judgement.

        Parameters
        ----------
        command : one line that runs it again, for people

        Raises
        ------
        BadInput
            If no promise has the name.
        """
        trial, found = self.try_again(run)
        # Compared as JSON, as lists from a file may be tuples here.
        now, then = json.dumps(dict(found.measured)), json.dumps(dict(self.measured))
        again = None if found.holds is False and now == then else found
        return replace(self, record=Record.of(trial, command, again))

    def try_again(self, run: Runner) -> tuple[Trial, Judgement]:
        """Try the finding again; return the trial in which the promise breaks, or the last one.

        A client whose plans vary from call to call is run until it breaks the promise, up to 50
        times.

        Raises
        ------
        BadInput
            If no promise has the name.
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
    """Return whether an assignor makes the same plan for a group every time."""
    client = CLIENTS.get(assignor.partition("/")[0])
    return client is None or client.repeatable


def version_order(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, as a key to sort versions."""
    return tuple(int(digits) for digits in re.findall(r"\d+", version))


def read_findings(path: str | Path) -> Iterator[Finding]:
    """Yield the findings of a file, which has one in each line.

    Raises
    ------
    BadInput
        If the file cannot be read or a line is no finding; the message names the place.
    """
    return read_lines(path, Finding.from_dict)


@cache
def shipped_findings() -> tuple[Finding, ...]:
    """Return the findings that ship; none if they are not installed."""
    return tuple(read_findings(SHIPPED)) if SHIPPED.exists() else ()


def known_of(assignors: Sequence[str]) -> str:
    """Return the sentence on assignors that never end, or fail, on groups of shipped findings.

    It names the page to read, and says if members read different topics in all these groups. Empty
    if there are no such assignors, or the findings are not installed.

    Parameters
    ----------
    assignors : names, with the version of shipped ones
    """
    left, said, alike = [*assignors], [], False
    for promise, (lead, verb) in BROKEN.items():
        broken: dict[str, list[Group]] = {}
        for one in shipped_findings():
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


def best_sentences(standings: Sequence[Standing]) -> str:
    """Return what is said of the best assignors: findings, too, and their protocol; or nothing."""
    best = best_of_all(standings)
    return " ".join(filter(None, (best_in(standings), of_other_protocol(best), known_of(best))))


def read_lines(path: str | Path, read: Callable[[object], T]) -> Iterator[T]:
    """Yield what `read` makes of each line of a file; a BadInput names the line."""
    for place, text in split_documents(read_bytes(path), str(path)):
        try:
            yield read(parse_json(text))
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
    """The result of trying one finding again.

    Attributes
    ----------
    id : of the finding
    status : "same": the promise breaks as before; "changed"; or "not-tried": the assignor cannot
        be called here, or gave no answer in time
    said : what has changed, or why it was not tried, for people
    """

    id: str
    status: Literal["same", "changed", "not-tried"]
    said: str


def rederive(finding: Finding, run: Runner) -> Rederived:
    """Run the assignor of a finding on its group again, and compare.

    Raises
    ------
    BadInput
        If no assignor or promise has the name.
    """
    reason = assignor_named(finding.assignor).missing()
    if reason is not None:
        return Rederived(finding.id, "not-tried", f"not tried: {reason}")
    trial, found = finding.try_again(run)
    why = _why_inconclusive(finding, trial)
    if why is not None:
        return Rederived(finding.id, "not-tried", f"not tried: {why}")
    if found.holds is None:
        outcome = ": ".join(filter(None, (trial.outcome.status, trial.outcome.reason)))
        said = f"the promise is not put to the test: {outcome}"
        return Rederived(finding.id, "changed", said)
    if found.holds:
        return Rederived(finding.id, "changed", "the promise holds")
    now, then = json.dumps(found.measured), json.dumps(dict(finding.measured))
    if now != then and is_repeatable(finding.assignor):
        return Rederived(finding.id, "changed", f"measured {now}, expected {then}")
    return Rederived(finding.id, "same", "breaks as before")


def rederive_all(path: str | Path, limit: TimeLimit) -> Iterator[Rederived]:
    """Try each finding of a file again, and yield the results.

    Raises
    ------
    BadInput
        If the file cannot be read, or names an assignor or promise that does not exist.
    """
    for finding in list(read_findings(path)):
        yield rederive(finding, runner_of(finding.assignor, limit))


def all_rederived(results: Sequence[Rederived]) -> str:
    """Return one line with the numbers of findings that are the same, changed and not tried."""
    same, changed, untried = (
        sum(one.status == status for one in results) for status in ("same", "changed", "not-tried")
    )
    return (
        f"{counted(len(results), 'finding')}: {same:,} as before, {changed:,} changed, "
        f"{untried:,} not tried"
    )


def _why_inconclusive(finding: Finding, trial: Trial) -> str | None:
    """Return why a run shows nothing about the finding; None if it does."""
    outcomes = [trial.outcome]
    if finding.promise == "idempotent" and trial.second_outcome is not None:
        outcomes.append(trial.second_outcome)
    for outcome in outcomes:
        reason = outcome.reason or outcome.status
        if outcome.status == "timed-out" and finding.promise != "terminates":
            return f"{reason}; give it a longer time limit"
        if outcome.status == "unavailable":
            return reason
        if outcome.status == "failed" and reason.startswith(NOT_STARTED):
            return reason
    return None
