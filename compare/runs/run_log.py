"""Run log: the row in ``runs`` on a run that wrote something, however it ended."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from importlib.metadata import version
from time import perf_counter
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from compare.runs.circumstances import circumstances
from compare.runs.tables.files import append
from compare.runs.tables.schemas import TABLES
from groups.errors import AssayError
from optimal.seed import SEED

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from compare.runs.job import Job

Facts = dict[str, object]


@contextmanager
def logged(job: Job, run: str, started: datetime) -> Iterator[Facts]:
    """Log what happens within as a run, where it leaves files.

    Parameters
    ----------
    run : its name

    Yields
    ------
    facts : columns of ``runs`` that come to light on the way, to be filled
    """
    clock, facts = perf_counter(), Facts()
    try:
        yield facts
    except BaseException as error:
        is_failure = isinstance(error, Exception)
        facts["ended"] = "failed" if is_failure else "interrupted"
        facts["reason"] = str(error) if is_failure else None
        # What went wrong is what to tell.
        with suppress(AssayError, OSError):
            _log(job, run, started, facts, perf_counter() - clock)
        raise
    _log(job, run, started, {"ended": "done", **facts}, perf_counter() - clock)


def _log(job: Job, run: str, started: datetime, facts: Facts, seconds: float) -> None:
    written = [file for name in TABLES for file in (job.out / name).glob(f"{run}-*.parquet")]
    if not written:
        return
    row = {
        "run": run,
        "started_at": started.isoformat(timespec="seconds"),
        "version": version("kafka-assay"),
        **circumstances(),
        "input": str(job.source),
        "objective": job.tiers,
        "assignors": list(job.assignors),
        "time_limit_seconds": job.time_limit,
        "assume_equal": job.assume_equal,
        "reset": job.reset,
        "seed": SEED,
        "files": len(written),
        "rows": sum(pq.read_metadata(file).num_rows for file in written),
        "bytes": sum(file.stat().st_size for file in written),
        "seconds": seconds,
        **facts,
    }
    append(job.out, "runs", pa.Table.from_pylist([row], TABLES["runs"]), run)
