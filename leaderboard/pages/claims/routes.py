"""What the browser fetches of the claims: their table, and the papers' tables as files."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from compute.types import BadInput
from leaderboard.data.csv_files import safe_csv
from leaderboard.data.payload import compressed
from leaderboard.page import Site
from leaderboard.pages.claims.listing import claims
from leaderboard.web.responses import download


def routes(site: Site) -> list[Route]:
    """The table of claims, and the published tables by name."""
    return [
        Route("/data/claims", site.guard(compressed(site.db, lambda: claims(site.db)))),
        Route("/published/{name}", site.guard(published)),
    ]


def published(request: Request) -> Response:
    """One table of a paper as printed, harmless in spreadsheets, or the list of corrections or of changes.

    Raises BadInput for a table that is not listed.
    """
    from compute.io.tables import read_csv
    from compute.paths import PUBLISHED

    name = request.path_params["name"]
    if name in ("CORRECTIONS.md", "CHANGELOG.md"):
        return Response((PUBLISHED / name).read_bytes(), media_type="text/plain; charset=utf-8")
    key = name.removesuffix(".csv")
    if key not in list(read_csv(PUBLISHED / "tables.csv")["key"]):
        raise BadInput(f"There is no published table {key!r}. Choose one from the claims page")
    return download(
        safe_csv((PUBLISHED / f"{key}.csv").read_bytes()), name=f"{key}.csv", media="text/csv; charset=utf-8"
    )
