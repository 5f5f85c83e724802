"""ConSE (Norouzi et al. 2014, section 3.2): images in a space of texts, by way of a classifier's classes.

An image's vector is the mean of the texts' vectors of its `TOP` most probable classes, weighted by probability; texts
stay as they are. So it describes an image by the names of classes alone: it misses whatever has no class.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from compute.models.adapter import Hardware, ImageTower, TextTower, Towers, chosen
from compute.models.encoders import timm_vision, word_llama
from compute.models.files.weights import RequiredFiles, checkpoint_of
from compute.types import Model

if TYPE_CHECKING:
    import torch

TOP = 10  # the paper's T with the best scores
TEXTS = RequiredFiles(weights=(word_llama.TABLE,), needs=((word_llama.TOKENIZER,),))


def load(row: Model, hardware: Hardware, folder: Path) -> Towers:
    """EfficientNet-Lite0's classes in the space of the texts that option `texts` names: package and digest of files.

    A class's text is timm's list of its names, as a direction: its vector has length 1.
    """
    options = chosen(row, {"texts": None})
    text = word_llama.text_tower(checkpoint_of(row, options["texts"], option="texts", required=TEXTS), hardware)
    towers = timm_vision.towers(
        row,
        hardware,
        timm_vision.lite_classifier(folder),
        shown=timm_vision.LITE,
        pooling="avg",
        head=True,
    )
    logits, classes = towers.image, _class_vectors(text, hardware)
    towers.image = ImageTower(
        ready=logits.ready,
        run=lambda inputs: combined(logits.run(inputs), classes),
    )
    towers.text = text
    towers.settings |= {"text": word_llama.SETTINGS, "classes": "timm ImageNetInfo, imagenet-1k", "top": TOP}
    return towers


def combined(logits: torch.Tensor, classes: torch.Tensor) -> torch.Tensor:
    """(..., d) of logits (..., classes) and the classes' vectors (classes, d)."""
    import torch

    weights, best = torch.softmax(logits.float(), dim=-1).topk(TOP, dim=-1)
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return (weights.unsqueeze(-1) * classes.float()[best]).sum(dim=-2)


def class_names() -> list[str]:
    """ImageNet-1k's 1,000 classes in their order, each with all its names."""
    from timm.data import ImageNetInfo

    info = ImageNetInfo("imagenet-1k")
    return [info.index_to_description(index) for index in range(info.num_classes())]


def _class_vectors(text: TextTower, hardware: Hardware) -> torch.Tensor:
    import torch

    vectors = []
    for name in class_names():
        ids = torch.tensor([text.ready(name)], device=hardware.device)
        vectors.append(text.run(ids, torch.ones_like(ids))[0])
    return torch.nn.functional.normalize(torch.stack(vectors).float(), dim=-1)
