"""The app's interface for programs: four named endpoints, for gradio_client and as tools of language models (MCP).

Their docstrings are what a client is shown, and their annotations are read by Gradio, so they are not postponed here.
"""

import base64
import functools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, Protocol

import gradio as gr
import numpy as np

from compute.analysis.table import USUAL
from compute.live.inputs import LARGEST_IMAGE
from compute.rounding import rounded
from compute.types import BadInput, suggestion
from leaderboard.data import payload, suite_queries, task_queries
from leaderboard.data.board_table import TRAINED, BoardTable, origins_in_order
from leaderboard.data.related_figures import RelatedFigure, listed_sources, related_figures
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.html import labels
from leaderboard.live.live import QUEUE
from leaderboard.web.errors import explain

NAMES = ("list_models", "list_suites", "leaderboard", "score_pair")
MOST_ROWS = 1000
MOST_SOURCES = 20  # that a row names
RANKED_BY = {"category-mean": "mean of the category means", "task-mean": "mean of its tasks", "human": "people"}
ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)
FILE_NAME = re.compile(r"\S+\.(png|jpe?g|webp|gif|avif|bmp|tiff?)", re.IGNORECASE)
IMAGE = re.compile(r"data:image/[\w.+-]+(?:;[\w.+-]+=[\w.+-]+)*;base64,", re.IGNORECASE)
Rows = list[dict[str, Any]]
LiveInput = tuple[str, str | bytes]  # ("text", words), ("image", the bytes of a file) or ("example", its key)


class LivePart(Protocol):
    """What the endpoints need of the part that loads models; its own LikenessError is the caller's sentence."""

    def admit(self, request: gr.Request | None) -> None:
        """Raises where this visitor sends too many requests."""
        ...

    def records(self, mode: str) -> Rows:
        """Every model that can answer in a mode, or in any: key, title, kind, abilities, state, reason."""
        ...

    def score(self, inputs: Sequence[LiveInput], models: Sequence[str], request: gr.Request | None) -> Rows:
        """How similar two inputs are to each model; without keys, to those it chooses itself. `request` is the
        visitor's, whose questions to judges are counted.

        A row has `model` and `pairing` (image-image, image-text or text-text); the rest is shown as it is.
        """
        ...


