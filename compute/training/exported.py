"""The trained model as a folder that loads like any other checkpoint, with a model card that says how it was
trained.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compute import models
from compute.io.files import discard, locked, refusal, write_text
from compute.models.files import lora as lora_files
from compute.models.files import weights
from compute.models.own import checkpoints as own_checkpoints
from compute.progress import Progress
from compute.training import loop, lora
from compute.training.evaluation import DRAWN_OOD, HEADINGS, HeldOut, TaskChange, changes, measured, numbers
from compute.training.examples import Examples
from compute.training.plan import TuningPlan
from compute.training.run_folder import RunFolder, TuningState
from compute.types import BadInput, CannotDo, CannotWrite, Model

if TYPE_CHECKING:
    from compute.training.towers import DualEncoder

OPEN_CLIP_CONFIG, OPEN_CLIP_WEIGHTS = "open_clip_config.json", "open_clip_model.safetensors"
TO_RUN = {"unisim": "unisim-core", "own": "mini"}  # by source of the training examples: the suite to run on
# Options of dual encoders that a checkpoint's files do not state. The others locate the base's files.
BEYOND_FILES = ("text_prefix", "normalise", "max_tokens")


def check_save(row: Model, *, save: str, plan: TuningPlan) -> None:
    """Raises BadInput or CannotDo if the model could not be saved, or not be loaded again, in this way."""
    if save not in ("merged", "adapter"):
        raise BadInput(f"A model is saved as merged or adapter, not {save!r}")
    if save == "adapter" and plan.tune != "lora":
        raise CannotDo("Full tuning does not make an adapter: save it merged, or tune by LoRA, tune=lora")
    if save == "adapter" and (row.adapter not in own_checkpoints.WITH_LORA or row.options.get("lora")):
        raise CannotDo(f"{row.key} of adapter {row.adapter!r} reads no further LoRA adapter: save it merged")


def identity(base: DualEncoder, sets: Sequence[Examples], *, save: str, plan: TuningPlan) -> dict[str, Any]:
    """Returns what identifies a training run: its base, plan and data."""
    return {
        "base": {**asdict(weights.by_name(replace(base.row, revision=""))), "revision": base.revision},
        "plan": asdict(plan) | {"save": save},
        "data": [part.record() for part in sets],
    }


def tuned(
    base: DualEncoder,
    sets: Sequence[Examples],
    *,
    plan: TuningPlan,
    save: str,
    folder: RunFolder,
    held_out: Callable[[], Sequence[HeldOut]],
    compared: str,
    report: Callable[[str], None],
    measure: loop.Measure | None = None,
    progress: Progress | None = None,
) -> tuple[TuningState, list[TaskChange]]:
    """Tunes the base and turns the folder into a complete model: weights, card, and the change on `held_out` items.

    `measure` and `progress` are as in `loop.train`, `compared` as in `write_card`. Raises as these and `write_model`.
    """
    import torch

    state = loop.train(base, sets, plan=plan, folder=folder, measure=measure, report=report, progress=progress)
    write_model(base, folder.path, save=save)
    rows = []
    if items := held_out():
        before = measured(items, row=base.row, encoder=models.load(base.row, hardware=base.hardware))
        with torch.inference_mode():
            rows = changes(before=before, after=measured(items, row=base.row, encoder=base.towers))
    write_card(base, folder, state, rows, save=save, plan=plan, compared=compared)
    folder.finish(state, rows)
    return state, rows


def write_model(base: DualEncoder, folder: Path, *, save: str) -> None:
    """Writes the tuned model, merged or as a peft adapter. If merged, the base in memory is merged too.

    Weights are float32, regardless of the base's files, because the change may be too small for half precision. Raises
    CannotWrite.
    """
    draft = folder / f".model.draft-{os.getpid()}"
    try:
        with locked(folder):
            discard(draft)
            draft.mkdir()
            if save == "adapter":
                base.adapted.save_pretrained(draft)
                (draft / own_checkpoints.CARD).unlink(missing_ok=True)  # peft's card
            else:
                _write_merged(base, draft)
            # A folder without a configuration is not read as a checkpoint, so the configuration is moved last.
            for file in sorted(draft.iterdir(), key=lambda file: file.name in own_checkpoints.CONFIGURATIONS):
                file.chmod((folder / "training" / "plan.json").stat().st_mode)  # safetensors keeps files to their owner
                os.replace(file, folder / file.name)
            draft.rmdir()
    except OSError as error:
        raise CannotWrite(refusal(folder, error)) from error


def options_beyond_files(base: Model) -> dict[str, Any]:
    """Returns the base's options that a tuned model's files do not state, so that the loader has to repeat them."""
    return {name: value for name, value in base.options.items() if name in BEYOND_FILES}


def option_words(options: Mapping[str, Any]) -> str:
    """Formats options for the command line; empty if there are none."""
    return " ".join(f"--model-option {shlex.quote(f'{name}={json.dumps(value)}')}" for name, value in options.items())


def _write_merged(base: DualEncoder, folder: Path) -> None:
    if base.adapted is not None:
        base.adapted.merge_and_unload()
        base.adapted = None
    if base.row.adapter == "open_clip":
        import open_clip
        from safetensors.torch import save_file

        lora.fuse(base.module.visual)
        state = {name: value.detach().contiguous().clone() for name, value in base.module.state_dict().items()}
        save_file(state, folder / OPEN_CLIP_WEIGHTS)
        if not (base.folder / OPEN_CLIP_CONFIG).is_file() or base.row.options.get("file"):
            config = {
                "model_cfg": open_clip.get_model_config(base.row.options["architecture"]),
                "preprocess_cfg": open_clip.get_model_preprocess_cfg(base.module),
            }
            (folder / OPEN_CLIP_CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    else:
        base.module.save_pretrained(folder)
    for name in models.required_files(base.row).names(weights.listing(base.folder)):
        of_weights = name.endswith((".safetensors", ".bin", ".pt", ".index.json", lora_files.CONFIG))
        if "/" not in name and not of_weights and not (folder / name).exists():
            shutil.copyfile(base.folder / name, folder / name)


def write_card(
    base: DualEncoder,
    folder: RunFolder,
    state: TuningState,
    rows: Sequence[TaskChange],
    *,
    save: str,
    plan: TuningPlan,
    compared: str,
) -> None:
    """Writes the model card. `compared` is the result of the leak check, as a sentence."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    row, data = base.row, folder.identity["data"]
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        autoescape=False,  # Markdown
    )
    card = environment.get_template("model_card.md").render(
        title=folder.path.name,
        library="peft" if save == "adapter" else "open_clip" if row.adapter == "open_clip" else "transformers",
        base_model="" if weights.own_folder(row) is not None else row.weights,
        base=base,
        data=data,
        trained_on=dict.fromkeys([*row.trained_on, *(part["dataset"] for part in data)]),
        compared=compared,
        save=save,
        plan=plan,
        settings=asdict(plan),
        precision=loop.precision(base, plan),
        options=option_words(options_beyond_files(row)),
        suite=folder.identity["suite"]["name"],
        to_run=TO_RUN,
        headings=HEADINGS[1:],
        rows=[(each, numbers(each)) for each in rows],
        drawn_ood=DRAWN_OOD,
        state=state,
    )
    write_text(folder.path / own_checkpoints.CARD, card)
