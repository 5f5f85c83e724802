"""Trains the bundled dual encoder on drawn scenes.

    python -m assets.tiny.recipe.train [--to FOLDER] [--steps N] [--seed N]

A stopped run resumes. README.md says more.
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from assets.tiny.recipe import lessons, losses
from assets.tiny.recipe.lessons import LESS, MORE, quality
from compute.io.files import replacing
from compute.tasks.drawing import compose
from compute.tasks.drawing.captions import caption
from compute.tasks.drawing.lexicon import DISTORTIONS, NUMBERS
from compute.tasks.drawing.render import SIDE
from compute.types import BadInput

START, END = "<|startoftext|>", "<|endoftext|>"
LENGTH = 40  # tokens a text is cut to
SCENES = 5000  # whose captions give the words
EXTRA = (
    "how many are there where is the which what side of and shapes shape color question answer photo picture "
    "circle circles does say page with text words image drawing only a an it now"
)


def words() -> tuple[str, ...]:
    """Every word of the captions, sorted."""
    rng, vocabulary = Random("words"), set(NUMBERS)
    lines = [text for prompts in MORE for text in prompts] + [*LESS, EXTRA]
    lines += [caption(compose.scene(rng, part="train"), rng).text for _ in range(SCENES)]
    lines += [
        quality(rng, kind=kind, strength=strength).text
        for kind in ("", *DISTORTIONS)
        for strength in range(6)
        for _ in range(20)
    ]
    for line in lines:
        vocabulary |= set(re.findall(r"[a-z]+", line.lower()))
    return tuple(sorted(vocabulary))


def merges(vocabulary: tuple[str, ...]) -> list[tuple[str, str]]:
    """Byte-pair merges that make each word one token: the commonest pair first, ties in alphabetical order."""
    pieces = [[*word[:-1], word[-1] + "</w>"] for word in vocabulary]
    pairs = []
    while True:
        counts = Counter(pair for piece in pieces for pair in zip(piece, piece[1:], strict=False))
        if not counts:
            return pairs
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        pairs.append(best)
        pieces = [_merged(piece, best) for piece in pieces]


def _merged(piece: list[str], pair: tuple[str, str]) -> list[str]:
    out: list[str] = []
    for part in piece:
        if out and (out[-1], part) == pair:
            out[-1] += part
        else:
            out.append(part)
    return out


def byte_letters() -> list[str]:
    """The 256 printable letters that byte-level tokenizers write bytes with (GPT-2's table)."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in printable]
    table = {byte: chr(byte) for byte in printable} | {byte: chr(256 + n) for n, byte in enumerate(others)}
    return [table[byte] for byte in range(256)]


def write(folder: Path) -> int:
    """Writes vocab.json, merges.txt and tokenizer_config.json as CLIPTokenizer reads them; the number of tokens."""
    pairs = merges(words())
    letters = byte_letters()
    tokens = [*letters, *(letter + "</w>" for letter in letters), *dict.fromkeys(a + b for a, b in pairs), START, END]
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = {token: index for index, token in enumerate(tokens)}
    (folder / "vocab.json").write_text(json.dumps(vocabulary, ensure_ascii=False) + "\n", encoding="utf-8")
    (folder / "merges.txt").write_text("#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in pairs), encoding="utf-8")
    settings = {
        "tokenizer_class": "CLIPTokenizer",
        "model_max_length": LENGTH,
        "unk_token": END,
        "bos_token": START,
        "eos_token": END,
        "pad_token": END,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
    return len(tokens)


if TYPE_CHECKING:
    import torch
    from transformers import CLIPModel

    Encode = Callable[[Sequence[str]], torch.Tensor]

log = logging.getLogger(__name__)

DIMENSION = 128
VISION = {"hidden_size": 192, "intermediate_size": 576, "num_hidden_layers": 4, "num_attention_heads": 4}
TEXT = {"hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 3, "num_attention_heads": 4}
WEIGHTS = {"contrast": 1.0, "questions": 1.0, "naming": 0.3, "patches": 1.0, "nearness": 3.0, "ordering": 1.0}
PLACES = 0.3  # height of the waves that patches' positions begin as
CHECKPOINT = "checkpoint.pt"


@dataclass(frozen=True, kw_only=True)
class TrainingPlan:
    """Everything that decides the outcome, but for the machine's arithmetic."""

    seed: int = 0
    steps: int = 2600
    images: int = 128  # a step
    rate: float = 1.5e-3  # the highest learning rate
    warm_up: int = 150  # steps
    decay: float = 0.05
    threads: int = 2  # the order of sums depends on it
    dtype: str = "bfloat16"  # of the matrix products; float32 on processors without it


def train(folder: Path, *, plan: TrainingPlan = TrainingPlan(), every: int = 200) -> tuple[dict[str, float], float]:
    """Writes a CLIPModel directory to `folder`; returns the last losses, averaged, and the seconds.

    The state is stored next to the model every so many steps, and a stopped run resumes there with the same outcome.
    Raises BadInput for a folder that holds the state of another plan.
    """
    import torch

    torch.set_num_threads(plan.threads)
    count = write(folder)
    torch.manual_seed(plan.seed)
    model = build(vocabulary=count)
    heads = torch.nn.ModuleList(
        torch.nn.Linear(*sizes)
        for sizes in (
            (DIMENSION, len(lessons.NAMED)),
            (VISION["hidden_size"], sum(1 + len(head) for head in lessons.PATCH_HEADS)),
        )
    )
    parameters = [*model.parameters(), *heads.parameters()]
    optimiser = torch.optim.AdamW(
        [
            {"params": [each for each in parameters if each.ndim > 1], "weight_decay": plan.decay},
            {"params": [each for each in parameters if each.ndim <= 1], "weight_decay": 0.0},
        ],
        lr=plan.rate,
        betas=(0.9, 0.98),
        eps=1e-6,
    )
    parts, checkpoint = {"model": model, "heads": heads, "optimiser": optimiser}, folder / CHECKPOINT
    begun, seconds, average = 0, 0.0, {}
    if checkpoint.is_file():
        stored = torch.load(checkpoint, weights_only=True)
        if stored["plan"] != asdict(plan):
            raise BadInput(f"{checkpoint} is of another plan: {stored['plan']}. Remove it, or use another folder")
        for name, part in parts.items():
            part.load_state_dict(stored[name])
        begun, seconds = stored["step"], stored["seconds"]
    encode, clock = _tokenizer(folder), time.perf_counter() - seconds
    for step, lesson in enumerate(_lessons(plan, start=begun), start=begun):
        for group in optimiser.param_groups:
            group["lr"] = plan.rate * schedule(step, plan)
        terms = _losses(model, heads, lesson, encode, plan)
        optimiser.zero_grad(set_to_none=True)
        sum(WEIGHTS[name] * loss for name, loss in terms.items()).backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
        with torch.no_grad():
            model.logit_scale.clamp_(max=math.log(50))
        average = {name: 0.98 * average.get(name, loss.item()) + 0.02 * loss.item() for name, loss in terms.items()}
        if (step + 1) % every == 0 or step + 1 == plan.steps:
            seconds = time.perf_counter() - clock
            with replacing(checkpoint) as draft:
                states = {name: part.state_dict() for name, part in parts.items()}
                torch.save({"plan": asdict(plan), "step": step + 1, "seconds": seconds, **states}, draft)
            listed = ", ".join(f"{name} {loss:.3f}" for name, loss in average.items())
            log.info("step %d of %d, %.0f s: %s", step + 1, plan.steps, seconds, listed)
    save(model, folder)
    checkpoint.unlink(missing_ok=True)
    return average, seconds


def build(*, vocabulary: int) -> CLIPModel:
    """The model before training, from torch's random state."""
    from transformers import CLIPConfig, CLIPModel

    shared = {"hidden_act": "relu", "attention_dropout": 0.0}
    ends = {"bos_token_id": vocabulary - 2, "eos_token_id": vocabulary - 1, "pad_token_id": vocabulary - 1}
    config = CLIPConfig(
        vision_config={**VISION, **shared, "image_size": SIDE, "patch_size": lessons.PATCH},
        text_config={**TEXT, **shared, **ends, "vocab_size": vocabulary, "max_position_embeddings": LENGTH},
        projection_dim=DIMENSION,
    )
    config._attn_implementation = "eager"  # backwards through 64 tokens twice as fast as the fused kernel on a CPU
    model = CLIPModel(config)
    _initialise_positions(model)
    return model.train()


def _initialise_positions(model: CLIPModel) -> None:
    """Begins the patches' learned positions as waves along both axes: from small noise, few steps never find them."""
    import torch

    side = SIDE // lessons.PATCH
    slowness = 20 ** (torch.arange(VISION["hidden_size"] // 4) / (VISION["hidden_size"] // 4))
    waves = torch.arange(side)[:, None] / slowness
    waves = torch.cat([waves.sin(), waves.cos()], dim=1)  # (side, half of the width)
    down, across = waves[:, None].expand(side, side, -1), waves[None].expand(side, side, -1)
    with torch.no_grad():
        model.vision_model.embeddings.position_embedding.weight[1:] = PLACES * torch.cat(
            [down, across], dim=-1
        ).flatten(0, 1)


def schedule(step: int, plan: TrainingPlan) -> float:
    """Share of the highest learning rate: a linear rise, then half a cosine down to 0."""
    if step < plan.warm_up:
        return (step + 1) / plan.warm_up
    return 0.5 * (1 + math.cos(math.pi * (step - plan.warm_up) / max(1, plan.steps - plan.warm_up)))


@dataclass(frozen=True)
class _Lessons:
    """The batch of every step, by its number."""

    plan: TrainingPlan

    def __getitem__(self, step: int) -> lessons.Lesson:
        return lessons.lesson(seed=self.plan.seed, step=step, images=self.plan.images)


def _lessons(plan: TrainingPlan, *, start: int) -> Iterable[lessons.Lesson]:
    """The steps' batches in order, drawn in a second process a few steps ahead."""
    from torch.utils.data import DataLoader

    steps = range(start, plan.steps)
    return DataLoader(_Lessons(plan), batch_size=None, sampler=steps, num_workers=1, prefetch_factor=4)


def _tokenizer(folder: Path) -> Encode:
    from transformers import CLIPTokenizer

    tokenizer = CLIPTokenizer.from_pretrained(str(folder))
    return lambda texts: tokenizer(list(texts), padding=True, truncation=True, max_length=LENGTH, return_tensors="pt")[
        "input_ids"
    ]


def _losses(
    model: CLIPModel, heads: torch.nn.ModuleList, lesson: lessons.Lesson, encode: Encode, plan: TrainingPlan
) -> dict[str, torch.Tensor]:
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits, normalize

    pixels = torch.from_numpy(lesson.images).permute(0, 3, 1, 2).float() / 127.5 - 1
    ids = encode((*lesson.texts, *lesson.answers, *losses.prompts()))
    with torch.autocast("cpu", dtype=getattr(torch, plan.dtype), enabled=plan.dtype != "float32"):
        seen = model.vision_model(pixel_values=pixels, output_hidden_states=True)
        images = model.visual_projection(seen.pooler_output)
        texts = model.text_projection(model.text_model(input_ids=ids).pooler_output)
        named, patches = heads[0](images), heads[1](seen.hidden_states[-2][:, 1:])
    images, texts = normalize(images.float(), dim=-1), normalize(texts.float(), dim=-1)
    captions, answers, prompted = texts.split(
        [len(lesson.texts), len(lesson.answers), len(texts) - len(lesson.texts) - len(lesson.answers)]
    )
    return {
        "contrast": losses.contrast(images, captions, torch.from_numpy(lesson.true), model.logit_scale.exp()),
        "questions": losses.questions(images, answers, torch.from_numpy(lesson.asked), model.logit_scale.exp()),
        "naming": binary_cross_entropy_with_logits(named.float(), torch.from_numpy(lesson.named)) * len(lessons.NAMED),
        "patches": losses.patches(patches.float(), torch.from_numpy(lesson.patches)),
        "nearness": losses.nearness(images, lesson.families),
        "ordering": losses.ordering(images, prompted, torch.from_numpy(lesson.qualities)),
    }


def save(model: CLIPModel, folder: Path) -> None:
    """Weights in half precision, and how an image is prepared.

    Embeddings are scaled to a mean length of 1 on both sides, so that image and text have the same weight in their sum.
    """
    import torch
    from transformers import CLIPImageProcessorPil

    model.eval()
    lesson = lessons.lesson(seed=-1, step=0, images=128)
    pixels = torch.from_numpy(lesson.images).permute(0, 3, 1, 2).float() / 127.5 - 1
    with torch.no_grad():
        for projection, features in (
            (model.visual_projection, model.get_image_features(pixel_values=pixels).pooler_output),
            (model.text_projection, model.get_text_features(_tokenizer(folder)(lesson.texts)).pooler_output),
        ):
            projection.weight /= features.norm(dim=-1).mean()
    model.half().save_pretrained(folder)
    CLIPImageProcessorPil(
        size={"shortest_edge": SIDE},
        crop_size={"height": SIDE, "width": SIDE},
        image_mean=[0.5] * 3,
        image_std=[0.5] * 3,
    ).save_pretrained(folder)


def main() -> None:
    """Trains as the command line says, and prints the last losses."""
    parser = argparse.ArgumentParser(description="Trains the bundled dual encoder on drawn scenes.")
    parser.add_argument("--to", type=Path, default=Path(__file__).parents[1], help="folder to write to")
    parser.add_argument("--steps", type=int, default=TrainingPlan.steps, help="training steps")
    parser.add_argument("--seed", type=int, default=0, help="of lessons and first weights")
    given = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    average, seconds = train(given.to, plan=TrainingPlan(seed=given.seed, steps=given.steps))
    listed = ", ".join(f"{name} {value:.3f}" for name, value in average.items())
    print(f"{given.to}: {given.steps} steps in {seconds:.0f} s; last losses: {listed}")


if __name__ == "__main__":
    main()
