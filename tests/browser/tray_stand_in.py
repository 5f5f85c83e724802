"""A server for the tray alone: its files, a page that mounts it, and canned answers in the shapes of the live routes.

python -m tests.browser.tray_stand_in PORT
"""

from __future__ import annotations

import base64
import io
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from typing import Any

import uvicorn
from PIL import Image, ImageDraw, UnidentifiedImageError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route

import leaderboard
from compute.live.models.availability import REASONS
from leaderboard.web.sending import static

PREFIX = "/below"  # the app may run under a path
HOSTILE = '<img src=x onerror="window.harmed=1">${window.harmed=1}{{7*7}}'
SUGGESTED = "laion/clip-vit-b-32-laion2b-s34b-b79k"
LOOK = (Path(leaderboard.__file__).parent / "html" / "look.css").read_text(encoding="utf-8")
ELSEWHERE = "<!doctype html><title>Elsewhere</title><link rel=icon href='data:,'>"
COLOURS = {"astronaut": "#c96", "astronaut-crop": "#b85", "cat": "#a74", "cup": "#475", "rocket": "#357"}
MODES = {
    "pair": ("Pair", 2, 2),
    "choice": ("Which is nearest", 3, 9),
    "odd": ("Odd one out", 3, 8),
    "quality": ("Quality and attributes", 1, 8),
}
QUESTIONS = {
    "quality": "Quality",
    "brightness": "Brightness",
    "colorfulness": "Colourfulness",
    "contrast": "Contrast",
    "sharpness": "Sharpness",
}
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Compare</title><link rel="icon" href="data:,"><style>
:root {{ --body-text-color: #1f2937; --background-fill-primary: #fff; --border-color-primary: #e5e7eb; }}
.dark {{ --body-text-color: #f3f4f6; --background-fill-primary: #0b0f19; --border-color-primary: #374151; }}
body {{ background: var(--background-fill-primary); color: var(--body-text-color); font-family: system-ui, sans-serif;
  margin: 0; padding: 16px 24px; }}
@media (max-width: 700px) {{ body {{ padding: 16px; }} }} {look}</style>
<body><h1>Compare</h1><div class="likeness-tray"></div><input aria-label="Elsewhere"><script type="module">
if (new URLSearchParams(location.search).get('__theme') === 'dark') document.body.classList.add('dark');
window.told = [];
const {{ mount }} = await import(new URL('{assets}pages/compare/tray/tray.js', document.baseURI));
mount(document.querySelector('.likeness-tray'), {{
  root: document.baseURI, trigger: (name, data) => window.told.push({{ name, data }}) }});
</script></body></html>"""


class StandIn:
    """What the tray was asked for, and what it is answered."""

    def __init__(self) -> None:
        self.plans: list[dict[str, str]] = []
        self.sessions: list[str] = []  # of uploads
        self.forgotten: list[str] = []
        self.forgot = threading.Event()
        self.gate = threading.Event()  # closed, it holds uploads
        self.gate.set()
        self.refusal = ""  # said to every upload
        self.here: set[str] = set()  # keys of models that were downloaded
        self.readied = 0  # how often it was asked who gets the ready comparisons
        self.offered = "download"  # the state of the model that a click would add

    def clear(self) -> None:
        self.__init__()

    def routes(self) -> list[Any]:
        return [
            Mount(
                PREFIX,
                routes=[
                    *static.routes(),
                    Route("/compare", self.page),
                    Route("/elsewhere", lambda request: HTMLResponse(ELSEWHERE)),
                    Route("/live/examples", self.examples),
                    Route("/live/example/{name}.webp", self.picture),
                    Route("/live/plan", self.plan),
                    Route("/live/ready", self.ready),
                    Route("/live/input", self.input, methods=["POST"]),
                    Route("/live/forget", self.forget, methods=["POST"]),
                ],
            )
        ]

    def page(self, request: Request) -> Response:
        return HTMLResponse(PAGE.format(look=LOOK, assets=static.address()))

    def examples(self, request: Request) -> Response:
        pictures = [
            {
                "key": key,
                "title": key.replace("-", " ").capitalize(),
                "modality": "image",
                "credit": "NASA",
                "licence": "public domain",
                "source": "Great Images, https://example.org/a",
                "synthetic": key == "cup",
                "thumbnail": f"live/example/{key}.webp",
                "width": 512,
                "height": 384,
            }
            for key in COLOURS
        ]
        pictures.append(
            {
                **pictures[0],
                "key": "hostile",
                "title": HOSTILE,
                "credit": HOSTILE,
                "licence": HOSTILE,
                "source": "javascript:window.harmed=1",
            }
        )
        texts = [
            {
                "key": key,
                "title": words,
                "modality": "text",
                "credit": "Likeness",
                "licence": "CC0",
                "source": "",
                "synthetic": False,
                "text": words,
            }
            for key, words in (
                ("text-cat", "a photo of a cat"),
                ("text-cup", "a cup of coffee"),
                ("text-cat-ar", "صورة لقطة"),
                ("text-hostile", HOSTILE),
            )
        ]
        ready = [
            ("crops", "Which crop is nearer?", "choice", "", ["astronaut", "astronaut-crop", "cat"], 0),
            ("caption", "A photograph and its caption", "pair", "", ["cat", "text-cat"], None),
            ("odd", "Odd one out", "odd", "", ["astronaut", "astronaut-crop", "rocket"], 2),
            ("bright", "Which is brighter?", "quality", "brightness", ["cup", "rocket"], 0),
            ("broken", "Names what is not here", "pair", "", ["cat", "gone"], None),
        ]
        return JSONResponse(
            {
                "inputs": pictures + texts,
                "comparisons": [
                    dict(zip(("key", "title", "mode", "question", "inputs", "expected"), one, strict=True))
                    | {"lesson": HOSTILE if one[0] == "bright" else f"What {one[0]} is for."}
                    for one in ready
                ],
            }
        )

    def ready(self, request: Request) -> Response:
        """At first nobody has answered; then both got one, one missed the others, and of a caption there is none."""
        self.readied += 1
        blank = {"right": [], "wrong": [], "outside": [], "silent": [], "failed": [], "done": False, "download": None}
        if self.readied == 1:
            return JSONResponse({"done": False, "why": "", "comparisons": {"crops": blank, "caption": blank}})
        offer = {"key": SUGGESTED, "title": "OpenCLIP ViT-B/32 LAION-2B", "bytes": 605_000_000, "state": self.offered}
        whole = {
            "crops": blank | {"right": ["Tiny", "SSIM"], "done": True},
            "odd": blank | {"right": ["Tiny"], "wrong": [HOSTILE], "silent": ["SSIM"], "done": True},
            "caption": blank | {"wrong": ["Tiny"], "done": True, "download": offer},
            "bright": blank | {"silent": ["Tiny"], "done": True},
        }
        return JSONResponse({"done": True, "why": "", "comparisons": whole})

    def picture(self, request: Request) -> Response:
        return Response(drawn(COLOURS.get(request.path_params["name"], "#777")), media_type="image/webp")

    def plan(self, request: Request) -> Response:
        asked = dict(request.query_params)
        self.plans.append(asked)
        kinds = [kind for kind in asked["kinds"].split(",") if kind]
        why = {key: problem(key, kinds) for key in MODES}
        order = ["quality", *MODES] if len(kinds) == 1 else list(MODES)
        natural = next((key for key in order if not why[key]), "")
        mode = asked["mode"] if asked["mode"] in MODES and not why[asked["mode"]] else natural
        return JSONResponse(
            {
                "mode": mode,
                "modes": [
                    {"key": key, "title": title, "fits": not why[key], "why": why[key]}
                    for key, (title, *_) in MODES.items()
                ],
                "questions": [{"key": key, "title": title} for key, title in QUESTIONS.items()],
                "reasons": [asdict(reason) for reason in REASONS],
                "needs": "" if mode else "Add one more input",
                "models": self.models(mode, kinds) if mode else [],
                "reference": next(
                    (kinds.index(one) for one in ("text", "image") if kinds.count(one) == 1 < len(kinds) - 1), 0
                ),
            }
        )

    def models(self, mode: str, kinds: list[str]) -> list[dict[str, Any]]:
        return [one | {"state": "ready"} if one["key"] in self.here else one for one in models(mode, kinds)]

    async def input(self, request: Request) -> Response:
        data = await request.body()
        self.sessions.append(request.headers["x-likeness-session"])
        await run_in_threadpool(self.gate.wait, 30)
        if self.refusal:
            return JSONResponse({"error": self.refusal}, status_code=429)
        try:
            image = Image.open(io.BytesIO(data))
        except UnidentifiedImageError:
            return JSONResponse(
                {"error": "This is no image that can be read. Save it as PNG and drop it again."}, status_code=400
            )
        note = "reduced from 3000 x 20 pixels" if image.width == 3000 else ""
        small = io.BytesIO()
        image.convert("RGB").resize((120, 90)).save(small, "WEBP")
        return JSONResponse(
            {
                "key": blake2b(data, digest_size=16).hexdigest(),
                "width": image.width,
                "height": image.height,
                "note": note,
                "thumbnail": "data:image/webp;base64," + base64.b64encode(small.getvalue()).decode(),
            }
        )

    async def forget(self, request: Request) -> Response:
        self.forgotten.append((await request.body()).decode())
        self.forgot.set()
        return Response(status_code=204)


def problem(mode: str, kinds: list[str]) -> str:
    _, least, most = MODES[mode]
    if mode in ("odd", "quality") and "text" in kinds:
        return "It takes images only"
    if mode == "choice" and len(set(kinds[1:])) > 1:
        return "The alternatives must be all images or all texts"
    return "" if least <= len(kinds) <= most else f"It takes {least} to {most} inputs"


def models(mode: str, kinds: list[str]) -> list[dict[str, Any]]:
    """Three ready ones (two of them without texts), 15 to download, 30 that cannot be had."""

    def row(
        key: str,
        title: str,
        state: str,
        *,
        why: str = "",
        reason: str = "",
        size: int | None = None,
        usual: bool = False,
        kind: str = "encoder",
    ) -> dict[str, Any]:
        return {
            "key": key,
            "title": title,
            "kind": kind,
            "state": state,
            "why": why,
            "reason": reason,
            "bytes": size,
            "loaded": key == "tiny",
            "default": usual,
        }

    found = [row("tiny", "Tiny", "ready", usual=True), row("odd/hostile", HOSTILE, "ready")]
    if "text" not in kinds:
        found.append(row("ssim", "SSIM", "ready", usual=True, kind="metric"))
    found.append(row(SUGGESTED, "OpenCLIP ViT-B/32 LAION-2B", "download", size=605_000_000))
    found += [row(f"lab/model-{n}", f"Model {n}", "download", size=n * 170_000_000 or None) for n in range(14)]
    return found + [
        row(
            f"far/model-{n}",
            f"Giant {n}",
            "impossible",
            kind="mllm",
            why="It needs 40 GB of memory; this machine has 8",
            reason="memory",
        )
        for n in range(30)
    ]


def drawn(colour: str, size: tuple[int, int] = (256, 192), kind: str = "WEBP") -> bytes:
    image = Image.new("RGB", size, colour)
    ImageDraw.Draw(image).ellipse([size[0] // 4, size[1] // 8, size[0] * 3 // 4, size[1] * 7 // 8], fill="#fffbe8")
    out = io.BytesIO()
    image.save(out, kind)
    return out.getvalue()


@contextmanager
def served(stand_in: StandIn, port: int = 0) -> Iterator[str]:
    """The server in a thread of its own: the page's address."""
    server = uvicorn.Server(uvicorn.Config(Starlette(routes=stand_in.routes()), port=port, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        if not thread.is_alive():
            raise RuntimeError("the stand-in did not start")
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}{PREFIX}/compare"
    finally:
        server.should_exit = True
        thread.join(timeout=10)


if __name__ == "__main__":
    with served(StandIn(), int(sys.argv[1])) as address:
        print(address)
        threading.Event().wait()
