"""assay export: the files that it writes, and what it refuses."""

import json

import pytest

from tests.assay.calling import assay


@pytest.mark.parametrize(("syntax", "begins"), [("lp", r"\* assignment"), ("mps", "*SENSE:Min")])
def test_a_program_and_what_its_names_mean_are_two_files(folder, tmp_path, syntax, begins):
    out = tmp_path / f"orders.{syntax}"
    run = assay("export", folder / "orders.json", f"--{syntax}", "-o", out)
    assert (run.returncode, run.stdout) == (0, "")
    assert run.stderr == f"what the names mean: {out}.json\n"
    text = out.read_text()
    assert text.startswith(begins)
    legend = json.loads((tmp_path / f"orders.{syntax}.json").read_text())
    assert list(legend) == [
        "format", "group", "formulation", "minimised", "measure", "relation", "offset", "held",
        "variables",
    ]  # fmt: skip
    assert (legend["format"], legend["formulation"]) == ("assay-model/1", "ilp")
    assert legend["relation"].startswith("the assignments in which the measure is least are ")
    assert legend["variables"]["p4_m1"] == {"member": "c1", "partitions": [["t1", 2]]}
    assert all(name in text for name in legend["variables"])


def test_cp_sats_program_is_text_and_binary_where_the_file_ends_with_pb(folder, tmp_path):
    for name in ("orders.pb", "orders.txt"):
        run = assay("export", folder / "orders.json", "--proto", "-o", tmp_path / name)
        assert run.returncode == 0
    assert (tmp_path / "orders.txt").read_text().startswith("variables {")
    assert b"variables {" not in (tmp_path / "orders.pb").read_bytes()
    legends = [(tmp_path / f"orders.{end}.json").read_text() for end in ("pb", "txt")]
    assert legends[0] == legends[1]
    legend = json.loads(legends[0])
    assert legend["formulation"] == "cp-sat"
    assert legend["variables"]["p2_m0"]["partitions"] == [["t1", 0], ["t1", 1], ["t1", 2]]


def test_on_standard_output_one_line_says_how_to_get_the_meaning(folder, tmp_path):
    run = assay("export", folder / "orders.json", "--lp", "--tier", "2")
    assert run.returncode == 0
    assert run.stderr == (
        "what the names mean: add -o FILE, which writes FILE.json too, or --map FILE\n"
    )
    assert "Minimize\nOBJ: p2_m1 + p3_m1 + p4_m1\n" in run.stdout
    told = ("--tier", "2", "--map", tmp_path / "map")
    assert assay("export", folder / "orders.json", "--lp", *told).returncode == 0
    legend = json.loads((tmp_path / "map").read_text())
    assert legend["held"] == [{"tier": "balance", "measure": "sum of squared loads", "value": 13}]
