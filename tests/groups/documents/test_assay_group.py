"""Documents: JSON text and what Python has of it are one document, or refused in one sentence."""

import json
import random
import re
from dataclasses import fields

import numpy as np
import pytest

from groups import BadInput, Group
from groups.documents import assay_streams
from groups.documents.assay_group import Document, Member, Topic, json_schema
from groups.documents.json_files import parse_json
from tests.groups.documents.mutated import (
    RICH,
    documents,
    paths,
    with_odd_part,
    with_odd_text,
)
from tests.groups.examples import EVERYTHING, SCHEMA, in_schema, same
from tests.optimal.small_groups import document


def outcome(make) -> Group | str:
    try:
        return make()
    except BadInput as error:
        return str(error)


@pytest.mark.parametrize("each", [8, pytest.param(80, marks=pytest.mark.exhaustive)])
def test_a_text_and_what_it_parses_to_make_one_group_that_fits_the_schema_or_one_line(each):
    rng = random.Random(1)
    good = refused = 0
    for some in documents():
        texts = [json.dumps(some), json.dumps(some, ensure_ascii=False, indent=1)]
        for n in range(each):
            if n % 2:
                text = with_odd_text(rng.choice(texts), rng)
            else:
                text = json.dumps(with_odd_part(some, rng), ensure_ascii=rng.random() < 0.7)
            found = outcome(lambda text=text: Group.from_json(text))
            refused += isinstance(found, str)
            parsed = outcome(lambda text=text: Group.from_dict(parse_json(text)))
            assert isinstance(found, Group) or len(found.splitlines()) == 1
            assert same(found, parsed), text
            if isinstance(found, Group):
                # The group obeys every rule, and its document loses nothing.
                good += 1
                columns = {f.name: getattr(found, f.name) for f in fields(found)}
                assert same(Group(**columns), found), text
                assert Group.from_dict(found.to_dict()).to_dict() == found.to_dict(), text
                assert in_schema(parse_json(text)), text
                assert in_schema(found.to_dict()), text
    assert min(good, refused) > 5 * each


def test_the_group_that_uses_every_field_has_every_key_of_the_format():
    # So tests see it if documents, rows or Parquet lose one.
    topics = [one for one in EVERYTHING["topics"].values() if isinstance(one, dict)]
    members = EVERYTHING["members"].values()
    for kind, given in ((Document, [EVERYTHING]), (Topic, topics), (Member, members)):
        assert set().union(*given) == {*kind.__struct_fields__}


def test_the_json_schema_in_the_repository_is_made_of_the_types():
    # After a change: SCHEMA.write_text(json.dumps(json_schema(), indent=2) + "\n").
    assert json.loads(SCHEMA.read_text()) == json_schema()
    of_streams = SCHEMA.with_name("assay-streams-1.schema.json")
    assert json.loads(of_streams.read_text()) == assay_streams.json_schema()


def test_a_key_that_appears_twice_is_noticed_wherever_it_stands():
    text = json.dumps(RICH)
    colons = [i for i, c in enumerate(text) if text[i - 1 : i + 1] == '":']
    places = [place for place in paths(RICH) if place and isinstance(place[-1], str)]
    for colon, (*above, key) in zip(colons, places, strict=True):
        _, end = json.JSONDecoder().raw_decode(text, colon + 2)
        start = text.rindex('"', 0, colon - 1)
        inside = "".join(f"[{at}]" if isinstance(at, int) else f".{at}" for at in above)
        said = f"{inside[1:]}{': ' if inside else ''}key {key!r} appears twice"
        with pytest.raises(BadInput, match=f"^{re.escape(said)}$"):
            Group.from_json(f"{text[:end]}, {text[start:end]}{text[end:]}")


class Text(str):
    __slots__ = ()


@pytest.mark.parametrize(
    ("topics", "members"),
    [
        ({"t0": 1}, {"c": {"subscription": ("t0",), "owned": {"t0": (0,)}}}),
        ({"t0": 1}, {Text("c"): {"subscription": [Text("t0")], "owned": {Text("t0"): [0]}}}),
    ],
)
def test_tuples_are_lists_and_texts_of_a_type_of_their_own_are_texts(topics, members):
    made = document(topics, members)
    assert Group.from_dict(made).to_dict() == Group.from_json(json.dumps(made)).to_dict()


@pytest.mark.parametrize(
    ("topics", "members", "message"),
    [
        ({"t0": np.int64(1)}, {}, "topics.t0: "),
        ({"t0": {"partitions": 1, "lag": np.array([1])}}, {}, "topics.t0.lag: "),
        (
            {"t0": {"partitions": 1, "x` - at `$.y": 1}},
            {},
            "topics.t0: unknown key 'x` - at `$.y'",
        ),
        (
            {"t0": {"partitions": 1, "x` - at `key` in `$": 1}},
            {},
            "topics.t0: unknown key 'x` - at `key` in `$'",
        ),
        ({"t0": 1, 5: 1}, {}, "topics: 5, expected a non-empty string"),
        ({"t0": 1}, {"c": {"host": "\ud800"}}, "members.c.host: '\\ud800' is not valid Unicode"),
    ],
)
def test_values_that_are_not_json_are_refused_with_their_place(topics, members, message):
    with pytest.raises(BadInput, match=f"^{re.escape(message)}"):
        Group.from_dict(document(topics, members))
