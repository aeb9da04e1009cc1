import json
from pathlib import Path

import pytest

from groups import Group
from optimal import solve
from tests.assay.calling import EVEN, LOPSIDED, UNKNOWN


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("cli")
    for name, document in {"orders": LOPSIDED, "even": EVEN, "unknown": UNKNOWN}.items():
        (made / f"{name}.json").write_text(json.dumps(document))
    (made / "two.jsonl").write_text(f"{json.dumps(LOPSIDED)}\n{json.dumps(EVEN)}\n")
    (made / "nothing").mkdir()
    return made


@pytest.fixture(scope="module")
def solution(folder) -> dict:
    return solve(Group.read(folder / "orders.json")).to_dict()
