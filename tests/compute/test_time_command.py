"""`likeness time` as a user meets it, and the shipped speeds."""

import pytest
import timm

from compute import paths
from compute.catalog import shipped
from compute.database import build, store
from compute.engine import speeds
from compute.io.tables import read_csv
from compute.types import CannotDo
from tests.compute.commands import assert_refused, command, done


@pytest.fixture
def time(tmp_path, monkeypatch):
    monkeypatch.setattr(speeds, "SECONDS", 0)
    return command(f"time --results {tmp_path} --no-build")


def test_what_is_measured_is_in_the_database_once_a_machine(without_imports, time, tmp_path):
    assert "images per second" in done(time("tiny --batch-size 2")).output
    done(time("tiny --batch-size 3"))
    report = build.build(tmp_path / "own.duckdb", results=tmp_path)
    assert not report.problems
    with store.connect(report.path) as connection:
        rows = connection.sql("SELECT * FROM speeds WHERE source = 'measured here'").df().to_dict("records")
    (row,) = rows
    assert (row["model"], row["batch"], row["dtype"]) == ("tiny", 3, "float32")
    assert min(row[name] for name in ("images_per_second", "texts_per_second", "ms", "memory_mb")) > 0
    assert not build.is_stale(report.path, results=tmp_path)
    done(time("wordllama --batch-size 2"))  # of texts alone
    assert build.is_stale(report.path, results=tmp_path)
    (row,) = read_csv(tmp_path / speeds.FILE).query("model == 'wordllama'").to_dict("records")
    assert row["images_per_second"] == row["ms"] == "" and float(row["texts_per_second"]) > 0


def test_models_without_learned_vectors_have_no_speed(time):
    for model in ("colour-histogram", "ssim", "fid"):
        assert_refused(time(model), CannotDo, model)


def test_a_shipped_speed_is_of_the_models_architecture_and_image_size():
    rows, problems = speeds.every(paths.RESULTS / "none", models=(models := {row.key: row for row in shipped().models}))
    assert not problems and len(rows) == 258 and (rows["images_per_second"] > 0).all()
    for row in rows.itertuples():
        assert timm.is_model(row.architecture), row
        size = row.architecture.rpartition("_")[2]
        if size.isdigit() and models[row.model].image_size:
            assert int(size) == models[row.model].image_size, row
        assert ("quickgelu" in row.architecture) == (
            "quickgelu" in row.model or row.model.startswith(("openai/", "clipscore", "aesthetic"))
        ), row
