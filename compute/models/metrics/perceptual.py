"""Learned perceptual distances: LPIPS (Zhang et al. 2018) and DreamSim (Fu et al. 2023), from their own packages.

The packages fetch weights into the working folder or run code from elsewhere when left to themselves; here they only
give the architecture, and the weights come from torch's cache, as tensors alone.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from compute.models.adapter import Hardware
from compute.models.files import downloads
from compute.models.files.checkpoint import existing, fill, tensors, under
from compute.models.files.downloads import Published
from compute.models.files.weights import OPEN_CLIP, RequiredFiles
from compute.models.options import checkpoint_of, chosen
from compute.types import BadInput, CannotDo, Model, NotHere

if TYPE_CHECKING:
    import torch
    from PIL import Image

LPIPS_NETS = {"alex": "alexnet-owt-7be5be79.pth", "vgg": "vgg16-397923af.pth", "squeeze": "squeezenet1_1-b8a52dc0.pth"}
TORCHVISION = "https://download.pytorch.org/models/"  # its own addresses of these files, told without importing it
DINO = "https://dl.fbaipublicfiles.com/dino/dino_vitbase16_pretrain/dino_vitbase16_pretrain.pth"


@dataclass(kw_only=True)
class Lpips:
    """A comparer by the distance of two images' deep features, negated."""

    settings: dict[str, Any]
    network: torch.nn.Module
    hardware: Hardware

    def compare(self, first: Sequence[Image.Image] | None, second: Sequence[Image.Image]) -> np.ndarray:
        """(n,) float64, at most 0; pairs of one size are one batch. Raises CannotDo without a first image."""
        import torch

        if first is None:
            raise CannotDo("LPIPS compares two images; it cannot score one alone")
        if len(first) != len(second):
            raise BadInput(f"{len(first)} first images beside {len(second)} second ones")
        groups = defaultdict(list)
        for row, image in enumerate(first):
            groups[image.size].append(row)
        scores = np.empty(len(second))
        for size, rows in groups.items():
            left, right = (
                torch.stack([_signed(images[row], size) for row in rows]).to(
                    self.hardware.device, getattr(torch, self.hardware.dtype)
                )
                for images in (first, second)
            )
            with torch.inference_mode():
                scores[rows] = -self.network(left, right).flatten().double().cpu().numpy()
        return scores


def _signed(image: Image.Image, size: tuple[int, int]) -> torch.Tensor:
    """(3, h, w) of -1..1, the range that LPIPS was made for."""
    import torch
    from PIL import Image

    shown = image.convert("RGB")
    shown = shown if shown.size == size else shown.resize(size, Image.Resampling.BICUBIC)
    return torch.from_numpy(np.asarray(shown, dtype=np.float32) / 127.5 - 1).permute(2, 0, 1)


def load_lpips(row: Model, hardware: Hardware, folder: Path | None) -> Lpips:
    """LPIPS 0.1. Option `net`: alex, vgg or squeeze; its backbone is torchvision's file, in `folder` where the row
    names one. The layers on top come with the package.
    """
    net = chosen(row, {"net": "alex"})["net"]
    if net not in LPIPS_NETS:
        raise BadInput(f"{row.key}: LPIPS has no net {net!r}. It has: {', '.join(LPIPS_NETS)}")
    try:
        import lpips
    except ImportError as error:
        raise NotHere("LPIPS needs a package that is not installed: pip install lpips") from error
    import torch

    name = LPIPS_NETS[net]
    file = folder / name if folder else _backbone(net).fetch()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package asks torchvision in an old way
        network = lpips.LPIPS(net=net, version="0.1", pnet_rand=True, verbose=False)
    features = under(tensors(file), "features.")
    # The package cuts the backbone into slices whose layers keep the numbers they have in torchvision.
    fill(
        network.net,
        {
            name: features[name.split(".", 1)[1]]
            for name in network.net.state_dict()
            if name.split(".", 1)[1] in features
        },
        of=f"LPIPS's {net}",
    )
    network.to(hardware.device, getattr(torch, hardware.dtype)).eval()
    return Lpips(
        network=network,
        hardware=hardware,
        settings={
            "model": row.key,
            "net": net,
            "version": "0.1",
            "backbone": name,
            "range": [-1, 1],
            "sizes": "the second image is resized to the first's size, bicubic",
        },
    )


