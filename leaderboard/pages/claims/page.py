"""The papers' statements and what their own tables yield, claim by claim.

A claim's own address is `claims?claim=<key>`, with `key` of the table `claims` in the database.
"""

from __future__ import annotations

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from compute.types import BadInput
from leaderboard.data.database import shared
from leaderboard.html.components import html, scripted
from leaderboard.html.templates import render
from leaderboard.page import PAPERS, Site, View, fill, static_html
from leaderboard.pages.claims.doubts import doubts
from leaderboard.pages.claims.listing import claims
from leaderboard.web.responses import download, safe_csv

MOST_ROWS = 15  # before the table is there


def draw(site: Site) -> None:
    """Draws static text and the table component, which keeps its state in the address itself."""
    mount = "module.mount(target, 'data/claims');"
    scripted(
        site.assets,
        script="pages/claims/claims.js",
        run=mount,
        css_class="likeness-board lk-claims",
        data="data/claims",
        rows=lambda query: rows(site),
    )
    static_html(render("pages/claims/verdicts.html"))
    below = html()
    fill(site, section="Doubtful scores", outputs=[below], make=lambda: [doubts(site)])


@shared
def rows(site: Site) -> Markup:
    """Returns the first claims, shown before their table is loaded."""
    data = claims(site.db)
    records = [dict(zip(data["fields"], row, strict=True)) for row in data["rows"]]
    headlines = [row["verdict"] for row in records if row["severity"] == "headline"]
    return render("pages/claims/rows.html", counts=data["counts"], headlines=headlines, rows=records[:MOST_ROWS])


def routes(site: Site) -> list[Route]:
    """Returns the table of claims, and the published tables by name."""
    return [
        site.table("claims", lambda: claims(site.db)),
        Route("/published/{name}", site.guard(published)),
    ]


def published(request: Request) -> Response:
    """Returns one table of a paper as printed, safe in spreadsheets, or the list of corrections or of changes.

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


CLAIMS = View(
    key="claims",
    title="Claims",
    sentence="Every number and statement of the four papers that their own tables can check, printed and recomputed.",
    cites=PAPERS,
    group="Insights",
    draw=draw,
    routes=routes,
)
