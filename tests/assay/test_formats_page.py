"""docs/reference/formats.md names every key, and its examples are what they say."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from assay.commands.run import run_document
from compare.fleet.results import Ending, RunCounts
from compare.fleet.tables import TABLES
from compare.history import Trend
from compare.judged import judge
from compare.over_groups import NotScored
from compare.overview import overview_of
from groups import Group
from groups.errors import Failure
from groups.table.layout import LAYOUT
from optimal import solve
from tests.assay.calling import LOPSIDED, assay, document_of, good, one_after_the_other, write
from tests.groups.table.test_rows import said

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "formats.md").read_text(encoding="utf-8")
SCHEMA = json.loads((ROOT / "groups/documents/assay-group-1.schema.json").read_text())
OF_STREAMS = json.loads((ROOT / "groups/documents/assay-streams-1.schema.json").read_text())
SECTIONS = dict(re.findall(r"^## [^`\n]*`(assay-[a-z-]+/1)`\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S))
SNAPSHOT, STREAMS, GROUP, SOLUTION, SCORES, DIFF = map(
    json.loads, re.findall(r"^```json\n(\{\"format.*?)^```$", PAGE, re.M | re.S)
)
# Members, topics and tiers are keys of some objects, too.
NAME = re.compile(r"[ctmpv]?\d|p\d_m\d|stickiness|zone")


def keys_in(document: object) -> set[str]:
    """Return all keys of a document that are not names of topics, members and the like."""
    if isinstance(document, list):
        return set().union(*map(keys_in, document))
    if not isinstance(document, dict):
        return set()
    own = {key for key in document if not NAME.fullmatch(key)}
    return own.union(*map(keys_in, document.values()))


def properties_of(schema: object) -> set[str]:
    if isinstance(schema, list):
        return set().union(*map(properties_of, schema))
    if not isinstance(schema, dict):
        return set()
    return set(schema.get("properties", ())).union(*map(properties_of, schema.values()))


def explained(section: str) -> set[str]:
    """Return the keys that the tables of a section explain."""
    rows = re.findall(r"^\| *(?!key)(.*)\|$", SECTIONS[section], re.M)
    return set(re.findall(r"`(\w+)`", "\n".join(rows)))


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> dict:
    """The documents that the commands print for the page's group, by command."""
    lag = {"t0": {"partitions": 2, "lag": [9, 5]}, "t1": {"partitions": 3, "lag": [1, 2, 3]}}
    files = {
        "orders.json": GROUP,
        "solution.json": SOLUTION,
        "plan.json": {"c0": {"t0": [0], "t5": [0]}, "c1": {"t0": [0], "t1": [0]}},
        "lagging.json": GROUP | {"topics": lag | {"t9": 1}},
        "lopsided.json": LOPSIDED,
        "streams.json": STREAMS,
        "weighing.json": {
            "format": "assay-group/1",
            "group": "orders",
            "topics": {"t0": {"partitions": 2, "weight": [9, 5]}},
            "members": {"c0": {"subscription": ["t0"]}, "c1": {"subscription": ["t0"]}},
        },
    }
    folder = write(tmp_path_factory.mktemp("page"), files)
    as_json = ("--format", "json")
    calls = {
        "solve": ("solve", "orders.json", *as_json),
        "within": ("solve", "orders.json", "--at-most", "stickiness=0", *as_json),
        "score": ("score", "orders.json", "--assignor", "range", *as_json),
        "plan": ("score", "orders.json", "--plan", "plan.json", *as_json),
        "tasks": ("score", "streams.json", *as_json),
        "assignors": ("assignors", *as_json),
        "frontier": ("frontier", "orders.json", "balance", "stickiness", *as_json),
        "worth": ("solve", "lagging.json", "--only-if-peak-falls", "1%", *as_json),
        "advise": ("advise", "lopsided.json", "--assignor", "range", *as_json),
        "size": ("size", "lagging.json", "--target", "peak_time=9", "--rate", "2", *as_json),
        "fit": ("size", "weighing.json", "--capacity", "9", *as_json),
        "pods": ("size", "weighing.json", "--threads", "2", *as_json),
        "lag": ("score", "lagging.json", "--rate", "2", "--assignor", "range", *as_json),
        "diff": ("diff", "orders.json", "solution.json", *as_json),
        "double": ("diff", "plan.json", "orders.json", *as_json),
    }
    runs = one_after_the_other(calls, folder)
    # A plan that is not valid is scored, and the exit code says so.
    assert runs["plan"].returncode == 1
    told = {name: document_of(run if name == "plan" else good(run)) for name, run in runs.items()}
    assay("export", "orders.json", "--lp", "-o", "model.lp", cwd=folder)
    told["model"] = json.loads((folder / "model.lp.json").read_text())
    told["conformance"] = document_of(assay("conformance", "range", "--groups", "3", *as_json))
    return told


def test_every_key_of_the_schema_is_explained():
    for format_, schema in (("assay-group/1", SCHEMA), ("assay-streams/1", OF_STREAMS)):
        assert properties_of(schema) - explained(format_) == set(), format_


