"""Every kind of object gives the vectors that its own library gives, and says what it lacks where it cannot."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mteb
import numpy as np
import open_clip
import pytest
import sentence_transformers
import timm
import torch
import transformers
from mteb.mocks.mock_tasks.sts import MockSTSTask, MockVisualSTSTask
from sentence_transformers.sentence_transformer import modules

from compute.types import BadInput, CannotDo
from tests.compute.models import checkpoints
from tests.compute.models.checkpoints import CPU
from tests.compute.models.multimodal import colpali
from tests.compute.models.own.small_objects import (
    DIM,
    IMAGES,
    TEXTS,
    Eye,
    Flat,
    Recording,
    embedded,
    of_image,
    of_text,
    pixels,
    small_bert,
    small_open_clip,
    transform_of,
    versioned,
    wrapped,
)

# The object, what it is wrapped with, and the vectors that its library gives for IMAGES and TEXTS.
Made = tuple[Any, dict[str, Any], dict[str, Any]]
TOKENIZER = open_clip.get_tokenizer("", context_length=16)
PIXELS = torch.stack([pixels(image) for image in IMAGES])


class Words(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = torch.nn.Embedding(49408, DIM)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.table(tokens).sum(dim=1)


class ByName(Flat):
    def forward(self, pixel_values: torch.Tensor) -> torch.Tensor:
        return super().forward(pixel_values)


class OfTensors(torch.nn.Module):
    """As OpenAI's own package and many others have it: the preprocessing is what tells."""

    def __init__(self) -> None:
        super().__init__()
        self.words = Words()

    def encode_image(self, images: torch.Tensor) -> torch.Tensor:
        return images.flatten(1)[:, :DIM]

    def encode_text(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.words(tokens)


def with_open_clip(folder: Path) -> Made:
    model = small_open_clip()
    seen = model.encode_image(torch.stack([transform_of(model)(image) for image in IMAGES]))
    return model, {}, {"image": seen, "text": model.encode_text(TOKENIZER(TEXTS))}


def with_open_clip_and_preprocessing(folder: Path) -> Made:
    model = small_open_clip()

    def enlarged(image: Any) -> torch.Tensor:
        return torch.nn.functional.interpolate(pixels(image)[None], size=32)[0]

    seen = model.encode_image(torch.stack(list(map(enlarged, IMAGES))))
    given = {"preprocess": enlarged, "tokenizer": TOKENIZER, "version": "1"}
    return model, given, {"image": seen, "text": model.encode_text(TOKENIZER(TEXTS))}


def loaded(folder: Path) -> Any:
    return transformers.AutoModel.from_pretrained(folder).eval()


def parts_of(folder: Path) -> tuple[Any, Any]:
    return transformers.AutoImageProcessor.from_pretrained(folder), transformers.AutoTokenizer.from_pretrained(folder)


def with_two_towers(folder: Path, *, kind: str) -> Made:
    getattr(checkpoints, kind)(folder / "model")
    model, (images, tokens) = loaded(folder / "model"), parts_of(folder / "model")
    inputs = tokens(TEXTS, truncation=True, return_tensors="pt", padding="max_length" if kind == "siglip" else True)
    if kind == "siglip":
        inputs.pop("attention_mask", None)
    seen = model.get_image_features(**images(images=IMAGES, return_tensors="pt")).pooler_output
    return model, {}, {"image": seen, "text": model.get_text_features(**inputs).pooler_output}


def with_dinov2(folder: Path) -> Made:
    model = loaded(checkpoints.vision(folder / "model", "dinov2"))
    images = transformers.AutoImageProcessor.from_pretrained(folder / "model")
    return model, {}, {"image": model(**images(images=IMAGES, return_tensors="pt")).last_hidden_state[:, 0]}


def with_bert(folder: Path) -> Made:
    model, tokens = loaded(small_bert(folder)), transformers.AutoTokenizer.from_pretrained(folder)
    states = [model(**tokens(text, return_tensors="pt")).last_hidden_state[0] for text in TEXTS]
    return model, {}, {"text": torch.stack([state.mean(dim=0) for state in states])}


def sentence_transformer(folder: Path) -> sentence_transformers.SentenceTransformer:
    body = modules.Transformer(str(small_bert(folder)))
    return sentence_transformers.SentenceTransformer(
        modules=[body, modules.Pooling(24), modules.Normalize()], device="cpu"
    )


def with_sentence_transformer(folder: Path) -> Made:
    model = sentence_transformer(folder)
    return model, {}, {"text": model.encode(TEXTS)}


def with_clip_of_sentence_transformers(folder: Path) -> Made:
    body = modules.Transformer(str(checkpoints.clip(folder / "model")))
    model = sentence_transformers.SentenceTransformer(modules=[body], device="cpu")
    return model, {}, {"image": model.encode(IMAGES), "text": model.encode(TEXTS)}


def with_mteb(folder: Path) -> Made:
    vectors = {"image": np.stack(list(map(of_image, IMAGES))), "text": np.stack(list(map(of_text, TEXTS)))}
    return Recording(), {"version": "1"}, vectors


def with_methods_of_lists(folder: Path) -> Made:
    return Eye(), {"version": "1"}, {"image": Eye().encode_image(IMAGES), "text": Eye().encode_text(TEXTS)}


def with_methods_of_tensors(folder: Path) -> Made:
    model = OfTensors().eval()
    given = {"preprocess": pixels, "tokenizer": TOKENIZER, "version": "1"}
    return model, given, {"image": model.encode_image(PIXELS), "text": model.encode_text(TOKENIZER(TEXTS))}


def with_module(folder: Path, *, model: torch.nn.Module = None, preprocess: Callable = pixels) -> Made:
    return model or Flat(), {"preprocess": preprocess, "version": "1"}, {"image": Flat()(PIXELS)}


def with_module_of_texts(folder: Path) -> Made:
    model = Words()
    return model, {"tokenizer": TOKENIZER}, {"text": model(TOKENIZER(TEXTS))}


def with_timm(folder: Path) -> Made:
    """Its own mean, size, crop and interpolation, though they are not the library's usual ones."""
    own = {"mean": (0.1, 0.2, 0.3), "std": (0.5, 0.6, 0.7), "input_size": (3, 48, 48), "crop_pct": 0.7}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = timm.create_model(
            "resnet10t", num_classes=0, pretrained_cfg_overlay={**own, "interpolation": "bilinear"}
        )
    transform = timm.data.create_transform(
        input_size=own["input_size"], mean=own["mean"], std=own["std"], crop_pct=0.7, interpolation="bilinear"
    )
    return model.eval(), {}, {"image": model.eval()(torch.stack([transform(image) for image in IMAGES]))}


MADE = {
    "open_clip": with_open_clip,
    "open_clip, preprocessing given": with_open_clip_and_preprocessing,
    "clip": lambda folder: with_two_towers(folder, kind="clip"),
    "siglip": lambda folder: with_two_towers(folder, kind="siglip"),
    "dinov2": with_dinov2,
    "bert": with_bert,
    "sentence-transformers": with_sentence_transformer,
    "sentence-transformers' clip": with_clip_of_sentence_transformers,
    "mteb": with_mteb,
    "methods of lists": with_methods_of_lists,
    "methods of tensors": with_methods_of_tensors,
    "module": with_module,
    "module in half precision": lambda folder: with_module(folder, model=Flat().to(torch.bfloat16)),
    "mappings of arrays": lambda folder: with_module(
        folder, model=ByName(), preprocess=lambda image: {"pixel_values": pixels(image).numpy()}
    ),
    "module of texts": with_module_of_texts,
    "timm": with_timm,
}


@pytest.mark.parametrize("kind", MADE)
def test_vectors_are_those_of_its_own_library(tmp_path, kind):
    with torch.inference_mode():
        model, given, expected = MADE[kind](tmp_path)
        own = wrapped(model, **given)
        for modality, wanted in expected.items():
            found = embedded(own, modality, IMAGES if modality == "image" else TEXTS)
            exact = "half" not in kind
            np.testing.assert_allclose(
                found, np.asarray(wanted), rtol=1e-4 if exact else 0, atol=1e-5 if exact else 0.05
            )
            assert found.dtype == np.float32 and own.row.embed_dim == found.shape[1]
    assert own.row.modalities == tuple(expected) and own.row.kind == "encoder"
    assert own.row.abilities == tuple(f"embed_{modality}" for modality in expected)
    if isinstance(model, torch.nn.Module):
        assert own.row.parameters_m == pytest.approx(sum(w.numel() for w in model.parameters()) / 1e6, abs=1e-6)
        known = own.identity(own.row, hardware=None)
        assert known["dtype"] == str(next(model.parameters()).dtype).removeprefix("torch.")


def test_a_timm_model_that_gives_class_scores_is_remarked_on():
    model = timm.create_model("resnet10t", num_classes=5).eval()
    assert "num_classes=0" in wrapped(model).remark


@pytest.mark.parametrize(("task", "modality"), [(MockSTSTask, "text"), (MockVisualSTSTask, "image")])
def test_batches_are_those_that_mteb_makes(task, modality):
    class Watched(Recording):
        def __init__(self) -> None:
            super().__init__()
            self.seen: list[tuple[Any, np.ndarray]] = []
            self.kinds: set[tuple[str, str]] = set()

        def encode(self, inputs: Any, **kwargs: Any):
            vectors = super().encode(inputs, **kwargs)
            self.kinds |= {(name, type(items).__name__) for batch in inputs for name, items in batch.items()}
            items = [item for batch in inputs for item in batch.get("image", batch.get("text"))]
            self.seen += zip(items, vectors.numpy(), strict=True)
            return vectors

    theirs, ours = Watched(), Watched()
    mteb.evaluate(theirs, task(), cache=None, encode_kwargs={"batch_size": 2, "show_progress_bar": False})
    items, vectors = zip(*theirs.seen, strict=True)
    np.testing.assert_array_equal(embedded(versioned(ours), modality, list(items)), np.stack(vectors))
    assert len(items) >= 2 and {kind for kind in ours.kinds if kind[0] == modality} <= theirs.kinds


def test_an_encoder_without_metadata_takes_what_it_does_not_refuse():
    class Texts:
        def encode(self, inputs, *, task_metadata, hf_split, hf_subset, prompt_type=None, **kwargs):
            return np.stack([of_text(text) for batch in inputs for text in batch["text"]])

    assert versioned(Recording(("text",))).row.abilities == ("embed_text",)
    own = versioned(Texts())
    assert (own.row.abilities, own.row.modalities, own.row.embed_dim) == (("embed_text",), ("text",), DIM)


@pytest.mark.filterwarnings("ignore:.*is_gradient_checkpointing")
def test_late_interaction_of_texts_and_images(tmp_path):
    """The vectors are its own encode_query's and encode_document's; a second evaluation finds the same model."""
    late = sentence_transformers.MultiVectorEncoder(str(colpali(tmp_path)), device="cpu")
    own, again = wrapped(late), wrapped(late)
    assert (own.row.late_interaction, own.row.embed_dim, own.row.abilities) == (True, 16, ("embed_image", "embed_text"))
    assert own.identity(own.row, hardware=None) == again.identity(own.row, hardware=None)
    for modality, items, encode in (("image", IMAGES, late.encode_document), ("text", TEXTS, late.encode_query)):
        for found, wanted in zip(embedded(own, modality, items), encode(items), strict=True):
            np.testing.assert_allclose(found, wanted, atol=1e-5)
    calls: list[str] = []
    for name in ("encode_query", "encode_document"):  # which here give the same
        made = getattr(late, name)
        setattr(late, name, lambda items, name=name, made=made, **given: calls.append(name) or made(items, **given))
    own = versioned(late)
    for modality, items, name in (("image", IMAGES, "encode_document"), ("text", TEXTS, "encode_query")):
        calls.clear()
        embedded(own, modality, items)
        assert set(calls) == {name}


def test_late_interaction_in_an_array_loses_its_padding():
    class Late(Recording):
        def __init__(self) -> None:
            super().__init__()
            self.mteb_model_meta = self.mteb_model_meta.model_copy(update={"similarity_fn_name": mteb_maxsim()})

        def encode(self, inputs: Any, **kwargs: Any):
            vectors = super().encode(inputs, **kwargs)
            return torch.stack([vectors, 2 * vectors, 0 * vectors], dim=1)

    (first, *_) = embedded(versioned(Late()), "image", IMAGES)
    np.testing.assert_allclose(first, [of_image(IMAGES[0]), 2 * of_image(IMAGES[0])], rtol=1e-5)


def mteb_maxsim() -> Any:
    from mteb.models.model_meta import ScoringFunction

    return ScoringFunction.MAX_SIM


def test_a_processor_makes_a_model_of_what_it_prepares(tmp_path):
    """An image processor alone makes a model of images, a tokenizer alone one of texts; so does the model's folder."""
    folder = checkpoints.clip(tmp_path / "model")
    model = transformers.CLIPModel(transformers.CLIPConfig.from_pretrained(folder)).eval()
    model.config._name_or_path = ""
    images, tokens = parts_of(folder)
    both = transformers.CLIPProcessor(image_processor=images, tokenizer=tokens)
    for processor, abilities in (
        (both, ("embed_image", "embed_text")),
        (images, ("embed_image",)),
        (tokens, ("embed_text",)),
    ):
        assert wrapped(model, processor=processor).row.abilities == abilities
    for part in (model, images):
        part.save_pretrained(tmp_path / "images")
    assert wrapped(loaded(tmp_path / "images")).row.abilities == ("embed_image",)


def test_nothing_of_the_object_changes():
    state = torch.random.get_rng_state()
    model = copy.deepcopy(small_open_clip()).train()
    wrapped(model)
    assert all(part.training for part in model.modules())
    assert all(weight.requires_grad and weight.grad is None for weight in model.parameters())
    assert torch.equal(torch.random.get_rng_state(), state)


# ---- functions of two images


def of_pair(a, b) -> float:
    return float(np.abs(of_image(a) - of_image(b)).sum())


def of_lists(a, b) -> list[float]:
    return [of_pair(x, y) for x, y in zip(a, b, strict=True)]


def of_tensors(a, b) -> torch.Tensor:
    return (a - b).abs().mean(dim=(1, 2, 3))


def of_two_tensors(a, b) -> torch.Tensor:
    """A mean over everything: of a batch it would be one number."""
    return (a - b).abs().mean()


class Metric(torch.nn.Module):
    def forward(self, a, b):
        return of_tensors(a, b)


@pytest.mark.parametrize(
    ("function", "preprocess", "title"),
    [
        (of_pair, None, "single PIL images"),
        (of_lists, None, "lists of PIL images"),
        (of_tensors, pixels, "batches of tensors"),
        (of_two_tensors, pixels, "single tensors"),
        (Metric(), pixels, "batches of tensors"),
    ],
    ids=["pair", "lists", "batch", "tensors", "module"],
)
def test_a_distance_is_called_as_it_can_be(function, preprocess, title):
    own = versioned(function, higher_is_better=False, preprocess=preprocess)
    metric, first, second = own.load(own.row, hardware=CPU), IMAGES[:2], IMAGES[2:4]
    assert metric.settings["called_with"] == title
    ready = [[preprocess(image)[None] if preprocess else image for image in side] for side in (first, second)]
    one = of_pair if preprocess is None else of_two_tensors
    expected = [-float(one(a, b)) for a, b in zip(*ready, strict=True)]
    np.testing.assert_allclose(metric.compare(first, second), expected, rtol=1e-6)
    assert (own.row.kind, own.row.abilities, own.row.modalities) == ("metric", ("compare",), ("image",))
    with pytest.raises(CannotDo, match="alone"):
        metric.compare(None, first)


def test_a_similarity_is_not_negated():
    own = versioned(lambda a, b: 1 / (1 + of_pair(a, b)), higher_is_better=True)
    found = own.load(own.row, hardware=CPU).compare(IMAGES[:1], IMAGES[1:2])
    np.testing.assert_allclose(found, 1 / (1 + of_pair(*IMAGES[:2])))


# ---- what is refused


def without_folder(folder: Path) -> Any:
    model = transformers.CLIPModel(transformers.CLIPConfig.from_pretrained(checkpoints.clip(folder / "model"))).eval()
    model.config._name_or_path = ""
    return model


def without_preprocessing(folder: Path) -> Any:
    model = copy.deepcopy(small_open_clip())
    model.visual.preprocess_cfg = {}
    return model


def headed(folder: Path) -> Any:
    config = transformers.AutoConfig.from_pretrained(checkpoints.vision(folder / "model", "dinov2"))
    return transformers.Dinov2ForImageClassification(config).eval()


def of_generated_text(folder: Path) -> Any:
    return transformers.GPT2Model(transformers.GPT2Config(n_embd=16, n_layer=1, n_head=2, vocab_size=50)).eval()


def crossed(folder: Path) -> Any:
    return sentence_transformers.CrossEncoder(str(small_bert(folder)), num_labels=1, device="cpu")


def late_of_texts(folder: Path) -> Any:
    return sentence_transformers.MultiVectorEncoder(
        modules=[modules.Transformer(str(small_bert(folder)))], device="cpu"
    )


class TwoLengths(Eye):
    def encode_text(self, texts):
        return super().encode_text(texts)[:, :2]


@pytest.mark.parametrize(
    ("make", "given", "words"),
    [
        (lambda folder: 3, {}, "an open_clip model"),
        (lambda folder: Flat, {}, "an open_clip model"),
        (lambda folder: Flat(), {}, "preprocess="),
        (lambda folder: OfTensors().eval(), {}, "preprocess="),
        (lambda folder: TwoLengths(), {"version": "1"}, "2 numbers for texts"),
        (lambda folder: Eye(), {"processor": 1}, "takes no processor="),
        (lambda folder: small_open_clip(vocabulary=32000), {}, "vocabulary of 32000"),
        (lambda folder: small_open_clip(), {"tokenizer": str.split}, "open_clip.get_tokenizer"),
        (without_preprocessing, {}, "preprocess="),
        (without_folder, {}, "processor="),
        (headed, {}, "not settled"),
        (of_generated_text, {}, "not settled"),
        (crossed, {}, "one vector"),
        (late_of_texts, {}, "late-interaction model of texts alone"),
        (lambda folder: Recording(("audio",)), {"version": "1"}, "audio"),
        (lambda folder: of_pair, {}, "higher_is_better=False"),
        (lambda folder: Metric(), {}, "higher_is_better=False"),
        (lambda folder: of_pair, {"higher_is_better": True, "version": "1"}, "higher_is_better=False"),
        (lambda folder: lambda a, b: np.nan, {"higher_is_better": False, "version": "1"}, "NaN"),
        (
            lambda folder: lambda a, b: np.random.default_rng().random(),
            {"higher_is_better": False, "version": "1"},
            "not deterministic",
        ),
        (lambda folder: lambda a, b: 1 / 0, {"higher_is_better": False, "version": "1"}, "ZeroDivisionError"),
        (lambda folder: lambda a, b: [1.0, 2.0], {"higher_is_better": False, "version": "1"}, "6 numbers for 3 pairs"),
        (lambda folder: lambda a: 1.0, {"higher_is_better": False, "version": "1"}, "two images"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_remedy(tmp_path, make, given, words):
    with pytest.raises(BadInput, match=words):
        wrapped(make(tmp_path), **given)
