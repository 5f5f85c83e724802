"""All kinds of objects that can be models: how each is recognised, and how it is turned into callables of images and
texts.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from compute.models.encoders import open_clip as library
from compute.models.encoders import timm_vision
from compute.models.own import mteb_encoder, transformers_model
from compute.models.own.objects import (
    MESSAGES,
    Given,
    OwnComparer,
    OwnEncoder,
    OwnJudge,
    Side,
    as_it_is,
    encoder_of,
    inputs_of,
    of_towers,
)
from compute.types import BadInput

# Among open_clip's configurations, exactly those with this vocabulary size use OpenAI's byte pairs. For the others, the
# vocabulary size does not determine the tokenizer (32,000 has three).
VOCABULARY = 49408


class Kind(NamedTuple):
    """A kind of object. `read` raises BadInput with the remedy for an unsuitable object or arguments."""

    title: str
    matches: Callable[[Any], bool]
    read: Callable[[Given], OwnEncoder | OwnComparer | OwnJudge]
    takes: tuple[str, ...] = ()  # arguments
    packages: tuple[str, ...] = ()  # that affect its numbers
    advice: str = ""  # what to pass if the object does not run, as a sentence


def _of(library: str, *names: str) -> Callable[[Any], bool]:
    """Returns a function that checks whether an object is an instance of these classes. An object cannot come from a
    library that is not imported.
    """
    return lambda model: (
        (module := sys.modules.get(library)) is not None
        and isinstance(model, tuple(getattr(module, name) for name in names))
    )


def _open_clip(given: Given) -> OwnEncoder:
    """Returns an encoder of the projected outputs, not normalised, as for the catalogue's open_clip models."""
    import open_clip

    model, preprocess, tokenizer = given.model, given.preprocess, given.tokenizer
    if tokenizer is None:
        told = open_clip.get_model_tokenize_cfg(model)
        if told.get("vocab_size") != VOCABULARY:
            raise BadInput(
                f"{given.of} has a vocabulary of {told.get('vocab_size', 'unknown')} tokens, which does not tell "
                "its tokenizer. Pass tokenizer=open_clip.get_tokenizer(architecture)"
            )
        tokenizer = open_clip.get_tokenizer("", context_length=told["context_length"])
    elif not hasattr(tokenizer, "context_length"):
        raise BadInput(f"{given.of}: tokenizer= is not one of open_clip.get_tokenizer(architecture)")
    if preprocess is None and not getattr(model.visual, "preprocess_cfg", None):
        raise BadInput(
            f"{given.of} does not hold its preprocessing, as models of open_clip.create_model do. "
            "Pass the transform of its evaluation: preprocess=..."
        )
    towers = library.towers_of(
        model, name=given.of, hardware=given.hardware, tokenizer=tokenizer, configuration="in memory"
    )
    if preprocess is not None:
        towers.image.ready = lambda image: {"pixel_values": preprocess(image)}
        towers.settings["image"] = "the caller's transform"
    return of_towers(towers)


def _sentence_transformer(given: Given) -> OwnEncoder:
    """Returns an encoder by the object's own `encode`, with the model's default prompt, if it has one, for both queries
    and documents.

    A MultiVectorEncoder (late interaction) gets texts as queries and images as documents.
    """
    import sentence_transformers

    model = given.model
    late = isinstance(model, getattr(sentence_transformers, "MultiVectorEncoder", ()))
    if not late and not isinstance(model, sentence_transformers.SentenceTransformer):
        raise BadInput(f"{given.of} does not give one vector per item: pass a SentenceTransformer")
    settings = {
        "pooling": "none: late interaction" if late else "the model's own",
        "prompt": {"name": model.default_prompt_name or "", "prompts": dict(model.prompts or {})},
        "truncated_to": getattr(model, "truncate_dim", None),
        "queries": "texts; images are documents"
        if late
        else "as documents: the data do not say which is which, so encode() is used for both",
    }

    def side(encode: Any) -> Side:
        return lambda items: encode(list(items), batch_size=len(items), show_progress_bar=False), as_it_is

    encode = {"image": model.encode_document, "text": model.encode_query} if late else {}
    return OwnEncoder(
        name=given.of,
        sides={kind: side(encode.get(kind, model.encode)) for kind in ("image", "text") if model.supports(kind)},
        settings=settings,
        # Tokenizers and processors held by its modules, which are not modules themselves.
        parts={
            f"preparation {at}": getattr(module, "processor", None) or getattr(module, "tokenizer", None)
            for at, module in enumerate(model)
        },
        late_interaction=late,
    )


def _methods_of(model: Any) -> dict[str, Any]:
    """Returns `encode_image` and `encode_text`, if the object has them."""
    found = {modality: getattr(model, f"encode_{modality}", None) for modality in ("image", "text")}
    return {modality: method if callable(method) else None for modality, method in found.items()}


