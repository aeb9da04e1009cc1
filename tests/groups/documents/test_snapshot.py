"""``assay-group/1``: documents to groups and back, and every refusal in one line."""

import io
import json
import sys
from copy import deepcopy
from pathlib import Path

import pytest

from groups import BadInput, Group
from tests.groups.examples import EVERYTHING, SCHEMA, in_schema
from tests.schemas import validator_of

ROOT = Path(__file__).parents[3]
KNOWN = (ROOT / "corpus/known.jsonl").read_text().splitlines()


def changed(place: str, value) -> dict:
    """Return the document with every field, with one value set, or deleted with ``...``."""
    document = deepcopy(EVERYTHING)
    at, keys = document, place.replace("[", ".[").split(".")
    keys = [int(key[1:-1]) if key.startswith("[") else key for key in keys]
    for key in keys[:-1]:
        at = at[key]
    if value is ...:
        del at[keys[-1]]
    else:
        at[keys[-1]] = value
    return document


def written(tmp_path: Path, content: str | bytes, name: str = "g.json") -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_a_document_of_everything_is_read_and_written_as_it_stands(tmp_path):
    group = Group.read(written(tmp_path, json.dumps(EVERYTHING)))
    assert group.to_dict() == EVERYTHING
    assert (group.name, group.topics) == ("orders", ("none", "t0", "t1", "t2"))
    assert group.members == ("c0", "c1", "c2")
    assert group.owner.tolist() == [0, 0, -1, -1, -1, -1]
    assert group.lag_records.tolist() == [-1, -1, 10, 0, -1, 100]
    assert group.weight.tolist() == [-1, -1, 7, 7, 1, -1]
    assert group.generation.tolist() == [5, -1, -1]
    assert group.details[1].target == {"t1": (0,)}
    assert group.details[0].assignors == ("cooperative-sticky", "range")
    assert group.details[1].capacity == 2
    # Lag of one topic and offsets of another stand side by side.
    assert group.offsets.given.tolist() == [False, False, False, True]
    assert group.offsets.end.tolist() == [-1] * 5 + [100]
    assert in_schema(EVERYTHING)


@pytest.mark.parametrize("line", KNOWN, ids=lambda line: json.loads(line)["group"])
def test_every_group_of_the_corpus_fits_the_schema_and_comes_back_as_it_was(line):
    document = json.loads(line)
    validator_of(SCHEMA).validate(document)
    group = Group.from_dict(document)
    back = group.to_dict()
    assert Group.from_dict(back).to_dict() == back
    assert in_schema(back)
    for member in document["members"].values():
        member.setdefault("owned", {})
        member["subscription"] = sorted(member["subscription"])
        if member.get("generation") == -1:
            del member["generation"]
        member["owned"] = {t: sorted(held) for t, held in member["owned"].items()}
    assert back["members"] == document["members"]
    assert back["topics"].keys() == document["topics"].keys()


def test_what_is_null_where_null_means_nothing_is_as_if_left_out():
    document = deepcopy(EVERYTHING)
    document |= {"captured_at": None, "auto_offset_reset": None}
    for key in ("generation", "rack", "instance_id", "assignors", "target", "epoch", "capacity"):
        document["members"]["c0"][key] = None
    group = Group.from_dict(document)
    assert group.generation[0] == -1
    assert "rack" not in group.to_dict()["members"]["c0"]
    assert in_schema(document)


@pytest.mark.parametrize(
    ("reset", "offsets", "lag"),
    [
        ("latest", {"beginning": 3, "end": 10, "committed": 4}, 6),
        ("latest", {"beginning": 3, "end": 10, "committed": None}, 0),
        ("latest", {"end": 10}, 0),
        (None, {"beginning": 3, "end": 10}, 0),
        ("earliest", {"beginning": 3, "end": 10, "committed": None}, 7),
        ("earliest", {"beginning": 3, "end": 10, "committed": 4}, 6),
        ("none", {"beginning": 3, "end": 10}, -1),
        ("none", {"beginning": 3, "end": 10, "committed": 4}, 6),
        ("by_duration:P1D", {"beginning": 3, "end": 10}, -1),
        ("earliest", {"beginning": None, "end": 10, "committed": None}, -1),
        ("earliest", {"end": 10, "committed": 4}, 6),
        ("latest", {"beginning": 3, "end": None, "committed": 4}, -1),
        ("latest", {"beginning": 3, "end": None, "committed": None}, 0),
        ("latest", {}, 0),
        (None, {}, 0),
        ("earliest", {}, -1),
        ("earliest", {"beginning": 3, "end": None}, -1),
        ("latest", {"beginning": 3, "end": 10, "committed": 12}, 0),
        ("earliest", {"beginning": 12, "end": 10}, 0),
        ("latest", {"beginning": 0, "end": 2**63 - 1, "committed": 0}, 2**63 - 1),
    ],
)
def test_lag_is_what_kip_169_says(reset, offsets, lag):
    document = changed("topics.t2.offsets", [offsets]) | {"auto_offset_reset": reset}
    assert Group.from_dict(document).lag_records[-1] == lag
    back = Group.from_dict(document).to_dict()
    nulls = dict.fromkeys(("beginning", "end", "committed"))
    assert back["topics"]["t2"]["offsets"] == [nulls | offsets]


