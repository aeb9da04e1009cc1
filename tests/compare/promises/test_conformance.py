"""The corpus for conformance: its files are what makes them, and its answers are right."""

import json
from collections import Counter
from importlib.util import module_from_spec, spec_from_file_location
from itertools import islice, product
from pathlib import Path

import pytest

from compare.promises.conformance import (
    ASKED,
    FOLDER,
    as_text,
    conformity,
    digest,
    file_of,
    group_of,
    in_full,
    sampled,
    trials_on,
)
from compare.promises.findings import SHIPPED, read_findings
from compare.promises.trial import in_process
from compare.samples.drawn import is_ordinary
from groups import Assignment, BadInput, Group, ProofError, values
from groups.tiers import parse_objective
from heuristics import assign
from optimal import Solution, check
from studies.conformance import COLUMNS, OBJECTIVES, instances, least_alike, smallest
from studies.tallies import SMALL, small
from tests.schemas import validator_of

FILES = {promise: json.loads((FOLDER / f"{promise}.json").read_text("utf-8")) for promise in ASKED}
SCHEMA = FOLDER / "schema" / "assay-conformance-1.json"
SMALLER = 4


def without_columns(some):
    return [{k: v for k, v in one.items() if k not in COLUMNS.values()} for one in some]


def test_the_first_instances_of_a_file_are_made_again_and_written_the_same():
    for promise, first in (("optimal-moves", 30), ("racks", 5)):
        made = list(islice(instances(promise, SMALLER), first))
        assert made == without_columns(FILES[promise]["instances"][:first])
    for promise, file in FILES.items():
        assert (FOLDER / f"{promise}.json").read_text("utf-8") == as_text(file)


@pytest.mark.exhaustive
def test_whole_files_are_made_again_to_the_last_instance():
    for promise in ("valid", "optimal-moves", "racks"):
        assert list(instances(promise)) == without_columns(FILES[promise]["instances"])
    # The numbers of groups up to renaming, by members and partitions, counted by another program.
    counts = Counter(len(group.members) + group.n_partitions for group in smallest(SMALL))
    assert counts == {2: 1, 3: 4, 4: 14, 5: 57, 6: 258}


def test_every_file_keeps_to_the_schema_and_the_readme_names_every_key():
    readme = (FOLDER / "README.md").read_text("utf-8")
    for promise, file in FILES.items():
        validator_of(SCHEMA).validate(file | {"instances": file["instances"][::9]})
        assert f"`{promise}.json`" in readme
        for key in {*file, *(key for one in file["instances"] for key in one)}:
            assert f"`{key}`" in readme
        ids = [one["id"] for one in file["instances"]]
        assert len(set(ids)) == len(ids)


def test_an_id_means_the_same_group_in_all_files():
    known = {}
    for file in FILES.values():
        for one in file["instances"]:
            group = one.get("group", one.get("recipe"))
            assert known.setdefault(one["id"], group) == group


def test_of_the_small_groups_that_are_alike_there_is_one():
    assert {least_alike(group) for group in small(SMALLER)} == set(
        map(least_alike, smallest(SMALLER))
    )
    assert len(smallest(SMALLER)) == 1 + 4 + 14
    assert all(map(is_ordinary, smallest(SMALLER)))


def test_a_group_under_other_names_is_alike():
    names = {"m0": "z", "m1": "y", "m2": "x", "t0": "v", "t1": "u", "t2": "w"}
    for group in smallest(SMALLER):
        text = json.dumps(group.to_dict())
        for name, other in names.items():
            text = text.replace(f'"{name}"', f'"{other}"')
        assert least_alike(Group.from_dict(json.loads(text))) == least_alike(group)


def by_hand(group):
    """Yield the sorted loads, balance and moves of every assignment of a group."""
    reads = {m: set(said["subscription"]) for m, said in group["members"].items()}
    owned = {m: said["owned"] for m, said in group["members"].items()}
    every = [(t, n) for t, count in group["topics"].items() for n in range(count)]
    readers = [[m for m in reads if t in reads[m]] for t, _ in every]
    for holders in product(*readers):
        loads = sorted(holders.count(m) for m in reads)
        balance = sum(b - a for i, a in enumerate(loads) for b in loads[i:])
        kept = [n in owned[m].get(t, []) for m, (t, n) in zip(holders, every, strict=True)]
        had = [any(n in o.get(t, []) for o in owned.values()) for t, n in every]
        moves = sum(h and not k for h, k in zip(had, kept, strict=True))
        yield loads, balance, moves


def test_the_answers_are_the_best_of_all_assignments_and_their_loads_the_only_ones():
    tried = 0
    for promise in ("optimal-balance", "optimal-moves"):
        for one in FILES[promise]["instances"]:
            if one["source"] == "small":
                every = list(by_hand(one["group"]))
                least = min(balance for _, balance, _ in every)
                best = [(loads, moves) for loads, balance, moves in every if balance == least]
                answer = one["answer"]
                assert {tuple(loads) for loads, _ in best} == {tuple(answer["loads"])}
                assert (least, min(moves for _, moves in best)) == (
                    answer["balance"],
                    answer["moves"],
                )
                tried += 1
    assert tried > 500


