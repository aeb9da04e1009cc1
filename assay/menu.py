"""Menu: the commands by what they are for, where each lives, and an example of each.

A command is loaded when it is called: ``assay --help`` loads none of them.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from dataclasses import dataclass, fields, is_dataclass
from difflib import get_close_matches
from functools import wraps
from importlib import import_module
from inspect import Parameter, signature
from itertools import pairwise, zip_longest
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, get_type_hints

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption
from typer.exceptions import TyperException
from typer.main import get_command

from groups.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

# What click calls the width leaves two columns free.
WIDE = 78
# Of the help of a command, where there is room.
WIDEST = 100
# What Typer calls the types of options that have no name of their own for what they take.
TAKES = {"str": "TEXT", "int range": "N", "float range": "SECONDS", "list[str]": "TEXT"}
TAKES |= {"list[int]": "N", "list[int range]": "N"}
_COLUMN = 39
# What Typer says of a number that is none or out of its range, and what it expects.
_EXPECTED = {
    r"Input should be a valid integer": "expected a whole number",
    r"Input should be a (valid|finite) number": "expected a number",
    r"Input should be greater than or equal to (\S+)": r"expected \1 or more",
    r"Input should be less than or equal to (\S+)": r"expected \1 or less",
}


@dataclass(frozen=True)
class Entry:
    """One command.

    Attributes
    ----------
    says : what it is for, in so few words that two columns of them fit 80
    example : a call without ``assay`` in front
    module : of ``assay.commands``; the one of its name if empty
    """

    says: str
    example: str
    module: str = ""

    def function(self, name: str) -> Callable[..., None]:
        """Load the function of the command."""
        # Python keeps the word `import` for itself.
        spelled = f"{name}_" if iskeyword(name) else name
        home = import_module(f"assay.commands.{self.module or spelled}")
        found: Callable[..., None] = getattr(home, spelled)
        return option_by_option(found)


def option_by_option(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command as Typer takes it: each field of its dataclasses is an option by itself.

    Where the command has an option of a field's name itself, its value is the field's, too.
    """
    given, kinds = signature(command).parameters, get_type_hints(command, include_extras=True)
    shared = {name: kinds[name] for name in given if is_dataclass(kinds[name])}
    parameters: list[Parameter] = []
    for name, own in given.items():
        options = get_type_hints(shared[name], include_extras=True) if name in shared else {}
        parameters += [
            own.replace(name=one.name, default=one.default, annotation=options[one.name])
            for one in (fields(shared[name]) if name in shared else ())
            if one.name not in given
        ]
        if name not in shared:
            parameters.append(own.replace(annotation=kinds[name]))
    added = {one.name for one in parameters} - given.keys()

    @wraps(command)
    def called(**values: Any) -> None:
        made = {
            name: kind(**{one.name: values[one.name] for one in fields(kind)})
            for name, kind in shared.items()
        }
        command(**{name: values[name] for name in values.keys() - added}, **made)

    called.__annotations__ = {one.name: one.annotation for one in parameters}
    called.__signature__ = signature(command).replace(parameters=parameters)  # type: ignore[attr-defined]
    return called


