"""The command line: `likeness ...`, and `python -m compute ...` in a checkout where nothing is installed."""

from __future__ import annotations

import errno
import io
import os
import sys
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from compute import paths, storage
from compute.cli.command import as_command
from compute.progress import working
from compute.types import ON_COMMAND_LINE, BadInput, LikenessError
from compute.versions import naming_packages

FILES = {"list": "listing", "import": "imports"}  # commands whose module in compute/cli has another name
OF_TABLES = ("rank", "correlate", "compare", "replicate", "audit")  # Python functions that serve as commands unchanged
COMMANDS = {  # with the lines that `likeness --help` prints, so that it loads no command
    "fetch": "Downloads models' weights at the pinned revision into the hub's cache; existing files stay.",
    "plan": "Orders a suite's missing tasks by how much an hour of each tells of a model's place.",
    "run": "Computes the missing scores of models on a suite, rebuilds the database and prints the scores.",
    "eyes": "Asks you about two images at a time, and shows which models answer as you do.",
    "frechet": "Compares generators' images with a reference: Fréchet distances, cFreD and their rivals, in one table.",
    "time": "Measures how fast a model is on this machine, and its memory; the pages show it.",
    "train": "Tunes a dual encoder by UniSim's recipe.",
    "instructions": "Writes UniSim's training examples as conversations in LLaVA's layout.",
    "build": "Builds the database from the published tables, the catalogue, the imports and the run folders.",
    "lite": "Selects a smaller suite that ranks models like the full one, after MIEB section 6.3.",
    "rank": "Ranks any table of scores: ranks and means with 95% intervals, and tie classes, as on the board.",
    "correlate": "Correlations between the tasks of any table of scores, each over the models that have both scores.",
    "compare": "Two models side by side: the paired difference, its interval and p, and whether it is significant.",
    "audit": "Lists the scores of any table that the rest of it contradicts: failed runs, copied results.",
    "replicate": "Sets computed scores next to what laboratories measured for the same weights and data.",
    "project": "Computes the maps that the app shows: of tasks and models (UMAP, HDBSCAN).",
    "judge": "Asks a judge about drawn pairs with known answers, before it is trusted.",
    "answers": "Counts judges' stored answers and the invalid ones.",
    "list": "Prints the catalogue, one line a row, with your own models and the suites of your data.",
    "import": "Imports scores that others measured, marked as imported.",
    "refresh": "Brings the public MTEB results in assets/imported up to date, and rebuilds the database.",
    "pairs": "Makes pairs for judges from images (PairBench).",
    "task": "Checks your own data.",
    "publish": "Uploads the database, its main tables as Parquet, and a card that describes them.",
}


class Commands(TyperGroup):
    """The only error boundary of the command line: an error that the user can fix prints one line and exits with code
    1.
    """

    def __init__(self, **given: Any) -> None:
        super().__init__(**{**given, "commands": dict.fromkeys(COMMANDS)})

    def get_command(self, context: Any, name: str) -> Any:
        """Returns the command of that name. It is made on first use, so that the imports of other commands are not
        loaded.
        """
        if name in self.commands and self.commands[name] is None:
            file = FILES.get(name, name)
            source = import_module(paths.PACKAGE if name in OF_TABLES else f"{paths.PACKAGE}.cli.{file}")
            if (group := getattr(source, "group", None)) is None:
                group = typer.Typer(add_completion=False)
                group.command()(as_command(getattr(source, file)))
            self.commands[name] = command = typer.main.get_command(group)
            command.name, command.help = name, command.help or COMMANDS[name]
        return super().get_command(context, name)

    def format_help(self, context: Any, formatter: Any) -> None:
        """Lists the commands with their one-line descriptions."""
        self.commands |= {name: TyperCommand(name, help=line) for name, line in COMMANDS.items()}
        super().format_help(context, formatter)

    def main(self, *given: Any, **named: Any) -> Any:
        """Runs click's main on streams that replace characters they cannot encode."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")
        return super().main(*given, **named)

    def invoke(self, context: Any) -> Any:
        """Runs the command. If the reader of a pipe is gone, the command ends silently, as in click."""
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
            word.encode()  # raises UnicodeEncodeError here rather than when a run is stored
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
    callback=lambda: None,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Computes and reads the scores behind Likeness. Where `likeness` is not installed (pip install -e .), write "
    "python -m compute for it.",
)


def main(name: str | None = None) -> None:
    """Runs the command line as a program. If the locale makes Python use ASCII, it restarts in UTF-8 mode, because file
    names with non-ASCII letters could not be stored.
    """
    if sys.getfilesystemencoding() == "ascii":
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])
    with working(" ".join(["likeness", *sys.argv[1:2]])):
        app(prog_name=name)


if __name__ == "__main__":
    main()
