"""What Likeness takes beside the bare library on one GPU: python -m tests.slow.gpu [--out FILE]

Encoding of JPEG files, the search of retrieval and a step of training, each in turns with a loop of open_clip, torch,
transformers and peft that does the same, on models with random weights; peak memory beside each. A ratio above 1 says
how many times as long Likeness takes. Prints a Markdown table in under six minutes. Without a GPU everything is a
tenth as large, the models' layers included: that shows only that it works. A row whose libraries are missing is left
out with the reason; exits with 1 where one failed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from io import BytesIO
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any
from unittest import mock

import numpy as np

from compute.features import encoding

encoding.share_cores()  # before torch

import torch  # noqa: E402
from PIL import Image  # noqa: E402
from torch.utils.data import DataLoader, default_collate  # noqa: E402

from compute.types import NotHere  # noqa: E402

CUDA = torch.cuda.is_available()
DEVICE = "cuda" if CUDA else "cpu"
SHARE = 1 if CUDA else 10  # sizes are divided by it
SIDE = 512  # pixels of an image file
ROUNDS = 8  # at most; the first one warms up
TENTH = {"each": 1, "lead": 1, "steps": 2}  # examples of a task, and steps, without a GPU
HEAD = """
| | Likeness | bare | ratio | rounds | GPU memory above the weights, GB | resident memory, GB |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |"""
Run = Callable[[], float]  # measures once: seconds a unit of work


def beside(rows: dict[str, tuple[Run, Run]], unit: str, *, limit: float) -> Iterator[str]:
    """Rows of the table, of Likeness and what is beside it: all take turns until `limit` seconds are over, the median
    of each without the first round."""
    ways = list(dict.fromkeys(way for pair in rows.values() for way in pair))
    found: dict[Run, list[tuple[float, ...]]] = {way: [] for way in ways}  # seconds, GB of the GPU, of this process
    began = time.perf_counter()
    for number in range(1, ROUNDS + 1):
        for way in ways:
            if CUDA:
                torch.cuda.reset_peak_memory_stats()
            before, seconds = torch.cuda.memory_allocated() if CUDA else 0, way()
            device = (torch.cuda.max_memory_allocated() - before) / 1e9 if CUDA else 0.0
            kilobytes = Path("/proc/self/status").read_text().split("VmRSS:")[1].split()[0]
            found[way].append((seconds, device, int(kilobytes) / 1e6))
        if (time.perf_counter() - began) * (number + 1) / number > limit:
            break
    for title, pair in rows.items():
        times = [median(seconds for seconds, *_ in found[way][1:] or found[way]) for way in pair]
        shown = [f"{1 / each:,.0f}" if unit == "images/s" else f"{each:.3f}" for each in times]
        peaks = [" / ".join(f"{max(turn[part] for turn in found[way]):.2f}" for way in pair) for part in (1, 2)]
        cells = [f"{title}, {unit}", *shown, f"{times[0] / times[1]:.2f}", str(max(1, number - 1)), *peaks]
        yield f"| {' | '.join(cells)} |"


def clocked(do: Callable[[], object], *, units: int = 1) -> float:
    """Seconds a unit of what is done, the device's work included."""
    began = time.perf_counter()
    do()
    if CUDA:
        torch.cuda.synchronize()
    return (time.perf_counter() - began) / units


SIZES = {
    "b32": {"vision": (768, 3072, 12, 12, 224, 32), "text": (512, 2048, 12, 8), "projection": 512},
    "l14": {"vision": (1024, 4096, 24, 16, 336, 14), "text": (768, 3072, 12, 12), "projection": 768},
}


