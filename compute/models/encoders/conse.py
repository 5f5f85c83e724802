"""ConSE (Norouzi et al. 2014, section 3.2): images embedded in a text space through the classes of a classifier.

An image's vector is the mean of the text vectors of its `TOP` most probable classes, weighted by probability. Text
vectors are unchanged. The vector describes an image only by class names and misses everything that has no class.
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

TOP = 10  # the paper's best T
TEXTS = RequiredFiles(weights=(word_llama.TABLE,), needs=((word_llama.TOKENIZER,),))


def load(row: Model, hardware: Hardware, folder: Path) -> Towers:
    """Returns EfficientNet-Lite0's classes in the space of the text model named by option `texts`: package and digest
    of files.

    The text of a class is timm's list of its names, and its vector is scaled to unit length.
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
    """Returns (..., d) from logits (..., classes) and the classes' vectors (classes, d)."""
    import torch

    weights, best = torch.softmax(logits.float(), dim=-1).topk(TOP, dim=-1)
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return (weights.unsqueeze(-1) * classes.float()[best]).sum(dim=-2)


def class_names() -> list[str]:
    """Returns the 1,000 classes of ImageNet-1k in order, each with all its names."""
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