class EndpointError(gr.Error):
    """An error as one sentence for the calling program."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, print_exception=False)

    def __str__(self) -> str:
        return self.message  # Gradio's own adds quotation marks, which a tool's caller would read


def add(suite_cache: SuiteCache, live: LivePart) -> None:
    """Adds the endpoints to the Blocks that are being built."""

    def list_models(mode: str = "") -> list[dict[str, Any]]:
        """Lists the models that can score inputs on this server.

        A record has key (the model's name in other calls), title, kind, abilities, state (ready: score_pair can use it;
        download: its weights are not downloaded yet; impossible) and reason (why, as a sentence).

        Args:
            mode: pair, choice, odd or quality: only models that can compare in this way. Empty: all models.
        """
        return live.records(str(mode or "").strip())

    def list_suites() -> list[dict[str, Any]]:
        """Lists the suites of tasks on which models are ranked, each a table that leaderboard returns.

        A record has key (how leaderboard names the suite), title, benchmark, description, tasks (how many), ranked_by,
        paper (its address) and synthetic (a program drew the items, so the scores say nothing about photographs).
        """
        return _suites(suite_cache)

    def leaderboard(
        suite: str, limit: int = 20, origin: str = "", license: str = "", released: str = "", trained: str = ""
    ) -> list[dict[str, Any]]:
        """Ranks the models of one suite as the board shows them, with the uncertainty of every rank.

        A record, the best first, has rank with rank_low and rank_high (an interval that holds it in at least 95%, or
        usually so where few_tasks), tie_class (no two models of one letter differ significantly), model, title, kind,
        origin, mean with mean_low and mean_high (95% interval; at least 95% where few_tasks says that it rests on few),
        interval_unknown (why there is neither interval nor class), unit, scores (by category, in the unit the papers
        print), coverage (share of the tasks with a score),
        covered (that plus the tasks covered by a mean that the paper prints: what a row needs to be ranked),
        why (it is not ranked), trained_on (categories with data that the model was trained on), trained (on any data
        set of the suite: yes, no, or unknown where no source states its training data, which is not zero-shot),
        license, released, source (the papers' tables, or runs) and synthetic (a program drew the items). Ranks count
        among rows of one origin; a filter hides rows and changes no rank.

        Args:
            suite: key of a suite, such as mieb or unisim-core; list_suites names them.
            limit: how many rows from the top, 1 to 1000.
            origin: published, imported or computed. Empty: as the board opens, the origin with the
                most models that have every task.
            license: only models under these licences, commas between, such as mit,apache-2.0; unknown: not stated.
            released: only models of these years, commas between, such as 2024,2025; unknown: not stated.
            trained: only models with these answers, commas between: yes, no, unknown.
        """
        filters = {"license": license, "released": released, "trained": trained}
        chosen = {
            name: frozenset(filter(None, map(str.strip, str(text or "").split(",")))) for name, text in filters.items()
        }
        return _leaderboard(suite_cache, str(suite or "").strip(), limit, str(origin or "").strip(), filters=chosen)

    def score_pair(
        first: str, second: str, models: list[str] | str = "", request: gr.Request | None = None
    ) -> list[dict[str, Any]]:
        """Scores how similar two inputs are to some models: two images, two texts, or an image and a text.

        Scores of different models cannot be compared. Where a model is calibrated on inputs like these, its record says
        where the score lies among matching and unrelated pairs; else no_percentile says why not. published lists the
        model's printed scores for this kind of question; problem explains why a model has no score; note says what was
        changed in an input, such as transparent parts shown on white. Images are data URIs of at most 8 MB. Nothing
        that is sent is written to disk, and no address is fetched.

        Args:
            first: a text, or an image as data:image/png;base64,... or one of the app's examples as example:KEY.
            second: the same.
            models: keys, as a list or with commas between; list_models names them. Empty: the server's choice.
        """
        live.admit(request)
        return _score_pair(suite_cache, live, first, second, models, request=request)

    for endpoint in (list_models, list_suites, leaderboard):
        gr.api(_guarded(suite_cache, endpoint), api_name=endpoint.__name__, queue=False)
    gr.api(_guarded(suite_cache, score_pair), api_name="score_pair", concurrency_id=QUEUE, concurrency_limit=1)


def _guarded(suite_cache: SuiteCache, endpoint: Callable[..., Rows]) -> Callable[..., Rows]:
    """The endpoint with every failure as a sentence, and its whole answer from one file of the database."""

    @functools.wraps(endpoint)
    def answer(*args: Any) -> Rows:
        try:
            with suite_cache.db.snapshot():
                return [_plain(row) for row in endpoint(*args)]
        except Exception as error:
            raise EndpointError(explain(error, action=endpoint.__name__)) from error

    return answer


def _plain(value: Any) -> Any:
    """The value as JSON has it: numpy's numbers would arrive as text, and JSON has no NaN."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(item) for item in value]
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _suites(suite_cache: SuiteCache) -> Rows:
    return [
        {
            "key": row.key,
            "title": labels.plain_title(row.title, row.benchmark),
            "benchmark": row.benchmark_title,
            "tasks": int(row.tasks),
            "ranked_by": RANKED_BY[row.aggregate],
            "description": row.description,
            "paper": row.url or "",
            "synthetic": labels.is_synthetic(row.benchmark),
        }
        for row in suite_queries.suites(suite_cache.db).itertuples()
    ]


def _leaderboard(
    suite_cache: SuiteCache,
    suite: str,
    limit: int,
    origin: str,
    *,
    filters: Mapping[str, frozenset[str]] | None = None,
) -> Rows:
    _known("suite", suite, list(suite_queries.suites(suite_cache.db)["key"]), lister="list_suites")
    if not isinstance(limit, int) or not 1 <= limit <= MOST_ROWS:
        raise BadInput(f"limit is {limit!r}; it is a number of rows from 1 to {MOST_ROWS}")
    table = suite_cache.table(suite)
    origins = origins_in_order(row.origin for row in table.rows)
    if origin and origin not in origins:
        raise BadInput(f"{suite} has no rows of origin {origin!r}; it has: {', '.join(origins)}")
    rows = _rows(suite_cache, table, table.rows_of(origin or USUAL))
    for name, chosen in (filters or {}).items():
        present = {_filtered(name, row) for row in rows}
        if chosen - present:
            raise BadInput(
                f"{suite} has no row with {name} {min(chosen - present)[:80]!r}; it has: {', '.join(sorted(present))}"
            )
        rows = [row for row in rows if not chosen or _filtered(name, row) in chosen]
    return sorted(rows, key=_order)[:limit]


def _filtered(name: str, row: dict[str, Any]) -> str:
    """What a filter compares of a row, as on the board."""
    text = str(row[name])
    return (text[:4] if name == "released" else text) or "unknown"


def _order(row: dict[str, Any]) -> tuple:
    """As the board opens: by rank, rows without one last; then by mean, coverage and title."""
    return (
        row["rank"] is None,
        row["rank"] or 0,
        row["mean"] is None,
        -(row["mean"] or 0),
        -row["coverage"],
        row["title"].lower(),
    )


def _rows(suite_cache: SuiteCache, table: BoardTable, indices: Sequence[int]) -> Rows:
    ranked = suite_cache.ranked(table.suite["key"])
    numbers = payload.ranking(table, ranked)
    columns = table.category_columns or tuple(column for column in table.columns if column.default)
    values = (
        payload.category_means(table, ranked)
        if table.category_columns
        else table.scores.values[:, [table.columns.index(column) for column in columns]]
    )
    frame = task_queries.sources(suite_cache.db, tasks=sorted({column.task for column in table.columns}))
    sources = {row: list(group["source"]) for row, group in frame.groupby(["model", "origin"])}
    trained = (table.marks & TRAINED) > 0
    out = []
    for at in indices:
        row, facts = table.rows[at], table.models.loc[table.rows[at].model]
        seen = dict.fromkeys(table.columns[index].group for index in np.flatnonzero(trained[at]))
        out.append(
            {
                "rank": numbers["rank"][at],
                "rank_low": numbers["low"][at],
                "rank_high": numbers["high"][at],
                "tie_class": numbers["tie"][at],
                "model": row.model,
                "title": facts["title"],
                "kind": facts["kind"],
                "origin": row.origin,
                "mean": numbers["mean"][at],
                "mean_low": numbers["mean_low"][at],
                "mean_high": numbers["mean_high"][at],
                "few_tasks": numbers["few"][at],
                "interval_unknown": numbers["unknown"][at],
                "unit": "%" if columns and columns[0].scale == 100 else "",
                "scores": {
                    column.title: _shown(value, column.scale, column.digits)
                    for column, value in zip(columns, values[at].tolist(), strict=True)
                },
                "coverage": numbers["coverage"][at],
                "covered": numbers["covered"][at],
                "why": numbers["why"][at],
                "trained_on": list(seen),
                "trained": table.trained(at),
                "license": facts["license"] or "",
                "released": facts["released"] or "",
                "source": listed_sources(
                    sources.get((row.model, row.origin), []), origin=row.origin, most=MOST_SOURCES
                ),
                "synthetic": labels.is_synthetic(table.suite["benchmark"]),
            }
        )
    return out


def _shown(value: float, scale: float, digits: int) -> float | None:
    return None if np.isnan(value) else float(rounded(value, digits, scale=scale))  # as the board's cells


def _score_pair(
    suite_cache: SuiteCache,
    live: LivePart,
    first: str,
    second: str,
    models: list[str] | str,
    *,
    request: gr.Request | None = None,
) -> Rows:
    inputs = [_input(value, name) for value, name in ((first, "first"), (second, "second"))]
    listed = models.split(",") if isinstance(models, str) else models
    keys = list(dict.fromkeys(filter(None, (str(key).strip() for key in listed or ()))))
    known = [row["key"] for row in live.records("")]
    for key in keys:
        _known("model", key, known, lister="list_models")
    answers = live.score(inputs, keys, request)
    pairings = {str(row["pairing"]) for row in answers}
    published = {
        pairing: related_figures(
            suite_cache, models=[str(row["model"]) for row in answers], mode="pair", kinds=pairing.split("-")
        )
        for pairing in pairings
    }
    return [
        {**row, "published": [_record(figure) for figure in published[str(row["pairing"])][str(row["model"])]]}
        for row in answers
    ]


def _input(value: str, name: str) -> LiveInput:
    """The input in a string. Raises BadInput for an address, the name of a file, and invalid image data."""
    words = value.strip() if isinstance(value, str) else ""
    if not words:
        raise BadInput(f"{name} is empty. Give a text, example:KEY, or an image as data:image/png;base64,...")
    if words.startswith("example:"):
        return "example", words.removeprefix("example:").strip()
    if words[:5].lower() == "data:":
        return "image", _image(words, name)
    if ADDRESS.fullmatch(words):
        raise BadInput(
            f"{name} is an address, and addresses are not fetched. Send the image itself, as data:image/png;base64,..."
        )
    if FILE_NAME.fullmatch(words):
        raise BadInput(
            f"{name} is {words[:80]!r}, the name of a file, and files are not read. Send the image itself, "
            "as data:image/png;base64,..."
        )
    return "text", words


def _image(words: str, name: str) -> bytes:
    head = IMAGE.match(words)
    if head is None:
        raise BadInput(f"{name} is a data URI of another kind. An image is sent as data:image/png;base64,...")
    if len(words) - head.end() > LARGEST_IMAGE * 4 // 3 + 4:
        raise BadInput(f"{name} is larger than {LARGEST_IMAGE // 1_000_000} MB. Send a smaller image")
    try:
        return base64.b64decode(words[head.end() :], validate=True)
    except ValueError as error:
        raise BadInput(f"{name} is not valid base64 after {head.group()!r}") from error


def _known(noun: str, key: str, known: Sequence[str], *, lister: str) -> None:
    """Raises BadInput for a key that is not known, with the nearest one that is."""
    if key in known:
        return
    raise BadInput(f"No {noun} {key[:80]!r}.{suggestion(key, known)} {lister} names them all")


def _record(figure: RelatedFigure) -> dict[str, Any]:
    """A published figure as plain values; numbers in the unit the papers print, at their digits."""
    values = {
        field.name: getattr(figure, field.name) for field in fields(figure) if field.name not in ("digits", "percent")
    }
    return {
        **values,
        **{
            name: None if values[name] is None else float(rounded(values[name], figure.digits))
            for name in ("value", "low", "high", "chance")
        },
        "unit": "%" if figure.percent else "",
    }
