"""Decoded texts: the rows of the groups that the texts hold, and the reasons of the others."""

import json
import random

import pyarrow as pa
import pytest

from groups import BadInput, Group
from groups.documents.json_files import parse_json
from groups.table import rows as module
from groups.table.rows import batch_of, decode
from groups.unknown import settled
from tests.groups.documents.mutated import EQUAL, RICH, documents, with_odd_part, with_odd_text


def decoded(contents, **options):
    """Return all rows in one batch, and all failures."""
    some = list(decode(contents, **options))
    rows = pa.concat_batches([one.rows for one in some])
    return rows, [bad for one in some for bad in one.failures]


def one_by_one(texts, change=lambda group: group):
    groups, reasons = [], []
    for index, text in enumerate(texts):
        try:
            groups.append(change(settled(Group.from_dict(parse_json(text)))))
        except BadInput as error:
            reasons.append((index, str(error)))
    return batch_of(groups), reasons


def mutated(seed: int, each: int) -> list[str]:
    rng = random.Random(seed)
    texts = []
    for document in documents():
        texts += [json.dumps(document), with_odd_text(json.dumps(document), rng)]
        texts += [
            json.dumps(with_odd_part(document, rng), ensure_ascii=False) for _ in range(each)
        ]
    rng.shuffle(texts)
    return texts


@pytest.mark.parametrize("each", [10, pytest.param(50, marks=pytest.mark.exhaustive)])
def test_rows_and_reasons_are_those_of_the_groups_one_by_one_of_what_kind_the_texts_are(
    each, monkeypatch
):
    texts = mutated(3, each)
    rows, failures = decoded(texts)
    expected, reasons = one_by_one(texts)
    assert rows.to_pylist() == expected.to_pylist()
    assert [(bad.row, bad.reason) for bad in failures] == reasons
    assert min(len(rows), len(reasons)) > 4 * each
    # Batches are cut by partitions, and are together what is decoded at once.
    monkeypatch.setattr(module, "PARTITIONS_AT_ONCE", 40)
    some = list(decode(texts))
    assert len(some) > 10
    assert all(len(one.rows[:-1]["owner"].flatten()) < 40 for one in some)
    assert [row for one in some for row in one.rows.to_pylist()] == rows.to_pylist()
    assert [bad for one in some for bad in one.failures] == failures
    ends = [one.end for one in some]
    assert ends == sorted(ends)
    assert ends[-1] == len(texts)
    monkeypatch.undo()
    # Bytes and documents give the rows of their texts.
    texts = [text for text in texts if text.isprintable() and "\\ud" not in text]
    rows, failures = decoded(texts)
    from_bytes, also = decoded([text.encode() for text in texts])
    assert from_bytes.equals(rows)
    assert also == failures
    bad = {failure.row for failure in failures}
    from_documents, none = decoded(
        [json.loads(text) for at, text in enumerate(texts) if at not in bad]
    )
    assert from_documents.equals(rows)
    assert none == []


@pytest.mark.parametrize("reset", [None, "latest", "earliest"])
def test_what_is_assumed_of_a_group_is_assumed_of_its_row(reset):
    open_ended = {key: value for key, value in RICH.items() if key != "auto_offset_reset"}
    noted = {**EQUAL, "assumed": ["auto.offset.reset: latest, so 1 partition has lag 0"]}
    texts = [json.dumps(one) for one in (RICH, open_ended, EQUAL, noted)]

    rows, _ = decoded(texts, reset=reset)
    expected, _ = one_by_one(texts, lambda group: group.with_reset(reset))
    assert rows.to_pylist() == expected.to_pylist()


def test_a_failure_names_the_group_and_its_time_where_the_text_does():
    bad = json.dumps({**RICH, "members": 5})
    cut = json.dumps(RICH)
    cut = cut[: cut.index("members")]
    texts = [bad, "{", b"\xff{}", b'{"group": "g", "group": "h"}', cut, cut.encode()]
    _, failures = decoded(texts)
    assert [(f.group, f.captured_at) for f in failures] == [
        ("orders-é", "2026-11-20T10:00:00Z"),
        (None, None),
        (None, None),
        ("h", None),
        ("orders-é", "2026-11-20T10:00:00Z"),
        ("orders-é", "2026-11-20T10:00:00Z"),
    ]
    assert failures[0].reason == "members: 5, expected an object"
    assert failures[2].reason == "byte 0: not UTF-8 text"
    assert failures[3].reason == "key 'group' appears twice"
    assert list(decode([])) == []