def _module(given: Given) -> OwnEncoder:
    """Returns an encoder by `forward` for a batch on the module's device and in its precision: (n, d). A timm model
    without preprocessing uses that of its configuration.
    """
    _one_input(given)
    model, preprocess, tokenizer = given.model, given.preprocess, given.tokenizer
    if preprocess is not None or tokenizer is not None:
        return encoder_of(given, image=None if preprocess is None else model, text=None if tokenizer is None else model)
    if "timm" not in sys.modules or not getattr(model, "pretrained_cfg", None):
        raise BadInput(
            f"{given.of} is a torch.nn.Module: pass preprocess=, a function from an RGB PIL image to a tensor, or "
            "tokenizer= for a module that takes texts"
        )
    import timm

    config = timm.data.resolve_model_data_config(model)
    preprocess = timm.data.create_transform(**config, is_training=False)
    encoder = encoder_of(given._replace(preprocess=preprocess), image=model, text=None)
    encoder.parts = {"preprocess": preprocess}
    encoder.settings["image"] = {name: config[name] for name in timm_vision.SHOWN if name in config}
    if classes := getattr(model, "num_classes", 0):
        encoder.remark = (
            f"{given.of} gives its scores of {classes} classes, which are compared as its vector. For the pooled "
            "features make it with timm.create_model(..., num_classes=0), or call model.reset_classifier(0)"
        )
    return encoder


def _comparer(given: Given) -> OwnComparer:
    """Returns a comparer with the function's values, negated if lower is nearer."""
    if not callable(given.model) or inputs_of(given.model) not in (2, None):
        raise BadInput(f"{given.of}: higher_is_better= is for a function distance(a, b) of two images")
    images = "PIL images" if given.preprocess is None else "the caller's transform"
    return OwnComparer(given=given, settings={"images": images, "higher_is_better": bool(given.higher_is_better)})


def _judge(given: Given) -> OwnJudge:
    _one_input(given)
    if (count := inputs_of(given.model)) not in (1, None):
        raise BadInput(
            f"{given.of} takes {count} inputs. A judge takes one, ask(messages) -> text; a metric two, "
            "distance(a, b) with higher_is_better="
        )
    return OwnJudge(ask=given.model, settings=dict(MESSAGES))


def _one_input(given: Given) -> None:
    if inputs_of(given.model) == 2:
        raise BadInput(
            f"{given.of} takes two inputs, as a metric does: set the direction, higher_is_better=False for a distance, "
            "True for a similarity"
        )


# Specific kinds before general ones.
KINDS = (
    Kind(
        "a SentenceTransformer",
        lambda model: any(kind.__module__.startswith("sentence_transformers.") for kind in type(model).__mro__),
        _sentence_transformer,
        packages=("torch", "transformers", "tokenizers", "sentence-transformers", "pillow"),
        advice="Check that model.encode(items) runs for a list of them",
    ),
    Kind(
        "an encoder of mteb's protocol",
        mteb_encoder.matches,
        mteb_encoder.read,
        packages=("mteb", "torch", "pillow"),
        advice="It is called as mteb calls it: encode(DataLoader, task_metadata=..., hf_split=..., hf_subset=...)",
    ),
    Kind(
        "an open_clip model",
        _of("open_clip", "CLIP", "CustomTextCLIP", "CoCa"),
        _open_clip,
        takes=("preprocess", "tokenizer"),
        packages=("torch", "torchvision", "open_clip_torch", "timm", "transformers", "pillow"),
        advice="If the preprocessing is not that of the checkpoint, pass preprocess= and tokenizer=",
    ),
    Kind(
        "a transformers model",
        transformers_model.matches,
        transformers_model.read,
        takes=("preprocess", "tokenizer", "processor"),
        packages=("torch", "torchvision", "transformers", "tokenizers", "pillow"),
        advice="If its preprocessing is not that of the checkpoint, pass processor=",
    ),
    Kind(
        "an object with encode_image or encode_text",
        lambda model: any(_methods_of(model).values()),
        lambda given: encoder_of(given, **_methods_of(given.model)),
        takes=("preprocess", "tokenizer"),
        packages=("pillow",),
        advice="encode_image gets a list of PIL images and encode_text a list of texts; where they take tensors, pass "
        "preprocess= and tokenizer=",
    ),
    Kind(
        "a torch.nn.Module",
        _of("torch.nn", "Module"),
        _module,
        takes=("preprocess", "tokenizer"),
        packages=("torch", "pillow"),
        advice="preprocess= gives one image's tensor without the dimension of the batch, and forward(batch) gives an "
        "array of shape (n, d)",
    ),
    Kind(
        "a function of one input, which is taken for a judge",
        lambda model: callable(model) and not isinstance(model, type),
        _judge,
        packages=("pillow",),
    ),
)
# A torch metric is a module too: only its argument shows that it compares two images.
COMPARER = Kind(
    "a function of two images",
    callable,
    _comparer,
    takes=("preprocess", "higher_is_better"),
    packages=("pillow",),
    advice="The function gets two RGB PIL images and gives one number; with preprocess=, two batches of tensors and "
    "one number a pair",
)
