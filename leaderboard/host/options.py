"""The app's command line: python app.py --help"""

from __future__ import annotations

import argparse
import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compute.paths import DATABASE
from compute.types import BadInput
from compute.versions import VERSION
from leaderboard.web.access import Access, access

STARTING = "Likeness is starting: it loads its libraries"  # some seconds before there is more


@dataclass(frozen=True, kw_only=True)
class Options:
    """Which database to read, where Gradio serves it, and to whom. Gradio reads options that are None from its
    environment.
    """

    database: Path
    suite: Path | None  # the file of a user suite, whose board the app opens on
    images: tuple[Path, ...]  # folders besides that of the suite's file, which its data may be in
    models: tuple[str, ...]  # checkpoints of the host's own for the Try page: folders, or models of the hub
    eyes: Path | None  # a study's folder, which the app opens on
    offline: bool
    launch: dict[str, Any]
    access: Access


def read(
    arguments: Sequence[str] | None = None, *, program: str = "python app.py", epilog: str | None = None
) -> Options:
    """Returns the options in `arguments`, by default the command line's. Ends the program if they are invalid.

    `program` is how the help calls it, `epilog` what the help ends with.
    """
    parser = argparse.ArgumentParser(
        prog=program,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,  # a command a line in `epilog`
        description="Serves the board on this machine. Its database is built first where it is\n"
        "missing or out of date, or fetched from the data set of the hub that\n"
        "LIKENESS_DATA names and renewed while the app runs.",
    )
    parser.add_argument("--version", action="version", version=VERSION)
    parser.add_argument(
        "--host", help="address to listen on; 0.0.0.0 for every network (GRADIO_SERVER_NAME, else 127.0.0.1)"
    )
    parser.add_argument(
        "--port", type=_port, help="port to listen on (GRADIO_SERVER_PORT, else the first free one from 7860)"
    )
    parser.add_argument(
        "--database",
        type=Path,
        default=DATABASE,
        help="file to read, built if needed (LIKENESS_DATABASE, else the user's data folder, or assets in a checkout)",
    )
    parser.add_argument(
        "--suite",
        type=Path,
        metavar="SUITE.TOML",
        help="your suite's file, which models have run on: the app opens on its board",
    )
    parser.add_argument(
        "--images",
        type=Path,
        action="append",
        metavar="FOLDER",
        help="with --suite: a further folder that its files and their images may be in; repeatable",
    )
    parser.add_argument(
        "--models",
        type=_names,
        action="extend",
        metavar="MODELS",
        help="your own models that visitors can choose on the Try page, comma-separated: folders of checkpoints "
        "(./name), hub:org/name@revision, or keys under which likeness run recorded them; repeatable "
        "(without it LIKENESS_MODELS); not together with LIKENESS_DATA",
    )
    parser.add_argument(
        "--eyes",
        type=Path,
        metavar="FOLDER",
        help="a study that likeness eyes made: the app opens on its questions",
    )
    parser.add_argument(
        "--root-path", help="path under which a proxy serves the app, such as /likeness (GRADIO_ROOT_PATH, else none)"
    )
    parser.add_argument(
        "--offline",
        action="store_true",
        help="contact neither the hub nor any other machine, judges' endpoints included unless they are on this one; "
        "use what was fetched before (HF_HUB_OFFLINE)",
    )
    options = parser.parse_args(arguments)
    if options.offline:  # read by the hub's library and by transformers when they are imported, which is later
        os.environ |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
    if options.port and _is_taken(options.host or "127.0.0.1", options.port):  # before anything is built or opened
        parser.error(
            f"port {options.port} is in use by another program: give another one, or none for the first free one"
        )
    if options.suite and os.environ.get("LIKENESS_DATA"):
        parser.error("--suite is built into a database of this machine: unset LIKENESS_DATA, which names another")
    models = options.models or _named(os.environ.get("LIKENESS_MODELS", ""))
    if models and os.environ.get("LIKENESS_DATA"):
        by = "--models" if options.models else "The models of LIKENESS_MODELS"
        parser.error(f"{by} are built into a database of this machine: unset LIKENESS_DATA, which names another")
    try:
        admitted = access(
            listens_on=options.host or os.environ.get("GRADIO_SERVER_NAME") or "127.0.0.1",
            root_path=options.root_path or os.environ.get("GRADIO_ROOT_PATH") or "",
            hosts=os.environ.get("LIKENESS_HOSTS", ""),
            frame_hosts=os.environ.get("LIKENESS_FRAME_HOSTS", ""),
            hub=os.environ.get("SYSTEM") == "spaces",
        )
    except BadInput as error:
        parser.error(str(error))
    return Options(
        database=options.database,
        suite=options.suite,
        images=tuple(options.images or ()),
        models=tuple(dict.fromkeys(models)),
        eyes=options.eyes,
        offline=options.offline,
        launch={"server_name": options.host, "server_port": options.port, "root_path": options.root_path},
        access=admitted,
    )


def _is_taken(host: str, port: int) -> bool:
    with socket.socket() as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host, port))
        except OSError:
            return True
    return False


def _named(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _names(text: str) -> tuple[str, ...]:
    names = _named(text)
    if not names:
        raise argparse.ArgumentTypeError("no model is named: give a folder, ./name, or hub:org/name@revision")
    return names


def _port(text: str) -> int:
    if not text.isdigit() or not 0 < int(text) < 65536:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: give a number from 1 to 65535")
    return int(text)
