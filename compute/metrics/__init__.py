"""Every metric a score can have: what it is called, which way is better, how it is printed."""

from __future__ import annotations

from compute.types import Metric


def _percent(
    key: str, title: str, *, description: str, digits: int = 1, lower: float | None = 0.0, proportion: bool = False
) -> Metric:
    return Metric(
        key=key,
        title=title,
        higher_is_better=True,
        lower=lower,
        upper=1.0,
        unit="%",
        scale=100.0,
        digits=digits,
        proportion=proportion,
        description=description,
    )


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


def _raw(
    key: str,
    title: str,
    *,
    higher: bool,
    description: str,
    lower: float | None = None,
    upper: float | None = None,
    unit: str = "",
    digits: int = 2,
) -> Metric:
    return Metric(
        key=key,
        title=title,
        higher_is_better=higher,
        lower=lower,
        upper=upper,
        unit=unit,
        digits=digits,
        description=description,
    )


_GENERATOR_METRICS = (
    _percent("human_rate", "Human preference", digits=2, description="Share of comparisons that people decide for it."),
    _raw("elo", "Elo", higher=True, unit="Elo", digits=0, description="Arena rating from human votes."),
    _raw("fid", "FID", higher=False, lower=0.0, description="Fréchet distance of Inception-v3 features."),
    _raw("fd_dinov2", "FD-DINOv2", higher=False, lower=0.0, description="Fréchet distance of DINOv2 features."),
    _raw("clipscore", "CLIPScore", higher=True, description="CLIP similarity of image and prompt."),
    _raw("cmmd", "CMMD", higher=False, lower=0.0, description="Maximum mean discrepancy of CLIP features, x1000."),
    _raw("cfred", "cFreD", higher=False, lower=0.0, description="Fréchet distance conditioned on the prompt."),
    _raw("aesthetic", "Aesthetic", higher=True, description="LAION aesthetic predictor's mean score."),
    _raw("imagereward", "ImageReward", higher=True, description="Mean reward of a model of human preference."),
    _raw("hpsv2", "HPSv2", higher=True, description="Human Preference Score v2, mean."),
    _raw("mps", "MPS", higher=True, description="Multi-dimensional Preference Score, mean."),
)

METRICS: tuple[Metric, ...] = (
    _percent("accuracy", "Accuracy", proportion=True, description="Share of items answered correctly."),
    _percent("text_accuracy", "Text accuracy", proportion=True, description="Share of images given the right caption."),
    _percent(
        "image_accuracy", "Image accuracy", proportion=True, description="Share of captions given the right image."
    ),
    _percent("group_accuracy", "Group accuracy", proportion=True, description="Share of groups wholly right."),
    _percent("recall_at_1", "Recall@1", proportion=True, description="Share of queries whose first hit is relevant."),
    _percent("recall_at_3", "Recall@3", proportion=True, description="Share of queries with a relevant hit in three."),
    _percent("recall_at_10", "Recall@10", proportion=True, description="Share of queries with a relevant hit in ten."),
    _percent("mrr_at_10", "MRR@10", description="Mean of 1 / place of the first relevant hit, within ten."),
    _percent("map", "mAP", description="Mean average precision over queries."),
    _percent("map_at_5", "MAP@5", description="Mean average precision within the first five hits."),
    _percent("ndcg_at_10", "nDCG@10", description="Discounted gain of the first ten hits over the best possible."),
    _percent("ndcg_at_5", "nDCG@5", description="Discounted gain of the first five hits over the best possible."),
    _percent("lrap", "LRAP", description="Label-ranking average precision."),
    _percent("nmi", "NMI", description="Normalised mutual information of clusters and labels."),
    _percent("cosine_spearman", "Spearman", lower=-1.0, description="Rank correlation of cosine and human score."),
    _percent(
        "mmscore", "MMScore", digits=2, description="Normalised mutual information of judged and true similarity."
    ),
    _percent(
        "relax_sym", "1-RelaxSym", digits=2, description="Share of pairs judged alike in both orders, within one point."
    ),
    _raw("smoothness", "Smoothness", higher=True, lower=0.0, unit="nats", description="Entropy of the scores given."),
    _percent(
        "controllability",
        "Controllability",
        digits=2,
        lower=None,
        description="How evenly a judge does when told to heed and to ignore a change.",
    ),
    *_GENERATOR_METRICS,
    *(_rank(metric.key.removesuffix("_rate"), metric.title) for metric in _GENERATOR_METRICS if metric.key != "elo"),
    _raw(
        "rho_squared",
        "ρ²",
        higher=True,
        lower=0.0,
        upper=1.0,
        description="Squared Pearson correlation with human preference; the sign is dropped.",
    ),
    _percent("rank_accuracy", "Rank accuracy", description="Share of generator pairs ordered as people order them."),
)
