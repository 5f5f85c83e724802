"""Every kind of object gives the vectors that its own library gives, and says what it lacks where it cannot."""

import copy
import itertools
from functools import partial

import mteb
import numpy as np
import open_clip
import pytest
import sentence_transformers
import timm
import torch
import transformers
from mteb.mocks.mock_tasks.sts import MockSTSTask, MockVisualSTSTask
from mteb.models.model_meta import ScoringFunction
from sentence_transformers.sentence_transformer import modules

from compute.types import BadInput, CannotDo
from tests.compute.models import checkpoints
from tests.compute.models.checkpoints import CPU
from tests.compute.models.encoders.test_libraries import CASES
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
    small_open_clip,
    versioned,
    wrapped,
)

TOKENIZER = open_clip.get_tokenizer("", context_length=20)
VERSION = {"version": "1"}
SEEN = {"image": Eye().encode_image(IMAGES), "text": Eye().encode_text(TEXTS)}
PIXELS = torch.stack([pixels(image) for image in IMAGES])


class Words(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(49408, DIM)

    def forward(self, tokens):
        return self.table(tokens).sum(dim=1)


READER = Words()


class ByName(Flat):
    def forward(self, pixel_values):
        return super().forward(pixel_values)


class OfTensors(torch.nn.Module):
    """As OpenAI's own package and many others have it: the preprocessing is what tells."""

    def __init__(self):
        super().__init__()
        self.words = Words()

    def encode_image(self, images):
        return images.flatten(1)[:, :DIM]

    def encode_text(self, tokens):
        return self.words(tokens)


def with_open_clip_and_preprocessing(folder):
    model = small_open_clip()

    def enlarged(image):
        return torch.nn.functional.interpolate(pixels(image)[None], size=32)[0]

    seen = model.encode_image(torch.stack(list(map(enlarged, IMAGES))))
    given = {"preprocess": enlarged, "tokenizer": TOKENIZER, **VERSION}
    return model, given, {"image": seen, "text": model.encode_text(TOKENIZER(TEXTS))}


def loaded(folder):
    return transformers.AutoModel.from_pretrained(folder).eval()


def parts_of(folder):
    return transformers.AutoImageProcessor.from_pretrained(folder), transformers.AutoTokenizer.from_pretrained(folder)


def bert(folder):
    return checkpoints.text(folder / "bert", "bert")


def of_modules(*parts):
    return sentence_transformers.SentenceTransformer(modules=[*parts], device="cpu")


def sentence_transformer(folder):
    return of_modules(modules.Transformer(str(bert(folder))), modules.Pooling(32), modules.Normalize())


def encoding(model, **items):
    return model, {}, {modality: model.encode(column) for modality, column in items.items()}


def with_methods_of_tensors(folder):
    model = OfTensors().eval()
    given = {"preprocess": pixels, "tokenizer": TOKENIZER, **VERSION}
    return model, given, {"image": model.encode_image(PIXELS), "text": model.encode_text(TOKENIZER(TEXTS))}


def with_module(folder, *, model=None, preprocess=pixels):
    return model or Flat(), {"preprocess": preprocess, **VERSION}, {"image": Flat()(PIXELS)}


# Objects made of checkpoints, whose vectors are those of the libraries' own calls.
LOADED = {
    **dict.fromkeys(("clip", "siglip", "dinov2", "bert"), loaded),
    "open_clip": lambda folder: open_clip.create_model(f"local-dir:{folder}").eval(),
    "timm": lambda folder: timm.create_model(f"local-dir:{folder}", pretrained=True, num_classes=0).eval(),
}


def with_checkpoint(folder, *, kind):
    CASES[kind].write(folder / "model")
    return LOADED[kind](folder / "model"), {}, CASES[kind].by_library(folder / "model")


MADE = {
    **{kind: partial(with_checkpoint, kind=kind) for kind in LOADED},
    "open_clip, preprocessing given": with_open_clip_and_preprocessing,
    "sentence-transformers": lambda folder: encoding(sentence_transformer(folder), text=TEXTS),
    "sentence-transformers' clip": lambda folder: encoding(
        of_modules(modules.Transformer(str(checkpoints.clip(folder / "model")))), image=IMAGES, text=TEXTS
    ),
    "mteb": lambda folder: (Recording(), VERSION, SEEN),
    "methods of lists": lambda folder: (Eye(), VERSION, SEEN),
    "methods of tensors": with_methods_of_tensors,
    "module": with_module,
    "module in half precision": partial(with_module, model=Flat().to(torch.bfloat16)),
    "mappings of arrays": partial(
        with_module, model=ByName(), preprocess=lambda image: {"pixel_values": pixels(image).numpy()}
    ),
    "module of texts": lambda folder: (READER, {"tokenizer": TOKENIZER}, {"text": READER(TOKENIZER(TEXTS))}),
}


@pytest.mark.parametrize("kind", MADE)
def test_vectors_are_those_of_its_own_library(tmp_path, kind):
    with torch.inference_mode():
        model, given, expected = MADE[kind](tmp_path)
        own = wrapped(model, **given)
        for modality, wanted in expected.items():
            found = embedded(own, modality, IMAGES if modality == "image" else TEXTS)
            near = {"rtol": 0, "atol": 0.05} if "half" in kind else {"rtol": 1e-4, "atol": 1e-5}
            np.testing.assert_allclose(found, np.asarray(wanted)[: len(found)], **near)
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


@pytest.mark.parametrize("task, modality", [(MockSTSTask, "text"), (MockVisualSTSTask, "image")])
def test_batches_are_those_that_mteb_makes(task, modality):
    theirs, ours = Recording(), Recording()
    mteb.evaluate(theirs, task(), cache=None, encode_kwargs={"batch_size": 2, "show_progress_bar": False})
    wanted = [{"image": of_image, "text": of_text}[modality](item) for item in theirs.seen]
    np.testing.assert_array_equal(embedded(versioned(ours), modality, theirs.seen), wanted)
    assert len(wanted) >= 2 and {kind for kind in ours.kinds if kind[0] == modality} <= theirs.kinds


def test_an_encoder_without_metadata_takes_texts():
    class Texts:
        def encode(self, inputs, *, task_metadata, hf_split, hf_subset, prompt_type=None, **kwargs):
            return np.stack([of_text(text) for batch in inputs for text in batch["text"]])

    assert versioned(Recording(("text",))).row.abilities == ("embed_text",)
    own = versioned(Texts())
    assert (own.row.abilities, own.row.modalities, own.row.embed_dim) == (("embed_text",), ("text",), DIM)


@pytest.mark.filterwarnings("ignore:.*is_gradient_checkpointing")
def test_late_interaction_of_texts_and_images(tmp_path):
    """The vectors are its own encode_query's and encode_document's; a second evaluation finds the same model."""
    late, calls = sentence_transformers.MultiVectorEncoder(str(colpali(tmp_path)), device="cpu"), []
    own, again = wrapped(late), wrapped(late)
    assert (own.row.late_interaction, own.row.embed_dim, own.row.abilities) == (True, 16, ("embed_image", "embed_text"))
    assert own.identity(own.row, hardware=None) == again.identity(own.row, hardware=None)
    encode = {"image": late.encode_document, "text": late.encode_query}
    for made in encode.values():  # which here give the same
        noted = lambda items, made=made, **given: calls.append(made) or made(items, **given)  # noqa: E731
        setattr(late, made.__name__, noted)
    own = versioned(late)
    for modality, items in (("image", IMAGES), ("text", TEXTS)):
        calls.clear()
        for found, wanted in zip(embedded(own, modality, items), encode[modality](items), strict=True):
            np.testing.assert_allclose(found, wanted, atol=1e-5)
        assert set(calls) == {encode[modality]}


def test_late_interaction_in_an_array_loses_its_padding():
    class Late(Recording):
        def __init__(self):
            super().__init__()
            self.mteb_model_meta = self.mteb_model_meta.model_copy(
                update={"similarity_fn_name": ScoringFunction.MAX_SIM}
            )

        def encode(self, inputs, **kwargs):
            vectors = super().encode(inputs, **kwargs)
            return torch.stack([vectors, 2 * vectors, 0 * vectors], dim=1)

    (first, *_) = embedded(versioned(Late()), "image", IMAGES)
    np.testing.assert_allclose(first, [of_image(IMAGES[0]), 2 * of_image(IMAGES[0])], rtol=1e-5)


def test_a_processor_makes_a_model_of_what_it_prepares(tmp_path):
    """An image processor alone makes a model of images, a tokenizer alone one of texts; so does the model's folder."""
    model, (images, tokens) = without_folder(tmp_path), parts_of(tmp_path / "model")
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


# ---- functions of two images


def of_pair(a, b):
    return float(np.abs(of_image(a) - of_image(b)).sum())


def of_tensors(a, b):
    return (a - b).abs().mean(dim=(1, 2, 3))


class Metric(torch.nn.Module):
    def forward(self, a, b):
        return of_tensors(a, b)


@pytest.mark.parametrize("function, preprocess", [(of_pair, None), (of_tensors, pixels), (Metric(), pixels)])
def test_a_distance_is_that_of_each_pair(function, preprocess):
    own = versioned(function, higher_is_better=False, preprocess=preprocess)
    near = versioned(lambda a, b: -torch.as_tensor(function(a, b)), higher_is_better=True, preprocess=preprocess)
    metric, first, second = own.load(own.row, hardware=CPU), IMAGES[:2], IMAGES[2:4]
    ready = [[preprocess(image)[None] if preprocess else image for image in side] for side in (first, second)]
    expected = [-float(function(a, b)) for a, b in zip(*ready, strict=True)]
    for made in (metric, near.load(near.row, hardware=CPU)):  # a similarity is not negated
        np.testing.assert_allclose(made.compare(first, second), expected, rtol=1e-6)
    assert (own.row.kind, own.row.abilities, own.row.modalities) == ("metric", ("compare",), ("image",))
    with pytest.raises(CannotDo, match="alone"):
        metric.compare(None, first)


# ---- what is refused


def without_folder(folder):
    model = loaded(checkpoints.clip(folder / "model"))
    model.config._name_or_path = ""
    return model


def without_preprocessing(folder):
    model = copy.deepcopy(small_open_clip())
    model.visual.preprocess_cfg = {}
    return model


def headed(folder):
    config = transformers.AutoConfig.from_pretrained(checkpoints.vision(folder / "model", "dinov2"))
    return transformers.Dinov2ForImageClassification(config).eval()


def crossed(folder):
    return sentence_transformers.CrossEncoder(str(bert(folder)), num_labels=1, device="cpu")


def late_of_texts(folder):
    return sentence_transformers.MultiVectorEncoder(modules=[modules.Transformer(str(bert(folder)))], device="cpu")


COUNT = itertools.count()
DISTANCE = {"higher_is_better": False, **VERSION}


class TwoLengths(Eye):
    def encode_text(self, texts):
        return super().encode_text(texts)[:, :2]


@pytest.mark.parametrize(
    "make, given, words",
    [
        (lambda folder: 3, {}, "an open_clip model"),
        (lambda folder: Flat(), {}, "preprocess="),
        (lambda folder: TwoLengths(), VERSION, "2 numbers for texts"),
        (lambda folder: Eye(), {"processor": 1}, "takes no processor="),
        (lambda folder: small_open_clip(vocabulary=32000), {}, "vocabulary of 32000"),
        (lambda folder: small_open_clip(), {"tokenizer": str.split}, "open_clip.get_tokenizer"),
        (without_preprocessing, {}, "preprocess="),
        (without_folder, {}, "processor="),
        (headed, {}, "not settled"),
        (crossed, {}, "one vector"),
        (late_of_texts, {}, "late-interaction model of texts alone"),
        (lambda folder: Recording(("audio",)), VERSION, "audio"),
        (lambda folder: of_pair, {}, "higher_is_better=False"),
        (lambda folder: Metric(), {}, "higher_is_better=False"),
        (lambda folder: of_pair, {**DISTANCE, "higher_is_better": True}, "higher_is_better=False"),
        (lambda folder: lambda a, b: np.nan, DISTANCE, "NaN"),
        (lambda folder: lambda a, b: 2.0 ** next(COUNT), DISTANCE, "not deterministic"),
        (lambda folder: lambda a, b: 1 / 0, DISTANCE, "ZeroDivisionError"),
        (lambda folder: lambda a, b: [1.0, 2.0], DISTANCE, "6 numbers for 3 pairs"),
        (lambda folder: lambda a: 1.0, DISTANCE, "two images"),
        (lambda folder: lambda messages: None, VERSION, "NoneType"),
        (lambda folder: lambda a, b, c: "A", VERSION, "3 inputs"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_remedy(tmp_path, monkeypatch, make, given, words):
    monkeypatch.setenv("LIKENESS_ANSWERS", str(tmp_path / "answers"))
    with pytest.raises(BadInput, match=words):
        wrapped(make(tmp_path), **given)