def lpips_files(row: Model) -> Iterator[Published]:
    """What the row needs from addresses."""
    net = row.options.get("net", "alex")
    if not row.weights and net in LPIPS_NETS:
        yield _backbone(net)


def _backbone(net: str) -> Published:
    name = LPIPS_NETS[net]
    return Published(url=TORCHVISION + name, sha256=name.split("-")[-1].split(".")[0])


@dataclass(frozen=True, kw_only=True)
class Branch:
    """One vision transformer of a DreamSim model."""

    kind: str  # dino_vitb16 | clip_vitb16 | clip_vitb32 | open_clip_vitb16 | open_clip_vitb32
    feature: str  # first token after the last block | embedding


DREAMSIM = {  # name -> its branches and the folder of the layers that were trained
    "ensemble": (
        (
            Branch(kind="dino_vitb16", feature="token"),
            Branch(kind="clip_vitb16", feature="embedding"),
            Branch(kind="open_clip_vitb16", feature="embedding"),
        ),
        "ensemble_lora",
    ),
    "dino_vitb16": ((Branch(kind="dino_vitb16", feature="token"),), "dino_vitb16_single_lora"),
    "clip_vitb32": ((Branch(kind="clip_vitb32", feature="embedding"),), "clip_vitb32_single_lora"),
    "open_clip_vitb32": ((Branch(kind="open_clip_vitb32", feature="embedding"),), "open_clip_vitb32_single_lora"),
}

RELEASE = "https://github.com/ssundaram21/dreamsim/releases/download/v0.2.0-checkpoints/"  # as the package has it


@dataclass(kw_only=True)
class DreamSim:
    """An encoder and a comparer: its distance is one minus the cosine of two images' vectors."""

    settings: dict[str, Any]
    network: torch.nn.Module
    branches: tuple[Branch, ...]
    centred: bool
    side: int
    hardware: Hardware
    text: Callable[[Sequence[str]], torch.Tensor] | None = None
    multi_vector: bool = False

    def prepare(self, modality: str, item: Image.Image | str) -> Any:
        """(3, side, side) of 0..1, squeezed to a square; a text as it is. Raises CannotDo for what it has no tower."""
        from torchvision.transforms import InterpolationMode, functional

        if modality == "image":
            return functional.to_tensor(
                functional.resize(item.convert("RGB"), [self.side, self.side], InterpolationMode.BICUBIC)
            )
        if modality == "text" and self.text is not None:
            return item
        raise CannotDo(f"{self.settings['model']} embeds images; for texts its row names a tower: options.text")

    def embed(self, modality: str, prepared: Sequence[Any]) -> np.ndarray:
        """(n, d) float32; images centred and of length 1 as the package gives them, unless `centred` is off."""
        import torch

        with torch.inference_mode():
            if modality == "text":
                return self.text(prepared).float().cpu().numpy()
            batch = torch.stack(list(prepared)).to(self.hardware.device)
            vectors = torch.cat([self._seen(place, batch) for place in range(len(self.branches))], dim=1).float()
            if self.centred:
                vectors = torch.nn.functional.normalize(vectors - vectors.mean(dim=1, keepdim=True), dim=1)
            return vectors.cpu().numpy()

    def _seen(self, place: int, batch: torch.Tensor) -> torch.Tensor:
        import torch
        from dreamsim.constants import (
            IMAGENET_DEFAULT_MEAN,
            IMAGENET_DEFAULT_STD,
            OPENAI_CLIP_MEAN,
            OPENAI_CLIP_STD,
        )
        from torchvision.transforms import functional

        branch, holder = self.branches[place], self.network.extractor_list[place]
        plain = branch.kind.startswith("dino")
        shown = functional.normalize(
            batch,
            IMAGENET_DEFAULT_MEAN if plain else OPENAI_CLIP_MEAN,
            IMAGENET_DEFAULT_STD if plain else OPENAI_CLIP_STD,
        )
        shown = shown.to(getattr(torch, self.hardware.dtype))
        if branch.feature == "embedding":
            return holder.model(shown) @ holder.proj
        states = holder.model.prepare_tokens(shown)
        for block in holder.model.blocks:
            states = block(states)
        return states[:, 0]

    def compare(self, first: Sequence[Image.Image] | None, second: Sequence[Image.Image]) -> np.ndarray:
        """(n,) float64: the negated distance, at most 0. One batch. Raises CannotDo without a first image."""
        if first is None:
            raise CannotDo("DreamSim compares two images; it cannot score one alone")
        left, right = (
            self.embed("image", [self.prepare("image", image) for image in images]).astype(np.float64)
            for images in (first, second)
        )
        lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
        return (left * right).sum(axis=1) / lengths - 1


