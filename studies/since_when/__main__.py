"""Find out which releases of each client break the promise of each finding.

``python -m studies.since_when [ID...]`` asks each client's registry for its releases, fetches each
of them into a cache of its own, runs it on the finding's group and writes
``docs/findings/since-when.json``. What was judged before on the same group is not judged again.
"""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser
from fnmatch import fnmatch
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from compare.promises.findings import read_findings
from groups import BadInput
from heuristics.shipped.cache import cache_folder
from studies.since_when.ask import Asked, client_of
from studies.since_when.page import history
from studies.since_when.releases import releases_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compare.promises.findings import Finding

FINDINGS = Path("corpus/findings.jsonl")
WRITTEN = Path("docs/findings/since-when.json")
# Larger groups after an ordinary join, on which releases hang that answer on the smallest.
BESIDES = Path(__file__).with_name("besides.jsonl")


def main() -> None:
    """Judge the releases and write what was found."""
    parser = ArgumentParser(description="find the releases in which each finding's promise breaks")
    parser.add_argument("ids", nargs="*", help="patterns of finding ids, all if left out")
    parser.add_argument("--written", type=Path, default=WRITTEN)
    asked = parser.parse_args()
    # Releases fetched here are not to be listed, scored and hunted elsewhere.
    os.environ["KAFKA_ASSAY_CACHE"] = str(cache_folder("releases"))
    shipped = [f for f in read_findings(FINDINGS) if f.affected]
    made = json.loads(asked.written.read_text("utf-8")) if asked.written.is_file() else {}
    chosen = [f for f in shipped if not asked.ids or any(fnmatch(f.id, p) for p in asked.ids)]
    for client, some in groupby(sorted(chosen, key=client_of), key=client_of):
        try:
            made |= _of_client(client, list(some), shipped)
        except BadInput as error:
            sys.stderr.write(f"{client}: {error}\n")
        kept = {f.id: made[f.id] for f in shipped if f.id in made}
        asked.written.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", "utf-8")


def _of_client(
    client: str, findings: Sequence[Finding], all_of_them: Sequence[Finding]
) -> dict[str, object]:
    others = [*all_of_them, *read_findings(BESIDES)]
    rows = Asked(client, findings, others).rows(releases_of(client))
    return {finding.id: history(finding.id, rows[finding.id]) for finding in findings}


if __name__ == "__main__":
    main()
