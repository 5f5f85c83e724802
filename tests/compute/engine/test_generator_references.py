"""Saved statistics in place of a reference's images: the same distances, and a refusal where they do not fit."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import compute
from compute.database import build, store
from compute.engine.generators import references as storage
from compute.engine.generators.backbones import BUNDLED, PAPERS
from compute.engine.generators.references import FeatureOrigin, SavedReference
from compute.metrics.distribution.moments import CrossMoments, Moments
from compute.types import BadInput, NotHere
from tests.compute.commands import likeness, save_images
from tests.compute.tasks import drawn_generators as drawn

COUNT = 36
command = partial(likeness, "frechet")


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    """Folders of a reference and a generator, prompts, and the reference's statistics saved as photos-*.npz."""
    root = tmp_path_factory.mktemp("images")
    save_images(root / "photos", drawn.reference_image, COUNT)
    save_images(root / "mine", drawn.clean_image, COUNT)
    (root / "prompts.txt").write_text("\n".join(prompt.text for prompt in drawn.all_prompts()[:COUNT]) + "\n")
    saved = command(*arguments(root, root / "photos"), "--save-reference", root / "photos.npz", "--format", "json")
    assert saved.exit_code == 0, saved.output
    (root / "from images.json").write_text(saved.stdout)
    return root


def arguments(images: Path, reference: object) -> tuple[object, ...]:
    return (
        *("--reference", reference, "--generated", f"mine={images / 'mine'}", "--prompts", images / "prompts.txt"),
        *("--backbones", "tiny", "--results", images / "results"),
    )


def by_metric(text: str) -> dict[str, dict]:
    return {row["metric"]: row for row in json.loads(text)["figures"]}


def test_the_distances_are_those_of_the_images_and_other_metrics_say_why_they_have_none(images):
    whole = by_metric((images / "from images.json").read_text())
    result = command(*arguments(images, images / "photos.npz"), "--format", "json")
    assert result.exit_code == 0, result.output
    against = by_metric(result.stdout)
    assert against.keys() == whole.keys()
    for metric in ("fd", "cfred"):
        assert against[metric]["value"] == pytest.approx(whole[metric]["value"], rel=1e-6)
    for metric in ("clipscore", "vendi"):  # take no reference
        assert against[metric]["value"] == whole[metric]["value"]
    for metric in ("cmmd", "kid", "precision", "recall", "density", "coverage"):
        assert against[metric]["value"] is None and "a saved reference holds only moments" in against[metric]["reason"]
    # The interval and the value at infinite N are over the generator's images; prompts cannot leave a saved reference.
    assert against["fd"]["low"] < against["fd"]["value"] < against["fd"]["high"]
    assert any("the reference's 36 images stays" in line for line in against["fd"]["warnings"])
    assert against["cfred"]["low"] is None and against["cfred"]["limit"] is None
    assert sum("a saved reference cannot omit a prompt" in line for line in against["cfred"]["warnings"]) == 2


def test_its_runs_stand_beside_those_of_the_images_themselves(images, tmp_path):
    assert command(*arguments(images, images / "photos-tiny.npz")).exit_code == 0
    assert [path.stem for path in (images / "results" / "suites").glob("*.json")] == ["generators-prompts"]
    runs = [json.loads(path.read_text()) for path in (images / "results").glob("own__mine/*/*/run.json")]
    whole, *against = sorted(runs, key=lambda run: len(run["settings"]["data"]))
    assert "statistics" not in whole["settings"]["data"] and against  # which does not replace the other
    assert whole["settings"]["found"]["tiny"]["fd"]["left_out"]
    assert not any(run["settings"]["found"]["tiny"]["fd"]["left_out"] for run in against)
    report = build.build(tmp_path / "own.duckdb", results=images / "results")
    assert not [problem for problem in report.problems if "generators" in problem]
    runs = store.frames(tmp_path / "own.duckdb", names=("runs",))["runs"]
    main = runs[(runs["model"] == "own/mine") & runs["main"]]
    assert [json.loads(settings)["variant"] for settings in main["settings"]] == [""]


def test_a_file_of_one_backbone_serves_its_distance_alone(images):
    plain = by_metric(command(*arguments(images, images / "photos-tiny.npz"), "--format", "json").stdout)
    assert plain["fd"]["value"] is not None
    assert plain["cfred"]["reason"] == "the saved reference has no statistics under tiny with tiny"
    paired = by_metric(command(*arguments(images, images / "photos-tiny-tiny.npz"), "--format", "json").stdout)
    assert paired["fd"]["value"] == pytest.approx(plain["fd"]["value"]) and paired["cfred"]["value"] is not None


