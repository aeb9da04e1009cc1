"""Menu: the commands by what they are for, where each lives, and an example of each.

A command is loaded when it is called: ``assay --help`` loads none of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from itertools import zip_longest
from typing import TYPE_CHECKING

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# What click calls the width leaves two columns free.
WIDE = 78
_COLUMN = 39


@dataclass(frozen=True)
class Entry:
    """One command.

    Attributes
    ----------
    says : what it is for, in so few words that two columns of them fit 80
    lives : module in ``assay.commands``, and the function if it has another name
    example : a call without ``assay`` in front
    """

    says: str
    lives: str
    example: str

    def function(self, name: str) -> Callable[..., None]:
        """Load the function of the command."""
        module, _, function = self.lives.partition(":")
        found: Callable[..., None] = getattr(
            import_module(f"assay.commands.{module}"), function or name
        )
        return found


PANELS: dict[str, dict[str, Entry]] = {
    "My group": {
        "score": Entry("is it as good as can be?", "score", "score groups.txt --group orders"),
        "explain": Entry("why can it not be better?", "explain", "explain groups.txt --member c0"),
        "frontier": Entry(
            "what does each move buy?", "frontier", "frontier orders.json balance stickiness"
        ),
        "advise": Entry("what to change first?", "advise", "advise groups.txt --group orders"),
        "size": Entry("how many members?", "size", "size orders.json --target peak_load=8"),
        "solve": Entry("the best, with its proof", "one_group", "solve orders.json --format json"),
        "check": Entry("does a proof hold?", "one_group", "check orders.json solution.json"),
        "diff": Entry("who lost and gained what?", "diff", "diff yesterday.txt today.txt"),
        "plot": Entry("one figure of it", "plot", "plot groups.txt --group orders -o orders.svg"),
    },
    "Many groups": {
        "run": Entry("score them on Spark", "many_groups", "run snapshots/ --out tables"),
        "report": Entry("one page about them", "report", "report groups.txt -o report.html"),
        "watch": Entry(
            "what changes in a cluster",
            "watch",
            "watch --bootstrap-server localhost:9092 -o series",
        ),
    },
    "Assignors": {
        "assignors": Entry("which are here", "assignors", "assignors"),
        "fetch": Entry("bring those that are not", "assignors", "fetch kafka-java@4.4.0"),
        "hunt": Entry(
            "break a promise of one", "promises", "hunt kip-54-sticky --promise balanced"
        ),
        "reproduce": Entry("a finding as a test", "promises", "reproduce FINDING --out here"),
        "scenario": Entry(
            "a week of events", "scenarios", "scenario corpus/scenarios/deploy.json"
        ),
        "probe": Entry("score any client", "assignors", "probe orders.json"),
    },
    "Files": {
        "capture": Entry(
            "groups of a cluster", "capture", "capture --bootstrap-server localhost:9092"
        ),
        "import": Entry(
            "what other tools print", "importing:import_", "import groups.txt -o groups.jsonl"
        ),
        "validate": Entry("is it a good snapshot?", "snapshots", "validate orders.json"),
        "anonymise": Entry("the same without names", "snapshots", "anonymise orders.json"),
        "export": Entry("for another solver", "export", "export orders.json --lp -o orders.lp"),
        "generate": Entry("seeded groups", "snapshots", "generate random --members 6 --seed 3"),
    },
}
COMMANDS = {name: entry for panel in PANELS.values() for name, entry in panel.items()}
# Panels side by side.
_LEFT, _RIGHT = ("My group", "Many groups"), ("Assignors", "Files")
EXAMPLES = (
    ("score groups.txt", "all groups of a text, worst first"),
    ("score orders.json --assignor range", "would range be better?"),
    ("explain groups.txt --group orders", "why it cannot be better"),
)


class Menu(TyperGroup):
    """The group of all commands, each of which is loaded when it is called."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        """Return the names of the commands."""
        return [*COMMANDS]

    def get_command(self, ctx: typer.Context, cmd_name: str) -> TyperCommand | None:  # type: ignore[override]
        """Load a command; None where there is none of that name."""
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            near = get_close_matches(cmd_name, COMMANDS, n=3)
            if near and not cmd_name.startswith("-") and not ctx.resilient_parsing:
                ctx.fail(f"No such command {cmd_name!r}. Nearest: {', '.join(near)}")
            return None
        alone = typer.Typer(
            add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False
        )
        alone.command(cmd_name, epilog=f"Example: assay {entry.example}")(entry.function(cmd_name))
        loaded = get_command(alone)
        assert isinstance(loaded, TyperCommand)
        return loaded

    def format_help(self, ctx: typer.Context, formatter: object) -> None:  # type: ignore[override]
        """Write the page of ``assay --help``."""
        formatter.write(help_page(formatter.width))  # type: ignore[attr-defined]


def help_page(width: int) -> str:
    """Return what ``assay --help`` prints; a narrow terminal gets one column."""
    left, right = ([line for name in names for line in _panel(name)] for names in (_LEFT, _RIGHT))
    shown, examples = [*left, *right], [f"  assay {call}" for call, _ in EXAMPLES]
    if width >= WIDE:
        rows = zip_longest(left, right, fillvalue="")
        shown = [f"{one:{_COLUMN}}  {other}".rstrip() for one, other in rows]
        examples = [f"  assay {call:{_COLUMN - 4}} {says}" for call, says in EXAMPLES]
    lines = [
        "Usage: assay COMMAND [ARGS]...",
        "Is a Kafka consumer group as good as can be? The best assignment, with proof.",
        *shown,
        "",
        "Examples:",
        *examples,
        "Of one command: assay COMMAND --help. Also: --version, --install-completion.",
    ]
    return "".join(f"{line}\n" for line in lines)


def _panel(name: str) -> Sequence[str]:
    rows = (f"  {command:10} {entry.says}" for command, entry in PANELS[name].items())
    return ["", f"{name}:", *rows]