def accepted(promise, one):
    """Check the certificate of an instance's answer, and recount its assignment."""
    group, answer = group_of(one), one["answer"]
    tiers = parse_objective(OBJECTIVES[promise])
    terms = {tier: answer[tier.replace("stickiness", "moves")] for tier in tiers}
    solution = {
        "format": "assay-solution/1", "objective": list(tiers), "status": "optimal",
        "stopped": "proof", "method": "flow", "assignment": answer["assignment"],
        "terms": [{"name": tier, "value": v, "bound": v} for tier, v in terms.items()],
        "proof": answer["proof"],
    }  # fmt: skip
    assert check(group, Solution.from_dict(group, solution)) == ()
    made = Assignment.from_dict(group, answer["assignment"])
    assert list(values(made, tiers)) == [*terms.values()]
    assert sorted(made.loads.tolist()) == answer["loads"]


@pytest.mark.parametrize(
    "every", [pytest.param(15, id="some"), pytest.param(1, id="all", marks=pytest.mark.exhaustive)]
)
def test_answers_come_with_a_certificate_that_the_checker_accepts(every):
    for promise in OBJECTIVES:
        for one in FILES[promise]["instances"][::every]:
            if "group" in one:
                accepted(promise, one)
    with pytest.raises(ProofError):
        accepted(promise, one | {"answer": one["answer"] | {"proof": {"kind": "none"}}})


def test_every_finding_is_found_again_on_the_release_that_it_is_about():
    tried = 0
    for found in read_findings(SHIPPED):
        if found.assignor in FILES[found.promise]["assignors"]:
            broken = [one.get("broken_by", ()) for one in FILES[found.promise]["instances"]]
            assert any(found.assignor in names for names in broken), found.id
            tried += 1
    assert tried > 20


def test_a_group_that_its_recipe_does_not_make_is_refused():
    one = next(one for one in file_of("valid")["instances"] if "recipe" in one)
    assert digest(group_of(one)) == one["recipe"]["sha256"]
    with pytest.raises(BadInput, match="its recipe makes another group here"):
        group_of(one | {"recipe": one["recipe"] | {"seed": 2}})


def test_in_full_every_instance_has_its_group():
    document = json.loads(in_full("settles"))
    assert all("group" in one for one in document["instances"])
    validator_of(SCHEMA).validate(document)
    large = next(one for one in document["instances"] if "recipe" in one)
    assert len(large["group"]["members"]) == 100


def test_a_sample_has_the_findings_and_about_so_many_groups():
    every = {promise: file_of(promise)["instances"] for promise in ("terminates", "settles")}
    chosen = sampled(every, 30)
    ids = {one["id"] for some in chosen.values() for one in some}
    assert 15 <= len(ids) <= 30
    assert {
        one["id"] for some in every.values() for one in some if one["source"] == "finding"
    } < ids
    assert [one["source"] for one in sampled(every, 1)["terminates"]] == ["finding"]


def test_the_columns_are_what_the_judges_say():
    name = "kip-54-sticky"
    run = in_process(name)
    every = {
        promise: file_of(promise)["instances"][:20] for promise in ("optimal-moves", "idempotent")
    }
    groups = {one["id"]: group_of(one) for some in every.values() for one in some}
    moves, idempotent = conformity(every, trials_on(run, groups))
    assert moves.broken[0] == "aiokafka-sticky-optimal-moves"
    assert "kip-54-sticky-idempotent" in idempotent.broken
    assert len(moves.kept) + len(moves.broken) + len(moves.not_tested) == 20


# The judge that all languages share stands beside the files, and is no package of ours.
HERE = module_from_spec(
    spec := spec_from_file_location("conformance", FOLDER / "runners" / "conformance.py")
)
spec.loader.exec_module(HERE)


class Within(HERE.Program):
    """A written assignor, called in this process instead of in another program."""

    def _start(self):
        pass

    def assign(self, group):
        group = Group.from_dict({"format": "assay-group/1", "group": "g", **group})
        return assign(group, self.command[0]).to_dict()


def test_the_judge_of_the_folder_finds_what_ours_finds():
    every = {
        promise: [one for one in FILES[promise]["instances"][:20] if "group" in one]
        for promise in ("valid", "balanced", "optimal-balance", "optimal-moves", "idempotent")
    }
    groups = {one["id"]: group_of(one) for some in every.values() for one in some}
    for name in ("range", "kip-54-sticky"):
        program = Within(name, is_cooperative=False)
        for ours in conformity(every, trials_on(in_process(name), groups)):
            found = {
                one["id"]: HERE.judged(program, HERE.as_asked(one["group"]), one.get("answer", {}))
                for one in every[ours.promise]
            }
            kept = {id_: kept.get(ours.promise) for id_, (kept, _) in found.items()}
            assert [id_ for id_ in kept if kept[id_] is False] == [*ours.broken]
            assert [id_ for id_ in kept if kept[id_] is None] == [*ours.not_tested]


def test_the_folder_stays_small():
    assert sum(path.stat().st_size for path in Path(FOLDER).rglob("*.*")) < 2_000_000
