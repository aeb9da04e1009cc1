"""Daemon: what Spark forks its Python workers from, with all that they need in it.

Spark's own starts workers that have nothing: each imports for some tenths of a second what the
next one imports again, and so does the child of each. Here it is imported once, and they all
are forks.
"""

from __future__ import annotations

import gc
import os

MODULE = "compare.runs.session.daemon"
# A process is forked safely where it has one thread; these libraries start some when imported.
WITHOUT_THREADS = {
    "OPENBLAS_NUM_THREADS": "1",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
}


def serve() -> None:
    """Import what workers and their children need, then do what Spark's daemon does."""
    os.environ.update(WITHOUT_THREADS)

    import pyspark.worker  # noqa: F401
    from pyspark.daemon import manager

    import compare.runs.aggregates.made
    import compare.runs.work.decoding
    import compare.runs.work.phases
    import compare.runs.work.solving  # noqa: F401
    from heuristics.child.forked import fork_children

    fork_children()
    gc.collect()
    gc.freeze()
    manager()


if __name__ == "__main__":
    serve()
