"""Run a study and write its page: ``python -m studies NAME [WHICH ...]``, as the Makefile does.

A study writes its data into ``docs/findings`` and ``corpus``. From the data, the part of its page
between two marks is generated. ``python -m studies pages`` generates these parts for all studies,
and the page of findings, without running a study.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from groups import BadInput, Failed
from studies import (
    conformance,
    differential,
    elastic,
    grid_verdicts,
    many_joins,
    promise_table,
    shipped_findings,
    shipped_page,
    task_findings,
)
from studies.how_often import rate
from studies.loops import why
from studies.on_a_cluster import effects
from studies.page import FOLDER, put, read
from studies.since_when import histories

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Study(NamedTuple):
    """A study: its question, the function that runs it, and its page.

    Attributes
    ----------
    asks : its question in one line
    run : writes the data; takes names if there is `which`, and a number if there is `many`
    which : what the names are, and the default, for the help
    many : what the number is, for the help, and its value for the page
    made : returns the generated part of its page, given the contents of `data`; None: no page
    data : names of the files in `docs/findings` of which the page is made
    """

    asks: str
    run: Callable[..., None]
    which: str = ""
    many: tuple[str, int] | None = None
    made: Callable[..., str] | None = None
    data: tuple[str, ...] = ()


ALL_CALLED = "assignors, all that can be called"
# By name, which is the target in the Makefile.
STUDIES = {
    "promises": Study(
        "which promises do assignors as written break?",
        promise_table.run, made=promise_table.page_of, data=("promises.csv", "amendments.csv"),
    ),
    "differential": Study(
        "do clients do what the KIPs say?", differential.run, "", ("groups", 5000),
        differential.page_of, ("differential.csv",),
    ),
    "findings": Study(
        "which promises do shipped assignors break, on which smallest group?",
        shipped_findings.run, ALL_CALLED, ("groups of each sort", 3000),
    ),
    "records": Study(
        "what comes of the findings today?", shipped_findings.record, "ids of findings, all"
    ),
    "why": Study(
        "why do assignors not end?", why.run, made=why.page_of, data=("why.json",)
    ),
    "joins": Study(
        "on which small joins does it hang?", many_joins.run, "an assignor, and sizes as in 4x2x7"
    ),
    "conformance": Study(
        "what do assignors do on the conformance corpus?", conformance.run, ALL_CALLED,
        made=conformance.page_of,
    ),
    "since-when": Study(
        "which releases show a finding?", histories.run, "patterns of ids of findings, all",
        made=histories.page_of, data=("since-when.json",),
    ),
    "on-a-cluster": Study(
        "what does a hang do to a group?", effects.run, "courses, all",
        made=effects.page_of, data=("on-a-cluster.json",),
    ),
    "verdicts": Study(
        "how far from the optimum are assignors on the maintainers' grid?",
        grid_verdicts.run, ALL_CALLED, ("members", 100),
        grid_verdicts.page_of, ("verdicts.csv",),
    ),
    "elastic": Study(
        "how far from the optimum are rules for elastic groups?",
        elastic.run, "", ("steps of a stream", elastic.STEPS),
        elastic.page_of, ("elastic.csv",),
    ),
    "how-often": Study(
        "how often does what go wrong in a week of typical services?",
        rate.run, "assignors, all that are studied", ("services of each sort", 200),
        rate.page_of, ("how-often.csv", "how-often-parts.csv"),
    ),
    "streams-tasks": Study(
        "what do assignors of streams tasks break?", task_findings.run,
        made=task_findings.page_of, data=("streams-tasks.json",),
    ),
}  # fmt: skip
PAGES = tuple(name for name, study in STUDIES.items() if study.made)


def made_by(name: str, folder: Path = FOLDER) -> str:
    """Return the generated part of a study's page, made from its data.

    Raises
    ------
    BadInput
        If the study has no page.
    """
    study = STUDIES.get(name)
    if study is None or study.made is None:
        raise BadInput(f"{name}: no page of a study; there are {', '.join(PAGES)}")
    return study.made(*(read(folder / file) for file in study.data))


def write_pages(names: Iterable[str]) -> None:
    """Write the generated parts of these pages, and the page of findings, which uses their data.

    Raises
    ------
    BadInput
        If there is no page of a name.
    """
    for name in names:
        put(FOLDER / f"{name}.md", name, made_by(name))
    page = shipped_page.page_of(shipped_page.read(Path()))
    shipped_page.PAGE.write_text(page, encoding="utf-8")


def main() -> None:
    """Run a study and write its page, or only write pages."""
    parser = ArgumentParser(prog="python -m studies", description="run a study, write its page")
    parsers = parser.add_subparsers(dest="name", required=True, metavar="NAME")
    pages = parsers.add_parser("pages", help="write pages out of the data, without a run")
    pages.add_argument("which", nargs="*", help="all if left out")
    for name, study in STUDIES.items():
        one = parsers.add_parser(name, help=study.asks, description=study.asks)
        if study.which:
            one.add_argument("which", nargs="*", help=f"{study.which} if left out")
        if study.many:
            what, many = study.many
            one.add_argument("--many", type=int, default=many, help=f"{what}, {many} if left out")
    asked = vars(parser.parse_args())
    name = asked.pop("name")
    try:
        if name == "pages":
            write_pages(asked["which"] or PAGES)
        else:
            STUDIES[name].run(*(asked[key] for key in ("which", "many") if key in asked))
            write_pages({name} & {*PAGES})
    except (BadInput, Failed) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
