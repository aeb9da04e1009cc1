"""The groups whose optimum is known, and what is known of each case."""

import json
from pathlib import Path

ROOT = Path(__file__).parents[1]


def _lines(file: str) -> list[dict]:
    return [json.loads(line) for line in (ROOT / file).read_text().splitlines()]


CASES = _lines("tests/known_cases.jsonl")
KNOWN = {document["group"]: document for document in _lines("corpus/known.jsonl")}
