from pathlib import Path

import pytest

from groups import Group
from optimal import solve
from tests.assay.calling import EVEN, LOPSIDED, UNKNOWN, write


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("cli")
    (made / "nothing").mkdir()
    one = {"orders.json": LOPSIDED, "even.json": EVEN, "unknown.json": UNKNOWN}
    return write(made, one | {"two.jsonl": [LOPSIDED, EVEN]})


@pytest.fixture(scope="module")
def solution(folder) -> dict:
    return solve(Group.read(folder / "orders.json")).to_dict()
