"""The code that loads a model runs, and gives the vectors that this software's own loading of the model gives."""

import json
from pathlib import Path

import mteb
import numpy as np
import pytest
import torch
from mteb.models.model_implementations import MODEL_REGISTRY
from PIL import Image
from typer.testing import CliRunner

from compute.__main__ import app
from compute.models import load
from leaderboard.data.models.loading_code import BENCHMARKS, MTEB, evaluation_command, loading_code, mteb_name
from tests.compute.models import checkpoints
from tests.compute.models.checkpoints import CPU, embedded, images, row
from tests.compute.models.multimodal import colpali, qwen2_vl
from tests.compute.models.own.small_objects import Recording, of_image, of_text
from tests.compute.procedures.known import BOTH

TEXT = "a photo of a cat"
KINDS = {
    "clip": ("clip", checkpoints.clip),
    "siglip": ("siglip", checkpoints.siglip),
    "blip": ("blip", checkpoints.blip),
    "dinov2": ("vision", lambda folder: checkpoints.vision(folder, "dinov2")),
    "ijepa": ("vision", lambda folder: checkpoints.vision(folder, "ijepa")),
    "open_clip": ("open_clip", checkpoints.open_clip),
    "timm": (
        "timm",
        lambda folder: checkpoints.timm_folder(
            folder, img_size=32, embed_dim=32, depth=2, num_heads=2, patch_size=8, num_classes=10
        ),
    ),
    "bert": ("bert", lambda folder: checkpoints.text(folder, "bert")),
    "t5": ("t5", lambda folder: checkpoints.text(folder, "t5")),
}


def of_catalogue(adapter, name, *abilities, **more):
    facts = {"key": name.lower(), "adapter": adapter, "weights": name, "abilities": abilities, "kind": "encoder"}
    return facts | {"revision": "", "options": "{}", "facts_from": "", "late_interaction": None} | more


def ran(code):
    names = {}
    exec(compile(code, "code", "exec"), names)
    return names


@pytest.fixture
def photo(tmp_path, monkeypatch):
    """The photograph that the code opens."""
    monkeypatch.chdir(tmp_path)
    images()[0].save("photo.jpg")
    return Image.open("photo.jpg").convert("RGB")


@pytest.mark.parametrize("kind", KINDS)
def test_it_gives_the_vectors_that_are_evaluated(kind, photo):
    adapter, make = KINDS[kind]
    folder = make(Path.cwd() / kind)
    model = load(row(folder, adapter), hardware=CPU)
    abilities = [f"embed_{side}" for side in ("image", "text") if getattr(model, side) is not None]
    code = loading_code(of_catalogue(adapter, f"org/{kind}", *abilities))
    found = ran(code.replace("hf-hub:org", "local-dir:org").replace(f"org/{kind}", str(folder)))
    for side, name, item in (("image", "images", photo), ("text", "texts", TEXT)):
        assert (name in found) == (f"embed_{side}" in abilities)
        if name in found:
            vectors = torch.nn.functional.normalize(found[name].float()).numpy()
            own = embedded(model, side, [item])
            np.testing.assert_allclose(vectors, own / np.linalg.norm(own, axis=1, keepdims=True), atol=1e-5)


@pytest.mark.filterwarnings("ignore:.*is_gradient_checkpointing")
def test_late_interaction_gives_its_vectors_and_compares_them(photo):
    folder = colpali(Path.cwd() / "colpali")
    found = ran(loading_code(of_catalogue("late_interaction", "org/late", *BOTH)).replace("org/late", str(folder)))
    model = load(row(folder, "late_interaction"), hardware=CPU)
    for side, name, item in (("image", "images", photo), ("text", "texts", TEXT)):
        np.testing.assert_allclose(found[name][0].numpy(), embedded(model, side, [item])[0], atol=1e-5)


def test_by_mteb_an_item_goes_through_its_protocol(photo, monkeypatch):
    monkeypatch.setattr(mteb, "get_model", lambda name: Recording() if name == "org/Own" else None)
    found = ran(loading_code(of_catalogue("", "org/Own", "embed_image", "embed_text", facts_from=MTEB)))
    np.testing.assert_array_equal(found["images"].numpy(), of_image(photo)[None])
    np.testing.assert_array_equal(found["texts"].numpy(), of_text(TEXT)[None])


def test_a_judge_answers_about_two_images(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, image in zip(("first.jpg", "second.jpg"), images()[:2], strict=True):
        image.save(name)
    folder = qwen2_vl(tmp_path / "judge")
    code = loading_code(of_catalogue("vlm", "org/judge", "choose", kind="mllm"))
    assert isinstance(ran(code.replace("org/judge", str(folder)))["answers"][0]["generated_text"], str)


def test_every_model_of_the_catalogue_has_code_that_its_library_understands(suite_cache):
    for _, facts in suite_cache.db.keyed("models").iterrows():
        compile(code := loading_code(facts), facts["key"], "exec")
        if name := mteb_name(facts):
            assert name in MODEL_REGISTRY, name
            takes = {f"embed_{kind}" for kind in MODEL_REGISTRY[name].modalities}
            assert takes >= {each for each in facts["abilities"] if each.startswith("embed_")}, name
            assert f'get_model("{name}")' in code
        if facts["adapter"] == "open_clip" and (options := json.loads(facts["options"] or "{}")).get("tag"):
            import open_clip

            assert open_clip.get_pretrained_cfg(options["architecture"], options["tag"]), facts["key"]
    assert set(BENCHMARKS.values()) <= {each.name for each in mteb.get_benchmarks()}


@pytest.mark.parametrize(
    "key, suite",
    [
        ("google/siglip-base-patch16-256-multilingual", "mieb"),
        ("laion/clip-vit-bigg-14-laion2b-39b-b160k", "vidore-v3"),
        ("dreamsim-ensemble", "unisim-core"),
        ("qwen/qwen2-vl-2b-instruct", "pairbench"),
    ],
)
def test_the_command_is_accepted(suite_cache, key, suite):
    command = evaluation_command(suite_cache.db.keyed("models").loc[key], suite=suite)
    result = CliRunner().invoke(app, [*command.split()[1:], "--dry-run"])
    assert result.exit_code == 0 and f"{key}, " in result.output and "In all:" in result.output


def test_what_nothing_loads_has_no_code_and_is_evaluated_from_the_readers_folder(suite_cache):
    facts = suite_cache.db.keyed("models").loc["unisim-ll-n-0.5b"]
    command = evaluation_command(facts, suite="unisim-core")
    assert loading_code(facts) == "" and command == "likeness run --suite unisim-core --models FOLDER"
    late = suite_cache.db.keyed("models").loc["vidore/colpali-v1.2"]
    assert evaluation_command(late, suite="vidore-v3").startswith("mteb run --model vidore/colpali-v1.2")
