"""Files of ours that a call crosses: python -m tests.bench.trace_files FLOW [--functions]

A file counts once a function of it runs; the statements of a module or class body, and methods that dataclasses
generate, do not count. Functions that run while a module is imported (tables of a registry) are counted apart.

    evaluate       `compute.evaluate` of the bundled model on one task
    frechet        `compute.frechet` of two folders of images by the bundled model
    compare        the first press of Compare in the app, from its request to the last answer
    compare-again  a second press about other images, with the model in memory and the tables read

Prints the files, with --functions what ran of each, and how many there are.
"""

import argparse
import inspect
import json
import os
import sys
import tempfile
import threading
from collections import defaultdict
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
from PIL import Image

from tests.serving import ROOT

OURS = tuple(f"{ROOT / name}{os.sep}" for name in ("compute", "leaderboard"))


class Trace:
    """Collects the functions of ours that run in any thread that began after it, within `recording`."""

    def __init__(self):
        self.calls = defaultdict(set)  # file -> names of its functions that ran
        self.imports = set()  # files of which functions ran in an import
        self._on, self._importing = False, threading.local()
        threading.setprofile(self._event)
        sys.setprofile(self._event)

    def _event(self, frame, event, argument):
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(OURS) or code.co_filename[-3:] != ".py":
            return
        depth = getattr(self._importing, "depth", 0)
        if code.co_name == "<module>":
            self._importing.depth = depth + (1 if event == "call" else -1)
        elif self._on and code.co_flags & inspect.CO_OPTIMIZED:  # which a class body has not
            file = str(Path(code.co_filename).relative_to(ROOT))
            if depth:
                self.imports.add(file)
            else:
                self.calls[file].add(code.co_qualname)

    @contextmanager
    def recording(self):
        self._on = True
        try:
            yield
        finally:
            self._on = False
            sys.setprofile(None)


def evaluate(folder, trace):
    """The bundled model on one task of the mini suite."""
    import compute

    with trace.recording():
        compute.evaluate("tiny", tasks="mini/image-choice", results=folder / "results", progress=False)


def frechet(folder, trace):
    """Two folders of 24 pictures by the bundled model."""
    import compute

    for name in ("real", "made"):
        (folder / name).mkdir()
        for seed in range(24):
            picture(seed + len(name)).save(folder / name / f"{seed}.png")
    with trace.recording():
        compute.frechet(
            reference=folder / "real",
            generated={"made": folder / "made"},
            backbones="tiny",
            features=folder / "features",
            offline=True,
        )


def compare(folder, trace, *, presses=1):
    """An app with uploaded pictures, and the bundled model asked about two of them; the last press is traced."""
    from compute.database.build import build
    from leaderboard import server
    from leaderboard.face import heads
    from leaderboard.host import rebuilt
    from tests.slow.visitor import Visitor

    os.environ["GRADIO_TEMP_DIR"] = str(folder / "gradio")
    server._warm = lambda *_: None  # what is made ahead for other pages is not part of the press
    rebuilt.EVERY = 3600  # nor is a look at the database's file
    blocks, launch = server.build(build(folder / "likeness.duckdb", results=folder / "results").path)
    _, address, _ = blocks.launch(prevent_thread_lock=True, quiet=True, server_name="127.0.0.1", **launch)
    heads.LONGEST_WAIT = 3600  # seconds: nor a first screen, which Gradio's look at the front page has begun
    visitor = Visitor(urlsplit(address).port)
    visitor.get("/")
    event = visitor.events()["compare"]
    for press in range(1, presses + 1):
        visitor.session = f"{press:032x}"
        entries = []
        for seed in (0, press):
            picture(seed).save(folder / "upload.png")
            uploaded = json.loads(visitor.upload((folder / "upload.png").read_bytes()).body)
            entries.append({"kind": "image", "key": uploaded["key"]})
        question = {"session": visitor.session, "inputs": entries, "mode": "pair", "models": ["tiny"], "pressed": True}
        with trace.recording() if press == presses else nullcontext():
            visitor.join(event, data=question)
            answer = visitor.get(f"/gradio_api/queue/data?session_hash={visitor.session}").body
        if b"Tiny CLIP" not in answer:
            raise SystemExit(f"no answer of the model: {answer[-600:]!r}")
    blocks.close(verbose=False)


def picture(seed):
    return Image.fromarray(np.random.default_rng(seed).integers(0, 255, (48, 64, 3), dtype=np.uint8))


FLOWS = {
    "evaluate": evaluate,
    "frechet": frechet,
    "compare": compare,
    "compare-again": partial(compare, presses=2),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("flow", choices=FLOWS)
    parser.add_argument("--functions", action="store_true", help="print what ran of each file")
    options = parser.parse_args()
    trace = Trace()
    with tempfile.TemporaryDirectory() as folder:
        FLOWS[options.flow](Path(folder), trace)
    for file, names in sorted(trace.calls.items()):
        print(file, *(sorted(names) if options.functions else ()))
    print(f"{len(trace.calls)} files; with what runs in imports {len(trace.imports | set(trace.calls))}")


if __name__ == "__main__":
    main()
