"""The command line: `likeness ...`, and `python -m compute ...` in a checkout where nothing is installed."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any

import typer
from typer.core import TyperGroup

from compute import storage
from compute.cli import imports, pairs, publish, task
from compute.cli.answers import answers
from compute.cli.build import build
from compute.cli.calibrate import calibrate
from compute.cli.eyes import eyes
from compute.cli.fetch import fetch
from compute.cli.frechet import frechet
from compute.cli.instructions import instructions
from compute.cli.listing import show
from compute.cli.lite import lite
from compute.cli.project import project
from compute.cli.rank import rank
from compute.cli.run import run
from compute.cli.train import train
from compute.progress import working
from compute.types import ON_COMMAND_LINE, BadInput, LikenessError
from compute.versions import naming_packages


class Commands(TyperGroup):
    """The one error boundary of the command line: an error that a user can fix is one line and exit code 1."""

    def main(self, *given: Any, **named: Any) -> Any:
        """As click's, on streams that take every sign."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")
        return super().main(*given, **named)

    def invoke(self, context: Any) -> Any:
        """Runs the command. A pipe that nobody reads any more ends it silently, as click does."""
        told = ON_COMMAND_LINE.set(True)
        try:
            with naming_packages():
                return self._invoke(context)
        except KeyboardInterrupt as error:
            typer.echo("Interrupted: what was finished is stored; run the same command again to resume", err=True)
            raise typer.Exit(130) from error
        except LikenessError as error:
            typer.echo(f"Error: {error}", err=True)
            raise typer.Exit(1) from error
        except UnicodeEncodeError as error:
            name = ascii(error.object[max(0, error.start - 40) : error.end + 20])
            typer.echo(f"Error: The name {name} has bytes that are not UTF-8. Rename it", err=True)
            raise typer.Exit(1) from error
        except BrokenPipeError:
            raise
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            remedy = "Free some disk space" if full else "Check the path, its permissions and the connection"
            message = f"{error.strerror or error}".partition("\n")[0]
            where = f"{error.filename}: " if error.filename else ""
            typer.echo(f"Error: {where}{message}. {remedy}, then run the same command again", err=True)
            raise typer.Exit(1) from error
        finally:
            ON_COMMAND_LINE.reset(told)

    def _invoke(self, context: Any) -> Any:
        for word in sys.argv:
            word.encode()  # UnicodeEncodeError here, and not when a run is stored
        if storage.is_url(os.environ.get("LIKENESS_RESULTS", "")):
            raise BadInput(
                "LIKENESS_RESULTS is a folder of this machine. Name an address with --results, and make the database "
                "of it: likeness build --results ADDRESS"
            )
        try:
            return super().invoke(context)
        finally:
            storage.push_all()


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Computes and reads the scores behind Likeness. Where `likeness` is not installed (pip install -e .), write "
    "python -m compute for it.",
)
importing = typer.Typer(no_args_is_help=True, help="Imports scores that others measured, marked as imported.")
importing.command("mteb-results")(imports.mteb_results)
importing.command("scores")(imports.scores)
importing.command("eval-results")(imports.eval_results)
importing.command("parti-prompts")(imports.parti_prompts)
pairing = typer.Typer(no_args_is_help=True, help="Makes pairs for judges from images (PairBench), and shows them.")
pairing.command("make")(pairs.make)
pairing.command("show")(pairs.show)
publishing = typer.Typer(invoke_without_command=True, callback=publish.publish)
publishing.command("results")(publish.results)
own_tasks = typer.Typer(no_args_is_help=True, help="Checks your own data.")
own_tasks.command("check")(task.check)
for command in (
    fetch,
    run,
    eyes,
    frechet,
    calibrate,
    train,
    instructions,
    build,
    lite,
    rank,
    project,
    answers,
):
    app.command()(command)
app.command("list")(show)
app.add_typer(importing, name="import")
app.add_typer(pairing, name="pairs")
app.add_typer(own_tasks, name="task")
app.add_typer(publishing, name="publish")


def main(name: str | None = None) -> None:
    """The command line as a program. With a locale that leaves Python with ASCII it starts again in UTF-8 mode, as
    names of files in other letters could not be stored."""
    if sys.getfilesystemencoding() == "ascii":
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])
    with working(" ".join(["likeness", *sys.argv[1:2]])):
        app(prog_name=name)


if __name__ == "__main__":
    main()
