"""What the papers say beside what their own figures give, claim by claim."""

from __future__ import annotations

from leaderboard import page as ui
from leaderboard.html.lazy_tables import claims
from leaderboard.page import View
from leaderboard.pages.claims.routes import routes

SENTENCE = (
    "Every figure and statement of the four papers that their own tables can check, printed beside "
    "recomputed. Conflicts come "
    "first; a count filters, a row shows the claim in full."
)
VERDICTS = (
    (
        "Conflict",
        "the figures give another value than the one printed, by more than rounding can explain. Often a "
        "misprint; it may "
        "also be a loss in our text of the paper where the note says so.",
    ),
    ("Rounding", "off in the last digits by no more than the rounding of the printed inputs can cause."),
    ("Cannot be recomputed", "the paper prints too little to check it; the note says what is missing."),
    ("Reproduces", "equal at the printed digits."),
)


def draw(site: ui.Site) -> None:
    """Static words and the table component, which keeps its state in the address itself."""
    ui.heading(site, title="Claims", sentence=SENTENCE, cite=ui.citations(site))
    words = "".join(f"<div><dt>{name}</dt><dd>{meaning}</dd></div>" for name, meaning in VERDICTS)
    claims(site.assets)
    ui.static_html(
        "<section class='pg-section'><h2>What the verdicts mean</h2><dl class='pg-facts'>" + words + "</dl></section>"
    )


CLAIMS = View(key="claims", title="Claims", draw=draw, routes=routes)
