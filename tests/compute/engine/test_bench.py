"""What runs are made with: which numbers decide a run's fingerprint and its encodings, and what is fetched to plan."""

import os
from dataclasses import replace
from importlib import metadata

import pytest
from huggingface_hub import constants

from compute import catalog
from compute.engine import plan, workspace
from compute.engine.workspace import RunSettings
from compute.features.store import FeatureStore
from compute.models.adapter import Hardware
from compute.tasks.source import Source
from compute.types import Model
from tests.compute.models import checkpoints
from tests.compute.tasks import unisim_files


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with weights and a data set of the test's own, and a catalogue with the tiny model."""
    folder = checkpoints.clip(tmp_path / "tiny")
    row = Model(
        key="tiny/clip",
        title="Tiny",
        adapter="clip",
        weights=str(folder),
        embed_dim=24,
        abilities=("embed_image", "embed_text"),
        modalities=("image", "text"),
    )
    whole = replace(catalog.shipped(), models=(*catalog.shipped().models, row))
    monkeypatch.setattr(catalog, "shipped", lambda: whole)
    monkeypatch.setattr(catalog, "known", lambda: whole)
    unisim_files.write(tmp_path / "data", "nights")
    return tmp_path


def bench(folder, source):
    return workspace.Bench(
        settings=RunSettings(results=folder / "results"),
        store=FeatureStore(folder / "features"),
        source=source,
        hardware=Hardware(device="cpu", dtype="float32"),
    )


def test_a_run_is_known_by_what_decides_its_numbers(place, monkeypatch):
    """A patch release of a library leaves fingerprint and encodings; a minor one, other weights or a commit do not."""
    nights = catalog.shipped().task("unisim/nights")

    def known(**changes):
        """The fingerprint of the run, and the folder of the encodings."""
        row = replace(catalog.shipped().model("tiny/clip"), **changes)
        whole = replace(catalog.shipped(), models=(row,), tasks=(nights,))
        made = bench(place, Source(root=place / "data", offline=True))
        planned = plan.make(whole, suite="unisim-core", models=["tiny/clip"], bench=made)
        subject = made.subject(row)
        return planned.jobs[0].fingerprint, subject.store.home(row.key, subject.identity).name

    real = metadata.version

    def released(torch, pillow):
        exact = {"torch": torch, "pillow": pillow}
        monkeypatch.setattr(metadata, "version", lambda name: exact.get(name) or real(name))
        return known()

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(place / "cache"))
    first = released("2.15.0", "12.3.0")
    assert known() == first == released("2.15.9+cpu", "12.3.4")
    others = [released("2.16.0", "12.3.0"), released("2.15.0", "12.4.0")]
    assert released("2.15.0", "12.3.0") == first
    others += [known(weights="some/clip", revision=commit * 40) for commit in "ab"]
    weights = place / "tiny" / "model.safetensors"
    content, before = weights.read_bytes(), weights.stat().st_mtime_ns
    weights.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))  # one bit of one weight
    os.utime(weights, ns=(before, before + 10**9))
    others.append(known())
    assert all(len({pair[at] for pair in (first, *others)}) == 1 + len(others) for at in (0, 1))


def test_only_what_no_row_identifies_is_fetched_to_plan(tmp_path, monkeypatch):
    from compute import models

    fetched = []
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))
    monkeypatch.setattr(models, "fetch", lambda row: fetched.append(row.key))
    for offline in (False, True):
        made = bench(tmp_path, Source(offline=offline))
        for key, adapter, weights, revision in (
            ("branch", "clip", "a/b", ""),
            ("pin", "clip", "a/b", "c" * 40),
            ("metric", "ssim", "", ""),
            ("known hash", "lpips", "", ""),
            ("unknown hash", "dreamsim", "", ""),
        ):
            made.fetch(Model(key=key, title="", adapter=adapter, weights=weights, revision=revision))
    assert fetched == ["branch", "unknown hash"]
