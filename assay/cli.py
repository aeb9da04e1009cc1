"""The command ``assay``: runs a subcommand, and turns errors into a message and an exit code."""

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
    """Run the command and exit with its code.

    0: done. 1: worse than allowed, or an assignment or a proof does not hold. 2: bad usage or bad
    input. 3: an internal error. 130: interrupted. 141: the reader of standard output went away,
    as SIGPIPE gives. 143: terminated.
    """
    guard()
    if not sys.warnoptions:
        # Warnings of pandas or Altair are for developers of this command, not for its users.
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
        # Typer swallows KeyboardInterrupt and returns only its exit code.
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