# Values of a wrong type or size; the message shows each as JSON.
KINDS = {
    "expected an object": [
        ("topics", ["t0"]), ("members", []), ("members.c0", None), ("members.c0.owned", ["t0"]),
    ],
    "expected a list": [
        ("topics.t1.lag", 5), ("topics.t1.racks[2]", "a"), ("members.c0.subscription", "t0"),
    ],
    "expected a non-empty string": [
        ("group", ""), ("group", 5), ("captured_at", 12), ("assumed[0]", 1),
        ("topics.t1.racks[2][0]", ""), ("members.c0.subscription[1]", ""), ("members.c0.rack", ""),
    ],
    "expected an integer of 0 or more": [
        ("topics.t1.weight[0]", None), ("members.c0.owned.t0[1]", "1"),
        ("topics.t0", -2), ("topics.t1.partitions", -3), ("topics.t1.lag[1]", -1),
        ("topics.t2.offsets[0].end", -1), ("members.c0.owned.t0[0]", -1),
        ("members.c1.target.t1[0]", -4),
    ],
    "expected an integer of -1 or more": [
        ("members.c0.generation", -2), ("members.c0.generation", 1.5),
    ],
    "expected an integer of 1 or more": [("members.c1.capacity", 0)],
    "expected a partition count or an object": [
        ("topics.t0", 2.5), ("topics.t0", True), ("topics.t0", "2"),
    ],
}  # fmt: skip
REFUSED = [
    *(
        (at, value, f"{at}: {json.dumps(value)}, {kind}")
        for kind in KINDS
        for at, value in KINDS[kind]
    ),
    ("format", "assay-group/2", "format: 'assay-group/2', expected 'assay-group/1'"),
    (
        "auto_offset_reset",
        "boo",
        "auto_offset_reset: 'boo', expected latest, earliest, none or by_duration:DURATION",
    ),
    *((key, ..., f"key '{key}' is missing") for key in ("format", "group", "topics", "members")),
    ("topics.t1.partitions", ..., "topics.t1: key 'partitions' is missing"),
    ("topic", {}, "unknown key 'topic'"),
    ("topics.t1.replicas", 3, "topics.t1: unknown key 'replicas'"),
    ("members.c0.subscriptions", [], "members.c0: unknown key 'subscriptions'"),
    ("topics.t2.offsets[0].start", 0, "topics.t2.offsets[0]: unknown key 'start'"),
    ("topics.", 1, 'topics: "", expected a non-empty string'),
    ("members.", {}, 'members: "", expected a non-empty string'),
    ("topics.t0", 10**8 + 1, "topics.t0: 100000001 partitions, more than are supported"),
    ("topics.t0", 2**63, "topics.t0: 9223372036854775808 leaves 64 bits"),
    ("topics.t1.lag[0]", 2**63, "topics.t1.lag[0]: 9223372036854775808 leaves 64 bits"),
    (
        "members.c0.owned.t0[1]",
        2**64,
        "members.c0.owned.t0[1]: 18446744073709551616 leaves 64 bits",
    ),
    ("members.c0.generation", 2**63, "members.c0.generation: 9223372036854775808 leaves 64 bits"),
    ("topics.t2.lag", [0], "topics.t2: both lag and offsets, expected one of them"),
    (
        "topics.t1.weight[0]",
        float("inf"),
        "topics.t1.weight[0]: inf, expected an integer of 0 or more",
    ),
    ("topics.t1.racks[2]", ["a", "a"], "topics.t1.racks[2]: 'a' appears twice"),
    ("members.c0.owned.t0", [1, 1], "members.c0.owned.t0: partition 1 appears twice"),
    ("members.c0.subscription", ["t0", "t0"], "members.c0.subscription: 't0' appears twice"),
    ("members.c0.assignors", ["range", "range"], "members.c0.assignors: 'range' appears twice"),
    (
        "topics.t0",
        ["x" * 200],
        f'topics.t0: ["{"x" * 55}..., expected a partition count or an object',
    ),
]
# Lengths that hang together, valid Unicode.
BEYOND_THE_SCHEMA = [
    ("topics.t1.lag", [1, 2], "topics.t1.lag: 2 values, but t1 has 3 partitions"),
    ("topics.t1.weight", [1] * 4, "topics.t1.weight: 4 values, but t1 has 3 partitions"),
    ("topics.t1.racks", [], "topics.t1.racks: 0 values, but t1 has 3 partitions"),
    ("topics.t2.offsets", [{}, {}], "topics.t2.offsets: 2 values, but t2 has 1 partition"),
    ("topics.t1.lag[0]", 1.0, "topics.t1.lag[0]: 1.0, expected an integer of 0 or more"),
    ("topics.\ud800", 1, r"topics: '\ud800' is not valid Unicode"),
    ("members.c\udfff", {}, r"members: 'c\udfff' is not valid Unicode"),
    (
        "members.c0.subscription[0]",
        "\ud800",
        r"members.c0.subscription[0]: '\ud800' is not valid Unicode",
    ),
    ("group", "\ud800x", r"group: '\ud800x' is not valid Unicode"),
    ("members.c0.owned.\ud800", [], r"members.c0.owned: '\ud800' is not valid Unicode"),
]


