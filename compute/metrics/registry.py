"""All metrics of scores: name, which direction is better, how values are printed, and how they are computed.

A new metric is one row here and one function. Without `compute`, a run's score is the mean of the column of evidence
named by the metric's key, which the procedure fills. A metric with only `whole` uses all subsets of a task at once.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from compute.metrics import judge
from compute.metrics.figures import cosine_spearman, nmi
from compute.types import Metric


def _metric(key: str, title: str, description: str = "", **rest: Any) -> Metric:
    return Metric(key=key, title=title, description=description, **rest)


_percent = partial(_metric, higher_is_better=True, lower=0.0, upper=1.0, unit="%", scale=100.0, digits=1)
_share = partial(_percent, proportion=True)
_raw = partial(_metric, higher_is_better=True, lower=None, upper=None, unit="")
_correlation = partial(_raw, lower=-1.0, upper=1.0, digits=4)
_distance = partial(_raw, higher_is_better=False, lower=0.0)


def _rank(of: str, title: str) -> Metric:
    return Metric(
        key=f"{of}_rank",
        title=f"{title} rank",
        higher_is_better=False,
        lower=1.0,
        upper=None,
        unit="rank",
        digits=0,
        description=f"Rank among the listed generators by {title}, as the paper prints it.",
    )


_GENERATOR_METRICS = (
    _percent("human_rate", "Human preference", "Share of comparisons that people decide for it.", digits=2),
    _raw("elo", "Elo", "Arena rating from human votes.", unit="Elo", digits=0),
    _distance("fid", "FID", "Fréchet distance of Inception-v3 features."),
    _distance("fd_dinov2", "FD-DINOv2", "Fréchet distance of DINOv2 features."),
    _raw("clipscore", "CLIPScore", "CLIP similarity of image and prompt."),
    _distance("cmmd", "CMMD", "Maximum mean discrepancy of CLIP features, x1000."),
    _distance("cfred", "cFreD", "Fréchet distance conditioned on the prompt."),
    _raw("aesthetic", "Aesthetic", "LAION aesthetic predictor's mean score."),
    _raw("imagereward", "ImageReward", "Mean reward of a model of human preference."),
    _raw("hpsv2", "HPSv2", "Human Preference Score v2, mean."),
    _raw("mps", "MPS", "Multi-dimensional Preference Score, mean."),
)

# Metrics that no paper of the board prints ranks by: they are only computed.
_SET_METRICS = (
    _distance("fd", "FD", "Fréchet distance of any other features; its backbone is next to it.", digits=4),
    _raw(
        "kid",
        "KID",
        "Kernel distance of the features next to it, unbiased; can be slightly below 0 for identical distributions.",
        higher_is_better=False,
        digits=4,
    ),
    _percent("precision", "Precision", "Share of generated images within the manifold of the reference."),
    _percent("recall", "Recall", "Share of reference images within the manifold of the generated ones."),
    _raw(
        "density",
        "Density",
        "Reference images whose neighbourhood holds a generated image, over k; 1 for identical distributions.",
        lower=0.0,
    ),
    _percent("coverage", "Coverage", "Share of reference images with a generated image in their neighbourhood."),
    _raw("inception_score", "Inception Score", "How sure and how varied a classifier's answers are.", lower=1.0),
    _raw("vendi", "Vendi score", "Effective number of distinct images.", lower=1.0),
    _raw("pickscore", "PickScore", "Mean score of a model of human preference."),
)

METRICS: tuple[Metric, ...] = (
    _share("accuracy", "Accuracy", "Share of items answered correctly."),
    _share("text_accuracy", "Text accuracy", "Share of images matched with the right caption."),
    _share("image_accuracy", "Image accuracy", "Share of captions matched with the right image."),
    _share("group_accuracy", "Group accuracy", "Share of groups wholly right."),
    _share("hit_rate_at_1", "Hit rate@1", "Share of queries whose first hit is relevant."),
    _share("hit_rate_at_3", "Hit rate@3", "Share of queries with a relevant hit in three."),
    _share("hit_rate_at_5", "Hit rate@5", "Share of queries with a relevant hit in five."),
    _share("hit_rate_at_10", "Hit rate@10", "Share of queries with a relevant hit in ten."),
    _percent("mean_recall_at_1", "Mean R@1", "Mean of hit rate@1 of captions to images and of images to captions."),
    _percent("mean_per_class_recall", "Mean per-class recall", "Accuracy within a class, mean over the classes."),
    _percent("macro_f1", "Macro F1", "F1 of a class, mean over the classes."),
    _percent("worst_group_accuracy", "Worst-group accuracy", "Accuracy in the group of images where it is lowest."),
    _percent("jaccard", "Jaccard index", "Chosen images that are right, over those chosen or right."),
    _percent("mrr_at_10", "MRR@10", "Mean of 1 / rank of the first relevant hit, within ten."),
    _percent("map", "mAP", "Mean average precision over queries."),
    _percent("map_at_5", "MAP@5", "Mean average precision within the first five hits."),
    _percent("ndcg_at_10", "nDCG@10", "Discounted gain of the first ten hits over the best possible."),
    _percent("ndcg_at_5", "nDCG@5", "Discounted gain of the first five hits over the best possible."),
    _percent("lrap", "LRAP", "Label-ranking average precision."),
    _percent(
        "nmi",
        "NMI",
        "Normalised mutual information of clusters and labels.",
        inputs=("expected", "answer"),
        compute=nmi,
    ),
    _percent(
        "cosine_spearman",
        "Spearman",
        "Rank correlation of cosine and human score.",
        lower=-1.0,
        inputs=("human", "value"),
        compute=cosine_spearman,
    ),
    _correlation("srcc", "SRCC", "Spearman's rank correlation with people's scores."),
    _correlation("plcc", "PLCC", "Pearson's correlation with people's scores."),
    _percent(
        "mmscore",
        "MMScore",
        "Normalised mutual information of predicted and true similarity.",
        digits=2,
        inputs=judge.COLUMNS,
        compute=judge.mmscore,
        whole=partial(judge.mean, judge.MMSCORE),
    ),
    _percent(
        "relax_sym",
        "1-RelaxSym",
        "Share of pairs rated the same in both orders, within one point.",
        digits=2,
        inputs=judge.COLUMNS[1:],
        compute=judge.relax_sym,
        whole=partial(judge.mean, judge.RELAX_SYM),
    ),
    _raw(
        "smoothness",
        "Smoothness",
        "Entropy of the scores.",
        lower=0.0,
        unit="nats",
        inputs=judge.COLUMNS[1:],
        compute=judge.smoothness,
        whole=partial(judge.mean, judge.SMOOTHNESS),
    ),
    _percent(
        "controllability",
        "Controllability",
        "How evenly a judge does when instructed to heed and to ignore a change.",
        digits=2,
        lower=None,
        whole=judge.controllability,
    ),
    *_GENERATOR_METRICS,
    *(_rank(metric.key.removesuffix("_rate"), metric.title) for metric in _GENERATOR_METRICS if metric.key != "elo"),
    *_SET_METRICS,
    _raw(
        "rho_squared",
        "ρ²",
        "Squared Pearson correlation with human preference; the sign is dropped.",
        lower=0.0,
        upper=1.0,
    ),
    _percent("rank_accuracy", "Rank accuracy", "Share of generator pairs ordered as people order them."),
)
