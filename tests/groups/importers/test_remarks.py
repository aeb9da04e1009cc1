from __future__ import annotations

from itertools import product

import pytest

from groups.errors import BadInput
from groups.importers import import_each
from tests.groups.importers.imported import import_texts, squeezed, text_of

DESCRIBE = text_of("4.3.1/coop-a-describe.txt")
OTHER = text_of("4.3.1/next-b-members-verbose.txt")
LIST = text_of("4.3.1/list-state-type.txt")
OLD = text_of("3.6.2/coop-a-members-verbose.txt")
STATE = text_of("4.3.1/coop-a-state.txt")
SETLOCALE = "bash: warning: setlocale: LC_ALL: cannot change locale (de_DE.UTF-8)"
SAID = [
    SETLOCALE,
    "NOTE: Picked up JDK_JAVA_OPTIONS: -Xmx512m -Dfile.encoding=UTF-8",
    "WARNUNG: eine Option ist veraltet",
    "Warnung: eine Option ist veraltet und wird bald entfernt werden",
    "Defaulting container name to kafka.",
    "Option --zookeeper is deprecated",
    "Fri Nov 20 10:00:00 CET 2026",
    "Connecting to broker-1.example.org:9092 as user kafka",
]
ROW = next(line for line in DESCRIBE.split("\n") if line.startswith("coop-a"))


@pytest.mark.parametrize("said", [*SAID, "Password:"])
@pytest.mark.parametrize("at", [0, 3, 6, 16])
def test_what_a_shell_says_before_the_first_table_or_between_rows_costs_no_group(said, at) -> None:
    if said == "Password:" and at:
        return  # It may be a piece of a row.
    (alone,) = import_texts([("a.txt", DESCRIBE.encode())])
    lines = DESCRIBE.split("\n")
    lines.insert(at, said)
    (document,) = import_texts([("a.txt", "\n".join(lines).encode())])
    line = f"passed over as no part of a table, 1 line: a.txt:{at + 1}: {said!r}"
    assert document == alone | {"assumed": [*alone["assumed"], line]}


def test_of_several_lines_passed_over_the_first_is_told_and_those_of_topics_of_the_groups() -> (
    None
):
    topics = f"{SETLOCALE}\n{text_of('4.3.1/topics-describe.txt')}"
    text = f"{SETLOCALE}\n" * 1200 + DESCRIBE
    (document,) = import_texts([("a.txt", text.encode()), ("topics.txt", topics.encode())])
    several, one = document["assumed"][-2:]
    said = "passed over as no part of a table, 1,200 lines, the first: a.txt:1: 'bash: warning"
    assert several.startswith(said)
    assert one.startswith("passed over as no part of a table, 1 line: topics.txt:1")


@pytest.mark.parametrize(
    "line",
    [
        ROW,
        squeezed(ROW),
        ROW[:30],
        "coop-a t0 0",
        "t0 0 300 1200 900 coop-1 /127.0.0.1 coop-1",
        "coop-a,t0,0,300,1200,900,coop-1,/127.0.0.1,coop-1",
        "| coop-a | t0 | 0 | 300 |",
        "coop-a coop-1-e7b027b4-516a-4b52-9da9-97536dd7038d /127.0.0.1 coop-1",
        "coop-a coop-1-e7b027b4-516a-4b52-9da9",
        "coop-a XVCxw8YdTCuBtphL3tJwhA",
        "coop-a m /h c 2 t0:0,1",
        "coop-a m /h c 2 t0(0,1)",
        "t0(0,1), t1(3)",
        "coop-a kafka:9092 (1) range Stable 4",
        "orders:0:1200",
        "coop-a Classic Stable",
        '{"group": "coop-a"}',
        '"partition": 0,',
        "group=coop-a  topic=t0",
        "ROUP TOPIC PARTITION CURRENT-OFFSET",
        "GROUPTOPICPARTITION",
        "GROUP",
        "TOPIC",
        "HOST LAG",
        "| GROUP | TOPIC |",
        "P TOPIC PARTI LAG",
        "el-j' is rebalancing.",
        "Consumer group `coop-a` left",
        "opic: t0 PartitionCount: 6 ReplicationFactor: 1",
    ],
)
def test_what_may_be_a_row_or_a_header_is_refused_and_what_follows_is_not_read(line: str) -> None:
    imported, failures = import_each([("a.txt", f"{line}\n{DESCRIBE}".encode())])
    assert not imported
    assert failures[0].place == "a.txt:1"
    imported, failures = import_each([("a.txt", f"{DESCRIBE}{line}\n".encode())])
    assert failures or line == ROW


