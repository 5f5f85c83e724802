"""What `compute.evaluate` costs over a bare loop on few short texts: python -m tests.bench.bench_fixed_cost FOLDER

FOLDER is a checkpoint of sentence-transformers, such as all-MiniLM-L6-v2. A fresh process encodes 240 sentences in a
loop, then evaluates the model on them as 120 rated pairs. Both find torch and sentence-transformers imported; the
import of `compute` is part of what is measured, in seconds of processor time. The best of the rounds may be LIMIT.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tests.serving import begun

LIMIT = 1.0
SCRIPT = """
import csv, json, sys, tempfile, time
from pathlib import Path
import torch
from sentence_transformers import SentenceTransformer
torch.set_num_threads(1)
model = SentenceTransformer(sys.argv[1], device="cpu")
texts = [f"a photo of {row} small red cups near the old table" for row in range(240)]
folder = Path(tempfile.mkdtemp())
with (folder / "pairs.csv").open("w", newline="") as file:
    csv.writer(file).writerows([("first", "second", "score"), *zip(texts[:120], texts[120:], range(120))])
def loop():
    vectors = model.encode(texts, batch_size=32, show_progress_bar=False, normalize_embeddings=True)
    return (vectors[:120] * vectors[120:]).sum(axis=1)
def evaluate():
    import compute
    return compute.evaluate(model, data=folder / "pairs.csv", results=folder / "results", progress=False)
seconds = []
for work in (loop, loop, evaluate):
    began = time.process_time()
    work()
    seconds.append(time.process_time() - began)
print(json.dumps(seconds[1:]))
"""


def main() -> int:
    """Prints each round, and the least difference; 1 where it is above the limit."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    over = []
    for _ in range(options.rounds):
        said, _ = begun("-c", SCRIPT, options.folder.absolute()).communicate()
        loop, evaluate = json.loads(said.splitlines()[-1])
        over.append(evaluate - loop)
        print(f"loop {loop:.2f} s, evaluate {evaluate:.2f} s: {over[-1]:+.2f} s", flush=True)
    print(f"evaluate takes {min(over):.2f} s over the loop (best of {options.rounds}; allowed {LIMIT:.1f} s)")
    return int(min(over) > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
