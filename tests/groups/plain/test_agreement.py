"""The short way from a snapshot to a group: whatever it takes, the long way says the same."""

import enum
import json
import random
from dataclasses import fields
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from compare.samples.drawn import drawn
from groups import BadInput, Group
from groups.documents import snapshot
from groups.documents.json_files import parse_json
from groups.plain.lists import plain
from groups.plain.typed import of_mapping, typed

ROOT = Path(__file__).parents[3]
RICH = {
    "format": "assay-group/1",
    "group": "orders-é",
    "captured_at": "2026-11-20T10:00:00Z",
    "auto_offset_reset": "earliest",
    "assumed": ["t2: 1 partition, the highest number seen"],
    "topics": {
        "t0": 2,
        "t1": {"partitions": 3, "lag": [10, 0, None], "weight": [7, 7, 1]},
        "t2": {
            "partitions": 2,
            "offsets": [
                {"beginning": 0, "end": 100, "committed": None},
                {"end": 5, "committed": 9},
            ],
        },
    },
    "members": {
        "c0": {
            "subscription": ["t1", "t0"],
            "owned": {"t1": [2, 0], "t0": [0, 1]},
            "generation": 0,
            "instance_id": "i-0",
            "client_id": "app:0",
            "host": '/127.0.0.1 "x"',
            "assignors": ["cooperative-sticky", "range"],
        },
        "c1": {"subscription": None, "owned": {"t2": [1]}, "epoch": 5, "capacity": 2},
        "c2": {"subscription": [], "generation": None, "subscription_regex": "t.*"},
    },
}
EQUAL = {
    "format": "assay-group/1",
    "group": "g",
    "topics": {f"t{i}": 3 for i in range(4)},
    "members": {
        f"c{m}": {
            "subscription": [f"t{i}" for i in range(4)],
            "owned": {f"t{i}": [m] for i in range(4)},
        }
        for m in range(3)
    },
}
ODD = [
    None, True, False, 0, 1, -1, 2, 3, 1.0, 1e400, 2**63 - 1, 2**63, 10**30, 10**8, "", "t0", "t9",
    "c0", "\ud800", "\x00", ":", '"', "\\", [], [0], [0, 0], [None], ["t0", "t0"], {}, {"t0": [0]},
    {"t0": [5]}, {"t9": [0]}, {"partitions": 1}, {"partitions": 1, "lag": [3]},
    {"partitions": 1, "lag": [3], "offsets": [{}]}, {"partitions": 2, "offsets": [{"end": 1}, {}]},
    {"subscription": ["t0"], "rack": "a"}, {"subscription": None, "target": {"t0": [0]}}, "latest",
]  # fmt: skip
KEYS = [
    "rack", "target", "owned", "subscription", "lag", "weight", "racks", "offsets", "format", "",
    "t0", "t1", "c0", "c1", "generation", "nonsense", "assumed", "captured_at", "\udc00",
]  # fmt: skip
PIECES = ['"', "\\", ",", ":", "{", "}", "[", "]", " ", "\n", "0", "-", ".", "e", "\\u003a",
          "\x00", '\\"', "\\\\", '"t0":', '"t0"', "é", "NaN", "\ufeff", "\x0b", "1"]  # fmt: skip


def same(one: object, other: object) -> bool:
    if isinstance(one, np.ndarray):
        return (
            isinstance(other, np.ndarray)
            and one.dtype == other.dtype
            and one.tolist() == other.tolist()
            and not one.flags.writeable
        )
    if hasattr(one, "__dataclass_fields__"):
        return type(one) is type(other) and all(
            same(getattr(one, f.name), getattr(other, f.name)) for f in fields(one)
        )
    if isinstance(one, (list, tuple)):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and one == other


def outcome(make) -> Group | str:
    try:
        return make()
    except BadInput as error:
        return str(error)


def the_long_way(text: str) -> Group:
    return Group(**snapshot.columns_of(parse_json(text)))


def nodes(value: object, place: tuple = ()):
    yield place
    if isinstance(value, dict):
        for key in value:
            yield from nodes(value[key], (*place, key))
    elif isinstance(value, list):
        for i, one in enumerate(value):
            yield from nodes(one, (*place, i))


def with_odd_part(document: dict, rng: random.Random) -> dict:
    copy = json.loads(json.dumps(document))
    for _ in range(rng.choice([1, 1, 1, 2])):
        *above, last = rng.choice([p for p in nodes(copy) if p])
        inner = copy
        for key in above:
            inner = inner[key]
        change = rng.randrange(5)
        if change == 0:
            del inner[last]
        elif change == 1 and isinstance(inner, dict):
            inner[rng.choice(KEYS)] = inner.pop(last)
        elif change == 2 and isinstance(inner, dict):
            inner[rng.choice(KEYS)] = rng.choice(ODD)
        elif change == 3 and isinstance(inner, list):
            inner.append(rng.choice([*inner, *ODD]))
        else:
            inner[last] = rng.choice(ODD)
    return copy