def load_dreamsim(row: Model, hardware: Hardware, folder: Path | None) -> DreamSim:
    """DreamSim. Options: `dreamsim_type`, a key of DREAMSIM; `centred`; `text` = {"weights", "revision"} of an OpenCLIP
    checkpoint whose text tower goes with the vision tower. Without `folder`, the package's archive in torch's cache.
    """
    options = chosen(row, {"dreamsim_type": "ensemble", "centred": True, "text": None})
    kind = options["dreamsim_type"]
    if kind not in DREAMSIM:
        raise CannotDo(f"{row.key}: DreamSim {kind!r} needs code from another repository. Here: {', '.join(DREAMSIM)}")
    try:
        import dreamsim
        from peft import PeftModel
    except ImportError as error:
        raise NotHere("DreamSim needs packages that are not installed: pip install dreamsim") from error
    import torch

    branches, trained = DREAMSIM[kind]
    folder = folder or _archive(kind).fetch()
    network = torch.nn.Module()
    # Names as in the package, which the trained layers' file refers to.
    network.extractor_list = torch.nn.ModuleList(_holder(branch.kind, folder) for branch in branches)
    existing(folder / trained / "adapter_config.json")
    network = PeftModel.from_pretrained(network, folder / trained).merge_and_unload()
    network.to(hardware.device, getattr(torch, hardware.dtype)).eval().requires_grad_(False)
    return DreamSim(
        network=network,
        branches=branches,
        centred=bool(options["centred"]),
        hardware=hardware,
        side=dreamsim.config.dreamsim_args["img_size"],
        text=None if options["text"] is None else _text_tower(row, options["text"], hardware),
        settings={"model": row.key, **options, "resize": "to a square, bicubic"},
    )


def dreamsim_files(row: Model) -> Iterator[Published]:
    """What the row needs from addresses, one after another: only the archive's folder tells whether DINO is in it."""
    kind = row.options.get("dreamsim_type", "ensemble")
    if row.weights or kind not in DREAMSIM:
        return
    archive = _archive(kind)
    yield archive
    if any(branch.kind.startswith("dino") for branch in DREAMSIM[kind][0]) and not _own_dino(archive.path).is_file():
        yield Published(url=DINO)


def _archive(kind: str) -> Published:
    return Published(url=f"{RELEASE}dreamsim_{kind}_checkpoint.zip", archive=True)


def _own_dino(folder: Path) -> Path:
    return folder / "checkpoints" / DINO.rsplit("/", 1)[1]


def _holder(kind: str, folder: Path) -> torch.nn.Module:
    """A module with `model`, the package's vision transformer, and `proj` into the shared space where it has one."""
    import torch
    from dreamsim.feature_extraction import load_clip_as_dino, load_open_clip_as_dino, vision_transformer

    holder = torch.nn.Module()
    if kind == "dino_vitb16":
        own = _own_dino(folder)
        holder.model = vision_transformer.vit_base(patch_size=16)
        fill(holder.model, tensors(own if own.is_file() else downloads.fetched(DINO)), of="DINO ViT-B/16")
        return holder
    existing(folder / f"{kind}_pretrain.pth.tar")
    read = (
        load_open_clip_as_dino.load_open_clip_as_dino
        if kind.startswith("open_clip")
        else load_clip_as_dino.load_clip_as_dino
    )
    holder.model, projection = read(int(kind[-2:]), str(folder))
    holder.register_buffer("proj", projection.detach())
    return holder


def _text_tower(row: Model, named: dict[str, str], hardware: Hardware) -> Callable[[Sequence[str]], torch.Tensor]:
    import open_clip
    import torch

    required = RequiredFiles(weights=OPEN_CLIP, needs=(("open_clip_config.json",),))
    place = f"local-dir:{checkpoint_of(row, named, option='text', required=required)}"
    model = open_clip.create_model(place).to(hardware.device, getattr(torch, hardware.dtype)).eval()
    words = open_clip.get_tokenizer(place)
    return lambda texts: model.encode_text(words(list(texts)).to(hardware.device))
