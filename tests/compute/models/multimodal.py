"""Tiny checkpoints of models that see and read: bytes as tokens, random weights, laid out as the hub's repositories."""

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    ColPaliForRetrieval,
    ColPaliProcessor,
    ColQwen2ForRetrieval,
    ColQwen2Processor,
    LlavaNextForConditionalGeneration,
    LlavaNextImageProcessor,
    LlavaNextProcessor,
    PreTrainedTokenizerFast,
    Qwen2VLForConditionalGeneration,
    Qwen2VLImageProcessor,
    Qwen2VLProcessor,
    Qwen2VLVideoProcessor,
    Qwen3VLForConditionalGeneration,
    Qwen3VLProcessor,
    Qwen3VLVideoProcessor,
    SiglipImageProcessor,
)

LAYERS = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
SEEING = {**LAYERS, "image_size": 28, "patch_size": 14}
SIDES = {"height": 28, "width": 28}
PINPOINTS = [[28, 56], [56, 28], [56, 56]]
QWEN = {
    "image_token_id": "<|image_pad|>",
    "video_token_id": "<|video_pad|>",
    "vision_start_token_id": "<|vision_start|>",
    "vision_end_token_id": "<|vision_end|>",
}


def template(image):
    return (
        "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{% for part in message['content'] %}"
        "{% if part['type'] == 'image' %}" + image + "{% else %}{{ part['text'] }}{% endif %}"
        "{% endfor %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )


def tokenizer(*special):
    """256 bytes as tokens, and the special tokens."""
    signs = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE(vocab={sign: place for place, sign in enumerate(signs)}, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=["<|im_start|>", *special],
        padding_side="left",
    )


def text_of(words, kind, **more):
    """The configuration of what reads; weights are large enough that inputs tell apart."""
    return {
        **LAYERS,
        "model_type": kind,
        "num_key_value_heads": 2,
        "max_position_embeddings": 4096,
        "initializer_range": 0.5,
        "vocab_size": len(words),
        "eos_token_id": words.eos_token_id,
        "bos_token_id": None,
        **more,
    }


def saved(folder, kind, processor, **config):
    """The checkpoint; one that writes, with a configuration that asks for sampling, as Qwen2-VL's own does."""
    torch.manual_seed(1)
    model = kind(kind.config_class(**config))
    for name, weight in model.named_parameters():
        if "norm" in name and weight.ndim == 1:  # which would change nothing but a vector's length
            torch.nn.init.uniform_(weight, 0.2, 2.2)
    if model.can_generate():
        model.generation_config.update(do_sample=True, temperature=2.0, top_k=5)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def qwen_parts():
    """The processor and the configuration."""
    words, size = tokenizer(*QWEN.values()), {"shortest_edge": 28 * 28, "longest_edge": 28 * 28 * 16}
    processor = Qwen2VLProcessor(
        image_processor=Qwen2VLImageProcessor(size=size),
        tokenizer=words,
        video_processor=Qwen2VLVideoProcessor(size=size),
        chat_template=template("<|vision_start|><|image_pad|><|vision_end|>"),
    )
    rope = {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 10000.0}
    vision = {"depth": 2, "embed_dim": 32, "hidden_size": 32, "num_heads": 4, "mlp_ratio": 2, "initializer_range": 0.5}
    return processor, {
        **{name: words.convert_tokens_to_ids(token) for name, token in QWEN.items()},
        "text_config": text_of(words, "qwen2_vl_text", rope_parameters=rope),
        "vision_config": vision,
    }


def qwen2_vl(folder):
    """Also the architecture of GME."""
    processor, config = qwen_parts()
    return saved(folder, Qwen2VLForConditionalGeneration, processor, **config)


def qwen3_vl(folder):
    """Also the architecture of Qwen3-VL-Embedding."""
    made, config = qwen_parts()
    processor = Qwen3VLProcessor(
        image_processor=Qwen2VLImageProcessor(patch_size=16, size=made.image_processor.size),
        tokenizer=made.tokenizer,
        video_processor=Qwen3VLVideoProcessor(patch_size=16),
        chat_template=made.chat_template,
    )
    seeing = {"depth": 2, "hidden_size": 32, "out_hidden_size": 32, "num_heads": 4, "intermediate_size": 64}
    config["vision_config"] = {**seeing, "deepstack_visual_indexes": [0], "initializer_range": 0.5}
    config["text_config"] |= {"model_type": "qwen3_vl_text", "head_dim": 8}
    return saved(folder, Qwen3VLForConditionalGeneration, processor, **config)


def llava_next(folder):
    """The architecture of E5-V."""
    words = tokenizer("<image>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>")
    processor = LlavaNextProcessor(
        image_processor=LlavaNextImageProcessor(
            size={"shortest_edge": 28}, crop_size=SIDES, image_grid_pinpoints=PINPOINTS
        ),
        tokenizer=words,
        patch_size=14,
        num_additional_image_tokens=1,
        vision_feature_select_strategy="default",
        chat_template=template("<image>"),
    )
    return saved(
        folder,
        LlavaNextForConditionalGeneration,
        processor,
        text_config=text_of(words, "llama"),
        vision_config={**SEEING, "model_type": "clip_vision_model"},
        image_grid_pinpoints=PINPOINTS,
        image_token_index=words.convert_tokens_to_ids("<image>"),
        vision_feature_layer=-2,
        vision_feature_select_strategy="default",
    )


def colpali(folder):
    words, images = tokenizer("<image>"), SiglipImageProcessor(size=SIDES)
    words.add_special_tokens({"bos_token": "<bos>"})
    images.image_seq_length = 4
    processor = ColPaliProcessor(image_processor=images, tokenizer=words)
    vlm = {
        "model_type": "paligemma",
        "image_token_id": processor.image_token_id,
        "image_token_index": processor.image_token_id,
        "projection_dim": 32,
        "hidden_size": 32,
        "text_config": text_of(words, "gemma", head_dim=8),
        "vision_config": {**SEEING, "model_type": "siglip_vision_model"},
    }
    return saved(folder, ColPaliForRetrieval, processor, vlm_config=vlm, embedding_dim=16)


def colqwen2(folder):
    made, config = qwen_parts()
    processor = ColQwen2Processor(image_processor=made.image_processor, tokenizer=made.tokenizer)
    vlm = {"model_type": "qwen2_vl", **config}
    return saved(folder, ColQwen2ForRetrieval, processor, vlm_config=vlm, embedding_dim=16)
