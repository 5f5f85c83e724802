"""Multimodal language models as encoders: a prompt contains the item, and its vector is the final hidden state of the
last token, or the states of all tokens (late interaction).

E5-V (Jiang et al. 2024) and GME (Zhang et al. 2024) differ only in prompt, length and scale, so another model of this
kind is a row with other options.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from compute.models.adapter import Hardware, chosen, in_rgb
from compute.models.files import lora, pretrained
from compute.models.files.weights import CONFIG, WEIGHTS, RequiredFiles, architecture, checkpoint_of
from compute.types import BadInput, CannotDo, Model

if TYPE_CHECKING:
    import torch

    from compute.models.adapter import Item

DEFAULTS: dict[str, Any] = {
    "prompts": {},  # modality -> prompt with {image} and {text}; a modality without a prompt cannot be embedded
    "images": {},  # passed to the image processor, such as {"size": {...}}
    "max_text_tokens": None,  # a longer text is truncated, but never the prompt around it
    "normalise": False,
    "base": None,  # {"weights", "revision"} of the base model of a LoRA checkpoint
}

LATE = ("colmodernvbert", "colpali", "colqwen2")  # the library's `model_type`
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
    "images": {"size": {"shortest_edge": 4 * 28 * 28, "longest_edge": 1280 * 28 * 28}},  # pixels in total
    "max_text_tokens": 1800,
    "normalise": True,
}


def prompted(
    *,
    settings: dict[str, Any],
    model: Callable[..., Any],
    processor: Any,
    hardware: Hardware,
    inputs: Callable[[str, Item], Mapping[str, torch.Tensor]],
    vectors: Callable[[Any, torch.Tensor], np.ndarray | list[np.ndarray]],
) -> SimpleNamespace:
    """Returns an encoder with prompts: `inputs` returns the processor's tensors for one item, with batch size 1.
    `vectors` extracts the items' vectors from the network's output for a whole batch and its mask.
    """
    import torch

    processor.tokenizer("ready")  # sets padding and truncation now, so that threads do not have to

    def embed(modality: str, prepared: Sequence[Mapping[str, torch.Tensor]]) -> np.ndarray | list[np.ndarray]:
        """Returns (n, d) float32; for late interaction, (tokens, d) per item."""
        batch = padded(prepared, pad=processor.tokenizer.pad_token_id or 0, hardware=hardware)
        with torch.inference_mode():
            return vectors(model(**batch), batch["attention_mask"])

    return SimpleNamespace(settings=settings, processor=processor, prepare=inputs, embed=embed)


def padded(prepared: Sequence[Mapping[str, torch.Tensor]], *, pad: int, hardware: Hardware) -> dict[str, torch.Tensor]:
    """Concatenates batches of size 1 on the device. Tokens are padded on the right, because a causal model does not
    attend to positions after the last token.

    Image tensors are concatenated, with empty tiles added to images that have fewer tiles.
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


