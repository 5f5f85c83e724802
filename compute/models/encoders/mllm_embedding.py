"""Multimodal language models as encoders: a prompt asks for the item, the last token's final state is its vector.

E5-V (Jiang et al. 2024), VLM2Vec (Jiang et al. 2024) and GME (Zhang et al. 2024) differ in prompt, length and scale
alone, so a further model of the kind is a row with other options.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from compute.models.adapter import Hardware, chosen
from compute.models.encoders.towers import in_rgb
from compute.models.files import lora
from compute.models.files.weights import COMMIT, CONFIG, WEIGHTS, RequiredFiles, architecture, checkpoint_of
from compute.types import BadInput, CannotDo, Model

if TYPE_CHECKING:
    import torch

    from compute.models.adapter import Item

DEFAULTS: dict[str, Any] = {
    "prompts": {},  # modality -> prompt with {image} and {text} in place; a modality without one cannot be embedded
    "image_token": "",  # what stands for {image}; empty: the processor's own
    "crops": None,  # into how many parts at most a processor cuts an image, where that is fixed when it is loaded
    "images": {},  # given to the image processor, such as {"size": {...}}
    "max_text_tokens": None,  # a longer text is cut; the prompt around it never is
    "normalise": False,
    "base": None,  # {"weights", "revision"} of the model that a LoRA checkpoint changes
    "remote_code": False,
}

LLAMA3 = "<|start_header_id|>user<|end_header_id|>\n\n{}<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n \n"
E5_V = {
    "prompts": {
        "image": LLAMA3.format("{image}\nSummary above image in one word: "),
        "text": LLAMA3.format("{text}\nSummary above sentence in one word: "),
        "pair": LLAMA3.format(
            '[INST] {image} Modify this image with "{text}" Describe modified image in one word: [/INST]'
        ),
    },
}
# Of Phi-3.5-vision: its processor counts images by numbered tags, and the checkpoints were trained on four crops.
VLM2VEC = {
    "image_token": "<|image_1|>",
    "crops": 4,
    "prompts": {
        "image": "{image} Represent the given image.",
        "text": "{text}",
        "pair": "{image} Represent the given image with the following question: {text}",
    },
    "max_text_tokens": 256,
    "normalise": True,
}
QWEN2 = (
    "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n<|im_start|>user\n{}<|im_end|>\n"
    "<|im_start|>assistant\n<|endoftext|>"
)
QWEN2_IMAGE = "<|vision_start|>{image}<|vision_end|>"
GME = {
    "prompts": {
        "image": QWEN2.format(QWEN2_IMAGE),
        "text": QWEN2.format("{text}"),
        "pair": QWEN2.format(QWEN2_IMAGE + "{text}"),
    },
    "images": {"size": {"shortest_edge": 4 * 28 * 28, "longest_edge": 1280 * 28 * 28}},  # pixels in all
    "max_text_tokens": 1800,
    "normalise": True,
}


@dataclass(kw_only=True)
class LastTokenEncoder:
    """An encoder of images, texts or pairs by one prompt each."""

    settings: dict[str, Any]
    model: torch.nn.Module
    processor: Any
    options: Mapping[str, Any]
    image_token: str
    hardware: Hardware

    def prepare(self, modality: str, item: Item) -> dict[str, torch.Tensor]:
        """The processor's tensors for one item, a batch of one.

        Raises CannotDo for a modality without a prompt, BadInput for an item that the processor refuses.
        """
        if modality not in self.options["prompts"]:
            raise CannotDo(f"{self.settings['model']} has no {modality} prompt; its row can give one: options.prompts")
        image, text = item if modality == "pair" else (item, "") if modality == "image" else (None, item)
        # The text goes in last: whatever braces it holds are its own.
        template = self.options["prompts"][modality].replace("{image}", self.image_token)
        prompt = template.replace("{text}", self._truncated(text))
        if image is None:
            return dict(self.processor(text=prompt, return_tensors="pt"))
        extra: dict[str, Any] = {"images_kwargs": dict(self.options["images"])} if self.options["images"] else {}
        try:
            return dict(self.processor(text=prompt, images=in_rgb(image), return_tensors="pt", **extra))
        except ValueError as error:  # such as a strip of an image, 200 times as long as wide
            raise BadInput(f"The processor of {self.settings['model']} refuses it: {error}") from error

    def _truncated(self, text: str) -> str:
        limit = self.options["max_text_tokens"]
        if limit is None or len(text) <= limit:  # a token is a character or more
            return text
        tokenizer = self.processor.tokenizer
        tokens = tokenizer(text, add_special_tokens=False)["input_ids"]
        return text if len(tokens) <= limit else tokenizer.decode(tokens[:limit])

    def embed(self, modality: str, prepared: Sequence[Mapping[str, torch.Tensor]]) -> np.ndarray:
        """(n, hidden size) float32: the final state of each prompt's last token, of length 1 if `normalise`."""
        import torch

        batch = padded(prepared, pad=self.processor.tokenizer.pad_token_id or 0, hardware=self.hardware)
        last = batch["attention_mask"].sum(dim=1) - 1
        with torch.inference_mode():
            states = self.model(**batch, use_cache=False).last_hidden_state
            vectors = states[torch.arange(len(last), device=last.device), last].float()
            if self.options["normalise"]:
                vectors = torch.nn.functional.normalize(vectors, dim=-1)
        return vectors.cpu().numpy()


