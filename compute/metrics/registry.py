"""Every metric a score can have: its name, which way is better, how it is printed, and how it is computed.

A new metric is one row here and one function. Without `compute`, a run's score is the mean of the evidence's column of
the metric's key, which the procedure fills.
"""

from __future__ import annotations

from functools import partial

from compute.metrics.figures import clustering_nmi, cosine_spearman
from compute.types import Metric

_percent = partial(Metric, higher_is_better=True, lower=0.0, upper=1.0, unit="%", scale=100.0, digits=1)
_raw = partial(Metric, lower=None, upper=None, unit="")


def _rank(of: str, title: str) -> Metric:
    return Metric(
        key=f"{of}_rank",
        title=f"{title} rank",
        higher_is_better=False,
        lower=1.0,
        upper=None,
        unit="rank",
        digits=0,
        description=f"Place among the listed generators by {title}, as the paper prints it.",
    )


_GENERATOR_METRICS = (
    _percent(
        key="human_rate",
        title="Human preference",
        digits=2,
        description="Share of comparisons that people decide for it.",
    ),
    _raw(
        key="elo",
        title="Elo",
        higher_is_better=True,
        unit="Elo",
        digits=0,
        description="Arena rating from human votes.",
    ),
    _raw(
        key="fid",
        title="FID",
        higher_is_better=False,
        lower=0.0,
        description="Fréchet distance of Inception-v3 features.",
    ),
    _raw(
        key="fd_dinov2",
        title="FD-DINOv2",
        higher_is_better=False,
        lower=0.0,
        description="Fréchet distance of DINOv2 features.",
    ),
    _raw(key="clipscore", title="CLIPScore", higher_is_better=True, description="CLIP similarity of image and prompt."),
    _raw(
        key="cmmd",
        title="CMMD",
        higher_is_better=False,
        lower=0.0,
        description="Maximum mean discrepancy of CLIP features, x1000.",
    ),
    _raw(
        key="cfred",
        title="cFreD",
        higher_is_better=False,
        lower=0.0,
        description="Fréchet distance conditioned on the prompt.",
    ),
    _raw(
        key="aesthetic", title="Aesthetic", higher_is_better=True, description="LAION aesthetic predictor's mean score."
    ),
    _raw(
        key="imagereward",
        title="ImageReward",
        higher_is_better=True,
        description="Mean reward of a model of human preference.",
    ),
    _raw(key="hpsv2", title="HPSv2", higher_is_better=True, description="Human Preference Score v2, mean."),
    _raw(key="mps", title="MPS", higher_is_better=True, description="Multi-dimensional Preference Score, mean."),
)

METRICS: tuple[Metric, ...] = (
    _percent(key="accuracy", title="Accuracy", proportion=True, description="Share of items answered correctly."),
    _percent(
        key="text_accuracy",
        title="Text accuracy",
        proportion=True,
        description="Share of images given the right caption.",
    ),
    _percent(
        key="image_accuracy",
        title="Image accuracy",
        proportion=True,
        description="Share of captions given the right image.",
    ),
    _percent(
        key="group_accuracy", title="Group accuracy", proportion=True, description="Share of groups wholly right."
    ),
    _percent(
        key="recall_at_1",
        title="Recall@1",
        proportion=True,
        description="Share of queries whose first hit is relevant.",
    ),
    _percent(
        key="recall_at_3",
        title="Recall@3",
        proportion=True,
        description="Share of queries with a relevant hit in three.",
    ),
    _percent(
        key="recall_at_10",
        title="Recall@10",
        proportion=True,
        description="Share of queries with a relevant hit in ten.",
    ),
    _percent(key="mrr_at_10", title="MRR@10", description="Mean of 1 / place of the first relevant hit, within ten."),
    _percent(key="map", title="mAP", description="Mean average precision over queries."),
    _percent(key="map_at_5", title="MAP@5", description="Mean average precision within the first five hits."),
    _percent(
        key="ndcg_at_10", title="nDCG@10", description="Discounted gain of the first ten hits over the best possible."
    ),
    _percent(
        key="ndcg_at_5", title="nDCG@5", description="Discounted gain of the first five hits over the best possible."
    ),
    _percent(key="lrap", title="LRAP", description="Label-ranking average precision."),
    _percent(
        key="nmi",
        title="NMI",
        description="Normalised mutual information of clusters and labels.",
        inputs=("expected", "answer"),
        compute=clustering_nmi,
    ),
    _percent(
        key="cosine_spearman",
        title="Spearman",
        lower=-1.0,
        description="Rank correlation of cosine and human score.",
        inputs=("human", "value"),
        compute=cosine_spearman,
    ),
    _percent(
        key="mmscore",
        title="MMScore",
        digits=2,
        description="Normalised mutual information of judged and true similarity.",
    ),
    _percent(
        key="relax_sym",
        title="1-RelaxSym",
        digits=2,
        description="Share of pairs judged alike in both orders, within one point.",
    ),
    _raw(
        key="smoothness",
        title="Smoothness",
        higher_is_better=True,
        lower=0.0,
        unit="nats",
        description="Entropy of the scores given.",
    ),
    _percent(
        key="controllability",
        title="Controllability",
        digits=2,
        lower=None,
        description="How evenly a judge does when told to heed and to ignore a change.",
    ),
    *_GENERATOR_METRICS,
    *(_rank(metric.key.removesuffix("_rate"), metric.title) for metric in _GENERATOR_METRICS if metric.key != "elo"),
    _raw(
        key="rho_squared",
        title="ρ²",
        higher_is_better=True,
        lower=0.0,
        upper=1.0,
        description="Squared Pearson correlation with human preference; the sign is dropped.",
    ),
    _percent(
        key="rank_accuracy", title="Rank accuracy", description="Share of generator pairs ordered as people order them."
    ),
)
