"""OpenCLIP's checkpoints: a folder with open_clip_config.json and weights, or weights of an architecture of the
library.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from compute.models.adapter import Hardware, ImageTower, Towers, chosen
from compute.models.encoders.open_clip_text import text_tower
from compute.models.files import pretrained
from compute.models.files.weights import OPEN_CLIP, existing, seeded
from compute.types import BadInput, Model

LONGEST = 4000  # characters of a text: the library's time per word grows with the square of its letters
SHOWN = ("size", "mean", "std", "interpolation", "resize_mode", "fill_color")


def load(row: Model, hardware: Hardware, folder: Path) -> Towers:
    """Returns towers with projected outputs, not normalised, as MIEB and UniSim-Bench compare them.

    The folder's configuration is used if there is one and no option `file` names weights. Otherwise the options are
    `architecture`, a name in the library, and `tag`, the pretraining whose preprocessing the library lists. Another
    option is `text_prefix`.
    """
    import open_clip

    options = chosen(row, {"architecture": "", "tag": "", "text_prefix": "", "file": ""})
    own = not options["file"] and (folder / "open_clip_config.json").is_file()
    name = f"local-dir:{folder}" if own else options["architecture"]
    if not name:
        raise BadInput(f"{row.key}: {folder} has no open_clip_config.json; its row needs option architecture")
    if not own and open_clip.get_model_config(name) is None:
        raise BadInput(f"{row.key}: OpenCLIP does not know the architecture {name!r}")
    names = [options["file"]] if options["file"] else [each for each in OPEN_CLIP if (folder / each).is_file()]
    tagged = open_clip.get_pretrained_cfg(name, options["tag"]) if options["tag"] and not own else {}
    shown = {key: tagged[key] for key in ("mean", "std", "interpolation", "resize_mode") if tagged.get(key)}
    with seeded(0), pretrained.reading(row, folder, kind="OpenCLIP"):
        model = open_clip.create_model(
            name,
            force_preprocess_cfg=shown,
            require_pretrained=True,
            weights_only=True,
            pretrained_text=False,
            **({} if own else {"pretrained": str(existing(folder / (*names, OPEN_CLIP[0])[0]))}),
        )
    hardware.placed(model)
    return towers_of(
        model,
        name=row.key,
        hardware=hardware,
        tokenizer=open_clip.get_tokenizer(name),
        configuration="own" if own else name,
        prefix=options["text_prefix"],
    )


def towers_of(
    model: Any,
    *,
    name: str,
    hardware: Hardware,
    tokenizer: Any,
    configuration: str,
    prefix: str = "",
) -> Towers:
    """Returns the towers of a loaded model with the preprocessing stored in it; `tokenizer` is one of the library's."""
    import open_clip
    from open_clip.transform import PreprocessCfg, image_transform_v2

    described = open_clip.get_model_preprocess_cfg(model)
    transform = image_transform_v2(PreprocessCfg(**described), is_train=False)

    def tokens(text: str) -> list[int]:
        return tokenizer([(prefix + text)[:LONGEST]])[0].tolist()

    tokens("")
    text = text_tower(model, tokens=tokens, limit=tokenizer.context_length)
    return Towers(
        name=name,
        hardware=hardware,
        module=model,
        image=ImageTower(
            ready=lambda image: {"pixel_values": transform(image)},
            run=lambda inputs: model.encode_image(inputs["pixel_values"]),
        ),
        text=text,
        settings={
            "image": {key: described[key] for key in SHOWN if key in described},
            "pooling": "the model's own, projected",
            "normalised": False,
            "configuration": configuration,
            "text": {
                "tokenizer": type(tokenizer).__name__,
                "max_tokens": tokenizer.context_length,
                "longer": "cut",
                "prefix": prefix,
                "padding": f"to the next of {', '.join(map(str, text.buckets))}" if text.buckets else "to max_tokens",
            },
        },
    )
