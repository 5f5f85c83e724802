"""Learned perceptual distances: LPIPS (Zhang et al. 2018) and DreamSim (Fu et al. 2023), from their own packages.

By themselves, the packages download weights into the working folder or run downloaded code. Here they only provide the
architecture, and the weights are read from torch's cache as tensors only.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from compute.arrays import unit
from compute.models.adapter import Hardware, chosen
from compute.models.files.downloads import Published
from compute.models.files.weights import existing, fill, tensors, under
from compute.models.metrics.pixels import OTHER_SIZE, PairMetric
from compute.types import Model

if TYPE_CHECKING:
    import torch
    from PIL import Image

NET = "alex"  # the backbone recommended by the authors of LPIPS
BACKBONE = Published(  # as in torchvision, without importing it; its table of weights uses MiB
    url="https://download.pytorch.org/models/alexnet-owt-7be5be79.pth",
    sha256="7be5be79",
    size=round(233.087 * 2**20),
)
DINO_BRANCH = "dino_vitb16"
DINO = Published(url="https://dl.fbaipublicfiles.com/dino/dino_vitbase16_pretrain/dino_vitbase16_pretrain.pth")


def load_lpips(row: Model, hardware: Hardware, folder: Path | None) -> PairMetric:
    """Loads LPIPS 0.1: the negated distance of two images' deep features.

    Its backbone is torchvision's file, read from `folder` if the row names one. The layers on top are part of the
    package.
    """
    import torch

    chosen(row, {"net": NET})
    file = folder / BACKBONE.path.name if folder else BACKBONE.fetch()
    network = hardware.placed(lpips_network(file))
    if hardware.dtype != "float32":  # only the backbone: 8-bit distances would tie
        features = network.net.forward
        network.net.forward = lambda images: [layer.float() for layer in features(images)]
        network.lins.float()

    def tensors(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        """Returns (n,) distances; the network expects inputs in -1..1."""
        return network(2 * first - 1, 2 * second - 1).flatten()

    def score(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        with torch.inference_mode():
            sides = (torch.from_numpy(side).permute(0, 3, 1, 2).to(hardware.device) for side in (first, second))
            return -tensors(*(side.to(hardware.torch_dtype) / 255 for side in sides)).cpu().numpy()

    return PairMetric(
        title="LPIPS",
        score=score,
        tensors=tensors,
        higher_is_better=False,
        network=network,
        smallest=31,  # leaves one position in its last layer
        chunk=sys.maxsize,  # pairs of one size form one batch
        settings={
            "model": row.key,
            "net": NET,
            "version": "0.1",
            "backbone": file.name,
            "range": [-1, 1],
            "sizes": OTHER_SIZE,
        },
    )


def lpips_network(file: Path) -> torch.nn.Module:
    """Returns the package's network with its backbone's weights from torchvision's `file`. Raises NotHere or
    BadInput.
    """
    import lpips

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package calls torchvision with deprecated arguments
        network = lpips.LPIPS(net=NET, version="0.1", pnet_rand=True, verbose=False)
    features = under(tensors(file), "features.")
    # The package splits the backbone into slices whose layers have the same numbers as in torchvision.
    numbers = {name: name.split(".", 1)[1] for name in network.net.state_dict()}
    fill(
        network.net,
        {name: features[number] for name, number in numbers.items() if number in features},
        of="LPIPS's AlexNet",
    )
    return network


def lpips_files(row: Model) -> Iterator[Published]:
    """Yields the files that the row needs from URLs."""
    if not row.weights:
        yield BACKBONE


def lpips_layers(row: Model) -> Iterator[Path]:
    """Yields the file of the layers on top of the backbone, which is part of the package."""
    yield Path(str(distribution("lpips").locate_file(f"lpips/weights/v0.1/{NET}.pth")))


DREAMSIM = {  # name -> its vision transformers and the folder of its trained layers
    "ensemble": (("dino_vitb16", "clip_vitb16", "open_clip_vitb16"), "ensemble_lora"),
    "open_clip_vitb32": (("open_clip_vitb32",), "open_clip_vitb32_single_lora"),
}

RELEASE = "https://github.com/ssundaram21/dreamsim/releases/download/v0.2.0-checkpoints/"  # as in the package


@dataclass(kw_only=True)
class DreamSim:
    """An encoder and a comparer: its distance is one minus the cosine of the two images' vectors."""

    settings: dict[str, Any]
    network: torch.nn.Module
    branches: tuple[str, ...]
    side: int
    hardware: Hardware
    higher_is_better: bool = False  # of `tensors`
    smallest: int = 1

    def prepare(self, modality: str, item: Image.Image) -> torch.Tensor:
        """Returns (3, side, side) in 0..1, resized to a square without preserving the aspect ratio."""
        from torchvision.transforms import InterpolationMode, functional

        return functional.to_tensor(
            functional.resize(item.convert("RGB"), [self.side, self.side], InterpolationMode.BICUBIC)
        )

    def embed(self, modality: str, prepared: Sequence[torch.Tensor]) -> np.ndarray:
        """Returns (n, d) float32, centred and of unit length, as in the package."""
        import torch

        with torch.inference_mode():
            return self._vectors(torch.stack(list(prepared)).to(self.hardware.device)).float().cpu().numpy()

    def tensors(self, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        """Returns (n,) distances of batches (n, 3, h, w) in 0..1. Other sizes than the network's are resized as in
        `prepare`, but not rounded to 8 bits.
        """
        from torchvision.transforms import InterpolationMode, functional

        size = [self.side, self.side]
        left, right = (
            # Not clamped without resizing, because that would change the gradient of pixels at 0 and 1.
            self._vectors(
                images
                if list(images.shape[2:]) == size
                else functional.resize(images, size, InterpolationMode.BICUBIC).clamp(0, 1)
            )
            for images in (first, second)
        )
        return 1 - (left * right).sum(dim=1)

    def _vectors(self, batch: torch.Tensor) -> torch.Tensor:
        """Returns (n, d) for (n, 3, side, side)."""
        import torch

        towers = zip(self.branches, self.network.extractor_list, strict=True)
        vectors = torch.cat([self._seen(branch, tower, batch) for branch, tower in towers], dim=1)
        vectors = vectors.to(torch.promote_types(vectors.dtype, torch.float32))
        return torch.nn.functional.normalize(vectors - vectors.mean(dim=1, keepdim=True), dim=1)

    def _seen(self, branch: str, tower: torch.nn.Module, batch: torch.Tensor) -> torch.Tensor:
        """Returns a CLIP model's embedding, or DINO's first token after its last block."""
        from dreamsim import constants
        from torchvision.transforms import functional

        if branch != DINO_BRANCH:
            shown = functional.normalize(batch, constants.OPENAI_CLIP_MEAN, constants.OPENAI_CLIP_STD)
            return tower.model(shown.to(self.hardware.torch_dtype)) @ tower.proj
        shown = functional.normalize(batch, constants.IMAGENET_DEFAULT_MEAN, constants.IMAGENET_DEFAULT_STD)
        states = tower.model.prepare_tokens(shown.to(self.hardware.torch_dtype))
        for block in tower.model.blocks:
            states = block(states)
        return states[:, 0]

    def compare(self, first: Sequence[Image.Image], second: Sequence[Image.Image]) -> np.ndarray:
        """Returns (n,) float64: the negated distance, at most 0. Runs as one batch."""
        left, right = (
            self.embed("image", [self.prepare("image", image) for image in images]) for images in (first, second)
        )
        return (unit(left) * unit(right)).sum(axis=1) - 1


def load_dreamsim(row: Model, hardware: Hardware, folder: Path | None) -> DreamSim:
    """Loads DreamSim. Option: `dreamsim_type`, a key of DREAMSIM. Without `folder`, the archive in torch's cache is
    used.
    """
    options = chosen(row, {"dreamsim_type": "ensemble"})
    kind = options["dreamsim_type"]
    import dreamsim
    import torch
    from peft import PeftModel

    branches, trained = DREAMSIM[kind]
    folder = folder or _archive(kind).fetch()
    network = torch.nn.Module()
    # Names as in the package, because the file of trained layers refers to them.
    network.extractor_list = torch.nn.ModuleList(_holder(branch, folder) for branch in branches)
    network = PeftModel.from_pretrained(network, folder / trained).merge_and_unload()
    return DreamSim(
        network=hardware.placed(network),
        branches=branches,
        hardware=hardware,
        side=dreamsim.config.dreamsim_args["img_size"],
        settings={"model": row.key, **options, "resize": "to a square, bicubic"},
    )


def dreamsim_files(row: Model) -> Iterator[Published]:
    """Yields the files that the row needs from URLs, in sequence: only the archive's folder shows whether it includes
    DINO.
    """
    kind = row.options.get("dreamsim_type", "ensemble")
    if row.weights:
        return
    archive = _archive(kind)
    yield archive
    if DINO_BRANCH in DREAMSIM[kind][0] and not _own_dino(archive.path).is_file():
        yield DINO


def _archive(kind: str) -> Published:
    return Published(url=f"{RELEASE}dreamsim_{kind}_checkpoint.zip", archive=True)


def _own_dino(folder: Path) -> Path:
    return folder / "checkpoints" / DINO.path.name


def _holder(kind: str, folder: Path) -> torch.nn.Module:
    """Returns a module with `model`, the package's vision transformer, and, if there is one, `proj` into the shared
    space.
    """
    import torch
    from dreamsim.feature_extraction import vision_transformer
    from dreamsim.feature_extraction.load_clip_as_dino import load_clip_as_dino
    from dreamsim.feature_extraction.load_open_clip_as_dino import load_open_clip_as_dino

    holder = torch.nn.Module()
    if kind == DINO_BRANCH:
        own = _own_dino(folder)
        holder.model = vision_transformer.vit_base(patch_size=16)
        fill(holder.model, tensors(own if own.is_file() else DINO.fetch()), of="DINO ViT-B/16")
        return holder
    existing(folder / f"{kind}_pretrain.pth.tar")
    read = load_open_clip_as_dino if kind.startswith("open_clip") else load_clip_as_dino
    holder.model, projection = read(int(kind[-2:]), str(folder))
    holder.register_buffer("proj", projection.detach())
    return holder
