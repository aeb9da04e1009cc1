"""Verdicts: whether one release of a client breaks the promises of findings. A separate program.

``python -m studies.since_when.verdicts`` reads findings of one client and a release from standard
input, and writes a verdict on each finding, one a line.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compare.promises.findings import Finding
from compare.promises.trial import Runner, runner_of
from groups import BadInput
from heuristics.shipped import client_named
from heuristics.shipped.client import assignor_of
from heuristics.shipped.python_client import PythonClient
from heuristics.time_limit import NOT_STARTED, TimeLimit
from studies.since_when.releases import library_in, outcome_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from heuristics.assignor import Outcome

AFFECTED, UNAFFECTED, UNTRIED = "affected", "unaffected", "untried"
# For these promises, groups of other findings are tried too, as clients port the same algorithm.
OF_FAMILY = ("terminates", "settles")
SECONDS = 2.0
MOST_CHARACTERS = 160
# Messages about a release that lacks the assignor: ours, the probe's and Go's.
LACKS = re.compile(r"has no \S*sticky|undefined: sarama\.BalanceStrategySticky")


@dataclass(frozen=True)
class Verdict:
    """Whether a promise breaks in a release, and a reason if it was not tried."""

    status: str
    reason: str | None = None


def verdict(finding: Finding, run: Runner, others: Sequence[Finding] = ()) -> Verdict:
    """Return whether the promise breaks on the finding's group, or on that of another finding.

    Parameters
    ----------
    run : runs the finding's assignor in one release
    others : findings of the same promise, tried if the finding's own group does not break it
    """
    for one in (finding, *others):
        trial, judged = replace(one, assignor=run.assignor).try_again(run)
        first = trial.outcome
        reason = (first.reason or "").removeprefix(NOT_STARTED)
        if first.status == "unavailable" or (first.status == "failed" and reason != first.reason):
            return Verdict(UNTRIED, _short(reason))
        if judged.holds is False:
            return Verdict(AFFECTED, None if one is finding else f"on the group of {one.id}")
        if judged.holds is None and one is finding:
            return Verdict(UNTRIED, _why_untested(first))
    return Verdict(UNAFFECTED)


def has_it(release: Mapping[str, Any]) -> bool:
    """Return whether a release has the assignor, by its row in a history."""
    return release["status"] != UNTRIED or not LACKS.search(release["reason"] or "")


def _why_untested(outcome: Outcome) -> str:
    if outcome.status == "timed-out":
        return "it does not return"
    if outcome.plan is None:
        return _short(f"it makes no plan: {outcome.reason}")
    if not outcome.plan.assignment.is_valid:
        return "its plan is not valid"
    return "its plan is not balanced, so that its moves are not compared"


def _short(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= MOST_CHARACTERS else f"{one_line[:MOST_CHARACTERS]}..."


def runner_in(assignor: str, limit: TimeLimit, folder: Path | None) -> Runner:
    """Return a runner of an assignor of one release.

    Parameters
    ----------
    folder : folder of the unpacked wheel, or, for sarama, of the program
    """
    client, _, rest = assignor.partition("/")
    name, _, version = rest.partition("@")
    if client == "sarama" and name == "sticky" and folder is not None:
        program = folder / "called"
        return Runner(assignor, lambda group: outcome_of(program, group, limit.seconds))
    if client != "librdkafka" or folder is None:
        _require_own(client, name, folder)
        return runner_of(assignor, limit)
    driven, _ = library_in(folder)
    return Runner(assignor, partial(limit.call, assignor_of(driven, name, version).function))


def _require_own(client: str, name: str, folder: Path | None) -> None:
    """Raise BadInput if the folder of a Python package does not have the assignor."""
    package = client_named(client)
    if folder is not None and isinstance(package, PythonClient):
        module = package.assignors[name].partition(":")[0].replace(".", "/")
        if not (folder / f"{module}.py").is_file():
            raise BadInput(f"it has no {name} assignor of its own")


def besides_of(finding: Finding, others: Sequence[Finding]) -> list[Finding]:
    """Return the findings whose groups are tried if a finding's own does not break the promise.

    Groups that differ only in name come once.
    """
    if finding.promise not in OF_FAMILY:
        return []
    found: dict[str, Finding] = {}
    for one in (finding, *others):
        if one.promise == finding.promise:
            nameless = {**one.group.to_dict(), "group": ""}
            found.setdefault(json.dumps(nameless, sort_keys=True), one)
    return [one for one in found.values() if one.id != finding.id]


def main() -> None:
    """Judge the findings that standard input holds."""
    given = json.load(sys.stdin)
    others = [Finding.from_dict(document) for document in given["others"]]
    folder = Path(given["folder"]) if given["folder"] else None
    with TimeLimit(SECONDS) as limit:
        for finding in map(Finding.from_dict, given["findings"]):
            try:
                run = runner_in(
                    f"{finding.assignor.partition('@')[0]}@{given['version']}", limit, folder
                )
                found = verdict(finding, run, besides_of(finding, others))
            except BadInput as error:
                found = Verdict(UNTRIED, _short(str(error)))
            sys.stdout.write(f"{json.dumps({'id': finding.id, **asdict(found)})}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
