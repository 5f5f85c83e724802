"""likeness lite: selects a smaller suite."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from compute import paths
from compute.analysis.lite import smaller
from compute.cli.workspace import Database, Origin, suite_scores
from compute.database import store
from compute.options import taking


@taking(smaller.choose, without=("scores", "models"))
def lite(
    *,
    suite: Annotated[str, "Which suite to make smaller: likeness list suites."] = "mieb",
    origin: Origin = "usual",
    database: Database = None,
    **choice: Any,
) -> Iterator[str]:
    """Selects a smaller suite that ranks models like the full one, after MIEB section 6.3."""
    (scores,) = suite_scores(database, suites=(suite,), origin=origin)
    models = store.frames(database or paths.DATABASE, names=("models",))["models"].set_index("key")
    return smaller.lines(smaller.choose(scores, models=models, **choice))
