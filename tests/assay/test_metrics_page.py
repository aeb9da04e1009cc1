"""The page on Prometheus, its alerts and its dashboard name what is served, and nothing else."""

import json
import re
from functools import cache
from pathlib import Path

import pytest
import yaml

from assay.commands.watch import Watched
from assay.metrics import GAUGES, Metrics
from compare.verdict import SHOWN
from groups.documents.assay_group import of_mapping
from groups.errors import Failure
from groups.importers import Imported
from live.capture import Captured
from live.watch import Look
from tests.assay.calling import LATE

AT = "2026-11-20T10:00:00Z"
HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"
PAGE = (HOW_TO / "watch-with-prometheus.md").read_text("utf-8")
RULES = yaml.safe_load((HOW_TO / "assay-alerts.yml").read_text("utf-8"))["groups"][0]["rules"]
DASHBOARD = json.loads((HOW_TO / "assay-dashboard.json").read_text("utf-8"))
# The labels that Prometheus adds to every series of a target.
OF_TARGETS = {"job", "instance"}
REASONS = {"rebalancing", "state", "error", "judgement"}
VALUES = {"verdict": {*SHOWN}, "reason": REASONS}


@cache
def served() -> dict[str, tuple[str, tuple[str, ...], str]]:
    """Return the type, labels and help of each metric, by its name in a scrape."""
    page = Metrics()
    failure = Failure("there", "there", "not described", "secret")
    captured = Captured(
        (Imported(of_mapping(LATE | {"captured_at": AT}), ("there",)),), (failure,)
    )
    watched = Watched(("balance", "stickiness"), None, page, quiet=True)
    watched.take_in(Look(AT, captured))
    return {
        f"{one.name}_total" if one.type == "counter" else one.name: (
            one.type,
            tuple(one.samples[0].labels),
            one.documentation,
        )
        for one in page.collect()
    }


def labels_of() -> dict[str, set[str]]:
    """Return the labels of each series, by its name."""
    found = {}
    for name, (kind, labels, _) in served().items():
        for end in ("_sum", "_count") if kind == "summary" else ("",):
            found[f"{name}{end}"] = {*labels} | OF_TARGETS
    return found


def wrong_in(expression: str) -> list[str]:
    """Return the metrics, labels and values in an expression that do not exist."""
    known = labels_of()
    wrong = [name for name in re.findall(r"\bassay_\w+", expression) if name not in known]
    for name, matchers in re.findall(r"\b(assay_\w+)\{([^}]*)\}", expression):
        for label, sign, value in re.findall(r'(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"', matchers):
            wrong += [] if label in known.get(name, {label}) else [f"{name}{{{label}}}"]
            values = value.split("|") if "~" in sign else [value]
            if label in VALUES:
                wrong += [one for one in values if one not in VALUES[label]]
    every = set().union(*(known.get(name, set()) for name in re.findall(r"assay_\w+", expression)))
    for listed in re.findall(r"\b(?:by|on|group_left)\s*\(([^)]*)\)", expression):
        wrong += [label for label in re.findall(r"\w+", listed) if label not in every]
    return wrong


def targets() -> list[dict]:
    return [one for panel in DASHBOARD["panels"] for one in panel["targets"]]


@pytest.mark.parametrize(
    ("expression", "wrong"),
    [
        ("assay_group_lag > 0", ["assay_group_lag"]),
        ('assay_captures_total{group="g"}', ["assay_captures_total{group}"]),
        ("sum by (topic) (assay_group_moves)", ["topic"]),
        ('assay_group_verdict{verdict="bad"} == 1', ["bad"]),
        ('assay_group_failures_total{reason=~"error|gone"}', ["gone"]),
        ("rate(assay_judgement_seconds[5m])", ["assay_judgement_seconds"]),
    ],
)
def test_an_expression_about_what_is_not_there_is_found(expression, wrong):
    assert wrong_in(expression) == wrong


def test_the_table_has_every_metric_as_a_scrape_tells_it():
    rows = re.findall(r"^\| `(assay_\w+)` \| (\w+) \| (.*?) \| (.*) \|$", PAGE, re.MULTILINE)
    table = {name: (kind, tuple(re.findall(r"\w+", of)), says) for name, kind, of, says in rows}
    assert table == served()


def test_the_page_says_how_many_series_a_thousand_groups_make_at_most():
    # Of a group: each gauge, each verdict, and the time of its capture.
    assert f"up to {len(GAUGES) + len(SHOWN) + 1},000 series" in PAGE


def test_the_page_has_every_reason_and_it_and_others_have_every_verdict():
    assert [one for one in REASONS if f"`{one}`" not in PAGE] == []
    for page in ("watch-with-prometheus", "score-my-group", "../reference/formats"):
        words = " ".join((HOW_TO / f"{page}.md").read_text("utf-8").split())
        assert [(page, one) for one in SHOWN if f"`{one}`" not in words] == []


def test_alerts_name_only_what_is_served_and_the_page_has_them_all():
    assert [wrong_in(rule["expr"]) for rule in RULES] == [[]] * len(RULES)
    for rule in RULES:
        assert rule["labels"]["severity"] in ("warning", "critical")
        said = set(re.findall(r"\$labels\.(\w+)", str(rule["annotations"])))
        assert said <= OF_TARGETS | {"group"}
    assert re.findall(r"^\| `(Assay\w+)`", PAGE, re.MULTILINE) == [rule["alert"] for rule in RULES]


def test_no_alert_says_of_long_what_was_seen_for_a_moment():
    """A group that was not valid for a minute, and was then deleted, raised one 10 minutes later.

    So did a KIP-848 group that was new and rebalanced once: of its own samples that was most.
    """
    for rule in RULES:
        assert "avg_over_time" not in rule["expr"]
        for minutes in re.findall(r"last_over_time\([^)]*\[(\d+)m\]\)", rule["expr"]):
            assert int(minutes) * 5 <= int(rule["for"].removesuffix("m")), rule["alert"]


def test_the_dashboard_names_only_what_is_served_and_shows_every_metric_of_groups():
    assert {str(wrong_in(one["expr"])) for one in targets()} == {"[]"}
    text = " ".join(one["expr"] for one in targets())
    proofs = {"assay_group_balance_best_proved", "assay_group_peak_lag_least_proved"}
    of_groups = {name for name in served() if name.startswith("assay_group_")}
    left_out = {name for name in of_groups if not re.search(rf"\b{name}\b", text)}
    assert left_out == proofs | {
        "assay_group_partitions",
        "assay_group_captured_timestamp_seconds",
    }
    for one in targets():
        named = set(re.findall(r"{{(\w+)}}", one["legendFormat"]))
        assert named <= set().union(*labels_of().values())


def test_the_dashboard_can_be_imported_with_any_data_source():
    variables = {one["name"]: one for one in DASHBOARD["templating"]["list"]}
    assert (DASHBOARD["schemaVersion"], variables["datasource"]["query"]) == (39, "prometheus")
    used = set(re.findall(r"\$(?!__)\{?(\w+)", json.dumps(DASHBOARD)))
    assert used == variables.keys()
    for one in (*DASHBOARD["panels"], *targets()):
        assert one["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
    for name, one in variables.items():
        assert name == "datasource" or wrong_in(one["definition"]) == []
    places = [tuple(panel["gridPos"].values()) for panel in DASHBOARD["panels"]]
    taken = [
        (column, row)
        for x, y, width, height in places
        for column in range(x, x + width)
        for row in range(y, y + height)
    ]
    assert len(taken) == len({*taken})
    assert max(column for column, _ in taken) == 23