def test_python_takes_the_file_the_loaded_record_and_moments_of_features(images):
    fields = {"generated": {"mine": images / "mine"}, "backbones": "tiny", "metrics": "fd", "device": "cpu"}
    fields["features"] = images / "results" / "features"
    loaded = SavedReference.read(images / "photos-tiny.npz")
    tables = [
        compute.frechet(reference=reference, **fields)
        for reference in (images / "photos", images / "photos.npz", str(images / "photos-tiny.npz"), loaded)
    ]
    values = [table.value("fd", "mine") for table in tables]
    assert values == pytest.approx([values[0]] * 4)
    rng = np.random.default_rng(0)
    real, generated, text = rng.normal(size=(3, 80, 5))
    plain = compute.frechet(reference=real, generated={"a": generated}, condition=text, intervals=False)
    for moments, metrics in (
        (Moments.of(real), ("fd",)),
        (CrossMoments.of(images=real, condition=text), ("fd", "cfred")),
    ):
        against = compute.frechet(reference=moments, generated={"a": generated}, condition=text)
        for metric in metrics:
            assert against.value(metric, "a") == pytest.approx(plain.value(metric, "a"), rel=1e-9)
    with pytest.raises(BadInput, match="named 'reference'"):
        compute.frechet(reference=real, generated={"reference": generated})


def test_statistics_made_otherwise_are_refused(images, tmp_path):
    saved = SavedReference.read(images / "photos-tiny.npz")
    assert not {"device", "packages"} & set(saved.images.preprocessing)  # of another machine they would serve
    for origin, word in (
        (replace(saved.images, backbone="conse"), "conse"),
        (replace(saved.images, preprocessing={**saved.images.preprocessing, "dtype": "x"}), "dtype"),
    ):
        path = replace(saved, name="other", images=origin).write(tmp_path)
        refused = command(*arguments(images, path))
        assert refused.exit_code == 1 and word in refused.stderr


def test_another_list_of_prompts_has_no_cfred(images, tmp_path):
    (tmp_path / "prompts.txt").write_text("\n".join(f"prompt {row}" for row in range(COUNT)))
    other = command(
        *arguments(images, images / "photos.npz"), "--prompts", tmp_path / "prompts.txt", "--format", "json"
    )
    assert "conditions" in by_metric(other.stdout)["cfred"]["reason"]


def test_files_of_one_name_open_together_and_never_of_unlike_images(images, tmp_path):
    found = storage.opened(images / "photos.npz", chosen=BUNDLED)
    assert sorted(found) == ["tiny", "tiny|tiny"] and {each.n for each in found.values()} == {COUNT}
    for name in ("photos-tiny", "photos-tiny-tiny"):
        saved = SavedReference.read(images / f"{name}.npz")
        replace(saved, contents=name).write(tmp_path)
    with pytest.raises(BadInput, match="images"):
        storage.opened(tmp_path / "photos.npz", chosen=BUNDLED)
    with pytest.raises(NotHere, match="none.npz"):
        storage.opened(tmp_path / "none.npz", chosen=BUNDLED)
    twice = command(*arguments(images, images / "photos.npz"), "--save-reference", tmp_path / "again.npz")
    assert twice.exit_code == 1 and "is saved already" in twice.stderr


COCO = SavedReference(
    name="coco",
    moments=Moments.of(np.random.default_rng(0).standard_normal((40, 6))),
    images=FeatureOrigin(backbone="tiny"),
)


def test_only_backbones_with_something_to_compute_are_encoded():
    narrowed = PAPERS.beside(["inception-v3"])
    assert narrowed.cmmd == "" and narrowed.cfred == narrowed.text == ()
    assert narrowed.image == PAPERS.image  # the Vendi score takes no reference
    assert replace(PAPERS, metrics=("fid", "fd_dinov2")).beside(["inception-v3"]).keys == ("inception-v3",)


def test_a_record_comes_back_as_it_was_and_serves_what_was_made_alike(tmp_path):
    origin = FeatureOrigin(backbone="tiny", preprocessing={"size": [32, 32], "resample": "bicubic"})
    plain = replace(COCO, images=origin, source="40 drawn images")
    path = plain.write(tmp_path / "references")
    assert path == tmp_path / "references" / "coco.npz"
    read = SavedReference.read(path)
    assert (read.name, read.n, read.source, read.images) == ("coco", 40, "40 drawn images", origin)
    assert read.packages["numpy"] == np.__version__ and (read.moments.scatter == plain.moments.scatter).all()
    read.check("tiny", {"size": (32, 32), "resample": "bicubic", "device": "cuda"})
    read.check("dinov2", {"size": 1})  # of no side
    with pytest.raises(BadInput, match="bilinear"):
        read.check("tiny", {"size": [32, 32], "resample": "bilinear"})


def test_damaged_and_other_files_are_refused(tmp_path):
    path = COCO.write(tmp_path)
    original = path.read_bytes()
    for data in (b"", b"not a zip", original[:200], original[:-50]):
        path.write_bytes(data)
        with pytest.raises(BadInput, match=r"coco\.npz"):
            SavedReference.read(path)
    np.savez(path, facts=np.array([{"a": 1}], dtype=object))  # a pickle
    with pytest.raises(BadInput, match=r"coco\.npz"):
        SavedReference.read(path)
    spoilt = Moments(n=40, mean=np.full(6, np.nan), scatter=np.eye(6))
    with pytest.raises(BadInput, match="NaN"):
        SavedReference.read(replace(COCO, moments=spoilt).write(tmp_path))
