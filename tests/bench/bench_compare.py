"""The Try page's budgets, measured: python -m tests.bench.bench_compare [--repeats 12]

Starts the real app with a ViT-B/32 of random weights in an empty cache of the hub's, clicks in a real browser, and
prints a line a budget; beside it the same model called directly, without a page, in the same run.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from compute.catalog import shipped
from tests.bench.measure import ARGUMENTS, ROOT, Report, fixed, memory, running

VIT = "laion/clip-vit-b-32-laion2b-s34b-b79k"
RESULT = ".cp-result[data-done=yes]"
CLICK = """async ({result}) => {
  const before = document.querySelector(result)?.dataset.at;
  const button = document.querySelector('.tr-ask .tr-primary');
  const start = performance.now();
  button.click();
  while ((document.querySelector(result)?.dataset.at ?? before) === before) {
    if (performance.now() - start > 60000) throw new Error('no answer within a minute');
    await new Promise(requestAnimationFrame);
  }
  await new Promise(requestAnimationFrame);
  return performance.now() - start;
}"""


def vit(cache: Path) -> None:
    """ViT-B/32 with random weights, laid out as the hub's client keeps a download."""
    import open_clip
    import torch
    from safetensors.torch import save_file

    row = next(row for row in shipped().models if row.key == VIT)
    home = cache / f"models--{row.weights.replace('/', '--')}"
    folder = home / "snapshots" / row.revision
    folder.mkdir(parents=True)
    torch.manual_seed(0)
    model = open_clip.create_model("ViT-B-32", pretrained=None)
    config = {
        "model_cfg": open_clip.get_model_config("ViT-B-32"),
        "preprocess_cfg": {
            "mean": [0.48, 0.46, 0.41],
            "std": [0.27, 0.26, 0.28],
            "interpolation": "bicubic",
            "resize_mode": "shortest",
            "size": 224,
        },
    }
    (folder / "open_clip_config.json").write_text(json.dumps(config))
    save_file(
        {name: value.contiguous() for name, value in model.state_dict().items()}, folder / "open_clip_model.safetensors"
    )


def photographs(count: int) -> list[bytes]:
    """Different pictures of 1,200 x 900 pixels, as JPEG: smooth noise, which takes as long as a photograph."""
    found = []
    for seed in range(count):
        small = np.random.default_rng(seed).integers(0, 255, (24, 32, 3), dtype=np.uint8)
        out = io.BytesIO()
        Image.fromarray(small).resize((1200, 900), Image.Resampling.BICUBIC).save(out, "JPEG", quality=90)
        found.append(out.getvalue())
    return found


def opened(browser: Browser, address: str, models: str) -> Page:
    """The page with an empty tray and these models ticked."""
    page = browser.new_context().new_page()
    page.goto(f"{address}try?mode=pair&inputs=cat,coffee&models={models}")
    page.wait_for_selector(RESULT, timeout=180_000)  # a link asks by itself: the models are loaded now
    return page


def put(page: Page, files: list[bytes]) -> None:
    """Two new pictures in place of what was there."""
    page.get_by_role("button", name="Clear").click()
    page.set_input_files(
        ".likeness-tray input[type=file]",
        [{"name": f"{at}.jpg", "mimeType": "image/jpeg", "buffer": data} for at, data in enumerate(files)],
    )
    page.wait_for_function(
        "document.querySelector('.likeness-tray').dataset.count === '2' && "
        "document.querySelector('.likeness-tray').dataset.busy === 'false' && "
        "!document.querySelector('.tr-ask .tr-primary').disabled && "
        "document.querySelector('.tr-ask .tr-primary').getAttribute('aria-disabled') !== 'true'"
    )


def clicks(page: Page, pictures: list[bytes], repeats: int) -> tuple[list[float], list[float]]:
    """Times from the click to the answer, in ms: of pairs that are new, and of the same pairs once more."""
    new, again = [], []
    for turn in range(repeats):
        put(page, pictures[2 * turn : 2 * turn + 2])
        new.append(page.evaluate(CLICK, {"result": RESULT}))
        again.append(page.evaluate(CLICK, {"result": RESULT}))
    return new[1:], again[1:]  # the first one warms


def direct(key: str, pictures: list[bytes]) -> float:
    """Median ms of decoding and encoding a pair with the model alone."""
    from compute import models
    from compute.content import decoding

    row = next(row for row in shipped().models if row.key == key)
    model = models.load(row, hardware=models.hardware("cpu"))
    times = []
    for at in range(0, len(pictures) - 1, 2):
        began = time.perf_counter()
        model.embed("image", [model.prepare("image", decoding.decode(one)) for one in pictures[at : at + 2]])
        times.append((time.perf_counter() - began) * 1000)
    return float(np.median(times[1:]))


def main() -> None:
    """Measures everything; exit code 1 when a budget is exceeded."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=12)
    repeats = parser.parse_args().repeats
    pictures = photographs(2 * repeats + 2)
    report = Report()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        os.environ |= {"HF_HUB_CACHE": folder, "HF_HUB_OFFLINE": "1"}  # read once, when the hub's client is imported
        vit(Path(folder))
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=list(ARGUMENTS)
        )
        with running(["app.py"], database=Path(folder) / "board.duckdb") as (address, process, _):
            idle = browser.new_context().new_page()
            idle.goto(f"{address}compare")
            idle.wait_for_selector(".likeness-tray[data-ready=true]")
            report.row("memory, the page open, no model loaded", [memory(process)], budget=450, unit="MB")
            for key, name, budget in (("tiny", "the bundled model", 8), (VIT, "ViT-B/32, random weights", 4)):
                page = opened(browser, address, key)
                new, again = clicks(page, pictures, repeats + 1)
                alone = direct(key, pictures[: 2 * repeats])
                report.row(
                    f"click to answer, two images, {name}",
                    new,
                    budget=budget,
                    reference=[alone],
                    beside=f"the model alone {alone:.0f} ms",
                )
                report.row("... the same pair again", again, budget=1.5, reference=fixed(page, repeats))
                page.context.close()
            report.note("memory after all", [memory(process)], unit="MB")
        browser.close()
    report.finish()


if __name__ == "__main__":
    os.chdir(ROOT)
    main()
