"""The short way from a snapshot to a group: whatever it takes, the long way says the same."""

import enum
import json
import random
from dataclasses import fields

import numpy as np
import pytest

from groups import BadInput, Group
from groups.documents import snapshot
from groups.documents.json_files import parse_json
from groups.plain.lists import plain
from groups.plain.typed import of_mapping, typed
from tests.groups.plain.mutated import EQUAL, RICH, documents, with_odd_part, with_odd_text


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
