"""What `plot` draws of results."""

import altair as alt
import pytest

from assay import Group, figures, frontier, score_assignors, solve, solve_many
from groups import BadInput
from tests.assay.calling import LOPSIDED
from tests.processes import in_python


@pytest.fixture(scope="module")
def group() -> Group:
    return Group.from_dict(LOPSIDED)


def test_groups_solutions_scores_and_frontiers_draw_themselves(group):
    best = solve(group)
    scores = score_assignors(group, best, ["range", "current"])
    drawn = {
        "partitions per member": (group, best),
        "what each assignor costs": (scores,),
        "what moves buy in balance": (frontier(group, "balance", "stickiness"),),
    }
    for title, results in drawn.items():
        for result in results:
            assert result.plot().to_dict()["title"]["text"] == title
            assert figures.svg(result.plot()).startswith("<svg")


def test_what_has_no_figure_is_refused(group):
    with pytest.raises(
        BadInput, match=r"^plot: Solutions, expected a group, a solution, scores, a"
    ):
        solve_many([group]).plot()


def test_a_plot_without_the_figures_says_what_loads_them():
    program = (
        "from assay import Group, BadInput\n"
        f"group = Group.from_dict({LOPSIDED!r})\n"
        "try:\n    group.plot()\nexcept BadInput as error:\n    print(error)\n"
    )
    said = in_python("-c", program).stdout
    assert said == "plot: load the figures first: from assay import figures\n"


def test_a_notebook_shows_a_figure_as_svg_without_a_script(group):
    assert alt.renderers.active == "svg"
    shown = solve(group).plot()._repr_mimebundle_(None, None)
    assert list(shown) == ["image/svg+xml"]