@pytest.mark.parametrize(
    ("place", "value", "reason", "fits"),
    [(*one, fits) for fits, some in enumerate((REFUSED, BEYOND_THE_SCHEMA)) for one in some],
    ids=[reason for _, _, reason in REFUSED + BEYOND_THE_SCHEMA],
)
def test_a_bad_document_is_refused_in_one_line_and_by_the_schema_where_it_can_say_so(
    tmp_path, place, value, reason, fits
):
    document = changed(place, value)
    with pytest.raises(BadInput) as caught:
        Group.from_dict(document)
    assert str(caught.value) == reason
    assert in_schema(document) == bool(fits)
    path = written(tmp_path, json.dumps(document))
    with pytest.raises(BadInput, match=rf"^{path}: .{{1,199}}$"):
        Group.read(path)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([EVERYTHING], r"^\[.*, expected an object$"),
        (None, "^null, expected an object$"),
        (
            changed("topics.t0", 10**5000),
            r"^topics\.t0: an integer of 16610 bits leaves 64 bits$",
        ),
        (
            changed("topics", {f"t{i}": 10**8 for i in range(100)}),
            r"^topics: 10000000000 partitions, more than the 100000000",
        ),
    ],
    ids=["list", "null", "digits", "sum"],
)
def test_what_no_text_can_show_or_no_machine_can_hold_is_refused(document, message):
    with pytest.raises(BadInput, match=message):
        Group.from_dict(document)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\x0b", "\x85", "\u2028"])
def test_a_name_with_a_line_end_makes_no_second_line(end):
    for document in (
        changed(f"topics.t{end}x", -1),
        changed(f"members.c{end}x", None),
        changed(f"members.c0.owned.t{end}x", [-1]),
        changed(f"key{end}x", 1),
    ):
        with pytest.raises(BadInput, match=r"\\") as caught:
            Group.from_dict(document)
        assert len(str(caught.value).splitlines()) == 1
    group = Group.from_dict(changed(f"members.a{end}x", {}))
    with pytest.raises(BadInput, match=r"^members\.a\\.*x\.subscription: unknown") as caught:
        group.require_subscriptions()
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty, expected a snapshot"),
        (" \n\t\n", "empty, expected a snapshot"),
        ("{", "line 1 column 2: not JSON: Expecting property name enclosed in double quotes"),
        ('{"format": "assay-group/1",\n "group": }', "line 2 column 11: not JSON: Expecting valu"),
        ("GROUP TOPIC PARTITION\n", "line 1 column 1: not JSON: Expecting value"),
        ('{"group": NaN}', "not JSON: NaN is no number"),
        ('{"group": [-Infinity]}', "not JSON: -Infinity is no number"),
        (f'{{"group": {"9" * 5000}}}', "not JSON: a number of more than 4300 digits"),
        ("[" * 100_000, "not a snapshot: nested too deeply"),
        ('{"a":' * 100_000, "not a snapshot: nested too deeply"),
        ("[" * 500 + "]" * 500, r"\[\[\[.*\.\.\., expected an object"),
        ('{"group": "g", "group": "h"}', "key 'group' appears twice"),
        ("{} {}", "line 1 column 4: not JSON: Extra data"),
    ],
)
def test_a_text_that_is_no_snapshot_is_refused_with_file_and_place(tmp_path, text, message):
    path = written(tmp_path, text)
    with pytest.raises(BadInput, match=f"^{path}(:1)?: {message}") as caught:
        Group.read(path)
    assert len(str(caught.value).splitlines()) == 1


def test_one_group_of_a_jsonl_file_is_read_and_several_are_sent_to_run(tmp_path):
    assert (
        Group.read(written(tmp_path, KNOWN[0] + "\n", "one.jsonl")).name
        == "sticky-javadoc-1-fresh"
    )
    with pytest.raises(BadInput, match="groups, expected one; read_groups takes"):
        Group.read(written(tmp_path, "\n".join(KNOWN[:3]), "three.jsonl"))
    with pytest.raises(BadInput, match=r"bad\.jsonl:2: line \d column \d: not JSON"):
        Group.read(written(tmp_path, '\n{"a": \n', "bad.jsonl"))


def test_a_dash_reads_standard_input(monkeypatch):
    def stdin(text: str) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    stdin(json.dumps(EVERYTHING))
    assert Group.read("-").name == "orders"
    stdin("")
    with pytest.raises(BadInput, match=r"^standard input: empty, expected a snapshot$"):
        Group.read("-")