def with_odd_text(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text) + 1)
    end = min(at + rng.choice([0, 0, 0, 1, 1, 2, 30]), len(text))
    change = rng.randrange(4)
    if change == 0:
        return text[:at] + rng.choice(PIECES) + text[end:]
    if change == 1:
        return text[:at] + text[end:]
    if change == 2:
        # A part that appears twice: now and then it is a key with its value.
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


def test_the_short_way_and_the_long_way_agree_on_thousands_of_mutated_documents():
    rng = random.Random(1)
    taken = refused = 0
    for document in documents():
        texts = [json.dumps(document), json.dumps(document, ensure_ascii=False, indent=1)]
        for n in range(260):
            if n % 2:
                text = with_odd_text(rng.choice(texts), rng)
            else:
                text = json.dumps(with_odd_part(document, rng), ensure_ascii=rng.random() < 0.7)
            long = outcome(lambda text=text: the_long_way(text))
            assert same(outcome(lambda text=text: Group.from_json(text)), long), text
            try:
                parsed = parse_json(text)
            except BadInput:
                refused += 1
                assert typed(text) is None, text
                continue
            assert same(outcome(lambda parsed=parsed: Group.from_dict(parsed)), long), text
            found = typed(text)
            taken += found is not None and plain(found) is not None
            refused += isinstance(long, str)
    # Both ways are taken, many times: what is compared is not the long way with itself.
    assert taken > 1000
    assert refused > 1000


@pytest.mark.parametrize("document", [RICH, EQUAL], ids=["rich", "equal"])
def test_good_snapshots_take_the_short_way_from_text_and_from_python(document):
    text = json.dumps(document, indent=2)
    for found in (typed(text), typed(text.encode()), of_mapping(document)):
        assert found is not None
        assert plain(found) is not None
    assert same(Group.from_json(text), the_long_way(text))


@pytest.mark.parametrize("at", range(0, 2000, 97))
def test_a_key_that_appears_twice_is_noticed_wherever_it_stands(at):
    text = json.dumps(RICH)
    colons = [i for i, c in enumerate(text) if text[i - 1 : i + 1] == '":']
    colon = colons[at % len(colons)]
    key = text[text.rindex('"', 0, colon - 1) : colon]
    twice = (
        f"{text[: colon - len(key)]}{key}: {value_after(text, colon)}, {text[colon - len(key) :]}"
    )
    assert typed(twice) is None
    with pytest.raises(BadInput, match="appears twice"):
        Group.from_json(twice)


def value_after(text: str, colon: int) -> str:
    _, end = json.JSONDecoder().raw_decode(text, colon + 2)
    return text[colon + 2 : end]


def test_colons_and_quotes_in_names_do_not_hide_a_key_that_appears_twice():
    name = '":"c":{},":'
    text = json.dumps({**EQUAL, "members": {name: {}}})
    assert typed(text) is not None
    twice = text.replace('"group": "g"', '"group": "\\u0022\\u0022", "group": "g"')
    assert typed(twice) is None
    with pytest.raises(BadInput, match="key 'group' appears twice"):
        Group.from_json(twice)


class Number(enum.IntEnum):
    ONE = 1


class Text(str):
    __slots__ = ()


@pytest.mark.parametrize(
    ("topics", "members"),
    [
        ({"t0": Number.ONE}, {}),
        ({"t0": np.int64(1)}, {}),
        ({"t0": {"partitions": 1, "lag": {1}}}, {}),
        ({"t0": 1}, {"c": {"subscription": {"t0"}}}),
        ({"t0": 1}, {"c": {"subscription": set()}}),
        ({"t0": 1}, {"c": {"assignors": frozenset()}}),
        ({"t0": 1}, {"c": {"owned": {"t0": frozenset({0})}}}),
        ({"t0": 1}, {"c": {"subscription": ("t0",), "owned": {"t0": (0,)}}}),
        ({"t0": 1}, {Text("c"): {"subscription": [Text("t0")]}}),
        ({"t0": 1}, {"\ud800": {}}),
        ({"t0": 1}, {"c": {"host": "\ud800"}}),
        ({"t0": 2**21}, {"c": {"subscription": ["t0"], "owned": {"t0": [5]}}}),
    ],
)
def test_documents_with_python_values_that_are_not_json_are_judged_as_on_the_long_way(
    topics, members
):
    document = {"format": "assay-group/1", "group": "g", "topics": topics, "members": members}
    long = outcome(lambda: Group(**snapshot.columns_of(document)))
    assert same(outcome(lambda: Group.from_dict(document)), long)
