"""The automatic metrics that rank generators, compared with human preference on each of cFreD's three sets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compute.analysis.generators.agreement import REVERSED, SIGNIFICANT, TOO_FEW, Agreement, agree, verdicts
from compute.types import BadInput
from leaderboard.data.board_table import BoardTable, SuiteColumn
from leaderboard.data.database import Database
from leaderboard.data.memo import shared

SEED = 20250415  # of the generators drawn again, so that a reload shows the same intervals
SETS = {"coco": "COCO", "hpdv2": "HPDv2", "parti": "Parti-Prompts"}  # of the paper, the newest generators first
ON_PREFERENCES = "Trained on preferences"  # a group of columns
# A metric, and the model under which its printed ρ² and rank accuracy are filed.
METRIC_MODELS = {
    "fid": "fid",
    "fd_dinov2": "fd-dinov2",
    "clipscore": "clipscore",
    "cmmd": "cmmd",
    "cfred": "cfred",
    "aesthetic": "aesthetic",
    "imagereward": "thudm/imagereward",
    "hpsv2": "xswu/hpsv2",
    "mps": "mps",
}


@dataclass(frozen=True, kw_only=True)
class GeneratorMetric:
    """One metric on one set of generators, with one of `compute.analysis.generators.agreement`'s verdicts."""

    column: SuiteColumn
    trained_on_set: bool
    agreement: Agreement
    verdict: str
    printed_rho: str
    printed_accuracy: str  # empty where the paper prints none
    scores: np.ndarray  # [generators], stored units
    ranks: np.ndarray  # [generators], as printed
    marks: np.ndarray  # [generators], bits of leaderboard.html.labels

    @property
    def trained(self) -> bool:
        """Whether it was trained on human preferences, on any data."""
        return self.column.group == ON_PREFERENCES

    @property
    def title(self) -> str:
        """Its title, with a dagger where it was trained on preferences."""
        return self.column.title + ("\N{NO-BREAK SPACE}†" if self.trained else "")

    @property
    def significant(self) -> bool:
        """Whether its agreement or disagreement with people is more than chance explains."""
        return self.verdict in (SIGNIFICANT, REVERSED)


@dataclass(frozen=True, kw_only=True)
class SetTrust:
    """The metrics of one set of generators by verdict; `agree` are those not trained on the set."""

    key: str
    title: str
    generators: int
    preferred: tuple[str, ...]  # titles of the three that people like best, in order
    too_few: bool  # generators for any verdict
    agree: tuple[GeneratorMetric, ...]
    trained_on_set: tuple[GeneratorMetric, ...]  # agree too, after training on the set
    reversed: tuple[GeneratorMetric, ...]
    not_significant: tuple[GeneratorMetric, ...]

    @property
    def widest(self) -> GeneratorMetric | None:
        """The agreeing metric whose rank accuracy has the widest interval; None without intervals."""

        def width(metric: GeneratorMetric) -> float:
            return metric.agreement.accuracy_by_ranks.high - metric.agreement.accuracy_by_ranks.low

        return max((metric for metric in self.agree if not np.isnan(width(metric))), key=width, default=None)


@dataclass(frozen=True, kw_only=True)
class MetricComparison:
    """All metrics on one set of generators, with human preference."""

    table: BoardTable
    people: SuiteColumn
    human: np.ndarray  # [generators], stored units
    human_ranks: np.ndarray  # [generators]
    human_marks: np.ndarray  # [generators]
    metrics: tuple[GeneratorMetric, ...]

    @property
    def title(self) -> str:
        """The set's title without its benchmark."""
        return self.table.suite["title"].removeprefix("cFreD: ")

    @property
    def trust(self) -> SetTrust:
        """The metrics by verdict."""
        agree = [metric for metric in self.metrics if metric.verdict == SIGNIFICANT]
        models = [self.table.rows[row].model for row in np.argsort(self.human_ranks, kind="stable")]
        return SetTrust(
            key=str(self.table.suite["key"]).removeprefix("cfred-"),
            title=self.title,
            generators=len(self.human),
            preferred=tuple(self.table.models.loc[model, "title"] for model in models[:3]),
            too_few=all(metric.verdict == TOO_FEW for metric in self.metrics),
            agree=tuple(metric for metric in agree if not metric.trained_on_set),
            trained_on_set=tuple(metric for metric in agree if metric.trained_on_set),
            reversed=tuple(metric for metric in self.metrics if metric.verdict == REVERSED),
            not_significant=tuple(metric for metric in self.metrics if not metric.significant),
        )

    def metric(self, key: str) -> GeneratorMetric:
        """One metric. Raises BadInput for one that the set does not have."""
        metrics = {metric.column.metric: metric for metric in self.metrics}
        if key not in metrics:
            raise BadInput(f"{self.table.suite['title']} has no metric {key!r}. Choose another one")
        return metrics[key]


def compare_metrics(db: Database, table: BoardTable) -> MetricComparison:
    """Recomputes every agreement of a set from its listed scores and ranks. Raises BadInput for one without scores."""
    columns = {column.metric: index for index, column in enumerate(table.columns)}
    if table.people is None:
        raise BadInput(f"No scores of {table.suite['title']} are stored. Choose another set")
    people = table.columns[table.people]
    human, human_ranks = table.scores.values[:, table.people], table.scores.values[:, columns["human_rank"]]
    keys = [key for key in METRIC_MODELS if key in columns and f"{key}_rank" in columns]
    scores = {key: table.scores.values[:, columns[key]] for key in keys}
    ranks = {key: table.scores.values[:, columns[f"{key}_rank"]] for key in keys}
    agreements = [
        agree(
            scores=scores[key],
            human=human,
            ranks=ranks[key],
            human_ranks=human_ranks,
            higher=table.columns[columns[key]].higher,
            seed=SEED,
        )
        for key in keys
    ]
    rows = db.query("printed_agreement", task=people.task)
    printed = {(row.model, row.metric): row.printed for row in rows.itertuples()}
    trained_on_set = set(db.query("trained_models", task=people.task)["model"])
    return MetricComparison(
        table=table,
        people=people,
        human=human,
        human_ranks=human_ranks,
        human_marks=table.marks[:, table.people],
        metrics=tuple(
            GeneratorMetric(
                column=table.columns[columns[key]],
                trained_on_set=METRIC_MODELS[key] in trained_on_set,
                agreement=agreement,
                verdict=verdict,
                scores=scores[key],
                ranks=ranks[key],
                marks=table.marks[:, columns[key]],
                printed_rho=printed.get((METRIC_MODELS[key], "rho_squared"), ""),
                printed_accuracy=printed.get((METRIC_MODELS[key], "rank_accuracy"), ""),
            )
            for key, agreement, verdict in zip(keys, agreements, verdicts(agreements), strict=True)
        ),
    )


# Of one set of SETS, by a site and the set's key.
comparison_of = shared(lambda site, key: compare_metrics(site.db, site.suite_cache.table(f"cfred-{key}")))
