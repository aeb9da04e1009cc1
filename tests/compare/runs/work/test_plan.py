"""What is missing is cut so that expensive groups begin first and no core waits long."""

import heapq
from pathlib import Path

import numpy as np
import pytest

from compare.runs.job import Job
from compare.runs.work.plan import Missing, estimate, pieces


def job(objective: str = "balance", assignors: tuple[str, ...] = ("current",)) -> Job:
    return Job(Path("in"), Path("out"), (objective,), assignors, 10.0)


def missing(sizes: list[tuple[int, int]], assignors=("current",), lacks=None, files=3) -> Missing:
    members, partitions = (np.array(column, np.int64) for column in zip(*sizes, strict=True))
    number = np.arange(len(sizes))
    if lacks is None:
        lacks = np.ones((len(sizes), 1 + len(assignors)), bool)
    names = tuple(f"{i}.parquet" for i in range(files))
    return Missing(
        names, number % files, number // files, members, partitions, assignors, np.asarray(lacks)
    )


def rows_in(piece) -> list[tuple[str, int]]:
    return [(part.file, row) for part in piece.parts for row in part.rows.tolist()]


def seconds_of(planned, cores: int) -> float:
    """How long cores take that fetch one piece after the other, in order."""
    free = [0.0] * cores
    for piece in planned:
        heapq.heappush(free, heapq.heappop(free) + piece.seconds)
    return max(free)


def test_every_group_is_in_one_piece():
    wanted = missing([(10, 60)] * 9_000 + [(1, 1)] * 20_000 + [(100, 2_000)] * 30)
    found = [row for piece in pieces(wanted, job(), 2) for row in rows_in(piece)]
    assert len(found) == len(set(found)) == len(wanted)
    assert pieces(missing([(1, 1)]), job(), 64)[0].parts[0].rows.tolist() == [0]


def test_nothing_missing_is_no_piece():
    none = np.zeros(0, np.int64)
    empty = Missing((), none, none, none, none, (), np.zeros((0, 1), bool))
    assert pieces(empty, job(), 2) == []


@pytest.mark.parametrize("cores", [2, 16])
def test_a_great_group_among_many_small_ones_begins_first_and_holds_nobody_up(cores):
    sizes = [(10, 60)] * 20_000
    sizes[7_777] = (1_000, 10_000)
    wanted = missing(sizes)
    planned = pieces(wanted, job(), cores)
    assert rows_in(planned[0])[0] == (wanted.files[7_777 % 3], 7_777 // 3)
    total = float(estimate(wanted, job()).sum())
    assert seconds_of(planned, cores) < max(1.15 * total / cores, total / cores + 0.5)


def test_pieces_become_smaller_and_small_ones_stay_together():
    planned = pieces(missing([(10, 60)] * 100_000), job(), 2)
    lengths = [len(piece) for piece in planned]
    assert lengths == sorted(lengths, reverse=True)
    assert 10 < len(planned) < 60
    assert planned[-2].seconds > 0.4


def test_groups_that_cost_alike_are_taken_file_by_file():
    planned = pieces(missing([(10, 60), (9, 60), (11, 61)] * 10_000, files=20), job(), 2)
    assert sum(len(piece.parts) for piece in planned) <= 20 + len(planned)


def test_a_part_says_what_its_rows_lack():
    lacks = [[True, True, True], [False, False, True], [False, False, True], [True, True, True]]
    wanted = missing([(2, 3)] * 4, ("current", "range"), lacks, files=1)
    (piece,) = pieces(wanted, job(assignors=("current", "range")), 2)
    found = {(part.lack.optimum, part.lack.assignors): part.rows.tolist() for part in piece.parts}
    assert found == {(True, ("current", "range")): [0, 3], (False, ("range",)): [1, 2]}


def test_searches_are_taken_to_cost_more_than_flows_and_are_spread_wider():
    sizes = [(10, 60)] * 2_000
    assert estimate(missing(sizes), job("peak_lag")).min() > 0.01
    assert len(pieces(missing(sizes), job("peak_lag"), 2)) > 10
