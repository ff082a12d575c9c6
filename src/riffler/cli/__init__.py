"""The command line: one file a command; a command parses, calls and prints, and holds no ideas of its own."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from riffler import __version__
from riffler.cli.active import EXAMPLES, active
from riffler.cli.backup import backup
from riffler.cli.datasets import datasets
from riffler.cli.export import EXAMPLES as EXPORT_EXAMPLES
from riffler.cli.export import export
from riffler.cli.index import EXAMPLES as INDEX_EXAMPLES
from riffler.cli.index import index
from riffler.cli.invite import EXAMPLES as INVITE_EXAMPLES
from riffler.cli.invite import invite
from riffler.cli.migrate import EXAMPLES as MIGRATE_EXAMPLES
from riffler.cli.migrate import migrate
from riffler.cli.rank import rank
from riffler.cli.reindex import EXAMPLES as REINDEX_EXAMPLES
from riffler.cli.reindex import reindex
from riffler.cli.reproduce import reproduce
from riffler.cli.review import EXAMPLES as REVIEW_EXAMPLES
from riffler.cli.review import review
from riffler.cli.serve import EXAMPLES as SERVE_EXAMPLES
from riffler.cli.serve import serve
from riffler.cli.simulate import EXAMPLES as SIMULATE_EXAMPLES
from riffler.cli.simulate import simulate
from riffler.cli.tag import EXAMPLES as TAG_EXAMPLES
from riffler.cli.tag import tag
from riffler.errors import RifflerError

__all__ = ["app", "main", "run"]

USAGE_ERROR: type[Exception] = typer.BadParameter.__base__ or Exception
"""What Typer raises for a wrong option; taken from its public child, as its own home moved between Typer's versions."""


INTERRUPTED = 130
"""Exit code of a command that was ended by Ctrl-C, as shells have it."""

GOING_ON = {"index": "--out", "reindex": "", "simulate": "--out"}
"""Commands that go on where they were ended, and the option that this takes ("" for none)."""


@dataclass(slots=True)
class Settings:
    """What the options before the command ask for."""

    traceback: bool = False


app = typer.Typer(
    help="Find the relevant few in a large collection with the fewest labels.",
    add_completion=False,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


app.command()(rank)
app.command(epilog=EXAMPLES)(active)
app.command(epilog=SIMULATE_EXAMPLES)(simulate)
app.command(epilog=TAG_EXAMPLES)(tag)
app.command(epilog=REVIEW_EXAMPLES)(review)
app.command(epilog=SERVE_EXAMPLES)(serve)
app.command(epilog=INVITE_EXAMPLES)(invite)
app.command(epilog=EXPORT_EXAMPLES)(export)
app.command()(backup)
app.command(epilog=MIGRATE_EXAMPLES)(migrate)
app.command(epilog=INDEX_EXAMPLES)(index)
app.command(epilog=REINDEX_EXAMPLES)(reindex)
app.command()(datasets)
app.command()(reproduce)


def print_version(wanted: bool) -> None:
    """Print the version and leave, if asked to."""
    if wanted:
        typer.echo(f"riffler {__version__}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=print_version, is_eager=True)
    ] = False,
    traceback: Annotated[
        bool,
        typer.Option("--traceback", envvar="RIFFLER_TRACEBACK", help="Show where an error arose, not only its line."),
    ] = False,
) -> None:
    """Find the relevant few in a large collection with the fewest labels."""
    context.ensure_object(Settings).traceback = traceback
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def one_line(error: Exception) -> str:
    """Say an error in one line.

    >>> one_line(FileNotFoundError(2, "No such file or directory", "train.csv"))
    'train.csv: No such file or directory'
    """
    if isinstance(error, OSError) and error.filename is not None and error.strerror is not None:
        return f"{error.filename}: {error.strerror}"
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    return " ".join(message.split()) or type(error).__name__


def warnings_in_one_line() -> Callable[..., None]:
    """Show warnings as the errors are shown, each once: a user has no use for the line of our source it came from."""
    shown: set[str] = set()

    def show(message: Warning | str, *_: object, **__: object) -> None:
        words = " ".join(str(message).split())
        if words not in shown:
            shown.add(words)
            typer.echo(f"riffler: warning: {words}", err=True)

    return show


def interrupted(arguments: Sequence[str]) -> str:
    """Say that a command was interrupted, and whether it goes on when it is given again.

    >>> interrupted(["rank", "demo"]), interrupted(["index", "a.csv", "--out", "a.collection"])
    ('interrupted.', 'interrupted. The same command goes on from here.')
    """
    command = next((one for one in arguments if not one.startswith("-")), "")
    needed = GOING_ON.get(command)
    goes_on = needed is not None and any(one.split("=")[0].startswith(needed) for one in arguments)
    return "interrupted. The same command goes on from here." if goes_on else "interrupted."


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code: 0 done, 1 a fault of ours, 2 a clear error, 130 interrupted."""
    settings = Settings()
    try:
        with warnings.catch_warnings():
            warnings.showwarning = warnings_in_one_line()
            code = app(args=list(arguments), prog_name="riffler", standalone_mode=False, obj=settings) or 0
    except KeyboardInterrupt:
        code = INTERRUPTED
    except (RifflerError, OSError, USAGE_ERROR) as error:
        if settings.traceback:
            raise
        typer.echo(f"riffler: error: {one_line(error)}", err=True)
        return 2
    except Exception as error:
        if settings.traceback:
            raise
        what = f"{type(error).__name__}: {one_line(error)}"
        typer.echo(f"riffler: error: {what} (a fault of Riffler; `riffler --traceback ...` shows where)", err=True)
        return 1
    if code == INTERRUPTED:  # Typer may return it or let the interrupt through
        typer.echo(f"riffler: {interrupted(arguments)}", err=True)
    return code


def main() -> None:
    """Run the command line of this process."""
    sys.exit(run(sys.argv[1:]))