@pytest.mark.parametrize(
    ("format_", "beginning", "name"),
    [
        ("assay-group/1", "The group:", None),
        ("assay-group/1", "A topic is", "Topic"),
        ("assay-group/1", "A member, all", "Member"),
        ("assay-streams/1", "The group:", None),
        ("assay-streams/1", "A subtopology:", "Subtopology"),
        ("assay-streams/1", "A member, which", "StreamsMember"),
    ],
)
def test_a_table_of_the_snapshot_has_the_keys_of_the_schema_and_says_which_may_be_left_out(
    format_, beginning, name
):
    schema = SCHEMA if format_ == "assay-group/1" else OF_STREAMS
    schema = schema if name is None else schema["$defs"][name]
    table = SECTIONS[format_].partition(beginning)[2].partition("\n\n")[2]
    cells = [row.split(" | ") for row in table.partition("\n\n")[0].splitlines()[2:]]
    keys = {key: row for row in cells for key in re.findall(r"`(\w+)`", row[0])}
    assert keys.keys() == schema["properties"].keys()
    needed = {key for key, row in keys.items() if len(row) > 3 and row[2] == "an error"}
    assert needed == set(schema.get("required", ()))


def test_every_key_that_is_written_or_of_an_example_is_explained(written):
    elsewhere = {"group", "streams", "finding", "task-finding", "run"}
    formats = {document["format"] for document in written.values()}
    assert formats | {f"assay-{name}/1" for name in elsewhere} == SECTIONS.keys()
    for document in (*written.values(), SNAPSHOT, STREAMS, GROUP, SOLUTION, SCORES, DIFF):
        format_ = document["format"]
        assert keys_in(document) - explained(format_) == set(), format_


def test_every_key_of_a_finding_is_explained():
    for name in ("findings", "task-findings"):
        for line in (ROOT / "corpus" / f"{name}.jsonl").read_text("utf-8").splitlines():
            document = json.loads(line)
            assert document.keys() <= explained(document["format"])


def test_every_key_of_the_end_of_a_run_is_explained():
    overview = overview_of(judge([Group.from_dict(LOPSIDED)]))
    overview = replace(overview, changes=[Trend("orders", "lag", 1, 2, 3)])
    unread, missed = Failure("a", "a", "cut", None), NotScored(("range",), 1, "refused", "no lag")
    found = Ending(overview, 1, (1, (unread,)), (missed,))
    document = run_document(RunCounts("out", found, 1, 0.1, "run"), ("balance",), "in")
    rows = [document[name][0] for name in ("changes", "worst", "not_scored", "failures")]
    assert set().union(document, *rows) <= explained("assay-run/1")


def test_the_first_snapshot_has_every_key_of_the_format():
    group = Group.from_dict(SNAPSHOT)
    assert keys_in(SNAPSHOT) == properties_of(SCHEMA)
    assert keys_in(STREAMS) == properties_of(OF_STREAMS)
    assert Group.from_dict(STREAMS).owned.tolist() == [3, 2]
    assert (group.name, len(group.members), group.n_partitions) == ("orders", 2, 6)


def without_seconds(document: dict) -> dict:
    return json.loads(re.sub(r'"seconds": [\d.e-]+', '"seconds": 0', json.dumps(document)))


def test_the_examples_are_what_the_commands_print(written):
    for example, name in ((SOLUTION, "solve"), (SCORES, "score"), (DIFF, "diff")):
        assert without_seconds(example) == without_seconds(written[name])


def test_the_example_of_the_proof_is_worked_out_as_it_says():
    page = (ROOT / "docs" / "explanation" / "proof.md").read_text(encoding="utf-8")
    example = page.partition("## An example by hand")[2].partition("\n## ")[0]
    (block,) = re.findall(r"^```json\n(.*?)^```$", example, re.M | re.S)
    group = Group.from_dict(json.loads(block))
    solution = solve(group)
    rows = re.findall(r"^\| (c\d) \| (.*?) \| (.*) \|$", example, re.M)
    held = solution.assignment.to_dict()
    assert [name for name, _, _ in rows] == list(group.members)
    for m, (name, names, numbers) in enumerate(rows):
        assert names == ", ".join(f"{t}-{n}" for t, ns in held[name].items() for n in ns)
        level, price = solution.proof.level[m], solution.proof.price[m]
        load = solution.assignment.loads[m]
        expected = [load, level, max(level, 0), level + 1, price]
        assert [int(number) for number in numbers.split(" | ")] == expected


@pytest.mark.parametrize("name", TABLES)
def test_every_column_of_a_table_of_a_run_is_explained_with_its_type(name):
    section = re.search(rf"^### `{name}`\n(.*?)(?=^##|\Z)", PAGE, re.M | re.S)[1]
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+?) \| .*\|$", section, re.M)
    columns = [field for field in TABLES[name] if name != "groups" or field not in LAYOUT]
    assert [(column, kind) for column, kind, _ in rows] == [
        (field.name, said(field.type)) for field in columns
    ]
    assert all(null for *_, null in rows)
