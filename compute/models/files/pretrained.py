"""Checkpoints of the transformers library: model, image processor and tokenizer from a local folder, all verified."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from pickle import UnpicklingError
from typing import TYPE_CHECKING, Any

from compute.models.adapter import Hardware
from compute.models.files import lora
from compute.models.files.weights import checkpoint_of, one_line, seeded
from compute.types import BadInput, Model, NotHere

if TYPE_CHECKING:
    import torch
    from PIL import Image

# Options of every such row. `random` with `seed`: the same architecture with random weights. `lora`: a LoRA checkpoint,
# {"weights", "revision"}, which is merged into the row's model; tokenizer and preprocessing are the row's.
OPTIONS: dict[str, Any] = {"random": False, "seed": 0, "lora": None}
SHOWN = (
    "do_resize",
    "size",
    "resample",
    "do_center_crop",
    "crop_size",
    "crop_pct",
    "do_rescale",
    "rescale_factor",
    "do_normalize",
    "image_mean",
    "image_std",
    "do_convert_rgb",
    "do_pad",
    "patch_size",
    "max_num_patches",
    "include_top",
)


def model(
    row: Model, kind: str, *, folder: Path, hardware: Hardware, options: Mapping[str, Any], spare: Sequence[str] = ()
) -> tuple[torch.nn.Module, set[str]]:
    """Returns the library's class `kind` with the folder's weights, on the device and ready to run, and the names of
    missing weights.

    Raises BadInput for missing weights, because the library would initialise them at random. Names that begin with one
    of `spare` are exempt, because the caller does not use them; they are returned.
    """
    import transformers

    if not sys.stderr.isatty():
        transformers.utils.logging.disable_progress_bar()
    library = getattr(transformers, kind)
    read = {"local_files_only": True, "trust_remote_code": False}
    missing: set[str] = set()
    if options["random"]:
        config = transformers.AutoConfig.from_pretrained(folder, **read)
        with seeded(options["seed"]):
            made = (
                library.from_config(config, trust_remote_code=False)
                if hasattr(library, "from_config")
                else library(config)
            )
        made = made.to(hardware.torch_dtype)
    else:
        with reading(row, folder, kind=kind):
            made, report = library.from_pretrained(
                folder, output_loading_info=True, weights_only=True, dtype=hardware.torch_dtype, **read
            )
        missing = set(report["missing_keys"])
        lost = sorted(name for name in missing if not name.startswith(tuple(spare)))
        if lost:
            raise BadInput(
                f"{row.key}: the checkpoint lacks {len(lost)} of {kind}'s weights, {lost[0]} first; they "
                "would be random"
            )
    if options["lora"]:
        made = lora.merged(made, checkpoint_of(row, options["lora"], option="lora", required=lora.REQUIRED))
    return made.to(hardware.device).eval().requires_grad_(False), missing


@contextmanager
def reading(row: Model, folder: Path, *, kind: str, remedy: str = "") -> Iterator[None]:
    """Converts a library's exceptions in the block, for a folder that it cannot load as `kind`, to NotHere or
    BadInput.
    """
    from safetensors import SafetensorError

    try:
        yield
    except OSError as error:
        raise NotHere(f"{row.key}: {folder} cannot be loaded: {one_line(error)}") from error
    except (UnpicklingError, SafetensorError) as error:
        raise BadInput(f"{row.key}: {folder} holds more than tensors, or is not whole; it is not loaded") from error
    except (RuntimeError, ValueError, TypeError, KeyError, ImportError, AssertionError) as error:
        raise BadInput(f"{row.key}: {folder} does not fit {kind}: {one_line(error)}{remedy}") from error


def loaded(row: Model, kind: str, *, folder: Path, **more: Any) -> Any:
    """Returns what the library's class `kind` reads from the folder, without running code from it. Raises NotHere,
    BadInput.
    """
    import transformers

    with reading(row, folder, kind=kind):
        return getattr(transformers, kind).from_pretrained(
            folder, local_files_only=True, trust_remote_code=False, **more
        )


def image_ready(processor: Any) -> tuple[Callable[[Image.Image], dict[str, Any]], dict[str, Any]]:
    """Returns the preprocessing of one RGB image by a processor in memory, and its description."""
    described = json.loads(processor.to_json_string())

    def ready(image: Image.Image) -> dict[str, Any]:
        return {name: value[0] for name, value in processor(images=image, return_tensors="pt").items()}

    return ready, {
        "processor": type(processor).__name__,
        **{name: described[name] for name in SHOWN if described.get(name) is not None},
    }


def positions(config: Any) -> int | None:
    """Returns the number of positions of the model. RoBERTa and its variants do not use those up to the padding
    token.
    """
    known = getattr(config, "max_position_embeddings", None)
    if known is None or known <= 0:
        return None
    offset = getattr(config, "model_type", "") in ("roberta", "xlm-roberta", "xlm-roberta-xl", "camembert")
    return known - config.pad_token_id - 1 if offset else known
