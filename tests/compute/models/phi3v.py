"""A stand-in for the code in Phi-3.5-vision's repository: its processor's rules, on a model of two small layers.

The transformers library has no class for it. As there: images are named by numbered tags in the prompt, each becomes as
many negative token ids as it has patches, an image without a tag is refused, and the number of crops is fixed when the
processor is loaded. The file is copied beside a checkpoint, from where the library runs it.
"""

from __future__ import annotations

import re

import numpy as np
import torch
from transformers import BaseImageProcessor, BatchFeature, PretrainedConfig, PreTrainedModel, ProcessorMixin
from transformers.modeling_outputs import BaseModelOutput

SIDE, PATCHES = 8, 3  # pixels of a crop, tokens an image


class Phi3VImageProcessor(BaseImageProcessor):
    model_input_names = ["pixel_values", "image_sizes"]

    def __init__(self, num_crops: int = 1, **more: object) -> None:
        super().__init__(**more)
        self.num_crops, self.num_img_tokens = num_crops, PATCHES

    def preprocess(self, images: object, return_tensors: str | None = None) -> BatchFeature:
        """(images, 1 + num_crops, 3, side, side): the whole image, then bands of it, zeros where there are fewer."""
        images = images if isinstance(images, list) else [images]
        stacks = []
        for image in images:
            bands = min(self.num_crops, max(1, image.height // SIDE))
            crops = np.zeros((1 + self.num_crops, 3, SIDE, SIDE), dtype=np.float32)
            for at in range(1 + bands):
                top, bottom = (0, image.height) if not at else ((at - 1) * SIDE, at * SIDE)
                crop = image.crop((0, top, image.width, bottom)).resize((SIDE, SIDE))
                crops[at] = np.asarray(crop, dtype=np.float32).transpose(2, 0, 1) / 255
            stacks.append(crops)
        sizes = [[image.height, image.width] for image in images]
        return BatchFeature({"pixel_values": np.stack(stacks), "image_sizes": sizes}, tensor_type=return_tensors)


class Phi3VProcessor(ProcessorMixin):
    attributes = ["image_processor", "tokenizer"]
    image_processor_class = "AutoImageProcessor"
    tokenizer_class = "AutoTokenizer"

    def __init__(self, image_processor: object, tokenizer: object) -> None:
        self.image_processor, self.tokenizer = image_processor, tokenizer

    def __call__(
        self,
        text: str,
        images: object = None,
        padding: bool = False,
        truncation: bool | None = None,
        max_length: int | None = None,
        return_tensors: str = "pt",
    ) -> BatchFeature:
        if images is None:
            read = self.tokenizer(text, return_tensors=return_tensors, truncation=truncation, max_length=max_length)
            return BatchFeature(dict(read))
        seen = self.image_processor(images, return_tensors=return_tensors)
        tags = [int(number) for number in re.findall(r"<\|image_(\d+)\|>", text)]
        assert sorted(set(tags)) == list(range(1, len(set(tags)) + 1)), "tags count from 1"
        assert len(set(tags)) == len(seen["pixel_values"]), f"{len(set(tags))} tags, {len(seen['pixel_values'])} images"
        chunks = [self.tokenizer(chunk)["input_ids"] for chunk in re.split(r"<\|image_\d+\|>", text)]
        ids = chunks[0]
        for tag, chunk in zip(tags, chunks[1:], strict=True):
            ids = ids + [-tag] * PATCHES + chunk
        ids = torch.tensor([ids])
        return BatchFeature({"input_ids": ids, "attention_mask": torch.ones_like(ids), **seen})


class Phi3VConfig(PretrainedConfig):
    model_type = "phi3_v"

    def __init__(self, vocab_size: int = 300, hidden_size: int = 16, **more: object) -> None:
        self.vocab_size, self.hidden_size = vocab_size, hidden_size
        super().__init__(**more)


class Phi3VModel(PreTrainedModel):
    config_class = Phi3VConfig

    def __init__(self, config: Phi3VConfig) -> None:
        super().__init__(config)
        self.table = torch.nn.Embedding(config.vocab_size, config.hidden_size)
        self.sight = torch.nn.Linear(3 * SIDE * SIDE, config.hidden_size)
        self.last = torch.nn.Linear(config.hidden_size, config.hidden_size)
        self.post_init()

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        pixel_values: torch.Tensor | None = None,
        image_sizes: torch.Tensor | None = None,
        use_cache: bool = False,
        **more: object,
    ) -> BaseModelOutput:
        """Every state is the mean of the tokens up to it, through a layer: causal, as the real one is."""
        states = self.table(input_ids.clamp(min=0))
        if pixel_values is not None:
            crops = pixel_values.flatten(2).cumsum(dim=2)  # differs by crop and by order
            of_image = self.sight(crops).sum(dim=1)
            rows = (input_ids < 0).nonzero()[:, 0]
            states[input_ids < 0] = of_image[rows]
        counts = torch.arange(1, states.shape[1] + 1, device=states.device)[None, :, None]
        return BaseModelOutput(last_hidden_state=torch.tanh(self.last(states.cumsum(dim=1) / counts)))


class Phi3VForCausalLM(PreTrainedModel):
    config_class = Phi3VConfig

    def __init__(self, config: Phi3VConfig) -> None:
        super().__init__(config)
        self.model = Phi3VModel(config)
        self.post_init()
