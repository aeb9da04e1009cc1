"""The command ``assay``: lists what it can do, and leaves with an exit code."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Annotated

import typer
from typer.exceptions import TyperException

from assay.menu import Menu
from assay.progress import progress
from assay.signals import INTERRUPTED, Ended
from assay.streams import ReaderGone, complain, guard, put, show, told
from groups.errors import AssayError, BadInput, InvalidAssignment, ProofError

app = typer.Typer(
    name="assay",
    cls=Menu,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command and leave with its exit code.

    0 done; 1 worse than allowed, or an assignment or a proof does not hold; 2 bad usage or bad
    input, one line; 3 an error inside; 130 interrupted, 143 terminated; 141, as of any other
    command of a pipe, where nobody reads the answer to its end.
    """
    guard()
    if not sys.warnoptions:
        # What pandas or Altair warn of is for those who write this command, not who run it.
        warnings.simplefilter("ignore")
    try:
        code = _command()
    except (InvalidAssignment, ProofError) as error:
        complain(told(error))
        code = 1
    except BadInput as error:
        complain(told(error))
        code = 2
    except Ended as ended:
        complain(str(ended))
        code = ended.code
    except TyperException as error:
        line = " ".join(error.format_message().split()).removesuffix(".")
        page = getattr(getattr(error, "ctx", None), "command_path", "assay")
        complain(f"{line} (see {page} --help)")
        code = 2
    except (typer.Abort, KeyboardInterrupt):
        complain("interrupted")
        code = INTERRUPTED
    except ReaderGone:
        code = 141
    except MemoryError:
        complain("not enough memory for this input")
        code = 2
    except AssayError as error:
        complain(f"an error inside: {error}")
        code = 3
    except Exception as error:
        if "ASSAY_DEBUG" in os.environ:
            raise
        line = " ".join(f"{type(error).__name__}: {error}".split())
        complain(f"an error inside: {line} (ASSAY_DEBUG=1 shows where)")
        code = 3
    sys.exit(code or 0)


def _command() -> int | None:
    with progress(sys.argv[1:]):
        code: int | None = app(prog_name="assay", standalone_mode=False)
    if code == INTERRUPTED:
        # Typer takes Ctrl-C for itself, and leaves the code alone.
        raise KeyboardInterrupt
    return code


@app.callback(invoke_without_command=True)
def _assay(
    context: typer.Context,
    *,
    version: Annotated[bool, typer.Option("--version", help="print the version")] = False,
) -> None:
    if version:
        from assay import __version__

        show(f"assay {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        put(context.get_help())
        raise typer.Exit