def test_a_table_whose_header_is_lost_is_refused_however_its_cells_are_set() -> None:
    headless = "a row without its header: copy the line that begins with GROUP too"
    prompt = "$ kafka-consumer-groups.sh --describe\n"
    for text in (DESCRIBE, OTHER, OLD, LIST):
        lost = "expected a table of --describe or nothing" if text is LIST else headless
        rows = text.strip().split("\n", 1)[1]
        for above, kept, below in product(("", prompt), (rows, squeezed(rows)), (STATE, LIST)):
            given = f"{above}{kept}\n{below}"
            imported, failures = import_each([("a.txt", given.encode())])
            assert (imported, failures[0].place) == ([], f"a.txt:{1 + bool(above)}")
            assert lost in failures[0].reason


@pytest.mark.parametrize(
    "line",
    [
        "1 coop-1",
        "p-1",
        "coop-a and some words of a row that is damaged",
        "27.0.0.1 coop-1",
        ROW[:60],
        ROW[:70],
        squeezed(ROW)[:40],
        *("...", "[...]", "<snip>", "<cut>"),
    ],
)
def test_between_rows_what_may_be_a_piece_of_one_costs_its_table(line: str) -> None:
    lines = DESCRIBE.split("\n")
    lines.insert(6, line)
    says = r"\d+ columns?, but the header has 9|'.*' is no row of the table above: delete the line"
    with pytest.raises(BadInput, match=rf"^a\.txt:7: ({says})"):
        import_texts([("a.txt", "\n".join(lines).encode())])


def test_a_text_with_nothing_but_a_header_and_remarks_is_refused_at_the_first() -> None:
    header = next(line for line in DESCRIBE.split("\n") if line.startswith("GROUP"))
    with pytest.raises(BadInput, match=r"^a\.txt:2: 'bash: .*', expected a table of --describe"):
        import_texts([("a.txt", f"{header}\n{SETLOCALE}\n".encode())])


TRACE = (
    "\nError: Executing consumer group command failed due to GroupId c is not one\n"
    "java.util.concurrent.ExecutionException: java.lang.IllegalArgumentException: GroupId c\n"
    "\tat java.base/java.util.concurrent.CompletableFuture.get(CompletableFuture.java:2096)\n"
    "Caused by: java.lang.IllegalArgumentException: GroupId c\n\t... 9 more\n"
)


@pytest.mark.parametrize(
    ("text", "groups", "place", "group", "reason"),
    [
        (f"Warning: Consumer group 'coop-a' is rebalancing.\n{DESCRIBE}{OTHER}", ["next-b"],
         "a.txt:1", "coop-a", "capture it again once its state is Stable"),
        (f"{TRACE}{DESCRIBE}", ["coop-a"], "a.txt:2", None, "the tool ended with an error: "),
        (f'{DESCRIBE}Exception in thread "main" java.lang.NoClassDefFoundError: kafka/Kafka\n',
         ["coop-a"], "a.txt:17", None, "ended with an error: Exception in thread"),
    ],
)  # fmt: skip
def test_what_a_tool_says_of_one_group_spares_the_tables_of_others(
    text: str, groups: list[str], place: str, group: str | None, reason: str
) -> None:
    imported, (failure,) = import_each([("a.txt", text.encode())])
    assert [one.document["group"] for one in imported] == groups
    assert (failure.place, failure.group) == (place, group)
    assert reason in failure.reason
