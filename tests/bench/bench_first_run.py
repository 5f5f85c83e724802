"""How long a first run takes: python -m tests.bench.bench_first_run

A fresh process evaluates an open_clip model of ViT-Ti size in memory on the mini suite, builds the database beside the
results, and answers the board with the model's row. Prints each stage in seconds.
"""

from __future__ import annotations

import json
import sys
import tempfile

from tests.serving import begun

LIMIT = 180.0  # seconds, on 2 cores
SCRIPT = """
import json, sys, time, urllib.request
began = last = time.perf_counter()
def stage(name):
    global last
    now = time.perf_counter()
    print(json.dumps([name, now - last]), flush=True)
    last = now
import open_clip, torch
torch.set_num_threads(2)
tower = {"embed_dim": 192, "vision_cfg": {"image_size": 64, "layers": 6, "width": 192, "patch_size": 16},
         "text_cfg": {"context_length": 77, "vocab_size": 49408, "width": 192, "heads": 3, "layers": 6}}
model = open_clip.CLIP(**tower).eval()
preprocess = open_clip.image_transform(64, is_train=False)
tokenizer = open_clip.get_tokenizer("ViT-B-32")
stage("the model in memory")
import compute
scores = compute.evaluate(model, suite="mini", preprocess=preprocess, tokenizer=tokenizer, name="first",
                          results=sys.argv[1], progress=False)
stage("compute.evaluate on mini")
scores.database()
stage("the database")
import leaderboard
board = leaderboard.serve(scores, open_browser=False, block=False)
stage("the app")
address = board.address.split("/board")[0] + "/data/board/mini"
with urllib.request.urlopen(address, timeout=60) as answer:
    rows = [row["id"] for row in json.load(answer)["rows"]]
assert "own/first~computed" in rows, rows
stage("the board answered")
board.stop()
"""


def main() -> None:
    total = 0.0
    with tempfile.TemporaryDirectory() as folder:
        process = begun("-c", SCRIPT, folder)
        for line in process.stdout:
            if line.startswith("["):
                name, seconds = json.loads(line)
                total += seconds
                print(f"{name:<28} {seconds:6.1f} s", flush=True)
        code = process.wait()
    print(f"{'in all':<28} {total:6.1f} s; the limit is {LIMIT:.0f} s")
    sys.exit(code or total > LIMIT)


if __name__ == "__main__":
    main()
