"""Menu: the commands grouped by purpose, with the module and an example of each.

A command's module is imported when the command is called: ``assay --help`` imports none.
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

# Columns for two panels side by side: click's width is two less than the terminal's 80.
WIDE = 78
# Columns that a command's own help may use.
WIDEST = 100
# Typer's names of types, and what the help shows instead where an option has no metavar.
TAKES = {"str": "TEXT", "int range": "N", "float range": "SECONDS", "list[str]": "TEXT"}
TAKES |= {"list[int]": "N", "list[int range]": "N"}
_COLUMN = 39
# Typer's messages about a bad number, and what our message says was expected.
_EXPECTED = {
    r"Input should be a valid integer": "expected a whole number",
    r"Input should be a (valid|finite) number": "expected a number of seconds",
    r"Input should be greater than or equal to (\S+)": r"expected \1 or more",
    r"Input should be less than or equal to (\S+)": r"expected \1 or less",
}


@dataclass(frozen=True)
class Entry:
    """One command.

    Attributes
    ----------
    says : its purpose, short enough for two panels in 80 columns
    example : a command line without the leading ``assay``
    module : its module in ``assay.commands``; if empty, the module has the command's name
    """

    says: str
    example: str
    module: str = ""

    def function(self, name: str) -> Callable[..., None]:
        """Load the function of the command."""
        # `import` is a keyword, so the function and its module are called `import_`.
        spelled = f"{name}_" if iskeyword(name) else name
        home = import_module(f"assay.commands.{self.module or spelled}")
        found: Callable[..., None] = getattr(home, spelled)
        return option_by_option(found)


def option_by_option(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command in the form that Typer takes: dataclass parameters become single options.

    If the command has a parameter of the same name as a field, one option sets both.
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
_LEFT, _RIGHT = ("My group", "Many groups"), ("Assignors", "Files")
EXAMPLES = (
    ("score groups.txt", "all groups of a text, worst first"),
    ("score orders.json --assignor range", "would range be better?"),
)


class Menu(TyperGroup):
    """The group of all commands; a command is imported when it is called."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        """Return the names of the commands."""
        return [*COMMANDS]

    def get_command(self, ctx: typer.Context, cmd_name: str) -> TyperCommand | None:  # type: ignore[override]
        """Load a command; None if there is none of that name."""
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
    """A command with short help: an option's metavar and default, without ranges."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Parse the command line; name the parameter that is missing, wrong or given twice."""
        words = [*args]
        try:
            rest = super().parse_args(ctx, self._with_plain_numbers(ctx, args))
        except TyperException as error:
            param = getattr(error, "param", None)
            if isinstance(param, TyperArgument | TyperOption):
                given, *_ = self.make_parser(ctx).parse_args(args=words)
                ctx.fail(self._message(ctx, param, given, error))
            if getattr(error, "ctx", None) is None:
                ctx.fail(error.format_message())
            raise
        *_, order = self.make_parser(ctx).parse_args(args=words)
        for param, times in Counter(order).items():
            once = isinstance(param, TyperOption) and not (param.multiple or param.is_flag)
            if once and times > 1:
                ctx.fail(f"{param.opts[-1]}: given {times} times, expected once")
        return rest

    def _with_plain_numbers(self, ctx: typer.Context, args: Sequence[str]) -> list[str]:
        """Return the words with numbers of options as digits: ``1,000`` and ``1k`` as 1000."""
        from groups.wording import whole_number

        options = [one for one in self.get_params(ctx) if isinstance(one, TyperOption)]
        # Every option of ours that takes a number has a minimum.
        takes_number = {name for one in options if one.min is not None for name in one.opts}
        words = []
        for before, word in pairwise(["", *args]):
            name, _, value = word.partition("=")
            number = whole_number(value if name in takes_number else word)
            if number is not None and name in takes_number:
                word = f"{name}={number}"
            elif number is not None and before in takes_number:
                word = str(number)
            words.append(word)
        return words

    def _message(
        self,
        ctx: typer.Context,
        param: TyperArgument | TyperOption,
        given: Mapping[str, Any],
        error: TyperException,
    ) -> str:
        """Return what is wrong with a parameter.

        Parameters
        ----------
        given : values of all parameters, by parameter name
        """
        values = _words(given.get(param.name or ""))
        # Typer finds NaN too great.
        is_nan = "less than" in error.message and [one.lower() for one in values] == ["nan"]
        expected = _expected("Input should be a finite number" if is_nan else error.message)
        said = error.format_message().replace(": Value error, ", ": ")
        if isinstance(param, TyperArgument):
            arguments = [one for one in self.get_params(ctx) if isinstance(one, TyperArgument)]
            words = [word for one in arguments for word in _words(given.get(one.name or ""))]
            if error.message or not words:
                return said
            names = " ".join(one.display_name_raw for one in arguments)
            return f"expected {names}, but there is only {' '.join(words)}"
        if expected is None:
            return said
        typed = " ".join((param.opts[-1], *(values if len(values) == 1 else ())))
        return f"{typed}: {expected}: {param.help}"

    def invoke(self, ctx: typer.Context) -> object:  # type: ignore[override]
        """Call the command; an error about a Python argument then names the option instead."""
        try:
            return super().invoke(ctx)
        except BadInput as error:
            place, _, rule = error.without_remedy.partition(": ")
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
        """Return the words of the usage line: required parameters, and optional arguments."""
        pieces = ["[OPTIONS]"]
        for param in self.get_params(ctx):
            if isinstance(param, TyperArgument):
                name = param.display_name_raw.upper()
                pieces.append(name if param.required else f"[{name}]")
            elif isinstance(param, TyperOption) and param.required:
                pieces.append(_option_column(param, ctx).rpartition(", ")[2])
        return pieces

    def format_options(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        """Write arguments and options in the order of the command's parameters."""
        arguments, options = [], []
        for param in self.get_params(ctx):
            if isinstance(param, TyperArgument):
                arguments.append((param.display_name_raw.upper(), param.help or ""))
            elif isinstance(param, TyperOption) and not param.hidden:
                options.append((_option_column(param, ctx), _help_column(param)))
        for head, rows in (("Arguments", arguments), ("Options", options)):
            if rows:
                with formatter.section(head):
                    formatter.write_dl(rows)


def _words(value: Any) -> list[str]:
    """Return the words that were typed for a parameter."""
    if value is None:
        return []
    return [*map(str, value)] if isinstance(value, list | tuple) else [str(value)]


def _expected(message: str) -> str | None:
    """Return what was expected, in our words; None if Typer's message is not about a number."""
    for said, expected in _EXPECTED.items():
        if found := re.match(said, message):
            return found.expand(expected)
    return None


def _option_column(option: TyperOption, ctx: typer.Context) -> str:
    """Return an option with its metavar, as in ``--group NAME...``; dots: may be repeated."""
    names = f"{', '.join(option.opts)}{''.join(f' / {off}' for off in option.secondary_opts)}"
    if option.is_flag:
        return names
    takes = (option.display_type_rich(ctx) or "").strip("<>")
    return f"{names} {TAKES.get(takes, takes)}{'...' if option.multiple else ''}"


def _help_column(option: TyperOption) -> str:
    default = option.show_default if isinstance(option.show_default, str) else option.default
    if isinstance(default, bool) or default in (None, "") or not option.show_default:
        return option.help or ""
    number = f"{default:,.15g}" if isinstance(default, float) else default
    return f"{option.help} [{number}]"


def help_page(width: int) -> str:
    """Return the text of ``assay --help``; a narrow terminal gets one column."""
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