def padded(prepared: Sequence[Mapping[str, torch.Tensor]], *, pad: int, hardware: Hardware) -> dict[str, torch.Tensor]:
    """Batches of one as one batch on the device. Tokens are padded on the right: a causal model never sees what follows
    the last one.

    Image tensors are put one after another, with empty tiles where images have fewer than the most.
    """
    import torch

    together = {}
    for name in prepared[0]:
        parts = [each[name] for each in prepared]
        if parts[0].ndim > 1 and len({part.shape[1] for part in parts}) > 1:
            width, fill = max(part.shape[1] for part in parts), pad if name == "input_ids" else 0
            parts = [
                torch.cat([part, part.new_full((part.shape[0], width - part.shape[1], *part.shape[2:]), fill)], dim=1)
                for part in parts
            ]
        whole = torch.cat(parts)
        together[name] = whole.to(hardware.device, hardware.torch_dtype if whole.is_floating_point() else None)
    return together


def _load(row: Model, hardware: Hardware, folder: Path, *, family: Mapping[str, Any]) -> LastTokenEncoder:
    """Raises NotHere, CannotDo or BadInput."""
    from transformers import AutoModelForCausalLM, AutoModelForImageTextToText, AutoProcessor

    options = chosen(row, {**DEFAULTS, **family})
    allowed = bool(options["remote_code"])
    base, revision = folder, row.revision
    if options["base"] is not None:
        required = RequiredFiles(weights=WEIGHTS, needs=(CONFIG,), code=allowed)
        base = checkpoint_of(row, options["base"], option="base", required=required)
        revision = options["base"].get("revision", "")
    trusted = _trusted(row, base, allowed=allowed, revision=revision)
    library = AutoModelForCausalLM if trusted else AutoModelForImageTextToText
    model = library.from_pretrained(base, trust_remote_code=trusted, **hardware.read_as)
    if base != folder:
        model = lora.merged(model, folder)
    processed = folder if (folder / "preprocessor_config.json").is_file() else base
    crops = {} if options["crops"] is None else {"num_crops": options["crops"]}
    processor = AutoProcessor.from_pretrained(processed, trust_remote_code=trusted, **crops)
    _complete(processor, model.config)
    processor.tokenizer("ready")  # sets its padding and truncation now, so that threads need not
    token = options["image_token"] or getattr(processor, "image_token", "")
    return LastTokenEncoder(
        settings={
            "model": row.key,
            "pooling": "last token",
            "padding": "right",
            "image_token": token,
            **{name: options[name] for name in ("prompts", "crops", "images", "max_text_tokens", "normalise")},
        },
        model=getattr(model, "model", model).to(hardware.device).eval(),
        processor=processor,
        options=options,
        image_token=token,
        hardware=hardware,
    )


load_e5_v = partial(_load, family=E5_V)
load_vlm2vec = partial(_load, family=VLM2VEC)
load_gme = partial(_load, family=GME)


def _trusted(row: Model, folder: Path, *, allowed: bool, revision: str) -> bool:
    """Whether the checkpoint's own code is to run: never where the library knows the architecture."""
    from transformers import CONFIG_MAPPING

    kind = architecture(folder)
    if kind in CONFIG_MAPPING:
        return False
    if not allowed:
        raise CannotDo(
            f"{row.key} is of architecture {kind!r}, which transformers does not know; it runs only with "
            "the code of its repository. Read that code, then allow it in the row: options.remote_code"
        )
    if not COMMIT.fullmatch(revision):
        raise BadInput(f"{row.key} runs code of its repository, so its row must pin a revision: a whole commit")
    return True


def _complete(processor: Any, config: Any) -> None:
    """Gives a LLaVA processor what it now counts image tokens by; checkpoints of its first time leave it to the model's
    configuration. One token besides the patches is the vision tower's class token."""
    if hasattr(processor, "vision_feature_select_strategy") and processor.patch_size is None:
        processor.patch_size = config.vision_config.patch_size
        processor.vision_feature_select_strategy = config.vision_feature_select_strategy
        processor.num_additional_image_tokens = 1
