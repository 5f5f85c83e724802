"""likeness refresh: updates the shipped public MTEB results; a host can schedule it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

from compute import paths
from compute.cli import imports, publish, workspace
from compute.types import BadInput, NotHere

MOST = 0.02  # of the shipped scores: if more change, files or their reader may be broken


def refresh(
    path: Annotated[Path | None, "A copy of the results repository; default: download it."] = None,
    *,
    revision: Annotated[str, "Commit or branch to download, or the commit that PATH is of."] = "main",
    date: Annotated[str, "The commit's date, YYYY-MM-DD; of main: today."] = "",
    accept: Annotated[bool, "Write them though more than 2% of the shipped scores changed."] = False,
    repo: Annotated[str, "Data set to publish the data to afterwards, USER/NAME."] = "",
    space: Annotated[str, "Space to publish the app to afterwards, USER/NAME."] = "",
) -> Iterator[str]:
    """Brings the public MTEB results in assets/imported up to date, and rebuilds the database; may publish both.

    Prints each shipped score that changed or is gone; if these are more than 2%, or if nothing changed, nothing is
    written. The version of the data before is stored: addresses that name it show it.
    """
    from compute.catalog import shipped
    from compute.importing import fetch_mteb_results, read_mteb_results, snapshot

    if paths.IS_INSTALLED:
        raise NotHere("refresh changes the files of a checkout: run it in a clone, or use import mteb-results")
    date = date or (f"{datetime.now(UTC):%F}" if not path and revision == "main" else "")
    if path and not re.fullmatch(r"[0-9a-f]{7,40}", revision) or not re.fullmatch(r"\d{4}-\d\d-\d\d", date):
        raise BadInput("The shipped files record their commit: give --revision COMMIT and --date YYYY-MM-DD")
    folder = path or fetch_mteb_results(paths.RESULTS / "fetched", revision=revision, catalog=shipped())
    commit = revision if path else folder.name
    imported = read_mteb_results(folder, catalog=shipped())
    imports.report(imported, what="file")
    changed, old, added = snapshot.changes(paths.IMPORTED, imported)
    for row in changed.itertuples():
        now = "gone" if row.new != row.new else f"now {row.new:.6g}"
        yield f"- {row.folder}, {row.task}, {row.subset}, {row.metric}: {row.old:.6g}, {now}"
    found = f"{len(changed):,} of {old:,} shipped scores changed or are gone"
    if len(changed) > MOST * old and not accept:
        raise BadInput(f"{found}, over {MOST:.0%}: nothing was written. If the list above is right, add --accept")
    told = f"Results of {date}, commit {commit[:12]}: {found}, {added:,} are new"
    yield told
    if changed.empty and not added and snapshot.manifest(paths.IMPORTED).models == imported.facts:
        yield "Nothing was written: the shipped files say the same"
    else:
        ship = partial(snapshot.ship, imported, folder=paths.IMPORTED, commit=commit, date=date)
        workspace.as_version(ship, entry=f"The public MTEB results. {told}.", date=f"{datetime.now(UTC):%F}")
        workspace.rebuild(paths.RESULTS)
    if repo:
        yield from publish.data(repo=repo)
    if space:
        yield from publish.space(repo=space)
