"""Checkpoints in folders and on the hub: their family, sizes and vectors as the libraries have them."""

import json
import os
import pickle
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from huggingface_hub import ModelCardData

from compute.catalog import shipped
from compute.catalog.own import models as records
from compute.engine.named_models import joined, named, record_named
from compute.models import identity, load
from compute.models.own import checkpoints as own
from compute.models.own.own_model import ModelSource
from compute.types import BadInput, LikenessError, NotHere
from tests.compute.models import checkpoints, model_hub
from tests.compute.models.checkpoints import COMMIT, CPU, LONG, TEXTS, images, in_hub_cache
from tests.compute.tasks.files import put
from tests.leaderboard.hub import point_at


def embedded(row, modality, items):
    return checkpoints.embedded(load(row, hardware=CPU), modality, items)


def by_peft(folder, lora):
    """Vectors of a CLIP below a LoRA that is not merged, by the libraries' own calls."""
    from peft import PeftModel
    from transformers import AutoImageProcessor, AutoModel, AutoTokenizer

    model = PeftModel.from_pretrained(AutoModel.from_pretrained(folder).eval(), lora).eval().base_model.model
    words = AutoTokenizer.from_pretrained(folder)([*TEXTS, LONG], padding=True, truncation=True, return_tensors="pt")
    with torch.no_grad():
        seen = model.get_image_features(**AutoImageProcessor.from_pretrained(folder)(images(), return_tensors="pt"))
        read = model.get_text_features(**words)
    return {"image": seen.pooler_output.numpy(), "text": read.pooler_output.numpy()}


def same_as_sentence_transformers(folder):
    """The model in the folder, whose vectors are the library's."""
    from sentence_transformers import SentenceTransformer

    row, wanted = own.from_folder(folder).row, SentenceTransformer(str(folder), device="cpu").encode([*TEXTS, LONG])
    np.testing.assert_allclose(embedded(row, "text", [*TEXTS, LONG]), wanted, atol=1e-5)
    assert (row.adapter, row.embed_dim) == ("sentence_transformer", wanted.shape[1])
    assert np.std(wanted, axis=0).max() > 1e-3
    return row


