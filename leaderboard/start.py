"""Starts the app, as `python app.py` and `likeness` do."""

from __future__ import annotations

import os
import secrets
import shlex
import sys
from functools import partial

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # nothing leaves the machine while browsing

from compute.database.build import bring_up_to_date  # noqa: E402
from compute.eyes.folder import StudyFolder  # noqa: E402
from compute.processes import long_lived, tune_malloc  # noqa: E402
from compute.types import BadInput, LikenessError  # noqa: E402
from leaderboard.api import mcp  # noqa: E402
from leaderboard.host import accelerator, hub_data, own_models, suite_file  # noqa: E402
from leaderboard.host.options import Options  # noqa: E402

STARTED = "STARTED_ANEW_BY"  # the process that did so


def start(chosen: Options) -> None:
    """Fetches the database, or builds it if it is missing or out of date, then serves the app. An error that a user can
    fix prints one line and exits with code 1.
    """
    remarks: list[str] = []
    accelerator.claim()
    tune_malloc()
    try:
        key, models = "", ()
        if chosen.suite:
            key = suite_file.record(chosen.suite, images=chosen.images, offline=chosen.offline)
        if chosen.models:
            models = own_models.record(chosen.models, offline=chosen.offline, report=remarks.append)
        data = hub_data.from_environment()
        fetched = data.start() if data else None
        if fetched is None and bring_up_to_date(chosen.database, report=partial(print, flush=True)):
            start_anew()
        _tell(remarks)  # once: not before the program restarts
        with long_lived():
            with mcp.defer_import():
                from leaderboard import server
            opens_on = suite_file.address(chosen.database, key, path=chosen.suite) if key else ""
            study = StudyFolder.opened(chosen.eyes) if chosen.eyes else None
            if study and study.study is None:
                raise BadInput(
                    f"{chosen.eyes} has no questions yet. Make them: likeness eyes {shlex.quote(str(chosen.eyes))}"
                )
            study_key = "" if chosen.access.is_local else secrets.token_urlsafe(16)
            if study and study_key:
                _tell([f"The study of {chosen.eyes} is at /eyes?key={study_key} alone: its key lets anyone answer"])
            blocks, launch = server.build(
                fetched or chosen.database,
                data=data,
                access=chosen.access,
                opens_on="eyes" if study and not study_key else opens_on,
                own_models=models,
                study=study,
                study_key=study_key,
            )
            print("The pages are built", flush=True)
        server.serve(blocks, launch | chosen.launch)
    except (LikenessError, OSError) as error:  # Gradio's own for a port that is taken
        _tell(remarks)
        print(f"Error: {str(error).strip().partition(chr(10))[0]}", file=sys.stderr)
        sys.exit(1)


def _tell(remarks: list[str]) -> None:
    """Prints the distinct remarks."""
    while remarks:
        print(remarks.pop(0), flush=True)


def start_anew() -> None:
    """Restarts the same command in this process and does not return. On a second call, or on another system, it does
    nothing.

    For a server that has built its database: the build leaves 50 MB of libraries that no page needs.
    """
    if os.name == "posix" and os.environ.get(STARTED) != str(os.getpid()):
        os.environ[STARTED] = str(os.getpid())
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
