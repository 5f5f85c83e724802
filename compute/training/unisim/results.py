"""The trained model as a folder that loads like any other checkpoint, with a model card that says how it was made."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compute import drafts
from compute.models import required_files
from compute.models.files import lora as lora_files
from compute.models.files import weights
from compute.models.own import checkpoints as own_checkpoints
from compute.models.own.model_card import CARD
from compute.training.unisim import held_out, lora
from compute.training.unisim.checkpoints import RunFolder, StepMeasurement, TuningState, write_weights
from compute.training.unisim.curves import HEADINGS, TaskChange, numbers
from compute.training.unisim.data.mini import DATASET as DRAWN
from compute.training.unisim.loop import precision
from compute.types import CannotDo, CannotWrite, Model

if TYPE_CHECKING:
    from compute.training.unisim.plan import TuningPlan
    from compute.training.unisim.trainable import DualEncoder

SAVES = ("merged", "adapter")
CONFIG = "config.json"
OPEN_CLIP_CONFIG, OPEN_CLIP_WEIGHTS = "open_clip_config.json", "open_clip_model.safetensors"
# Options of dual encoders that no checkpoint's files hold. The others say where the base's files are.
BEYOND_FILES = ("text_prefix", "normalise", "max_tokens", "image_backend", "projection")


# Between these a card has the table of the suite's own items, which is made with the stored model.
TABLE_START, TABLE_END = "<!-- the suite's own items -->", "<!-- end of the suite's own items -->"


@dataclass(frozen=True, kw_only=True)
class TrainingResult:
    """A trained model on disk, and what was measured on the way."""

    folder: Path
    base: str  # its key
    plan: TuningPlan
    steps: int  # that were made
    best: int | None  # the step whose weights these are; None: the last
    stopped: str  # why training ended before its last step
    seconds: float
    measurements: tuple[StepMeasurement, ...]  # the first is the base's
    losses: tuple[Mapping[str, float], ...]  # of every step
    model_options: Mapping[str, Any] = field(default_factory=dict)  # to load it with, as the base was
    changes: tuple[TaskChange, ...] = ()  # base and tuned model on the suite's own items, which decided nothing

    @property
    def before(self) -> StepMeasurement | None:
        """The base; None where nothing was measured."""
        return self.measurements[0] if self.measurements else None

    @property
    def after(self) -> StepMeasurement | None:
        """The model that was stored; None where nothing was measured."""
        return next((each for each in self.measurements if each.step == self.best), None)


def check_save(base: DualEncoder, *, save: str, plan: TuningPlan) -> None:
    """Raises CannotDo where the model could not be stored, or not be read again, in this way."""
    if save not in SAVES:
        raise CannotDo(f"A model is saved as {' or '.join(SAVES)}, not {save!r}")
    if save == "merged":
        return
    if plan.tune != "lora":
        raise CannotDo("Full tuning makes no adapter: save it merged, or tune by LoRA, tune=lora")
    if base.row.adapter not in own_checkpoints.WITH_LORA:
        raise CannotDo(f"Models of adapter {base.row.adapter!r} read no LoRA adapter: save {base.row.key} merged")
    if base.row.options.get("lora"):
        raise CannotDo(f"{base.row.key} is a LoRA over another model already: save it merged")


def write(
    base: DualEncoder, folder: RunFolder, state: TuningState, *, save: str, plan: TuningPlan, apart: str = ""
) -> None:
    """Writes the tuned base, merged into it or as an adapter, and its card; the base is merged afterwards.

    `apart`: what is known of the training data beside the evaluated items, as a sentence for the card.

    Weights are float32, whatever the base's files have: the change may be smaller than half precision can hold.
    Raises CannotWrite.
    """
    card = _card(base, folder, state, save=save, plan=plan, apart=apart)
    draft = folder.path / f".model.draft-{os.getpid()}"
    try:
        with drafts.alone(folder.path):
            drafts.remove(draft)
            draft.mkdir()
            try:
                if save == "adapter":
                    write_weights(base, draft)
                else:
                    _write_merged(base, draft)
                (draft / CARD).write_text(card, encoding="utf-8")
                names = sorted(file.name for file in draft.iterdir())
                for name in names:  # safetensors writes files that only their owner can read
                    os.chmod(draft / name, (draft / CARD).stat().st_mode)
                last = (CONFIG, lora_files.CONFIG, OPEN_CLIP_CONFIG)  # without which no folder is read as a checkpoint
                for name in sorted(names, key=lambda name: name in last):
                    os.replace(draft / name, folder.path / name)
            finally:
                drafts.remove(draft)
    except OSError as error:
        raise CannotWrite(drafts.refusal(folder.path, error)) from error


def add_suite_table(folder: Path, changes: Sequence[TaskChange], *, suite: str) -> None:
    """Puts the table of base and tuned model on the suite's own items into the card, in place of an earlier one.

    A card whose place for it was edited away is left as it is. Raises CannotWrite.
    """
    path = folder / CARD
    card = path.read_text(encoding="utf-8") if path.is_file() else ""
    before, start, rest = card.partition(TABLE_START)
    _, end, after = rest.partition(TABLE_END)
    if not start or not end:
        return
    rows = [{"title": row.title, "is_average": row.is_average, "numbers": numbers(row)} for row in changes]
    table = _rendered("suite_table.md", suite=suite, headings=HEADINGS[1:], rows=rows, start=TABLE_START, end=TABLE_END)
    drafts.write_text(path, before + table + after)


def result(folder: RunFolder, state: TuningState, *, base: Model, plan: TuningPlan) -> TrainingResult:
    """The result of a run that is complete."""
    return TrainingResult(
        folder=folder.path,
        base=base.key,
        plan=plan,
        steps=state.step,
        best=state.best,
        stopped=state.stopped,
        seconds=state.seconds,
        measurements=tuple(state.measurements),
        losses=tuple(folder.losses()),
        model_options=options_beyond_files(base),
    )


def options_beyond_files(base: Model) -> dict[str, Any]:
    """The base's options that a tuned model's files do not state: whoever loads it has to repeat them."""
    return {name: value for name, value in base.options.items() if name in BEYOND_FILES}


def suite_to_run(suite: str) -> str:
    """The suite by which `python -m compute run` scores a model that was trained for `suite`."""
    return "unisim-core" if suite == "unisim" else suite


def option_words(options: Mapping[str, Any]) -> str:
    """Options as the command line takes them; empty where there are none."""
    return " ".join(f"--model-option {shlex.quote(f'{name}={json.dumps(value)}')}" for name, value in options.items())


def merge(base: DualEncoder) -> None:
    """Merges LoRA into the base's own weights, in place, and fuses what was split for it."""
    if base.adapted is not None:
        base.adapted.merge_and_unload()
        base.adapted = None
    if base.row.adapter == "open_clip":
        lora.fuse(base.module.visual)
    base.module.requires_grad_(False).eval()