def sentences(folder, *, pooling="mean", dense=False, **settings):
    """A SentenceTransformer's folder around a tiny BERT, saved by the library itself."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling, Transformer

    inner = checkpoints.text(folder.with_name(f"{folder.name}-inner"), "bert")
    torch.manual_seed(3)
    made = [Transformer(str(inner)), Pooling(32, pooling_mode=pooling)]
    made += [Dense(made[1].get_embedding_dimension(), 12)] if dense else [Normalize()]
    SentenceTransformer(modules=made, device="cpu", **settings).save(str(folder))
    shutil.rmtree(inner)
    return folder


def test_a_folder_names_its_model(tmp_path):
    """Its family and vectors are those of encoders/test_libraries.py."""
    made = own.from_folder(checkpoints.clip(tmp_path / "My Model"))
    assert (made.row.key, made.row.title, made.row.family) == ("own/my-model", "My Model", "clip")
    assert made.source == ModelSource(kind="folder", name="My Model")
    assert made.row.revision == identity(made.row, hardware=CPU)["revision"] and made.row.parameters_m


def test_a_clip_without_a_tokenizer_has_the_image_tower_alone(tmp_path):
    from transformers import AutoImageProcessor, AutoModel

    whole, folder = checkpoints.clip(tmp_path / "whole"), tmp_path / "images"
    AutoModel.from_pretrained(whole).save_pretrained(folder)
    with pytest.raises(NotHere, match="save_pretrained"):
        own.from_folder(folder)
    AutoImageProcessor.from_pretrained(whole).save_pretrained(folder)
    made = own.from_folder(folder)
    assert made.row.abilities == ("embed_image",) and made.row.modalities == ("image",)
    assert "images alone" in made.remark
    expected = embedded(own.from_folder(whole).row, "image", images())
    np.testing.assert_allclose(embedded(made.row, "image", images()), expected, rtol=1e-5, atol=1e-6)


SENTENCES = {
    "usual": {},
    **{mode: {"pooling": mode} for mode in ("max", "lasttoken", "weightedmean", "mean_sqrt_len_tokens")},
    "two modes, dense": {"pooling": ("cls", "mean"), "dense": True},
    "prompt": {"prompts": {"query": "a photo of "}, "default_prompt_name": "query"},
}


@pytest.mark.parametrize("kind", SENTENCES)
def test_sentence_transformers_with_other_modules_give_the_librarys_vectors(kind, tmp_path):
    same_as_sentence_transformers(sentences(tmp_path / "model", **SENTENCES[kind]))


def test_earlier_layouts_of_sentence_transformers_are_read_and_code_is_not(tmp_path):
    """Its Transformer in a folder of its own, the old names of Pooling's settings, a shorter text in lower case."""
    folder = sentences(tmp_path / "model")
    inner = folder / "0_Transformer"
    inner.mkdir()
    for file in list(folder.iterdir()):
        if file.is_file() and file.name not in ("modules.json", "config_sentence_transformers.json"):
            file.rename(inner / file.name)
    modules = json.loads((folder / "modules.json").read_text())
    modules[0]["path"] = "0_Transformer"
    for module in modules:
        module["type"] = f"sentence_transformers.models.{module['type'].rpartition('.')[2]}"
    put(inner, {"sentence_bert_config.json": {"max_seq_length": 9, "do_lower_case": True}})
    old = {"word_embedding_dimension": 32, "pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    put(folder, {"modules.json": modules, "1_Pooling/config.json": old})
    row = same_as_sentence_transformers(folder)
    assert load(row, hardware=CPU).settings["max_tokens"] == 9
    put(folder, {"1_Pooling/config.json": {**old, "pooling_mode_mean_tokens": True}})
    assert own.from_folder(folder).row.revision != row.revision  # what is pooled decides the numbers
    mine = {"idx": 9, "name": "9", "path": "", "type": "mine.Mine"}
    put(folder, {"mine.py": "raise SystemExit('code of the checkpoint')", "modules.json": [*modules, mine]})
    with pytest.raises(BadInput, match="code"):
        load(own.from_folder(folder).row, hardware=CPU)
    put(folder, {"modules.json": "{}}"})
    with pytest.raises(BadInput, match="modules"):
        own.from_folder(folder)


@pytest.mark.parametrize("part", ["", "2_Dense"])
@pytest.mark.parametrize("how", ["cut off", "pickle"])
def test_weights_of_sentence_transformers_that_are_no_tensors_are_refused(part, how, tmp_path):
    folder = sentences(tmp_path / "model", dense=True)
    row, file = own.from_folder(folder).row, folder / part / "model.safetensors"
    if how == "cut off":
        file.write_bytes(file.read_bytes()[:500])
    else:
        file.unlink()
        file.with_name("pytorch_model.bin").write_bytes(pickle.dumps(Path("of code")))
    with pytest.raises(BadInput, match="tensors"):
        load(row, hardware=CPU)


@pytest.mark.parametrize("text", ["{", "[]"])
def test_settings_of_a_module_that_are_no_object_are_refused(text, tmp_path):
    folder = put(sentences(tmp_path / "model"), {"1_Pooling/config.json": text})
    with pytest.raises(BadInput, match="1_Pooling"):
        own.from_folder(folder)


def test_a_lora_is_read_over_its_base(tmp_path):
    """Reference: peft's model that is not merged."""
    base = checkpoints.clip(tmp_path / "base")
    folder = checkpoints.lora(base, tmp_path / "Tuned", ["q_proj", "v_proj"])
    made, plain = own.from_folder(folder), own.from_folder(base)
    assert (made.row.key, made.row.adapter) == ("own/tuned", plain.row.adapter)
    assert made.source.name == "Tuned" and made.digest != plain.digest
    assert str(tmp_path) not in json.dumps(identity(made.row, hardware=CPU))
    for side, wanted in by_peft(base, folder).items():
        items = images() if side == "image" else [*TEXTS, LONG]
        vectors = embedded(made.row, side, items)
        np.testing.assert_allclose(vectors, wanted, atol=2e-5, rtol=1e-4)
        assert np.abs(vectors - embedded(plain.row, side, items)).max() > 1e-2


def test_a_lora_that_fits_no_layer_or_has_no_base_is_refused(tmp_path):
    """One trained on a class with a head has other names, which peft leaves out with no more than a warning."""
    from safetensors.torch import load_file, save_file

    base = checkpoints.text(tmp_path / "base", "bert")
    folder = checkpoints.lora(base, tmp_path / "tuned", ["query"])
    file = folder / "adapter_model.safetensors"
    save_file({name.replace("model.", "model.bert.", 1): value for name, value in load_file(file).items()}, file)
    with pytest.raises(BadInput, match="another class"):
        load(own.from_folder(folder).row, hardware=CPU)
    shutil.move(base, tmp_path / "moved")
    with pytest.raises(LikenessError, match="base model"):
        own.from_folder(folder, offline=True)
    row = own.from_folder(folder, options={"base": {"weights": str(tmp_path / "moved")}}).row
    assert row.weights == str(tmp_path / "moved")
    put(folder, {"adapter_config.json": {"peft_type": "IA3"}})
    with pytest.raises(BadInput, match="IA3"):
        own.from_folder(folder)


def test_name_family_and_options_are_the_users(tmp_path):
    """Repositories of OpenCLIP's authors often hold the transformers library's files too: the family tells."""
    folder = checkpoints.open_clip(tmp_path / "both")
    for file in checkpoints.clip(tmp_path / "clip").iterdir():
        shutil.copy(file, folder / file.name)
    plain, clip = own.from_folder(folder), own.from_folder(folder, family="clip")
    assert (plain.row.adapter, clip.row.adapter) == ("open_clip", "clip") and plain.digest != clip.digest
    named = own.from_folder(folder, name="Mine, tuned", family="clip", options={"normalise": True})
    assert (named.row.key, named.row.title) == ("own/mine-tuned", "Mine, tuned")
    assert named.row.options == {"normalise": True} and named.digest != clip.digest
    for refused, word in (({"family": "clpi"}, "'clip'"), ({"options": {"trust_remote_code": True}}, "never run")):
        with pytest.raises(BadInput, match=word):
            own.from_folder(folder, **refused)


def config(content):
    """A folder that says so, with nothing else in it."""
    return partial(put, files={"config.json": content})


def damaged(folder):
    """Weights that end in their middle."""
    (file,) = checkpoints.vision(folder, "dinov2").glob("*.safetensors")
    os.truncate(file, 40)
    return folder


REFUSED = {
    "a mistyped kind": (config({"model_type": "dinov7"}), BadInput, "nearest: vision"),
    "code": (config({"model_type": "mine", "auto_map": {"AutoModel": "modeling.Mine"}}), BadInput, "never run"),
    "a judge": (config({"model_type": "qwen2_vl", "vision_config": {}}), BadInput, "--family vlm"),
    "no tokenizer": (config({"model_type": "bert"}), NotHere, "tokenizer.json"),
    "another JSON": (config([]), BadInput, "config.json"),
    "nothing": (lambda folder: folder.parent, BadInput, "modules.json"),
    "no folder": (lambda folder: folder, NotHere, "missing"),
    "no configuration": (partial(checkpoints.open_clip, config=False), BadInput, "architecture="),
    "cut weights": (damaged, BadInput, "safetensors"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_told_is_said_in_one_line(what, tmp_path):
    make, error, word = REFUSED[what]
    with pytest.raises(error, match=word) as caught:
        own.from_folder(make(tmp_path / "missing"))
    assert "\n" not in str(caught.value)


def test_a_model_of_the_hub_is_pinned_to_the_commit_that_its_branch_stands_for(tmp_path, monkeypatch):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    folder = checkpoints.vision(tmp_path / "model", "dinov2")
    in_hub_cache(folder, cache=tmp_path / "cache", repository="Org/My-Model")
    made, local = own.from_hub("hub:Org/My-Model"), own.from_folder(folder)
    own_fields = {"key": "org/my-model", "title": "Org/My-Model", "organisation": "Org"}
    assert made.row == replace(local.row, weights="Org/My-Model", revision=COMMIT, **own_fields)
    assert made.source == ModelSource(kind="hub", name=f"Org/My-Model@{COMMIT}")
    assert own.from_hub(f"Org/My-Model@{COMMIT}").digest == made.digest
    np.testing.assert_array_equal(embedded(made.row, "image", images()), embedded(local.row, "image", images()))
    with pytest.raises(NotHere, match="Org/Absent"):
        own.from_hub("hub:Org/Absent@v2")
    for text in ("hub:absent", "hub:a/b/c", "hub:a/..", "hub:org/name@"):
        with pytest.raises(BadInput, match="hub id"):
            own.from_hub(text)


def test_configurations_are_fetched_and_weights_are_not(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    with model_hub.serving() as hub:
        point_at(hub, monkeypatch)
        hub.publish("org/name", checkpoints.vision(tmp_path / "model", "dinov2"), commit=COMMIT)
        made = own.from_hub("hub:org/name@main")
    assert (made.row.revision, made.row.adapter, made.row.parameters_m) == (COMMIT, "vision", None)
    asked = "".join(hub.asked)
    assert "config.json" in asked and "safetensors" not in asked


OF_THE_HUB = ModelCardData(datasets=["nights", "ILSVRC/imagenet-1k"], base_model="org/base")


@pytest.mark.parametrize(
    "text, names",
    [
        (f"---\n{OF_THE_HUB}\n---\n# A model\n", ("nights", "ILSVRC/imagenet-1k")),
        ("# A model without YAML\n", ()),
        ("---\ndatasets: [nights\n---\n", ()),
        (f"---\ndatasets: [7, null, '', [a], {'x' * 500}, nights]\n---\n", ("nights",)),
    ],
    ids=["by the hub's client", "none", "cut", "names and others"],
)
def test_what_a_card_may_hold(tmp_path, text, names):
    (tmp_path / "README.md").write_text(text)
    assert own.card_datasets(tmp_path) == names


def test_a_checkpoints_row_has_them_by_the_catalogues_keys_and_the_same_digest(tmp_path):
    folder = checkpoints.clip(tmp_path / "mine")
    before = own.from_folder(folder)
    (folder / "README.md").write_text("---\ndatasets: [nights, org/unheard-of, Nights, PieAPP]\n---\n")
    after = own.from_folder(folder)
    assert before.row.trained_on == () and after.row.trained_on == ("nights", "org/unheard-of", "Nights", "PieAPP")
    assert after.digest == before.digest
    (model,) = named([str(folder)], catalog=shipped(), offline=True)
    assert joined(shipped(), [model]).model("own/mine").trained_on == ("nights", "pieapp")
    record_named(model, results=tmp_path / "results")
    models, _ = records.recorded(tmp_path / "results")
    assert models[0].trained_on == after.row.trained_on, "a later catalogue may know more of them"
    assert records.extended(shipped(), models)[0].model("own/mine").trained_on == ("nights", "pieapp")
