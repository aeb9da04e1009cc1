"""Generate: seeded groups."""

from typing import Annotated, Literal

import typer

from assay.commands.options import Out, refuse_given
from assay.streams import as_json, write
from compare.samples.families import Family, LastEvent, differing, grid

# Most members of a generated group, and most topics.
MOST = 1_000_000


def generate(
    family: Annotated[
        Literal["grid", "differing", "equal", "buckets", "nested", "random"],
        typer.Argument(
            help="the maintainers' benchmark (grid), the same with subscriptions that differ "
            "(differing), or groups whose members read the same topics (equal), one of five sets "
            "of them (buckets), so many of the first topics (nested), or any topics (random)"
        ),
    ],
    *,
    seed: Annotated[int, typer.Option(min=0, help="the first seed")] = 1,
    count: Annotated[int, typer.Option(min=1, help="groups of each kind, one seed each")] = 1,
    members: Annotated[
        list[int] | None,
        typer.Option(min=1, max=MOST, help="members of the group; repeat it for more sizes"),
    ] = None,
    per_member: Annotated[
        int | None,
        typer.Option(min=1, max=100 * MOST, help="partitions per member", show_default="10"),
    ] = None,
    topics: Annotated[
        int | None, typer.Option(min=1, max=MOST, help="number of topics", show_default="10")
    ] = None,
    event: Annotated[
        LastEvent | None,
        typer.Option(
            metavar="EVENT",
            show_default="fresh",
            help="what happened since the last assignment, which was optimal: fresh (nothing was "
            "assigned yet), join-one, join-many, leave-one, leave-many, partitions-added, stable",
        ),
    ] = None,
    skewed: Annotated[bool | None, typer.Option("--skewed", help="topics of unequal size")] = None,
    most_partitions: Annotated[
        int | None, typer.Option(min=1, help="largest group of the grid", show_default="10000")
    ] = None,
    out: Out = None,
) -> None:
    """Print seeded groups as JSON lines."""
    shape: dict[str, object] = {
        "--per-member": per_member,
        "--topics": topics,
        "--event": event,
        "--skewed": skewed,
    }
    many: dict[str, object] = {"--most-partitions": most_partitions}
    ignored = {"grid": shape, "differing": shape | many}.get(family, many)
    refuse_given(ignored, f"family {family} does not take it")
    sizes = tuple(members or [10])
    if family == "grid":
        points = list(grid(sizes, most_partitions or 10_000))
    elif family == "differing":
        points = list(differing(sizes))
    else:
        points = [
            Family(size, per_member or 10, topics or 10, family, event or "fresh", skewed or False)
            for size in sizes
        ]
    groups = (p.group(number) for p in points for number in range(seed, seed + count))
    write((as_json(group.to_dict()) for group in groups), out)
