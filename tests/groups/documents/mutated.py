"""Seeded mutations of valid snapshots, as documents and as text."""

import json
import random
from copy import deepcopy
from itertools import islice
from pathlib import Path

from compare.samples.drawn import drawn
from tests.groups.examples import EVERYTHING
from tests.optimal.small_groups import document

ROOT = Path(__file__).parents[3]
RICH = deepcopy(EVERYTHING) | {"group": "orders-é"}
RICH["members"]["c0"] |= {"client_id": "app:0", "host": '/127.0.0.1 "x"'}
FOUR = [f"t{i}" for i in range(4)]
EQUAL = document(
    dict.fromkeys(FOUR, 3),
    {f"c{m}": {"subscription": FOUR, "owned": {t: [m] for t in FOUR}} for m in range(3)},
)
ODD = [
    None, True, False, 0, 1, -1, 2, 3, 1.0, 1e400, 2**63 - 1, 2**63, 10**30, 10**400, 10**8 + 1,
    "", "t0", "t9", "c0", "a\nb", "\ud800", "\x00", '"', "\\", [], [0], [0, 0], [None],
    ["t0", "t0"], {}, {"t0": [0]}, {"t0": [5]}, {"t9": [0]}, {"partitions": 1},
    {"partitions": 1, "lag": [3]},
    {"partitions": 1, "lag": [3], "offsets": [{}]}, {"partitions": 2, "offsets": [{"end": 1}, {}]},
    {"subscription": ["t0"], "rack": "a"}, {"subscription": None, "target": {"t0": [0]}}, "latest",
]  # fmt: skip
KEYS = [
    "rack", "target", "owned", "subscription", "lag", "weight", "racks", "offsets", "format", "",
    "t0", "t1", "c0", "c1", "generation", "nonsense", "assumed", "captured_at", "\udc00",
]  # fmt: skip
PIECES = ['"', "\\", ",", ":", "{", "}", "[", "]", " ", "\n", "0", "-", ".", "e", "\\u003a",
          "\x00", '\\"', "\\\\", '"t0":', '"t0"', "é", "NaN", "\ufeff", "\x0b", "1"]  # fmt: skip


def paths(value: object, path: tuple = ()):
    """Yield the path of keys to each value of a JSON document, its own first."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from paths(value[key], (*path, key))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from paths(item, (*path, i))


def with_odd_part(document: dict, rng: random.Random) -> dict:
    """Return a copy with one or two random values or keys deleted, renamed, added or replaced."""
    copy = deepcopy(document)
    for _ in range(rng.choice([1, 1, 1, 2])):
        *above, last = rng.choice([p for p in paths(copy) if p])
        inner = copy
        for key in above:
            inner = inner[key]
        change = rng.randrange(5)
        if change == 0:
            del inner[last]
        elif change == 1 and isinstance(inner, dict):
            inner[rng.choice(KEYS)] = inner.pop(last)
        elif change == 2 and isinstance(inner, dict):
            inner[rng.choice(KEYS)] = deepcopy(rng.choice(ODD))
        elif change == 3 and isinstance(inner, list):
            inner.append(deepcopy(rng.choice([*inner, *ODD])))
        else:
            inner[last] = deepcopy(rng.choice(ODD))
    return copy


def with_odd_text(text: str, rng: random.Random) -> str:
    """Return the text with one random part replaced, deleted or doubled, or t1 renamed."""
    at = rng.randrange(len(text) + 1)
    end = min(at + rng.choice([0, 0, 0, 1, 1, 2, 30]), len(text))
    change = rng.randrange(4)
    if change == 0:
        return text[:at] + rng.choice(PIECES) + text[end:]
    if change == 1:
        return text[:at] + text[end:]
    if change == 2:
        # Double a part between such characters: now and then it is a key with its value.
        places = [i for i, c in enumerate(text) if c in '{,"']
        start, stop = sorted(rng.sample(places, 2))
        return text[:stop] + text[start:stop] + text[stop:]
    return text.replace(
        '"t1"', rng.choice(['"t0"', '"t2"', '"t\\u0031"', '"t1"']), rng.randrange(3)
    )


def documents():
    known = (ROOT / "corpus/known.jsonl").read_text().splitlines()
    yield from [RICH, EQUAL, *map(json.loads, known[:8])]
    yield from (group.to_dict() for group in islice(drawn(7), 12))
