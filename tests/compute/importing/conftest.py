"""A small catalogue for the import tests."""

import pytest

from compute.catalog.catalog import Alias, Catalog, Dataset
from compute.metrics import METRICS
from compute.types import Benchmark, Model, Task


def task(title, *, metric, **fields):
    return Task(
        key=f"mieb/{title.lower()}",
        title=title,
        benchmark="mieb",
        category="any",
        dataset="",
        metrics=(metric,),
        **{"split": "test", **fields},
    )


@pytest.fixture
def catalog():
    benchmarks = tuple(
        Benchmark(key=key, title=key, paper="", url="", description="", bibtex="") for key in ("mieb", "unisim")
    )
    tasks = (
        task("CIFAR10", metric="accuracy", n_items=10_000, procedure="probe"),
        task("VOC2007", metric="lrap"),
        task("Food101Classification", metric="accuracy", split="validation"),
        task("SOPI2IRetrieval", metric="hit_rate_at_1"),
        task("CUB200I2IRetrieval", metric="hit_rate_at_1"),
        task("Winoground", metric="group_accuracy"),
        task("STS12VisualSTS", metric="cosine_spearman"),
        task("XFlickr30kCoT2IRetrieval", metric="ndcg_at_10", subsets=("de", "en")),
        task(
            "STSBenchmarkMultilingualVisualSTS",
            metric="cosine_spearman",
            split="dev|test",
            subsets=("de", "en"),
        ),
    )
    return Catalog(
        benchmarks=benchmarks,
        suites=(),
        tasks=tasks,
        metrics=METRICS,
        datasets=(Dataset(key="docvqa", title="DocVQA", names=("VidoreDocVQARetrieval",)),),
        models=(Model(key="org/known", title="Known", organisation="The Org"),),
        aliases=(Alias(benchmark="mieb", printed="Known (L)", model="org/known", certainty="known"),),
    )