PANELS: dict[str, dict[str, Entry]] = {
    "My group": {
        "score": Entry("is it as good as can be?", "score groups.txt --group orders"),
        "explain": Entry("why can it not be better?", "explain groups.txt --member c0"),
        "frontier": Entry("what does each move buy?", "frontier orders.json balance moves"),
        "advise": Entry("what to change first?", "advise groups.txt --group orders"),
        "size": Entry("how many members?", "size orders.json --target peak_load=8"),
        "scenario": Entry(
            "what moves if one leaves?", "scenario corpus/scenarios/deploy.json", "scenarios"
        ),
        "solve": Entry("the best, with its proof", "solve orders.json --format json"),
        "check": Entry("does a proof hold?", "check orders.json solution.json"),
        "diff": Entry("who lost and gained what?", "diff yesterday.txt today.txt"),
        "plot": Entry("one figure of it", "plot groups.txt --group orders -o orders.svg"),
    },
    "Many groups": {
        "run": Entry("score them on Spark", "run snapshots/ --out tables"),
        "report": Entry("one page about them", "report groups.txt -o report.html"),
        "watch": Entry(
            "what changes in a cluster", "watch --bootstrap-server localhost:9092 -o series"
        ),
    },
    "Assignors": {
        "assignors": Entry("which are here", "assignors"),
        "fetch": Entry("bring those that are not", "fetch kafka-java@4.4.0"),
        "hunt": Entry(
            "break a promise of one", "hunt kip-54-sticky --promise balanced", "promises"
        ),
        "conformance": Entry("which promises it keeps", "conformance kip-54-sticky"),
        "reproduce": Entry("a finding as a test", "reproduce FINDING --out here", "promises"),
        "probe": Entry("score any client", "probe orders.json"),
    },
    "Files": {
        "capture": Entry("groups of a cluster", "capture --bootstrap-server localhost:9092"),
        "import": Entry("what other tools print", "import groups.txt -o groups.jsonl"),
        "validate": Entry("is it a good snapshot?", "validate orders.json"),
        "anonymise": Entry("the same without names", "anonymise orders.json"),
        "export": Entry("for another solver", "export orders.json --lp -o orders.lp"),
        "generate": Entry("seeded groups", "generate random --members 6 --seed 3"),
    },
}
COMMANDS = {name: entry for panel in PANELS.values() for name, entry in panel.items()}
# Panels side by side.
_LEFT, _RIGHT = ("My group", "Many groups"), ("Assignors", "Files")
EXAMPLES = (
    ("score groups.txt", "all groups of a text, worst first"),
    ("score orders.json --assignor range", "would range be better?"),
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
        screen = {"max_content_width": WIDEST}
        if not sys.stdout.isatty():
            screen["terminal_width"] = WIDEST
        alone.command(
            cmd_name,
            cls=Command,
            epilog=f"Example: assay {entry.example}",
            context_settings=screen,
        )(entry.function(cmd_name))
        loaded = get_command(alone)
        assert isinstance(loaded, TyperCommand)
        return loaded

    def format_help(self, ctx: typer.Context, formatter: object) -> None:  # type: ignore[override]
        """Write the page of ``assay --help``."""
        formatter.write(help_page(formatter.width))  # type: ignore[attr-defined]


class Command(TyperCommand):
    """A command whose help fits a screen: what an option takes and its default, no ranges."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Read the command line; where something is missing, wrong or given twice, say which."""
        words = [*args]
        try:
            rest = super().parse_args(ctx, self._in_digits(ctx, args))
        except TyperException as error:
            param = getattr(error, "param", None)
            if isinstance(param, TyperArgument | TyperOption):
                given, *_ = self.make_parser(ctx).parse_args(args=words)
                ctx.fail(self._said(ctx, param, given, error))
            if getattr(error, "ctx", None) is None:
                ctx.fail(error.format_message())
            raise
        *_, order = self.make_parser(ctx).parse_args(args=words)
        for param, times in Counter(order).items():
            once = isinstance(param, TyperOption) and not (param.multiple or param.is_flag)
            if once and times > 1:
                ctx.fail(f"{param.opts[-1]}: given {times} times, expected once")
        return rest

    def _in_digits(self, ctx: typer.Context, args: Sequence[str]) -> list[str]:
        """Return the words, with 1000 where ``1,000`` or ``1k`` stands for an option's number."""
        from groups.wording import whole_number

        options = [one for one in self.get_params(ctx) if isinstance(one, TyperOption)]
        # Of an option that takes a number there is a least one.
        takes = {name for one in options if one.min is not None for name in one.opts}
        words = []
        for before, word in pairwise(["", *args]):
            name, _, value = word.partition("=")
            number = whole_number(value if name in takes else word)
            if number is not None and name in takes:
                word = f"{name}={number}"
            elif number is not None and before in takes:
                word = str(number)
            words.append(word)
        return words

    def _said(
        self,
        ctx: typer.Context,
        param: TyperArgument | TyperOption,
        given: Mapping[str, Any],
        error: TyperException,
    ) -> str:
        """Return what is wrong with a parameter, of which values were given by these names."""
        expected = _expected(error.message)
        said = error.format_message().replace(": Value error, ", ": ")
        if isinstance(param, TyperArgument):
            arguments = [one for one in self.get_params(ctx) if isinstance(one, TyperArgument)]
            came = [word for one in arguments for word in _listed(given.get(one.name or ""))]
            if error.message or not came:
                return said
            names = " ".join(one.display_name_raw for one in arguments)
            return f"expected {names}, but there is only {' '.join(came)}"
        values = _listed(given.get(param.name or ""))
        if expected is None:
            return said
        typed = " ".join((param.opts[-1], *(values if len(values) == 1 else ())))
        return f"{typed}: {expected}: {param.help}"

    def invoke(self, ctx: typer.Context) -> object:  # type: ignore[override]
        """Call the command; where an error names an argument, name the option that was typed."""
        try:
            return super().invoke(ctx)
        except BadInput as error:
            place, _, rule = error.what_came.partition(": ")
            name, _, value = place.partition(" ")
            for option in self.get_params(ctx):
                typed = ctx.params.get(option.name or "")
                values = typed if isinstance(typed, list) else [typed]
                if option.name != name or not isinstance(option, TyperOption):
                    continue
                if any(one is not None and str(one).startswith(value) for one in values):
                    named = f"{option.opts[-1]}{value and ' '}{value}: {rule}"
                    raise type(error)(named, remedy=error.remedy) from None
            raise

    def collect_usage_pieces(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        """Return what has to be given, and what may be."""
        pieces = ["[OPTIONS]"]
        for param in self.get_params(ctx):
            if isinstance(param, TyperArgument):
                name = param.display_name_raw.upper()
                pieces.append(name if param.required else f"[{name}]")
            elif isinstance(param, TyperOption) and param.required:
                pieces.append(_taken(param, ctx).rpartition(", ")[2])
        return pieces

    def format_options(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        """Write arguments and options in the order in which the command has them."""
        arguments, options = [], []
        for param in self.get_params(ctx):
            if isinstance(param, TyperArgument):
                arguments.append((param.display_name_raw.upper(), param.help or ""))
            elif isinstance(param, TyperOption) and not param.hidden:
                options.append((_taken(param, ctx), _told(param)))
        for head, rows in (("Arguments", arguments), ("Options", options)):
            if rows:
                with formatter.section(head):
                    formatter.write_dl(rows)


def _listed(value: Any) -> list[str]:
    """Return the words that a parameter was given."""
    if value is None:
        return []
    return [*map(str, value)] if isinstance(value, list | tuple) else [str(value)]


def _expected(message: str) -> str | None:
    """Return what an option takes, by Typer's message; None where that says it well."""
    for said, expected in _EXPECTED.items():
        if found := re.match(said, message):
            return found.expand(expected)
    return None


def _taken(option: TyperOption, ctx: typer.Context) -> str:
    """Return an option with what it takes, as in ``--group NAME...``; dots: again and again."""
    names = f"{', '.join(option.opts)}{''.join(f' / {off}' for off in option.secondary_opts)}"
    if option.is_flag:
        return names
    takes = (option.display_type_rich(ctx) or "").strip("<>")
    return f"{names} {TAKES.get(takes, takes)}{'...' if option.multiple else ''}"


def _told(option: TyperOption) -> str:
    default = option.show_default if isinstance(option.show_default, str) else option.default
    if isinstance(default, bool) or default in (None, "") or not option.show_default:
        return option.help or ""
    number = f"{default:,.15g}" if isinstance(default, float) else default
    return f"{option.help} [{number}]"


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
    rows = (f"  {command:11} {entry.says}" for command, entry in PANELS[name].items())
    return ["", f"{name}:", *rows]
