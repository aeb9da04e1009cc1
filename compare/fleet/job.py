"""Job: the input, tables, objective and assignors of a run."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Literal, NamedTuple

from compare.fleet.tables import PARQUET, TABLES, Tables, content_key, version_of
from compare.scores import CURRENT, OPTIMUM, assignors_asked
from groups.errors import BadInput
from groups.tiers import TIERS, parse_objective
from heuristics import Assignor, assignor_named
from heuristics.own import name_of, versioned
from optimal.answer import SEED

if TYPE_CHECKING:
    from collections.abc import Container, Sequence
    from pathlib import Path

    from groups.tiers import Objective
    from heuristics import AssignorFunction

SECONDS = 10.0


class Lack(NamedTuple):
    """What the tables lack of a group: the row of ``optima``, and assignors in ``scores``."""

    optimum: bool
    assignors: tuple[str, ...]

    @property
    def others(self) -> tuple[str, ...]:
        """The assignors that have to be called."""
        return tuple(name for name in self.assignors if name != CURRENT)

    @property
    def own(self) -> Lack:
        """What can be had without calling an assignor."""
        return self._replace(assignors=tuple(one for one in self.assignors if one == CURRENT))


@dataclass(frozen=True)
class Job:
    """The input, tables, objective and assignors of a run.

    Attributes
    ----------
    source : a path or an address that Spark knows; or the name of a table
    time_limit : seconds for each solve and each call of an assignor
    assume_equal : take unknown subscriptions as all topics of the group
    reset : ``auto.offset.reset`` where a snapshot does not say it
    input_format : a format of Spark's readers; None: files of snapshots, texts or Parquet
    folders : where to look for the user's modules, besides the usual folders
    modules : the user's modules that add tiers when they are imported
    guests : clients that joined a probe; some of the assignors go by their names
    """

    source: str
    tables: Tables
    objective: Objective
    assignors: tuple[str, ...]
    time_limit: float
    assume_equal: bool = False
    reset: str | None = None
    input_format: str | None = None
    input_is_table: bool = False
    folders: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    guests: tuple[Assignor, ...] = ()

    def prepare(self) -> None:
        """Import the user's modules in this process, so that it knows the tiers that they add.

        Raises
        ------
        BadInput
            If a tier is known to the process that made the job, but none of its modules adds it.
        """
        sys.path += [folder for folder in self.folders if folder not in sys.path]
        for module in self.modules:
            import_module(module)
        parse_objective(self.objective)

    def lack(self, known: Container[str] = ()) -> Lack:
        """Return what the tables lack of a group.

        Parameters
        ----------
        known : the `made_by` of the rows that they hold
        """
        missing = (name for name in self.assignors if self.score_made_by(name) not in known)
        return Lack(optimum=self.optimum_made_by not in known, assignors=tuple(missing))

    @property
    def tiers(self) -> str:
        """The objective as in the tables, ``balance > stickiness``."""
        return " > ".join(self.objective)

    @cached_property
    def optimum_made_by(self) -> str:
        """The key of all that a row of ``optima`` depends on besides the group."""
        return content_key(self._made_by("optima"))

    def score_made_by(self, assignor: str) -> str:
        """Return the key of all that an assignor's rows in ``scores`` depend on but the group."""
        return content_key({**self._made_by("scores"), "assignor": assignor})

    @property
    def made_by(self) -> list[str]:
        """The keys of its rows in ``optima`` and ``scores``, in that order."""
        return [self.optimum_made_by, *map(self.score_made_by, self.assignors)]

    def _made_by(self, table: str) -> dict[str, object]:
        # Scores depend on these, too: an excess is relative to the optimum. Rows that lack a
        # column, or have it in another type, have another key, and so are made again.
        return {
            "columns": [(one.name, str(one.type)) for one in TABLES[table]],
            "objective": self.objective,
            "time_limit": self.time_limit,
            "version": version_of("kafka-assay"),
            "solver": version_of("ortools"),
            "seed": SEED,
        }


def job_of(
    source: str | Path,
    out: str | Path,
    *,
    objective: str | Sequence[str] = "kip-54",
    assignors: Sequence[str | AssignorFunction] | None = None,
    time_limit: float = SECONDS,
    assume_equal: bool = False,
    reset: Literal["latest", "earliest"] | None = None,
    input_format: str | None = None,
    input_is_table: bool = False,
    output_format: str = PARQUET,
    output_in_catalogue: bool = False,
) -> Job:
    """Return the job of a run, with the full names of its assignors.

    The current assignment is always scored. Without `assignors`, those as written are scored, too;
    shipped ones only by name, as some of them take milliseconds for each group.

    Raises
    ------
    BadInput
        If the objective is unknown, an assignor's name is unknown, another process cannot import a
        function or a tier of the user's, or a run that keeps its tables has such a tier: no row
        tells what it means.
    """
    tiers = parse_objective(objective)
    added = {TIERS[tier].value.__module__: tier for tier in tiers}
    added.pop("groups.tiers", None)
    for module, tier in added.items():
        if os.fspath(out):
            raise BadInput(f"objective: a run does not serve {tier}, a tier of {module}")
        if module == "__main__":
            raise BadInput(
                f"objective: no other process can import {tier} from __main__: add it in a module"
            )
    guests = tuple(one for one in assignors or () if isinstance(one, Assignor))
    others = [one for one in assignors or ["written"] if not isinstance(one, Assignor)]
    given = [one if isinstance(one, str) else name_of(one) for one in others]
    asked = [
        name if name in (CURRENT, OPTIMUM) else assignor_named(name)
        for name in (assignors_asked(given) if given else ())
    ]
    own = [one for one in asked if not isinstance(one, str) and one.kind == "own"]
    names = [
        one if isinstance(one, str) else versioned(one) if one in own else one.name
        for one in asked
    ]
    return Job(
        source=os.fspath(source),
        tables=Tables(os.fspath(out), output_format, output_in_catalogue),
        objective=tiers,
        assignors=(
            CURRENT,
            *(name for name in names if name != CURRENT),
            *(guest.name for guest in guests),
        ),
        # Keys contain it, and 10 and 10.0 would make different keys.
        time_limit=float(time_limit),
        assume_equal=assume_equal,
        reset=reset,
        input_format=input_format,
        input_is_table=input_is_table,
        folders=(os.getcwd(), *sys.path) if own or added else (),
        modules=tuple(added),
        guests=guests,
    )
