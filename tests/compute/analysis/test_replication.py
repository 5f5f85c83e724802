"""What laboratories measured of the same weights and data: every statistic against the files and scipy."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau

from compute import paths
from compute.analysis import replication
from compute.analysis.replication import FAILS, FEW, REPLICATES, UNCLEAR, Cause, causes, verdict
from compute.database import store
from compute.interface.replicate import Replication, compared, replicate
from compute.types import BadInput

LABS = ("imported", "imported:open_clip")


@pytest.fixture(scope="module")
def frames(database):
    return store.frames(database, names=("measured", "protocols", "laboratories"))


@pytest.fixture(scope="module")
def pairs(frames):
    found = replication.pairs(frames["measured"])
    return found[(found["a"] == LABS[0]) & (found["b"] == LABS[1])]


@pytest.fixture(scope="module")
def classification(pairs):
    return pairs[(pairs["subset"] == "default") & ~pairs["data"].str.contains("t2i|i2t")]


def test_orders_by_data_set_are_those_of_scipy(classification):
    rows = replication.agreement(classification).set_index("data")
    for data, same in classification.groupby("data"):
        assert rows["tau"][data] == pytest.approx(kendalltau(same["value_a"], same["value_b"]).statistic)


@pytest.mark.parametrize(
    "models, tau, low, high, expected",
    [
        (7, 0.9, 0.8, 0.95, FEW),
        (8, 0.9, 0.6, 0.97, REPLICATES),
        (8, 1.0, np.nan, np.nan, REPLICATES),
        (30, 0.1, -0.1, 0.3, FAILS),
        (30, 0.5, 0.3, 0.7, UNCLEAR),
    ],
)
def test_an_order_replicates_or_not_only_where_its_interval_says_so(models, tau, low, high, expected):
    assert verdict(models=models, tau=tau, low=low, high=high) == expected


def test_equal_metrics_are_no_cause(frames, classification):
    row = classification[classification["data"] == "fgvc-aircraft"].iloc[0].copy()
    row["metric_a"] = row["metric_b"]
    found = causes(row, protocols=frames["protocols"], laboratories=frames["laboratories"])
    assert all(cause.source for cause in found)
    assert "metric" not in [cause.aspect for cause in found] and isinstance(found[0], Cause)


def test_own_scores_beside_those_of_others(frames):
    model, task = "openai/clip-vit-base-patch32", "mieb/cifar10zeroshot"
    own = frames["measured"]
    own = own[(own["model"] == model) & (own["task"] == task) & (own["origin"] == "imported")]
    for shift, inside in ((0.001, True), (0.2, False)):
        mine = own.assign(origin="computed", value=own["value"] + shift)
        found = compared(
            replication.pairs(pd.concat([frames["measured"], mine])), frames["protocols"], frames["laboratories"]
        )
        found = found.set_index("who")
        assert found["difference"]["imported"] == pytest.approx(100 * shift)
        assert found["inside"]["imported"] is inside
    assert " ! " in str(Replication(found=found.reset_index()))


def test_own_numbers_from_anywhere_as_a_table_in_percent_or_fractions(tmp_path, monkeypatch, database):
    monkeypatch.setattr(paths, "DATABASE", database)
    monkeypatch.setattr("compute.database.build.bring_up_to_date", lambda path, **_: False)
    rows = [("openai/clip-vit-base-patch32", "datacomp/imagenet-1k", value) for value in ("63.3", "0.633")]
    found = []
    for row in rows:
        (tmp_path / "own.csv").write_text(f"model,task,value\n{','.join(row)}\n")
        found.append(replicate(tmp_path / "own.csv").frame().set_index("who")["difference"])
    assert found[0].equals(found[1]) and abs(found[0]["imported:open_clip"]) < 0.1
    with pytest.raises(BadInput, match="imagenet-a"):
        replicate(pd.DataFrame([(rows[1][0], "datacomp/imagenet", 0.6)], columns=["model", "task", "value"]))
