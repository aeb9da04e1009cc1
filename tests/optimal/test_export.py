"""An exported formulation is read by another solver, which reaches the same optimum."""

import subprocess
from random import Random

import pytest
from ortools.linear_solver.python import model_builder
from ortools.sat.python import cp_model

from groups import TIERS, Assignment, BadInput, Group, values
from optimal import solve
from optimal.export import export
from tests.optimal.random_groups import random_group
from tests.optimal.small_groups import group_of, lopsided, one_topic

pulp = pytest.importorskip("pulp")
GROUPS = [random_group(Random(seed), members=3, partitions=5) for seed in (1, 2)]


def solved_by_highs(text: str) -> tuple[dict[str, int], int]:
    """Return the optimal values of the variables and of the objective of an MPS program."""
    model = model_builder.Model()
    assert model.import_from_mps_string(text)
    solver = model_builder.Solver("HIGHS")
    assert solver.solve(model) == model_builder.SolveStatus.OPTIMAL
    found = {v.name: round(solver.value(v)) for v in model.get_variables()}
    return found, round(solver.objective_value)


def solved_by_cbc(text: str, folder) -> tuple[dict[str, int], int]:
    """Return the same of an LP program, solved by CBC."""
    program, answer = folder / "model.lp", folder / "answer.txt"
    program.write_text(text)
    cbc = pulp.PULP_CBC_CMD.pulp_cbc_path
    command = [cbc, str(program), "ratioGap", "0", "solve", "solution", str(answer)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    first, *lines = answer.read_text().splitlines()
    assert first.startswith("Optimal - objective value"), first
    found = {name: round(float(value)) for _, name, value, _ in map(str.split, lines)}
    return found, round(float(first.split()[-1]))


def solved_by_cpsat(text: str) -> tuple[dict[str, int], int]:
    model = cp_model.CpModel()
    assert model.proto.parse_text_format(text)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    assert solver.solve(model) == cp_model.OPTIMAL
    solution = solver.response_proto.solution
    names = [variable.name for variable in model.proto.variables]
    return dict(zip(names, solution, strict=True)), round(solver.objective_value)


def solved(model, folder) -> tuple[dict[str, int], int]:
    if model.syntax == "lp":
        return solved_by_cbc(model.text, folder)
    return (solved_by_cpsat if model.syntax == "proto" else solved_by_highs)(model.text)


def assignment_of(group: Group, legend: dict, found: dict[str, int]) -> Assignment:
    """Return the assignment that the variables' values mean by the legend."""
    left = {name: [*said["partitions"]] for name, said in legend["variables"].items()}
    held: dict[str, dict[str, list[int]]] = {member: {} for member in group.members}
    given = set()
    for name, said in legend["variables"].items():
        for _ in range(found.get(name, 0)):
            topic, number = next(p for p in left[name] if tuple(p) not in given)
            given.add((topic, number))
            held[said["member"]].setdefault(topic, []).append(number)
    return Assignment.from_dict(group, held)


@pytest.mark.parametrize("syntax", ["lp", "mps", "proto"])
@pytest.mark.parametrize("tier", TIERS)
def test_another_solver_reaches_the_same_optimum_of_every_tier(tier, syntax, tmp_path):
    before = [(), ("stickiness",)] if tier != "stickiness" else [(), ("balance", "racks")]
    for group in GROUPS:
        for objective in ((*earlier, tier) for earlier in before):
            best = [term.value for term in solve(group, objective).terms]
            model = export(group, objective, syntax, tier=len(objective))
            assert tuple(held["tier"] for held in model.legend["held"]) == objective[:-1]
            found, reached = solved(model, tmp_path)
            made = assignment_of(group, model.legend, found)
            assert made.is_valid
            assert [*values(made, objective)] == best
            if model.legend["measure"] == tier:
                assert reached + model.legend["offset"] == best[-1]
            else:
                assert model.legend["measure"] == "sum of squared loads"
                assert reached == sum(load * load for load in made.loads.tolist())


def test_the_binary_form_is_the_same_program():
    model = export(lopsided(), "kip-54", "proto")
    assert b"p0_m0" in model.binary
    assert len(model.binary) < len(model.text)
    with pytest.raises(BadInput, match="syntax: lp is text, only proto is binary, too"):
        _ = export(lopsided(), "kip-54", "lp").binary


@pytest.mark.parametrize(
    ("arguments", "more", "message"),
    [
        (("kip-54", "sat"), {}, "syntax: 'sat', expected one of lp, mps, proto"),
        (("kip-54", "lp"), {"tier": 3}, "tier: 3, but the objective has 2: balance > moves"),
        (("kip-54", "lp"), {"tier": 0}, "tier: 0, but the objective has 2"),
        (("peak_lag", "lp"), {}, r"topics\.t0\.lag\[0\]: unknown, but tier peak_lag needs it"),
        (("speed", "lp"), {}, "objective: unknown tier 'speed'"),
    ],
)
def test_what_cannot_be_exported_is_refused(arguments, more, message):
    with pytest.raises(BadInput, match=message):
        export(lopsided(), *arguments, **more)


def test_a_tier_whose_earlier_tiers_are_not_proved_in_time_is_refused():
    group = one_topic([3**i % 99_991 for i in range(200)], 63)
    with pytest.raises(BadInput, match="tier: 2 needs the optimum of peak_lag: not proved in"):
        export(group, "peak_lag > balance", "lp", tier=2, time_limit=0.2)


def test_a_group_without_members_or_partitions_is_exported_too():
    for group in (group_of({"t": 2}, {}), group_of({}, {})):
        for syntax in ("lp", "mps", "proto"):
            assert export(group, "kip-54", syntax).legend["variables"] == {}