def _load(row: Model, hardware: Hardware, folder: Path, *, family: Mapping[str, Any]) -> SimpleNamespace:
    """Returns an encoder of the final state of each prompt's last token, of unit length if `normalise`. Raises NotHere,
    CannotDo or BadInput.
    """
    import torch

    options = chosen(row, {**DEFAULTS, **family})
    base = folder
    if options["base"] is not None:
        required = RequiredFiles(weights=WEIGHTS, needs=(CONFIG,))
        base = checkpoint_of(row, options["base"], option="base", required=required)
    model = pretrained.loaded(row, "AutoModelForImageTextToText", folder=base, dtype=hardware.torch_dtype)
    if base != folder:
        model = lora.merged(model, folder)
    processed = folder if (folder / "preprocessor_config.json").is_file() else base
    processor = pretrained.loaded(row, "AutoProcessor", folder=processed)
    _complete(processor, model.config)
    token = getattr(processor, "image_token", "")
    extra = {"images_kwargs": dict(options["images"])} if options["images"] else {}

    def truncated(text: str) -> str:
        limit = options["max_text_tokens"]
        if limit is None or len(text) <= limit:  # a token has at least one character
            return text
        tokens = processor.tokenizer(text, add_special_tokens=False)["input_ids"]
        return text if len(tokens) <= limit else processor.tokenizer.decode(tokens[:limit])

    def inputs(modality: str, item: Item) -> dict[str, torch.Tensor]:
        if modality not in options["prompts"]:
            raise CannotDo(f"{row.key} has no {modality} prompt; its row can give one: options.prompts")
        image, text = item if modality == "pair" else (item, "") if modality == "image" else (None, item)
        # The text is inserted last, so that braces in it are not replaced.
        prompt = options["prompts"][modality].replace("{image}", token).replace("{text}", truncated(text))
        if image is None:
            return dict(processor(text=prompt, return_tensors="pt"))
        try:
            return dict(processor(text=prompt, images=in_rgb(image), return_tensors="pt", **extra))
        except ValueError as error:  # for example a strip of an image that is 200 times as long as wide
            raise BadInput(f"The processor of {row.key} refuses it: {error}") from error

    def vectors(output: Any, mask: torch.Tensor) -> np.ndarray:
        last = mask.sum(dim=1) - 1
        found = output.last_hidden_state[torch.arange(len(last), device=last.device), last].float()
        return (torch.nn.functional.normalize(found, dim=-1) if options["normalise"] else found).cpu().numpy()

    network = getattr(model, "model", model).to(hardware.device).eval()
    return prompted(
        settings={
            "model": row.key,
            "pooling": "last token",
            "padding": "right",
            "image_token": token,
            **{name: options[name] for name in ("prompts", "images", "max_text_tokens", "normalise")},
        },
        model=partial(network, use_cache=False),
        processor=processor,
        hardware=hardware,
        inputs=inputs,
        vectors=vectors,
    )


load_e5_v = partial(_load, family=E5_V)
load_gme = partial(_load, family=GME)


def _complete(processor: Any, config: Any) -> None:
    """Gives a LLaVA processor the values by which it counts image tokens. The first checkpoints leave them to the
    model's configuration. The additional token is the class token of the vision tower.
    """
    if hasattr(processor, "vision_feature_select_strategy") and processor.patch_size is None:
        processor.patch_size = config.vision_config.patch_size
        processor.vision_feature_select_strategy = config.vision_feature_select_strategy
        processor.num_additional_image_tokens = 1


def load_late(row: Model, hardware: Hardware, folder: Path) -> SimpleNamespace:
    """Loads late-interaction models with a vector per token: ColPali and ColQwen2 (Faysse et al. 2024).

    Texts are embedded as queries and images as documents, with the checkpoint's prompts, and compared by MaxSim. Each
    vector has unit length. Raises NotHere, and BadInput for a checkpoint of another kind.
    """
    options, kind = chosen(row, pretrained.OPTIONS), architecture(folder)
    if kind not in LATE:
        raise BadInput(f"{row.key} is of architecture {kind!r}, not of {', '.join(LATE)}")
    processor = pretrained.loaded(row, "AutoProcessor", folder=folder)
    model, _ = pretrained.model(row, "AutoModelForPreTraining", folder=folder, hardware=hardware, options=options)

    def inputs(modality: str, item: Item) -> dict[str, torch.Tensor]:
        if modality == "pair":
            raise CannotDo("A late-interaction model embeds an image and its text one by one: omit fusion=joint")
        made = (
            processor.process_images(images=[in_rgb(item)], return_tensors="pt")
            if modality == "image"
            else processor.process_queries(text=[item], return_tensors="pt")
        )
        return {name: value for name, value in made.items() if name != "labels"}

    def vectors(output: Any, mask: torch.Tensor) -> list[np.ndarray]:
        found = output.embeddings.float().cpu().numpy()
        return [item[:count] for item, count in zip(found, mask.sum(dim=1).tolist(), strict=True)]

    prompts = {name: getattr(processor, name) for name in ("query_prefix", "visual_prompt_prefix")}
    return prompted(
        settings={"image": pretrained.image_ready(processor.image_processor)[1], "texts": "as queries", **prompts},
        model=model,
        processor=processor,
        hardware=hardware,
        inputs=inputs,
        vectors=vectors,
    )
