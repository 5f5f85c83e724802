"""LPIPS and DreamSim beside direct calls of their packages, on small random weights in the packages' file layout."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
import torchvision
from PIL import Image

from compute.interface.metric import TensorMetric
from compute.models.metrics import perceptual
from compute.types import BadInput, NotHere
from tests.compute.models import checkpoints
from tests.compute.models.checkpoints import CPU, embedded

dreamsim = pytest.importorskip("dreamsim")
lpips = pytest.importorskip("lpips")
peft = pytest.importorskip("peft")


row = partial(checkpoints.row, "", "perceptual")


def pictures(seed):
    """Smooth noise, so that distances are of the usual size."""
    made, sides = np.random.default_rng(seed), ((64, 64), (72, 65), (64, 64))
    return [Image.fromarray(made.integers(0, 256, size=(5, 5, 3), dtype=np.uint8)).resize(side) for side in sides]


FIRST, SECOND = pictures(0), pictures(1)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """torch's cache in an empty place, with the hub switched off."""
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "torch" / "hub" / "checkpoints"


def batch(image):
    """(1, 3, H, W) of 0 to 1."""
    return torch.tensor(np.asarray(image)).permute(2, 0, 1)[None] / 255


def check_tensors(model, first, second, package, **options):
    """As a loss on tensors: values and gradients of the package. In float64, since the gradients of random networks of
    float32 are noise in part."""
    metric = TensorMetric(model, name="metric")
    model.network.double(), package.double()
    first, second = first.double(), second.double()
    assert metric.differentiable and not metric.higher_is_better
    losses, slopes = [], []
    for call in (metric, partial(package, **options)):
        images = first.clone().requires_grad_()
        losses.append(call(images, second).flatten())
        slopes.append(torch.autograd.grad(losses[-1].sum(), images)[0])
    torch.testing.assert_close(losses[0], losses[1], rtol=1e-6, atol=0)
    torch.testing.assert_close(slopes[0], slopes[1], rtol=0, atol=1e-6 * slopes[1].abs().max().item())
    assert metric(first, first).abs() < 1e-6
    side = model.smallest
    assert metric(first[..., :side, :side], second[..., :side, :side]) > 0
    with pytest.raises(BadInput, match=f"at least {side}"):
        metric(first[..., : side - 1, :side], second[..., : side - 1, :side])


HALF = replace(CPU, dtype="bfloat16")


# LPIPS


def test_lpips_is_the_package_call(tmp_path):
    """Reference: lpips.LPIPS with the same random backbone, on pixels of -1 to 1."""
    torch.manual_seed(0)
    with pytest.warns(UserWarning):  # the package's call of torchvision is an old one
        package = lpips.LPIPS(net="alex", pnet_rand=True, version="0.1", verbose=False)
    stored = {f"features.{name.split('.', 1)[1]}": value for name, value in package.net.state_dict().items()}
    torch.save(stored, tmp_path / perceptual.BACKBONE.path.name)
    tensors = [[batch(image) for image in side] for side in (FIRST, SECOND)]
    with torch.no_grad():
        wanted = [package(a, b, normalize=True).item() for a, b in zip(*tensors, strict=True)]
    model = perceptual.load_lpips(row(net="alex"), CPU, tmp_path)
    found = model.compare(FIRST, SECOND)
    assert found.dtype == np.float64
    assert found == pytest.approx(-np.array(wanted), abs=1e-6)
    assert min(wanted) > 0.01
    json.dumps(model.settings)
    half = perceptual.load_lpips(row(net="alex"), HALF, tmp_path)
    assert half.compare(FIRST, SECOND) == pytest.approx(found, rel=0.05)
    check_tensors(model, tensors[0][0], tensors[1][0], package, normalize=True)


def test_what_to_fetch_is_said_and_nothing_comes_into_the_working_folder(cache):
    for load, name in ((perceptual.load_lpips, "alexnet"), (perceptual.load_dreamsim, "dreamsim_ensemble")):
        with pytest.raises(NotHere, match=name):
            load(row(), CPU, None)
    assert not (Path.cwd() / "models").exists()


def test_the_addresses_are_those_of_the_packages():
    assert perceptual.BACKBONE.url == torchvision.models.AlexNet_Weights.IMAGENET1K_V1.url
    for kind in perceptual.DREAMSIM:
        assert next(perceptual.dreamsim_files(row(dreamsim_type=kind))).url == dreamsim.config.dreamsim_weights[kind]


