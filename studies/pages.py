"""Pages: what studies made of docs/findings, written out of the data that is kept beside it.

``python -m studies.pages [PAGE ...]``, as in ``make pages``, runs no study. A page is prose with a
made part between two marks; ``docs/findings/shipped.md`` alone is made as a whole, from a
template.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from compare.promises.conformance import ASKED, file_of
from compare.promises.task_program import read_task_findings
from studies import amendments, promise_table, shipped_page, task_findings
from studies import conformance as corpus
from studies import differential as compared
from studies import elastic as scaled
from studies import grid_verdicts as graded
from studies.how_often import page as often
from studies.loops import page as loops
from studies.on_a_cluster import page as played
from studies.page import put, read
from studies.since_when import page as dated

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

FOLDER = Path("docs/findings")


def promises(folder: Path) -> str:
    """Return the table of promises, and below it what the amendments of KIP-615 mend."""
    matrix = promise_table.matrix_of(read(folder / "promises.csv"))
    return f"{matrix}\n\n{amendments.table_of(read(folder / 'amendments.csv'))}"


def differential(folder: Path) -> str:
    """Return how the code that people run differs from the KIPs."""
    return compared.page_of(compared.rows_in(read(folder / "differential.csv")))


def verdicts(folder: Path) -> str:
    """Return how assignors fared on the maintainers' grid."""
    return graded.tables_of(read(folder / "verdicts.csv"))


def elastic(folder: Path) -> str:
    """Return how rules for elastic groups fared beside the optimum."""
    return scaled.tables_of(read(folder / "elastic.csv"))


def how_often(folder: Path) -> str:
    """Return how often assignors go wrong in typical services."""
    return often.page_of(read(folder / "how-often.csv"), read(folder / "how-often-parts.csv"))


def since_when(folder: Path) -> str:
    """Return in which releases findings show."""
    return dated.page(json.loads((folder / "since-when.json").read_text("utf-8")))


def why(folder: Path) -> str:
    """Return the cycles in which assignors are caught."""
    made = json.loads((folder / "why.json").read_text("utf-8"))
    return loops.page_of(made, read(folder / "why.csv"))


def on_a_cluster(folder: Path) -> str:
    """Return what was seen on a real broker."""
    told = json.loads((folder / "on-a-cluster.json").read_text("utf-8"))
    return played.made(told["courses"])


def streams_tasks(folder: Path) -> str:
    """Return what Kafka's assignors of streams tasks break."""
    made = json.loads((folder / "streams-tasks.json").read_text("utf-8"))
    return task_findings.page_of(made, read_task_findings())


def conformance(_: Path) -> str:
    """Return how many instances of the conformance corpus break a promise, by assignor."""
    return corpus.table_of([file_of(promise) for promise in ASKED])


# By page, which is also the target of the Makefile that runs the study.
MADE: Mapping[str, Callable[[Path], str]] = {
    "promises": promises,
    "differential": differential,
    "verdicts": verdicts,
    "elastic": elastic,
    "how-often": how_often,
    "since-when": since_when,
    "why": why,
    "on-a-cluster": on_a_cluster,
    "streams-tasks": streams_tasks,
    "conformance": conformance,
}


def main(names: list[str]) -> None:
    """Write the made parts of these pages, of all if there are none, and the page of findings."""
    for name in names or MADE:
        put(FOLDER / f"{name}.md", name, MADE[name](FOLDER))
    # It quotes what the others are made of.
    shipped_page.main()


if __name__ == "__main__":
    main(sys.argv[1:])