def _write_merged(base: DualEncoder, folder: Path) -> None:
    merge(base)
    if base.row.adapter == "open_clip":
        _write_open_clip(base, folder)
    else:
        base.module.save_pretrained(folder)
    required = required_files(base.row)
    for name in required.names(weights.listing(base.folder)):
        of_weights = name.endswith((".safetensors", ".bin", ".pt", ".index.json", lora_files.CONFIG))
        if "/" not in name and not of_weights and not (folder / name).exists():
            shutil.copyfile(base.folder / name, folder / name)


def _write_open_clip(base: DualEncoder, folder: Path) -> None:
    """Weights, and the configuration where the base's folder has none."""
    import open_clip
    from safetensors.torch import save_file

    state = {name: value.detach().contiguous().clone() for name, value in base.module.state_dict().items()}
    save_file(state, folder / OPEN_CLIP_WEIGHTS)
    if not (base.folder / OPEN_CLIP_CONFIG).is_file() or base.row.options.get("file"):
        config = {
            "model_cfg": open_clip.get_model_config(base.row.options["architecture"]),
            "preprocess_cfg": open_clip.get_model_preprocess_cfg(base.module),
        }
        (folder / OPEN_CLIP_CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def _card(base: DualEncoder, folder: RunFolder, state: TuningState, *, save: str, plan: TuningPlan, apart: str) -> str:
    row, data = base.row, folder.identity["data"]
    own = weights.own_folder(row) is not None
    return _rendered(
        "model_card.md",
        title=folder.path.name,
        library="peft" if save == "adapter" else "open_clip" if row.adapter == "open_clip" else "transformers",
        base_model="" if own else row.weights,
        license=row.license,
        base=row.title,
        revision=base.revision,
        tasks=list(dict.fromkeys(part["task"] for part in data)),
        data=data,
        trained_on=_trained_on(row, data),
        synthetic=any(part["key"] == DRAWN for part in data),
        apart=apart,
        adapter=save == "adapter",
        lora=plan.tune == "lora",
        both=plan.towers == "both",
        options=option_words(options_beyond_files(row)),
        suite=suite_to_run(folder.identity["suite"]["name"]),
        rows=_rows(state),
        suite_table=f"{TABLE_START}\n{TABLE_END}",
        drawn_ood=held_out.DRAWN_OOD if folder.identity["suite"]["name"] == "unisim" else "",
        best=state.best if state.best is not None else state.step,
        steps=state.step,
        stopped=state.stopped,
        seconds=round(state.seconds),
        device=base.hardware.device,
        precision=precision(base, plan),
        settings={name: _shown(value) for name, value in asdict(plan).items()},
    )


def _rendered(template: str, **values: Any) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,  # Markdown
    )
    return environment.get_template(template).render(**values)


def _trained_on(base: Model, data: Sequence[Mapping[str, Any]]) -> list[str]:
    """Keys of the data sets that the tuned model has learnt from, as far as known: its base's, and those of the run.

    Drawn scenes are named where the base knows nothing else: by that key pages say that a model understands drawings
    alone, and no evaluated task has these scenes.
    """
    keys = dict.fromkeys([*base.trained_on, *(part["key"] for part in data)])
    return [key for key in keys if key != DRAWN or base.trained_on == (DRAWN,)]


def _rows(state: TuningState) -> list[dict[str, str]]:
    """The card's table: every task of the base and of the stored weights."""
    after = next((each for each in state.measurements if each.step == state.best), None)
    if after is None:
        return []
    before = state.measurements[0]
    pairs = [
        (key, value["side"], value["metric"], before.tasks[key]["value"], value["value"])
        for key, value in after.tasks.items()
    ]
    pairs += [
        (f"**{side} average**", side, "", first, now)
        for side, first, now in (("core", before.core, after.core), ("ood", before.ood, after.ood))
        if first is not None and now is not None
    ]
    return [
        {
            "task": task,
            "side": side,
            "metric": metric,
            "base": f"{100 * first:.1f}",
            "tuned": f"{100 * now:.1f}",
            "change": f"{100 * (now - first):+.1f}",
        }
        for task, side, metric, first, now in pairs
    ]


def _shown(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