def checkpoint(folder: Path, size: str) -> Path:
    """A random CLIP of that size in the hub's layout."""
    from transformers import CLIPConfig, CLIPModel

    from tests.compute.models import checkpoints

    folder.mkdir()
    checkpoints.clip_tokens(folder)
    keys = ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "image_size", "patch_size")
    vision, text = (dict(zip(keys, SIZES[size][part], strict=False)) for part in ("vision", "text"))
    vision["num_hidden_layers"] //= SHARE
    last = 2 * 256 + 5 - 1
    ends = {"bos_token_id": last - 1, "eos_token_id": last, "pad_token_id": last, "vocab_size": last + 1}
    torch.manual_seed(0)
    config = CLIPConfig(
        projection_dim=SIZES[size]["projection"],
        vision_config=vision,
        text_config={**text, **ends, "max_position_embeddings": 16},
    )
    CLIPModel(config).save_pretrained(folder)
    checkpoints.image_processor(folder, "CLIPImageProcessor", crop=True)
    settings = folder / "preprocessor_config.json"
    settings.write_text(settings.read_text().replace(f": {checkpoints.SIDE}", f": {vision['image_size']}"))
    return folder


def photograph(seed: int) -> bytes:
    """A JPEG file of a smooth picture, which takes about as long to decode as a photograph."""
    coarse = np.random.default_rng(seed).integers(0, 256, (24, 24, 3)).astype(np.uint8)
    target = BytesIO()
    Image.fromarray(coarse).resize((SIDE, SIDE), Image.Resampling.BICUBIC).save(target, "JPEG", quality=90)
    return target.getvalue()


def encode(name: str, *, count: int, limit: float) -> Iterator[str]:
    """Files to stored vectors beside files to vectors, and images already decoded and prepared to vectors."""
    import open_clip

    from compute.content.items import Column, content_key
    from compute.features.store import FeatureStore
    from compute.features.subject import BATCH, Subject
    from compute.models.adapter import Hardware, ImageTower, Towers
    from compute.types import Model

    hardware = Hardware(device=DEVICE, dtype="bfloat16" if CUDA else "float32")
    architecture, _, preprocess = open_clip.create_model_and_transforms(name, pretrained=None)
    visual = architecture.visual.to(hardware.device, hardware.torch_dtype).eval()
    blocks = visual.transformer.resblocks
    del blocks[len(blocks) // SHARE :]
    tower = ImageTower(ready=lambda image: {"pixels": preprocess(image)}, run=lambda batch: visual(batch["pixels"]))
    model = Towers(name=name, settings={}, hardware=hardware, image=tower)
    row = Model(key=f"random/{name}", title="Random", abilities=("embed_image",))
    workers, batch = encoding.workers(), BATCH[DEVICE][0]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        paths = [folder / f"{at}.jpg" for at in range(count)]
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(lambda at: paths[at].write_bytes(photograph(at)), range(count)))
        keys = np.array([content_key(path.read_bytes()) for path in paths], dtype="S32")
        images = Column(modality="image", keys=keys, read=lambda at: paths[at].read_bytes(), name=str)
        stores = iter(range(ROUNDS))

        def read(batch: list[Path]) -> torch.Tensor:
            return default_collate([preprocess(Image.open(path).convert("RGB")) for path in batch])

        def forward(pixels: torch.Tensor) -> np.ndarray:
            with torch.inference_mode():
                moved = pixels.to(hardware.device, hardware.torch_dtype, non_blocking=True)
                return visual(moved).float().cpu().numpy()

        def ours() -> float:
            made = Subject(
                row,
                store=FeatureStore(folder / f"store{next(stores)}"),
                hardware=hardware,
                load=lambda row, *, hardware: model,
                identity=lambda row, *, hardware: {"architecture": name},
            )
            return clocked(lambda: made.prepare([images]), units=count)

        def bare() -> float:
            options = {"batch_size": batch, "num_workers": workers, "pin_memory": CUDA}
            loader = DataLoader(paths, collate_fn=read, **options)
            return clocked(lambda: np.concatenate([forward(pixels) for pixels in loader]), units=count)

        yield from beside({f"{name}, files": (ours, bare)}, "images/s", limit=limit * 0.7)

        with ThreadPoolExecutor(workers) as pool:
            some = list(pool.map(lambda path: model.prepare("image", Image.open(path)), paths[: 4 * batch]))
        parts = [some[start : start + batch] for start in range(0, len(some), batch)]

        def through(run: Callable[[list[Any]], Any]) -> Run:
            return lambda: clocked(lambda: [run(part) for part in parts], units=len(some))

        embedded = through(lambda part: model.embed("image", part))
        stacked = through(lambda part: forward(torch.stack([item["pixels"] for item in part])))
        yield from beside({f"{name}, prepared images": (embedded, stacked)}, "images/s", limit=limit * 0.3)