# DreamSim


@pytest.fixture
def small_transformers(monkeypatch):
    """The package fixes ViT-B; its own class, as deep but narrow, stands for it in its loaders and in ours."""
    from dreamsim.feature_extraction import load_clip_as_dino, load_open_clip_as_dino, vision_transformer

    def narrow(patch_size=16, **options):
        return vision_transformer.VisionTransformer(
            patch_size=patch_size,
            embed_dim=32,
            depth=12,
            num_heads=2,
            mlp_ratio=2,
            qkv_bias=True,
            norm_layer=partial(torch.nn.LayerNorm, eps=1e-6),
            **options,
        )

    for module in (vision_transformer, load_clip_as_dino, load_open_clip_as_dino):
        monkeypatch.setattr(module, "vit_base", narrow)


TOWER = """
import torch
from dreamsim.feature_extraction import vision_transformer
def dino_vitb16(**options):
    model = vision_transformer.vit_base(patch_size=16)
    model.load_state_dict(torch.load({file!r}, weights_only=True))
    return model
"""


def written(folder, kind):
    """A DreamSim folder as its archive unpacks: towers with projections, and the trained layers as a LoRA."""
    from dreamsim.feature_extraction import vision_transformer

    torch.manual_seed(2)
    branches, trained = perceptual.DREAMSIM[kind]
    towers = []
    for branch in branches:
        tower = vision_transformer.vit_base(patch_size=int(branch[-2:]))
        if branch != "dino_vitb16":
            tower.pos_drop = torch.nn.LayerNorm(32)
        for parameter in tower.parameters():
            torch.nn.init.normal_(parameter, mean=1.0 if parameter.ndim == 1 else 0.0, std=0.6)
        towers.append(torch.nn.ModuleDict({"model": tower}))
        if branch == "dino_vitb16":
            file = folder / "checkpoints" / "dino_vitbase16_pretrain.pth"
            file.parent.mkdir()
            torch.save(tower.state_dict(), file)
            code = folder / "facebookresearch_dino_main" / "hubconf.py"
            code.parent.mkdir()
            code.write_text(TOWER.format(file=str(file)))
            layers = [f"mlp.{place}.{part}" for place in (0, 2, 4) for part in ("weight", "bias")] + [
                "last_layer.weight"
            ]
            head = {f"module.head.{name}": torch.zeros(2) for name in layers}
            torch.save({"student": head}, folder / "dino_vitb16_pretrain.pth")
        else:
            torch.save(
                {"state_dict": {**tower.state_dict(), "proj": torch.randn(32, 24)}},
                folder / f"{branch}_pretrain.pth.tar",
            )
    config = peft.LoraConfig(r=4, lora_alpha=8, target_modules=["qkv"], init_lora_weights=False, bias="none")
    network = torch.nn.ModuleDict({"extractor_list": torch.nn.ModuleList(towers)})
    peft.get_peft_model(network, config).save_pretrained(folder / trained)
    return folder


@pytest.mark.parametrize("kind", ["open_clip_vitb32", "ensemble"])
def test_dreamsim_is_the_package_call(kind, tmp_path, small_transformers, monkeypatch):
    """Reference: dreamsim.dreamsim's own loading and distance; the ensemble's DINO comes from torch.hub there."""
    monkeypatch.setattr(torch.hub, "_hub_dir", None)
    folder = written(tmp_path, kind)
    package, show = dreamsim.dreamsim(pretrained=True, device="cpu", cache_dir=str(folder), dreamsim_type=kind)
    first, second = ([show(image) for image in side] for side in (FIRST, SECOND))
    with torch.no_grad():
        wanted = [package(a, b).item() for a, b in zip(first, second, strict=True)]
        vectors = package.embed(torch.cat(first)).numpy()
    model = perceptual.load_dreamsim(row(dreamsim_type=kind), CPU, folder)
    assert model.compare(FIRST, SECOND) == pytest.approx(-np.array(wanted), abs=1e-6)
    assert min(wanted) > 1e-3
    np.testing.assert_allclose(embedded(model, "image", FIRST), vectors, atol=1e-5)
    json.dumps(model.settings)
    double = replace(model, hardware=replace(CPU, dtype="float64"))
    for tower in package.modules():
        if isinstance(getattr(tower, "proj", None), torch.Tensor):  # the package's is no buffer
            tower.proj = tower.proj.double()
    check_tensors(double, first[0], second[0], package)
