"""``assay conformance`` beside the call that docs/findings/conformance.md shows."""

import json

from tests.assay.calling import assay

QUICK = ("--groups", "12", "--promise", "valid", "--promise", "idempotent")


def test_one_that_keeps_its_promises_has_exit_code_0_and_the_same_as_json():
    run = assay("conformance", "sticky-that-ends", *QUICK, "--format", "json")
    assert run.returncode == 0
    told = json.loads(run.stdout)
    assert told["format"] == "assay-conformance-result/1"
    assert (told["assignor"], told["groups"]) == ("sticky-that-ends", 12)
    assert [row["promise"] for row in told["promises"]] == ["valid", "idempotent"]
    for row in told["promises"]:
        assert row["kept"]
        assert not row["broken"]


def test_promises_that_an_assignor_is_not_known_to_make_are_left_out_by_name():
    run = assay("conformance", "range", "--groups", "5")
    assert "balanced" not in run.stdout
    assert run.stderr.splitlines()[-1] == (
        "not asked: settles, balanced, optimal-balance, optimal-moves, racks, which range is not "
        "known to promise; --promise asks for one"
    )


def test_the_corpus_in_full_is_written_into_a_folder(tmp_path):
    run = assay("conformance", "--promise", "settles", "--out", tmp_path / "full")
    assert (run.returncode, run.stdout) == (0, "")
    (file,) = (tmp_path / "full").iterdir()
    document = json.loads(file.read_text("utf-8"))
    assert (document["format"], document["promise"]) == ("assay-conformance/1", "settles")
    assert all(one["group"]["members"] for one in document["instances"])