def search(*, limit: float) -> Iterator[str]:
    """The best 1000 documents of every query, and with the metrics of retrieval, beside torch.mm and topk."""
    from compute.procedures import retrieval
    from compute.procedures.shared.similarity import Cosines
    from tests.bench.bench_retrieval import DEPTH, DOCUMENTS, QUERIES, WIDTH, Stored, task

    rng = np.random.default_rng(0)
    n, m = QUERIES // SHARE, DOCUMENTS // SHARE
    queries, documents = (rng.standard_normal((rows, WIDTH), dtype=np.float32) for rows in (n, m))
    data = task(queries, documents, rng)

    def ours() -> None:
        order = np.arange(m)
        list(retrieval.search(Cosines(queries, documents), queries=n, documents=m, depth=DEPTH, precedence=order))

    def bare() -> None:
        sides = [torch.from_numpy(side).to(DEVICE) for side in (queries, documents)]
        first, second = map(torch.nn.functional.normalize, sides)
        for start in range(0, n, retrieval.QUERIES):
            best = torch.mm(first[start : start + retrieval.QUERIES], second.T).topk(DEPTH, dim=1)
            best.values.cpu(), best.indices.cpu()

    def whole() -> None:
        retrieval.run(Stored({n: queries, m: documents}), data, {"fusion": "sum"})

    size = f"{n:,} × {m:,} × {WIDTH}, best {DEPTH}"
    rows = {f"Search, {size}": ours, "The same with all metrics, beside the search": whole}
    usual = partial(clocked, bare)
    yield from beside({title: (partial(clocked, run), usual) for title, run in rows.items()}, "s", limit=limit)


def train(size: str, *, each: int, lead: int, steps: int, limit: float) -> Iterator[str]:
    """A step with LoRA: beside a script's whole step, and beside forward and backward of one batch alone.

    Before the clock starts `lead` steps use up what was prepared ahead.
    """
    import peft

    from compute.models.adapter import Hardware
    from compute.training import loop, towers
    from compute.training.examples import TASKS
    from compute.training.plan import TuningPlan
    from compute.training.run_folder import RunFolder
    from tests.compute.models import checkpoints
    from tests.compute.training import small_training

    plan = replace(TuningPlan(), batch_size=each, samples=each * (lead + steps), warm_up=1)
    with tempfile.TemporaryDirectory() as scratch:
        row = checkpoints.row(checkpoint(Path(scratch) / "base", size), "clip")
        hardware = Hardware(device=DEVICE, dtype="float32")
        base, other = (towers.load(row, hardware=hardware) for _ in range(2))
        run = loop.Tuning(base, plan, RunFolder(path=Path(scratch) / "run", identity={}))
    base.training(True)
    with mock.patch.object(small_training, "picture", photograph):
        sets = [small_training.examples(task, count=each) for task in TASKS]
    first = loop.batch_of(base, sets, plan, 0)

    names = ("r", "lora_alpha", "lora_dropout", "target_modules", "bias")
    config = peft.LoraConfig(**{name: getattr(base.adapted.peft_config["default"], name) for name in names})
    adapted = peft.get_peft_model(other.module, config)
    adapted.train()
    weights = [weight for weight in adapted.parameters() if weight.requires_grad]
    optimiser = torch.optim.AdamW(weights, lr=plan.learning_rate, weight_decay=plan.weight_decay)

    def passes(batch: loop.TrainingBatch) -> None:
        with run.autocast():
            pixels = batch.images["pixel_values"].to(DEVICE, non_blocking=True)
            vectors = torch.cat([other.towers.image.run({"pixel_values": pixels}), other.text_vectors(batch.texts)])
        vectors = torch.nn.functional.normalize(vectors.float(), dim=-1)
        loss = torch.zeros((), device=DEVICE)
        for name, rows in batch.rows.items():
            asked, one, two = vectors[rows.to(DEVICE)].unbind(1)
            sign = 1 - 2 * batch.preferred[name].to(DEVICE)
            loss = loss + (plan.margin - sign * ((asked * one).sum(-1) - (asked * two).sum(-1))).clamp(min=0).mean()
        optimiser.zero_grad(set_to_none=True)
        loss.backward()

    def script(batch: loop.TrainingBatch) -> None:
        passes(batch)
        optimiser.step()

    def ours(batch: loop.TrainingBatch) -> None:
        run.step(batch)
        run.state.step += 1

    def stepped(step: Callable[[Any], None], made: Iterator[Any]) -> float:
        run.state.step = 0
        for batch in islice(made, lead):
            step(batch)
        clocked(lambda: None)  # waits for the device
        return clocked(lambda: [step(batch) for batch in made], units=steps)

    workers = min(loop.WORKERS, max(1, encoding.workers() - 1)) if CUDA else 1
    options = {"batch_size": None, "num_workers": workers, "multiprocessing_context": "fork"}

    def likeness() -> float:
        return stepped(ours, loop.prepared(base, sets, plan))

    def loaded() -> float:
        made = partial(loop.batch_of, base, sets, plan)
        return stepped(script, iter(DataLoader(range(plan.steps), collate_fn=made, **options)))

    def alone() -> float:
        return stepped(passes, iter([first] * plan.steps))

    images = len(first.images["pixel_values"])
    title = f"Step on {size}, {images} images, LoRA, {loop.precision(base, plan)}, beside "
    rows = {"a whole step of torch and peft": loaded, "forward and backward alone": alone}
    yield from beside({title + what: (likeness, bare) for what, bare in rows.items()}, "s", limit=limit)


def main() -> int:
    """Prints the table; 1 where a row failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="a file that the table is written to as well")
    out = parser.parse_args().out
    torch.manual_seed(0)
    began = time.perf_counter()
    name = torch.cuda.get_device_name() if CUDA else f"CPU, {torch.get_num_threads()} threads, a tenth of the size"
    lines, failed = [], False

    def say(line: str) -> None:
        lines.append(line)
        print(line, flush=True)
        if out:
            out.write_text("\n".join(lines) + "\n")

    say(f"{name}, {encoding.workers()} workers, torch {torch.__version__}, Python {sys.version.split()[0]}\n{HEAD}")
    b32, l14 = ({"each": 32, "lead": 18, "steps": 20}, {"each": 8, "lead": 6, "steps": 10}) if CUDA else (TENTH, TENTH)
    sections = {
        "Encoding, ViT-B/32": partial(encode, "ViT-B-32", count=4096 if CUDA else 128, limit=36),
        "Encoding, ViT-L/14": partial(encode, "ViT-L-14", count=3072 if CUDA else 24, limit=36),
        "Retrieval": partial(search, limit=20),
        "Training, ViT-B/32": partial(train, "b32", **b32, limit=42),
        "Training, ViT-L/14 at 336": partial(train, "l14", **l14, limit=66),
    }
    for title, section in sections.items():
        try:
            for line in section():
                say(line)
        except (ImportError, NotHere) as error:
            say(f"| {title} | skipped: {error} | | | | | |")
        except Exception as error:
            traceback.print_exc()
            say(f"| {title} | failed: {type(error).__name__}: {' '.join(str(error).split())[:200]} | | | | | |")
            failed = True
        if CUDA:
            torch.cuda.empty_cache()
    say(f"\n{time.perf_counter() - began:.0f} s in all")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
